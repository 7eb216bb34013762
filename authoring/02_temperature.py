# %% [markdown] id="title"
# # 02 · Temperature
#
# **After this notebook you can** say exactly what a temperature does to a distribution, why 0 is a mode of its own, and
# what lower temperatures buy and cost; and you can run a sweep whose result means something: fixed seeds, a spread
# beside each mean, and a sentence about what it does not prove.
#
# **You need** notebook 01. **Time:** 60 minutes.
#
# **Before:** [01 One forward pass](01_one_forward_pass.ipynb) **Next:** [03 Top-k and top-p](03_top_k_top_p.ipynb)

# %% id="setup"
import pandas as pd
import torch

from course_utils import bigram, checkpoint, generation, metrics, plots, predict, sampling, storyworld, text, widgets
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown] id="two-candidates-text"
# ## Two candidates
#
# A temperature T divides the logits before softmax: $p_i \propto e^{z_i / T}$. The logits are [2, 1]; at T = 1 the
# probabilities are 0.731 and 0.269. **Guess** the first probability at T = 0.5 and at T = 2.

# %% id="guess-two" tags=["nbval-ignore-output"]
my_first_at_half, my_first_at_two = ..., ...

# %% id="two-candidates" tags=["nbval-ignore-output"]
logits = torch.tensor([2.0, 1.0])
for temperature, guess in ((0.5, my_first_at_half), (2.0, my_first_at_two)):
    probs = sampling.next_token_probs(logits, SamplingParams(temperature))
    predict.beside(guess, probs[0].item(), f"T = {temperature}")

# %% id="lesson-figures"
for temperature, expected in ((1, [0.731, 0.269]), (0.5, [0.881, 0.119]), (2, [0.622, 0.378])):
    probs = sampling.next_token_probs(logits, SamplingParams(temperature)).tolist()
    print(f"T = {temperature}: {[round(z / temperature, 1) for z in (2, 1)]} -> {[round(p, 3) for p in probs]}")
    assert [round(p, 3) for p in probs] == expected

# %% [markdown] id="two-explained"
# T = 0.5 doubles the distance between the logits: [4, 2], and the distribution gets *sharper*. T = 2 halves it, and the
# distribution gets *flatter*. The model has not been asked again. Its scores are what they were.
#
# Here they are with sliders. **Guess:** at which temperature does the second token reach 0.3? Move only after you have
# written it down.

# %% id="guess-reach" tags=["nbval-ignore-output"]
my_temperature = ...

# %% id="two-panel"
widgets.explore_logits([2.0, 1.0], ["first", "second"], SamplingParams(1.0), settings=["temperature"])

# %% id="see-reach" tags=["nbval-ignore-output"]
reach = 1 / torch.tensor(0.7 / 0.3).log().item()
predict.beside(my_temperature, reach, "the second token reaches 0.3 at T")
assert abs(sampling.next_token_probs(logits, SamplingParams(reach))[1].item() - 0.3) < 1e-6

# %% [markdown] id="temperature-exercise-text"
# **Find out by moving:** set u to 0.8 and raise the temperature from 0.5. Where does the picked token change, although u
# stays? <details><summary>Answer</summary>At 0.73. The first token's part of the line has become shorter than 0.8, so the same u now falls on the second.</details>
#
# ### Exercise `02.temperature` · easy · 8 minutes
#
# Write `probs_at(logits, temperature)`: the probabilities of logits / T over the last axis, for any shape. A temperature
# of 0 or below is a `ValueError`.

# %% id="exercise-temperature" tags=["exercise:02.temperature"]
def probs_at(logits, temperature):
    ...

# %% id="check-temperature" tags=["check:02.temperature", "nbval-ignore-output"]
check("02.temperature", probs_at)

# %% [markdown] id="entropy-text"
# ## From one certain token to a fair die
#
# Entropy says how undecided a distribution is: 0 nats if one token has everything, $\ln V$ if all V are equally likely.
# Here are four candidates over a range of temperatures. **Before you run:** what does each end of the curve tend to?

# %% id="entropy"
four = torch.tensor([3.0, 2.0, 1.0, -1.0])
temperatures = [round(0.05 * 1.12**i, 3) for i in range(60)]
rows = torch.stack([sampling.next_token_probs(four, SamplingParams(t)) for t in temperatures])
entropies = -(rows * rows.clamp_min(1e-300).log()).sum(-1)
ax = plots.curve(temperatures, {"entropy": entropies.tolist()}, "Temperature moves entropy between 0 and ln V",
                 "temperature", "entropy (nats)", levels={"ln 4": torch.log(torch.tensor(4.0)).item()})
ax.set_xscale("log")
print(f"T = {temperatures[0]}: {entropies[0]:.3f} nats   T = {temperatures[-1]}: {entropies[-1]:.3f} nats")

# %% [markdown] id="ranking-text"
# What never changes is the order: dividing by a positive number keeps the ranking. Temperature does not know which
# candidate is right. It only sets how much of the chance goes to those that the model already likes. **Sharper is
# not wiser**: no fact enters the model this way.

# %% id="ranking"
for temperature in (0.3, 1, 2):
    probs = sampling.next_token_probs(four, SamplingParams(temperature))
    print(f"T = {temperature}: {probs.numpy().round(3)}, order {probs.argsort(descending=True).tolist()}")

# %% [markdown] id="zero-text"
# ## Zero is a mode
#
# As T falls, the likeliest token takes everything. At T = 0 the division fails. So interfaces have a mode of its own,
# *greedy*: take the largest logit. Many accept `temperature=0` as another word for it. Here is what a plain division
# would do, and what the package says.

# %% id="zero"
print("0 as a divisor:", (torch.tensor([2.0, 1.0]) / 0).softmax(-1))
try:
    sampling.apply_temperature(logits, 0)
except ValueError as error:
    print("ValueError:", error)
print("T = 0.01:", sampling.next_token_probs(logits, SamplingParams(0.01)))
print("greedy:  ", sampling.next_token_probs(logits, SamplingParams(temperature=0)))

# %% [markdown] id="greedy-exercise-text"
# ### Exercise `02.greedy` · easy · 6 minutes
#
# Write `greedy(logits)`: from (..., V) to the ids (...) of the largest logits. Of equal logits take the lowest id.

# %% id="exercise-greedy" tags=["exercise:02.greedy"]
def greedy(logits):
    ...

# %% id="check-greedy" tags=["check:02.greedy", "nbval-ignore-output"]
check("02.greedy", greedy)

# %% [markdown] id="bigram-text"
# ## On a trained model
#
# The bigram of the tales again. Its row for `t` at three temperatures: the same scores, three distributions.

# %% id="bigram"
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
row = model.table.detach()[vocab.ids["t"]]
top = row.argsort(descending=True, stable=True)[:8].tolist()
at = {f"T = {t}": sampling.next_token_probs(row, SamplingParams(t))[top] for t in (0.3, 1, 2)}
ax = plots.probability_bars([vocab.label(i) for i in top], at, "What follows 't', at three temperatures")
print({name: round(probs[0].item(), 3) for name, probs in at.items()}, "for", vocab.label(top[0]))

# %% [markdown] id="same-u-text"
# Each choice hangs on one number u, which depends on the seed and the step alone. So two runs with the same seed and
# other temperatures use the same u at each step. What differs between them is the effect of the temperature and no
# luck of the draw. **Guess:** at which of T = 0.3, 1, 2 will the text have the most real words? And, for the sliders below:
# how close to 0 must T come until the text is the greedy one, letter for letter?

# %% id="same-u"
for temperature in (0.3, 1, 2):
    answer = generation.generate(model, vocab, "The ", SamplingParams(temperature, seed=3), StopCriteria(70, eos=False))
    print(f"T = {temperature}: {answer.text!r}")

# %% id="temperature-panel"
widgets.explore_sampling(model, vocab, "The ", SamplingParams(1.0, seed=3), max_new_tokens=70, settings=["temperature"])

# %% id="assert-step-37" tags=["assertions"]
cool = {t: generation.generate(model, vocab, "The ", SamplingParams(t, seed=3), StopCriteria(70)).text for t in (0, 0.06, 0.07)}
assert cool[0] == cool[0.06] and cool[0][:37] == cool[0.07][:37] and (cool[0][37], cool[0.07][37]) == ("h", " ")
assert vocab.ids[" "] < vocab.ids["h"]

# %% [markdown] id="repetition-text"
# **Find out by moving:** T = 0 gives the greedy text. Go up with the arrow keys: up to which T does it stay the same?
# <details><summary>Answer</summary>Up to T = 0.06 with seed 3. At T = 0.07, the u of step 37 is small enough to fall on the space, whose id is below that of `h`.</details>
#
# ## Measuring repetition
#
# "It repeats itself" can be counted. Take all stretches of n tokens, the *n-grams*; the repetition rate is the share
# of them that occurred before: 1 - distinct / total. **Guess** it for `ababab` and n = 2.

# %% id="guess-repetition" tags=["nbval-ignore-output"]
my_rate = ...

# %% id="see-repetition" tags=["nbval-ignore-output"]
predict.beside(my_rate, metrics.repetition_rate("ababab", 2), "repetition rate")

# %% [markdown] id="repetition-exercise-text"
# Five pairs, `ab ba ab ba ab`, two of them distinct: 1 - 2/5 = 0.6.
#
# ### Exercise `02.repetition_rate` · medium · 8 minutes
#
# Write `repetition_rate(tokens, n)` for a list or a str. A text shorter than n has no n-grams, so there is no rate
# either: return `None`. (A 0 would claim that nothing repeats.)

# %% id="exercise-repetition" tags=["exercise:02.repetition_rate"]
def repetition_rate(tokens, n):
    ...

# %% id="check-repetition" tags=["check:02.repetition_rate", "nbval-ignore-output"]
check("02.repetition_rate", repetition_rate)

# %% [markdown] id="sweep-text"
# ## The sweep
#
# Three temperatures, 24 seeds each, 200 tokens a text. `eos=False` lets each text run to its budget, since a longer
# text repeats more by itself and lengths must be equal to be compared. **Guess** the mean repetition rate of
# 4-grams at T = 0.3, and the share of real words at T = 2.

# %% id="guess-sweep" tags=["nbval-ignore-output"]
my_repetition_at_03, my_words_at_2 = ..., ...

# %% id="sweep"
TEMPERATURES, SEEDS = (0.3, 1.0, 2.0), range(24)
results = []
for temperature in TEMPERATURES:
    params = [SamplingParams(temperature, seed=seed) for seed in SEEDS]
    answers = generation.generate_batch(model, vocab, [""] * len(params), params, StopCriteria(200, eos=False))
    for seed, answer in zip(SEEDS, answers, strict=True):
        results.append({"temperature": temperature, "seed": seed, "text": answer.text,
                        "repetition": metrics.repetition_rate(answer.text, 4),
                        "real words": metrics.coherence(answer.text).real_words,
                        "longest loop": metrics.longest_loop(answer.text)})
results = pd.DataFrame(results)

# %% id="samples"
for seed in range(3):
    for temperature in TEMPERATURES:
        sample = results.query("seed == @seed and temperature == @temperature")["text"].item()
        print(f"seed {seed}, T = {temperature}: {sample[:90]!r}")
    print()

# %% id="sweep-table"
columns = ["repetition", "real words", "longest loop"]
table = results.groupby("temperature")[columns].agg(["mean", "std"]).round(3)
table

# %% id="see-sweep" tags=["nbval-ignore-output"]
predict.beside(my_repetition_at_03, float(table.loc[0.3, ("repetition", "mean")]), "repetition at T = 0.3")
predict.beside(my_words_at_2, float(table.loc[2.0, ("real words", "mean")]), "real words at T = 2")

# %% id="sweep-pictures"
for column, unit in (("repetition", "share of 4-grams seen before"), ("real words", "share of words")):
    groups = {f"T = {t}": group[column].tolist() for t, group in results.groupby("temperature")}
    plots.dots_by_setting(groups, f"{column.capitalize()}: a dot for each of {len(SEEDS)} seeds", "temperature", unit)

# %% id="sweep-claims"
means = results.groupby("temperature")[columns].mean()
assert means["repetition"].is_monotonic_decreasing
assert means["real words"].loc[0.3] > means["real words"].loc[1.0] > means["real words"].loc[2.0]
at_1, at_2 = (results.query("temperature == @t")["real words"] for t in (1.0, 2.0))
assert at_2.max() > at_1.min()
print("From T = 0.3 to T = 2 repetition falls, and so does the share of real words.")
print(f"Real words of single texts: {at_1.min():.2f} to {at_1.max():.2f} at T = 1, {at_2.min():.2f} to {at_2.max():.2f} at T = 2")

# %% id="assert-pairs" tags=["assertions"]
assert 0.15 < sum(a <= b for a in at_1 for b in at_2) / (len(at_1) * len(at_2)) < 0.25

# %% [markdown] id="sweep-explained"
# Low temperatures keep to the likeliest pairs: more real words, and the same ones again and again. High temperatures
# reach rare pairs: little repetition, few words. Neither end is better in itself. The spread beside each mean matters
# as much as the mean: between T = 1 and T = 2 single texts overlap. Of all pairs of one text each, about one in five would have misled you.

# %% [markdown] id="limits-text"
# **What this does not prove.** A bigram sees one token of the past, so at low temperatures it must fall into loops: after
# the same token comes the same row of scores. A large model sees its own repetition and has other reasons for it. That
# *this* model repeats at T = 0.3 says nothing about whether a large one will. What carries over is the mechanism: the
# same scores, sharpened or flattened.

# %% id="greedy-loop"
looped = generation.generate(model, vocab, "The ", SamplingParams(greedy=True), StopCriteria(60, eos=False)).text
print(repr(looped), "longest loop:", metrics.longest_loop(looped), "of", len(looped))

# %% [markdown] id="llama-text"
# The small transformer of notebook 00 knows the same tokens, and each of its scores depends on the whole text so far.
# **Before you run:** at which of the three temperatures do you expect words that do not exist?

# %% id="llama" tags=["nbval-ignore-output"]
llama, _ = checkpoint.load_model("tiny_llama")
for temperature in TEMPERATURES:
    answer = generation.generate(llama, vocab, "The ", SamplingParams(temperature, seed=3), StopCriteria(90))
    print(f"T = {temperature}: {answer.text!r}")

# %% [markdown] id="own-text"
# ## Your own text
#
# Put the path of a UTF-8 text file in place of `"tales"` and run this cell. `"my_text.txt"` is a file beside your notebook,
# and `"../my_text.txt"` one in the folder above it. Any language will do; blank lines separate documents. Real words are then
# those that occur in your file.

# %% id="own-sweep" tags=["nbval-ignore-output"]
my_source = "tales"

own = text.load_text(my_source)
own_vocab, known = text.CharVocab.from_text(own), set(storyworld.split_words(own))
own_model = bigram.BigramLM.fit(own_vocab.encode_documents(text.split_documents(own)), len(own_vocab))
for temperature in TEMPERATURES:
    answer = generation.generate(own_model, own_vocab, "", SamplingParams(temperature, seed=0), StopCriteria(200, eos=False))
    words = storyworld.split_words(answer.text)
    share = sum(word in known for word in words) / max(len(words), 1)
    rate = metrics.repetition_rate(answer.text, 4)
    print(f"T = {temperature}: repetition {rate:.2f}, real words {share:.2f}\n   {answer.text[:100]!r}")

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. After a change of temperature the answers are right more often. Has the model learned something?</summary>No. The weights are the same; only the way of choosing from the distribution has changed. Whether the gain is real needs many samples, a fixed budget and a measure of correctness.</details>
# <details><summary>2. Why is T = 0 not simply a very small T?</summary>Dividing by 0 gives no distribution. Greedy is the limit, so it is offered as a mode that takes the largest logit and draws nothing.</details>
# <details><summary>3. Can a temperature make the second candidate likelier than the first?</summary>No positive temperature changes the order.</details>
# <details><summary>4. Your text at T = 2 has more real words than mine at T = 1. Does that contradict the sweep?</summary>No. The sweep speaks of means over seeds; single texts spread around them, and the two ranges overlap.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Temperature divides the logits: it sharpens or flattens, and keeps the order. Zero is greedy, a mode. On the bigram, low
# temperatures repeat and spell better, high ones do neither. The weights never changed. **Next:** [03 Top-k and top-p](03_top_k_top_p.ipynb)
#
# **Sources.** D. Ackley, G. Hinton, T. Sejnowski, *A learning algorithm for Boltzmann machines*, 1985, for temperature in
# sampling. A. Holtzman et al., [*The curious case of neural text degeneration*](https://arxiv.org/abs/1904.09751), 2020,
# for repetition in large models. Checked on 2026-11-30. A teaching example, not a production benchmark.
