# %% [markdown] id="title"
# # 00 · Start here
#
# Ask a language model to finish a sentence and it does not write anything. It returns one score for each token that
# it knows, and stops. A second, much smaller program reads these scores, chooses one token, and asks again. That
# program decides whether you get a tale, an endless loop or half a JSON object. In this course you build it.
#
# **After this notebook you can** run and change cells, guess before you run, check an exercise and read its verdict,
# and say what the course's texts are and why they were written for it.
#
# **You need** Python, and no knowledge of decoding. **Time:** 25 minutes. **Next:** [01 One forward pass](01_one_forward_pass.ipynb).

# %% [markdown] id="opening-text"
# ## One model, one prompt, four texts
#
# The next two cells are code. Click into the first one and press **Shift+Enter**: it runs, and the cursor moves to the
# next cell. Run that one in the same way. It lets one small model continue the word `The` four times. The model is the
# same each time, and so are its scores for `The` and the random numbers. Only the settings of the program that
# chooses differ.

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
# *Greedy* always takes the token with the highest score. *T* is the temperature: at 0.7 you get another tale, and at 2
# the words fall apart. Yet the last text was made at 2 as well, and one more setting, *top-p*, made it readable
# again. **By the end of notebook 03 you can say why**, for each difference that you see here.
#
# Here is one single choice, the first token after `The`, with the settings of the last text. The model knows 81 tokens;
# the picture leaves out all but the six with the highest scores. You need not understand it yet. Notebook 01
# explains steps 1, 4 and 5, notebook 02 explains step 2, and notebook 03 explains step 3.

# %% id="one-choice" tags=["nbval-ignore-output"]
with torch.no_grad():
    logits = model(torch.tensor([[vocab.bos_id, *vocab.encode("The ")]]))[0, -1]
six = sorted(logits.topk(6).indices.tolist())
print(plots.choice_steps([vocab.label(i) for i in six], logits[six], settings["T = 2, top-p 0.8"], randomness.uniform(7, 0)))

# %% [markdown] id="loop-text"
# A text is many such choices. The chosen token is appended to the text, the longer text is fed to the model, and the
# next token is chosen. This is *the loop*; someone has to end it, here after five tokens.

# %% id="loop-picture" tags=["nbval-ignore-output"]
prompt_labels = [vocab.label(i) for i in (vocab.bos_id, *vocab.encode("The "))]
short = generation.generate(model, vocab, "The ", settings["greedy"], StopCriteria(5))
print(plots.the_loop(prompt_labels, [vocab.label(i) for i in short.token_ids], short.finish_reason.value))

# %% [markdown] id="running-cells"
# ## Cells
#
# A notebook is a list of cells. Run them from top to bottom, since later ones use what earlier ones have made. You may
# change any code cell and run it again. Try it now: put 0.2 in place of 1.0 in the next cell, run it, then try 3.
# If you get lost, the menu *Kernel*, *Restart Kernel and Run All Cells* starts again from the top.

# %% id="first-cell" tags=["nbval-ignore-output"]
temperature = 1.0
answer = generation.generate(model, vocab, "The ", SamplingParams(temperature, seed=7), StopCriteria(120))
print(textwrap.fill("The " + answer.text, 80))

# %% [markdown] id="setup-text"
# The first code cell of each notebook loads what it needs from `course_utils`, the package beside the notebooks.
# It is small and meant to be read: `generation.generate?` in a cell shows what that function does. A cell that is folded
# to one grey line holds assertions. They check what the text says, and you can skip them.

# %% [markdown] id="texts"
# ## The texts
#
# The models of this course learn from texts that a small grammar wrote. We call it the *storyworld*. It writes three
# kinds of texts: tales, sums, and calls of a calculator. Here is a tale.

# %% id="a-tale"
tale = text.load_documents("tales", split="validation")[3]
print(textwrap.fill(tale, 80))

# %% id="a-sum-and-a-call"
print(text.load_documents("sums", split="validation")[0])
print()
print(text.load_documents("calls", split="validation")[0])

# %% [markdown] id="why-a-grammar"
# Why not Shakespeare? Because for these texts we can check what is true. A sum is right or wrong. A tale keeps its
# facts or contradicts them. The grammar also knows how likely each document is. From that we compute the best
# loss that any model can reach, where *loss* says how badly a model predicts a text. "It reads well" becomes something
# that we can measure.

# %% id="the-truth"
parsed = storyworld.parse(tale)
print("in the language:", parsed.ok)
for slot, value in parsed.facts.items():
    print(f"  {slot}: {value}")

# %% [markdown] id="breaking-text"
# A tale can be wrong. The next cell replaces its last sentence by the last sentence of another tale. `parse` then says
# at which character the text leaves the language, and what could have stood there.

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
# Most ideas begin with a guess. Write it down before you run the cell below it: then you notice when you were wrong,
# and that is where you learn.
#
# Suppose that a model gives two candidates for the next token the scores 2 and 1. Such scores are called *logits*.
# **How many times as likely as the second is the first?** Put a number in place of the dots, and run both cells.

# %% id="guess-ratio" tags=["nbval-ignore-output"]
my_ratio = ...

# %% id="see-ratio" tags=["nbval-ignore-output"]
probs = sampling.next_token_probs(torch.tensor([2.0, 1.0]), SamplingParams())
predict.beside(my_ratio, (probs[0] / probs[1]).item(), "times as likely")

# %% [markdown] id="explain-ratio"
# *Softmax* turns logits into probabilities: $p_i = e^{z_i} / \sum_j e^{z_j}$. A token whose logit is larger by 1 is
# $e \approx 2.718$ times as likely, whether the two logits are 2 and 1 or 102 and 101. Only their difference counts.

# %% id="show-probs"
print([round(p, 3) for p in probs.tolist()])

# %% id="assert-probs" tags=["assertions"]
assert [round(p, 3) for p in probs.tolist()] == [0.731, 0.269]
assert torch.allclose(probs, sampling.next_token_probs(torch.tensor([102.0, 101.0]), SamplingParams()))
assert round((1000 * 0.731 * 0.269) ** 0.5) == 14  # how far a count of 1,000 draws strays

# %% [markdown] id="exercise-text"
# ## Your first exercise: `00.first_answer`
#
# The logits are 2 and 1, so the probabilities are about 0.731 and 0.269. We draw 1,000 times.
# **How many draws do you expect to give the second candidate?** (The question is easy: this exercise is about the checker.)
#
# 1. Run the next two cells as they are. The verdict is *Not attempted*.
# 2. Now put a wrong answer in place of the dots: `500`. Run both cells again, and read the hint.
# 3. Then put in your own.

# %% id="exercise-first-answer" tags=["exercise:00.first_answer"]
first_answer = ...

# %% id="check-first-answer" tags=["check:00.first_answer", "nbval-ignore-output"]
check("00.first_answer", first_answer)

# %% [markdown] id="draws-text"
# Now draw for real. `uniform(seed, step)` gives a number u from 0 to 1, always the same for the same seed and step.
# Lay the probabilities end to end on a ruler from 0 to 1: `draw` takes the candidate on which u falls.

# %% id="ruler"
print(plots.u_on_a_ruler(["first", "second"], probs, randomness.uniform(seed=1, step=0)))

# %% [markdown] id="many-draws-text"
# One u for each of 1,000 steps gives the count below, which is the same on every machine. It need not be the count
# that you expected: such a count typically strays from it by about 14 in either direction.

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
# | [01 One forward pass](01_one_forward_pass.ipynb) | what scores are, and why one pass is not an answer | 85 |
# | [02 Temperature](02_temperature.ipynb) | what it does to the scores, and what it cannot do | 60 |
# | [03 Top-k and top-p](03_top_k_top_p.ipynb) | which tokens stay, and why the order of the steps matters | 70 |
# | [04 A tiny transformer](04_tiny_transformer.ipynb) | how attention lets a model keep the facts of a tale | 95 |
# | [05 The KV cache](05_kv_cache.ipynb) | what a model stores while it writes, and what that costs | 70 |
# | [06 Is the cache right?](06_is_the_cache_right.ipynb) | how to prove that it is, and how to find a fault | 90 |
# | [07 Why did it stop?](07_stopping.ipynb) | end marks, budgets, stop strings, tool calls | 110 |
# | [08 Did it help?](08_did_it_help.ipynb) | how to compare settings, and when to say "can't tell" | 100 |
# | [09 Real libraries](09_real_libraries.ipynb) | the same model in other programs, and what their settings mean | 80 |
# | [10 Many texts at once](10_many_texts.ipynb) | one model serves many texts: blocks of cache, shared beginnings, waiting | 80 |
# | [11 Faster, and still the same](11_faster.ipynb) | what makes decoding faster, and what each idea leaves unchanged | 80 |

# %% [markdown] id="your-copy"
# You work on your own copy in `my_notebooks/`. It is never overwritten. If you want a fresh one, `make reset NB=02`
# gives it and keeps yours under a dated name.
#
# From notebook 01 on you meet *panels*: sliders with pictures that follow them. A panel needs a running kernel. When you
# open a notebook again the next day, you may see "Error displaying widget: model not found" in its place. Nothing is
# broken: run the notebook's cells again from the top, and the panel is back.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the model wrote four texts | it gave scores; one program with four settings chose the tokens |
# | T = 2 is always gibberish | it was for this model and prompt; with top-p it was not |
# | one text of each setting shows which is best | it shows that they differ; notebooks 02 and 08 say what a comparison takes |
# | a small model of 81 characters says how a large one behaves | the program is the same; the scores are not |
#
# **Further, without a check:** can you find a seed for which the text at T = 2 holds real words only? How many
# seeds did you try, and what would you say to somebody who shows you only that one?

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
# A model gives scores. Softmax turns them into probabilities, a draw picks a token, and the loop makes a text of many
# picks. You guess, run, explain and check; a verdict names what went wrong. **Next:** [01 One forward pass](01_one_forward_pass.ipynb).
#
# **Sources.** The figures 0.731 and 0.269 are computed above. The course's texts: `data/README.md`. JupyterLab's
# user guide: [jupyterlab.readthedocs.io](https://jupyterlab.readthedocs.io). Checked on 2026-11-30. This is teaching
# material, not a benchmark of any product.
