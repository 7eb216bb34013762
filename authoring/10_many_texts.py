# %% [markdown] id="title"
# # 10 · Many texts at once
#
# **After this notebook you can** say what a reserved context wastes and how blocks avoid it; read a block table; say when
# two texts may share keys and values, and what ends the sharing; follow a batch that texts join and leave at any step;
# read the figures by which a server is judged; and find a fault in a paged cache by its logits.
#
# **You need** notebooks 05 to 07. **Time:** 80 minutes. A teaching example, not a production server.
# **Before:** [09 Real libraries](09_real_libraries.ipynb) **Next:** [11 Faster, and still the same](11_faster.ipynb)

# %% id="setup"
import math
from functools import partial

import pandas as pd
import torch

from course_utils import budget, clinic, engines, generation, kv_cache, plots, predict, serving, text, widgets
from course_utils.checking import check, hint, solution
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_num_threads(1)  # steps as small as these gain nothing from more
torch.set_grad_enabled(False)  # nothing is trained here
model, vocab = load_model("tiny_llama")
tales = text.load_documents("tales", "validation")

# %% [markdown] id="waste-text"
# ## What a reserved context wastes
#
# So far each text had a cache to itself, and the cache had room for the longest text that the model can process: 512 tokens.
# Suppose that 32 texts run at the same time, and that each gets such a cache. When they have ended, each has filled only as
# many slots as it has tokens. (A *slot* is the room for one token.) We take 32 tales as an example. **Guess:** what share of
# the reserved memory was never written?

# %% id="guess-waste" tags=["nbval-ignore-output"]
my_wasted_share = ...

# %% id="waste" tags=["nbval-ignore-output"]
lengths = [1 + len(vocab.encode(tale)) for tale in tales[:32]]
reserved, used = 32 * model.block_size, sum(lengths)
a_token = kv_cache.kv_cache_bytes(4, 2, 32, 1, bytes_per_element=4)
print(f"tokens: {min(lengths)} to {max(lengths)} in a text, {used} in all; reserved: {reserved}")
print(f"that is {plots.say_bytes(used * a_token)} of {plots.say_bytes(reserved * a_token)}")
predict.beside(my_wasted_share, 1 - used / reserved, "never written")

# %% id="blocks-waste"
held = {}
for size in (1, 4, 16, 64, 512):
    held[size] = sum(math.ceil(n / size) for n in lengths) * size
    never = 1 - used / held[size]
    print(f"blocks of {size:>3} tokens: {held[size]:>6} slots are held, {never:.1%} never written")

# %% [markdown] id="waste-explained"
# The second cell cuts the memory into *blocks* of a few tokens. A text then holds only the blocks that it needs. Only the rest
# of its last block is wasted. With blocks of 16 that is fewer than 16 slots. And nobody needs to know in advance how long
# a text will be.
#
# ## A block table by hand
#
# The blocks of a text may lie anywhere in memory. So each text has a *block table*, which lists its blocks in the order of
# its tokens. Below, two texts grow in turn, with blocks of 4 tokens: A has 3 tokens, then B 6, A 5, A 9 and B 7. A text takes
# a block only when it needs one, and the blocks are handed out in the order 0, 1, 2, … **Guess** which blocks text A holds in
# the end.

# %% id="guess-table" tags=["nbval-ignore-output"]
my_blocks_of_a = ...  # a list, such as [0, 1]

# %% id="table" tags=["nbval-ignore-output"]
pool, tables = serving.BlockPool(n_blocks=6, block_size=4), {"A": [], "B": []}
for name, n_tokens in (("A", 3), ("B", 6), ("A", 5), ("A", 9), ("B", 7)):
    tables[name] += pool.take(math.ceil(n_tokens / 4) - len(tables[name]))
    print(f"{name} has {n_tokens} tokens: A {tables['A']!s:<9} B {tables['B']!s:<7} free {pool.n_free}")
predict.beside(my_blocks_of_a, tables["A"], "blocks of A")

# %% id="assert-table" tags=["assertions"]
assert tables == {"A": [0, 3, 4], "B": [1, 2]} and held[16] - used < 32 * 16

# %% [markdown] id="slots-text"
# Text A has nine tokens, in the blocks 0, 3 and 4. Its last block has room for three more. We count tokens, blocks and offsets
# from 0. Token 6 of A lies in the second block of its table, which is block 3, at offset 2.
#
# ### Exercise `10.slots` · easy · 8 minutes
#
# Write `slots(block_table, n_tokens, block_size)`.
#
# - Return a list with a pair (block, offset) for each of the first `n_tokens` tokens.
# - The table may have more blocks than are needed. If it has too few, raise a `ValueError`.
#
# | `block_table` | `n_tokens` | `block_size` | you return |
# |---|---|---|---|
# | `[7, 2]` | 3 | 2 | `[(7, 0), (7, 1), (2, 0)]` |
# | `[7]` | 3 | 2 | `ValueError` |

# %% id="exercise-slots" tags=["exercise:10.slots"]
def slots(block_table, n_tokens, block_size):
    ...

# %% id="check-slots" tags=["check:10.slots", "nbval-ignore-output"]
check("10.slots", slots)

# %% [markdown] id="paged-text"
# ## The same model reads it
#
# A transformer asks its cache four questions. At which positions do the new tokens stand? What may they see? Where do
# their keys and values go? Which keys and values are there so far? `PagedCache` answers these questions from its blocks. So
# the model is the one of notebook 05, unchanged, and its rows may even have different lengths. The test is the one of
# notebook 06: compare the logits.

# %% id="paged" tags=["nbval-ignore-output"]
cache = serving.PagedCache(model, n_blocks=40, block_size=16)
rows = [[vocab.bos_id, *vocab.encode(tale[:n])] for tale, n in zip(tales, (9, 60, 143), strict=False)]
paged = [cache.begin(ids) for ids in rows]
for table, ids in zip(paged, rows, strict=True):
    cache.reserve(table, len(ids) + 1)  # its blocks, with room for one token more
    model(torch.tensor([ids]), cache.rows([table]))
token = vocab.encode("e")
together = model(torch.tensor([token] * 3), cache.rows(paged))[:, -1]  # one pass for all three
reports = [compare_logits(model(torch.tensor([ids + token]))[0, -1], logits)
           for ids, logits in zip(rows, together, strict=True)]
for table, report in zip(paged, reports, strict=True):
    print(f"{len(table.token_ids)} tokens in blocks {table.blocks}\n  {report}")

# %% [markdown] id="sharing-text"
# ## Sharing a beginning
#
# Many requests to a server can begin alike, with the same long instruction. Keys and values depend on the token, on its
# position and on all tokens before it. So a full block can be used again by any text that has the same tokens *up to the end
# of that block*. Three requests share an instruction of 100 tokens, `<bos>` included, and the blocks have 16 tokens.
# **Guess:** how many tokens of the second request are found, so that they need not be computed again? And how many are found
# if the 50th character of the instruction is another one?

# %% id="guess-found" tags=["nbval-ignore-output"]
my_found, my_found_after_a_change = ..., ...

# %% id="sharing" tags=["nbval-ignore-output"]
instruction, seven = tales[0][:99], StopCriteria(7, eos=False)
changed = instruction[:49] + ("x" if instruction[49] != "x" else "y") + instruction[50:]
engine, found = serving.Engine(model, vocab, n_blocks=60), []
for prompt in (instruction + " The owl", instruction + " A pirate", changed + " The owl",
               instruction + " The owl"):
    engine.submit(prompt, SamplingParams(seed=1), seven)
    found += [n for step in engine.run() for _, n in step.admitted]
print("tokens found:", found)
predict.beside(my_found, found[1], "the same instruction")
predict.beside(my_found_after_a_change, found[2], "with the 50th character changed")

# %% id="assert-sharing" tags=["assertions"]
assert all(reports) and found[:3] == [0, 96, 48]

# %% [markdown] id="shared-blocks-text"
# Six full blocks are 96 tokens. The last four tokens of the instruction lie in a block that goes on differently. One changed
# token ends the sharing for its block and for all blocks after it, even where the tokens are the same again. And the last token
# of a prompt must always be fed, because its logits choose the next token.
#
# ### Exercise `10.shared_blocks` · medium · 10 minutes
#
# Write `shared_blocks(token_ids, known, block_size)`. `known` is a set of tuples. Each tuple is the beginning of a text, up to the
# end of a block that is stored. Return the number of blocks that the prompt `token_ids` can use again.
#
# - Block n counts if, for every block from 1 to n, the prompt's tokens up to the end of that block are in `known`.
# - The last token of the prompt must lie outside these blocks, since it has to be fed.
#
# | `token_ids` | `known` | `block_size` | you return |
# |---|---|---|---|
# | `[1, 2, 3, 4, 5]` | `{(1, 2), (1, 2, 3, 4)}` | 2 | 2 |
# | `[1, 2, 3, 4]` | `{(1, 2), (1, 2, 3, 4)}` | 2 | 1, since the 4 must be fed |
# | `[9, 2, 3, 4, 5]` | `{(1, 2), (1, 2, 3, 4)}` | 2 | 0 |

# %% id="exercise-shared-blocks" tags=["exercise:10.shared_blocks"]
def shared_blocks(token_ids, known, block_size):
    ...

# %% id="check-shared-blocks" tags=["check:10.shared_blocks", "nbval-ignore-output"]
check("10.shared_blocks", shared_blocks)

# %% [markdown] id="static-text"
# ## Static and continuous batches
#
# A *static* batch begins together and ends together. A text that is done early keeps its place until the longest has ended.
# In a *continuous* batch, a text leaves as soon as it is done, and a waiting text takes its place in the next step. Twelve
# requests want 4, 20, 6, 5, 18, 3, 7, 4, 5, 16, 6 and 4 tokens, and four may run at a time. **Guess:** how many steps does
# each of the two ways take?
#
# In the pictures, `W` means that a text waits, `P` that its prompt is fed (*prefill*), `D` that it gets a new token (*decode*),
# and `-` that it is done and still holds its place.

# %% id="guess-steps" tags=["nbval-ignore-output"]
my_static_steps, my_continuous_steps = ..., ...

# %% id="static"
wanted = [4, 20, 6, 5, 18, 3, 7, 4, 5, 16, 6, 4]
rows, begin = {}, 0
for first in range(0, 12, 4):
    longest = max(wanted[first : first + 4])
    for number, n in enumerate(wanted[first : first + 4], first):
        rows[f"{number:>2}"] = "W" * begin + "P" + "D" * (n - 1) + "-" * (longest - n)
    begin += longest
ax = plots.timeline(rows, "Static batches of four")
for name, letters in rows.items():
    print(name, letters)

# %% id="continuous"
engine = serving.Engine(model, vocab, n_blocks=60, max_tokens_a_step=256, max_running=4)
requests = [engine.submit("Once", SamplingParams(seed=i), StopCriteria(n, eos=False))
            for i, n in enumerate(wanted)]
steps = engine.run()
ax = plots.timeline({f"{n:>2}": letters for n, letters in serving.states(steps).items()}, "A continuous batch of four")
for number, letters in serving.states(steps).items():
    print(f"{number:>2}", letters)

# %% id="see-steps" tags=["nbval-ignore-output"]
predict.beside(my_static_steps, begin, "steps, static")
predict.beside(my_continuous_steps, len(steps), "steps, continuous")
alone = [generation.generate(model, vocab, "Once", SamplingParams(seed=i), StopCriteria(n, eos=False))
         for i, n in enumerate(wanted)]
same = sum(a.text == r.generation.text for a, r in zip(alone, requests, strict=True))
print(f"the text that its request would get alone: {same} of 12")

# %% id="assert-steps" tags=["assertions"]
assert len(steps) < begin == 54 and same >= 11  # a draw within rounding noise may tip, rarely

# %% [markdown] id="admit-text"
# The last line is what makes this more than a trick: apart from a rare near tie, each request gets the text that it would get
# alone. A draw depends on the logits, the seed and the number of the step. It does not depend on who else is running.
#
# A request may begin when there is room. *Room* means enough blocks for all of its prompt and for one more token, the first
# new one.
#
# ### Exercise `10.admit` · medium · 10 minutes
#
# Write `admit(waiting, free_blocks, block_size)`. `waiting` is a list with the lengths of the waiting prompts; the one that
# came first stands first. Return how many from the front may begin.
#
# - A prompt of n tokens takes as many blocks as n + 1 tokens need, and shares none of them.
# - The first prompt that does not fit stops the queue: nobody behind it may begin.
#
# | `waiting` | `free_blocks` | `block_size` | you return |
# |---|---|---|---|
# | `[3, 4, 1]` | 3 | 4 | 2: they take one block and two |
# | `[9, 1]` | 2 | 4 | 0: the first needs three blocks, and the second waits behind it |

# %% id="exercise-admit" tags=["exercise:10.admit"]
def admit(waiting, free_blocks, block_size):
    ...

# %% id="check-admit" tags=["check:10.admit", "nbval-ignore-output"]
check("10.admit", admit)

# %% [markdown] id="pool-text"
# ## When the blocks run out
#
# Texts grow, and nobody knows how far. Suppose that a running text needs a block and none is free. Then the text that came
# last is *preempted*: it gives its blocks back and waits at the front of the queue. Later its prompt and all the tokens that
# were drawn for it are fed again, which is called *recomputation*. A text may also have to wait for the *token budget* of a
# step. Prompts are fed in chunks, beside the texts that are being decoded, and a step feeds no more tokens than its budget.
#
# Below are ten requests on 24 blocks of 8 tokens. Half of the requests share a beginning of 40 tokens. In a row that already
# has a `D`, a later `P` is a recomputation.

# %% id="pool-run"
def ten_requests(engine):
    for i in range(10):
        prompt = tales[0][:39] + tales[i][:9] if i % 2 else tales[i][:20]
        engine.submit(prompt, SamplingParams(seed=i), StopCriteria(10 + 4 * i, eos=False))
    return engine.run()

steps = ten_requests(serving.Engine(model, vocab, n_blocks=24, block_size=8, max_tokens_a_step=32))
for number, letters in serving.states(steps).items():
    print(number, letters)
preempted = [(step.number, number) for step in steps for number in step.preempted]
print("preempted:", ", ".join(f"text {number} in step {step}" for step, number in preempted[:4]), "…")

# %% id="pool-panel"
widgets.watch_pool(steps, n_blocks=24)

# %% [markdown] id="pool-answers"
# **Find out by moving:** which blocks are shared, and by whom? Find a step in which a text is preempted. What happens to the
# blocks that it shared with others?
# <details><summary>Answer</summary>The texts with odd numbers begin alike, and hold the same blocks for their beginning as long as two of them run. A preempted text gives back all of its blocks. A block that another text holds as well stays in use, because a block is free only when its last holder is gone. The other blocks become free, and are still known until somebody takes them. So a text that comes back soon may find a part of what it had.</details>
#
# **Guess:** what does preemption cost? Compare 24 blocks with a pool that is never full. How many times as many tokens go
# through the model?

# %% id="guess-cost" tags=["nbval-ignore-output"]
my_times_as_many = ...

# %% id="cost" tags=["nbval-ignore-output"]
cost, left = {}, {}
for n_blocks in (200, 48, 32, 24, 16):
    engine = serving.Engine(model, vocab, n_blocks, block_size=8, max_tokens_a_step=32)
    trace = ten_requests(engine)
    cost[n_blocks], left[n_blocks] = sum(step.n_fed for step in trace), engine.cache.pool.n_free
    print(f"{n_blocks:>3} blocks: {len(trace):>3} steps, {cost[n_blocks]} tokens fed, "
          f"{sum(len(step.preempted) for step in trace)} preemptions")
predict.beside(my_times_as_many, cost[24] / cost[200], "times as many tokens")

# %% id="assert-cost" tags=["assertions"]
assert preempted and all(n_free == n_blocks for n_blocks, n_free in left.items())
assert cost[200] < cost[24] < 1.5 * cost[200]

# %% [markdown] id="cost-explained"
# Preempted work is done again, but less of it than one might fear. A whole text goes in as one prompt, and a block that is
# still known is not computed again. A small pool also needs more steps, because fewer texts run at a time. A request that
# could never fit is refused when it is submitted.
#
# ## How a server is judged
#
# *TTFT*, the time to the first token, is how long a request waits until its text begins. *TPOT*, the time per output token, is
# how fast the text goes on from there. *Throughput* is the number of new tokens a second, of all texts together. Requests come
# at random times, at a mean rate. **Guess:** if twice as many come as the engine can serve, which of the two times grows more,
# `"TTFT"` or `"TPOT"`?

# %% id="guess-load" tags=["nbval-ignore-output"]
my_growing_time = ...

# %% id="load" tags=["nbval-ignore-output"]
n_requests = budget.choose(60, 16)
def under(per_second):
    engine = serving.Engine(model, vocab, n_blocks=300, max_running=16)
    prompts = [tales[i % 30][: 20 + i % 40] for i in range(n_requests)]
    ask = [partial(engine.submit, prompt, SamplingParams(seed=i), StopCriteria(30 + i % 20, eos=False))
           for i, prompt in enumerate(prompts)]
    return serving.latency(serving.serve(engine, ask, serving.arrivals(n_requests, per_second, seed=1))[0])

at_once = under(1e6)
rates = [round(share * at_once.tokens_a_second / 40, 1) for share in (0.1, 0.3, 0.6, 0.9, 2.0)]
loads = {rate: under(rate) for rate in rates}
for rate, found in loads.items():
    print(f"{rate:>6} requests a second: {found.tokens_a_second:>5.0f} tokens a second, "
          f"TTFT {1000 * found.ttft:>6.1f} ms, TPOT {1000 * found.tpot:.2f} ms")
print("TTFT of 95 in 100 below:", ", ".join(f"{1000 * found.ttft_p95:.0f} ms" for found in loads.values()))

# %% id="see-load" tags=["nbval-ignore-output"]
light, heavy = loads[rates[0]], loads[rates[-1]]
grown = {"TTFT": heavy.ttft / light.ttft, "TPOT": heavy.tpot / light.tpot}
print({name: f"{times:.1f} times" for name, times in grown.items()})
predict.beside(my_growing_time, max(grown, key=grown.get), "grows more")
series = {"TTFT": [1000 * found.ttft for found in loads.values()],
          "TPOT": [1000 * found.tpot for found in loads.values()]}
ax = plots.curve(rates, series, "Two times against load, one thread of this machine",
                 "requests a second", "median (milliseconds)")

# %% [markdown] id="load-explained"
# Under light load a request begins at once. As more texts run together, each step takes longer, so TPOT grows. But one pass
# serves them all, and throughput grows more. TPOT has a limit here, since no more than 16 texts run at a time. TTFT has no
# limit: when more requests come than the engine can serve, a queue forms, and it grows as long as the load lasts. So a
# server's figures say little without the load under which they were measured.
#
# ## Is it still the same model?
#
# Paging can go wrong in its own ways. Here are four paged caches. One is sound. In each of the others one thing is wrong: a
# block is freed too early, a table is off by one, or a shared block is written into. We use each cache in four situations.

# %% [markdown] id="clinic-text"
# | situation | what happens |
# |---|---|
# | one block | a text of three tokens stays inside its first block |
# | alone | one text: a prompt of ten tokens, then one token at a time |
# | shared | a second text begins with the first one's blocks; the first ends; a third takes what is free; the second goes on |
# | parted | two texts have one beginning, part inside a block, and go on side by side |
#
# A dot means that the logits are those of one pass without a cache. Otherwise the cell shows the largest difference. **Before
# you run it:** in which situation must each fault show, and in which can it not show? Then name each cache's diagnosis in the
# cell after it.

# %% id="clinic" tags=["nbval-ignore-output"]
ids = [vocab.bos_id, *vocab.encode(max(tales, key=len))]
specimens = clinic.admit_paged()
examined = {letter: clinic.examine_paged(specimen, model, ids) for letter, specimen in specimens.items()}
shown = {letter: {name: "·" if report else f"{report.max_abs_diff:.0e}" for name, report in reports.items()}
         for letter, reports in examined.items()}
print(pd.DataFrame(shown).T)
print("\nthe four diagnoses:", *clinic.PAGED_FAULTS, sep="\n")

# %% id="guess-faults" tags=["nbval-ignore-output"]
my_faults = {"Q": ..., "R": ..., "S": ..., "T": ...}

# %% id="see-faults" tags=["nbval-ignore-output"]
for letter, fault in clinic.PAGED_DIAGNOSES.items():
    predict.beside(my_faults[letter], fault, letter)

# %% id="assert-clinic" tags=["assertions"]
assert sum(all(reports.values()) for reports in examined.values()) == 1
assert all(reports["one block"] for reports in examined.values())
assert sum(bool(reports["alone"]) for reports in examined.values()) == 3  # the sound one and two of the faults

# %% [markdown] id="outgrown"
# None of the three shows while a text stays inside its first block. The table that is off by one is wrong as soon as a text
# has a second block. A block that was freed too early is read until somebody else writes into it, so it takes three texts to
# see this fault. A shared block is written only where two texts part inside it. Tests that run one text at a time would pass
# two of the three.
#
# ## Where one machine is outgrown
#
# vLLM reads the same folder. This command follows its documentation; **it was not run here**.
#
#     vllm serve FOLDER --dtype float32 --block-size 16 --enable-prefix-caching \
#         --max-num-seqs 32 --max-num-batched-tokens 256

# %% [markdown] id="replaces"
# | in this notebook | in vLLM |
# |---|---|
# | `block_size` of `Engine` | `--block-size` |
# | `n_blocks` | what fits into `--gpu-memory-utilization` of a GPU's memory |
# | shared beginnings | `--enable-prefix-caching` |
# | `max_running` | `--max-num-seqs` |
# | `max_tokens_a_step` | `--max-num-batched-tokens` |
# | gathering the blocks, then ordinary attention | an attention kernel that reads the blocks where they lie |
#
# The last row is where our engine loses speed, because each step copies all keys and values of its texts. In
# `benchmarks/README.md`, a step from blocks took 1.08 times as long as a step from slots in one piece. Paging is for memory and
# sharing, not for speed. Splitting a model over several GPUs is another matter, and notebook 09 has the commands.

# %% [markdown] id="slots-of-another-text"
# ## Another engine on the same weights
#
# llama.cpp, which is written in C++, does what this notebook is about. In llama.cpp, a *slot* is a place for a whole text;
# above, the word meant the room for one token. We give 64 requests to our engine and to llama.cpp, on the same weights. Both
# compute with one thread, and up to 16 texts at a time. All requests are greedy, so both should write the same texts. The two
# take turns, and we compare medians. llama.cpp is an optional part of the course. Without it, the cell shows recorded figures
# and says how to get it.
#
# **Guess:** how many of the 64 texts are the same? And how many times as many tokens a second does llama.cpp write?

# %% id="guess-slots-of-another" tags=["nbval-ignore-output"]
my_same_texts, my_times_as_fast = ..., ...

# %% id="slots-of-another" tags=["nbval-ignore-output"]
many = engines.look("many_texts")
speeds = many["tokens a second"]
for name, speed in speeds.items():
    print(f"{name:>9}: {speed:>5} tokens a second")
predict.beside(my_same_texts, many["the same texts"], "of 64 texts are the same")
predict.beside(my_times_as_fast, speeds["llama.cpp"] / speeds["ours"], "times as many tokens a second")

# %% id="assert-slots-of-another" tags=["assertions"]
assert many["requests"] == 64 and many["the same texts"] >= 63

# %% [markdown] id="slots-of-another-explained"
# The texts are the same, because the logits are the same up to rounding, and a greedy choice changes only where two tokens are
# nearly equal. What differs is the speed. In the recorded run llama.cpp wrote 1.4 times as many tokens a second as our engine,
# although each request had to reach it over HTTP. On this small model the two are within a factor of two. About a
# large model, or about a GPU, this cell says nothing.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | blocks make a step faster | they save memory; our step from blocks took a little longer |
# | the same words share a block | they do so only if all tokens before them are the same, too |
# | in a full batch my text changes | a draw does not depend on who else runs; at most the last digits of the logits do |
# | a preempted text begins anew | its tokens stay; keys and values are computed again |
# | a server has one latency | it has one for each load, and TTFT and TPOT grow differently |
#
# The times come from one thread, a tiny model and requests that we made up. On a GPU the balance is another one. **Further, without
# a check:** the last text is preempted here. Which other text could it be, and whom would that help or hurt?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A text has 33 tokens, and blocks have 16. How many blocks does it hold, and how many of their slots are empty?</summary>Three blocks, and 15 of their 48 slots are empty.</details>
# <details><summary>2. Two prompts of 64 tokens are the same, and blocks have 16. How many tokens of the second prompt are found?</summary>48. The fourth block is full and known. But the last token must be fed, so the block in which it lies is computed again.</details>
# <details><summary>3. Two texts have the same 16 tokens, one text at its beginning, the other at positions 16 to 31. Can they share that block?</summary>No. The positions differ, and so do the tokens before. So keys and values differ.</details>
# <details><summary>4. Why does a text not change when it is preempted?</summary>Its tokens are kept, and only keys and values are computed again. The next draw has the same logits, up to rounding, the same seed and the same step.</details>
# <details><summary>5. At noon a server's TTFT is ten times as long as at night, and its TPOT is nearly the same. What is wrong?</summary>Nothing is wrong with the model. More requests come than the server can take, and they wait in a queue.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Blocks hold keys and values where there is room, and a table says where. All texts that are the same up to the end of a full
# block can share it. In a continuous batch, texts come and go at each step. If blocks run out, the text that came last waits and
# is computed again. None of this may change the logits, and the test for that is the one of notebook 06.
# **Next:** [11 Faster, and still the same](11_faster.ipynb)
#
# **Sources.** W. Kwon et al., [*PagedAttention*](https://arxiv.org/abs/2309.06180), 2023: blocks and tables. G.-I. Yu et al., [*Orca*](https://www.usenix.org/conference/osdi22/presentation/yu), 2022: continuous batches.
# A. Agrawal et al., [*Sarathi*](https://arxiv.org/abs/2308.16369), 2023: prompts in chunks. vLLM's [engine arguments](https://docs.vllm.ai/en/latest/configuration/engine_args.html), which were read and not run. Checked on 2026-12-01.
