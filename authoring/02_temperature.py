# %% [markdown] id="title"
# # 02 · Temperature
#
# **After this notebook you can** say exactly what a temperature does to a distribution and what it cannot do, explain why a
# temperature of 0 is a special case, and say what low and high temperatures buy and cost. You can also run a *sweep*,
# which compares several settings, and report it fairly: the random numbers are fixed, each mean comes with its
# spread, and you say what the result does not prove.
#
# **You need** notebook 01. **Time:** 70 minutes.
#
# **Before:** [01 One forward pass](01_one_forward_pass.ipynb) **Next:** [03 Top-k and top-p](03_top_k_top_p.ipynb)

# %% id="setup"
import math

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
# There are two candidates for the next token, and a model gives them the logits 2 and 1. Softmax turns these into the
# probabilities 0.731 and 0.269. A *temperature* T is a positive number that divides every logit before softmax:
# $p_i \propto e^{z_i / T}$. The sign $\propto$ means that the values are then divided by their sum, as softmax does. At T = 1
# nothing changes.
#
# **Guess** the probability of the first token at T = 0.5 and at T = 2. Write both guesses in place of the dots.

# %% id="guess-two" tags=["nbval-ignore-output"]
my_first_at_half, my_first_at_two = ..., ...

# %% id="two-candidates" tags=["nbval-ignore-output"]
logits = torch.tensor([2.0, 1.0])
for temperature, guess in ((0.5, my_first_at_half), (2.0, my_first_at_two)):
    probs = sampling.next_token_probs(logits, SamplingParams(temperature))
    predict.beside(guess, probs[0].item(), f"T = {temperature}")

# %% id="lesson-figures"
shown = {}
for temperature in (1, 0.5, 2):
    probs = sampling.next_token_probs(logits, SamplingParams(temperature)).tolist()
    shown[temperature] = [round(p, 3) for p in probs]
    print(f"T = {temperature}: {[round(z / temperature, 1) for z in (2, 1)]} -> {shown[temperature]}")

# %% id="assert-two" tags=["assertions"]
assert shown == {1: [0.731, 0.269], 0.5: [0.881, 0.119], 2: [0.622, 0.378]}

# %% [markdown] id="two-explained"
# At T = 0.5 the logits [2, 1] become [4, 2]. The gap between them is twice as wide, and softmax gives the first token
# 0.881 instead of 0.731: the distribution has become *sharper*. At T = 2 the logits become [1, 0.5]. The gap is half as
# wide, and the probabilities are closer to each other: the distribution has become *flatter*. In both cases the model
# ran only once. A temperature changes how the model's scores are used. It adds nothing that the model did not know.
#
# Below you see the same two candidates with sliders. **Guess** at which temperature the second token reaches a
# probability of 0.3, and write your guess down before you move a slider.

# %% id="guess-reach" tags=["nbval-ignore-output"]
my_temperature = ...

# %% id="two-panel"
widgets.explore_logits([2.0, 1.0], ["first", "second"], SamplingParams(1.0), settings=["temperature"])

# %% id="see-reach" tags=["nbval-ignore-output"]
reach = 1 / torch.tensor(0.7 / 0.3).log().item()
predict.beside(my_temperature, reach, "the second token reaches 0.3 at T")

# %% [markdown] id="temperature-exercise-text"
# **Find out by moving:** set u to 0.8 and raise the temperature from 0.5. At which temperature does the chosen token
# change, although u stays where it is? <details><summary>Answer</summary>At 0.73. There the first token's stretch of the ruler becomes shorter than 0.8, so the same u falls on the second token.</details>
#
# ### Exercise `02.temperature` · easy · 8 minutes
#
# Write `probs_at(logits, temperature)`. It returns the probabilities of logits / T over the last axis, for logits of any
# shape. For a temperature of 0 or below, it raises a `ValueError`.

# %% id="exercise-temperature" tags=["exercise:02.temperature"]
def probs_at(logits, temperature):
    ...

# %% id="check-temperature" tags=["check:02.temperature", "nbval-ignore-output"]
check("02.temperature", probs_at)

# %% [markdown] id="entropy-text"
# ## From one certain token to a fair die
#
# How undecided is a distribution? *Entropy* answers with one number, $H = -\sum_i p_i \ln p_i$. Its unit is the *nat*, as for
# a loss. Take our two candidates: -ln 0.731 is 0.313 and -ln 0.269 is 1.313, so H = 0.731 × 0.313 + 0.269 × 1.313 = 0.582
# nats. Entropy is smallest when one token has all of the probability, and largest when all V tokens are equally likely.
#
# The next cell computes the entropy of *four* candidates at temperatures from 0.05 to 40. **Guess** the value near each
# end of the curve. You may write a formula, such as `math.log(2)`.

# %% id="guess-entropy" tags=["nbval-ignore-output"]
my_entropy_when_cold, my_entropy_when_hot = ..., ...

# %% id="entropy"
four = torch.tensor([3.0, 2.0, 1.0, -1.0])
temperatures = [round(0.05 * 1.12**i, 3) for i in range(60)]
rows = torch.stack([sampling.next_token_probs(four, SamplingParams(t)) for t in temperatures])
entropies = torch.special.entr(rows).sum(-1)  # entr(p) is -p ln p, and 0 where p is 0
ax = plots.curve(temperatures, {"entropy": entropies.tolist()}, "Temperature moves entropy between 0 and ln V",
                 "temperature", "entropy (nats)", levels={"ln 4": math.log(4)})
ax.set_xscale("log")
print(f"T = {temperatures[0]}: {entropies[0]:.3f} nats   T = {temperatures[-1]}: {entropies[-1]:.3f} nats")

# %% id="see-entropy" tags=["nbval-ignore-output"]
predict.beside(my_entropy_when_cold, entropies[0].item(), f"T = {temperatures[0]}")
predict.beside(my_entropy_when_hot, entropies[-1].item(), f"T = {temperatures[-1]}")

# %% [markdown] id="ranking-text"
# The curve runs from nearly 0, where one token is almost certain, to nearly ln 4 = 1.386, where all four are about equally
# likely. The order of the candidates, however, stays the same all along. If one logit is larger than another, it is still
# larger after both are divided by the same positive number.
#
# A temperature does not know which candidate is right. It only decides how much of the probability goes to the candidates
# that the model already prefers. **Sharper is not wiser:** no fact enters the model this way.

# %% id="ranking"
for temperature in (0.3, 1, 2):
    probs = sampling.next_token_probs(four, SamplingParams(temperature))
    print(f"T = {temperature}: {probs.numpy().round(3)}, order {probs.argsort(descending=True).tolist()}")

# %% id="assert-entropy" tags=["assertions"]
assert abs(sampling.next_token_probs(logits, SamplingParams(reach))[1].item() - 0.3) < 1e-6
assert round(torch.special.entr(sampling.next_token_probs(logits, SamplingParams())).sum().item(), 3) == 0.582
assert (round(-math.log(0.731), 3), round(-math.log(0.269), 3), round(math.log(4), 3)) == (0.313, 1.313, 1.386)
assert (entropies.diff() > 0).all() and entropies[0] < 0.001 and math.log(4) - entropies[-1] < 0.001
assert all(row.argsort(descending=True).tolist() == [0, 1, 2, 3] for row in rows)

# %% [markdown] id="zero-text"
# ## Zero is a special case
#
# As T approaches 0, the likeliest token takes almost all of the probability. At T = 0 itself the division fails. Decoders
# therefore have a separate mode, *greedy*. It draws no random number and takes the token with the largest logit. In vLLM
# and llama.cpp, two programs that run language models, `temperature=0` asks for greedy. In the library transformers a
# temperature of 0 is an error, and `do_sample=False` asks for greedy. The next cell shows what a plain division gives, and
# what our package answers.

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
# Write `greedy(logits)`. From logits of the shape (..., V) it returns the ids of the largest logits, of the shape (...).
# If several logits are equally large, it takes the lowest id. For example, `[1, 3, 3, 0]` gives 1.

# %% id="exercise-greedy" tags=["exercise:02.greedy"]
def greedy(logits):
    ...

# %% id="check-greedy" tags=["check:02.greedy", "nbval-ignore-output"]
check("02.greedy", greedy)

# %% [markdown] id="bigram-text"
# ## On a trained model
#
# We return to the bigram of notebook 01, which has learned from the tales what follows each character. The picture takes its
# scores for what follows `t` and shows their probabilities at three temperatures.

# %% id="bigram"
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
row = model.table.detach()[vocab.ids["t"]]
top = row.argsort(descending=True, stable=True)[:8].tolist()
at = {f"T = {t}": sampling.next_token_probs(row, SamplingParams(t))[top] for t in (0.3, 1, 2)}
ax = plots.probability_bars([vocab.label(i) for i in top], at, "What follows 't', at three temperatures")
print({name: round(probs[0].item(), 3) for name, probs in at.items()}, "for", vocab.label(top[0]))

# %% [markdown] id="same-u-text"
# To choose a token the decoder needs one random number, u. In this course u depends on two things only: the seed, and the
# number of the step. Two runs with seed 3 therefore use the same u at step 0, the same u at step 1, and so on, even when
# their temperatures differ. This makes the comparison fair. If the three texts below differ, the cause is the temperature,
# because all three runs get the same random numbers.
#
# **Guess:** at which of T = 0.3, 1 and 2 will the text have the largest share of real words?

# %% id="guess-most-words" tags=["nbval-ignore-output"]
my_best_temperature = ...

# %% id="same-u"
shares = {}
for temperature in (0.3, 1, 2):
    params = SamplingParams(temperature, seed=3)
    answer = generation.generate(model, vocab, "The ", params, StopCriteria(70, eos=False))
    shares[temperature] = metrics.coherence(answer.text).real_words
    print(f"T = {temperature}: {answer.text!r}, real words {shares[temperature]:.2f}")

# %% id="see-most-words" tags=["nbval-ignore-output"]
predict.beside(my_best_temperature, max(shares, key=shares.get), "largest share of real words at T")

# %% id="temperature-panel"
widgets.explore_sampling(model, vocab, "The ", SamplingParams(1.0, seed=3), max_new_tokens=70, settings=["temperature"])

# %% id="assert-step-37" tags=["assertions"]
from course_utils.randomness import uniform

cool = {t: generation.generate(model, vocab, "The ", SamplingParams(t, seed=3), StopCriteria(70)).text for t in (0, 0.06, 0.07)}
assert cool[0] == cool[0.06] and cool[0][:37] == cool[0.07][:37] and (cool[0][37], cool[0.07][37]) == ("h", " ")
assert vocab.ids[" "] < vocab.ids["h"] and round(uniform(seed=3, step=37), 3) == 0.070

# %% [markdown] id="repetition-text"
# **Find out by moving:** set T to 0, which gives the greedy text. Then go up with the arrow keys. Up to which T does the
# text stay the same? <details><summary>Answer</summary>Up to T = 0.06 with seed 3. At T = 0.07 the texts part at step 37, where u = 0.070. This u is small enough to fall on the space. The space has a lower id than `h`, so its stretch of the ruler comes first.</details>
#
# ## Measuring repetition
#
# "It repeats itself" can be counted. An *n-gram* is a run of n neighbouring tokens. List all n-grams of a text, where
# neighbouring n-grams overlap. The *repetition rate* is the share of the n-grams in this list that have occurred earlier in
# it: 1 - distinct / total. **Guess** the repetition rate of `ababab` for n = 2.

# %% id="guess-repetition" tags=["nbval-ignore-output"]
my_rate = ...

# %% id="see-repetition" tags=["nbval-ignore-output"]
predict.beside(my_rate, metrics.repetition_rate("ababab", 2), "repetition rate")

# %% [markdown] id="repetition-exercise-text"
# The text has five pairs, `ab ba ab ba ab`. Two of them are distinct, so the rate is 1 - 2/5 = 0.6.
#
# ### Exercise `02.repetition_rate` · medium · 8 minutes
#
# Write `repetition_rate(tokens, n)`, where `tokens` is a list or a str. If the text is shorter than n, it has no n-grams and
# therefore no rate: return `None`. (A rate of 0 would claim that nothing repeats.)

# %% id="exercise-repetition" tags=["exercise:02.repetition_rate"]
def repetition_rate(tokens, n):
    ...

# %% id="check-repetition" tags=["check:02.repetition_rate", "nbval-ignore-output"]
check("02.repetition_rate", repetition_rate)

# %% [markdown] id="sweep-text"
# ## The sweep
#
# Three texts are too few to tell what a temperature does. So we now take three temperatures with 24 seeds each, and 200
# tokens a text. `eos=False` lets every text run to its full length of 200 tokens. This matters because a longer text has
# more to repeat, so only texts of the same length can be compared.
#
# **Guess** two means over the 24 seeds: the repetition rate of 4-grams at T = 0.3, and the share of real words at T = 2.

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
    plots.dots_by_setting(groups, f"{column.capitalize()}: a dot for each of {len(SEEDS)} seeds",
                          "temperature", unit)

# %% id="sweep-claims"
means = results.groupby("temperature")[columns].mean()
at_1, at_2 = (results.query("temperature == @t")["real words"].tolist() for t in (1.0, 2.0))
print("From T = 0.3 to T = 2 repetition falls, and so does the share of real words.")
for t, values in ((1, at_1), (2, at_2)):
    print(f"The share of real words in single texts at T = {t}: from {min(values):.2f} to {max(values):.2f}")
higher = sum(a > b for a in at_1 for b in at_2)
higher_with_one_seed = sum(a > b for a, b in zip(at_1, at_2, strict=True))
print(f"It is larger at T = 1 in {higher} of {len(at_1) * len(at_2)} pairs of texts,")
print(f"and in {higher_with_one_seed} of the {len(at_1)} pairs with the same seed.")

# %% id="assert-pairs" tags=["assertions"]
assert means["repetition"].is_monotonic_decreasing and means["real words"].is_monotonic_decreasing
assert max(at_2) > min(at_1) and round(higher / 576, 2) == 0.81 and higher_with_one_seed == 20
by_length = [sum(metrics.repetition_rate(t[:n], 4) for t in results["text"]) for n in (50, 100, 200)]
assert by_length == sorted(by_length)  # longer texts repeat more

# %% [markdown] id="sweep-explained"
# At a low temperature the bigram keeps to its likeliest pairs of characters. It writes more real words, and it writes the
# same ones again and again. At a high temperature it also takes rare pairs: it repeats little, and few of its words are
# real. Neither end is better in itself.
#
# The spread matters as much as the mean. Take one text at T = 1 and one at T = 2. There are 576 such pairs, and in 81 % of
# them the text at T = 1 has the larger share of real words. Among the 24 pairs with the same seed, the text at T = 1 has
# the larger share in 20. So a single pair would mislead you about one time in five.

# %% [markdown] id="limits-text"
# **What this does not prove.** A bigram sees only the last token, and the same token always brings the same row of scores.
# In greedy mode such a model walks in a circle, as the next cell shows. A large model sees the whole text, and so it sees
# its own repetitions. If it repeats itself, it may have other reasons, and this sweep says nothing about them. What carries
# over is the mechanism: a temperature makes the distribution of the same scores sharper or flatter.

# %% id="greedy-loop"
greedy_params = SamplingParams(greedy=True)
looped = generation.generate(model, vocab, "The ", greedy_params, StopCriteria(60, eos=False)).text
print(repr(looped), "longest loop:", metrics.longest_loop(looped), "of", len(looped))

# %% [markdown] id="llama-text"
# Now the small transformer of notebook 00 writes. It has the same 81 tokens as the bigram, but each of its scores depends on
# the whole text so far. **Before you run it:** at which of the three temperatures do you expect words that do not exist?

# %% id="llama" tags=["nbval-ignore-output"]
llama, _ = checkpoint.load_model("tiny_llama")
written = {}
for temperature in TEMPERATURES:
    params = SamplingParams(temperature, seed=3)
    written[temperature] = generation.generate(llama, vocab, "The ", params, StopCriteria(90)).text
    print(f"T = {temperature}: {written[temperature]!r}")

# %% id="assert-llama" tags=["assertions"]
strange = {t: set(storyworld.split_words(words)[:-1]) - storyworld.words() for t, words in written.items()}
assert not strange[0.3] and 0 < len(strange[2.0]) < len(storyworld.split_words(written[2.0])) / 4
assert metrics.longest_loop(looped) > len(looped) / 2
of = {c: sampling.next_token_probs(model.table.detach()[vocab.ids[c]], SamplingParams()) for c in "t "}
assert [round(torch.special.entr(probs).sum().item(), 2) for probs in of.values()] == [2.00, 3.16]

# %% [markdown] id="gumbel-text"
# At T = 2 some of the transformer's words do not exist, but most do. Of the bigram's words, only about 8 in 100 existed.
#
# ## Beyond the toy: a draw without a ruler
#
# Our draw lays the probabilities on a ruler and uses one u for each token that it chooses. *Gumbel-max* draws in another way.
# It takes a random number $u_i$ for every token of the vocabulary, adds the noise $-\ln(-\ln u_i)$ to the logit $z_i / T$, and
# chooses the token with the largest sum. Each token then wins with exactly the probability that softmax gives it, although
# no softmax was computed. **Before you run it:** what share of the draws should the first of [2, 1] win at T = 0.5?

# %% id="gumbel"
generator = torch.Generator().manual_seed(0)
for temperature in (0.5, 1, 2):
    u = torch.rand(20_000, 2, generator=generator, dtype=torch.float64)  # one for each draw and token
    winners = (logits / temperature - (-u.log()).log()).argmax(-1)
    won = (winners == 0).double().mean()
    expected = sampling.next_token_probs(logits, SamplingParams(temperature))[0]
    print(f"T = {temperature}: the first token wins {won:.3f} of the draws; softmax gives it {expected:.3f}")

# %% [markdown] id="own-text"
# The shares agree. The programs vLLM and gpt-fast draw in an equivalent way, because PyTorch's own draw,
# `torch.multinomial`, makes the processor wait for the GPU. The price is a random number for every token of the vocabulary
# at every step. Here one u a step is enough: the running sums of 81 probabilities cost little, nothing waits, and the ruler
# shows where u falls.
#
# ## Your own text
#
# Put the path of a UTF-8 text file in place of `"tales"` and run the next cell. `"my_text.txt"` is a file beside your
# notebook, and `"../my_text.txt"` is one in the folder above it. The file may be in any language; blank lines separate its
# documents. A word then counts as real if it occurs in your file.

# %% id="own-sweep" tags=["nbval-ignore-output"]
my_source = "tales"

own = text.load_text(my_source)
own_vocab, known = text.CharVocab.from_text(own), set(storyworld.split_words(own))
own_model = bigram.BigramLM.fit(own_vocab.encode_documents(text.split_documents(own)), len(own_vocab))
for temperature in TEMPERATURES:
    params = SamplingParams(temperature, seed=0)
    answer = generation.generate(own_model, own_vocab, "", params, StopCriteria(200, eos=False))
    words = storyworld.split_words(answer.text)
    share = sum(word in known for word in words) / max(len(words), 1)
    rate = metrics.repetition_rate(answer.text, 4)
    print(f"T = {temperature}: repetition {rate:.2f}, real words {share:.2f}\n   {answer.text[:100]!r}")

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | a low temperature makes the model know more | the scores are the same; the choice falls more often on the likeliest token |
# | T = 2 ruins every text | most of the transformer's words were still real |
# | the likeliest token is the right one | it is the one that the model prefers; notebook 08 counts how often it is right |
# | a model repeats itself because T is low | here a model that sees only one token repeated itself; a large model may have other reasons |
# | one text at each temperature shows which is better | about one pair in five would have misled us |
#
# The sweep used one bigram with 81 tokens, one measure of words and one of repetition. **Further, without a
# check:** at T = 1 the bigram's row for `t` has an entropy of 2.00 nats, and its row for the space has 3.16. Is there a
# temperature at which `t` reaches 3.16? Does one temperature mean the same amount of chance in every row?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. After a change of temperature, the answers are right more often. Has the model learned something?</summary>No. The weights are the same. Only the way of choosing from the distribution has changed. To find out whether the gain is real, you need many samples, a fixed budget and a measure of correctness.</details>
# <details><summary>2. Why is T = 0 not simply a very small T?</summary>Dividing by 0 gives no distribution. Greedy is what sampling approaches as T gets smaller. Decoders offer it as a separate mode, which takes the largest logit and draws no random number.</details>
# <details><summary>3. Can a temperature make the second candidate likelier than the first?</summary>No. No positive temperature changes the order.</details>
# <details><summary>4. Your text at T = 2 has more real words than mine at T = 1. Does that contradict the sweep?</summary>No. The sweep compares means over seeds. Single texts spread around these means, and the two ranges overlap.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Temperature divides the logits. It makes the distribution sharper or flatter and keeps the order. At 0 a decoder is greedy,
# which is a mode and not a division. At low temperatures the bigram repeated itself more and wrote more real words. Its
# weights never changed. **Next:** [03 Top-k and top-p](03_top_k_top_p.ipynb)
#
# **Sources.** D. Ackley, G. Hinton, T. Sejnowski, *A learning algorithm for Boltzmann machines*, 1985, for an early use of a temperature.
# A. Holtzman et al., [*The curious case of neural text degeneration*](https://arxiv.org/abs/1904.09751), 2020, for repetition in large models.
# I. Huijben et al., [*A review of the Gumbel-max trick*](https://arxiv.org/abs/2110.01515), 2021, for what else it can do.
# Checked on 2026-12-01. A teaching example, not a production benchmark.
