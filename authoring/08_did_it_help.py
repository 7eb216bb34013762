# %% [markdown] id="title"
# # 08 · Did it help?
#
# **After this notebook you can** say how sure an accuracy is; compare two settings in pairs, and say *can't tell* where
# that is the answer; compute pass@k; tell how many runs a comparison needs; and write down what makes a text
# reproducible.
#
# **You need** notebooks 02 and 04. **Time:** 75 minutes; its longest cell takes about half a minute.

# %% id="setup"
import json
import tempfile
from collections import Counter

import torch

from course_utils import bigram, budget, checkpoint, comparison, generation, metrics, plots, predict, sampling, sweep
from course_utils.checking import check
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import load_documents

model, vocab = checkpoint.load_model("tiny_llama")
fingerprint_before = checkpoint.fingerprint(model, vocab)

# %% [markdown] id="sums-text"
# ## Answers that are right or wrong
#
# "Temperature 0.3 is better" is a claim about many answers, so we need answers that can be marked. The transformer has seen
# sums such as `12+34=46` in training. A tenth of all pairs was held back; these are the questions here. An answer is right
# if it is the sum, and nothing else. A marker has to be tried on wrong answers, too.

# %% id="grade" tags=["nbval-ignore-output"]
questions = [document[: document.index("=") + 1] for document in load_documents("sums", "validation")]
for answer in generation.generate_batch(model, vocab, questions[:4], SamplingParams(greedy=True), StopCriteria(8)):
    print(f"{answer.prompt}{answer.text:<5} right: {metrics.sum_is_right(answer.prompt, answer.text)}")
assert metrics.sum_is_right("12+34=", "46")
assert not any(metrics.sum_is_right("12+34=", wrong) for wrong in ("47", "4", "460", "046", "46.", ""))

# %% [markdown] id="interval-text"
# ## How sure is a share?
#
# Four answers, all right: is this model always right? One that is right nine times of ten would do as well two times of three.
# An *interval* says which accuracies fit what was seen: a 95 % interval misses the true one in 1 of 20 experiments.
# **Guess:** 4 of 4 are right; how low may the accuracy be?

# %% id="guess-interval" tags=["nbval-ignore-output"]
my_lowest = ...

# %% id="interval" tags=["nbval-ignore-output"]
for right, n in ((4, 4), (40, 40), (36, 40), (900, 1000)):
    low, high = metrics.proportion_ci(right, n)
    print(f"{right:>4} of {n:>4} right: {right / n:.2f}, interval {low:.3f} to {high:.3f}")
predict.beside(my_lowest, metrics.proportion_ci(4, 4).low, "4 of 4: lowest accuracy that fits")
assert round(metrics.proportion_ci(4, 4).low, 3) == 0.510

# %% [markdown] id="temperature-text"
# This is Wilson's interval; it has a width also where all or none are right. Its width shrinks with the root of n: ten
# times as sure takes a hundred times as many answers.
#
# ## Accuracy against temperature
#
# `sweep` runs every prompt under every setting. Each prompt gets draws of its own, or they would all share one
# stroke of luck; each setting gets the *same* draws, for later. (A long sweep can keep its results in a file and go on after
# an interruption, `keep=`, or use all cores, `n_jobs=-1`.)

# %% id="accuracy" tags=["nbval-ignore-output"]
settings = {f"T = {t:g}": SamplingParams(t) for t in (0, 0.3, 0.7, 1, 1.5, 2, 3)}
problems = questions[: budget.choose(300, 60)]
marks = {"right": lambda answer: metrics.sum_is_right(answer.prompt, answer.text)}
table = sweep.sweep(model, vocab, problems, settings, [0], marks, StopCriteria(8), batch_size=100, progress=False)
right = {name: group.right.to_numpy() for name, group in table.groupby("setting", sort=False)}
intervals = {name: metrics.proportion_ci(int(values.sum()), len(values)) for name, values in right.items()}
for name, (low, high) in intervals.items():
    print(f"{name:>7}: {right[name].mean():.3f} of {len(problems)}, interval {low:.3f} to {high:.3f}")
assert table.error.isna().all() and intervals["T = 0"].low > intervals["T = 3"].high
assert intervals["T = 0"].low < intervals["T = 0.7"].high  # these two overlap

# %% id="accuracy-picture" tags=["nbval-ignore-output"]
shares = [values.mean() for values in right.values()]
ax = plots.dots_with_intervals(list(right), shares, list(intervals.values()), "Held-out sums: accuracy and 95 % interval",
                               "temperature (0 is greedy)", "share of right answers")
print("highest in this run:", max(right, key=lambda name: right[name].mean()))

# %% [markdown] id="pairs-text"
# A high temperature costs accuracy: the intervals of T = 0 and T = 3 are apart. Those of T = 0 and T = 0.7 overlap, so the
# higher dot is no winner. But overlap does not mean *equal* either: we have not used that the problems are the same.
#
# ## Pairs
#
# Twelve problems; A solves ten of them, B six, all of which A solves, too. Compare the two as strangers, and in pairs.

# %% id="pairs-by-hand"
a = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
b = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
print("differences:  ", [x - y for x, y in zip(a, b, strict=True)])
print("as strangers: ", comparison.unpaired_difference(a, b))
print("in pairs:     ", comparison.paired_difference(a, b))

# %% [markdown] id="paired-exercise-text"
# Both find +0.333. The spread *between* problems, hard or easy, is in both columns and cancels in each difference.
#
# ### Exercise `08.paired_difference` · medium · 12 minutes
#
# Write `paired_difference(a, b)` for two sequences (lists, tuples, arrays or tensors) of n numbers, n >= 2, where a[i] and b[i] are
# a pair. Return the mean of the differences a - b and its standard error: √(s² / n), where s² is the sum of squared
# deviations from that mean, by n - 1.

# %% id="exercise-paired-difference" tags=["exercise:08.paired_difference"]
def paired_difference(a, b):
    ...

# %% id="check-paired-difference" tags=["check:08.paired_difference", "nbval-ignore-output"]
check("08.paired_difference", paired_difference)

# %% id="verdicts" tags=["nbval-ignore-output"]
for name, values in right.items():
    if name != "T = 1":
        print(f"{name:>7} minus T = 1: {comparison.paired_difference(values, right['T = 1'])}")
assert comparison.paired_difference(right["T = 3"], right["T = 0"]).verdict == "lower"

# %% [markdown] id="learned-text"
# Each verdict is read off its interval: *higher* or *lower* if 0 is outside, else *can't tell*. That is an answer. It says
# that this many problems do not decide, not that there is no difference.
#
# ## Has the model learned something?
#
# Say a lower temperature was better. Did the model come to know more? Look at what changed.

# %% id="weights" tags=["nbval-ignore-output"]
fresh, _ = checkpoint.load_model("tiny_llama")
ids = torch.tensor([[vocab.bos_id, *vocab.encode(problems[0])]])
with torch.no_grad():
    logits, fresh_logits = model(ids)[0, -1], fresh(ids)[0, -1]
print("weights before the sweep:", fingerprint_before[:16], " after:", checkpoint.fingerprint(model, vocab)[:16])
for t in (0.3, 1, 2):
    likeliest = sampling.next_token_probs(logits, SamplingParams(t)).topk(3)
    shown = [f"{vocab.label(i)} {p:.3f}" for p, i in zip(likeliest.values, likeliest.indices.tolist(), strict=True)]
    print(f"after {problems[0]} at T = {t}: {', '.join(shown)}")
assert checkpoint.fingerprint(model, vocab) == fingerprint_before and torch.equal(logits, fresh_logits)

# %% [markdown] id="budget-text"
# Not a bit of the weights changed, so the logits are equal, and so is the distribution at T = 1, to the last digit. The order
# of the candidates is the same at every T. Another choice is made from the same knowledge.
#
# ## One budget, four ways to spend it
#
# 32 tokens a problem, samples at T = 1.5. *Greedy* and *one sample* use 3 or 4 of them. *Best of k* takes of all whole
# answers within 32 tokens the one that the model finds likeliest, *majority* the commonest. **Guess** the majority's accuracy.

# %% id="guess-majority" tags=["nbval-ignore-output"]
my_majority = ...

# %% id="samples" tags=["nbval-ignore-output"]
few = problems[: budget.choose(100, 24)]
three = {f"T = {t:g}": SamplingParams(t) for t in (0.5, 1.5, 2)}
marks["logprob"] = lambda answer: sum(answer.logprobs)
samples = sweep.sweep(model, vocab, few, three, range(16), marks, StopCriteria(8), batch_size=100, progress=False)
print(f"{len(samples)} answers, {samples.n_tokens.sum()} tokens; for example")
print(samples[["prompt", "setting", "seed", "text", "n_tokens", "right"]].head(3).to_string(index=False))

# %% id="spend" tags=["nbval-ignore-output"]
ways = {"greedy": [bool(value) for value in right["T = 0"][: len(few)]], "one sample": [], "best of k": [], "majority": []}
for _, drawn in samples[samples.setting == "T = 1.5"].groupby("problem"):
    drawn = drawn[drawn.n_tokens.cumsum() <= 32]
    winner = Counter(drawn.text).most_common(1)[0][0]
    ways["one sample"].append(drawn.right.iloc[0])
    ways["best of k"].append(drawn.right[drawn.logprob.idxmax()])
    ways["majority"].append(drawn.right[drawn.text == winner].iloc[0])
print(f"one sample: {sum(ways['one sample']) / len(few):.3f}")
for name in ("greedy", "best of k", "majority"):
    difference = comparison.paired_difference(ways[name], ways["one sample"])
    print(f"{name:>10}: {sum(ways[name]) / len(few):.3f}   minus one sample: {difference}")
predict.beside(my_majority, sum(ways["majority"]) / len(few), "majority")

# %% [markdown] id="pass-text"
# Whatever wins here wins at equal cost; with one token more for one side the comparison would be another. *Best of k* and
# *majority* need nobody who knows the answer.
#
# ## pass@k: if somebody knows the answer
#
# Where answers can be checked, as by a test, one right one among k is enough. pass@k is the chance of that. By hand:
# 5 samples of one problem, 2 of them right. Of all ways to take 3, how many have a right one?

# %% id="pass-by-hand"
samples_by_hand = ["right", "wrong", "right", "wrong", "wrong"]
choices = [(i, j, k) for i in range(5) for j in range(i + 1, 5) for k in range(j + 1, 5)]
without = [choice for choice in choices if all(samples_by_hand[i] == "wrong" for i in choice)]
print(f"{len(choices)} choices, {len(without)} without a right one: {without}")
print("pass@3:", metrics.pass_at_k(n=5, c=2, k=3), "  put back after each draw it would be", round(1 - 0.6**3, 3))

# %% [markdown] id="pass-exercise-text"
# ### Exercise `08.pass_at_k` · medium · 10 minutes
#
# Write `pass_at_k(n, c, k)`: of n samples of one problem c are right; the chance that of k different ones at least one is right.
# n, c and k are whole numbers, n may be in the thousands. For k > n raise `ValueError`: n samples do not tell what
# more would give.

# %% id="exercise-pass-at-k" tags=["exercise:08.pass_at_k"]
def pass_at_k(n, c, k):
    ...

# %% id="check-pass-at-k" tags=["check:08.pass_at_k", "nbval-ignore-output"]
check("08.pass_at_k", pass_at_k)

# %% id="pass-curves" tags=["nbval-ignore-output"]
ks = (1, 2, 4, 8, 16)
counts = {name: group.groupby("problem").right.sum() for name, group in samples.groupby("setting", sort=False)}
passes = {name: [[metrics.pass_at_k(16, c, k) for c in correct] for k in ks] for name, correct in counts.items()}
curves = {name: [sum(values) / len(few) for values in by_k] for name, by_k in passes.items()}
for name, values in curves.items():
    print(f"{name:>7}: " + "  ".join(f"pass@{k} {value:.3f}" for k, value in zip(ks, values, strict=True)))
gaps = [comparison.paired_difference(*pair) for pair in zip(passes["T = 1.5"], passes["T = 0.5"], strict=True)]
for k, gap in zip(ks, gaps, strict=True):
    print(f"k = {k:>2}: T = 1.5 minus T = 0.5: {gap}")
hottest = comparison.paired_difference(passes["T = 2"][0], passes["T = 0.5"][0])
print(f"k =  1: T = 2   minus T = 0.5: {hottest}")
assert hottest.verdict == "lower"

# %% id="pass-picture" tags=["nbval-ignore-output"]
ax = plots.curve(ks, curves, f"pass@k on {len(few)} held-out sums", "k, samples a problem", "pass@k")
verdicts = [gap.verdict for gap in gaps]
print("T = 1.5 against T = 0.5 for k = 1, 2, 4, 8, 16:", ", ".join(verdicts))
crossed = "lower" in verdicts and "higher" in verdicts[verdicts.index("lower"):]
print("So these two curves", "cross." if crossed else "do not cross, as far as these problems can tell.")

# %% [markdown] id="tales-text"
# At k = 1, T = 2 is worse than T = 0.5: the last interval says so. For larger k the hot samples may catch up or pass, since
# they differ more from each other; whether they do is decided by the intervals, not by the picture. "Which temperature is
# best" has no answer without k.
#
# ## Tales: no single right answer
#
# The bigram and the transformer continue the same beginnings, at five temperatures. Three measures: repeated 4-grams
# in the first 100 characters (equal lengths; shorter texts have none), real words, and sentences that parse. (The budget
# cuts most texts off, and a cut sentence does not parse: 1 is out of reach.)

# %% id="tales" tags=["nbval-ignore-output"]
tales = load_documents("tales", "validation")[: budget.choose(24, 8)]
beginnings = [" ".join(tale.split()[:3]) for tale in tales]
counted = bigram.BigramLM.fit(vocab.encode_documents(load_documents("tales")), len(vocab))
heat = {f"T = {t:g}": SamplingParams(t) for t in (0.3, 0.7, 1, 1.5, 2)}
measures = {"repetition": lambda a: metrics.repetition_rate(a.text[:100], 4) if len(a.text) >= 100 else None,
            "real words": lambda a: metrics.coherence(a.prompt + a.text).real_words,
            "sentences": lambda a: metrics.coherence(a.prompt + a.text).sentences}
found = {name: sweep.sweep(m, vocab, beginnings, heat, [0], measures, StopCriteria(150), progress=False)
         for name, m in (("bigram", counted), ("transformer", model))}
means = {name: t.groupby("setting", sort=False)[[*measures]].mean() for name, t in found.items()}
for name, mean in means.items():
    print(f"{name}, {found[name].repetition.isna().sum()} texts too short for repetition\n{mean.round(3).to_string()}")

# %% id="tales-picture" tags=["nbval-ignore-output"]
axes = plots.side_by_side((0.3, 0.7, 1, 1.5, 2), {m: {n: t[m] for n, t in means.items()} for m in measures},
                          "Tales: two models, five temperatures", "temperature")
wide = {name: t.pivot(index="problem", columns="setting") for name, t in found.items()}
for what, a, b in (
    ("sentences: transformer minus bigram, T = 0.3", wide["transformer"].sentences["T = 0.3"], wide["bigram"].sentences["T = 0.3"]),
    ("sentences: T = 2 minus T = 0.3, transformer ", wide["transformer"].sentences["T = 2"], wide["transformer"].sentences["T = 0.3"]),
    ("repetition: T = 1 minus T = 0.3, bigram     ", wide["bigram"].repetition["T = 1"], wide["bigram"].repetition["T = 0.3"])):
    both = a.notna() & b.notna()
    gap = comparison.paired_difference(a[both], b[both])
    print(f"{what}: {gap}")
    assert gap.verdict == ("higher" if "bigram, T" in what else "lower")

# %% [markdown] id="runs-text"
# At T = 0.3 the bigram turns in circles, and it writes no sentence at any T: it has none to write. (That a bigram repeats
# does not mean that large models must.) The transformer's sentences fall apart as it gets hot.
#
# ## How many runs?
#
# One *run* is the accuracy on all the problems under one seed. T = 1.5 and T = 1.6 are neighbours, and a difference of 0.01
# should not be missed, with a chance of 80 %. **Guess** how many runs of each that takes, paired by seed.

# %% id="guess-runs" tags=["nbval-ignore-output"]
my_runs = ...

# %% id="runs" tags=["nbval-ignore-output"]
neighbours = {f"T = {t}": SamplingParams(t) for t in (1.5, 1.6)}
seeds = range(100, 100 + budget.choose(12, 6))
table = sweep.sweep(model, vocab, few, neighbours, seeds, marks, StopCriteria(8), batch_size=100, progress=False)
runs = table.astype({"right": float}).pivot_table(index="seed", columns="setting", values="right")
a, b = runs["T = 1.6"], runs["T = 1.5"]
pairs, strangers = (comparison.runs_needed(a, b, 0.01, paired) for paired in (True, False))
print(f"in pairs:     {comparison.paired_difference(a, b)}; needs {pairs} runs")
print(f"as strangers: {comparison.unpaired_difference(a, b)}; needs {strangers} runs")
print(f"correlation of the two over seeds: {a.corr(b):.2f}")
predict.beside(my_runs, pairs, "runs in pairs")

# %% [markdown] id="vanish-text"
# Under common random numbers a lucky seed is lucky for both settings, as far as their texts stay together; the
# correlation says how far that goes. These intervals are over seeds: they hold for *these* problems. For problems *like*
# these, the problems are what must be drawn anew, as in the pairs above.
#
# ## A result that vanishes
#
# Now 60 changes to the bigram's decoder, each tried with 4 seeds. In truth none changes anything: all are T = 1 under another
# name, with other draws. **Guess:** how many of the 60 will the intervals call higher or lower?

# %% id="guess-alarms" tags=["nbval-ignore-output"]
my_alarms = ...

# %% id="search"
def real_words(seeds):
    """The share of real words for each seed, always at T = 1."""
    measure = {"words": lambda answer: metrics.coherence(answer.text).real_words}
    return sweep.sweep(counted, vocab, ["The "], {"T = 1": SamplingParams()}, seeds, measure,
                       StopCriteria(80, eos=False), batch_size=200, progress=False).words.to_numpy()


before = real_words(range(4))
tried = [comparison.paired_difference(values, before) for values in real_words(range(1000, 1240)).reshape(60, 4)]
alarms = [number for number, difference in enumerate(tried) if difference.verdict != "can't tell"]
winner = max(range(60), key=lambda number: tried[number].low)
print(f"false alarms: {len(alarms)} of 60. The best, change {winner}: {tried[winner]}")

# %% id="fresh-seeds" tags=["nbval-ignore-output"]
predict.beside(my_alarms, len(alarms), "false alarms")
again = comparison.unpaired_difference(real_words(range(7000, 7040)), real_words(range(8000, 8040)))
print(f"change {winner} with 40 fresh seeds: {again}")
assert tried[winner].verdict == "higher" and again.verdict == "can't tell"

# %% [markdown] id="record-text"
# A 95 % interval is wrong in 1 of 20 cases, so whoever tries 60 changes finds some that "work". Try the winner again with
# fresh seeds, and say how many were tried.
#
# ## The record
#
# Nobody can try again what was not written down. `record()` holds all that a text needs, as JSON; `reproduce` makes it again.

# %% id="record" tags=["nbval-ignore-output"]
hot = SamplingParams(2.0, top_p=0.8, seed=11)
answer = generation.generate(model, vocab, beginnings[0], hot, StopCriteria(60), sample=2)
record = json.loads(json.dumps(answer.record()))
print("entries:", ", ".join(record))
print(repr(generation.reproduce(model, vocab, record).text))
assert generation.reproduce(model, vocab, record).text == answer.text

# %% [markdown] id="record-exercise-text"
# ### Exercise `08.record` · medium · 8 minutes
#
# Someone's log holds the entries `checkpoint` ("tiny_llama"), `vocabulary`, `prompt`, `temperature` (2), `top_k` (none), `top_p`
# (0.8), `min_p` (none), `greedy` (no), `stopping`, `versions` and `text`. Which names are missing for the text to be reproduced?
# Choose from `model` (a fingerprint of the weights), `seed`, `sample`, `order` (of temperature and filters), `use_cache`,
# `batch_size`, `finish_reason`, `token_ids`, `seconds`. Give a set, as in `{"first", "second"}`.

# %% id="exercise-record" tags=["exercise:08.record"]
missing = ...

# %% id="check-record" tags=["check:08.record", "nbval-ignore-output"]
check("08.record", missing)

# %% id="what-changes" tags=["nbval-ignore-output"]
with tempfile.TemporaryDirectory() as folder:
    fresh.head.weight.data.mul_(1.5)
    checkpoint.save_model(fresh, vocab, f"{folder}/tiny_llama")  # the same name, other weights
    other, _ = checkpoint.load_model(f"{folder}/tiny_llama")
try:
    generation.reproduce(other, vocab, record)
except ValueError as error:
    print(error)


def texts(model=model, use_cache=True, sample=2, seed=11, order=sampling.STEPS):
    params = SamplingParams(2.0, top_p=0.8, seed=seed, order=order)
    batch = generation.generate_batch(model, vocab, beginnings[:8], params, StopCriteria(40), use_cache, sample)
    return [answer.text for answer in batch]

# %% id="see-what-changes" tags=["nbval-ignore-output"]
truncation_first = ("top_k", "top_p", "min_p", "temperature")
changes = {"model": {"model": other}, "seed": {"seed": 12}, "sample": {"sample": 3}, "order": {"order": truncation_first},
           "use_cache": {"use_cache": False}}
base = texts()
changed = {name: sum(x != y for x, y in zip(base, texts(**change), strict=True)) for name, change in changes.items()}
alone = [generation.generate(model, vocab, b, hot, StopCriteria(40), sample=2).text for b in beginnings[:8]]
changed["batch_size"] = sum(x != y for x, y in zip(base, alone, strict=True))
print("of 8 texts changed:", changed)
assert all(changed[name] > 0 for name in ("model", "seed", "sample", "order"))
assert changed["use_cache"] <= 1 and changed["batch_size"] <= 1  # a draw within rounding noise may tip, rarely

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Another temperature gives more right answers. Has the model learned something?</summary>No. The weights are the same bit for bit, and so are the logits and the distribution at T = 1; only the choice from them changed. Whether the change helps reliably takes many samples, a fixed budget and a measure of correctness, with an interval.</details>
# <details><summary>2. Two intervals overlap. Are the settings equally good?</summary>Not known. On the same problems the paired differences may still exclude 0. And if they don't, the answer is "can't tell", not "equal".</details>
# <details><summary>3. 40 of 100 problems are solved with one sample each. What is pass@10?</summary>Unknown: n is 1 sample a problem, and k may not exceed n. Draw at least 10 samples of each problem.</details>
# <details><summary>4. You run pass@16 at T = 0. What do you get?</summary>pass@1, sixteen times as dear: greedy gives 16 copies of one answer.</details>
# <details><summary>5. Of 20 prompts you tried, the best is better with p < 0.05. What next?</summary>Run it again with fresh seeds and problems: among 20 that do nothing one such result is to be expected.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Count right answers, give the interval, compare in pairs at one budget, and let *can't tell* be an answer. pass@k depends
# on k and on temperature; searches find winners that vanish. A text comes back if weights, prompt, all settings with
# their order, seed and sample are on record.
#
# **Sources.** E. B. Wilson, [*Probable inference*](https://doi.org/10.1080/01621459.1927.10502953), 1927 (the interval). M. Chen et al.,
# [*Evaluating large language models trained on code*](https://arxiv.org/abs/2107.03374), 2021 (pass@k). X. Wang et al.,
# [*Self-consistency*](https://arxiv.org/abs/2203.11171), 2022 (majority). E. Miller, [*Adding error bars to evals*](https://arxiv.org/abs/2411.00640), 2024
# (pairs). Checked on 2026-11-30. A teaching example, not a production benchmark.
