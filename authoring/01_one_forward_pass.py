# %% [markdown] id="title"
# # 01 · One forward pass
#
# In notebook 00, one model continued one prompt in four ways. This notebook shows how such a text comes about. You build a
# small model, ask it for scores, and write the program that turns the scores into a text.
#
# **After this notebook you can** say what a model returns and what it does not; turn logits into probabilities; train a
# small model in two ways, by counting and by gradient descent; write the loop that makes a text out of single choices;
# and judge a loss by comparing it with the best loss that is possible.
#
# **You need** notebook 00. **Time:** 90 minutes. **Before:** [00 Start here](00_start_here.ipynb) **Next:** [02 Temperature](02_temperature.ipynb)

# %% id="setup"
import math

import torch

from course_utils import bigram, generation, metrics, plots, predict, randomness, sampling, storyworld, text, widgets
from course_utils.bpe import BpeVocab
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown] id="vocabulary-text"
# ## Text becomes numbers
#
# A model computes with numbers, so a text is first cut into pieces, the *tokens*. Each token has a number, its *token id*.
# In most of this course a token is a single character: `The key` becomes 7 tokens. Besides the characters, there are seven
# tokens that stand for no character, the *specials*: `<bos>` marks where a document begins, `<eos>` where it ends, four
# others mark a call of a tool, and `<pad>` fills empty places. All tokens together are the *vocabulary*, and its size is
# called V.
#
# For training, all documents are joined into one long row of token ids. Each document stands between `<bos>` and
# `<eos>`, so that the model also learns how a document starts and when it is over.

# %% id="vocabulary"
vocab = text.CharVocab.from_text(text.load_text("all"))
print("V =", len(vocab), "  the first tokens:", vocab.tokens[:10])
print("The key ->", vocab.encode("The key"))
tales = text.load_documents("tales")
ids = vocab.encode_documents(tales)
print(f"{len(tales):,} tales, {len(ids):,} tokens, beginning with {[vocab.tokens[i] for i in ids[:6]]}")

# %% [markdown] id="subwords-text"
# ### Subwords
#
# Large models rarely use single characters. Their tokens are *subwords*: pieces of text that occur often, such as a
# whole short word, a syllable or an ending. The texts become shorter in tokens, so the model needs fewer steps, but the
# vocabulary is larger and often has tens of thousands of tokens. The next cell makes a subword vocabulary from 500
# tales. It starts with single bytes and joins the most frequent pair of neighbours into a new token, again and again,
# until there are 1,000 tokens. This method is called *BPE*, byte pair encoding. With BPE any word can be spelled,
# even one that occurs in no tale. Notebook 07 uses BPE; until then we stay with characters.

# %% id="subwords"
subwords = BpeVocab.train(tales[:500], 1000)
sentence = "Felix had bought an accordion."
pieces = [subwords.label(i) for i in subwords.encode(sentence)]
print(f"{len(sentence)} characters, {len(pieces)} subwords: {pieces}")
print("a word that no tale has:", [subwords.label(i) for i in subwords.encode("Strawberry")])

# %% [markdown] id="counting-text"
# ## A model by counting
#
# Our first model is a *bigram*. It predicts the next token from the last token alone and ignores everything before it.
# To train a bigram, we count how often each token follows each other token. Let us first do that by hand, for the four
# characters `abab`. The id of `a` is 0, and the id of `b` is 1.
#
# **Guess:** how often does `b` follow `a`?

# %% id="guess-count" tags=["nbval-ignore-output"]
my_count = ...

# %% id="see-count" tags=["nbval-ignore-output"]
counts = bigram.count_bigrams([0, 1, 0, 1], vocab_size=2)
predict.beside(my_count, int(counts[0, 1]), "b after a")
print(counts)

# %% [markdown] id="counts-to-logits-text"
# ### Exercise `01.counts_to_logits` · easy · 8 minutes
#
# In the table of counts, each row is a previous token and each column is a next token. To get probabilities, we divide
# each row by its own sum. (It is easy to divide by the sums of the columns instead. The shapes fit and nothing fails, but
# the rows no longer add up to 1.) The logarithm of such a probability can serve as the model's score, its *logit*.
#
# Write `counts_to_logits(counts)`. It takes a (V, V) tensor of counts and returns the natural logarithms of the
# probabilities in the same shape. You may assume that no row is empty. A count of 0 becomes `-inf`, minus infinity: the
# pair was never seen, so its probability is 0. For example, the row [1, 3] becomes [ln 0.25, ln 0.75] = [-1.386, -0.288].

# %% id="exercise-counts-to-logits" tags=["exercise:01.counts_to_logits"]
def counts_to_logits(counts):
    ...

# %% id="check-counts-to-logits" tags=["check:01.counts_to_logits", "nbval-ignore-output"]
check("01.counts_to_logits", counts_to_logits)

# %% [markdown] id="logits-text"
# ## Logits are not probabilities
#
# A logit may be negative, and the sum of the logits need not be 1 or any other given number. **Guess:** the next cell adds
# 100 to both of the logits 2 and 1. The first probability was 0.731 before. What is it now?

# %% id="guess-shift" tags=["nbval-ignore-output"]
my_probability = ...

# %% id="see-shift" tags=["nbval-ignore-output"]
rows = {}
for logits in ([2.0, 1.0], [102.0, 101.0], [-3.0, -4.0]):
    rows[logits[0]] = [round(p, 3) for p in sampling.next_token_probs(torch.tensor(logits), SamplingParams()).tolist()]
    print(logits, "->", rows[logits[0]])
predict.beside(my_probability, rows[102.0][0], "first probability")

# %% id="assert-first-numbers" tags=["assertions"]
assert len(vocab) == 81 and len(vocab.encode("The key")) == 7 and sum(len(token) > 1 for token in vocab.tokens) == 7
assert len(subwords) == 1000 and subwords.decode(subwords.encode("Strawberry")) == "Strawberry"
assert bigram.count_bigrams([0, 1, 0, 1], vocab_size=2).tolist() == [[0, 2], [1, 0]]
assert all(row == [0.731, 0.269] for row in rows.values())
assert torch.exp(torch.tensor(1000.0)).isinf()
assert [round(p, 3) for p in torch.tensor([0.25, 0.75]).log().tolist()] == [-1.386, -0.288]

# %% [markdown] id="softmax-text"
# *Softmax* divides each $e^{z_i}$ by the sum of all $e^{z_j}$. If we add the same constant to every logit, each $e^{z_i}$
# is multiplied by the same factor, and the division cancels it. We can use this to avoid overflow. In floating point,
# $e^{1000}$ is infinite. If we first subtract the largest logit from all of them, no exponential exceeds $e^0 = 1$.
#
# ### Exercise `01.softmax` · easy · 8 minutes
#
# Write `softmax(logits)`. It returns probabilities over the last axis, for logits of any shape (..., V). Large logits must
# not overflow, and a logit of `-inf` gets the probability 0. You need no ready-made softmax: a maximum, exponentials, a sum
# and a division are enough.

# %% id="exercise-softmax" tags=["exercise:01.softmax"]
def softmax(logits):
    ...

# %% id="check-softmax" tags=["check:01.softmax", "nbval-ignore-output"]
check("01.softmax", softmax)

# %% [markdown] id="tales-bigram-text"
# ## The bigram of the tales
#
# Now we count the pairs in all 6,500 tales. The model is one table with V rows and V columns. The numbers in it are what
# the training found; they are called the model's *parameters* or *weights*.
#
# **Guess:** which character follows `q` most often in these tales? Which one follows `t`? Write both as texts, such as `"x"`.

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
# One *forward pass* is one run of the model: token ids go in, and logits come out. We may feed a whole text of T tokens
# at once, and even several texts at once. Such a group of texts is a *batch*. Two texts of 5 tokens each are a batch of
# B = 2 rows with T = 5 positions. **Guess the shape of what comes back** for one row with the text `The k`. Write it as a
# tuple such as `(1, 2, 3)`.

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
# Five positions give five rows of logits. They are **not** the scores of five future tokens. Row t scores the token that
# comes after position t, and it knows only the text up to position t. For four of the five rows, the text already contains
# the token that comes next. Training compares each of these four rows with the token that really came next. To continue the
# text, we need only the **last row**, and that row decides a single token. An answer of 100 tokens therefore takes 100
# decisions, one after the other.

# %% [markdown] id="last-logits-text"
# ### Exercise `01.last_logits` · hard · 10 minutes
#
# The texts of a batch may differ in length. Short rows are filled up on the right with *padding*, and the logits at these
# places mean nothing. Write `last_logits(logits, lengths)`. It takes logits (B, T, V) and the real lengths (B,), each at
# least 1, and returns (B, V): for each row, the logits at its last real position.
#
# The exercise is short, but it needs *paired indexing*. If you index a tensor with two lists, they are read in pairs: for a
# matrix `x`, the expression `x[[0, 1], [4, 2]]` gives the two entries x[0, 4] and x[1, 2].

# %% id="exercise-last-logits" tags=["exercise:01.last_logits"]
def last_logits(logits, lengths):
    ...

# %% id="check-last-logits" tags=["check:01.last_logits", "nbval-ignore-output"]
check("01.last_logits", last_logits)

# %% [markdown] id="ruler-text"
# ## A draw
#
# To draw a token, lay the probabilities end to end on a ruler from 0 to 1, in the order of the ids. Then take a random
# number u between 0 and 1. It falls on one of the stretches, and the token of that stretch is drawn. A stretch ends at the
# sum of the probabilities of all tokens up to and including its own. For the probabilities 0.3, 0.3 and 0.4, the ends are
# 0.3, 0.6 and 1. These running sums are called the *CDF*, short for cumulative distribution function.

# %% id="ruler"
print(plots.u_on_a_ruler(["first", "second", "third"], [0.3, 0.3, 0.4], 0.35))

# %% [markdown] id="draw-exercise-text"
# ### Exercise `01.draw` · medium · 10 minutes
#
# Write `draw(probs, u)`. It takes probabilities (V,) and a number u with 0 <= u < 1, and returns a token id, an int.
#
# - Add up the probabilities in the order of the ids, in float64. Return the first id whose running sum is larger than u.
# - If u stands exactly on a border, the running sum that ends there is equal to u, not larger, so it does not count. The next
#   token whose probability is not 0 is drawn.
# - Because of rounding, the last sum may be a little below 1. If no running sum is larger than u, return the last id
#   whose probability is not 0.
#
# For example, with the probabilities `[0.25, 0.25, 0.5]`, u = 0.1 gives the id 0, and u = 0.25 gives the id 1.

# %% id="exercise-draw" tags=["exercise:01.draw"]
def draw(probs, u):
    ...

# %% id="check-draw" tags=["check:01.draw", "nbval-ignore-output"]
check("01.draw", draw)

# %% [markdown] id="loop-text"
# ## The loop
#
# The model scores, a token is chosen, the token is appended, and the model scores again. The program around the model that
# does this is called the *decoder*: a decoder turns logits into a text. The next cell runs six turns of this loop one by
# one, with a new u for each turn. **Before you run it:** will six choices make a word?

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
# Here is the same loop as a panel. The control *Step of the text* moves through the turns. Each turn has its own scores
# and its own u. The CDF shows the candidates side by side, in the order of their ids, and u falls on one of them. In our
# vocabulary, the capital letters have lower ids than the small letters.
#
# **Guess:** is the first character a capital letter when u is small or when u is large? Write `"small"` or `"large"`.

# %% id="guess-capital" tags=["nbval-ignore-output"]
my_side = ...

# %% id="loop-panel"
widgets.explore_sampling(model, vocab, "The ", SamplingParams(seed=13), max_new_tokens=40, settings=[])

# %% id="see-capital" tags=["nbval-ignore-output"]
with torch.no_grad():
    first_probs = sampling.next_token_probs(model(torch.tensor([vocab.encode("The ")]))[0, -1], SamplingParams())
capitals = [token_id for token_id, token in enumerate(vocab.tokens) if "A" <= token <= "Z"]
begin, end = first_probs[: capitals[0]].sum().item(), first_probs[: capitals[-1] + 1].sum().item()
print(f"a capital letter is drawn from u = {begin:.3f} to u = {end:.3f}")
predict.beside(my_side, "small" if end < 0.5 else "large", "u of a capital letter")

# %% [markdown] id="generate-loop-text"
# **Find out by moving:** in the panel, leave the step at 0 and count the seed up from 0. Which is the first seed whose text
# begins with the likeliest token? <details><summary>Answer</summary>It is seed 7, whose u falls on `t`, the likeliest token. The u of seed 0 is small and falls on a quotation mark, because signs and capital letters have low ids.</details>
#
# ### Exercise `01.generate_loop` · medium · 12 minutes
#
# Write `generate_loop(next_logits, prompt_ids, max_new_tokens, choose)`.
#
# - `next_logits(ids)` takes the list of all ids so far and returns the logits (V,) of the next token.
# - `choose(scores)` takes these logits and returns an id.
# - Return a new list: the ids of the prompt, then `max_new_tokens` chosen ids. Leave the caller's prompt list as it was.

# %% id="exercise-generate-loop" tags=["exercise:01.generate_loop"]
def generate_loop(next_logits, prompt_ids, max_new_tokens, choose):
    ...

# %% id="check-generate-loop" tags=["check:01.generate_loop", "nbval-ignore-output"]
check("01.generate_loop", generate_loop)

# %% [markdown] id="generate-text"
# The package has a loop of this kind too, `generation.generate`. It works with any model that turns ids into logits. The
# next cell gives it the same model and the same prompt three times, with different settings, and gets three different
# texts. Keep this in mind when you read about a *checkpoint*, which is a model saved to disk, such as `data/tiny_llama`.
# The name of a checkpoint is not enough to get a text again. You also need the prompt, the settings and the seed.

# %% id="generate"
settings = {"greedy": SamplingParams(greedy=True), "seed 1": SamplingParams(seed=1), "seed 2": SamplingParams(seed=2)}
for name, params in settings.items():
    answer = generation.generate(model, vocab, "The ", params, StopCriteria(max_new_tokens=60))
    print(f"{name:>7}: {answer.text!r} ({answer.finish_reason.value})")

# %% [markdown] id="gradient-text"
# ## The same model by gradient descent
#
# The parameters of a large model cannot be found by counting. They are found by *gradient descent*, which changes them a
# little in each step, so that the loss falls. The *loss* of one token is $-\ln p$, where p is the probability that the
# model gave to it. A token with p = 0.5 costs $-\ln 0.5 = 0.693$ *nats*; the nat is the unit when the logarithm is natural.
# The loss of a text is the mean over its tokens. We start from a table of zeros. The code takes each pair of tokens once
# and multiplies its loss by the number of times that the pair occurs.
#
# **Guess** the loss before the first step, when all V tokens are equally likely. You may write a formula with `math.log`.

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
ax = plots.curve(range(300), {"training loss": losses}, "Gradient descent finds what counting finds",
                 "step", "loss (nats a token)", levels={"by counting": counted})

# %% [markdown] id="floor-text"
# Both ways lead to the same loss, up to a very small difference. For a bigram, the counted shares are exactly the table
# with the lowest loss on the training text. Gradient descent only comes close to it, because a pair that never occurs would
# need a logit of $-\infty$.
#
# ## How good can it get?
#
# A loss alone says little, so we compare it with two others. A model that knows nothing has the loss $\ln V$. The *floor*
# is the loss of the grammar that wrote the tales; averaged over enough tales, no model can get below it. We use
# *validation* tales, which the model has not seen. A pair of tokens that never occurred in training would make the loss
# infinite. *Add-one smoothing* prevents this: it adds 1 to every count, so that each pair has a small probability.

# %% id="floor"
unseen = text.load_documents("tales", split="validation")
smoothed = bigram.BigramLM.fit(ids, len(vocab), add=1)
bigram_loss, floor = metrics.loss(smoothed, vocab, unseen), storyworld.floor(unseen)
print(f"knows nothing: {torch.log(torch.tensor(float(len(vocab)))):.3f} nats a token")
print(f"bigram:        {bigram_loss:.3f}")
print(f"floor:         {floor:.3f}")

# %% id="assert-losses" tags=["assertions"]
assert abs(losses[-1] - counted) < 0.01 and abs(losses[0] - math.log(len(vocab))) < 1e-6
assert floor < bigram_loss < 3
assert round(-math.log(0.5), 3) == 0.693

# %% [markdown] id="perplexity-text"
# The *perplexity* is $e$ to the power of the loss. It turns a loss into a number of choices: a model with perplexity 10 is
# on average as unsure as someone who has to choose fairly among ten tokens.

# %% id="perplexity"
print(f"bigram: {metrics.perplexity(smoothed, vocab, unseen):.2f}   floor: {torch.tensor(floor).exp():.2f}")

# %% [markdown] id="coherence-text"
# Why is the bigram's loss so far above the floor? It does not know words, it does not know sentences, and it cannot keep
# a fact. The next cell lets it write 20 texts. **Guess** which share of their words are real words of the tales, as a number
# from 0 to 1.

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

# %% id="assert-coherence" tags=["assertions"]
assert round(1 / first_probs.max().item()) == 7  # the likeliest token after "The " is drawn by one u in so many
assert round(1 / by_bigram.real_words) == 7 and by_bigram.sentences == 0 and by_bigram.facts is None

# %% [markdown] id="coherence-explained"
# About one word in seven is real. No sentence of the bigram follows the grammar, so there is
# no sentence in which a fact could be kept or broken. The result is therefore `None`, which says that nothing could be
# counted. A result of 0 would mean something else: there were facts, and all of them were broken.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the model writes the text | it returns scores; the decoder chooses, appends and asks again |
# | T rows of logits are the next T tokens | each row scores the one token after its position |
# | a logit of 0 means that a token cannot come | only `-inf` means that; 0 is a score like any other |
# | the likeliest token is the one that is drawn | u decides; after `The ` the likeliest token is drawn for about one u in seven |
# | gradient descent finds a better bigram than counting | counting already gives the lowest loss on the training text |
#
# All this was shown on a bigram with 81 tokens. Here we could compare gradient descent with counting; a large model has no
# table of counts to compare with.
#
# **Further, without a check:** a *trigram* predicts a token from the last two. How many parameters would it have here, and
# how many of them would the tales never touch? Count the pairs of characters that do occur, and guess whether the
# trigram's validation loss is nearer to the bigram's or to the floor.

# %% [markdown] id="self-test"
# ## Self-test
#
# Answer first, then unfold.
#
# <details><summary>1. The logits have the shape (1, 12, 80). How many new tokens has the model chosen?</summary>None. It has scored the token after each of 12 positions. The decoder chooses one token from the last row.</details>
# <details><summary>2. Two runs use the same checkpoint and give different texts. Is one of them broken?</summary>Not necessarily. The prompt, the sampling settings, the seed and the stop conditions decide the text as well.</details>
# <details><summary>3. A bigram has an infinite validation loss. What has happened?</summary>The validation text has a pair of tokens that never occurred in training, so the model gives this pair the probability 0. Smoothing gives it a small one.</details>
# <details><summary>4. A model's loss on 500 tales is clearly below the floor. What do you think of first?</summary>You should suspect *leakage*: the model has probably seen these tales in training. By chance a loss on a sample can be slightly below the floor, but not clearly.</details>

# %% [markdown] id="summary"
# ## Summary
#
# A forward pass returns logits of shape (B, T, V): at each position, a score for every token that could come next. To continue a
# text, only the last real position counts, and it gives one token. The model, the decoder and the stop rule make the text together.
# Counting and gradient descent find the same bigram, and the floor shows how far this bigram is from the best possible
# model. **Next:** [02 Temperature](02_temperature.ipynb)
#
# **Sources.** C. E. Shannon, *A mathematical theory of communication*, 1948: section 3 draws texts from the frequencies of letters,
# as we did. [PyTorch's documentation](https://docs.pytorch.org/docs/stable/nn.functional.html): `softmax` and `cross_entropy`, with their formulas.
# R. Sennrich, B. Haddow, A. Birch, [*Neural machine translation of rare words with subword units*](https://arxiv.org/abs/1508.07909), 2016:
# how BPE came to language models. Checked on 2026-12-01. A teaching example, not a production benchmark.
