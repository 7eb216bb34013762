# %% [markdown] id="title"
# # 03 · Top-k and top-p
#
# **After this notebook you can** cut the tail off a distribution in three ways and say which tokens each keeps; show that
# the kept set depends on the step; and read a library's settings with the question that decides their meaning: in
# which order?
#
# **You need** notebook 02. **Time:** 70 minutes.
#
# **Before:** [02 Temperature](02_temperature.ipynb) **Next:** [04 A tiny transformer](04_tiny_transformer.ipynb)

# %% id="setup"
import torch

from course_utils import bigram, generation, metrics, plots, predict, sampling, text, widgets
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_printoptions(precision=3, sci_mode=False)


def kept(logits):
    """The ids of the tokens that are left."""
    return torch.isfinite(torch.as_tensor(logits)).nonzero().flatten().tolist()

# %% [markdown] id="tail-text"
# ## The tail
#
# Most tokens are poor choices at most steps. Each has a tiny probability, but there are many of them, and a text
# takes many steps. **Guess:** if the poor ones together, the *tail*, have 5 % at each step, what is the chance that
# 100 steps never touch it?

# %% id="guess-tail" tags=["nbval-ignore-output"]
my_chance = ...

# %% id="see-tail" tags=["nbval-ignore-output"]
predict.beside(my_chance, 0.95**100, "chance of 100 clean steps")

# %% [markdown] id="filters-text"
# So decoders drop the tail before they draw: the logits of dropped tokens become `-inf`, softmax gives them 0, and the
# rest is *renormalised*, which means that it adds up to 1 again. The filters differ in how they choose whom to keep.
#
# ## Top-k: a fixed number
#
# Keep the k likeliest. **Guess** the probabilities after top-k = 2 on [0.6, 0.25, 0.15], as a list of three.

# %% id="guess-top-k" tags=["nbval-ignore-output"]
my_top_2 = ...

# %% id="see-top-k" tags=["nbval-ignore-output"]
three = torch.tensor([0.6, 0.25, 0.15]).log()
top_2 = sampling.top_k_filter(three, 2)
predict.beside(my_top_2, [round(p, 3) for p in top_2.softmax(-1).tolist()], "top-k = 2")

# %% id="ties"
print("the logits now:", top_2)
print("a tie, k = 2 of [1, 1, 1, 0]:", kept(sampling.top_k_filter([1.0, 1.0, 1.0, 0.0], 2)))

# %% [markdown] id="ties-text"
# Dropped means `-inf`, not 0: a logit of 0 is an ordinary score, and where all others are negative it would win. At
# a tie we keep exactly k, the lower ids first. Libraries differ here: some keep every token that ties with the k-th.

# %% [markdown] id="top-k-exercise-text"
# ### Exercise `03.top_k` · medium · 12 minutes
#
# Write `top_k_filter(logits, k)` for (..., V): in each row exactly k logits stay as they are, the others become `-inf`. At a
# tie the lower id stays. `None` and any k of V or more keep all. The input must not change.

# %% id="exercise-top-k" tags=["exercise:03.top_k"]
def top_k_filter(logits, k):
    ...

# %% id="check-top-k" tags=["check:03.top_k", "nbval-ignore-output"]
check("03.top_k", top_k_filter)

# %% [markdown] id="top-p-text"
# ## Top-p: a fixed mass
#
# Go down the ranking and add up probabilities until they reach p. Keep those tokens, the one that crosses the line
# included, and renormalise. **Guess** the probabilities after top-p = 0.8 on [0.6, 0.25, 0.15].

# %% id="guess-top-p" tags=["nbval-ignore-output"]
my_top_p = ...

# %% id="see-top-p" tags=["nbval-ignore-output"]
nucleus = sampling.top_p_filter(three, 0.8).softmax(-1)
predict.beside(my_top_p, [round(p, 3) for p in nucleus.tolist()], "top-p = 0.8")

# %% id="top-p-figures"
ax = plots.probability_bars(["0", "1", "2"], {"before": [0.6, 0.25, 0.15], "after top-p = 0.8": nucleus},
                            "The nucleus has 0.85 of the mass, then all of it")
print("mass kept:", round(0.6 + 0.25, 2), " after:", [round(p, 3) for p in nucleus.tolist()])
assert [round(p, 3) for p in nucleus.tolist()] == [0.706, 0.294, 0.0]

# %% [markdown] id="crossing-text"
# 0.6 alone is less than 0.8, so the second token is needed, and 0.6 + 0.25 = 0.85 goes past the line. It stays: the
# kept mass is *at least* p. If the crossing token is left out, the
# nucleus is then always lighter than asked, and empty when the first token alone exceeds p.
#
# **Predict** before you move top-p: up to which p does one token suffice, and from which on are all three needed?

# %% id="top-p-panel"
widgets.explore_logits(three, ["first", "second", "third"], SamplingParams(top_p=0.8))

# %% [markdown] id="top-p-exercise-text"
# **Find out by moving:** put p back to 0.8 and raise the temperature, which comes first here. At which T is the third
# token kept as well? <details><summary>Answer</summary>At 1.47. The flatter distribution leaves the first two less than 0.8, so a third is needed.</details>
#
# ### Exercise `03.top_p` · hard · 15 minutes
#
# Write `top_p_filter(logits, p)` for (..., V), with 0 < p <= 1, where 1 keeps every token. The crossing token stays. Each row
# is filtered on its own. The kept logits stand where they stood and are unchanged; the others become `-inf`. The input
# must not change.

# %% id="exercise-top-p" tags=["exercise:03.top_p"]
def top_p_filter(logits, p):
    ...

# %% id="check-top-p" tags=["check:03.top_p", "nbval-ignore-output"]
check("03.top_p", top_p_filter)

# %% [markdown] id="min-p-text"
# ## Min-p: a fixed share of the best
#
# A third way: keep what has at least `min_p` times the probability of the likeliest token. Compare all three on a
# peaked and on a flat row. **Guess** how many of the six tokens each keeps on each row.

# %% id="peaked-flat"
rows = {"peaked": [0.9, 0.04, 0.02, 0.02, 0.01, 0.01], "flat": [0.19, 0.18, 0.17, 0.16, 0.15, 0.15]}
for name, probs in rows.items():
    row = torch.tensor(probs).log()
    counts = (len(kept(sampling.top_k_filter(row, 3))), len(kept(sampling.top_p_filter(row, 0.9))),
              len(kept(sampling.min_p_filter(row, 0.1))))
    print(f"{name:>6}: top-k = 3 keeps {counts[0]}, top-p = 0.9 keeps {counts[1]}, min-p = 0.1 keeps {counts[2]}")

# %% [markdown] id="peaked-flat-text"
# Top-k keeps its number whatever the row looks like: two poor tokens on the peaked row, and half of equally good ones
# dropped on the flat. Top-p and min-p follow the shape of the row.

# %% [markdown] id="min-p-exercise-text"
# ### Exercise `03.min_p` · medium · 10 minutes
#
# Write `min_p_filter(logits, min_p)` for (..., V). A logit stays, unchanged, if it is at least the largest of its row plus
# ln(`min_p`); the others become `-inf`. `None` and 0 keep all, and 1 keeps every token that ties with the largest. A
# `min_p` below 0 or above 1 is a `ValueError`. The input must not change.

# %% id="exercise-min-p" tags=["exercise:03.min_p"]
def min_p_filter(logits, min_p):
    ...

# %% id="check-min-p" tags=["check:03.min_p", "nbval-ignore-output"]
check("03.min_p", min_p_filter)

# %% [markdown] id="one-ranking-text"
# ## One list, three cuts
#
# Write the tokens of a row down, from the likeliest to the least likely. A temperature moves the scores closer together or
# further apart, but no token overtakes another. And each filter keeps a beginning of the list: the first k, the first that
# reach p, or the first down to a share of the best. **Before you run:** which of the three cuts will a temperature move?

# %% id="one-ranking"
row = torch.tensor([0.04, 0.4, 0.1, 0.3, 0.16]).log()
for t in (0.5, 1.0, 2.0):
    scores = sampling.apply_temperature(row, t)
    ranking = scores.argsort(descending=True, stable=True).tolist()
    sets = {"top-k = 3": kept(sampling.top_k_filter(scores, 3)), "top-p = 0.8": kept(sampling.top_p_filter(scores, 0.8)),
            "min-p = 0.3": kept(sampling.min_p_filter(scores, 0.3))}
    print(f"T = {t}: ranking {ranking};", ", ".join(f"{name} keeps {len(ids)}" for name, ids in sets.items()))
    assert all(sorted(ranking[:len(ids)]) == ids for ids in sets.values())  # each set is a beginning of the ranking

# %% [markdown] id="one-ranking-explained"
# The ranking is the same at every temperature. Only the cuts of top-p and min-p move, since these two look at
# probabilities. So a decoder ranks a row once, and no further down than it cuts: with top-k = 50 and a vocabulary of
# 50,000 it never sorts the other 49,950 tokens. `sampling.next_token_probs` works like this in any order of the steps.

# %% [markdown] id="steps-text"
# ## The kept set depends on the step
#
# The kept set is not a fixed part of the vocabulary. At each step the model gives another row, and the filter
# decides anew. Here is a text of the bigram under top-p = 0.9, step by step. **Before you run:** after which characters will
# few tokens be kept, and after which many?

# %% id="steps"
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
params = SamplingParams(top_p=0.9, seed=5)
answer = generation.generate(model, vocab, "The ", params, StopCriteria(60, eos=False))
fed = [*vocab.encode("The "), *answer.token_ids][-61:-1]
kept_at = [kept(sampling.top_p_filter(model.table.detach()[i], 0.9)) for i in fed]
for token_id, ids in list(zip(fed, kept_at, strict=True))[:10]:
    print(f"after {vocab.label(token_id)!r} {len(ids):>2} kept: {''.join(vocab.label(i) for i in ids)}")

# %% id="steps-picture"
sizes = [len(ids) for ids in kept_at]
ax = plots.curve(range(60), {"top-p = 0.9": sizes}, "How many tokens top-p keeps, step by step", "step",
                 "tokens kept", levels={"top-k = 5": 5})
print(f"top-p keeps from {min(sizes)} to {max(sizes)} tokens, top-k = 5 keeps 5 at every step")

# %% id="steps-panel"
widgets.explore_sampling(model, vocab, "The ", params, max_new_tokens=60)

# %% [markdown] id="order-text"
# **Find out by moving:** go through the steps. At which one are only two tokens kept for the first time, and which two?
# <details><summary>Answer</summary>At step 14, after the first `.`: the space, and `<eos>`, which crosses p.</details>
#
# ## Which comes first?
#
# Temperature changes the probabilities, and top-p counts probabilities. So their order matters. Take the logits
# [2.5, 1.5, 0], T = 0.5 and top-p = 0.8. One order keeps the ids {0}, the other keeps {0, 1}.
#
# ### Exercise `03.which_order` · medium · 8 minutes
#
# By hand or in a cell of your own: put `"temperature first"` and `"truncation first"` in place of the dots.

# %% id="exercise-which-order" tags=["exercise:03.which_order"]
which_order = {(0,): ..., (0, 1): ...}

# %% id="check-which-order" tags=["check:03.which_order", "nbval-ignore-output"]
check("03.which_order", which_order)

# %% id="order"
logits = torch.tensor([2.5, 1.5, 0.0])
for name, at in (("T = 1", 1.0), ("T = 0.5", 0.5)):
    print(f"{name}: probabilities {sampling.next_token_probs(logits, SamplingParams(at)).numpy().round(3)}")

# %% [markdown] id="order-explained"
# At T = 1 the first token has 0.690: less than 0.8, so a second one is needed. At T = 0.5 it has 0.876 and is enough.
# A test at T = 1 can never tell the two orders apart. Top-k is different: the ranking is the same at any
# temperature, so k tokens are the same k tokens.
#
# **Predict:** at T = 0.5, for which p do the two orders keep different tokens? The panel starts with temperature first;
# *Order* has an order with temperature last.

# %% id="order-panel"
widgets.explore_logits(logits, ["0", "1", "2"], SamplingParams(0.5, top_p=0.8))

# %% [markdown] id="libraries-text"
# **Find out by moving** p under both orders. <details><summary>Answer</summary>From 0.69 to 0.87 (one token against two) and from 0.95 to 0.99 (two against three). In between, and below, the orders agree.</details>
#
# ## What libraries do
#
# Three widely used libraries, with their own order and their own defaults, as `SamplingParams.like(name, ...)`. The
# settings that a caller leaves out are not neutral everywhere. **Guess:** for which of the three does
# top-p = 0.8 at T = 0.5 keep both tokens?

# %% id="libraries"
for library in ("transformers", "vllm", "llama.cpp"):
    params = SamplingParams.like(library, temperature=0.5, top_p=0.8)
    ids = sampling.next_token_probs(logits, params).nonzero().flatten().tolist()
    print(f"{library:>12}: keeps {ids}   order: {' > '.join(params.order)}")

# %% id="defaults"
row = torch.linspace(4, -4, 200)
for library in ("transformers", "vllm", "llama.cpp"):
    params = SamplingParams.like(library)
    n_kept = (sampling.next_token_probs(row, params) > 0).sum().item()
    print(f"{library:>12}: keeps {n_kept:>3} of 200 by default   "
          f"T = {params.temperature}, top_k = {params.top_k}, top_p = {params.top_p}, min_p = {params.min_p}")

# %% [markdown] id="defaults-text"
# transformers is greedy unless told to sample. When it samples, it cuts to 50 tokens unless told otherwise; a
# `generation_config.json` beside the weights overrides both. llama.cpp filters with three settings and sharpens
# to T = 0.8. The same prompt and the same weights, "with default settings", are three different experiments. When
# you compare, write every setting down, and pass `top_k=0` to transformers when you mean *off*.

# %% id="min-p-order"
five = torch.tensor([0.5, 0.2, 0.1, 0.1, 0.1]).log()
for library in ("transformers", "vllm"):
    params = SamplingParams.like(library, temperature=1.0, top_k=None, top_p=0.7, min_p=0.3)
    print(f"{library:>12}: min-p and top-p keep {sampling.next_token_probs(five, params).nonzero().flatten().tolist()}")

# %% [markdown] id="rescue-text"
# Even these two differ, where min-p and top-p meet: after min-p the two likeliest tokens share all of the mass, so the
# first alone reaches 0.7.
#
# ## Cutting the tail of a hot distribution
#
# In notebook 02 few words were real at T = 2: about 8 in 100. **Guess** the share if top-p = 0.5, applied before the
# temperature, drops the tail first.

# %% id="guess-rescue" tags=["nbval-ignore-output"]
my_rescued_share = ...

# %% id="rescue"
truncation_first = ("top_k", "top_p", "min_p", "temperature")
shares = {}
for name, settings in {"T = 2": {}, "T = 2, then top-p": {"top_p": 0.5},
                       "top-p, then T = 2": {"top_p": 0.5, "order": truncation_first}}.items():
    params = [SamplingParams(2.0, seed=seed, **settings) for seed in range(24)]
    answers = generation.generate_batch(model, vocab, [""] * 24, params, StopCriteria(200, eos=False))
    shares[name] = [metrics.coherence(answer.text).real_words for answer in answers]
    print(f"{name:>17}: {sum(shares[name]) / 24:.3f} real words, mean of 24 texts")
assert sum(shares["top-p, then T = 2"]) > 2 * sum(shares["T = 2, then top-p"])

# %% id="rescue-picture"
ax = plots.dots_by_setting(shares, "Real words at T = 2, a dot for each seed", "setting", "share of words")

# %% id="see-rescue" tags=["nbval-ignore-output"]
predict.beside(my_rescued_share, sum(shares["top-p, then T = 2"]) / 24, "real words")

# %% [markdown] id="rescue-explained"
# After the temperature the row is flat, and half of its mass is many tokens. Before it, half of the mass is few. It is
# one setting with two meanings, by its place in the order. (The words are real because the bigram's likeliest pairs make
# short words. It has not become wiser.)

# %% [markdown] id="large-vocabulary-text"
# ## A large vocabulary
#
# Here is a distribution over 50,000 tokens. It is **made**, not recorded from a model: the probability of the token with
# rank r falls as $r^{-1.1}$, much as word frequencies do in Zipf's law. The cell counts how many tokens stay.
# **Before you run:** which of the three numbers does not move with T?

# %% id="large-vocabulary"
zipf = -1.1 * torch.arange(1, 50_001, dtype=torch.float64).log()
for t in (0.5, 1.0, 2.0):
    n = [(sampling.next_token_probs(zipf, SamplingParams(t, **setting)) > 0).sum().item()
         for setting in ({"top_k": 50}, {"top_p": 0.9}, {"min_p": 0.05})]
    tail = sampling.next_token_probs(zipf, SamplingParams(t))[50:].sum()
    print(f"T = {t}: beyond rank 50 lies {tail:.3f}; top-k = 50 keeps {n[0]}, top-p = 0.9 {n[1]}, min-p = 0.05 {n[2]}")

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | top-p = 0.9 keeps nine tenths of the tokens | it keeps nine tenths of the probability, which may be one token |
# | a filter removes wrong tokens | it removes unlikely ones; it does not know which are right |
# | the same settings mean the same everywhere | order and defaults differ between libraries |
#
# **Further, without a check:** for which rows do top-p = 0.9 and min-p = 0.1 keep the same tokens?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. The first token has 0.95 and top-p is 0.9. How many tokens stay?</summary>One: the first reaches 0.9 by itself. At least one token always stays.</details>
# <details><summary>2. Is the nucleus of top-p = 0.9 a list that can be computed once for a model?</summary>No. It depends on the distribution of the current step.</details>
# <details><summary>3. You test your filter chain at T = 1 and it agrees with a library's. What has the test not shown?</summary>The order of temperature and truncation: at T = 1 it cannot be seen.</details>
# <details><summary>4. Why does a dropped token get -inf instead of 0 or -1000?</summary>0 is an ordinary logit that can win among negative ones. -1000 is small only as long as the others are not. -inf is 0 after softmax whatever the others are.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Top-k keeps a number, top-p a mass, min-p a share of the best; then the rest is renormalised. The kept set changes with
# each step. The order of temperature and truncation changes the answer, and libraries differ in order and defaults.
# **Next:** [04 A tiny transformer](04_tiny_transformer.ipynb)
#
# **Sources.** A. Fan et al., [*Hierarchical neural story generation*](https://arxiv.org/abs/1805.04833), 2018 (top-k).
# A. Holtzman et al., [*The curious case of neural text degeneration*](https://arxiv.org/abs/1904.09751), 2020 (top-p).
# M. Nguyen et al., [*Turning up the heat*](https://arxiv.org/abs/2407.01082), 2024 (min-p). Orders and defaults: transformers
# 5.24, and the sources of vLLM and llama.cpp. Checked on 2026-11-30. A teaching example, not a production benchmark.
