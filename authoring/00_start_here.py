# %% [markdown] id="title"
# # 00 · Start here
#
# Ask a language model to finish a sentence and it does not write anything. A text is a row of small pieces, the *tokens*,
# and the model returns one score for each token that it knows. Then it stops. A second, much smaller program reads these
# scores, chooses one token, and asks the model again. That program decides whether you get a tale, an endless loop or
# half of a JSON object. In this course you build it, and you learn to check that it is right.
#
# **After this notebook you can** run and change cells, guess before you run them, check an exercise and read its verdict,
# and say what texts the course uses and why they were written for it.
#
# **You need** to know some Python, and nothing about language models. **Time:** 25 minutes. **Next:** [01 One forward pass](01_one_forward_pass.ipynb)

# %% [markdown] id="opening-text"
# ## One model, one prompt, four texts
#
# The next two cells are code. Click into the first one and press **Shift+Enter**. The cell runs, and the cursor moves to
# the next cell. Run that one in the same way. The second cell lets one small model continue the same beginning, `The`, four
# times. Such a beginning is called a *prompt*. The model does not change between the four texts, and neither do the random
# numbers. Only the settings of the program that chooses are different.

# %% id="setup"
import textwrap

import torch

from course_utils import checkpoint, generation, plots, predict, randomness, sampling, storyworld, text
from course_utils.checking import check, hint, solution
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

model, vocab = checkpoint.load_model("tiny_llama")

# %% id="opening" tags=["nbval-ignore-output"]
settings = {
    "greedy": SamplingParams(greedy=True),
    "T = 0.7": SamplingParams(0.7, seed=7),
    "T = 2": SamplingParams(2.0, seed=7),
    "T = 2, top-p 0.8": SamplingParams(2.0, top_p=0.8, seed=7),
}
texts = {name: generation.generate(model, vocab, "The ", setting, StopCriteria(180)).text for name, setting in settings.items()}
for name, written in texts.items():
    print(f"--- {name}\n{textwrap.fill('The ' + written, 80)}")

# %% id="assert-opening" tags=["assertions"]
again = generation.generate(model, vocab, "The ", settings["T = 2"], StopCriteria(180)).text
assert again == texts["T = 2"] and len(set(texts.values())) == 4  # the same settings give the same text again
grammar = {name: storyworld.words() >= set(storyworld.split_words("The " + written)[:-1]) for name, written in texts.items()}
assert grammar["greedy"] and grammar["T = 2, top-p 0.8"] and not grammar["T = 2"]

# %% [markdown] id="opening-explained"
# *Greedy* always takes the token with the highest score. *T* is the temperature. At T = 0.7 you get a different tale from
# the greedy one, and at T = 2 the words fall apart. The last text was also made at T = 2, but with one more setting,
# *top-p*, and it is readable again. **By the end of notebook 03 you will be able to explain** each difference that you see
# here.
#
# The next picture shows a single choice: the first token after `The`, with the settings of the last text. The model knows
# 81 tokens, and the picture shows only the six with the highest scores. You need not understand it yet. Notebook 01 explains
# steps 1, 4 and 5, notebook 02 explains step 2, and notebook 03 explains step 3.

# %% id="one-choice" tags=["nbval-ignore-output"]
with torch.no_grad():
    logits = model(torch.tensor([[vocab.bos_id, *vocab.encode("The ")]]))[0, -1]
six = sorted(logits.topk(6).indices.tolist())
print(plots.choice_steps([vocab.label(i) for i in six], logits[six], settings["T = 2, top-p 0.8"], randomness.uniform(7, 0)))

# %% [markdown] id="loop-text"
# A text takes many such choices. The chosen token is appended to the text, the longer text goes back into the model, and
# the next token is chosen. This is *the loop*. It would go on forever, so something has to end it. In the next cell a limit
# of five tokens ends the loop, and the reason for the end is called `length`.

# %% id="loop-picture" tags=["nbval-ignore-output"]
prompt_labels = [vocab.label(i) for i in (vocab.bos_id, *vocab.encode("The "))]
short = generation.generate(model, vocab, "The ", settings["greedy"], StopCriteria(5))
print(plots.the_loop(prompt_labels, [vocab.label(i) for i in short.token_ids], short.finish_reason.value))

# %% [markdown] id="running-cells"
# ## Cells
#
# A notebook is a list of cells. Run them from top to bottom, because later cells use what earlier cells have made. You may
# change any code cell and run it again. Try it now: run the next cell, then write 0.2 in place of 1.0 and run it again,
# then try 3. If you get lost, choose *Restart Kernel and Run All Cells* in the menu *Kernel*. The *kernel* is the Python
# process that runs your cells, and a restarted kernel has forgotten everything.

# %% id="first-cell" tags=["nbval-ignore-output"]
temperature = 1.0
answer = generation.generate(model, vocab, "The ", SamplingParams(temperature, seed=7), StopCriteria(120))
print(textwrap.fill("The " + answer.text, 80))

# %% [markdown] id="setup-text"
# The first code cell of each notebook loads what the notebook needs from `course_utils`. This package lies beside the
# notebooks. It is small and meant to be read: run `generation.generate?` in a cell, and you see what that function does.
# Some cells are folded to one grey line. They hold assertions, which check what the text says. You can skip them.

# %% [markdown] id="texts"
# ## The texts
#
# The models of this course learn from texts that a small grammar wrote. A *grammar* is a set of rules that says which
# texts are allowed and how likely each of them is. Ours is called the *storyworld*, and it writes three kinds of texts:
# tales, sums, and calls of a calculator. Here is a tale.

# %% id="a-tale"
tale = text.load_documents("tales", split="validation")[3]
print(textwrap.fill(tale, 80))

# %% id="a-sum-and-a-call"
print(text.load_documents("sums", split="validation")[0])
print()
print(text.load_documents("calls", split="validation")[0])

# %% [markdown] id="why-a-grammar"
# Why does the course not use Shakespeare? Because for texts of our own grammar we can check what is true. A sum is right or
# wrong. A tale keeps its facts or contradicts them. The grammar also knows how likely each document is. From this we can
# compute the best loss that any model could reach, where the *loss* is a number that says how badly a model predicts a
# text. So we need not say that a text "reads well". We can measure how good it is. The next cell asks the grammar about the
# tale above.

# %% id="the-truth"
parsed = storyworld.parse(tale)
print("in the language:", parsed.ok)
for slot, value in parsed.facts.items():
    print(f"  {slot}: {value}")

# %% [markdown] id="breaking-text"
# A tale can also be wrong. The next cell replaces the last sentence of our tale by the last sentence of another tale. The
# function `parse` then says at which character the text leaves the grammar, and what could have stood there instead.

# %% id="breaking"
stranger = storyworld.split_sentences(text.load_documents("tales", split="validation")[4])[-1]
broken = " ".join([*storyworld.split_sentences(tale)[:-1], stranger])
result = storyworld.parse(broken)
print("in the language:", result.ok)
print(f"up to character {result.position} it was: …{broken[:result.position][-60:]}")
print(result.expected)

# %% id="assert-truth" tags=["assertions"]
assert parsed.ok and not result.ok and broken[:result.position] == tale[:result.position]

# %% [markdown] id="predict-text"
# ## Predict, run, explain
#
# In this course most ideas begin with a guess. Write your guess down before you run the cell below it. You will then
# notice when you were wrong, and that is the moment in which you learn most.
#
# Suppose that a model gives two candidates for the next token the scores 2 and 1. Such scores are called *logits*.
# **How many times as likely as the second candidate is the first one?** Put a number in place of the dots, and run both cells.

# %% id="guess-ratio" tags=["nbval-ignore-output"]
my_ratio = ...

# %% id="see-ratio" tags=["nbval-ignore-output"]
probs = sampling.next_token_probs(torch.tensor([2.0, 1.0]), SamplingParams())
predict.beside(my_ratio, (probs[0] / probs[1]).item(), "times as likely")

# %% [markdown] id="explain-ratio"
# *Softmax* is the formula that turns logits into probabilities: $p_i = e^{z_i} / \sum_j e^{z_j}$. In words: raise $e$ to
# the power of each logit, then divide each result by the sum of all. A token whose logit is larger by 1 is therefore
# $e \approx 2.718$ times as likely as the other token. It makes no difference whether the two logits are 2 and 1 or 102 and
# 101. Only their difference counts.

# %% id="show-probs"
print([round(p, 3) for p in probs.tolist()])

# %% id="assert-probs" tags=["assertions"]
assert [round(p, 3) for p in probs.tolist()] == [0.731, 0.269]
assert torch.allclose(probs, sampling.next_token_probs(torch.tensor([102.0, 101.0]), SamplingParams()))
assert round((1000 * 0.731 * 0.269) ** 0.5) == 14  # how far a count of 1,000 draws strays

# %% [markdown] id="exercise-text"
# ## Your first exercise: `00.first_answer`
#
# The logits are 2 and 1, so the probabilities are about 0.731 and 0.269. To *draw* is to choose at random, with these
# probabilities. We draw 1,000 times. **How often do you expect to draw the second candidate?** The question is easy on
# purpose, since this exercise is about the checker.
#
# 1. Run the next two cells as they are. The verdict is *Not attempted*.
# 2. Put a wrong answer in place of the dots: `500`. Run both cells again, and read what the verdict says.
# 3. Put your own answer there, and run both cells once more.

# %% id="exercise-first-answer" tags=["exercise:00.first_answer"]
first_answer = ...

# %% id="check-first-answer" tags=["check:00.first_answer", "nbval-ignore-output"]
check("00.first_answer", first_answer)

# %% [markdown] id="draws-text"
# Now let us really draw. The function `uniform(seed, step)` returns a number u between 0 and 1. The *seed* is a whole
# number that you choose, and the *step* counts the draws. The number u looks random, but it is always the same for the same
# seed and step. Imagine a ruler from 0 to 1 on which the two probabilities lie end to end. `draw` returns the candidate on
# whose part of the ruler u falls.

# %% id="ruler"
print(plots.u_on_a_ruler(["first", "second"], probs, randomness.uniform(seed=1, step=0)))

# %% [markdown] id="many-draws-text"
# The next cell draws 1,000 times, with one u for each step. Its counts are the same on every machine. They need not be
# exactly what you expected: from seed to seed, the count of the second candidate typically differs from 269 by about 14, in
# either direction.

# %% id="draws"
draws = [sampling.draw(probs, randomness.uniform(seed=1, step=step)) for step in range(1000)]
print("first:", draws.count(0), " second:", draws.count(1))

# %% [markdown] id="hints-text"
# ## Hints and solutions
#
# Each time you run `hint("00.first_answer")`, it says a little more. Once you have tried an answer of your own,
# `solution("00.first_answer")` shows a solution. A check always runs the code as it is now. It never looks at what an
# earlier run has printed. `hint("00.first_answer", 1)` shows the first hint again. When a check has said "Not yet",
# `hint("00.first_answer", "expected")` shows the value that it expected.

# %% id="a-hint" tags=["nbval-ignore-output"]
hint("00.first_answer")

# %% id="a-solution" tags=["nbval-ignore-output"]
solution("00.first_answer")

# %% [markdown] id="verdicts"
# These four verdicts are the same in every notebook:
#
# | verdict | what it means |
# |---|---|
# | Passed | the answer is right in every case that the check tries |
# | Not yet | the answer is wrong in one case; the hint shows this case and the mistake that often leads to it |
# | Raised | your code stopped with an error; you see the error and the line |
# | Not attempted | the dots are still there |

# %% [markdown] id="check-all"
# You can also check everything at once. Open a terminal (menu *File*, *New*, *Terminal*) and type `make check`. It runs all
# your notebooks from the top, each in a fresh kernel, and lists the verdict of every exercise. `make check NB=03` does this
# for notebook 03 only. Unfinished exercises do no harm: nothing that comes after an exercise depends on your solution, so
# you can leave one out and come back to it later.

# %% [markdown] id="path"
# ## The path
#
# | notebook | what you find out | minutes |
# |---|---|---|
# | [01 One forward pass](01_one_forward_pass.ipynb) | what scores are, and why one pass is not an answer | 90 |
# | [02 Temperature](02_temperature.ipynb) | what it does to the scores, and what it cannot do | 70 |
# | [03 Top-k and top-p](03_top_k_top_p.ipynb) | which tokens stay, and why the order of the steps matters | 85 |
# | [04 A tiny transformer](04_tiny_transformer.ipynb) | how attention lets a model keep the facts of a tale | 100 |
# | [05 The KV cache](05_kv_cache.ipynb) | what a model stores while it writes, and what that costs | 80 |
# | [06 Is the cache right?](06_is_the_cache_right.ipynb) | how to prove that it is, and how to find a fault | 90 |
# | [07 Why did it stop?](07_stopping.ipynb) | end marks, budgets, stop strings, tool calls | 110 |
# | [08 Did it help?](08_did_it_help.ipynb) | how to compare settings, and when to say "can't tell" | 100 |
# | [09 Real libraries](09_real_libraries.ipynb) | the same model in other programs, and what their settings mean | 80 |
# | [10 Many texts at once](10_many_texts.ipynb) | one model serves many texts: blocks of cache, shared beginnings, waiting | 80 |
# | [11 Faster, and still the same](11_faster.ipynb) | what makes decoding faster, and what each idea leaves unchanged | 80 |

# %% [markdown] id="your-copy"
# You work on your own copies of the notebooks, in the folder `my_notebooks/`. The course never overwrites them. If you want a
# fresh copy of notebook 02, type `make reset NB=02`. Your old copy is kept, with the date in its name.
#
# From notebook 01 on you will meet *panels*: controls with a picture that follows them. A panel moves only while its kernel
# runs. When you open a notebook again the next day, you see the panel's picture and the words "Run this cell to make it
# move". Run the notebook's cells again from the top, and the panel comes back.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the model wrote four texts | it gave scores; one program with four settings chose the tokens |
# | T = 2 always gives nonsense | it did for this model and this prompt, and with top-p it did not |
# | one text for each setting shows which setting is best | it shows that they differ; notebooks 02 and 08 say what a comparison needs |
# | a model with 81 tokens shows how a large model behaves | the program around it works in the same way; the scores are different |
#
# **Further, without a check:** can you find a seed for which the text at T = 2 has only real words? How many
# seeds did you try? What would you say to somebody who shows you only that one text?

# %% [markdown] id="self-test"
# ## Self-test
#
# Answer first, then unfold.
#
# <details><summary>1. Two logits are 7 and 6, two others are -3 and -4. Which pair gives the more unequal probabilities?</summary>Neither. Softmax depends only on differences, and in both pairs the difference is 1.</details>
# <details><summary>2. You solved an exercise and then deleted your answer by mistake. The saved output still says Passed. What will `make check` say?</summary>Not Passed: it runs the code anew and does not read old outputs. If the dots are back, it says not attempted. If the name of your answer is gone, the check cannot run, and the verdict is missing.</details>
# <details><summary>3. Why does the course write its own texts?</summary>So that the truth is known: which sums are right, which tales keep their facts, and which loss is the best possible.</details>

# %% [markdown] id="summary"
# ## Summary
#
# A model returns scores. Softmax turns them into probabilities, a draw chooses one token, and the loop makes a text out of
# many such choices. You guess, run, explain and check, and a verdict names what went wrong. **Next:** [01 One forward pass](01_one_forward_pass.ipynb)
#
# **Sources.** The figures 0.731 and 0.269 are computed above. `data/README.md` describes the course's texts and how they
# were made. [JupyterLab's user guide](https://jupyterlab.readthedocs.io) helps with everything that concerns cells, kernels and
# menus. Checked on 2026-12-01. This is teaching material, not a benchmark of any product.
