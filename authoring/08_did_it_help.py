# %% [markdown] id="title"
# # 08 · Did it help?
#
# **After this notebook you can** say how sure an accuracy is; compare two settings in pairs, and say *can't tell* where
# that is the answer; compute pass@k; say whether a model's confidence can be believed; tell how many runs a comparison
# needs; and write down what makes a text reproducible.
#
# **You need** notebooks 02 and 04. **Time:** 100 minutes; no cell computes for more than a few seconds.
# **Before:** [07 Why did it stop?](07_stopping.ipynb) **Next:** [09 Real libraries](09_real_libraries.ipynb)

# %% id="setup"
import json
import tempfile

import torch

from course_utils import bigram, checkpoint, comparison, evaluation, generation, metrics, plots, predict, sampling
from course_utils.budget import choose
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.sweep import sweep
from course_utils.text import load_documents

torch.set_num_threads(1)  # steps as small as these gain nothing from more
torch.set_grad_enabled(False)  # nothing is trained here
model, vocab = checkpoint.load_model("tiny_llama")
fingerprint_before = checkpoint.fingerprint(model, vocab)

# %% [markdown] id="sums-text"
# ## Answers that are right or wrong
#
# "Temperature 0.3 is better" is a claim about many answers. To test it, we need answers that can be marked as right or
# wrong. The transformer has seen sums such as `12+34=46` in training. A tenth of all pairs of numbers was held back, and
# these pairs are our questions. An answer is right if it is the sum and nothing else. Here are the first four, answered
# greedily. (The folded cells try the marking on wrong answers, too.)

# %% id="grade" tags=["nbval-ignore-output"]
questions = [document[: document.index("=") + 1] for document in load_documents("sums", "validation")]
greedy = SamplingParams(greedy=True)
for answer in generation.generate_batch(model, vocab, questions[:4], greedy, StopCriteria(8)):
    print(f"{answer.prompt}{answer.text:<5} right: {metrics.sum_is_right(answer.prompt, answer.text)}")

# %% [markdown] id="interval-text"
# ## How sure is a share?
#
# All four answers are right. Is this model always right? We cannot know that from four answers. A model that is right nine
# times out of ten would also get four of four in about two out of three experiments. So beside a share we report an
# *interval*: the accuracies that fit what was seen. We use 95 % intervals. A procedure that makes such intervals
# misses the true accuracy in about 1 of 20 experiments.
#
# **Guess:** if 4 of 4 answers are right, how low may the true accuracy be?

# %% id="guess-interval" tags=["nbval-ignore-output"]
my_lowest = ...

# %% id="interval" tags=["nbval-ignore-output"]
for right, n in ((4, 4), (40, 40), (36, 40), (900, 1000)):
    low, high = metrics.proportion_ci(right, n)
    print(f"{right:>4} of {n:>4} right: {right / n:.2f}, interval {low:.3f} to {high:.3f}")
predict.beside(my_lowest, metrics.proportion_ci(4, 4).low, "4 of 4: lowest accuracy that fits")

# %% [markdown] id="temperature-text"
# This is Wilson's interval. It has a width even where all answers are right, or all are wrong. The width shrinks with the
# square root of n: for an interval a tenth as wide you need about a hundred times as many answers.
#
# ## Accuracy against temperature
#
# `sweep` runs every prompt under every setting. Different prompts get different random numbers, so that one lucky number does
# not help them all. Different settings get the *same* random numbers, which we will need later. (With `keep=`, a long sweep
# keeps its results in a file, so that it can go on after an interruption. With `n_jobs=-1` it uses all cores.)

# %% id="accuracy" tags=["nbval-ignore-output"]
settings = {f"T = {t:g}": SamplingParams(t) for t in (0, 0.5, 1, 1.5, 2, 2.5, 3)}
problems = questions[: choose(300, 60)]  # fewer in the course's own tests
marks = {"right": lambda answer: metrics.sum_is_right(answer.prompt, answer.text)}
eight = StopCriteria(8)  # tokens
table = sweep(model, vocab, problems, settings, [0], marks, eight, batch_size=100, progress=False)
right = {name: group.right.to_numpy() for name, group in table.groupby("setting", sort=False)}
intervals = {name: metrics.proportion_ci(int(marked.sum()), len(marked)) for name, marked in right.items()}
for name, (low, high) in intervals.items():
    print(f"{name:>7}: {right[name].mean():.3f} of {len(problems)}, interval {low:.3f} to {high:.3f}")

# %% id="accuracy-picture" tags=["nbval-ignore-output"]
shares = [values.mean() for values in right.values()]
ax = plots.dots_with_intervals(list(right), shares, list(intervals.values()),
                               "Held-out sums: accuracy and 95 % interval",
                               "temperature (0 is greedy)", "share of right answers")
print("highest in this run:", max(right, key=lambda name: right[name].mean()))

# %% id="assert-accuracy" tags=["assertions"]
assert metrics.sum_is_right("12+34=", "46")
assert not any(metrics.sum_is_right("12+34=", wrong) for wrong in ("47", "4", "460", "046", "46.", ""))
assert table.error.isna().all() and intervals["T = 0"].low > intervals["T = 2.5"].high
assert intervals["T = 0"].low < intervals["T = 1"].high  # these two overlap
assert round(metrics.proportion_ci(4, 4).low, 3) == 0.510 and round(0.9**4, 2) == 0.66
widths = [high - low for low, high in (metrics.proportion_ci(n // 2, n) for n in (1000, 100_000))]
assert 9.9 < widths[0] / widths[1] < 10.1

# %% [markdown] id="pairs-text"
# A high temperature costs accuracy: the intervals of T = 0 and T = 2.5 are far apart. Those of T = 0 and T = 1 overlap, so
# the higher dot alone does not make a winner. But overlap does not mean *equal*. Both settings answered the same problems,
# and so far we have not used that.
#
# ## Pairs
#
# Suppose that A solves 17 of 20 problems and B solves 10. Look at the problems one by one. In eight of them only A is right,
# and in one only B is right. If A and B were equally good, each of these nine would be a coin toss. The *exact McNemar test*
# asks how often nine coins split at least as unevenly as 8 to 1. That share is called *p*. The other eleven problems do not
# tell A from B.

# %% id="pairs-by-hand"
a = [1] * 8 + [0] * 1 + [1] * 9 + [0] * 2
b = [0] * 8 + [1] * 1 + [1] * 9 + [0] * 2
print("A as a stranger to B:", comparison.unpaired_difference(a, b))
print("in pairs:            ", comparison.paired_difference(a, b))
print("exact, 8 to 1:       ", comparison.discordant_pairs(a, b))
print("exact, 4 to 0:       ", comparison.discordant_pairs(a[:4] + a[9:], b[:4] + b[9:]))
print("by hand, 8 to 1:      2 × (1 + 9) / 2**9 =", 2 * (1 + 9) / 2**9)

# %% [markdown] id="paired-exercise-text"
# The first line treats A and B as strangers: it ignores the pairs. The second line uses them. Both find the same difference,
# +0.350, and the pairs are a little surer of it. A split of 4 to 0 is too small to tell anything, since four coins all fall
# alike in one of eight tries. Pairs help with other measures as well, because the difficulty of a problem cancels in each
# difference.
#
# ### Exercise `08.paired_difference` · medium · 12 minutes
#
# Write `paired_difference(a, b)` for two sequences of n numbers. `a[i]` and `b[i]` are a pair, n is at least 2, and the
# sequences may be lists, tuples, arrays or tensors. Return two numbers:
#
# - the mean of the differences a - b;
# - its standard error √(s² / n), where s² is the sum of the squared deviations from that mean, divided by n - 1.
#
# | `a` | `b` | differences | you return |
# |---|---|---|---|
# | `[3, 5]` | `[1, 1]` | 2 and 4 | 3.0 and 1.0, since s² = (1 + 1) / 1 |

# %% id="exercise-paired-difference" tags=["exercise:08.paired_difference"]
def paired_difference(a, b):
    ...

# %% id="check-paired-difference" tags=["check:08.paired_difference", "nbval-ignore-output"]
check("08.paired_difference", paired_difference)

# %% id="verdicts" tags=["nbval-ignore-output"]
for name, values in right.items():
    if name != "T = 1":
        print(f"{name:>7} against T = 1: {comparison.discordant_pairs(values, right['T = 1'])}")

# %% [markdown] id="learned-text"
# The verdict is *higher* or *lower* where p is below 0.05. Otherwise it is *can't tell*, and that is an answer too. It says
# that these problems do not decide the question. It does not say that there is no difference.
#
# ## Has the model learned something?
#
# Suppose that a lower temperature gave better answers. Does the model know more now? Look at what has changed. The next
# cell compares the *fingerprint* of the weights, a number that would change with any bit of them. Then it takes a prompt
# after which many letters are possible.

# %% id="weights" tags=["nbval-ignore-output"]
fresh, _ = checkpoint.load_model("tiny_llama")
ids = torch.tensor([[vocab.bos_id, *vocab.encode("The fox and the ")]])
logits, fresh_logits = model(ids)[0, -1], fresh(ids)[0, -1]
fingerprint_after = checkpoint.fingerprint(model, vocab)
print("weights before the sweep:", fingerprint_before[:16], " after:", fingerprint_after[:16])
for t in (0.3, 1, 2):
    probs = sampling.next_token_probs(logits, SamplingParams(t))
    shown = [f"{vocab.label(i)} {probs[i]:.3f}" for i in probs.topk(4).indices.tolist()]
    print(f"at T = {t}: {', '.join(shown)}")

# %% id="assert-pairs" tags=["assertions"]
assert comparison.discordant_pairs(a, b).verdict == "higher" and comparison.discordant_pairs(a, b).p_value == 2 * (1 + 9) / 2**9
stranger, pair = comparison.unpaired_difference(a, b), comparison.paired_difference(a, b)
assert round(stranger.mean, 9) == round(pair.mean, 9) == 0.35 and pair.high - pair.low < stranger.high - stranger.low
example = comparison.paired_difference([3, 5], [1, 1])
assert (example.mean, example.standard_error) == (3, 1)
assert comparison.discordant_pairs(a[:4] + a[9:], b[:4] + b[9:]).verdict == "can't tell"
assert comparison.discordant_pairs(right["T = 2.5"], right["T = 1"]).verdict == "lower"
assert checkpoint.fingerprint(model, vocab) == fingerprint_before and torch.equal(logits, fresh_logits)
orders = [sampling.next_token_probs(logits, SamplingParams(t)).argsort(descending=True)[:4].tolist() for t in (0.3, 1, 2)]
assert orders[0] == orders[1] == orders[2]

# %% [markdown] id="budget-text"
# Not one bit of the weights has changed. So the logits are equal, and so is the distribution at T = 1. The order of the
# candidates is the same at every temperature. The choice differs; the knowledge does not.
#
# ## One budget, and what to do with it
#
# Now we sample at T = 2.5, where one sample is often wrong. A budget of 32 tokens a problem has room for about eight
# answers. *Best of k* takes the one of them that the model itself finds likeliest. *Majority* takes the text that occurs
# most often among them. Both use the same samples, so they cost exactly the same. **Guess** the accuracy of the majority.

# %% id="guess-majority" tags=["nbval-ignore-output"]
my_majority = ...

# %% id="samples" tags=["nbval-ignore-output"]
few = problems[: choose(100, 24)]
three = {f"T = {t:g}": SamplingParams(t) for t in (0.5, 1.5, 2.5)}
marks["logprob"] = lambda answer: sum(answer.logprobs)
samples = sweep(model, vocab, few, three, range(16), marks, eight, batch_size=100, progress=False)
print(f"{len(samples)} answers, {samples.n_tokens.sum()} tokens; for example")
print(samples[["prompt", "setting", "seed", "text", "n_tokens", "right"]].tail(3).to_string(index=False))

# %% id="spend" tags=["nbval-ignore-output"]
spent = {name: evaluation.spend(group, 32) for name, group in samples.groupby("setting", sort=False)}
hot, cold = spent["T = 2.5"], table[table.setting == "T = 0"][: len(few)]
print(f"{'greedy':>10}: {cold.right.mean():.3f} for {cold.n_tokens.mean():.1f} tokens a problem")
print(f"one sample: {hot['one sample'].mean():.3f} for {hot.first_tokens.mean():.1f}")
for way in ("best of k", "majority"):
    print(f"{way:>10}: {hot[way].mean():.3f} for {hot.tokens.mean():.1f}")
for one, other in (("best of k", "one sample"), ("majority", "one sample"), ("best of k", "majority")):
    print(f"{one} against {other}: {comparison.discordant_pairs(hot[one], hot[other])}")
predict.beside(my_majority, float(hot["majority"].mean()), "majority")

# %% id="assert-spend" tags=["assertions"]
assert (hot.tokens <= 32).all() and all(comparison.discordant_pairs(hot[way], hot["one sample"]).verdict == "higher"
                                        for way in ("best of k", "majority"))
assert cold.n_tokens.mean() < 5 < 6 * hot.first_tokens.mean() < hot.tokens.mean() * 1.2
assert comparison.discordant_pairs(cold.right, hot["best of k"]).verdict == "can't tell"

# %% [markdown] id="pass-text"
# A hot setting gains much when we choose among its samples. But read the cost beside it. Choosing uses about eight times as
# many tokens as one sample. Greedy costs a ninth of what choosing costs, and as far as we can tell it is as good here. None
# of these ways needs somebody who knows the right answer.
#
# ## pass@k: if somebody knows the answer
#
# Some answers can be checked, for instance code by a test. Then one right answer among k is enough. *pass@k* is the
# chance of getting it. Here it is by hand. Of 5 samples of one problem, 2 are right. We look at all ways to take 3 of the 5.
# How many of these ways include a right one?

# %% id="pass-by-hand"
samples_by_hand = ["right", "wrong", "right", "wrong", "wrong"]
choices = [(i, j, k) for i in range(5) for j in range(i + 1, 5) for k in range(j + 1, 5)]
without = [choice for choice in choices if all(samples_by_hand[i] == "wrong" for i in choice)]
print(f"{len(choices)} choices, {len(without)} without a right one: {without}")
print("pass@3:", metrics.pass_at_k(n=5, c=2, k=3))
print("if each sample were put back before the next is drawn:", round(1 - 0.6**3, 3))

# %% [markdown] id="pass-exercise-text"
# ### Exercise `08.pass_at_k` · medium · 10 minutes
#
# Write `pass_at_k(n, c, k)`. Of n samples of one problem, c are right. n, c and k are whole numbers.
#
# - Return the chance that k *different* ones of the samples include at least one that is right.
# - n may be in the thousands.
# - If k is larger than n, raise `ValueError`, because n samples do not tell what more of them would give.
#
# | n | c | k | you return |
# |---|---|---|---|
# | 5 | 2 | 3 | 0.9, as above |
# | 5 | 2 | 4 | 1.0, since only three are wrong |
# | 5 | 0 | 3 | 0.0 |

# %% id="exercise-pass-at-k" tags=["exercise:08.pass_at_k"]
def pass_at_k(n, c, k):
    ...

# %% id="check-pass-at-k" tags=["check:08.pass_at_k", "nbval-ignore-output"]
check("08.pass_at_k", pass_at_k)

# %% id="pass-curves" tags=["nbval-ignore-output"]
ks = (1, 2, 4, 8, 16)
passes = {}  # for each setting and k, pass@k of each problem
for name, group in samples.groupby("setting", sort=False):
    correct = group.groupby("problem").right.sum()
    passes[name] = [[metrics.pass_at_k(16, c, k) for c in correct] for k in ks]
curves = {name: [sum(values) / len(few) for values in by_k] for name, by_k in passes.items()}
for name, values in curves.items():
    print(f"{name:>7}: " + "  ".join(f"pass@{k} {value:.3f}" for k, value in zip(ks, values, strict=True)))
gaps = list(map(comparison.paired_difference, passes["T = 2.5"], passes["T = 0.5"]))
for k, gap in zip(ks, gaps, strict=True):
    print(f"k = {k:>2}: T = 2.5 minus T = 0.5: {gap}")

# %% id="pass-picture" tags=["nbval-ignore-output"]
ax = plots.curve(ks, curves, f"pass@k on {len(few)} held-out sums", "k, samples a problem", "pass@k")
verdicts = [gap.verdict for gap in gaps]
print("T = 2.5 against T = 0.5 for k = 1, 2, 4, 8, 16:", ", ".join(verdicts))
crossed = "lower" in verdicts and "higher" in verdicts[verdicts.index("lower"):]
print("So these two curves", "cross." if crossed else "do not cross, as far as these problems can tell.")

# %% [markdown] id="calibration-text"
# At k = 1 the hot samples are clearly worse. With more samples they catch up: they differ more from each other, and a single
# right one is enough. So "which temperature is best?" has no answer without k. We would say that the curves cross only if the
# interval of the difference lay above 0 for some k.
#
# ## When it says 80 %, is it right in 80 %?
#
# A model is *calibrated* if what it calls 80 % likely comes true in 80 % of the cases. We read held-out tales. At each
# character we ask how sure the model is of its first choice, and whether that character comes next. The cases are sorted into
# bins by what the model said. For each of the upper bins, the cell prints *said → came true*. **Guess:** at T = 0.5, does the
# model claim more than comes true? (`True` or `False`)

# %% id="guess-calibration" tags=["nbval-ignore-output"]
my_overconfident = ...

# %% id="calibration" tags=["nbval-ignore-output"]
sure, came_true = {t: [] for t in (0.5, 1, 2)}, []
for tale in load_documents("tales", "validation")[: choose(100, 40)]:
    ids = torch.tensor([vocab.bos_id, *vocab.encode(tale), vocab.eos_id])
    rows = model(ids[None, :-1])[0]
    came_true += (rows.argmax(-1) == ids[1:]).tolist()
    for t, said in sure.items():
        said += sampling.next_token_probs(rows, SamplingParams(t)).max(-1).values.tolist()
bins, errors = {}, {}
for t, said in sure.items():
    bins[f"T = {t}"], errors[t] = evaluation.reliability(said, came_true)

# %% id="calibration-picture" tags=["nbval-ignore-output"]
ax = plots.calibration_curve(bins, "Next characters of held-out tales",
                             "said: probability of the first choice", "share that came true")
for name, some in bins.items():
    print(f"{name:>7}: " + ", ".join(f"{b.said:.2f} → {b.came_true:.2f}" for b in some[4:]))
print("cases in the last bin:", ", ".join(f"{name} {some[-1].n}" for name, some in bins.items()))
print("mean |said - came true|:", ", ".join(f"T = {t} {error:.4f}" for t, error in errors.items()))
near_80 = bins["T = 0.5"][-3]  # the bin from 0.7 to 0.8
predict.beside(my_overconfident, near_80.high < near_80.said, "T = 0.5 claims more than comes true")

# %% id="assert-calibration" tags=["assertions"]
assert [round(metrics.pass_at_k(*case), 9) for case in ((5, 2, 3), (5, 2, 4), (5, 0, 3))] == [0.9, 1, 0]
assert verdicts[0] == "lower" and verdicts[-1] == "can't tell" and curves["T = 2.5"][-1] > 0.95 > 0.9 > curves["T = 2.5"][0]
assert errors[1] < errors[0.5] and errors[1] < errors[2]
assert all(b.high < b.said for b in bins["T = 0.5"] if 0.6 < b.said < 0.9)  # says more than comes true
assert all(b.low > b.said for b in bins["T = 2"] if 0.5 < b.said < 0.7)  # says less

# %% [markdown] id="tales-text"
# Of the three, T = 1 is closest to what comes true. At 0.5 it promises too much, and at 2 too little, though its first
# choice is the same each time. A probability that somebody shows you depends on the temperature at which it was computed.
#
# ## Tales: no single right answer
#
# The bigram and the transformer continue the same beginnings at five temperatures. We measure three things: the share of
# 4-grams (four characters in a row) that are repeated within the first 100 characters, the share of real words, and the share
# of sentences that parse. Texts of fewer than 100 characters are left out of the first measure. The budget cuts off most
# texts within a sentence, and a sentence that is cut off does not parse. So even a perfect model would stay below 1 in the
# third measure.

# %% id="tales" tags=["nbval-ignore-output"]
tales = load_documents("tales", "validation")[: choose(24, 8)]
beginnings = [" ".join(tale.split()[:3]) for tale in tales]
counted = bigram.BigramLM.fit(vocab.encode_documents(load_documents("tales")), len(vocab))
heat = {f"T = {t:g}": SamplingParams(t) for t in (0.3, 0.7, 1, 1.5, 2)}
measures = {
    "repetition": lambda a: metrics.repetition_rate(a.text[:100], 4) if len(a.text) >= 100 else None,
    "real words": lambda a: metrics.coherence(a.prompt + a.text).real_words,
    "sentences": lambda a: metrics.coherence(a.prompt + a.text).sentences}
found = {name: sweep(m, vocab, beginnings, heat, [0], measures, StopCriteria(150), progress=False)
         for name, m in (("bigram", counted), ("transformer", model))}
means = {name: t.groupby("setting", sort=False)[[*measures]].mean() for name, t in found.items()}
for name, mean in means.items():
    short = found[name].repetition.isna().sum()
    print(f"{name}, {short} texts too short for repetition\n{mean.round(3).to_string()}")

# %% id="tales-picture" tags=["nbval-ignore-output"]
by_measure = {m: {name: mean[m] for name, mean in means.items()} for m in measures}
axes = plots.side_by_side((0.3, 0.7, 1, 1.5, 2), by_measure,
                          "Tales: two models, five temperatures", "temperature")


def gap_of(measure, one, other):
    """The difference in a measure, in pairs; one, other: a model and a temperature."""
    rows = [found[name][found[name].setting == f"T = {t}"] for name, t in (one, other)]
    return evaluation.paired_tables(*rows, measure)


cool, hot_bigram, hot_llama = ("transformer", 0.3), ("bigram", 1), ("transformer", 2)
print("sentences, T = 0.3, transformer minus bigram:", gap_of("sentences", cool, ("bigram", 0.3)))
print("sentences, transformer, T = 2 minus T = 0.3: ", gap_of("sentences", hot_llama, cool))
print("repetition, bigram, T = 1 minus T = 0.3:     ", gap_of("repetition", hot_bigram, ("bigram", 0.3)))

# %% [markdown] id="penalties-text"
# At T = 0.3 the bigram goes round in circles. At every one of these temperatures it writes hardly a sentence that parses. The
# transformer's sentences fall apart as it gets hot.
#
# ## Beyond the toy: penalties, and a search for the likeliest text
#
# APIs offer *penalties* against repetition. They lower the logits of tokens that have occurred already. A *repetition
# penalty* divides a positive logit and multiplies a negative one. A *presence penalty* subtracts a constant, and a
# *frequency penalty* subtracts it once for each occurrence. None of them knows whether a repetition is wanted.

# %% id="penalties" tags=["nbval-ignore-output"]
def penalised(base, repetition=1.0, presence=0.0, frequency=0.0):
    def penalised_model(token_ids, cache=None):
        logits = base(token_ids).clone()
        last, times = logits[0, -1], torch.bincount(token_ids[0], minlength=logits.shape[-1])
        smaller = torch.where(last > 0, last / repetition, last * repetition)
        logits[0, -1] = torch.where(times > 0, smaller - presence, last) - frequency * times
        return logits
    return penalised_model

tries = [(name, m, penalty) for name, m in (("bigram", counted), ("transformer", model))
         for penalty in ({}, {"repetition": 1.3}, {"presence": 1.0}, {"frequency": 2.0})]
written = [generation.generate(penalised(m, **penalty), vocab, "The ", greedy, StopCriteria(100),
                               use_cache=False).text for _, m, penalty in tries]
for (name, _, penalty), words in zip(tries, written, strict=True):
    print(f"{name:>11} {penalty or 'no penalty'!s:<19} {words[:76]}")

# %% [markdown] id="beam-text"
# The bigram leaves its circle, but it has nothing better to say. The transformer, under a strong frequency penalty,
# runs out of letters: a word needs its `e` however often `e` has occurred.
#
# *Beam search* looks for a text that is likely as a whole. It keeps several beginnings, as many as its `width` says. It
# continues each of them by every token, and keeps the likeliest of all these. With a width of 1 it is greedy.

# %% id="beam" tags=["nbval-ignore-output"]
def beam_search(base, prompt, n_tokens, width):
    """The likeliest text that the search finds, and its log-probability. It does not stop at <eos>."""
    ids, scores = torch.tensor([[vocab.bos_id, *vocab.encode(prompt)]]), torch.zeros(1)
    for _ in range(n_tokens):
        longer = scores[:, None] + base(ids)[:, -1].log_softmax(-1)
        scores, best = longer.flatten().topk(width)
        ids = torch.cat([ids[best // len(vocab)], best[:, None] % len(vocab)], 1)
    return vocab.decode(ids[0, -n_tokens:].tolist()), scores[0].item()

likeliest = {(name, width): beam_search(m, "The ", 60, width)
             for name, m in (("bigram", counted), ("transformer", model)) for width in (1, 8)}
for (name, width), (words, logprob) in likeliest.items():
    print(f"{name:>11}, width {width}: {logprob:7.2f}  {words}")
one = generation.generate(counted, vocab, "The ", SamplingParams(seed=3), StopCriteria(60, eos=False))
print(f"     bigram, sampled: {sum(one.logprobs):7.2f}  {one.text}")

# %% id="assert-beam" tags=["assertions"]
assert gap_of("sentences", ("transformer", 0.3), ("bigram", 0.3)).verdict == "higher" and means["bigram"].sentences.max() < 0.05
assert gap_of("sentences", ("transformer", 2), ("transformer", 0.3)).verdict == "lower"
assert gap_of("repetition", ("bigram", 1), ("bigram", 0.3)).verdict == "lower"
words_in = {name: metrics.coherence(words).real_words for (name, _, penalty), words in zip(tries, written, strict=True) if "frequency" in penalty}
assert metrics.repetition_rate(written[0], 4) > 0.8 > 0.5 > metrics.repetition_rate(written[3], 4) and words_in["transformer"] < 0.95
assert likeliest["transformer", 1][0] == generation.generate(model, vocab, "The ", SamplingParams(greedy=True), StopCriteria(60)).text
assert likeliest["transformer", 8][1] > likeliest["transformer", 1][1] and likeliest["bigram", 8][1] > sum(one.logprobs)
assert metrics.repetition_rate(likeliest["bigram", 8][0], 4) > 0.8

# %% [markdown] id="runs-text"
# For the transformer, beam search finds a likelier text than greedy does. It suits tasks with few good answers, such as
# translation. But the likeliest text need not be a good one. The bigram's likeliest text is far likelier than a sampled one,
# and says `the the the`. This is one reason to sample in a chat.
#
# ## How many runs?
#
# One *run* is the accuracy on all the problems under one seed. We compare two neighbouring temperatures, T = 2.5 and T = 2.6.
# Suppose that there is a difference of 0.01, and that we want to find it with a chance of 80 %. **Guess** how many runs of
# each setting that takes, paired by seed.

# %% id="guess-runs" tags=["nbval-ignore-output"]
my_runs = ...

# %% id="runs" tags=["nbval-ignore-output"]
neighbours = {f"T = {t}": SamplingParams(t) for t in (2.5, 2.6)}
seeds = range(100, 100 + choose(12, 6))
found_runs = sweep(model, vocab, few, neighbours, seeds, marks, eight, batch_size=100, progress=False)
runs = found_runs.astype({"right": float}).pivot_table(index="seed", columns="setting", values="right")
a, b = runs["T = 2.6"], runs["T = 2.5"]
pairs, strangers = (comparison.runs_needed(a, b, 0.01, paired) for paired in (True, False))
print(f"in pairs:     {comparison.paired_difference(a, b)}; needs {pairs} runs")
print(f"as strangers: {comparison.unpaired_difference(a, b)}; needs {strangers} runs")
print(f"correlation of the two over seeds: {a.corr(b):.2f}")
predict.beside(my_runs, pairs, "runs in pairs")

# %% [markdown] id="vanish-text"
# Both settings use the same random numbers, so a seed that is lucky for one is lucky for the other. The *correlation* says
# how far that goes; 1 would be all the way. These intervals compare seeds, so they hold for *these* problems only. A claim
# about problems *like* these needs an interval over many problems, as in the pairs above.
#
# ## A result that vanishes
#
# Now somebody tries 60 changes to the bigram's decoder, each with 4 seeds before and 4 other seeds after. In truth
# nothing changes: all 480 texts are drawn at T = 1. (The seeds differ, so these are not pairs.) **Guess:** how many of
# the 60 will be called higher or lower?

# %% id="guess-alarms" tags=["nbval-ignore-output"]
my_alarms = ...

# %% id="search"
def real_words(seeds):
    """The share of real words for each seed, always at T = 1."""
    measure = {"words": lambda answer: metrics.coherence(answer.text).real_words}
    return sweep(counted, vocab, ["The "], {"T = 1": SamplingParams()}, seeds, measure,
                       StopCriteria(80, eos=False), batch_size=200, progress=False).words.to_numpy()


groups = real_words(range(1000, 1480)).reshape(60, 2, 4)
tried = [comparison.unpaired_difference(after, before) for before, after in groups]
alarms = [number for number, difference in enumerate(tried) if difference.verdict != "can't tell"]
winner = max(range(60), key=lambda number: tried[number].low)
print(f"false alarms: {len(alarms)} of 60. The best, change {winner}: {tried[winner]}")

# %% id="fresh-seeds" tags=["nbval-ignore-output"]
predict.beside(my_alarms, len(alarms), "false alarms")
again = comparison.unpaired_difference(real_words(range(7000, 7040)), real_words(range(8000, 8040)))
print(f"change {winner} with 40 fresh seeds: {again}")

# %% id="assert-search" tags=["assertions"]
assert tried[winner].verdict == "higher" and again.verdict == "can't tell" and strangers >= pairs
assert len({*range(1000, 1480), *range(7000, 7040), *range(8000, 8040)}) == 560  # no text is used twice

# %% [markdown] id="record-text"
# A 95 % interval is wrong in about 1 of 20 cases. So somebody who tries 60 changes that do nothing can expect about three
# false alarms. Try the winner again with fresh seeds, and say how many changes you tried.
#
# ## The record
#
# Nobody can repeat what was not written down. `record()` holds all that a text needs, as JSON, and `reproduce` makes the
# text again from it.

# %% id="record" tags=["nbval-ignore-output"]
warm = SamplingParams(2.0, top_p=0.8, seed=11)
answer = generation.generate(model, vocab, beginnings[0], warm, StopCriteria(60), sample=2)
record = json.loads(json.dumps(answer.record()))
print("entries:", ", ".join([*record][:9]))
print("    and:", ", ".join([*record][9:]))
print(repr(generation.reproduce(model, vocab, record).text))

# %% [markdown] id="record-exercise-text"
# ### Exercise `08.record` · medium · 8 minutes
#
# A colleague keeps a log of each text. Its entries are `checkpoint` ("tiny_llama"), `vocabulary`, `prompt`, `temperature` (2),
# `top_k` (none), `top_p` (0.8), `min_p` (none), `greedy` (no), `stopping`, `versions` and `text`. Which names must be
# added, so that the text can be reproduced? Choose from these:
#
# - `model` (a fingerprint of the weights), `seed`, `sample`, `order` (of temperature and filters), `use_cache`;
# - `batch_size`, `finish_reason`, `token_ids` and `seconds`.
#
# Give a set, as in `{"first", "second"}`. It does not matter whether `batch_size` is in it; below you will see why.

# %% id="exercise-record" tags=["exercise:08.record"]
missing = ...

# %% id="check-record" tags=["check:08.record", "nbval-ignore-output"]
check("08.record", missing)

# %% id="what-changes" tags=["nbval-ignore-output"]
with tempfile.TemporaryDirectory() as folder:
    fresh, _ = checkpoint.load_model("tiny_llama")
    fresh.head.weight.data.mul_(1.5)
    checkpoint.save_model(fresh, vocab, f"{folder}/tiny_llama")  # the same name, other weights
    other, _ = checkpoint.load_model(f"{folder}/tiny_llama")
try:
    generation.reproduce(other, vocab, record)
except ValueError as error:
    print(error)


def texts(model=model, use_cache=True, sample=2, seed=11, order=sampling.STEPS):
    params = SamplingParams(2.0, top_p=0.8, seed=seed, order=order)
    forty = StopCriteria(40)
    batch = generation.generate_batch(model, vocab, beginnings[:8], params, forty, use_cache, sample)
    return [answer.text for answer in batch]

# %% id="see-what-changes" tags=["nbval-ignore-output"]
truncation_first = ("top_k", "top_p", "min_p", "temperature")
changes = {"model": other, "seed": 12, "sample": 3, "order": truncation_first, "use_cache": False}
base, changed = texts(), {}
for name, change in changes.items():
    changed[name] = sum(x != y for x, y in zip(base, texts(**{name: change}), strict=True))
together = generation.generate_batch(model, vocab, beginnings[:8], warm, StopCriteria(40), sample=2)
alone = [generation.generate(model, vocab, b, warm, StopCriteria(40), sample=2) for b in beginnings[:8]]
changed["batch_size"] = sum(x.text != y.text for x, y in zip(together, alone, strict=True))
print("of 8 texts changed:", changed)
noise = max(abs(x - y) for one, other in zip(together, alone, strict=True) if one.text == other.text
            for x, y in zip(one.logprobs, other.logprobs, strict=True))
print(f"batches of 8 and of 1: the same texts' log-probabilities differ by up to {noise:.0e}")

# %% id="assert-record" tags=["assertions"]
assert generation.reproduce(model, vocab, record).text == answer.text and noise < 1e-3
assert all(changed[name] > 0 for name in ("model", "seed", "sample", "order"))
assert changed["use_cache"] <= 1 and changed["batch_size"] <= 1  # a draw within rounding noise may tip, rarely

# %% [markdown] id="misreadings"
# The batch size changes no draw. It changes how sums are added up, and with that the last digits of the logits. A text
# changes only if u falls within that noise of a border between two tokens. That can happen, and the cell above counts
# how often it did.
#
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the intervals overlap, so the settings are equal | they may differ; look at the pairs |
# | *can't tell* means no difference | it means too few problems to tell |
# | p = 0.04 means that A is better with a chance of 96 % | coins alone would split at least so unevenly in 4 % of experiments |
# | majority beat one sample, so it is better | it used eight times as many tokens |
# | "90 % sure" means right in 90 % | at T = 1 it nearly does, for this model on these tales; at T = 0.5 it does not |
#
# All this was measured on sums and tales of one small model. That T = 2.5 is bad for sums, or T = 1 calibrated, says nothing
# about another model. **Further, without a check:** at which T does a majority of eight beat greedy? How many problems would
# you need to show it?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Another temperature gives more right answers. Has the model learned something?</summary>No. The weights, the logits and the distribution at T = 1 are the same, bit for bit. Only the choice has changed. To say whether the change helps, you need many samples, a stated cost, a measure of correctness and an interval.</details>
# <details><summary>2. Two intervals overlap. Are the settings equally good?</summary>We do not know. On the same problems, pairs may still tell them apart. If they do not, the answer is "can't tell", not "equal".</details>
# <details><summary>3. 40 of 100 problems are solved with one sample each. What is pass@10?</summary>Nobody can say. There is one sample of each problem, and k may not be larger than n. Draw at least 10 samples of each.</details>
# <details><summary>4. You compute pass@16 at T = 0. What do you get?</summary>pass@1 at sixteen times the cost, since greedy gives 16 copies of one answer.</details>
# <details><summary>5. You tried 20 prompts, and the best is better with p < 0.05. What next?</summary>Run it again with fresh seeds and problems. Among 20 prompts that make no difference, you can expect one with p < 0.05.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Count right answers, give an interval, compare in pairs, and say what each side has cost. *Can't tell* is an answer.
# pass@k depends on k and on the temperature, and a confidence depends on the temperature too. If you try many changes, some
# will seem to work. A text can be made again if the record has the weights, the prompt, all settings with their order, the seed
# and the sample. **Next:** [09 Real libraries](09_real_libraries.ipynb)
#
# **Sources.** E. B. Wilson, [*Probable inference*](https://doi.org/10.1080/01621459.1927.10502953), 1927: the interval. Q. McNemar, [*Note on the sampling error*](https://doi.org/10.1007/BF02295996), 1947: the test of pairs.
# M. Chen et al., [*Evaluating large language models trained on code*](https://arxiv.org/abs/2107.03374), 2021: pass@k. X. Wang et al., [*Self-consistency*](https://arxiv.org/abs/2203.11171), 2022: majority. E. Miller, [*Adding error bars to evals*](https://arxiv.org/abs/2411.00640), 2024: pairs.
# C. Guo et al., [*On calibration*](https://arxiv.org/abs/1706.04599), 2017. N. Keskar et al., [*CTRL*](https://arxiv.org/abs/1909.05858), 2019: the repetition penalty. A. Holtzman et al., [*Neural text degeneration*](https://arxiv.org/abs/1904.09751), 2020: why likely is not good. Checked on 2026-12-01. A teaching example, not a production benchmark.
