# %% [markdown] id="title"
# # 06 · Is the cache right?
#
# **After this notebook you can** compare two ways to the same logits, with a tolerance that you can defend; find out from
# where they part what is wrong; say when old keys and values may be reused; and say what equal and unequal texts prove.
#
# **You need** notebook 05. **Time:** 90 minutes, a third of it for the clinic.

# %% id="setup"
import math

import pandas as pd
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from course_utils import budget, clinic, generation, kv_cache, plots, predict, text
from course_utils.checking import check
from course_utils.checkpoint import load_model
from course_utils.compare_logits import cached_equals_full, compare_logits, in_chunks
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.transformer import Transformer, TransformerConfig

torch.set_num_threads(1)  # steps as small as these gain nothing from more
sound, vocab = load_model("tiny_llama")
tales = text.load_documents("tales", "validation")

# %% [markdown] id="noise-text"
# ## Two ways to one number
#
# A computer adds floating-point numbers with rounding, so the order of a sum matters. Here are three numbers, added in
# two orders.

# %% id="sum"
x, y, z = torch.tensor([1e8, 1.0, -1e8])
print("(x + y) + z =", ((x + y) + z).item(), "   (x + z) + y =", ((x + z) + y).item())

# %% [markdown] id="two-paths-text"
# A forward pass over a whole text and the same text through a cache are two orders of many sums. Both are right, and
# their logits differ a little. **Guess:** the largest logits here have two digits. Which power of ten has the largest
# difference, over all positions of a long tale? (-3 means 0.001.)

# %% id="guess-power" tags=["nbval-ignore-output"]
my_power = ...

# %% id="two-paths" tags=["nbval-ignore-output"]
tale = torch.tensor([[vocab.bos_id, *vocab.encode(max(tales, key=len))]])
report = cached_equals_full(sound, tale, 24)
print(report)
predict.beside(my_power, math.floor(math.log10(report.max_abs_diff)), "power of ten")
ax = plots.divergence(report, "A prompt of 24 tokens, then one at a time, against one whole pass", [24])
assert report.equal and report.max_abs_diff > 0

# %% [markdown] id="tolerance-text"
# The dots are the *noise floor*. (Where both ways feed the prompt in one pass there is hardly any: no difference is drawn at
# the bottom.) The dashed line is the tolerance of `compare_logits`: 64 rounding units of the largest logit. Rounding is
# relative to the numbers that are added, so a tolerance must know their size and their dtype.
#
# The report also says whether the likeliest token is the same, and the KL divergence. Neither can replace the
# difference: the likeliest token is the same for [2, 1, 0] and [2.5, 1, 0], and KL is 0 for logits that are all larger by 1.

# %% id="argmax-and-kl"
print(compare_logits([2.0, 1.0, 0.0], [2.5, 1.0, 0.0]))
print(compare_logits([2.0, 1.0, 0.0], [3.0, 2.0, 1.0], atol=0.5).equal)

# %% [markdown] id="fail-text"
# ## A check must be able to fail
#
# Here is a check that many people would write. **Predict** its verdict on NaN, on nothing at all, and on one number
# against three.

# %% id="naive"
def naive(a, b):
    return not (abs(a - b) > 1e-5).any()

pairs = {"NaN against 0.5": ([math.nan], [0.5]), "nothing": ([], []), "one against three": ([0.5], [0.5, 0.5, 0.5])}
for name, (a, b) in pairs.items():
    print(f"{name:>17}: naive says {naive(torch.tensor(a), torch.tensor(b))}, compare_logits {compare_logits(a, b).equal}")

# %% [markdown] id="same-logits-text"
# NaN is not greater than anything, an empty `any` is False, and broadcasting stretches one number to three. A fault that
# makes NaN, or no logits at all, would pass.
#
# ### Exercise `06.same_logits` · medium · 10 minutes
#
# Write `same_logits(a, b, atol)`: True if no two numbers differ by more than `atol` (just `atol` is still the same), else
# False. Another shape, NaN in either or nothing to compare is False. Tensors of one, two or three axes.

# %% id="exercise-same-logits" tags=["exercise:06.same_logits"]
def same_logits(a, b, atol):
    ...

# %% id="check-same-logits" tags=["check:06.same_logits", "nbval-ignore-output"]
check("06.same_logits", same_logits)

# %% [markdown] id="dropout-text"
# ## Before any comparison: eval mode
#
# Dropout draws which activations to zero, anew at each call. In training mode a model differs from itself, and any cache
# looks broken. **Predict** the three lines for a small model with dropout 0.5.

# %% id="dropout"
torch.manual_seed(0)
small = Transformer(TransformerConfig(len(vocab), 2, 4, 2, 32, 64, dropout=0.5)).train()
ids = torch.arange(20)[None]
with torch.no_grad():
    print("equal to itself in training mode:", compare_logits(small(ids), small(ids)).equal)
    print("and in eval mode:", compare_logits(small.eval()(ids), small(ids)).equal)
answers = [generation.generate(small.train(), vocab, "The ", SamplingParams(greedy=True), StopCriteria(10)).text for _ in "12"]
print("generate, twice:", answers[0] == answers[1], "  still in training mode afterwards:", small.training)
assert answers[0] == answers[1] and small.training

# %% [markdown] id="padding-text"
# `generate` and `cached_equals_full` switch to eval mode and put the mode back afterwards.
#
# ## Padding: the same row alone and in a batch
#
# Rows of a batch have one length, so short ones are padded, and a mask says which slots are real. A row must not notice.
# Two things see to that: no query attends to a pad, and positions count real tokens only. **Guess** the positions of
# the first row of the mask [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]], with 0 in masked slots.

# %% id="guess-positions" tags=["nbval-ignore-output"]
my_positions = ...

# %% id="positions" tags=["nbval-ignore-output"]
mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
predict.beside(my_positions, [0, *(mask.cumsum(1)[0, 1:] - 1).clamp_min(0).tolist()], "positions of row 0")

# %% [markdown] id="padded-positions-text"
# The first real token stands at 0, wherever it is in the batch. Build masks from lengths and never from ids: an id that is
# used as a pad may be a real token elsewhere.
#
# ### Exercise `06.padded_positions` · medium · 10 minutes
#
# Write `padded_positions(attention_mask)` for a mask (B, T) of 0 and 1 with padding on the left or on the right: int64 (B, T),
# in each real slot the number of real tokens before it in its row, in each masked slot 0.

# %% id="exercise-padded-positions" tags=["exercise:06.padded_positions"]
def padded_positions(attention_mask):
    ...

# %% id="check-padded-positions" tags=["check:06.padded_positions", "nbval-ignore-output"]
check("06.padded_positions", padded_positions)

# %% id="alone-and-together" tags=["nbval-ignore-output"]
rows = [tale[0, :9], tale[0, 40:42], tale[0, 100:105]]
for side in ("left", "right"):
    batch, mask = torch.full((3, 9), vocab.pad_id), torch.zeros(3, 9, dtype=torch.bool)
    for number, row in enumerate(rows):
        slots = slice(9 - len(row), 9) if side == "left" else slice(len(row))
        batch[number, slots], mask[number, slots] = row, True
    with torch.no_grad():
        together, without = sound(batch, attention_mask=mask), sound(batch)
        for number, row in enumerate(rows):
            alone, last = sound(row[None])[0], int(mask[number].nonzero()[-1])
            assert compare_logits(alone, together[number, mask[number]])
            unmasked = compare_logits(alone[-1], without[number, last])
            assert unmasked.equal == (side == "right" or len(row) == 9)
            print(f"{side:>5}, {len(row)} tokens: last real slot {last}, |difference| without a mask {unmasked.max_abs_diff:.1e}")

# %% [markdown] id="padding-explained"
# With the mask all rows have the logits that they have alone, at every real slot. Without it the rows with pads on the left
# are wrong. Pads on the right do no harm to what is before them, since attention is causal; but the next token is
# read from the last *real* slot, and slot -1 is a pad. (The `generate` of transformers
# pads on the left, so that all rows go on in the same slot; vLLM and llama.cpp pack texts without pads.)
#
# ## The clinic
#
# Sixteen decoders with the same weights. Fifteen have a fault that real decoders had, one is sound. First, what people look
# at first: the text. **Guess:** of the texts of twelve greedy characters that come from *wrong* logits, which share equals the
# sound decoder's text?

# %% id="guess-same-texts" tags=["nbval-ignore-output"]
my_share_of_same_texts = ...

# %% id="right-texts" tags=["nbval-ignore-output"]
specimens = clinic.admit(sound)
prompts = [document[:23] for document in tales[: budget.choose(24, 8)]]
greedy, twelve = SamplingParams(greedy=True), StopCriteria(12, eos=False)
right = generation.generate_batch(sound, vocab, prompts, greedy, twelve)
fed = torch.tensor([[vocab.bos_id, *vocab.encode(one.prompt), *one.token_ids] for one in right])
for letter in "DGI":
    print(f"{letter}: {prompts[0]}|{generation.generate(specimens[letter], vocab, prompts[0], greedy, twelve).text!r}")
print(f"right: {prompts[0]}|{right[0].text!r}")

# %% id="texts" tags=["nbval-ignore-output"]
counts = {}
for letter, specimen in specimens.items():
    texts = [one.text for one in generation.generate_batch(specimen, vocab, prompts, greedy, twelve)]
    same = torch.tensor([a == b.text for a, b in zip(texts, right, strict=True)])
    report = compare_logits(in_chunks(sound, fed, 24), in_chunks(specimen, fed, 24))
    wrong = (report.differences > report.tolerance).any(1)
    counts[letter] = [int(same.sum()), int(wrong.sum()), int((same & wrong).sum()), f"{report.max_abs_diff:.0e}"]
counts = pd.DataFrame(counts, index=["same text", "wrong logits", "both", "largest |difference|"]).T
n_wrong, n_both = counts["wrong logits"].sum(), counts["both"].sum()
predict.beside(my_share_of_same_texts, float(n_both / n_wrong), f"{n_both} of {n_wrong} texts from wrong logits are the same: share")
print(counts, f"\nof {len(prompts)} prompts each")
assert 0 < n_both < n_wrong and (counts["wrong logits"] == 0).sum() == 6

# %% [markdown] id="texts-explained"
# Equal text is weak evidence: the likeliest token often survives wrong logits, and the longer the text, the fewer survive.
# Six specimens have no wrong logits at all here: these prompts, fed this way, cannot reach their fault. One of the six
# is sound, and five are not.
#
# So look at logits, and at more ways of feeding. In each picture a prompt of 24 tokens goes in first (dotted line), then one token
# at a time. **Before you run:** how will a fault of positions differ from a fault of what is stored?

# %% id="pictures" tags=["nbval-ignore-output"]
torch.manual_seed(0)  # one specimen draws random numbers
ids = tale[:, :48]
examined = {letter: clinic.examine(specimen, sound, ids) for letter, specimen in specimens.items()}
decode = {letter: reports["decode"] for letter, reports in examined.items()}
figure = plots.divergence_grid(decode, "A prompt of 24 tokens, then one at a time, against the sound model", [clinic.SPLIT])
for letter, report in decode.items():
    print(letter, "sound here" if report else f"parts at {report.first_divergence.position}", end="   ")

# %% [markdown] id="situations-text"
# Now more situations. Each cell says at which position the specimen parts and how large the difference gets; a dot means: equal.
# *whole*: one pass, no cache. *decode*: as above. *chunk*: after the prompt, all the rest in one call. *future*: chunk again, with another last
# token; does anything before it change? *again*: two equal calls. *left pads*: five pads and a mask. *edit*: the cache has
# seen the text with another sixth token. *update*: the weights change after the prompt. Positions count from 0.

# %% id="situations" tags=["nbval-ignore-output"]
def shown(report):
    return "·" if report else f"{report.first_divergence.position}: {report.max_abs_diff:.0e}"

table = pd.DataFrame({letter: {name: shown(report) for name, report in reports.items()} for letter, reports in examined.items()}).T
with pd.option_context("display.width", 140):
    print(table)
assert (table == "·").all(axis=1).sum() == 1  # the sound one

# %% [markdown] id="stored-text"
# Some rows are still alike. One more instrument: in layer 0 a key depends on its token and its position alone, so the stored
# key tells at which position a token was put. Here for the last two tokens of the prompt and the next four.

# %% id="stored" tags=["nbval-ignore-output"]
for letter, specimen in specimens.items():
    positions = clinic.stored_positions(specimen, sound, ids[:, :28])
    print(f"{letter}: {len(positions)} stored, the first at {positions[0]}, then … {positions[22:]}")
print("\nto choose from:", *clinic.FAULTS, sep="\n")

# %% [markdown] id="diagnose-text"
# ### Exercise `06.diagnose` · hard · 20 minutes
#
# Put a name from the list above in place of each `...`; every one occurs once. You can check as often as you like, also when some
# are still open. Measure what you like: a specimen is a model, so `specimens["A"](ids)`, `in_chunks(specimens["A"], ids, [24, 10, 14])`,
# `compare_logits`, `specimens["A"].new_cache()` and `generate` all work on it.

# %% id="exercise-diagnose" tags=["exercise:06.diagnose"]
diagnose = {
    "A": ..., "B": ..., "C": ..., "D": ...,
    "E": ..., "F": ..., "G": ..., "H": ...,
    "I": ..., "J": ..., "K": ..., "L": ...,
    "M": ..., "N": ..., "O": ..., "P": ...,
}

# %% id="check-diagnose" tags=["check:06.diagnose", "nbval-ignore-output"]
check("06.diagnose", diagnose)

# %% [markdown] id="reuse-text"
# ## When may old keys and values be reused?
#
# When they are what a fresh run would compute: the same tokens before them, the same positions, the same weights.
# `reuse_prefix` crops a cache to what it shares with a new prompt. **Guess:** the cache holds [1, 2, 3, 4, 5] and the new prompt is
# [1, 2, 9, 4]. How many tokens need not be fed again?

# %% id="guess-reused" tags=["nbval-ignore-output"]
my_reused = ...

# %% id="reused" tags=["nbval-ignore-output"]
cache, prompt = sound.new_cache(), torch.tensor([[1, 2, 9, 4]])
in_chunks(sound, [1, 2, 3, 4, 5], [5], cache=cache)
n_reused = kv_cache.reuse_prefix(cache, prompt[0].tolist())
predict.beside(my_reused, n_reused, "reused")
rest = in_chunks(sound, prompt[:, n_reused:], [4 - n_reused], cache=cache)
with torch.no_grad():
    report = compare_logits(sound(prompt)[:, n_reused:], rest)
print(f"fed {prompt[0, n_reused:].tolist()}, the cache holds {cache.n_tokens}:", report)
assert n_reused == 2 and cache.n_tokens == 4 and report

# %% [markdown] id="refused-text"
# The 4 is the same token at the same position, and yet its keys are not reused: above layer 0 they were computed from what
# stood before. A cache also remembers its model and the version counters of the weights, and refuses what no longer fits. (An
# edit through `.data` moves no counter and goes unseen.)

# %% id="refused"
other, _ = load_model("tiny_llama")
cache = other.new_cache()
in_chunks(other, [1, 2, 3], [3], cache=cache)
with torch.no_grad():
    other.head.weight.mul_(1.1)
for name, model in (("changed weights", other), ("another model", sound)):
    try:
        in_chunks(model, [4], [1], cache=cache)
    except ValueError as error:
        print(f"{name}: {error}")

# %% id="would-have-come" tags=["nbval-ignore-output"]
for situation, fault in (("edit", "old keys after an edit"), ("update", "old keys after a weight update")):
    report = clinic.examine(clinic.planted(fault, sound), sound, ids)[situation]
    print(f"{situation}, not refused: {report}")
    assert report.max_abs_diff > 30 * report.tolerance
cache = sound.new_cache()
in_chunks(sound, tale[:, :60], [60], cache=cache)
fresh = in_chunks(sound, tale[:, 20:61], [41])[:, -1]
for turn_keys in (False, True):
    new = in_chunks(sound, tale[:, 60:61], [1], cache=clinic.rolled(sound, cache, 20, turn_keys))[:, -1]
    print(f"oldest 20 tokens dropped, keys turned back {turn_keys}: {compare_logits(fresh, new)}")
    assert not compare_logits(fresh, new)

# %% [markdown] id="would-have-explained"
# What a refusal prevents is no error message but plausible text from wrong logits. The last two lines drop the oldest tokens to make
# room, which no cache of this package does. Turning the keys back to their new positions does not make it right: what was
# kept still knows of the dropped tokens. Some systems do it on purpose, as an approximation.
#
# ## What texts prove
#
# Attention itself has several right implementations. PyTorch offers two on a CPU: MATH, step by step, and FLASH, which goes
# through the keys block by block: another order of sums. A *near tie* is a place where the two likeliest tokens are all but
# equally likely. The course ships eight texts that end at one. A search began at the training tales' closest places and
# changed one early letter after another, as long as the two tokens came closer. **Guess:** can two right decoders choose
# differently there? (The columns: one pass, token by token, one pass by MATH.)

# %% id="near-ties" tags=["nbval-ignore-output"]
found = clinic.nearest_ties(sound)[::-1]  # (ids, margin in nats); the nearest comes last
print(f"{len(found)} texts; the smallest margin is {found[-1][1]:.0e}")

def right_ways(ids):  # the logits after a text: one pass, token by token, one pass by MATH
    ways = [in_chunks(sound, ids, [ids.shape[1]])[0, -1], in_chunks(sound, ids, 1)[0, -1]]
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        ways.append(sound(ids)[0, -1])
    assert all(compare_logits(ways[0], way) for way in ways)  # the check calls them the same
    return ways

# %% id="flips" tags=["nbval-ignore-output"]
n_flips, noise = 0, 0.0
for ids, _ in found:  # the nearest comes last
    ways, prompt = right_ways(ids[None]), vocab.decode(ids.tolist())
    first, second = ways[0].topk(2).indices.tolist()
    noise = max(noise, *(compare_logits(ways[0], way).max_abs_diff for way in ways))
    n_flips += len({int(way.argmax()) for way in ways}) > 1
    gaps = "  ".join(f"{(way[first] - way[second]).item():+.1e}" for way in ways)
    print(f"…{prompt[-22:]!r}: {vocab.label(first)} before {vocab.label(second)} by {gaps}")
print(f"the smallest margin is {found[-1][1]:.0e}, and right ways differ by up to {noise:.0e}; choices that flipped: {n_flips}")
assert found[-1][1] < compare_logits(ways[0], ways[1]).tolerance
for token in vocab.decode([first]), vocab.decode([second]):  # how the last text goes on after either choice
    print(repr(token + generation.generate(sound, vocab, prompt + token, greedy, twelve).text))

# %% [markdown] id="limits-explained"
# Where the margin is smaller than the noise, the greedy token depends on the way, though all three are right, and from
# there the texts part. Whether the margins of your run are so small, and whether a choice flipped, is printed above: it
# depends on the weights and the processor. The last one is within the tolerance, so the check calls either choice right.
# Greedy has no randomness, and still promises the same text on one machine and version only.
#
# So **equal text proves little**: wrong logits kept the text of some of the prompts above. And **unequal text proves little**: right
# logits may part at a near tie. Compare logits, at every position, within a stated tolerance.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Cached and full logits differ by 8e-6, and logits go up to 15 in float32. Fault or noise?</summary>Noise: a rounding unit of 15 is about 2e-6, and this is four of them. The smallest fault here, keys in bfloat16, differs by more than ten thousand.</details>
# <details><summary>2. A decoder is right in one pass and one token at a time, and wrong when a prompt comes in two parts. Where do you look?</summary>At the mask of a chunk behind a cache: its alignment, and whether there is one.</details>
# <details><summary>3. Twenty prompts give the same text with and without the cache. What do you know?</summary>That on these prompts no choice changed. Wrong logits often keep the likeliest token where it was; padding, edits and chunks were not tried at all.</details>
# <details><summary>4. One early word of a long prompt is changed. Which keys and values may stay?</summary>Those before the word. All later ones were computed with it in view.</details>
# <details><summary>5. The same greedy prompt gives another text on another machine. Is one of them broken?</summary>Not by that. Find the first token that differs and look at its margin: if it is within the noise, both are right.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Two right ways differ by rounding; a fault differs by far more. The check compares shape, numbers and finiteness at every
# position. Where a difference begins, and in which situation, names the fault. Old keys and values hold for the same tokens,
# positions and weights. Texts are weak evidence in both directions.
#
# **Sources.** PyTorch, [*Numerical accuracy*](https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html) and
# [*scaled dot product attention*](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html).
# J. Su et al., [*RoFormer*](https://arxiv.org/abs/2104.09864), 2021. G. Xiao et al., [*Efficient streaming language
# models with attention sinks*](https://arxiv.org/abs/2309.17453), 2023 (dropping old tokens). Checked on 2026-11-30. A teaching example, not a production benchmark.
