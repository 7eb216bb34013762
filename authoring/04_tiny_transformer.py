# %% [markdown] id="title"
# # 04 · The tiny transformer
#
# **After this notebook you can** compute attention by hand; say what the causal mask hides, and why the past does not
# change when a token is added; find every part of a Llama in its code; train a small transformer, and judge it by two
# losses, the bigram's and the best possible one; and see at which words a model looks.
#
# **You need** notebooks 01 to 03. **Time:** 100 minutes, of which about one is training.
# **Before:** [03 Top-k and top-p](03_top_k_top_p.ipynb) **Next:** [05 The KV cache](05_kv_cache.ipynb)

# %% id="setup"
import textwrap

import torch

from course_utils import bigram, generation, metrics, plots, predict, storyworld, text, training, transformer
from course_utils.budget import choose
from course_utils.checking import check, hint, solution
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits
from course_utils.head_weights import attention_weights, by_words, on_repeats
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_grad_enabled(False)  # only training needs gradients, and it switches them on
torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # with more, the threads wait for each other wherever other programs use the cores

# %% [markdown] id="forgets-text"
# ## What the bigram forgets
#
# The bigram of notebook 01 looks at one character, the last one, and forgets everything before it. The next cell gives it
# two texts that begin differently and end with the same character. **Guess:** how large is the largest difference between
# the logits that it returns for the two texts, in nats?

# %% id="guess-forgets" tags=["nbval-ignore-output"]
my_difference = ...

# %% id="forgets" tags=["nbval-ignore-output"]
vocab = text.CharVocab.from_text(text.load_text("all"))
tales = text.load_documents("tales")
pairs = bigram.BigramLM.fit(vocab.encode_documents(tales), len(vocab), add=1)
first, second = (pairs(torch.tensor([vocab.encode(t)]))[0, -1] for t in ("The giant ordered a", "Edith found a"))
predict.beside(my_difference, (first - second).abs().max().item(), "largest difference")

# %% [markdown] id="attention-text"
# The difference is 0. The bigram has lost both the giant and Edith. A model that keeps the facts of a whole tale must be
# able to *read back*, and attention is how a transformer does it.
#
# ## Attention by hand
#
# *Attention* gives each token three vectors. The *query* stands for what the token is looking for, the *key* for what
# others can find in it, and the *value* for what they receive from it. A query fits a key if their dot product is large. We
# divide this product by the square root of the number of dimensions, since a sum of more terms tends to be larger. Softmax
# turns one query's scores into weights that add up to 1. The token then takes the mean of the values, weighted in this way,
# and this weighted mean is its *mixture*. A token may read itself and the tokens before it. **Guess** the three weights of
# the *first* of three tokens, as a list.

# %% id="guess-weights" tags=["nbval-ignore-output"]
my_first_weights = ...

# %% id="scores"
q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # three tokens, two dimensions; a row for each token
k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
v = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
scores = q @ k.T / 2**0.5
mask = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
print("scores, a row for each query:")
print(scores)
print("after the mask:")
print(scores.masked_fill(~mask, -torch.inf))

# %% id="weights" tags=["nbval-ignore-output"]
def weights_and_mixture(q, k, v, mask):
    """The weights of each of these three tokens, and its mixture of the values."""
    weights = (q @ k.T / 2**0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    return weights, weights @ v


weights, mixed = weights_and_mixture(q, k, v, mask)
predict.beside(my_first_weights, [round(w, 3) for w in weights[0].tolist()], "weights of the first token")
print("weights:", weights, "mixtures:", mixed, sep="\n")
e1, e2 = 2.718281828 ** (1 / 2**0.5), 2.718281828 ** (2 / 2**0.5)
print("weights of the third token, by hand:", [round(w / (e1 + e1 + e2), 3) for w in (e1, e1, e2)])

# %% [markdown] id="future-text"
# The first token can read only itself, so its whole weight, 1, goes there. Look at the second table of scores: what a token
# may not read has the score `-inf`. As with the dropped tokens of notebook 03, this happens *before* softmax. A score of
# `-inf` gets the weight 0, and the weights that remain add up to 1.
#
# Now we change the key and the value of the third token. **Guess** whose mixtures change. Write two lists of the
# numbers 0, 1 and 2, such as `[0, 1]`: the first with the mask, the second without it.

# %% id="guess-future" tags=["nbval-ignore-output"]
my_changed_with_mask, my_changed_without = ..., ...

# %% id="future" tags=["nbval-ignore-output"]
other_k, other_v = k.clone(), v.clone()
other_k[2], other_v[2] = torch.tensor([3.0, -1.0]), torch.tensor([-5.0, 5.0])
changed = {}
for name, seen in (("with the mask", mask), ("without", torch.ones_like(mask))):
    before, after = (weights_and_mixture(q, *kv, seen)[1] for kv in ((k, v), (other_k, other_v)))
    changed[name] = (before != after).any(-1).nonzero().flatten().tolist()
predict.beside(my_changed_with_mask, changed["with the mask"], "changed with the mask")
predict.beside(my_changed_without, changed["without"], "changed without")

# %% id="assert-attention" tags=["assertions"]
assert torch.equal(first, second)
assert torch.allclose(weights[2], torch.tensor([e1, e1, e2]) / (e1 + e1 + e2))
assert weights[0].tolist() == [1.0, 0.0, 0.0]
assert changed == {"with the mask": [2], "without": [0, 1, 2]}

# %% [markdown] id="attend-exercise-text"
# With the mask, only the third token notices the change. Without the mask all three do, so earlier tokens depend on a later
# one.
#
# ### Exercise `04.attend` · medium · 15 minutes
#
# You have seen attention for three tokens. Now write it for any sizes: `attend(q, k, v, mask)` returns one tensor, the
# mixtures (T, Dv).
#
# - `q` (T, D) holds queries, `k` (S, D) keys and `v` (S, Dv) values. T and S may differ, and so may D and Dv.
# - `mask` (T, S) is bool, and True where a query may attend to a key. Only the mask decides, and it need not be a triangle.
#   Every row allows at least one key.
# - Large scores must not overflow. You may use a ready-made softmax or attention.

# %% id="exercise-attend" tags=["exercise:04.attend"]
def attend(q, k, v, mask):
    ...

# %% id="check-attend" tags=["check:04.attend", "nbval-ignore-output"]
check("04.attend", attend)

# %% [markdown] id="mask-exercise-text"
# A model is *causal* if the past does not change when the future does. Notebook 05 builds on that: the keys and values of
# old tokens are stored there. The queries then come from the new tokens only, while the keys belong to *all* tokens. So the
# mask has fewer rows than columns, and its triangle ends in the bottom right corner.
#
# ### Exercise `04.causal_mask` · medium · 10 minutes
#
# Write `causal_mask(n_query, n_key)`. It returns a bool tensor (n_query, n_key) that is True where a query may attend to a
# key. The queries are the *last* n_query of the n_key tokens, and 1 <= n_query <= n_key. For example, `causal_mask(2, 4)`
# has the rows `[True, True, True, False]` and `[True, True, True, True]`.

# %% id="exercise-causal-mask" tags=["exercise:04.causal_mask"]
def causal_mask(n_query, n_key):
    ...

# %% id="check-causal-mask" tags=["check:04.causal_mask", "nbval-ignore-output"]
check("04.causal_mask", causal_mask)

# %% [markdown] id="order-text"
# ## Where does a token stand?
#
# So far, attention knows no order. Let the first two tokens change places: the mixture of the third one stays the same.
# *Rotary positions* (RoPE) mend this. They take the numbers of a query or key in pairs. Each pair is a point in the plane,
# and RoPE turns it around the origin by an angle that grows with the token's position. If two vectors are turned by the
# same angle, their dot product stays what it was.
#
# In the next cell, a query at position 5 and the same vector as a key at position 3 have the score cos(2) = -0.416.
# **Guess** their score at the positions 105 and 103, where each stands 100 positions further on.

# %% id="guess-rope" tags=["nbval-ignore-output"]
my_score = ...

# %% id="rope" tags=["nbval-ignore-output"]
table = transformer.rotations(head_dim=2, block_size=512, theta=10000.0)[:, 0]  # (cos, sin) for each position


def turned(vector, position):
    (x, y), (cos, sin) = vector, table[position]
    return torch.stack([x * cos - y * sin, x * sin + y * cos])


query, key = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0])
at = {(m, n): (turned(query, m) @ turned(key, n)).item() for m, n in ((5, 3), (5, 4), (5, 5), (105, 103))}
for (m, n), score in at.items():
    print(f"query at {m}, key at {n}: {score:.3f}")
predict.beside(my_score, at[105, 103], "positions 105 and 103")

# %% id="rope-picture"
cosines = transformer.rotations(head_dim=32, block_size=512, theta=10000.0)[:60, :, 0]
ax = plots.curve(range(60), {f"pair {pair}": cosines[:, pair] for pair in (0, 4, 7)},
                 "Fast pairs tell neighbours apart, slow ones far tokens",
                 "difference of positions (tokens)", "score of equal unit vectors")
for pair in (0, 4, 7):
    print(f"pair {pair}: one turn in {2 * 3.14159 / 10000.0 ** (-2 * pair / 32):>3.0f} positions")

# %% id="assert-rope" tags=["assertions"]
swap = [1, 0, 2]
assert torch.allclose(weights_and_mixture(q, k, v, mask)[1][2], weights_and_mixture(q, k[swap], v[swap], mask)[1][2])
assert abs(at[105, 103] - at[5, 3]) < 1e-5 and round(at[5, 3], 3) == -0.416

# %% [markdown] id="positions-exercise-text"
# The score is the same. Only the distance between query and key counts, not where in the text they stand. The picture shows
# how the score changes with the distance. Pair 0 turns once in 6 positions and tells neighbours apart; pair 7 turns once in
# 353.
#
# A wrong position is therefore a wrong distance. If new tokens were numbered from 0 again, their distances to the old
# tokens would be wrong, and yet no error would be raised.
#
# ### Exercise `04.positions` · easy · 5 minutes
#
# Write `new_positions(n_cached, n_new)`. It returns the positions of n_new tokens that come after n_cached earlier ones:
# integers of the shape (n_new,). Positions count from 0. Both numbers may be 0.

# %% id="exercise-positions" tags=["exercise:04.positions"]
def new_positions(n_cached, n_new):
    ...

# %% id="check-positions" tags=["check:04.positions", "nbval-ignore-output"]
check("04.positions", new_positions)

# %% [markdown] id="layer-text"
# ## The parts of a layer
#
# A transformer first looks up a vector for each token id, its *embedding*. This vector then passes through several *layers*.
# Each layer adds something to the vector twice. The vector on its way through all layers is called the *residual stream*. First
# *attention* adds what it has read at other positions. Then the *feed-forward part* adds what it computes from this position
# alone. Before each of the two, *RMSNorm* divides a copy of the vector by its root mean square, so that the vector's length
# does not matter. Attention has several *heads*, each with its own queries. Here two query heads share one head of keys and
# values, which saves memory; in Llama 3 8B, four share one. The feed-forward part is *gated* (*SwiGLU*): it computes two
# vectors, `gate` and `up`, and multiplies `up` by silu(gate), where silu is a function that the second cell below shows.

# %% id="layer-picture"
config = transformer.TransformerConfig(len(vocab), n_layer=2, n_head=4, n_kv_head=2, n_embd=64, block_size=512)
print(textwrap.fill(plots.llama_layer(config), 100))

# %% id="parts-by-hand"
ones = torch.ones(2)
print("RMSNorm of [3, 4]:  ", transformer.rms_norm(torch.tensor([3.0, 4.0]), ones, eps=0.0))
print("RMSNorm of [30, 40]:", transformer.rms_norm(torch.tensor([30.0, 40.0]), ones, eps=0.0))
gate, up = torch.tensor([-2.0, 0.0, 2.0]), torch.tensor([5.0, 5.0, 5.0])
print("silu of -2, 0 and 2:", torch.nn.functional.silu(gate))
print("silu(gate) * up:    ", torch.nn.functional.silu(gate) * up)

# %% [markdown] id="read-text"
# For large x, silu(x) is close to x; for x far below 0, it is close to 0. So the gate decides for each number of `up` how
# much of it passes. These are all the parts, and Llama 3 has the same at another size. **Read**
# `course_utils/transformer.py` now; it is less than 300 lines long. (Its class `Decoder` has the name that the field gives
# to a transformer whose tokens see only what stands before them.) Find four things, and unfold an answer when you have
# yours.
#
# <details><summary>Where are queries and keys turned by their positions, and why are values not?</summary>They are turned in <code>Attention.forward</code>, by <code>rotate</code>. The angle makes a <i>score</i> depend on the distance, and scores are computed from queries and keys. A value is only handed over: turned, the same word would hand over something else at each position.</details>
# <details><summary>Where are the two additions of a layer?</summary>They are the two lines of <code>Layer.forward</code>: <code>x + …self_attn…</code>, then <code>x + …mlp…</code>.</details>
# <details><summary>Where is the mask made, and when is none needed?</summary>It is made in <code>Transformer.places</code>, or in the cache that this method asks. Without padding, no mask is needed in two cases. If all tokens are new, the attention function hides the future itself (<code>is_causal</code>). If only one token is new, no key lies in its future.</details>
# <details><summary>What does <code>lm_head</code>, the last projection, do?</summary>It multiplies the last vector of each position by a matrix that has one row for each token of the vocabulary. The results are the logits, one score for each token.</details>

# %% [markdown] id="count-exercise-text"
# ### Exercise `04.count_parameters` · medium · 12 minutes
#
# Write `count_parameters(config)` for a `TransformerConfig`. It returns the number of weights of the whole model.
#
# - There are no biases.
# - With `tie_embeddings`, the embedding and the last projection are one and the same matrix, which counts once.
# - `config.head_dim` and `config.n_inner` are the sizes of a head and of the feed-forward part.

# %% id="exercise-count" tags=["exercise:04.count_parameters"]
def count_parameters(config):
    ...

# %% id="check-count" tags=["check:04.count_parameters", "nbval-ignore-output"]
check("04.count_parameters", count_parameters)

# %% [markdown] id="build-text"
# ## A small one, trained here
#
# The next cell builds the model of the picture: two layers, 64 dimensions, random weights. **Guess** two things. Which part
# has the most parameters: `"attention"`, `"feed-forward"`, `"embedding"` or `"head"` (the last projection)? And how large
# is its loss before training, in nats a token?

# %% id="guess-build" tags=["nbval-ignore-output"]
my_largest_part, my_untrained_loss = ..., ...

# %% id="build" tags=["nbval-ignore-output"]
model = training.new_model(vocab, config, seed=0)
kinds = {"embed_tokens": "embedding", "self_attn": "attention", "mlp": "feed-forward", "norm": "norms", "lm_head": "head"}
parts = dict.fromkeys(kinds.values(), 0)
for name, weight in model.named_parameters():  # such as model.layers.1.self_attn.q_proj.weight
    parts[next(part for piece, part in kinds.items() if piece in name)] += weight.numel()
print(f"{model.n_parameters():,} parameters:", parts)
unseen = text.load_documents("tales", split="validation")[:choose(40, 10)]
levels = {"bigram": metrics.loss(pairs, vocab, unseen), "floor": storyworld.floor(unseen)}
untrained = metrics.loss(model, vocab, unseen)
predict.beside(my_largest_part, max(parts, key=parts.get), "largest part")
predict.beside(my_untrained_loss, untrained, "loss before training")

# %% [markdown] id="train-text"
# The feed-forward part is the largest here. The loss is close to ln 81 = 4.39, the loss of a model that finds all 81 tokens
# equally likely: it knows nothing yet. Training works as in notebook 01. It takes a batch of tales, computes the mean of
# -ln p, and changes the weights a little, so that this mean falls. (AdamW and Muon are the *optimizers* here, the rules
# that turn a gradient into a step.) One forward pass scores all positions of a tale, and the mask hides from each position
# the character that has to be predicted there. Two levels stand beside the curve: the bigram's loss, and the *floor*, the
# loss of the grammar that wrote the tales. **Guess** the loss at the end. Then run the cell, which takes about a minute.
# You may interrupt it or run it again: it begins anew each time, and the cells after it use the model as it is then.

# %% id="guess-train" tags=["nbval-ignore-output"]
my_trained_loss = ...

# %% id="train" tags=["nbval-ignore-output"]
settings = training.TrainingSettings(steps=choose(800, 12, in_class=400), batch=(6,), learning_rate=8e-3, warmup=40)
live = plots.LiveLoss(settings.steps, levels)
model = training.new_model(vocab, config, seed=0)
with torch.enable_grad():
    training.train_transformer(model, vocab, [tales], settings, live, show_progress=False)

# %% id="trained" tags=["nbval-ignore-output"]
trained = metrics.loss(model, vocab, unseen)
predict.beside(my_trained_loss, trained, "loss on unseen tales")
print(f"after {len(live.losses)} of {settings.steps} steps: {trained:.2f} nats a token; "
      f"bigram {levels['bigram']:.2f}, floor {levels['floor']:.2f}")

# %% id="assert-trained" tags=["assertions"]
assert sum(parts.values()) == model.n_parameters() and max(parts, key=parts.get) == "feed-forward"
assert abs(untrained - 4.39) < 0.1
complete = len(live.losses) == settings.steps  # an interrupted training promises nothing
assert not complete or levels["floor"] < trained < untrained
assert not complete or trained < choose(levels["bigram"], untrained)  # a small budget does not get below the bigram

# %% [markdown] id="shipped-text"
# In a full run, the loss falls below the bigram's. More time would not help the bigram, which has counted every tale. The
# transformer is still far from the floor: it has begun to spell, and the grammar accepts hardly any of its sentences.
#
# ## The shipped weights
#
# A *checkpoint* is a folder with a model's weights and with what is needed to use them. The checkpoint `tiny_llama` runs in
# the same code, and has four layers of 128 dimensions. It was trained for five and a half hours on tales, sums and calls
# (`data/tiny_llama/` says how). The next cell shows three models with the same prompt and the same seed.

# %% id="shipped" tags=["nbval-ignore-output"]
tiny, tiny_vocab = load_model("tiny_llama")
tiny_loss = metrics.loss(tiny, vocab, unseen)
print(f"{tiny.n_parameters():,} parameters. Loss on unseen tales: tiny_llama {tiny_loss:.3f}, yours {trained:.3f}, "
      f"bigram {levels['bigram']:.3f}, floor {levels['floor']:.3f} nats a token")
models = {"bigram": pairs, "yours": model, "tiny_llama": tiny}
for name, each in models.items():
    answer = generation.generate(each, vocab, "The giant ", SamplingParams(seed=2), StopCriteria(220))
    print(f"\n{name}: The giant {answer.text}")

# %% [markdown] id="coherence-text"
# Read the three texts first. Then let us count over more of them. *Real words* says which share of the words can occur in a
# tale, and *sentences* says which share of the sentences the grammar can make. *Facts* is the share of the texts that keep
# their facts: the same who, where and what throughout. It is `None` if no text has two sentences to compare. **Guess** the
# shipped model's share of real words.

# %% id="guess-coherence" tags=["nbval-ignore-output"]
my_words = ...

# %% id="coherence" tags=["nbval-ignore-output"]
n_texts, found = choose(20, 5), {}
params = [SamplingParams(seed=seed) for seed in range(n_texts)]
for name, each in models.items():
    answers = generation.generate_batch(each, vocab, ["The "] * n_texts, params, StopCriteria(choose(400, 150)))
    found[name] = metrics.coherence("\n\n".join("The " + answer.text for answer in answers))
    facts = "None" if found[name].facts is None else f"{found[name].facts:.2f}"
    print(f"{name:>10}: real words {found[name].real_words:.2f}, sentences {found[name].sentences:.2f}, facts {facts}")
predict.beside(my_words, found["tiny_llama"].real_words, "real words of tiny_llama")

# %% [markdown] id="looks-text"
# The bigram wrote no sentence in which a fact could be kept. The texts of `tiny_llama` often keep who did it and with what;
# the number after *facts* says how often all facts were kept. How does the model know at the end of a tale what stood at
# its beginning?
#
# ## Where a head looks
#
# We look at the last sentence of a tale: `The giant wore the linen shirt`. A row of the picture is the moment at which the
# first letter of a word is chosen. The columns are the words before it, and the colour says how much weight one head puts
# on each of them. **Guess:** at which word does head 3 of layer 2 look most, just before the second `linen`? Write the word
# in quotation marks. (Layers and heads count from 0.)

# %% id="guess-looks" tags=["nbval-ignore-output"]
my_word = ...

# %% id="looks" tags=["nbval-ignore-output"]
tale = ("The giant ordered a linen shirt from Greta, the best tailor in the hills. "
        '"At last a shirt that understands me," said the giant. The giant wore the linen shirt')


def looks(document):
    """For each head and word, at which words the head looks before the word is written; and the words."""
    ids = torch.tensor([[vocab.bos_id, *vocab.encode(document)]])
    return by_words(attention_weights(tiny, ids), document)


looked, words = looks(tale)
said = plots.attention_map(looked[2, 3, 24:29, :29], words[24:29], ["<bos>", *words[:28]],
                           "Layer 2, head 3, in the last sentence", "the next word", "a word before it")
print(textwrap.fill(said, 100))
predict.beside(my_word, ["<bos>", *words][looked[2, 3, 28].argmax()], "before the second linen, most at")

# %% id="looks-swap" tags=["nbval-ignore-output"]
for cloth in ("linen", "wool", "velvet"):  # only the first mention is changed; the text ends before the second
    document = tale.replace("linen", cloth, 1)
    prompt = vocab.encode(document[: document.rindex("linen")])
    probs = tiny(torch.tensor([[vocab.bos_id, *prompt]]))[0, -1].softmax(-1)
    print(f"ordered a {cloth} shirt … wore the: next {vocab.label(probs.argmax().item())}, probability {probs.max():.3f}")

# %% id="looks-count" tags=["nbval-ignore-output"]
there = [on_repeats(*looks(document)) for document in unseen]  # for each tale, the weights of all heads
on_itself, on_others = (torch.cat(weights_of) > 0.5 for weights_of in zip(*there, strict=True))
print(f"{len(on_itself)} words of {len(unseen)} unseen tales have occurred before. More than half of a head's weight on it:")
for layer, head in ((2, 0), (3, 2), (2, 3)):
    print(f"  layer {layer}, head {head}: {on_itself[:, layer, head].float().mean():.2f}")
print(f"  any of the 16 heads: {on_itself.flatten(1).any(1).float().mean():.2f}; "
      f"on some other word before it: {on_others.flatten(1).any(1).float().mean():.2f}")

# %% id="assert-looks" tags=["assertions"]
assert tiny_vocab.tokens == vocab.tokens and 0.9 * levels["floor"] < tiny_loss < levels["bigram"]
assert found["bigram"].sentences == 0 and found["bigram"].facts is None
assert found["tiny_llama"].real_words > found["bigram"].real_words
assert found["tiny_llama"].sentences > choose(0.8, 0.3)  # a small budget cuts many texts off
assert found["tiny_llama"].facts > choose(0.4, 0)
assert words[28] == words[4] == "linen" and looked[2, 3, 28].argmax() == 5 and looked[2, 3, 28, 5] > 0.6
assert looked[2, 0, 25, 2] > 0.9 and looked[2, 0, 29, 6] > 0.45 and words[25] == "giant" and words[29] == "shirt"
assert on_itself.float().mean(0).max() < 0.6  # no single head does it
assert on_itself.flatten(1).any(1).float().mean() > 0.7 > 2 * on_others.flatten(1).any(1).float().mean()

# %% [markdown] id="past-text"
# Before the second `linen`, this head puts 0.71 of its weight on the first one. If we change the first mention to `wool`,
# the next letter is a `w`: the model has read the word from the text. No single head does all of this reading. On unseen
# tales, the busiest head reads back in about four of ten repeated words. In about eight of ten, at least one of the sixteen
# heads does. For comparison, pair each repeated word with each different word before it: in only about one of ten such
# pairs does some head look as hard at the different word.
#
# ## The past does not change
#
# We now test the causal mask in the real model. *Hidden states* are what the last layer hands to `lm_head`, one vector for
# each position. We compute those of a text, and then those of the same text with more characters behind it. **Guess** the
# largest difference at the old positions.

# %% id="guess-past" tags=["nbval-ignore-output"]
my_change = ...

# %% id="past" tags=["nbval-ignore-output"]
ids = torch.tensor([[vocab.bos_id, *vocab.encode("The pirate ordered a wool nightshirt")]])
longer = torch.cat([ids, torch.tensor([vocab.encode(" from Tilda")])], dim=1)
n_old = ids.shape[1]
change = (tiny.hidden_states(ids) - tiny.hidden_states(longer)[:, :n_old]).abs().max().item()
print(f"{n_old} old positions, {longer.shape[1] - n_old} new ones; largest difference at the old ones {change:.0e}")
predict.beside(my_change, change, "largest change")

# %% [markdown] id="last-text"
# The difference is zero up to the last digits of float32. (The two passes add up the same numbers in another order, so they
# may be rounded differently; notebook 06 asks how much of that is allowed.)
#
# ## The last real position
#
# Texts of different lengths can share one forward pass, as the rows of a *batch*. Short rows are then filled up with
# `<pad>`, here on the right. A causal model's *real* positions never see that padding. But the last column is no longer the
# last token of each row. **Guess** the position in the short row, `<bos>The giant`, whose scores tell how this row goes on.
# (Positions count from 0.)

# %% id="guess-last" tags=["nbval-ignore-output"]
my_position = ...

# %% id="last" tags=["nbval-ignore-output"]
rows = [[vocab.bos_id, *vocab.encode(prompt)] for prompt in ("The giant", "The giant and the pi")]
lengths = torch.tensor([len(row) for row in rows])
longest = int(lengths.max())
batch = torch.tensor([row + [vocab.pad_id] * (longest - len(row)) for row in rows])
logits = tiny(batch, attention_mask=torch.arange(longest) < lengths[:, None])
alone = [tiny(torch.tensor([row]))[0, -1] for row in rows]
predict.beside(my_position, lengths[0].item() - 1, "last real position of the short row")
for scores, by_itself, length in zip(logits, alone, lengths.tolist(), strict=True):
    print(f"{length} of {longest} positions are real. Difference from the row alone: last real position "
          f"{(scores[length - 1] - by_itself).abs().max():.0e}, last column {(scores[-1] - by_itself).abs().max():.0e}")

# %% id="assert-past" tags=["assertions"]
from unittest import mock

with mock.patch.object(transformer, "causal_mask", lambda q, k: torch.ones(q, k, dtype=torch.bool)):  # hides nothing
    short, long = (tiny.hidden_states(x, attention_mask=torch.ones_like(x)) for x in (ids, longer))
assert change < 1e-4 < (short - long[:, :n_old]).abs().amax(-1).min()  # without a mask every old position changes
for scores, by_itself, length in zip(logits, alone, lengths.tolist(), strict=True):
    assert compare_logits(scores[length - 1], by_itself)
assert not compare_logits(logits[0, -1], alone[0])

# %% [markdown] id="last-explained"
# At its last real position, a row has the scores that it would have alone. In the short row, the last column stands behind
# padding, and its scores mean nothing. No error tells you so. Exercise `01.last_logits` was about this slip.
# `generate_batch` avoids it by padding on the *left*: there, the last column is real in every row.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the mask is a trick for training | without it each new token would change the past, and nothing could be cached |
# | attention weights explain why a word was written | they say where a head looked; that the word matters was shown by changing it |
# | a loss near the floor means that the model understands the tales | it guesses the *next character* about as well as the grammar does; it knows no world and no word that the tales lack |
# | large models read back, and fail, in the same way | nothing here says so: this is one small model and one small grammar |
#
# **Further, without a check:** give the small model four layers instead of two, or one query head instead of four, and
# train it again for as many steps. Which change matters more for the loss, and is the difference larger than between two
# seeds?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Why are scores set to -inf before softmax, instead of weights to 0 after it?</summary>After softmax the other weights would no longer add up to 1. With -inf before softmax, the weights add up to 1 by themselves.</details>
# <details><summary>2. Two new tokens come after six cached ones. What is the shape of the mask, and its first row?</summary>(2, 8): the queries belong to the new tokens, the keys to all of them. The first new token stands at position 6 and may attend to the keys 0 to 6, so its row is True seven times, then False.</details>
# <details><summary>3. A model numbers each chunk of new tokens from 0. What will you see?</summary>No error. The distances to older tokens are wrong, and so are the logits. The text may look fine all the same.</details>
# <details><summary>4. Your loss is below the bigram's and far above the floor. Is the model broken?</summary>The loss does not say so. The model has learned more than pairs of characters, and not yet all that the grammar knows. Train for more steps or add layers to see whether the loss falls further.</details>
# <details><summary>5. Nine of ten sentences parse. Does the model understand the tales?</summary>The measure cannot say that. It says that the sentences have a form that the grammar can make.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Attention lets a token read back: scores are computed, the mask hides the future, softmax makes weights, and the weights
# mix the values. With rotary positions, a score depends on the distance between two tokens. A layer adds attention and a
# gated feed-forward part to the residual stream, each computed from a normalised copy. Because of the mask, the past does
# not change, and notebook 05 builds on that. Read the scores at the last *real* position.
# **Next:** [05 The KV cache](05_kv_cache.ipynb)
#
# **Sources.** A. Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017: the transformer. J. Su et al., [*RoFormer*](https://arxiv.org/abs/2104.09864), 2021: rotary positions.
# B. Zhang and R. Sennrich, [*Root mean square layer normalization*](https://arxiv.org/abs/1910.07467), 2019. N. Shazeer, [*GLU variants*](https://arxiv.org/abs/2002.05202), 2020: the gate. J. Ainslie et al., [*GQA*](https://arxiv.org/abs/2305.13245), 2023: shared key/value heads.
# A. Grattafiori et al., [*The Llama 3 herd of models*](https://arxiv.org/abs/2407.21783), 2024: the sizes. K. Jordan et al., [*Muon*](https://kellerjordan.github.io/posts/muon/), 2024: the optimizer. Checked on 2026-11-30. A teaching example, not a production benchmark.
