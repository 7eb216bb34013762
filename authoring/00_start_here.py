# %% [markdown] id="title"
# # 00 · Start here
#
# A language model gives scores. Something else makes an answer of them. This course opens that something, line by line.
#
# **After this notebook you can** run and change cells, guess before you run, check an exercise and read its verdict,
# and say what the course's texts are and why they were written for it.
#
# **You need** Python, and no knowledge of decoding. **Time:** 20 minutes.

# %% [markdown] id="running-cells"
# ## Cells
#
# A notebook is a list of cells. Click into the next one and press **Shift+Enter**: the code runs, and its value
# appears below. Run the cells from top to bottom, since later ones use what earlier ones have made.
# If you get lost: menu *Kernel*, *Restart Kernel and Run All Cells*.

# %% id="first-cell"
6 * 7

# %% [markdown] id="setup-text"
# The first code cell of each notebook loads what it needs from `course_utils`, the package beside the notebooks.
# It is small and meant to be read. `module.function?` in a cell shows what a function does.

# %% id="setup"
import textwrap

import torch

from course_utils import predict, randomness, sampling, storyworld, text
from course_utils.checking import check, hint, solution

# %% [markdown] id="texts"
# ## The texts
#
# The models of this course learn from texts that a small grammar wrote, the *storyworld*. There are three kinds:
# tales, sums, and calls of a calculator. Here is a tale.

# %% id="a-tale"
tale = text.load_documents("tales", split="validation")[3]
print(textwrap.fill(tale, 100))

# %% id="a-sum-and-a-call"
print(text.load_documents("sums", split="validation")[0])
print()
print(text.load_documents("calls", split="validation")[0])

# %% [markdown] id="why-a-grammar"
# Why not Shakespeare? Because of these texts we know the truth. Whether a sum is right can be computed. Whether a
# tale keeps its own facts can be checked. And the grammar knows how likely each document is, so we know the best
# loss that any model can reach. "It reads well" becomes something that is measured.

# %% id="the-truth"
parsed = storyworld.parse(tale)
print("in the language:", parsed.ok)
for slot, value in parsed.facts.items():
    print(f"  {slot}: {value}")

# %% [markdown] id="breaking-text"
# A tale can be wrong. The next cell cuts off its last sentence and puts one of another tale in its place.
# `parse` then says at which character the text leaves the language, and what it expected there.

# %% id="breaking"
stranger = storyworld.split_sentences(text.load_documents("tales", split="validation")[4])[-1]
broken = " ".join([*storyworld.split_sentences(tale)[:-1], stranger])
result = storyworld.parse(broken)
print("in the language:", result.ok)
print("up to here it was:", "…" + broken[:result.position][-60:])

# %% [markdown] id="predict-text"
# ## Predict, run, explain
#
# Each idea begins with a guess. Write it down before you run the cell below it: a wrong guess that you wrote down
# teaches more than a right one that you only thought.
#
# A model gives two candidates for the next token the scores 2 and 1, called *logits*. **How many times as likely as
# the second is the first?** Put a number in place of the dots.

# %% id="guess-ratio" tags=["nbval-ignore-output"]
my_ratio = ...

# %% id="see-ratio" tags=["nbval-ignore-output"]
probs = sampling.next_token_probs(torch.tensor([2.0, 1.0]), sampling.SamplingParams())
predict.beside(my_ratio, (probs[0] / probs[1]).item(), "times as likely")

# %% [markdown] id="explain-ratio"
# Probabilities come from logits by *softmax*: $p_i = e^{z_i} / \sum_j e^{z_j}$. A logit that is larger by 1 makes a
# token $e \approx 2.718$ times as likely, wherever the two lie. Only differences of logits count.

# %% id="show-probs"
print([round(p, 3) for p in probs.tolist()])
assert [round(p, 3) for p in probs.tolist()] == [0.731, 0.269]

# %% [markdown] id="exercise-text"
# ## Your first exercise: `00.first_answer`
#
# The logits are 2 and 1, so the probabilities are about 0.731 and 0.269. We draw 1,000 times.
# **How many draws do you expect to give the second candidate?** (An easy one. Here the checker is what you learn.)
#
# 1. Run the next two cells as they are. The verdict is *Not attempted*.
# 2. Now put a wrong answer in place of the dots: `500`. Run both cells again, and read the hint.
# 3. Then put in your own.

# %% id="exercise-first-answer" tags=["exercise:00.first_answer"]
first_answer = ...

# %% id="check-first-answer" tags=["check:00.first_answer", "nbval-ignore-output"]
check("00.first_answer", first_answer)

# %% [markdown] id="draws-text"
# Now draw for real. `uniform(seed, step)` gives a number from 0 to 1, always the same for the same seed and step.
# `draw` finds the candidate that this number falls on. So the count below is the same on every machine. It need not be
# the expected one: of 1,000 such draws the count strays by about 14 either way.

# %% id="draws"
draws = [sampling.draw(probs, randomness.uniform(seed=1, step=step)) for step in range(1000)]
print("first:", draws.count(0), " second:", draws.count(1))

# %% [markdown] id="hints-text"
# ## Hints and solutions
#
# `hint("00.first_answer")` says a little more each time you run it. `solution("00.first_answer")` shows a reference,
# once you have tried. A check looks at what your code does now, never at what an earlier run has printed.

# %% id="a-hint" tags=["nbval-ignore-output"]
hint("00.first_answer")

# %% id="a-solution" tags=["nbval-ignore-output"]
solution("00.first_answer")

# %% [markdown] id="verdicts"
# The verdicts, everywhere the same:
#
# | verdict | what it means |
# |---|---|
# | Passed | every case of the exercise came out right |
# | Not yet | one case did not: the hint says which, and which misconception it often comes from |
# | Raised | your code stopped with an error; you see the error and its line |
# | Not attempted | the dots are still there |

# %% [markdown] id="check-all"
# In a terminal (*File*, *New*, *Terminal*), `make check` runs your notebooks from the top in fresh kernels and
# lists the verdict of every exercise; `make check NB=03` does so for one. Unfinished exercises are skipped. Nothing
# after an exercise depends on your solution, so you can leave one and come back.

# %% [markdown] id="path"
# ## The path
#
# | notebook | what you find out | minutes |
# |---|---|---|
# | 01 One forward pass | what scores are, and why one pass is not an answer | 75 |
# | 02 Temperature | what it does to the scores, and what it cannot do | 60 |
# | 03 Top-k and top-p | which tokens stay, and why the order of the steps matters | 60 |

# %% [markdown] id="your-copy"
# You work on your own copy in `my_notebooks/`. It is never overwritten. If you want a fresh one, `make reset NB=02`
# gives it and keeps yours under a dated name. Where a text of your own can take the place of the tales,
# the notebook says so.

# %% [markdown] id="self-test"
# ## Self-test
#
# Answer first, then unfold.
#
# <details><summary>1. Two logits are 7 and 6, two others -3 and -4. Which pair has the more unequal probabilities?</summary>Neither. Softmax sees differences only, and both differ by 1.</details>
# <details><summary>2. You solved an exercise, then deleted your function by mistake. The saved output still says Passed. What will make check say?</summary>Not attempted, or Raised. It runs the code and does not read old outputs.</details>
# <details><summary>3. Why does the course write its own texts?</summary>So that the truth is known: which sums are right, which tales keep their facts, and which loss is the best possible.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Logits are scores, softmax makes them probabilities, a draw picks a token. You guess, run, explain and check; a
# verdict names what went wrong.
#
# **Sources.** The figures 0.731 and 0.269 are computed above. The course's texts: `data/README.md`. JupyterLab's
# user guide: [jupyterlab.readthedocs.io](https://jupyterlab.readthedocs.io). Checked on 2026-11-30. This is teaching
# material, not a benchmark of any product.
