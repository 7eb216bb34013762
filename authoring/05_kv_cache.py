# %% [markdown] id="title"
# # 05 · The KV cache
#
# **After this notebook you can** tell prefill from decode by the shapes; say what a cache holds and what it does not;
# compute its bytes, for models with one key and one value for each head and token, and find them in real tensors; say which
# work it saves and which still grows; and write a loop that feeds each token exactly once.
#
# **You need** notebook 04. **Time:** 70 minutes. A teaching example, not a production benchmark.

# %% id="setup"
import time
from itertools import pairwise

import psutil
import torch

from course_utils import budget, generation, kv_cache, plots, predict, step_cost, text, transformer, widgets
from course_utils.checking import check
from course_utils.checkpoint import load_model
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_grad_enabled(False)  # nothing is trained here
model, vocab = load_model("tiny_llama")

# %% [markdown] id="again-text"
# ## The same work, again and again
#
# A loop without a cache shows the model the whole text at each step. Count positions: one token that goes through the model
# once is one position. **Guess:** a prompt of 20 tokens is continued by 30. How many positions go through the model in all,
# without a cache, and with one?

# %% id="guess-positions" tags=["nbval-ignore-output"]
my_positions_without, my_positions_with = ..., ...

# %% id="count-positions"
def positions_fed(use_cache):
    """How many positions each call of the model was given, while a text of 20 tokens is continued by 30."""
    counted = []
    hook = model.register_forward_pre_hook(lambda module, args: counted.append(args[0].shape[1]))
    greedy, thirty = SamplingParams(greedy=True), StopCriteria(30, eos=False)
    generation.generate(model, vocab, "The fox found a key", greedy, thirty, use_cache)
    hook.remove()
    return counted

without, cached = positions_fed(False), positions_fed(True)
print("without a cache:", without[:4], "...", without[-1], "in all", sum(without))
print("with a cache:   ", cached[:4], "...", cached[-1], "in all", sum(cached))
assert (sum(without), sum(cached)) == (sum(range(20, 50)), 20 + 29)

# %% id="see-positions" tags=["nbval-ignore-output"]
predict.beside(my_positions_without, sum(without), "without a cache")
predict.beside(my_positions_with, sum(cached), "with a cache")

# %% [markdown] id="positions-explained"
# With a cache each token goes through once, and the last new one not at all: nobody needs the logits after it. So 20 + 29.
# Without, the number of positions grows with the square of the length.
#
# ## Why it may be kept
#
# A token reads the keys and values of the tokens up to its own. In a causal model those never change when a token is added,
# as notebook 04 has shown. So they can be stored. A hand-sized case: four tokens with the values 1, 2, 3, 10, all scores
# equal, so that each token reads the plain mean of what it may see. **Guess:** what does the fourth token read?

# %% id="guess-mean" tags=["nbval-ignore-output"]
my_mean = ...

# %% id="mean"
values = torch.tensor([1.0, 2.0, 3.0, 10.0])

def read_in_chunks(sizes):
    """What each token reads if the four come in chunks of these sizes; stored values are never computed again."""
    stored, read = [], []
    for chunk in values.split(sizes):
        first = len(stored)
        stored += chunk.tolist()  # store, then read: a token reads itself too
        read += [sum(stored[: first + i + 1]) / (first + i + 1) for i in range(len(chunk))]
    return read

for sizes in ([4], [1, 3], [2, 2], [1, 1, 1, 1]):
    print(f"chunks of {sizes!s:<13} read {read_in_chunks(sizes)}")
    assert read_in_chunks(sizes) == [1.0, 1.5, 2.0, 4.0]

# %% id="see-mean" tags=["nbval-ignore-output"]
predict.beside(my_mean, read_in_chunks([3, 1])[-1], "the fourth token reads")

# %% [markdown] id="mean-explained"
# 4, not 2: the new token's own value is among those that it reads. How the tokens are cut into chunks makes no difference,
# as long as each is stored once, in order. A token that is stored twice, or a first one that is not stored, gives another
# mean for all that follow.
#
# ## Prefill and decode
#
# *Prefill* feeds the prompt, all of it at once. *Decode* feeds one token a step. Watch the shapes.

# %% id="shapes"
tokens = [vocab.bos_id, *vocab.encode("The owl wa")]
cache, fed, start = model.new_cache(), [8, 1, 1, 1], 0
for n_new in fed:
    ids = torch.tensor([tokens[start : start + n_new]])
    logits = model(ids, cache)
    print(f"fed {tuple(ids.shape)!s:<7} logits {tuple(logits.shape)!s:<11} "
          f"keys of layer 0: {tuple(cache.keys(0).shape)}")
    start += n_new
assert cache.token_ids[0].tolist() == tokens and cache.keys(0).shape == (1, 2, 11, 32)

# %% id="filling"
labels = [vocab.label(i).replace("<bos>", "bos") for i in tokens]
ax = plots.cache_filling(labels, fed, 14, "Each call writes the keys and values of its own tokens, once")
print("tokens in the cache after each call:", [sum(fed[: call + 1]) for call in range(len(fed))])

# %% [markdown] id="filling-explained"
# Prefill gives eight rows of logits, and only the last is used: it chooses the first new token. A decode step has one
# position: one query, one new key, one new value. The query is used in that step alone, so it is not stored. The keys are
# (rows, key/value heads, tokens, head dimension); only the third number grows.
#
# The cache knows how many tokens it holds, and so where the next one stands. Nobody passes positions.

# %% id="kept"
kept = [cache.keys(layer).clone() for layer in range(4)]
model(torch.tensor([vocab.encode("s")]), cache)
for layer, before in enumerate(kept):
    assert cache.keys(layer)[:, :, :11].equal(before) and cache.keys(layer).shape[2] == 12
    assert (cache.keys(layer).abs().sum(dim=(0, 1, 3)) > 0).all()  # every slot was written, the first one too
print("12 tokens now, and the first 11 keys of each layer are the same numbers as before")

# %% [markdown] id="choice-text"
# **What does the cache hold?** Choose one, and give a reason before you run the cell after it: `"answers"` to earlier
# prompts; `"hidden states"` of all layers; `"logits"` of all positions; `"queries"`; `"keys and values"` of each layer.

# %% id="guess-choice" tags=["nbval-ignore-output"]
my_choice = ...

# %% id="see-choice" tags=["nbval-ignore-output"]
REASONS = {
    "answers": "No text is looked up. The same prompt with another seed reads the same cache and goes elsewhere.",
    "hidden states": "A later token reads a layer through keys and values only. These were computed from the hidden "
                     "states, which are not needed again. Storing them would mean projecting them at each step.",
    "logits": "Only the last row is needed, once, to choose a token. No layer reads logits.",
    "queries": "A query asks for its own token, in its own step. Later tokens bring queries of their own.",
    "keys and values": "Right: for each layer, each key/value head and each token, one key and one value.",
}
predict.beside(my_choice, "keys and values", "the cache holds")
for choice, reason in REASONS.items():
    print(f"- {choice}: {reason}")

# %% [markdown] id="bytes-text"
# ## Bytes
#
# One token costs, in *each* layer, a key and a value for each key/value head. **Guess** the bytes of one token in a model
# with 32 layers, 8 key/value heads of 128 dimensions and 2 bytes a number.

# %% id="guess-bytes" tags=["nbval-ignore-output"]
my_bytes_a_token = ...

# %% id="bytes"
lesson = {"n_layer": 32, "n_kv_head": 8, "head_dim": 128}
token, one_text, eight = (kv_cache.kv_cache_bytes(**lesson, n_tokens=n, batch_size=b)
                          for n, b in ((1, 1), (4096, 1), (4096, 8)))
print(f"a token {token:,} bytes, that is {plots.say_bytes(token)}")
print(f"4,096 tokens {plots.say_bytes(one_text)}, eight such texts {plots.say_bytes(eight)}")
assert token == 2 * 32 * 8 * 128 * 2 == 131_072
assert one_text == 512 * 1024**2 and eight == 4 * 1024**3

# %% id="see-bytes" tags=["nbval-ignore-output"]
predict.beside(my_bytes_a_token, token, "bytes a token")

# %% [markdown] id="bytes-exercise-text"
# Forgetting the layers makes it 32 times too small, forgetting that keys *and* values are stored twice too small.
#
# ### Exercise `05.kv_bytes` · easy · 6 minutes
#
# Write the bytes of all keys and values. All six sizes are ints.

# %% id="exercise-kv-bytes" tags=["exercise:05.kv_bytes"]
def kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    ...

# %% id="check-kv-bytes" tags=["check:05.kv_bytes", "nbval-ignore-output"]
check("05.kv_bytes", kv_bytes)

# %% [markdown] id="real-bytes-text"
# Do real tensors agree? Three models with 8 query heads of 8 dimensions each and 2 layers, in float32: each query head has
# its own key/value head (MHA); four share one (GQA); all share one (MQA). Sixteen tokens are fed.

# %% id="real-bytes"
ids = torch.tensor([[vocab.bos_id, *vocab.encode("The owl was sad")]])
for name, n_kv_head in (("MHA", 8), ("GQA", 2), ("MQA", 1)):
    config = transformer.TransformerConfig(len(vocab), 2, 8, n_kv_head, n_embd=64, block_size=32)
    other = transformer.Transformer(config)
    cache = other.new_cache()
    other(ids, cache)
    measured = sum(tensor.nbytes for layer in range(2) for tensor in (cache.keys(layer), cache.values(layer)))
    print(f"{name}: keys {tuple(cache.keys(0).shape)}, {cache.n_tokens} tokens, {measured:>6} of "
          f"{cache.n_bytes_allocated} bytes used")
    assert measured == cache.n_bytes == kv_cache.kv_cache_bytes(2, n_kv_head, 8, 16, bytes_per_element=4)
    assert cache.n_bytes_allocated == 2 * measured  # the whole context of 32 is allocated at once

# %% [markdown] id="heads-explained"
# Fewer key/value heads, fewer bytes; the text is as long as before, and all 16 tokens are there. What is stored are the
# key/value heads, *before* they are shared out to the query heads: a cache that stores the shared copies has no gain.
#
# **Predict** before you move anything: Llama 2 7B has 32 key/value heads, Llama 3 8B has 8, both have 32 layers. By
# which factor do their caches differ at the same context?

# %% id="cache-panel"
widgets.explore_cache("Llama 3 8B")

# %% [markdown] id="panel-answers"
# **Find out by moving:** which of the models has the cheapest token, which the dearest? How many texts of 4,096 tokens fit
# into 16 GiB with Llama 3 8B?
# <details><summary>Answer</summary>The factor is 4. With 2 bytes a number the shipped tiny_llama has the cheapest token, 1 KiB, and of the large ones Falcon 7B, 8 KiB, since all its query heads share one key/value head. Llama 2 7B has the dearest, 512 KiB, more than Llama 3 70B with 320 KiB. 32 texts fit, and then there is no room for the weights.</details>
#
# ## Time
#
# Now the step that makes the n-th token, with a cache and without. **Guess:** at 512 tokens, how many times as long as at 32
# does a step take, without a cache and with one?

# %% id="guess-growth" tags=["nbval-ignore-output"]
my_growth_without, my_growth_with = ..., ...

# %% id="measure"
long_text = torch.tensor([vocab.encode_documents(text.load_documents("tales")[:3])[:512].tolist()])

def step_at(n, use_cache):
    """A function that does the work of one step, with n tokens in the context: the whole, or one behind a cache."""
    ids, cache = long_text[:, :n], model.new_cache()
    if not use_cache:
        return lambda: model(ids)
    model(ids[:, :-1], cache)
    def one_token():
        cache.crop(n - 1)
        model(ids[:, -1:], cache)
    return one_token

# %% id="fastest"
def milliseconds(run, repeats):
    """The fastest of several calls: what else runs on the machine can only make one slower."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    return min(times)

contexts, repeats = budget.choose(([32, 64, 128, 256, 384, 512], 9), ([32, 512], 3))

# %% id="time" tags=["nbval-ignore-output"]
steps = {"without a cache": False, "with a cache": True}
times = {name: [milliseconds(step_at(n, use), repeats) for n in contexts] for name, use in steps.items()}
for n, slow, fast in zip(contexts, *times.values(), strict=True):
    print(f"{n:>3} tokens: {slow:6.2f} ms without a cache, {fast:5.2f} ms with one")
ax = plots.curve(contexts, times, "Time of one step on this machine", "tokens in the context", "milliseconds")

# %% id="see-growth" tags=["nbval-ignore-output"]
growth = {name: series[-1] / series[0] for name, series in times.items()}
predict.beside(my_growth_without, growth["without a cache"], "without a cache, times as long")
predict.beside(my_growth_with, growth["with a cache"], "with a cache, times as long")

# %% [markdown] id="time-explained"
# Times depend on the machine, and a model as tiny as this one spends most of a cached step on calling operations, which
# costs the same at any length. So what grows is better *counted*. Feeding one token costs 2 operations for each number in
# the weight matrices, and `4 · n_head · head_dim` in each layer for each token that it reads, itself included.
# With a cache one token is fed; without, all n are.

# %% id="count"
config, counts = model.config, {"without a cache": [], "with a cache": []}
lengths = [64, 128, 256, 512]
for n in lengths:
    whole, one = step_cost.step_cost(config, 0, n), step_cost.step_cost(config, n - 1, 1)
    print(f"{n:>3} tokens: {whole.flops / 1e6:7.1f} million operations without a cache, {one.flops / 1e6:5.2f} with one; "
          f"cache read: {plots.say_bytes(one.cache_bytes)}")
    counts["without a cache"].append(whole.flops)
    counts["with a cache"].append(one.flops)
ax = plots.curve(lengths, {name: [flops / 1e6 for flops in series] for name, series in counts.items()},
                 "Operations of one step, counted", "tokens in the context", "million operations")

# %% id="count-laws"
cached = [step_cost.step_cost(config, n - 1, 1).flops for n in range(1, 513)]
whole = [step_cost.step_cost(config, 0, n).flops for n in range(1, 513)]
growing = [later - before for before, later in pairwise(whole)]
assert len({later - before for before, later in pairwise(cached)}) == 1  # the same growth everywhere: linear
assert len({later - before for before, later in pairwise(growing)}) == 1 and growing[1] > growing[0]  # quadratic
assert sum(cached) == whole[-1]
print(f"with a cache, each further token in the context adds {cached[1] - cached[0]:,} operations to a step;")
print(f"without one the second adds {growing[0]:,} and the last {growing[-1]:,}")
print(f"512 tokens, one by one behind a cache: {sum(cached):,} operations. In one pass: {whole[-1]:,}")
print(f"512 tokens, each time all: {sum(whole):,} operations, {sum(whole) / sum(cached):.0f} times as many")

# %% [markdown] id="count-explained"
# | | a step at n tokens | all steps up to n |
# |---|---|---|
# | without a cache | projections grow with n, attention with n² | with n² and n³ |
# | with a cache | projections stay, attention grows with n | with n and n² |
#
# A cache saves the old tokens' projections. It does not save the *reading*: each new query meets every stored key and value.

# %% id="reading"
llama = transformer.TransformerConfig(128_256, 32, 32, 8, 4096, 8192, n_inner=14_336)  # the shape of Llama 3 8B
for batch_size in (1, 8, 32):
    cost = step_cost.step_cost(llama, 4096, 1, batch_size, bytes_per_element=2)
    print(f"{batch_size:>2} texts of 4,096 tokens: a step reads {plots.say_bytes(cost.weight_bytes)} of weights, "
          f"{plots.say_bytes(cost.cache_bytes)} of cache")
assert step_cost.step_cost(llama, 4096, 1, 8, 2).cache_bytes == 4 * 1024**3
assert step_cost.step_cost(llama, 4096, 1, 32, 2).cache_bytes > cost.weight_bytes

# %% [markdown] id="reading-explained"
# The weights are read once for the whole batch, the cache once for each text. With enough texts, or long ones, reading the
# cache is the larger part of a decode step.
#
# ## What these figures leave out
#
# The weights themselves; activations, which exist for a moment and are largest in a prefill; what the memory allocator
# keeps in reserve or cannot use; Python and its libraries. The process's own memory shows all of them together.

# %% id="process" tags=["nbval-ignore-output"]
process, rows = psutil.Process(), budget.choose(32, 8)
print(f"the process at first:     {plots.say_bytes(process.memory_info().rss)}, "
      f"with {plots.say_bytes(4 * model.n_parameters())} of weights")
cache = model.new_cache(rows)
print(f"with an empty cache:      {plots.say_bytes(process.memory_info().rss)}, "
      f"{plots.say_bytes(cache.n_bytes_allocated)} allocated")
model(long_text.repeat(rows, 1), cache)
print(f"after a prefill:          {plots.say_bytes(process.memory_info().rss)}, {plots.say_bytes(cache.n_bytes)} used")

# %% id="process-bytes"
expected = kv_cache.kv_cache_bytes(4, 2, 32, 512, rows, bytes_per_element=4)
assert cache.n_bytes == cache.n_bytes_allocated == expected
print("the cache is what the formula says; the process is not")

# %% [markdown] id="process-explained"
# The empty cache usually shows in full: it is allocated for the whole context, whatever will be stored in it. After the
# prefill there is more again, though the cache is no larger: activations, and memory that the allocator keeps for later.
#
# ### Exercise `05.generate_cached` · hard · 15 minutes
#
# Write `generate_cached(model, prompt_ids, max_new_tokens)`: the list of new ids only, each the likeliest (at a tie the lowest
# id). Every token is fed once; the prompt in any chunks, then one token a step; the last new one not at all. No id is special;
# 0 new tokens give `[]`. Use `model.new_cache()` and `model(token_ids, cache)`, with int64 token ids (1, T).

# %% id="exercise-generate-cached" tags=["exercise:05.generate_cached"]
def generate_cached(model, prompt_ids, max_new_tokens):
    ...

# %% id="check-generate-cached" tags=["check:05.generate_cached", "nbval-ignore-output"]
check("05.generate_cached", generate_cached)

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A prompt of 100 tokens, 50 new ones. How many tokens does the cache hold in the end, and how many calls of the model were there?</summary>149: the last new token is never fed. 50 calls: one prefill that gives the first new token, and 49 decode steps.</details>
# <details><summary>2. Someone replaces 32 key/value heads by 8. Does the model now write shorter texts?</summary>No. The cache is a quarter as large at the same number of tokens. The length of the text has its own limits.</details>
# <details><summary>3. Does a cache make the cost of a step independent of the context?</summary>No. The projections of old tokens are saved, but the new query still reads every stored key and value, so attention and the bytes read grow with the context.</details>
# <details><summary>4. You correct a typo at the beginning of a prompt of 1,000 tokens. How much of its cache can still be used?</summary>What stands before the typo. Every later token has read it, so its keys and values are those of another text, from the second layer on at the latest.</details>
# <details><summary>5. A cache gives another text than the whole computation. Which has gone wrong?</summary>The text cannot tell. Compare logits, within a tolerance: that is the next notebook.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Prefill feeds the prompt at once, decode one token a step. The cache holds keys and values of each layer: not answers, not
# hidden states. 2 · layers · key/value heads · head dimension · bytes a number is the price of a token. It saves projections,
# and the reading still grows.
#
# **Sources.** N. Shazeer, [*Fast transformer decoding*](https://arxiv.org/abs/1911.02150), 2019 (MQA). J. Ainslie et al.,
# [*GQA*](https://arxiv.org/abs/2305.13245), 2023. Models' shapes: their `config.json` as listed in
# [litgpt](https://github.com/Lightning-AI/litgpt), and [GPT-2](https://github.com/openai/gpt-2). Checked on 2026-11-30.
