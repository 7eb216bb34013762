# %% [markdown] id="title"
# # 10 · Many texts at once
#
# **After this notebook you can** say what a reserved context wastes and how blocks avoid it; read a block table; say when two
# texts may share keys and values and what ends the sharing; follow a batch that texts join and leave at any step; read the
# figures by which a server is judged; and find a fault in a paged cache by its logits.
#
# **You need** notebooks 05 to 07. **Time:** 80 minutes. A teaching example, not a production server.
# **Before:** [09 Real libraries](09_real_libraries.ipynb) **Next:** [11 Faster, and still the same](11_faster.ipynb)

# %% id="setup"
import math
from functools import partial

import pandas as pd
import torch

from course_utils import budget, clinic, generation, kv_cache, plots, predict, serving, text, widgets
from course_utils.checking import check
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_num_threads(1)  # steps as small as these gain nothing from more
model, vocab = load_model("tiny_llama")
tales = text.load_documents("tales", "validation")

# %% [markdown] id="waste-text"
# ## What a reserved context wastes
#
# So far one text had one cache, and the cache was made for the longest text that the model can process: 512 tokens. Suppose
# that 32 texts run at the same time and each gets such a cache. When they have ended, each has filled only as many slots as it
# has tokens. We take 32 tales as an example. **Guess:** which share of the reserved memory was never written?

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
for block_size in (1, 4, 16, 64, 512):
    held = sum(math.ceil(n / block_size) for n in lengths) * block_size
    print(f"blocks of {block_size:>3} tokens: {held:>6} slots are held, {1 - used / held:.1%} of them never written")
assert sum(math.ceil(n / 16) for n in lengths) * 16 - used < 32 * 16

# %% [markdown] id="waste-explained"
# The second cell cuts the memory into *blocks* of a few tokens, and a text holds only the blocks that it fills. What is wasted
# is the rest of its last block, fewer than 16 slots with blocks of 16. Nobody needs to know in advance how long a text will be.
#
# ## A block table by hand
#
# The blocks of a text may lie anywhere. So each text has a *block table*, the list of its blocks in the order of its tokens.
# Below, two texts grow in turn, with blocks of 4 tokens. Before you run it: which blocks will text A hold in the end?

# %% id="guess-table" tags=["nbval-ignore-output"]
my_blocks_of_a = ...  # as a text, such as "[0, 1]"

# %% id="table" tags=["nbval-ignore-output"]
pool, tables = serving.BlockPool(n_blocks=6, block_size=4), {"A": [], "B": []}
for name, n_tokens in (("A", 3), ("B", 6), ("A", 5), ("A", 9), ("B", 7)):
    tables[name] += pool.take(math.ceil(n_tokens / 4) - len(tables[name]))
    print(f"{name} has {n_tokens} tokens: A {tables['A']!s:<9} B {tables['B']!s:<7} free {pool.n_free}")
predict.beside(my_blocks_of_a, str(tables["A"]), "blocks of A")
assert tables == {"A": [0, 3, 4], "B": [1, 2]}

# %% [markdown] id="slots-text"
# Text A has nine tokens in the blocks 0, 3 and 4, and its last block has room for three more. Token 6 of A, counted from 0, is
# in its second block, which is block 3, at offset 2.
#
# ### Exercise `10.slots` · easy · 8 minutes
#
# Write `slots(block_table, n_tokens, block_size)`: a list with a pair (block, offset) for each of the first `n_tokens` tokens.
# The table may have more blocks than are needed. If it has too few, raise a ValueError.

# %% id="exercise-slots" tags=["exercise:10.slots"]
def slots(block_table, n_tokens, block_size):
    ...

# %% id="check-slots" tags=["check:10.slots", "nbval-ignore-output"]
check("10.slots", slots)

# %% [markdown] id="paged-text"
# ## The same model reads it
#
# A transformer asks its cache four things: where the new tokens stand, what they may see, where to put their keys and values,
# and for all keys and values so far. `PagedCache` answers them from its blocks, so the model is the one of notebook 05,
# unchanged. Its rows may even have different lengths. The test is that of notebook 06: compare the logits.

# %% id="paged" tags=["nbval-ignore-output"]
cache = serving.PagedCache(model, n_blocks=40, block_size=16)
rows = [[vocab.bos_id, *vocab.encode(tale[:n])] for tale, n in zip(tales, (9, 60, 143), strict=False)]
paged = [cache.begin(ids) for ids in rows]
for table, ids in zip(paged, rows, strict=True):
    cache.reserve(table, len(ids) + 1)  # its blocks, with room for one token more
    model(torch.tensor([ids]), cache.rows([table]))
token = vocab.encode("e")
together = model(torch.tensor([token] * 3), cache.rows(paged))[:, -1]  # one pass for all three
for ids, table, logits in zip(rows, paged, together, strict=True):
    print(f"{len(table.token_ids):>3} tokens in blocks {table.blocks}:", compare_logits(model(torch.tensor([ids + token]))[0, -1], logits))
    assert compare_logits(model(torch.tensor([ids + token]))[0, -1], logits)

# %% [markdown] id="sharing-text"
# ## Sharing a beginning
#
# Many requests begin alike, with the same long instruction. Keys and values depend on the token, on its position and on all
# tokens before it. So a full block can be used again by any text that has the same tokens *up to the end of that block*.
# Three requests share an instruction of 100 tokens, `<bos>` included. **Guess:** with blocks of 16, how many of the second
# request's tokens are found and not computed again? And how many if the 50th token of the instruction is another one?

# %% id="guess-found" tags=["nbval-ignore-output"]
my_found, my_found_after_a_change = ..., ...

# %% id="sharing" tags=["nbval-ignore-output"]
instruction, seven = tales[0][:99], StopCriteria(7, eos=False)
changed = instruction[:49] + ("x" if instruction[49] != "x" else "y") + instruction[50:]
engine, found = serving.Engine(model, vocab, n_blocks=60), []
for prompt in (instruction + " The owl", instruction + " A pirate", changed + " The owl", instruction + " The owl"):
    engine.submit(prompt, SamplingParams(seed=1), seven)
    found += [n for step in engine.run() for _, n in step.admitted]
print("tokens found:", found)
predict.beside(my_found, found[1], "the same instruction")
predict.beside(my_found_after_a_change, found[2], "with the 50th token changed")
assert found[:3] == [0, 96, 48]

# %% [markdown] id="shared-blocks-text"
# Six full blocks are 96 tokens; the last four of the instruction lie in a block that goes on differently. One changed token
# ends the sharing for its own block and for all behind it, even where the tokens are the same again. And the last token of a
# prompt must always be fed, because its logits choose the next token.
#
# ### Exercise `10.shared_blocks` · medium · 10 minutes
#
# `known` is a set of tuples, the beginnings whose blocks are stored. Write `shared_blocks(token_ids, known, block_size)`: the
# largest n for which the text up to the end of block 1, of block 2, … of block n is known, and which leaves out the last token.

# %% id="exercise-shared-blocks" tags=["exercise:10.shared_blocks"]
def shared_blocks(token_ids, known, block_size):
    ...

# %% id="check-shared-blocks" tags=["check:10.shared_blocks", "nbval-ignore-output"]
check("10.shared_blocks", shared_blocks)

# %% [markdown] id="static-text"
# ## Static and continuous batches
#
# A *static* batch begins together and ends together: whoever is done early keeps its place until the longest has ended. In a
# *continuous* batch a text leaves when it is done, and one that waits takes its place in the next step. Twelve requests want
# different numbers of tokens, and four may run at a time. **Guess:** how many steps do the two ways take?

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
requests = [engine.submit("Once", SamplingParams(seed=i), StopCriteria(n, eos=False)) for i, n in enumerate(wanted)]
steps = engine.run()
ax = plots.timeline({f"{n:>2}": letters for n, letters in serving.states(steps).items()}, "A continuous batch of four")
for number, letters in serving.states(steps).items():
    print(f"{number:>2}", letters)
assert len(steps) < begin == 54

# %% id="see-steps" tags=["nbval-ignore-output"]
predict.beside(my_static_steps, begin, "steps, static")
predict.beside(my_continuous_steps, len(steps), "steps, continuous")
alone = [generation.generate(model, vocab, "Once", SamplingParams(seed=i), StopCriteria(n, eos=False)) for i, n in enumerate(wanted)]
print("texts as each alone:", sum(a.text == r.generation.text for a, r in zip(alone, requests, strict=True)), "of 12")

# %% [markdown] id="admit-text"
# The last line is what makes this more than a trick. A draw depends on the logits, the seed and the number of the step, and on
# nothing else. So a request gets the text that it would get alone, whoever runs beside it.
#
# A request may begin when there is room. *Room* means blocks for all of its prompt and for one more token, the first new one.
#
# ### Exercise `10.admit` · medium · 10 minutes
#
# `waiting` holds the lengths of the prompts that wait, first come first. Write `admit(waiting, free_blocks, block_size)`: how many
# from the front may begin. A prompt of n tokens needs blocks of its own for n + 1 tokens. The first that does not fit ends it.

# %% id="exercise-admit" tags=["exercise:10.admit"]
def admit(waiting, free_blocks, block_size):
    ...

# %% id="check-admit" tags=["check:10.admit", "nbval-ignore-output"]
check("10.admit", admit)

# %% [markdown] id="pool-text"
# ## When the blocks run out
#
# Texts grow, and nobody knows how far. If a running text needs a block and none is free, the one that came last is *preempted*:
# it gives its blocks back and waits at the front of the queue. Later its prompt and all tokens it has chosen are fed again. That
# is *recomputation*. A text can also wait for the *token budget* of a step: prompts are fed in chunks, beside the texts that
# are being decoded. Below are ten requests on 24 blocks of 8 tokens, half of them with a shared beginning of 40 tokens.

# %% id="pool-run"
def ten_requests(engine):
    for i in range(10):
        prompt = tales[0][:39] + tales[i][:9] if i % 2 else tales[i][:20]
        engine.submit(prompt, SamplingParams(seed=i), StopCriteria(12 + 5 * i, eos=False))
    return engine.run()

steps = ten_requests(serving.Engine(model, vocab, n_blocks=24, block_size=8, max_tokens_a_step=32))
for number, letters in serving.states(steps).items():
    print(number, letters)
print("preempted, (step, text):", [(step.number, number) for step in steps for number in step.preempted])
assert any(step.preempted for step in steps)

# %% id="pool-panel"
widgets.watch_pool(steps, n_blocks=24)

# %% [markdown] id="pool-answers"
# **Find out by moving:** which blocks are shared, and by whom? Find a step in which a text is preempted. What happens to the
# blocks that it shared with others?
# <details><summary>Answer</summary>The texts with odd numbers begin alike and hold the same blocks for their beginning, as long as two of them run. A preempted text gives back all of its blocks. Those that another text holds too stay in use: a block is free when its last holder is gone. Its own ones are free, and still known until somebody else takes them: so a text that comes back soon may find a part of what it had.</details>
#
# **Guess:** what does preemption cost? With 24 blocks, how many tokens go through the model, compared with a pool that is never
# full?

# %% id="guess-cost" tags=["nbval-ignore-output"]
my_times_as_many = ...

# %% id="cost" tags=["nbval-ignore-output"]
cost = {}
for n_blocks in (200, 48, 32, 24, 16):
    engine = serving.Engine(model, vocab, n_blocks, block_size=8, max_tokens_a_step=32)
    trace = ten_requests(engine)
    cost[n_blocks] = sum(step.n_fed for step in trace)
    print(f"{n_blocks:>3} blocks: {len(trace):>3} steps, {cost[n_blocks]} tokens fed, {sum(len(s.preempted) for s in trace)} preemptions")
    assert engine.cache.pool.n_free == n_blocks
predict.beside(my_times_as_many, cost[24] / cost[200], "times as many tokens")

# %% [markdown] id="cost-explained"
# Preempted work is done again, but less of it than one might fear: a whole text goes in as one prompt, and a block that is still
# known is not computed again. What a small pool costs above all is steps, because fewer texts run at a time. A request that could
# never fit is refused when it is submitted.
#
# ## How a server is judged
#
# *TTFT*, time to first token, is how long a request waits until its text begins. *TPOT*, time per output token, is how
# fast it goes on from there. *Throughput* is all new tokens a second. Requests come at random, at a mean rate. **Guess:** if
# twice as many come as the engine can serve, which of the two times grows more, `"TTFT"` or `"TPOT"`?

# %% id="guess-load" tags=["nbval-ignore-output"]
my_growing_time = ...

# %% id="load" tags=["nbval-ignore-output"]
n_requests = budget.choose(60, 16)
def under(per_second):
    engine = serving.Engine(model, vocab, n_blocks=300, max_running=16)
    ask = [partial(engine.submit, tales[i % 30][: 20 + i % 40], SamplingParams(seed=i), StopCriteria(30 + i % 20, eos=False))
           for i in range(n_requests)]
    return serving.latency(serving.serve(engine, ask, serving.arrivals(n_requests, per_second, seed=1))[0])

at_once = under(1e6)
rates = [round(share * at_once.tokens_a_second / 40, 1) for share in (0.1, 0.3, 0.6, 0.9, 2.0)]
loads = {rate: under(rate) for rate in rates}
for rate, found in loads.items():
    print(f"{rate:>6} requests a second: {found.tokens_a_second:>6.0f} tokens a second, TTFT {1000 * found.ttft:>6.1f} ms "
          f"(95 of 100 below {1000 * found.ttft_p95:.0f}), TPOT {1000 * found.tpot:.2f} ms")

# %% id="see-load" tags=["nbval-ignore-output"]
light, heavy = loads[rates[0]], loads[rates[-1]]
grown = {"TTFT": heavy.ttft / light.ttft, "TPOT": heavy.tpot / light.tpot}
print({name: f"{times:.1f} times" for name, times in grown.items()})
predict.beside(my_growing_time, max(grown, key=grown.get), "grows more")
series = {"TTFT": [1000 * found.ttft for found in loads.values()], "TPOT": [1000 * found.tpot for found in loads.values()]}
ax = plots.curve(rates, series, "Two times against load, one thread of this machine", "requests a second", "median (milliseconds)")

# %% [markdown] id="load-explained"
# Under light load a request begins at once. As more texts run together, each step takes longer, so TPOT grows; in return one
# pass serves all of them, and throughput grows more. TPOT has a limit, since no more than 16 texts run here. TTFT has none:
# beyond what the engine can do a queue forms, and it grows as long as the load lasts. So a server's figures say little
# without the load under which they were measured.
#
# ## Is it still the same model?
#
# Paging has faults of its own. Here are four paged caches. One is sound, and three have a fault that real ones had: a block is
# freed too early, a table is off by one, a shared block is written. A situation is a way to use a cache:

# %% [markdown] id="clinic-text"
# | situation | what happens |
# |---|---|
# | one block | a text of three tokens stays inside its first block |
# | alone | one text: a prompt of ten tokens, then one token at a time |
# | shared | a second text begins with the first one's blocks; the first ends; a third takes what is free; the second goes on |
# | parted | two texts have one beginning, part inside a block, and go on side by side |
#
# A dot means that the logits are those of one pass without a cache. Otherwise the cell says how far they are off. **Before you
# run it:** in which situation must each fault show, and in which can it not show?

# %% id="clinic" tags=["nbval-ignore-output"]
ids = [vocab.bos_id, *vocab.encode(max(tales, key=len))]
examined = {letter: clinic.examine_paged(specimen, model, ids) for letter, specimen in clinic.admit_paged().items()}
shown = {letter: {name: "·" if report else f"{report.max_abs_diff:.0e}" for name, report in reports.items()}
         for letter, reports in examined.items()}
print(pd.DataFrame(shown).T)
assert sum(all(reports.values()) for reports in examined.values()) == 1
print("\nto choose from:", *clinic.PAGED_FAULTS, sep="\n")

# %% id="guess-faults" tags=["nbval-ignore-output"]
my_faults = {"Q": ..., "R": ..., "S": ..., "T": ...}

# %% id="see-faults" tags=["nbval-ignore-output"]
for letter, fault in clinic.PAGED_DIAGNOSES.items():
    predict.beside(my_faults[letter], fault, letter)

# %% [markdown] id="outgrown"
# None of the three shows as long as a text stays inside its first block. The table that is off by one is wrong as soon as a text
# has a second block. A block freed too early is read until somebody else writes into it, so it takes three texts to see it. A
# shared block is written only where texts part inside one. Tests that run one text at a time would pass two of the three.
#
# ## Where one machine is outgrown
#
# vLLM reads the same folder. This command follows its documentation; **it was not run here**.
#
#     vllm serve FOLDER --dtype float32 --block-size 16 --enable-prefix-caching --max-num-seqs 32 --max-num-batched-tokens 256

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
# The last line is where our engine loses speed: each step copies all keys and values of its texts. In `benchmarks/README.md`, a
# step from blocks took 1.08 times as long as one from slots in one piece. Paging is for memory and sharing, not for speed.
# Splitting a model over several GPUs is another matter, and notebook 09 has the commands.

# %% [markdown] id="slots-of-another-text"
# ## Another engine on the same weights
#
# llama.cpp, which is written in C++, does what this notebook is about. It calls the places for texts that run together
# *slots*. We give 64 requests to our engine and to llama.cpp, on the same weights, and let both compute with one thread and up to
# 16 texts at a time. All requests are greedy, so both engines should write the same texts. The two take turns, and the medians are
# compared. llama.cpp is an optional part of the course. If it is not installed, the cell shows recorded figures and says how to get it.
#
# **Guess:** how many of the 64 texts are the same? And how many times as many tokens a second does llama.cpp write?

# %% id="guess-slots-of-another" tags=["nbval-ignore-output"]
my_same_texts, my_times_as_fast = ..., ...

# %% id="slots-of-another" tags=["nbval-ignore-output"]
from course_utils import engines

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
# nearly equal. What differs is the speed. In the recorded run llama.cpp wrote 1.4 times as many tokens a second as
# our engine did, and it had to take each request over HTTP as well. On this small model the two are within a factor of two. About
# a large model, or a GPU, this cell says nothing.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A text of 33 tokens, blocks of 16. How many blocks does it hold, and how many slots of them are empty?</summary>Three blocks, and 15 of their 48 slots are empty.</details>
# <details><summary>2. Two prompts of 64 tokens are the same. Blocks of 16. How many tokens of the second are found?</summary>48. The fourth block is full and known, but the last token must be fed, so the block that it lies in is computed again.</details>
# <details><summary>3. Two texts have the same 16 tokens, one at its beginning, the other at positions 16 to 31. Can they share that block?</summary>No. The positions differ, and so do the tokens before: the keys and values are others.</details>
# <details><summary>4. Why does a text not change when it is preempted?</summary>Its tokens are kept, and only keys and values are computed again. The next draw has the same logits, up to rounding, the same seed and the same step.</details>
# <details><summary>5. A server's TTFT is ten times as long at noon as at night, its TPOT is nearly the same. What is wrong?</summary>Nothing with the model: requests wait in a queue. There are more of them than the server can take.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Blocks hold keys and values where there is room, and a table says where. A full block can be shared by all texts that are the
# same up to its end. In a continuous batch texts come and go at each step; if blocks run out, the last one waits and is computed
# again. None of it may change the logits, and the test for that is the one of notebook 06.
#
# **Sources.** W. Kwon et al., [*PagedAttention*](https://arxiv.org/abs/2309.06180), 2023. G.-I. Yu et al.,
# [*Orca*](https://www.usenix.org/conference/osdi22/presentation/yu), 2022 (continuous batching). A. Agrawal et al.,
# [*Sarathi*](https://arxiv.org/abs/2308.16369), 2023 (chunked prefill). vLLM's
# [engine arguments](https://docs.vllm.ai/en/latest/configuration/engine_args.html), read. Checked on 2026-12-01.
