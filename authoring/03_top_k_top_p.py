# %% [markdown] id="title"
# # 03 · Top-k and top-p
#
# **After this notebook you can** drop the unlikely tokens of a distribution in three ways, and say which tokens each way
# keeps. You can show that the kept set changes from step to step. And you can find out what a library's settings mean by
# asking in which order they are applied.
#
# **You need** notebook 02. **Time:** 85 minutes.
#
# **Before:** [02 Temperature](02_temperature.ipynb) **Next:** [04 A tiny transformer](04_tiny_transformer.ipynb)

# %% id="setup"
import textwrap

import torch

from course_utils import bigram, checkpoint, generation, metrics, plots, predict, sampling, storyworld, text, widgets
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
# Take a row of scores in which a few tokens are likely and all others are not. The unlikely tokens together are called the
# *tail*. Each of them has a tiny probability, but there are many of them, and a text takes many steps.
#
# Suppose that the tail has 5 % of the probability at every step. **Guess** the chance that 100 steps never choose a
# token from it.

# %% id="guess-tail" tags=["nbval-ignore-output"]
my_chance = ...

# %% id="see-tail" tags=["nbval-ignore-output"]
predict.beside(my_chance, 0.95**100, "chance of 100 clean steps")

# %% [markdown] id="filters-text"
# Only about 6 texts in 1,000 would contain no token of the tail. So a decoder may drop the tail before it draws. The logit
# of a dropped token becomes `-inf`, and softmax gives it a probability of 0. The other probabilities are *renormalised*:
# each is divided by their sum, so that they add up to 1 again. A rule that decides which tokens stay is called a *filter*.
# Here are three.
#
# ## Top-k: a fixed number
#
# *Top-k* keeps the k likeliest tokens. **Guess** the probabilities after top-k = 2 on [0.6, 0.25, 0.15], as a list of
# three numbers.

# %% id="guess-top-k" tags=["nbval-ignore-output"]
my_top_2 = ...

# %% id="see-top-k" tags=["nbval-ignore-output"]
three = torch.tensor([0.6, 0.25, 0.15]).log()
top_2 = sampling.top_k_filter(three, 2)
predict.beside(my_top_2, [round(p, 3) for p in top_2.softmax(-1).tolist()], "top-k = 2")

# %% id="ties"
print("the logits now:", top_2)
print("a tie, k = 2 of [1, 1, 1, 0]:", kept(sampling.top_k_filter([1.0, 1.0, 1.0, 0.0], 2)))

# %% [markdown] id="top-k-exercise-text"
# A dropped token has the logit `-inf`, not 0. A logit of 0 is an ordinary score: among negative logits it is the largest.
# In a tie our filter keeps exactly k tokens, the lower ids first. The library transformers
# keeps every token that ties with the k-th.
#
# ### Exercise `03.top_k` · medium · 12 minutes
#
# Write `top_k_filter(logits, k)`, which filters logits of the shape (..., V).
#
# - In each row exactly k logits stay as they are. The others become `-inf`.
# - In a tie the lower id stays. For example, `[1, 3, 3, 3]` with k = 2 gives `[-inf, 3, 3, -inf]`.
# - If k is `None`, or V or more, all logits stay. The input must not change.

# %% id="exercise-top-k" tags=["exercise:03.top_k"]
def top_k_filter(logits, k):
    ...

# %% id="check-top-k" tags=["check:03.top_k", "nbval-ignore-output"]
check("03.top_k", top_k_filter)

# %% [markdown] id="top-p-text"
# ## Top-p: a fixed mass
#
# *Top-p* goes through the tokens from the likeliest down, and adds up their probabilities until the sum reaches p. All
# tokens up to this point stay, including the one that takes the sum to p. Together they are called the *nucleus*. The
# other tokens are dropped, and the nucleus is renormalised. **Guess** the probabilities after top-p = 0.8 on [0.6, 0.25, 0.15].

# %% id="guess-top-p" tags=["nbval-ignore-output"]
my_top_p = ...

# %% id="see-top-p" tags=["nbval-ignore-output"]
nucleus = sampling.top_p_filter(three, 0.8).softmax(-1)
predict.beside(my_top_p, [round(p, 3) for p in nucleus.tolist()], "top-p = 0.8")

# %% id="top-p-figures"
ax = plots.probability_bars(["0", "1", "2"], {"before": [0.6, 0.25, 0.15], "after top-p = 0.8": nucleus},
                            "The nucleus has 0.85 of the mass, then all of it")
print("mass kept:", round(0.6 + 0.25, 2), " after:", [round(p, 3) for p in nucleus.tolist()])

# %% [markdown] id="crossing-text"
# The first token has 0.6, which is less than 0.8, so a second token is needed. With it the sum is 0.85 and has crossed the
# line. The token that crosses the line stays, so the kept tokens have *at least* p together. If this token were dropped,
# the kept tokens would have less than p. In a row whose first token alone has more than p, no token would be left.
#
# **Predict** before you move top-p: up to which p does one token suffice, and from which p on are all three needed?

# %% id="top-p-panel"
widgets.explore_logits(three, ["first", "second", "third"], SamplingParams(top_p=0.8))

# %% [markdown] id="top-p-exercise-text"
# One token suffices up to p = 0.6, and all three are needed above 0.85. **Find out by moving:** put p back to 0.8 and raise the
# temperature, which is applied before top-p here. At which T is the third token kept as well? <details><summary>Answer</summary>At 1.47. There the distribution is so flat that the first two tokens have less than 0.8 together.</details>
#
# ### Exercise `03.top_p` · hard · 15 minutes
#
# Write `top_p_filter(logits, p)`, which filters logits (..., V), for 0 < p <= 1. Each row is filtered on its own.
#
# - The crossing token stays. p = 1 keeps every token.
# - Kept logits stay unchanged, and each stays where it was. The others become `-inf`. The input must not change.
# - For example, `[0, 2, 1]` has the probabilities 0.090, 0.665 and 0.245, so p = 0.8 gives `[-inf, 2, 1]`.

# %% id="exercise-top-p" tags=["exercise:03.top_p"]
def top_p_filter(logits, p):
    ...

# %% id="check-top-p" tags=["check:03.top_p", "nbval-ignore-output"]
check("03.top_p", top_p_filter)

# %% [markdown] id="min-p-text"
# ## Min-p: a fixed share of the best
#
# *Min-p* keeps every token whose probability is at least `min_p` times that of the likeliest token. If the likeliest has
# 0.6 and `min_p` is 0.1, a token needs 0.06. Now compare the three filters on two rows of six tokens:
#
# - a peaked row, [0.9, 0.04, 0.02, 0.02, 0.01, 0.01]
# - a flat row, [0.19, 0.18, 0.17, 0.16, 0.15, 0.15]
#
# **Guess** how many tokens are kept by top-k = 3, by top-p = 0.9 and by min-p = 0.1. Write a list of three numbers for
# each row.

# %% id="guess-kept" tags=["nbval-ignore-output"]
my_kept_of_peaked, my_kept_of_flat = ..., ...

# %% id="peaked-flat" tags=["nbval-ignore-output"]
rows = {"peaked": [0.9, 0.04, 0.02, 0.02, 0.01, 0.01], "flat": [0.19, 0.18, 0.17, 0.16, 0.15, 0.15]}
counts = {}
for name, guess in (("peaked", my_kept_of_peaked), ("flat", my_kept_of_flat)):
    row = torch.tensor(rows[name]).log()
    filtered = sampling.top_k_filter(row, 3), sampling.top_p_filter(row, 0.9), sampling.min_p_filter(row, 0.1)
    counts[name] = [len(kept(logits)) for logits in filtered]
    predict.beside(guess, counts[name], f"{name:>6} row")

# %% [markdown] id="min-p-exercise-text"
# Top-k keeps three tokens whatever the row looks like. On the peaked row, two of them are poor; on the flat row, it drops
# three that are nearly as good as the others. Top-p and min-p follow the shape of the row.
#
# ### Exercise `03.min_p` · medium · 10 minutes
#
# Write `min_p_filter(logits, min_p)`, which filters logits (..., V), each row on its own.
#
# - A logit stays unchanged if it is at least the largest of its row plus ln(`min_p`). The others become `-inf`. For
#   example, `[0, 2, 1]` with `min_p` = 0.3 gives `[-inf, 2, 1]`, because 2 + ln 0.3 = 2 - 1.204 = 0.796.
# - If `min_p` is `None` or 0, all logits stay. If it is 1, every token that ties with the largest stays.
# - A `min_p` below 0 or above 1 is a `ValueError`. The input must not change.

# %% id="exercise-min-p" tags=["exercise:03.min_p"]
def min_p_filter(logits, min_p):
    ...

# %% id="check-min-p" tags=["check:03.min_p", "nbval-ignore-output"]
check("03.min_p", min_p_filter)

# %% [markdown] id="one-ranking-text"
# ## One list, three cuts
#
# Write down the tokens of a row, from the likeliest to the least likely. A temperature moves the scores closer together or
# further apart, but no token overtakes another. Each filter keeps a beginning of this list: the first k, the first that
# reach p together, or those with at least a given share of the largest probability. So a filter only decides where the
# list is cut. **Before you run it:** which of the three cuts will a temperature move?

# %% id="one-ranking"
row = torch.tensor([0.04, 0.4, 0.1, 0.3, 0.16]).log()
beginnings = []
for t in (0.5, 1.0, 2.0):
    scores = sampling.apply_temperature(row, t)
    ranking = scores.argsort(descending=True, stable=True).tolist()
    sets = {"top-k = 3": kept(sampling.top_k_filter(scores, 3)),
            "top-p = 0.8": kept(sampling.top_p_filter(scores, 0.8)),
            "min-p = 0.3": kept(sampling.min_p_filter(scores, 0.3))}
    beginnings += [sorted(ranking[:len(ids)]) == ids for ids in sets.values()]
    print(f"T = {t}: ranking {ranking};", ", ".join(f"{name} keeps {len(ids)}" for name, ids in sets.items()))

# %% id="assert-filters" tags=["assertions"]
assert round(0.95**100, 3) == 0.006 and [round(p, 3) for p in top_2.softmax(-1).tolist()] == [0.706, 0.294, 0.0]
assert [round(p, 3) for p in nucleus.tolist()] == [0.706, 0.294, 0.0]
assert [len(kept(sampling.top_p_filter(three, p))) for p in (0.6, 0.61, 0.85, 0.86)] == [1, 2, 2, 3]
assert kept(sampling.top_k_filter([1.0, 3.0, 3.0, 3.0], 2)) == [1, 2] and kept(sampling.top_p_filter([0.0, 2.0, 1.0], 0.8)) == [1, 2]
assert [round(p, 3) for p in torch.tensor([0.0, 2.0, 1.0]).softmax(-1).tolist()] == [0.09, 0.665, 0.245]
assert counts == {"peaked": [3, 1, 1], "flat": [3, 6, 6]}
assert len(beginnings) == 9 and all(beginnings)  # each kept set is a beginning of the ranking

# %% [markdown] id="one-ranking-explained"
# The ranking is the same at every temperature. Top-k counts tokens, so its cut stays where it is. Top-p and min-p look at
# probabilities, so their cuts move. A decoder therefore needs to rank a row only once, and only as far down as it keeps
# tokens: with top-k = 50 it need not sort the other 49,950 tokens of a vocabulary of 50,000. `sampling.next_token_probs`
# works in this way.

# %% [markdown] id="steps-text"
# ## The kept set depends on the step
#
# The kept set is not a fixed part of the vocabulary. At every step the model gives another row, and the filter decides
# anew. The bigram now writes 60 characters under top-p = 0.9, and we count the tokens that are kept at each step.
#
# **Guess** the smallest and the largest of these 60 numbers. (The vocabulary has 81 tokens.) After which characters do
# you expect them?

# %% id="guess-steps" tags=["nbval-ignore-output"]
my_fewest, my_most = ..., ...

# %% id="steps"
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
params = SamplingParams(top_p=0.9, seed=5)
answer = generation.generate(model, vocab, "The ", params, StopCriteria(60, eos=False))
fed = [*vocab.encode("The "), *answer.token_ids][-61:-1]
kept_at = [kept(sampling.top_p_filter(model.table.detach()[i], 0.9)) for i in fed]
for token_id, ids in list(zip(fed, kept_at, strict=True))[:10]:
    print(f"after {vocab.label(token_id)!r} {len(ids):>2} kept: {''.join(vocab.label(i) for i in ids)}")

# %% id="steps-picture" tags=["nbval-ignore-output"]
sizes = [len(ids) for ids in kept_at]
ax = plots.curve(range(60), {"top-p = 0.9": sizes}, "How many tokens top-p keeps, step by step", "step",
                 "tokens kept", levels={"top-k": 5})
predict.beside(my_fewest, min(sizes), f"fewest, after {vocab.label(fed[sizes.index(min(sizes))])!r}")
predict.beside(my_most, max(sizes), f"most, after {vocab.label(fed[sizes.index(max(sizes))])!r}")
print(f"top-p keeps from {min(sizes)} to {max(sizes)} tokens, top-k = 5 keeps 5 at every step")

# %% id="steps-panel"
widgets.explore_sampling(model, vocab, "The ", params, max_new_tokens=60)

# %% [markdown] id="order-text"
# **Find out by moving:** go through the steps. At which step are only two tokens kept for the first time? Which two?
# <details><summary>Answer</summary>It happens at step 14, after the first `.`. The space is kept, and so is `<eos>`, which crosses p.</details>
#
# ## Which comes first?
#
# Temperature changes the probabilities, and top-p counts probabilities. So it matters which comes first. Take the logits
# [2, 1, 0]. At T = 1 their probabilities are 0.665, 0.245, 0.090; at T = 2 they are 0.506, 0.307, 0.186. With *temperature
# first*, top-p adds up those at T = 2. With *truncation first* (to filter is to truncate the list), top-p adds up those at
# T = 1, and T = 2 is applied to the tokens that are left. **Guess** a p for which the two orders keep different tokens.

# %% id="guess-order-p" tags=["nbval-ignore-output"]
my_p = ...

# %% id="see-order-p" tags=["nbval-ignore-output"]
truncation_first = ("top_k", "top_p", "min_p", "temperature")
p = 0.7 if my_p is ... else my_p  # an example, as long as you have no guess
hot, keeps = [2.0, 1.0, 0.0], {}
for name, order in (("temperature first", sampling.STEPS), ("truncation first", truncation_first)):
    probs = sampling.next_token_probs(hot, SamplingParams(2, top_p=p, order=order))
    keeps[name] = probs.nonzero().flatten().tolist()
    print(f"p = {p}, {name}: keeps {keeps[name]}")
differ = keeps["temperature first"] != keeps["truncation first"]
predict.beside(my_p, p if differ else "not this one", "a p that tells the orders apart")
print(plots.choice_steps(["id 0", "id 1", "id 2"], hot, SamplingParams(2, top_p=p), 0.45))

# %% [markdown] id="which-order-text"
# The picture shows one whole choice with the temperature first; read it from 1 to 5. There are two ranges of p in which the
# orders differ. From 0.507 to 0.665, truncation first keeps one token, and temperature first keeps two, because at T = 2 the
# first token no longer reaches p alone. From 0.814 to 0.909, truncation first keeps two and temperature first three.
#
# ### Exercise `03.which_order` · medium · 8 minutes
#
# This time the temperature is *below* 1: the logits are [2.5, 1.5, 0], T is 0.5 and top-p is 0.8. One order keeps the ids
# {0}, the other keeps {0, 1}. Find out which is which, by hand or in a cell that you add. Then put `"temperature first"`
# and `"truncation first"` in place of the dots.

# %% id="exercise-which-order" tags=["exercise:03.which_order"]
which_order = {(0,): ..., (0, 1): ...}

# %% id="check-which-order" tags=["check:03.which_order", "nbval-ignore-output"]
check("03.which_order", which_order)

# %% id="order"
logits = torch.tensor([2.5, 1.5, 0.0])
for name, at in (("T = 1", 1.0), ("T = 0.5", 0.5)):
    print(f"{name}: probabilities {sampling.next_token_probs(logits, SamplingParams(at)).numpy().round(3)}")

# %% [markdown] id="order-explained"
# At T = 1 the first token has 0.690. That is less than 0.8, so a second token is needed. At T = 0.5 it has 0.876, which is
# enough. A test at T = 1 cannot tell the two orders apart, because there both orders look at the same row. If top-k is the only
# filter, no test can: the ranking does not change with T, so both orders keep the same k tokens.
#
# **Predict:** at T = 0.5, for which p do the two orders keep different tokens? The panel starts with the temperature first.
# Under *Order* you can choose an order with the temperature last. The picture *Cumulative mass by rank* then adds up the
# probabilities at T = 1, as top-p does.

# %% id="order-panel"
widgets.explore_logits(logits, ["0", "1", "2"], SamplingParams(0.5, top_p=0.8))

# %% [markdown] id="libraries-text"
# **Find out by moving** p under both orders. <details><summary>Answer</summary>The two orders differ from 0.69 to 0.87, where one order keeps one token and the other two, and from 0.95 to 0.99, where it is two and three. For all other p they agree.</details>
#
# ## What libraries do
#
# transformers, vLLM and llama.cpp each have their own order and their own defaults. `SamplingParams.like(name, ...)`
# imitates the order and the defaults of the library that you name. **Guess** which of the three keeps *both* tokens {0, 1}
# when you ask for top-p = 0.8 at T = 0.5. Write its name in quotation marks.

# %% id="guess-library" tags=["nbval-ignore-output"]
my_library = ...

# %% id="libraries" tags=["nbval-ignore-output"]
keeps = {}
for library in ("transformers", "vllm", "llama.cpp"):
    params = SamplingParams.like(library, temperature=0.5, top_p=0.8)
    keeps[library] = sampling.next_token_probs(logits, params).nonzero().flatten().tolist()
    print(f"{library:>12}: keeps {keeps[library]}   order: {' > '.join(params.order)}")
both = [library for library, ids in keeps.items() if ids == [0, 1]]
predict.beside(my_library, ", ".join(both), "keeps both tokens")

# %% id="defaults"
row = torch.linspace(4, -4, 200)
print("Of 200 tokens each library keeps, when it samples with its defaults:")
for library in ("transformers", "vllm", "llama.cpp"):
    params = SamplingParams.like(library)
    n_kept = (sampling.next_token_probs(row, params) > 0).sum().item()
    print(f"{library:>12}: {n_kept:>3}   T = {params.temperature}, top_k = {params.top_k}, "
          f"top_p = {params.top_p}, min_p = {params.min_p}")

# %% [markdown] id="defaults-text"
# If you set nothing, transformers is greedy. If you ask it to sample, it keeps 50 tokens: its default `top_k=50` acts only
# then. A file `generation_config.json` beside the weights can change both defaults; notebook 07 comes back to it. llama.cpp
# applies three filters and then sharpens with T = 0.8. So the same prompt and the same weights "with default settings" are
# three different experiments. When you compare libraries, write down every setting. In transformers, pass `top_k=0`
# if you mean *off*.

# %% id="min-p-order"
five = torch.tensor([0.5, 0.2, 0.1, 0.1, 0.1]).log()
for library in ("transformers", "vllm"):
    params = SamplingParams.like(library, temperature=1.0, top_k=None, top_p=0.7, min_p=0.3)
    ids = sampling.next_token_probs(five, params).nonzero().flatten().tolist()
    print(f"{library:>12}: min-p and top-p keep {ids}")

# %% [markdown] id="rescue-text"
# The five probabilities are 0.5, 0.2, 0.1, 0.1 and 0.1. transformers applies top-p first, and the first two tokens reach
# 0.7 together. vLLM applies min-p first. Min-p leaves the same two tokens, which have 0.714 and 0.286 after they are
# renormalised. Now the first token reaches 0.7 alone, and top-p drops the second.
#
# ## Cutting the tail of a hot distribution
#
# In notebook 02 about 8 in 100 of the bigram's words were real at T = 2. Now top-p = 0.5 drops the tail *before* this
# temperature is applied. **Guess** the share of real words.

# %% id="guess-rescue" tags=["nbval-ignore-output"]
my_rescued_share = ...

# %% id="rescue"
shares = {}
for name, settings in {"T = 2": {}, "T = 2, then top-p": {"top_p": 0.5},
                       "top-p, then T = 2": {"top_p": 0.5, "order": truncation_first}}.items():
    params = [SamplingParams(2.0, seed=seed, **settings) for seed in range(24)]
    answers = generation.generate_batch(model, vocab, [""] * 24, params, StopCriteria(200, eos=False))
    shares[name] = [metrics.coherence(answer.text).real_words for answer in answers]
    print(f"{name:>17}: {sum(shares[name]) / 24:.3f} real words, mean of 24 texts")

# %% id="rescue-picture"
ax = plots.dots_by_setting(shares, "Real words at T = 2, a dot for each seed", "setting", "share of words")

# %% id="see-rescue" tags=["nbval-ignore-output"]
predict.beside(my_rescued_share, sum(shares["top-p, then T = 2"]) / 24, "real words")

# %% [markdown] id="rescue-explained"
# Why does the place of top-p = 0.5 matter so much? Take the row after a space. At T = 2 it takes 12 tokens to collect half of
# the probability. At T = 1, six are enough. The setting has the same name in both orders, but what it keeps depends on
# where it stands. (The bigram has not become wiser: its likeliest pairs happen to make short words.)
#
# Now the transformer writes at T = 2, with the temperature first: without a filter, with top-k = 50, with top-p = 0.8 and
# with min-p = 0.1. **Before you run it:** which of the three filters will help least?

# %% id="llama" tags=["nbval-ignore-output"]
llama, _ = checkpoint.load_model("tiny_llama")
written = {}
filters = {"no filter": {}, "top-k 50": {"top_k": 50},
           "top-p 0.8": {"top_p": 0.8}, "min-p 0.1": {"min_p": 0.1}}
for name, setting in filters.items():
    params = SamplingParams(2.0, seed=3, **setting)
    written[name] = generation.generate(llama, vocab, "The ", params, StopCriteria(110)).text
    print(f"--- {name}\n{textwrap.fill('The ' + written[name], 80)}")

# %% [markdown] id="large-vocabulary-text"
# With top-p and with min-p, every complete word is a word that the tales can contain. Top-k = 50 keeps 50 of the 81 tokens,
# and with them much of the tail.
#
# ## A large vocabulary
#
# Here is a distribution over 50,000 tokens. It is **made**, not recorded from a model: the probability of the token with
# rank r is proportional to $r^{-1.1}$, much as Zipf's law says of the frequencies of words. The cell counts how many tokens
# top-k = 50, top-p = 0.9 and min-p = 0.05 keep. **Before you run it:** which of these three numbers does not change with T?

# %% id="large-vocabulary"
zipf = -1.1 * torch.arange(1, 50_001, dtype=torch.float64).log()
numbers = {}
for t in (0.5, 1.0, 2.0):
    numbers[t] = [(sampling.next_token_probs(zipf, SamplingParams(t, **setting)) > 0).sum().item()
                  for setting in ({"top_k": 50}, {"top_p": 0.9}, {"min_p": 0.05})]
    tail, n = sampling.next_token_probs(zipf, SamplingParams(t))[50:].sum(), numbers[t]
    print(f"T = {t}: {tail:.3f} of the probability lies beyond rank 50")
    print(f"         kept by top-k = 50: {n[0]}, by top-p = 0.9: {n[1]}, by min-p = 0.05: {n[2]}")

# %% id="assert-orders" tags=["assertions"]
hand = torch.tensor([2.0, 1.0, 0.0])
n_kept = {t: [len(kept(sampling.top_p_filter(hand / t, i / 1000))) for i in range(1000)] for t in (1, 2)}
assert [i for i in range(1000) if n_kept[1][i] != n_kept[2][i]] == [*range(507, 666), *range(814, 910)]
assert keeps == {"transformers": [0], "vllm": [0], "llama.cpp": [0, 1]} and (min(sizes), max(sizes)) == (2, 23)
assert sum(shares["top-p, then T = 2"]) > 2 * sum(shares["T = 2, then top-p"])
after_space = model.table.detach()[vocab.ids[" "]]
assert [len(kept(sampling.top_p_filter(after_space / t, 0.5))) for t in (1, 2)] == [6, 12]
whole = {name: set(storyworld.split_words(words)[:-1]) <= storyworld.words() for name, words in written.items()}
assert whole == {"no filter": False, "top-k 50": False, "top-p 0.8": True, "min-p 0.1": True}
assert numbers == {0.5: [50, 4, 3], 1.0: [50, 7293, 15], 2.0: [50, 39620, 232]}

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | top-p = 0.9 keeps nine tenths of the tokens | it keeps nine tenths of the probability, which may be one token |
# | a filter removes wrong tokens | it removes unlikely ones; it does not know which are right |
# | the same settings mean the same everywhere | order and defaults differ between libraries |
# | T = 2 is too hot to use | the transformer wrote readable text at T = 2 with top-p or min-p |
# | top-k = 50 is a mild filter | for 81 tokens it is; in the made row at T = 2, 96 % of the probability lies beyond rank 50 |
#
# We looked at one bigram and one small transformer. This notebook does not show which filter suits a large model.
# **Further, without a check:** for which rows do top-p = 0.9 and min-p = 0.1 keep the same tokens?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. The first token has 0.95 and top-p is 0.9. How many tokens stay?</summary>One: the first reaches 0.9 by itself. At least one token always stays.</details>
# <details><summary>2. Can the nucleus of top-p = 0.9 be computed once for a model, as a list?</summary>No. It depends on the distribution of the current step.</details>
# <details><summary>3. You test your chain of filters at T = 1, and it agrees with a library's. What has the test not shown?</summary>The order of temperature and truncation, which cannot be seen at T = 1.</details>
# <details><summary>4. Why does a dropped token get -inf instead of 0 or -1000?</summary>0 is an ordinary logit, and it can win among negative ones. -1000 is small only as long as the other logits are not. After softmax, -inf is 0 whatever the others are.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Top-k keeps a number of tokens, top-p a mass, and min-p the tokens that come close to the best. What is left is
# renormalised. The kept set changes from step to step. The order of temperature and truncation changes what is kept, and
# libraries differ in their order and in their defaults. **Next:** [04 A tiny transformer](04_tiny_transformer.ipynb)
#
# **Sources.** A. Fan et al., [*Hierarchical neural story generation*](https://arxiv.org/abs/1805.04833), 2018, uses top-k. A. Holtzman et al.,
# [*The curious case of neural text degeneration*](https://arxiv.org/abs/1904.09751), 2020, introduces top-p and shows why the tail matters. M. Nguyen et al.,
# [*Turning up the heat*](https://arxiv.org/abs/2407.01082), 2024, introduces min-p. Orders and defaults: transformers 5.24, and the sources of vLLM and llama.cpp.
# Checked on 2026-12-01. A teaching example, not a production benchmark.
