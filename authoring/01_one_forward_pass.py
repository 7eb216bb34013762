# %% [markdown] id="title"
# # 01 · One forward pass
#
# **After this notebook you can** say what a model returns and what it does not; turn logits into probabilities; train a
# small model twice, by counting and by gradient descent; write the loop that makes a text of single choices; and judge a
# loss against the best that is possible.
#
# **You need** notebook 00. **Time:** 85 minutes.
#
# **Before:** [00 Start here](00_start_here.ipynb) **Next:** [02 Temperature](02_temperature.ipynb)

# %% id="setup"
import torch

from course_utils import bigram, generation, metrics, plots, predict, randomness, sampling, storyworld, text, widgets
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown] id="vocabulary-text"
# ## Text becomes numbers
#
# A model works on *token ids*. Here a token is a character. Seven more tokens, the *specials*, mark where a document
# begins and ends, where a tool is called, and which places are mere filling (`<pad>`). All tokens together are the *vocabulary*; its size is called V. Training
# text is a stream of documents, each from `<bos>` to `<eos>`, so the model also learns how they start and when they are
# over.

# %% id="vocabulary"
vocab = text.CharVocab.from_text(text.load_text("all"))
print("V =", len(vocab), "  the first tokens:", vocab.tokens[:10])
print("The key ->", vocab.encode("The key"))
tales = text.load_documents("tales")
ids = vocab.encode_documents(tales)
print(f"{len(tales):,} tales, {len(ids):,} tokens, beginning with {[vocab.tokens[i] for i in ids[:6]]}")

# %% [markdown] id="counting-text"
# ## A model by counting
#
# Our first model is a *bigram*: the next token depends on the last one only. To train it, count which token follows
# which. By hand first, on four characters: `abab`, with the ids 0 for `a` and 1 for `b`.
#
# **Guess:** how often does `b` follow `a`?

# %% id="guess-count" tags=["nbval-ignore-output"]
my_count = ...

# %% id="see-count" tags=["nbval-ignore-output"]
counts = bigram.count_bigrams([0, 1, 0, 1], vocab_size=2)
predict.beside(my_count, int(counts[0, 1]), "b after a")
print(counts)
assert counts.tolist() == [[0, 2], [1, 0]]

# %% [markdown] id="counts-to-logits-text"
# ### Exercise `01.counts_to_logits` · easy · 8 minutes
#
# Each row is a previous token, each column a next one. For probabilities divide each row by its own sum. (A classic slip
# divides by the sums of the columns: the shapes fit, nothing fails, and the rows no longer add up to 1.) The logarithm
# of a probability is a score, a *logit*. Write `counts_to_logits(counts)`: from a (V, V) tensor of counts to
# log-probabilities of the same shape. No row is empty. A count of 0 becomes `-inf`: never seen, so excluded.

# %% id="exercise-counts-to-logits" tags=["exercise:01.counts_to_logits"]
def counts_to_logits(counts):
    ...

# %% id="check-counts-to-logits" tags=["check:01.counts_to_logits", "nbval-ignore-output"]
check("01.counts_to_logits", counts_to_logits)

# %% [markdown] id="logits-text"
# ## Logits are not probabilities
#
# A logit may be negative, and logits need not add up to anything. **Guess:** the next cell adds 100 to both logits
# of [2, 1]. What becomes of the first probability, which is 0.731 now?

# %% id="guess-shift" tags=["nbval-ignore-output"]
my_probability = ...

# %% id="see-shift" tags=["nbval-ignore-output"]
for logits in ([2.0, 1.0], [102.0, 101.0], [-3.0, -4.0]):
    probs = [round(p, 3) for p in sampling.next_token_probs(torch.tensor(logits), SamplingParams()).tolist()]
    print(logits, "->", probs)
    assert probs == [0.731, 0.269]
predict.beside(my_probability, probs[0], "first probability")

# %% [markdown] id="softmax-text"
# Softmax divides $e^{z_i}$ by the sum of all $e^{z_j}$. A constant added to every logit cancels. That also saves us from
# overflow: $e^{1000}$ is infinite in floating point, but with the largest logit subtracted first nothing exceeds
# $e^0 = 1$.
#
# ### Exercise `01.softmax` · easy · 8 minutes
#
# Write `softmax(logits)` over the last axis, for any shape (..., V). Large logits must not overflow; `-inf` gives 0.
# `exp` and sums are all that it needs.

# %% id="exercise-softmax" tags=["exercise:01.softmax"]
def softmax(logits):
    ...

# %% id="check-softmax" tags=["check:01.softmax", "nbval-ignore-output"]
check("01.softmax", softmax)

# %% [markdown] id="tales-bigram-text"
# ## The bigram of the tales
#
# The same count, now on all tales. The model is one table of V rows. **Guess:** which character follows `q` most often
# in these tales? And which follows `t`?

# %% id="guess-next" tags=["nbval-ignore-output"]
my_next_of_q, my_next_of_t = ..., ...

# %% id="tales-bigram" tags=["nbval-ignore-output"]
model = bigram.BigramLM.fit(ids, len(vocab))
print("parameters:", tuple(model.table.shape))
for previous, guess in (("q", my_next_of_q), ("t", my_next_of_t)):
    likeliest = model.table[vocab.ids[previous]].argmax().item()
    predict.beside(guess, vocab.label(likeliest), f"after {previous!r}")

# %% id="table-picture"
letters = [vocab.ids[c] for c in " .aehinorstw"]
probs = model.table.detach().exp()[letters][:, letters]
ax = plots.bigram_table(probs, [vocab.label(i) for i in letters], "What follows what in the tales (some characters)")
print(f"after 't', 'h' has the probability {model.table.exp()[vocab.ids['t'], vocab.ids['h']].item():.3f}")

# %% [markdown] id="forward-text"
# ## One forward pass
#
# Now the question that gives this notebook its name. We feed a whole text of T tokens at once, in a batch of B rows.
# **Guess the shape of what comes back** for one row with the text `The k`, as a tuple such as `(1, 2, 3)`.

# %% id="guess-shape" tags=["nbval-ignore-output"]
my_shape = ...

# %% id="see-shape" tags=["nbval-ignore-output"]
token_ids = torch.tensor([vocab.encode("The k")])
with torch.no_grad():
    logits = model(token_ids)
predict.beside(my_shape, tuple(logits.shape), "(B, T, V)")
for position, token_id in enumerate(token_ids[0].tolist()):
    likeliest = logits[0, position].argmax().item()
    print(f"position {position}: after {vocab.label(token_id)!r} the likeliest is {vocab.label(likeliest)!r}")

# %% id="cube"
texts, columns = ["The k", "A fox"], [vocab.ids[c] for c in " aehinot"]
cube = bigram.BigramLM.fit(ids, len(vocab), add=1)(torch.tensor([vocab.encode(t) for t in texts]))[:, :, columns].detach()
print(plots.logits_cube(cube, [list(t) for t in texts], list(" aehinot")))

# %% [markdown] id="not-future-text"
# Five positions, five rows of scores. They are **not** five future tokens. Row t scores what comes after position t,
# given the text up to t. Four of the rows answer questions whose answer the text already has; training uses them all.
# To continue the text only the **last row** counts, and it decides one token. An answer of 100 tokens takes 100
# decisions, each after the one before.

# %% [markdown] id="last-logits-text"
# ### Exercise `01.last_logits` · medium · 10 minutes
#
# In a batch the texts differ in length. Short rows are filled up on the right with padding, and the scores at padding
# mean nothing. Write `last_logits(logits, lengths)`: from (B, T, V) and the real lengths (B,) to (B, V), the scores
# at the last real position of each row. `lengths` are at least 1.

# %% id="exercise-last-logits" tags=["exercise:01.last_logits"]
def last_logits(logits, lengths):
    ...

# %% id="check-last-logits" tags=["check:01.last_logits", "nbval-ignore-output"]
check("01.last_logits", last_logits)

# %% [markdown] id="ruler-text"
# ## A draw
#
# To draw a token, lay the probabilities end to end on a ruler from 0 to 1, in the order of the ids. A random number u
# between 0 and 1 falls on one of the stretches, and that token is drawn. The ends of the stretches are running sums of
# the probabilities; as a function of the id they are called the *CDF*, the cumulative distribution function.

# %% id="ruler"
print(plots.u_on_a_ruler(["first", "second", "third"], [0.3, 0.3, 0.4], 0.35))

# %% [markdown] id="draw-exercise-text"
# ### Exercise `01.draw` · medium · 10 minutes
#
# Write `draw(probs, u)`: from probabilities (V,) and a u with 0 <= u < 1 to an id, an int. It is the smallest id whose
# running sum, in float64 and in the order of the ids, is larger than u. A u that stands exactly on a border
# therefore belongs to the next token that can come at all. The sum of all may be a little below 1, by rounding. If no
# running sum is larger than u, return the last id whose probability is not 0.

# %% id="exercise-draw" tags=["exercise:01.draw"]
def draw(probs, u):
    ...

# %% id="check-draw" tags=["check:01.draw", "nbval-ignore-output"]
check("01.draw", draw)

# %% [markdown] id="loop-text"
# ## The loop
#
# Score, choose, append, again. Here are six turns of it by hand. `draw` takes the probabilities and one number u
# from 0 to 1. **Before you run it:** will six choices make a word?

# %% id="loop-by-hand"
context = [vocab.bos_id, *vocab.encode("The ")]
for step in range(6):
    with torch.no_grad():
        last_row = model(torch.tensor([context]))[0, -1]
    probs = sampling.next_token_probs(last_row, SamplingParams())
    u = randomness.uniform(seed=13, step=step)
    choice = sampling.draw(probs, u)
    context.append(choice)
    print(f"u = {u:.3f} falls on {vocab.label(choice)!r}, which has the probability {probs[choice]:.3f}")
print(repr(vocab.decode(context)))

# %% [markdown] id="loop-panel-text"
# The same loop with sliders. *Step of the text* moves through its turns: each has its own scores and its own u. The
# CDF lays the candidates side by side in the order of their ids, and u falls on one of them. Capital letters have
# lower ids than small ones. **Predict:** does the text begin with a capital when u is small or when u is large?

# %% id="loop-panel"
widgets.explore_sampling(model, vocab, "The ", SamplingParams(seed=13), max_new_tokens=40, settings=[])

# %% [markdown] id="generate-loop-text"
# **Find out by moving:** leave the step at 0 and count the seed up from 0. Which is the first seed whose text begins with
# the likeliest token? <details><summary>Answer</summary>Seed 7: its u falls on `t`. Seed 0 falls on a quotation mark: the low ids belong to signs and capitals, so a small u picks those.</details>
#
# ### Exercise `01.generate_loop` · medium · 12 minutes
#
# Write `generate_loop(next_logits, prompt_ids, max_new_tokens, choose)`. `next_logits(ids)` takes the list of every id
# so far and gives the scores (V,) of the next token; `choose(scores)` gives an id. Return a list: the prompt and the new
# ids. The caller's prompt list must stay as it was.

# %% id="exercise-generate-loop" tags=["exercise:01.generate_loop"]
def generate_loop(next_logits, prompt_ids, max_new_tokens, choose):
    ...

# %% id="check-generate-loop" tags=["check:01.generate_loop", "nbval-ignore-output"]
check("01.generate_loop", generate_loop)

# %% [markdown] id="generate-text"
# The package's loop is `generation.generate`. It works with any model that maps ids to logits. Same weights, same
# prompt, other settings: the text is another. So the name of a checkpoint is not enough to reproduce a text. The
# settings and the seed belong to it.

# %% id="generate"
settings = {"greedy": SamplingParams(greedy=True), "seed 1": SamplingParams(seed=1), "seed 2": SamplingParams(seed=2)}
for name, params in settings.items():
    answer = generation.generate(model, vocab, "The ", params, StopCriteria(max_new_tokens=60))
    print(f"{name:>7}: {answer.text!r} ({answer.finish_reason.value})")

# %% [markdown] id="gradient-text"
# ## The same model by gradient descent
#
# Large models cannot be counted, they are trained: change the parameters a little so that the loss falls, many times.
# The *loss* is the mean of $-\ln p$ over all tokens that came next, in *nats*. We start from a table of zeros, where
# every token is equally likely. A pair that occurs n times enters the sum n times.
#
# **Guess** the loss before the first step: V candidates, all equally likely.

# %% id="guess-loss" tags=["nbval-ignore-output"]
my_first_loss = ...

# %% id="gradient" tags=["nbval-ignore-output"]
counts = torch.as_tensor(bigram.count_bigrams(ids, len(vocab))).double()
learned = bigram.BigramLM(torch.zeros(len(vocab), len(vocab), dtype=torch.float64))
optimizer = torch.optim.Adam(learned.parameters(), lr=0.2)
losses = []
for _ in range(300):
    loss = -(counts * learned.table.log_softmax(-1)).sum() / counts.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
predict.beside(my_first_loss, losses[0], "loss before the first step, ln V")

# %% id="agree"
counted = -(counts * model.table.detach()).nan_to_num(nan=0.0).sum().item() / counts.sum().item()
print(f"by gradient descent: {losses[-1]:.2f} nats a token, by counting: {counted:.2f}")
assert abs(losses[-1] - counted) < 0.01
ax = plots.curve(range(300), {"training loss": losses}, "Gradient descent finds what counting finds",
                 "step", "loss (nats a token)", levels={"by counting": counted})

# %% [markdown] id="floor-text"
# Both ways end at the same model: for a bigram, the counted shares are exactly the table with the lowest loss on
# the training text. Gradient descent only comes close, since an excluded pair would need a logit of $-\infty$.
#
# ## How good can it get?
#
# A loss alone says little. We know two marks to hold it against: the loss of a model that knows nothing, $\ln V$, and the
# *floor*, the loss of the grammar that wrote the tales. No model can be better than the floor in the long run.
# The documents here are validation ones, which the model has not seen. Add-one smoothing keeps every loss finite:
# without it, one pair that training never had would make it infinite.

# %% id="floor"
unseen = text.load_documents("tales", split="validation")
smoothed = bigram.BigramLM.fit(ids, len(vocab), add=1)
bigram_loss, floor = metrics.loss(smoothed, vocab, unseen), storyworld.floor(unseen)
print(f"knows nothing: {torch.log(torch.tensor(float(len(vocab)))):.3f} nats a token")
print(f"bigram:        {bigram_loss:.3f}")
print(f"floor:         {floor:.3f}")
assert floor < bigram_loss < 3

# %% [markdown] id="perplexity-text"
# The exponential of the loss is the *perplexity*: a model with perplexity 10 is as unsure, on average, as a fair choice
# among ten tokens. The base of the logarithm is $e$, so a loss is in *nats*.

# %% id="perplexity"
print(f"bigram: {metrics.perplexity(smoothed, vocab, unseen):.2f}   floor: {torch.tensor(floor).exp():.2f}")

# %% [markdown] id="coherence-text"
# What fills the gap? Words, sentences, and facts that are kept. **Guess** the share of real words in the bigram's
# text, from 0 to 1.

# %% id="guess-words" tags=["nbval-ignore-output"]
my_share = ...

# %% id="coherence" tags=["nbval-ignore-output"]
params = [SamplingParams(seed=seed) for seed in range(20)]
answers = generation.generate_batch(model, vocab, [""] * 20, params, StopCriteria(200))
by_bigram = metrics.coherence("\n\n".join(answer.text for answer in answers))
by_grammar = metrics.coherence("\n\n".join(unseen[:20]))
predict.beside(my_share, by_bigram.real_words, "share of real words")
for name, found in (("bigram", by_bigram), ("grammar", by_grammar)):
    print(f"{name:>7}: real words {found.real_words:.2f}, sentences {found.sentences:.2f}, facts kept {found.facts}")
assert by_bigram.real_words < 0.2 and by_bigram.sentences == 0 and by_bigram.facts is None

# %% [markdown] id="coherence-explained"
# About one word in seven is real, mostly short ones. No sentence of the bigram parses, so there is nothing in which a
# fact could be kept: `None` says that nothing could be counted, which is not the same as 0.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. The logits have the shape (1, 12, 80). How many new tokens has the model chosen?</summary>None. It has scored the successor of each of 12 positions. The decoder chooses one token from the last row.</details>
# <details><summary>2. Two runs use the same checkpoint and give different texts. Is one of them broken?</summary>Not necessarily. Prompt, sampling settings, seed and stop conditions belong to the text as well.</details>
# <details><summary>3. A bigram has a validation loss of infinity. What has happened?</summary>A pair occurs that training never had, and its probability is 0. Smoothing gives it a small one.</details>
# <details><summary>4. A model's loss on the tales is below the floor on 500 documents. What do you think of first?</summary>Leakage: it has seen these documents. By chance it can be a hair below on a sample, never clearly.</details>

# %% [markdown] id="summary"
# ## Summary
#
# A forward pass gives (B, T, V): at each position, a score for every possible next token. Only the last real position
# matters for going on, and it yields one token. Model, decoder and stop rule together make the text. Counting and
# gradient descent find the same bigram, and the floor says how far it is from the best. **Next:** [02 Temperature](02_temperature.ipynb)
#
# **Sources.** C. E. Shannon, *A mathematical theory of communication*, 1948, section 3, samples from letter n-grams.
# Softmax and cross-entropy in [PyTorch's documentation](https://docs.pytorch.org/docs/stable/nn.functional.html).
# Checked on 2026-11-30. A teaching example, not a production benchmark.
