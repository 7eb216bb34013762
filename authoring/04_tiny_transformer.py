# %% [markdown] id="title"
# # 04 · The tiny transformer
#
# **After this notebook you can** compute attention by hand; say what the causal mask hides, and why the past does not
# change when a token is added; read a whole transformer of the kind that today's open models share; train a small one
# and judge it against two floors.
#
# **You need** notebooks 01 and 02. **Time:** 95 minutes, of which about one is training.

# %% id="setup"
from unittest import mock

import torch

from course_utils import bigram, budget, generation, metrics, plots, predict, storyworld, text, training, transformer
from course_utils.checking import check
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_grad_enabled(False)  # nothing below needs gradients but training, which switches them on
torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # more would wait for each other wherever other programs use the cores

# %% [markdown] id="forgets-text"
# ## What the bigram forgets
#
# The bigram sees one token. Here it continues two texts that end alike and begin differently. **Guess:** by how much
# do its logits differ at the most, in nats?

# %% id="guess-forgets" tags=["nbval-ignore-output"]
my_difference = ...

# %% id="forgets" tags=["nbval-ignore-output"]
vocab = text.CharVocab.from_text(text.load_text("all"))
tales = text.load_documents("tales")
pairs = bigram.BigramLM.fit(vocab.encode_documents(tales), len(vocab), add=1)
first, second = (pairs(torch.tensor([vocab.encode(t)]))[0, -1] for t in ("The giant ordered a", "Edith found a"))
predict.beside(my_difference, (first - second).abs().max().item(), "largest difference")
assert torch.equal(first, second)

# %% [markdown] id="attention-text"
# None: all but the last character is lost. To keep facts over a whole tale, a model must *read back*.
#
# ## Attention by hand
#
# In attention, a token collects information from the tokens before it. Three vectors make this possible. The *query* describes
# what the token looks for, the *key* what a token offers to others, and the *value* what it hands over when it is found. A
# query and a key are compared by their dot product, divided by the square root of the number of dimensions. Softmax turns
# one token's scores into weights that add up to 1, and the token receives the weighted mean of the values. A token may read
# only itself and what came before it. **Guess** the three weights of the *first* token, as a list.

# %% id="guess-weights" tags=["nbval-ignore-output"]
my_first_weights = ...

# %% id="scores"
q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # three tokens, two dimensions; a row for each token
k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
v = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
scores = q @ k.T / 2**0.5
mask = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
print(scores)
print(scores.masked_fill(~mask, -torch.inf))

# %% id="weights" tags=["nbval-ignore-output"]
def weights_and_mixture(q, k, v, mask):
    """The weights of each of these three tokens, and its mixture of the values."""
    weights = (q @ k.T / 2**0.5).masked_fill(~mask, -torch.inf).softmax(-1)
    return weights, weights @ v


weights, mixed = weights_and_mixture(q, k, v, mask)
predict.beside(my_first_weights, [round(w, 3) for w in weights[0].tolist()], "weights of the first token")
print(weights)
print(mixed)
e1, e2 = 2.718281828 ** (1 / 2**0.5), 2.718281828 ** (2 / 2**0.5)
print("third token, by hand:", [round(w / (e1 + e1 + e2), 3) for w in (e1, e1, e2)])
assert torch.allclose(weights[2], torch.tensor([e1, e1, e2]) / (e1 + e1 + e2))
assert weights[0].tolist() == [1.0, 0.0, 0.0]

# %% [markdown] id="future-text"
# The first token can only read itself, so its weight is 1. The hidden scores are `-inf` *before* softmax, as dropped
# logits were in notebook 03: the rest renormalises by itself.
#
# Now change the third token's key and value. **Guess** whose mixtures change, as a list of the numbers 0, 1, 2: first
# with the mask, then without it.

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
assert changed == {"with the mask": [2], "without": [0, 1, 2]}

# %% [markdown] id="attend-exercise-text"
# ### Exercise `04.attend` · medium · 15 minutes
#
# The cells above compute three tokens with two dimensions. Write it for any sizes: `attend(q, k, v, mask)` returns one
# tensor, the mixtures (T, Dv).
#
# - `q` is (T, D), `k` is (S, D) and `v` is (S, Dv). T and S may differ, and so may D and Dv.
# - `mask` is bool (T, S), True where a query may attend to a key. It alone decides, and it need not be a triangle. Every row
#   allows a key.
# - Large scores must not overflow. A ready-made softmax or attention is welcome.

# %% id="exercise-attend" tags=["exercise:04.attend"]
def attend(q, k, v, mask):
    ...

# %% id="check-attend" tags=["check:04.attend", "nbval-ignore-output"]
check("04.attend", attend)

# %% [markdown] id="mask-exercise-text"
# *Causal* means just this: the past does not change when the future does. It is what allows a cache (notebook 05). There the
# new tokens ask and *all* tokens are asked, so the mask is wider than high, and its triangle ends in the bottom right
# corner.
#
# ### Exercise `04.causal_mask` · medium · 10 minutes
#
# Write `causal_mask(n_query, n_key)`: bool, of the shape (n_query, n_key), True where a query may attend to a key. The
# queries are the *last* n_query of the n_key tokens; 1 <= n_query <= n_key.

# %% id="exercise-causal-mask" tags=["exercise:04.causal_mask"]
def causal_mask(n_query, n_key):
    ...

# %% id="check-causal-mask" tags=["check:04.causal_mask", "nbval-ignore-output"]
check("04.causal_mask", causal_mask)

# %% [markdown] id="order-text"
# ## Where does a token stand?
#
# So far attention knows no order: let the first two tokens change places, and the third one's mixture stays the same.
# *Rotary positions* (RoPE) cure that. Each pair of dimensions of a query or key is turned by an angle that grows with the
# position. Two vectors that are both turned further keep their dot product. **Guess** the score of the
# same query and key at 105 and 103, each 100 positions further on. Query and key at 5 and 3 score cos(2) = -0.416.

# %% id="guess-rope" tags=["nbval-ignore-output"]
my_score = ...

# %% id="rope" tags=["nbval-ignore-output"]
swap = [1, 0, 2]
assert torch.allclose(weights_and_mixture(q, k, v, mask)[1][2], weights_and_mixture(q, k[swap], v[swap], mask)[1][2])
table = transformer.rotations(head_dim=2, block_size=512, theta=10000.0)[:, 0]  # (cos, sin) for each position


def turned(vector, position):
    (x, y), (cos, sin) = vector, table[position]
    return torch.stack([x * cos - y * sin, x * sin + y * cos])


query, key = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0])
at = {(m, n): (turned(query, m) @ turned(key, n)).item() for m, n in ((5, 3), (5, 4), (5, 5), (105, 103))}
print({places: round(score, 3) for places, score in at.items()})
predict.beside(my_score, at[105, 103], "positions 105 and 103")
assert abs(at[105, 103] - at[5, 3]) < 1e-5

# %% id="rope-picture"
cosines = transformer.rotations(head_dim=32, block_size=512, theta=10000.0)[:60, :, 0]
ax = plots.curve(range(60), {f"pair {pair}": cosines[:, pair] for pair in (0, 4, 7)},
                 "Fast pairs tell neighbours apart, slow ones far tokens",
                 "difference of positions (tokens)", "score of equal unit vectors")
for pair in (0, 4, 7):
    print(f"pair {pair}: one turn in {2 * 3.14159 / 10000.0 ** (-2 * pair / 32):>3.0f} positions")

# %% [markdown] id="positions-exercise-text"
# Only the difference of positions counts, not where in the text the two stand. And so a wrong position is a wrong difference:
# if new tokens were numbered from 0 again, they would stand in the wrong place among the old ones, and nothing would fail.
#
# ### Exercise `04.positions` · easy · 5 minutes
#
# Write `new_positions(n_cached, n_new)`: the positions, integers of the shape (n_new,), of new tokens that come after n_cached
# earlier ones. Positions count from 0. Both numbers may be 0.

# %% id="exercise-positions" tags=["exercise:04.positions"]
def new_positions(n_cached, n_new):
    ...

# %% id="check-positions" tags=["check:04.positions", "nbval-ignore-output"]
check("04.positions", new_positions)

# %% [markdown] id="layer-text"
# ## The parts of a layer
#
# A layer adds two things to each token's vector: what *attention* read from other positions, and what a *feed-forward* part
# made of this position alone. Before each, *RMSNorm* divides a vector by its root mean square. Attention works in several
# *heads*, each with its own query. Here two query heads share a key/value head, which saves cache; in Llama 3 8B four do.
# The feed-forward part is gated (*SwiGLU*): one half of its units, passed through silu, multiplies the other.

# %% id="parts-by-hand"
ones = torch.ones(2)
print("RMSNorm of [3, 4]:  ", transformer.rms_norm(torch.tensor([3.0, 4.0]), ones, eps=0.0))
print("RMSNorm of [30, 40]:", transformer.rms_norm(torch.tensor([30.0, 40.0]), ones, eps=0.0))
gate, up = torch.tensor([-2.0, 0.0, 2.0]), torch.tensor([5.0, 5.0, 5.0])
print("silu(gate) * up:    ", torch.nn.functional.silu(gate) * up)

# %% [markdown] id="read-text"
# **Read** `course_utils/transformer.py` now; it is all there. Find: where a head's queries and keys are
# turned, and why values are not; the two additions of a layer; where the mask is made, and when none is needed; what the
# head does. The same choices stand in Llama 3, at another size.
#
# ### Exercise `04.count_parameters` · medium · 12 minutes
#
# Write `count_parameters(config)` for a `TransformerConfig`: the number of weights. There are no biases. With
# `tie_embeddings` the embedding is the head too, and counts once. Use `config.head_dim` and `config.n_inner`.

# %% id="exercise-count" tags=["exercise:04.count_parameters"]
def count_parameters(config):
    ...

# %% id="check-count" tags=["check:04.count_parameters", "nbval-ignore-output"]
check("04.count_parameters", count_parameters)

# %% [markdown] id="build-text"
# ## A small one, trained here
#
# Two layers, 64 dimensions, random weights. **Guess** which part has the most parameters: `"attention"`, `"feed-forward"`,
# `"embedding"` or `"head"`? And the loss before training, in nats a token?

# %% id="guess-build" tags=["nbval-ignore-output"]
my_largest_part, my_untrained_loss = ..., ...

# %% id="build" tags=["nbval-ignore-output"]
config = transformer.TransformerConfig(len(vocab), n_layer=2, n_head=4, n_kv_head=2, n_embd=64, block_size=512)
torch.manual_seed(0)
model = transformer.Transformer(config)
kinds = {"embed_tokens": "embedding", "self_attn": "attention", "mlp": "feed-forward", "norm": "norms", "lm_head": "head"}
parts = {}
for name, weight in model.named_parameters():  # such as model.layers.1.self_attn.q_proj.weight
    part = next(part for piece, part in kinds.items() if piece in name)
    parts[part] = parts.get(part, 0) + weight.numel()
print(f"{model.n_parameters():,} parameters:", parts)
assert sum(parts.values()) == model.n_parameters()
unseen = text.load_documents("tales", split="validation")[:budget.choose(40, 10)]
predict.beside(my_largest_part, max(parts, key=parts.get), "largest part")
predict.beside(my_untrained_loss, metrics.loss(model, vocab, unseen), "loss before training")

# %% [markdown] id="train-text"
# The feed-forward part is the largest here. The loss is about ln 81 = 4.39: it knows nothing yet.
#
# Training is as in notebook 01: a batch of tales, the mean of -ln p, a small step that lowers it. (How the step follows from
# the gradient is the optimizer's business: AdamW for embedding and head, Muon for the matrices of the layers.) All positions
# of a tale are scored in one forward pass, and the mask keeps each from seeing its answer. Two levels to hold the curve
# against: the bigram's loss and the grammar's floor. **Guess** the loss at the end, then run it: about a minute.

# %% id="guess-train" tags=["nbval-ignore-output"]
my_trained_loss = ...

# %% id="train" tags=["nbval-ignore-output"]
levels = {"bigram": metrics.loss(pairs, vocab, unseen), "floor": storyworld.floor(unseen)}
settings = training.TrainingSettings(steps=budget.choose(800, 12, in_class=400), batch=(6,), learning_rate=8e-3, warmup=40)
with torch.enable_grad():
    losses = training.train_transformer(model, vocab, [tales], settings, plots.LiveLoss(settings.steps, levels),
                                        show_progress=False)

# %% id="trained" tags=["nbval-ignore-output"]
ax = plots.training_curve(losses, levels, "Two layers learn the tales")
trained = metrics.loss(model, vocab, unseen)
predict.beside(my_trained_loss, trained, "loss on unseen tales")
print(f"first step {losses[0]:.2f}, last 20 steps {plots.smoothed(losses)[-1]:.2f}, bigram {levels['bigram']:.2f}, "
      f"floor {levels['floor']:.2f} nats a token")
assert levels["floor"] < trained < losses[0]
assert trained < budget.choose(levels["bigram"], losses[0])  # a small budget does not get below the bigram

# %% [markdown] id="shipped-text"
# Within a minute it passes the bigram, which counting more cannot improve. It is far from the floor still: it has begun
# to spell, and hardly a sentence parses.
#
# ## The shipped weights
#
# `tiny_llama` is the same code with four layers of 128 dimensions, trained for five and a half hours on tales, sums and calls
# (`data/tiny_llama/` says how). Same prompt, same seed, three models.

# %% id="shipped" tags=["nbval-ignore-output"]
tiny, tiny_vocab = load_model("tiny_llama")
assert tiny_vocab.tokens == vocab.tokens
tiny_loss = metrics.loss(tiny, vocab, unseen)
print(f"{tiny.n_parameters():,} parameters. Loss on unseen tales: tiny_llama {tiny_loss:.3f}, yours {trained:.3f}, "
      f"bigram {levels['bigram']:.3f}, floor {levels['floor']:.3f} nats a token")
assert 0.9 * levels["floor"] < tiny_loss < levels["bigram"]
models = {"bigram": pairs, "yours": model, "tiny_llama": tiny}
for name, each in models.items():
    answer = generation.generate(each, vocab, "The giant ", SamplingParams(seed=2), StopCriteria(220))
    print(f"\n{name}: The giant {answer.text}")

# %% [markdown] id="coherence-text"
# Read them. Then count, over more texts: the share of real words, of sentences that the grammar can make, and of texts that
# keep their facts (the same who, where and what throughout; `None` where no text has two sentences to compare). **Guess**
# the shipped model's share of real words.

# %% id="guess-coherence" tags=["nbval-ignore-output"]
my_words = ...

# %% id="coherence" tags=["nbval-ignore-output"]
n_texts, found = budget.choose(20, 5), {}
params = [SamplingParams(seed=seed) for seed in range(n_texts)]
for name, each in models.items():
    answers = generation.generate_batch(each, vocab, ["The "] * n_texts, params, StopCriteria(budget.choose(400, 150)))
    found[name] = metrics.coherence("\n\n".join("The " + answer.text for answer in answers))
    facts = "None" if found[name].facts is None else f"{found[name].facts:.2f}"
    print(f"{name:>10}: real words {found[name].real_words:.2f}, sentences {found[name].sentences:.2f}, facts {facts}")
predict.beside(my_words, found["tiny_llama"].real_words, "real words of tiny_llama")
assert found["bigram"].sentences == 0 and found["bigram"].facts is None
assert found["tiny_llama"].real_words > found["bigram"].real_words
assert found["tiny_llama"].sentences > budget.choose(0.8, 0.3)  # a small budget cuts many texts off
assert found["tiny_llama"].facts > budget.choose(0.4, 0)

# %% [markdown] id="past-text"
# The bigram never had a sentence, so there was nothing in which to keep a fact. A transformer carries who and what across the
# tale, because it can read back; the share above says how often these weights do. All this is narrow. The model knows this
# small grammar: no world, no meaning, and no word that the tales lack. A loss near the floor means that it guesses the
# *next character* about as well as the grammar can. And nothing here says how a large model fails.
#
# ## The past does not change
#
# Now on the real thing. *Hidden states* are what the last layer hands to the head: a vector for each position. Take those of
# a text, then of the same text with more characters behind it. **Guess** the largest difference at the old positions.

# %% id="guess-past" tags=["nbval-ignore-output"]
my_change = ...

# %% id="past" tags=["nbval-ignore-output"]
ids = torch.tensor([[vocab.bos_id, *vocab.encode("The pirate ordered a wool nightshirt")]])
longer = torch.cat([ids, torch.tensor([vocab.encode(" from Tilda")])], dim=1)
n_old = ids.shape[1]
change = (tiny.hidden_states(ids) - tiny.hidden_states(longer)[:, :n_old]).abs().max().item()
with mock.patch.object(transformer, "causal_mask", lambda q, k: torch.ones(q, k, dtype=torch.bool)):  # hides nothing
    short, long = (tiny.hidden_states(x, attention_mask=torch.ones_like(x)) for x in (ids, longer))
unmasked = (short - long[:, :n_old]).abs().amax(-1)[0]
predict.beside(my_change, change, "largest change")
print(f"without a mask every old position changes, by {unmasked.min():.2f} to {unmasked.max():.2f}")
assert change < 1e-4 < unmasked.min()

# %% [markdown] id="last-text"
# Zero, up to the last digit of float32. (The sums run over other shapes, so they may be rounded otherwise: notebook 06 asks
# how much of that is allowed.) Without the mask each old position would read its own future.
#
# ## The last real position
#
# A batch pads short rows, here on the right. A causal model's *real* positions never see that padding, but the last column
# is no longer the last token. **Guess** at which position the scores for going on stand in the short row.

# %% id="guess-last" tags=["nbval-ignore-output"]
my_position = ...

# %% id="last" tags=["nbval-ignore-output"]
rows = [[vocab.bos_id, *vocab.encode(prompt)] for prompt in ("The giant", "The giant and the pi")]
lengths = torch.tensor([len(row) for row in rows])
longest = int(lengths.max())
batch = torch.tensor([row + [vocab.pad_id] * (longest - len(row)) for row in rows])
logits = tiny(batch, attention_mask=torch.arange(longest) < lengths[:, None])
predict.beside(my_position, lengths[0].item() - 1, "last real position of the short row")
for row, scores, length in zip(rows, logits, lengths.tolist(), strict=True):
    alone = tiny(torch.tensor([row]))[0, -1]
    assert compare_logits(scores[length - 1], alone)
    print(f"{length} of {longest} real. Difference from the row alone: last real position "
          f"{(scores[length - 1] - alone).abs().max():.0e}, last column {(scores[-1] - alone).abs().max():.0e}")
assert not compare_logits(logits[0, -1], tiny(torch.tensor(rows[:1]))[0, -1])

# %% [markdown] id="last-explained"
# At the last real position a row scores as if it were alone. The last column of the short row is another matter: its
# scores are those after padding, and mean nothing. Nothing fails there either. It is the slip of exercise `01.last_logits`; to
# avoid it, `generate_batch` pads on the *left*, where the last column is real in every row.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Why are scores set to -inf before softmax, instead of weights to 0 after it?</summary>After softmax the other weights would no longer add up to 1. With -inf before it they do by themselves.</details>
# <details><summary>2. Two new tokens come after six cached ones. What is the shape of the mask, and its first row?</summary>(2, 8): the queries are new, the keys are all. The first new token stands at position 6 and may attend to the keys 0 to 6.</details>
# <details><summary>3. A model numbers each chunk of new tokens from 0. What will you see?</summary>No error. The distances to older tokens are wrong, and so are the logits; a text may look fine all the same.</details>
# <details><summary>4. Your loss is below the bigram's and far above the floor. Is the model broken?</summary>Not by that. It has learned more than pairs, and not yet all that the grammar knows. More steps or more layers will tell.</details>
# <details><summary>5. Sentences parse in 9 of 10 cases. Does the model understand the tales?</summary>The measure cannot say that. It says that sentences have a form which the grammar can make.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Attention lets a token read back: scores, mask, softmax, mixture. Rotary positions make a score depend on the difference
# of positions. A layer adds attention and a gated feed-forward part, each on a normalised input. The mask means that the past
# does not change, which is what notebook 05 builds on. Read the scores at the last *real* position.
#
# **Sources.** A. Vaswani et al., [*Attention is all you need*](https://arxiv.org/abs/1706.03762), 2017. J. Su et al., [*RoFormer*](https://arxiv.org/abs/2104.09864), 2021.
# B. Zhang and R. Sennrich, [*Root mean square layer normalization*](https://arxiv.org/abs/1910.07467), 2019. N. Shazeer, [*GLU variants*](https://arxiv.org/abs/2002.05202), 2020.
# J. Ainslie et al., [*GQA*](https://arxiv.org/abs/2305.13245), 2023. A. Grattafiori et al., [*The Llama 3 herd of models*](https://arxiv.org/abs/2407.21783), 2024. K. Jordan et al.,
# [*Muon*](https://kellerjordan.github.io/posts/muon/), 2024. Checked on 2026-11-30. A teaching example, not a production benchmark.
