# %% [markdown] id="title"
# # 05 · The KV cache
#
# **After this notebook you can** tell prefill from decode by the shapes; say what a cache holds and what it does not;
# compute its bytes, for models that keep every token in every layer and for two kinds that keep less, and find them in real
# tensors; say which work a cache saves and which still grows; tell how fast a step can be at best on a given GPU; and write
# a loop that feeds each token exactly once.
#
# **You need** notebook 04. **Time:** 80 minutes. A teaching example, not a production benchmark.
# **Before:** [04 The tiny transformer](04_tiny_transformer.ipynb) **Next:** [06 Is the cache right?](06_is_the_cache_right.ipynb)

# %% id="setup"
import textwrap
import time

import psutil
import torch

from course_utils import generation, kv_cache, plots, predict, step_cost, text, transformer, widgets
from course_utils.budget import choose
from course_utils.checking import check, hint, solution
from course_utils.checkpoint import load_model
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria

torch.set_grad_enabled(False)  # nothing is trained here
torch.set_num_threads(1)  # times are compared below; with more threads they depend on what else the machine does
model, vocab = load_model("tiny_llama")

# %% [markdown] id="again-text"
# ## The same work, again and again
#
# A text grows by one token a step. Without a cache, the loop shows the model the whole text at each step, the old tokens
# too. To see how much work that is, we count *positions*: one token that goes through the model once is one position.
#
# **Guess:** a prompt of 20 tokens is continued by 30 new ones. How many positions go through the model in all, without a
# cache and with one?

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

# %% id="see-positions" tags=["nbval-ignore-output"]
predict.beside(my_positions_without, sum(without), "without a cache")
predict.beside(my_positions_with, sum(cached), "with a cache")

# %% [markdown] id="positions-explained"
# With a cache, each token goes through the model once. The last new token does not go through at all, because nobody needs
# the scores after it. Together that is 20 + 29 = 49 positions. Without a cache, the number of positions grows with the
# square of the length.
#
# ## Why the old work may be kept
#
# A token reads its own key and value and those of all tokens before it. In a causal model these do not change when a token
# is added, as notebook 04 has shown. So they can be stored and used again. Here is a small case: four tokens with the
# values 1, 2, 3 and 10. All scores are equal, so each token reads the plain mean of its own value and all values before it.
# **Guess** what the fourth token reads.

# %% id="guess-mean" tags=["nbval-ignore-output"]
my_mean = ...

# %% id="mean"
values = torch.tensor([1.0, 2.0, 3.0, 10.0])

def read_in_chunks(sizes):
    """What each token reads if the four come in chunks of these sizes; stored values are never computed again."""
    stored, read = [], []
    for chunk in values.split(sizes):
        first = len(stored)
        stored += chunk.tolist()  # store first, then read: a token reads its own value too
        read += [sum(stored[: first + i + 1]) / (first + i + 1) for i in range(len(chunk))]
    return read

for sizes in ([4], [1, 3], [2, 2], [1, 1, 1, 1]):
    print(f"chunks of {sizes!s:<13} read {read_in_chunks(sizes)}")

# %% id="see-mean" tags=["nbval-ignore-output"]
predict.beside(my_mean, read_in_chunks([3, 1])[-1], "the fourth token reads")

# %% id="assert-kept" tags=["assertions"]
assert all(read_in_chunks(sizes) == [1.0, 1.5, 2.0, 4.0] for sizes in ([4], [1, 3], [2, 2], [3, 1], [1, 1, 1, 1]))
for beginning in ([1.0, 1.0], []):  # the first token stored twice, or not at all
    for last in (1, 2, 3):
        stored = [*beginning, *values[1 : last + 1].tolist()]
        assert sum(stored) / len(stored) != [1.0, 1.5, 2.0, 4.0][last]
assert (sum(without), sum(cached)) == (sum(range(20, 50)), 20 + 29)

# %% [markdown] id="mean-explained"
# The answer is 4, not 2, because the new token's own value is one of those that it reads. It makes no difference how the
# tokens are cut into *chunks*, groups that are fed together, as long as each token is stored once and in order. If the
# first token were stored twice, or not at all, every later token would read another mean.
#
# ## Prefill and decode
#
# A text is made in two phases. *Prefill* feeds the whole prompt in one call. *Decode* then feeds one token a step. Watch
# the shapes.

# %% id="shapes"
tokens = [vocab.bos_id, *vocab.encode("The owl wa")]
cache, fed, start = model.new_cache(), [8, 1, 1, 1], 0
for n_new in fed:
    ids = torch.tensor([tokens[start : start + n_new]])
    logits = model(ids, cache)
    print(f"fed {tuple(ids.shape)!s:<7} logits {tuple(logits.shape)!s:<11} "
          f"keys of layer 0: {tuple(cache.keys(0).shape)}")
    start += n_new

# %% id="filling"
labels = [vocab.label(i).replace("<bos>", "bos") for i in tokens]
ax = plots.cache_filling(labels, fed, 14, "Each call writes the keys and values of its own tokens, once")
print("tokens in the cache after each call:", [sum(fed[: call + 1]) for call in range(len(fed))])

# %% id="scores-computed"
print(textwrap.fill(plots.prefill_and_decode(labels, fed[0]), 100))

# %% [markdown] id="filling-explained"
# Prefill returns eight rows of logits. Only the last one is used: it chooses the first new token. A decode step has one
# position, and so one query, one new key and one new value. Its query meets every stored key, and the scores that result
# are one row of the last picture. After that step nobody needs the query again, so it is not stored.
#
# The keys of a layer have the shape (rows, key/value heads, tokens, head dimension). Only the third number grows. The cache
# knows how many tokens it holds, and therefore where the next one stands. You never pass positions.

# %% id="kept"
n_kept, kept = cache.n_tokens, [cache.keys(layer).clone() for layer in range(4)]
model(torch.tensor([vocab.encode("s")]), cache)
same = [torch.equal(before, cache.keys(layer)[:, :, :n_kept]) for layer, before in enumerate(kept)]
print(f"{cache.n_tokens} tokens now; the first {n_kept} keys of layers 0 to 3 are the same numbers as before: {same}")

# %% id="assert-shapes" tags=["assertions"]
assert cache.token_ids[0, :11].tolist() == tokens and kept[0].shape == (1, 2, n_kept, 32) and all(same)
filled = [cache.keys(layer).abs().sum(dim=(0, 1, 3)) for layer in range(4)]
assert all(len(slots) == n_kept + 1 and (slots > 0).all() for slots in filled)  # every slot was written, the first one too

# %% [markdown] id="choice-text"
# **What does the cache hold?** Choose one of these, and say why, before you run the cell after it: `"answers"` to earlier
# prompts; the `"hidden states"` of all layers; the `"logits"` of all positions; `"queries"`; or the `"keys and values"` of
# each layer.

# %% id="guess-choice" tags=["nbval-ignore-output"]
my_choice = ...

# %% id="see-choice" tags=["nbval-ignore-output"]
REASONS = {
    "answers": "No: no text is looked up. The same prompt with another seed reads the same cache and goes elsewhere.",
    "hidden states": "No: a later token reads a layer only through keys and values. Hidden states would have to be "
                     "multiplied by the matrices again at each step.",
    "logits": "No: only the last row is needed, once, to choose a token. No layer reads logits.",
    "queries": "No: a query belongs to one token and one step. Later tokens bring their own queries.",
    "keys and values": "Yes: for each layer, each key/value head and each token, one key and one value.",
}
predict.beside(my_choice, "keys and values", "the cache holds")
for choice, reason in REASONS.items():
    print(f"- {choice}: {reason}")

# %% [markdown] id="bytes-text"
# ## Bytes
#
# In *each* layer, a token costs one key and one value for each key/value head. **Guess** how many bytes that is in a model
# with 32 layers, 8 key/value heads of 128 dimensions, and 2 bytes a number.

# %% id="guess-bytes" tags=["nbval-ignore-output"]
my_bytes_a_token = ...

# %% id="bytes"
lesson = {"n_layer": 32, "n_kv_head": 8, "head_dim": 128}
token, one_text, eight = (kv_cache.kv_cache_bytes(**lesson, n_tokens=n, batch_size=b)
                          for n, b in ((1, 1), (4096, 1), (4096, 8)))
print(f"one token: {token:,} bytes, that is {plots.say_bytes(token)}")
print(f"one text of 4,096 tokens: {plots.say_bytes(one_text)}; eight such texts: {plots.say_bytes(eight)}")

# %% id="see-bytes" tags=["nbval-ignore-output"]
predict.beside(my_bytes_a_token, token, "bytes a token")

# %% [markdown] id="bytes-exercise-text"
# Two slips are easy to make. If you forget the layers, the result is 32 times too small. If you count the keys and forget
# the values, it is half of what it should be.
#
# ### Exercise `05.kv_bytes` · easy · 6 minutes
#
# Write `kv_bytes(…)` with the six arguments below, all of them ints. It returns the bytes of all keys and values.

# %% id="exercise-kv-bytes" tags=["exercise:05.kv_bytes"]
def kv_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    ...

# %% id="check-kv-bytes" tags=["check:05.kv_bytes", "nbval-ignore-output"]
check("05.kv_bytes", kv_bytes)

# %% [markdown] id="real-bytes-text"
# Do real tensors agree with the formula? The next cell builds three models with 2 layers and 8 query heads of 8 dimensions,
# in float32. In the first, each query head has its own key/value head (*multi-head attention*, MHA). In the second, four
# query heads share one (*grouped-query*, GQA). In the third, all of them share one (*multi-query*, MQA). Each is fed 16
# tokens.

# %% id="real-bytes"
ids = torch.tensor([[vocab.bos_id, *vocab.encode("The owl was sad")]])
measured, caches = {}, {}
for name, n_kv_head in (("MHA", 8), ("GQA", 2), ("MQA", 1)):
    config = transformer.TransformerConfig(len(vocab), 2, 8, n_kv_head, n_embd=64, block_size=32)
    other = transformer.Transformer(config)
    own = caches[name] = other.new_cache()
    other(ids, own)
    measured[name] = sum(own.keys(layer).nbytes + own.values(layer).nbytes for layer in range(2))
    formula = kv_cache.kv_cache_bytes(2, n_kv_head, 8, 16, bytes_per_element=4)
    print(f"{name}: keys {tuple(own.keys(0).shape)}, {measured[name]:>6,} bytes; by the formula {formula:>6,}; "
          f"allocated {own.n_bytes_allocated:,}")

# %% [markdown] id="heads-explained"
# Fewer key/value heads take fewer bytes, and all 16 tokens are there in each case. (Twice as much is allocated, since this
# model's context is 32 tokens.) What is stored are the key/value heads themselves, *before* they are shared out, and not a
# copy for each query head.

# %% [markdown] id="windows-text"
# ## Models that keep less
#
# The formula holds where each layer keeps a key and a value of every token. Two kinds of models keep less.
#
# - With a *sliding window*, a layer looks back w tokens and can forget all earlier ones. For such a layer, put min(n, w)
#   into the formula in place of n tokens.
# - With *latent attention* (MLA), a layer keeps one vector for each token, the *latent*, and makes the keys and values of
#   all heads from it when they are needed. The bytes are layers · length of the latent · tokens · texts · bytes a number,
#   without the factor 2.
#
# **Guess:** gpt-oss-120b has a window of 128 tokens in every other layer. How many times smaller is its cache at 32,768
# tokens because of that?

# %% id="guess-window" tags=["nbval-ignore-output"]
my_times_smaller = ...

# %% id="windows" tags=["nbval-ignore-output"]
n = 32_768
kept_all = kv_cache.kv_cache_bytes(n_layer=36, n_kv_head=8, head_dim=64, n_tokens=n)
half = kv_cache.kv_cache_bytes(18, 8, 64, n) + kv_cache.kv_cache_bytes(18, 8, 64, min(n, 128))
print(f"gpt-oss-120b: {plots.say_bytes(half)} with its windows, {plots.say_bytes(kept_all)} if all layers kept all tokens")
mistral = kv_cache.kv_cache_bytes(n_layer=32, n_kv_head=8, head_dim=128, n_tokens=min(n, 4096))
print(f"Mistral 7B v0.1: {plots.say_bytes(mistral)}, since each of its layers looks back 4,096 tokens")
latent = kv_cache.latent_cache_bytes(n_layer=61, n_latent=512 + 64, n_tokens=n)  # 64: a rotated key for all heads
heads = kv_cache.kv_cache_bytes(n_layer=61, n_kv_head=128, head_dim=128, n_tokens=n)
print(f"DeepSeek-V3: {plots.say_bytes(latent)} of latents; 128 key/value heads of 128 would take {plots.say_bytes(heads)}")
predict.beside(my_times_smaller, kept_all / half, "gpt-oss-120b: times smaller")

# %% id="assert-bytes" tags=["assertions"]
for name, n_kv_head in (("MHA", 8), ("GQA", 2), ("MQA", 1)):
    assert measured[name] == caches[name].n_bytes == kv_cache.kv_cache_bytes(2, n_kv_head, 8, 16, bytes_per_element=4)
    assert caches[name].n_bytes_allocated == 2 * measured[name] and caches[name].n_tokens == 16
assert token == 2 * 32 * 8 * 128 * 2 == 131_072 and one_text == 512 * 1024**2 and eight == 4 * 1024**3
assert 1.9 < kept_all / half < 2 and mistral == 512 * 1024**2 and latent == 61 * 576 * 32_768 * 2 < heads / 50

# %% [markdown] id="panel-text"
# A window saves nothing in the layers that keep everything, so the factor is just below 2. Formulas for other models differ
# again: in some, a part of the layers keeps no tokens, only a state of fixed size.
#
# **Predict** before you move anything in the panel: Llama 2 7B has 32 key/value heads, Llama 3 8B has 8, and both have 32
# layers. By which factor do their caches differ at the same context?

# %% id="cache-panel"
widgets.explore_cache("Llama 3 8B")

# %% [markdown] id="panel-answers"
# **Find out by moving.** In which model does a token take the fewest bytes, and in which the most? How many texts of 4,096
# tokens fit into 16 GiB with Llama 3 8B? What happens to Mistral's line beyond 4,096 tokens?
# <details><summary>Answer</summary>The factor that you predicted is 4. With 2 bytes a number, a token takes the fewest bytes in the shipped tiny_llama, 1 KiB. Among the large models it takes the fewest in Falcon 7B, 8 KiB, where all query heads share one key/value head. It takes the most in Llama 2 7B, 512 KiB; in Llama 3 70B it takes 320 KiB. In 16 GiB, 32 texts fit, and then there is no room for the weights. Mistral's line is flat beyond 4,096 tokens.</details>
#
# ## Time
#
# Now we time the step that makes the n-th token. **Guess:** how many times as long does it take at 512 tokens as at 32, for
# one text, without a cache and with one?

# %% id="guess-growth" tags=["nbval-ignore-output"]
my_growth_without, my_growth_with = ..., ...

# %% id="measure"
long_text = torch.tensor([vocab.encode_documents(text.load_documents("tales")[:3])[:512].tolist()])

def step_at(n, use_cache, rows=1):
    """A function that does the work of one step with n tokens: all of them, or the last one behind a cache."""
    ids, cache = long_text[:, :n].repeat(rows, 1), model.new_cache(rows)
    if not use_cache:
        return lambda: model(ids)
    model(ids[:, :-1], cache)
    def one_token():
        cache.crop(n - 1)
        model(ids[:, -1:], cache)
    return one_token

# %% id="fastest"
def fastest(runs, rounds):
    """The fastest call of each function, in milliseconds: other programs on the machine can only make a call slower."""
    times = [[] for _ in runs]
    for _ in range(rounds):
        for run, series in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            series.append(1000 * (time.perf_counter() - start))
    return [min(series) for series in times]

contexts, rounds = choose(([32, 64, 128, 256, 384, 512], 12), ([32, 512], 3))

# %% id="time" tags=["nbval-ignore-output"]
steps = {"one text, no cache": (False, 1), "32 texts, cache": (True, 32), "one text, cache": (True, 1)}
times = {name: fastest([step_at(n, *how) for n in contexts], rounds) for name, how in steps.items()}
for index, n in enumerate(contexts):
    print(f"{n:>3} tokens:", "; ".join(f"{name} {series[index]:.2f} ms" for name, series in times.items()))
ax = plots.curve(contexts, times, "Time of one step on this machine", "tokens in the context", "milliseconds (log)",
                 log=True)

# %% id="see-growth" tags=["nbval-ignore-output"]
growth = {name: series[-1] / series[0] for name, series in times.items()}
predict.beside(my_growth_without, growth["one text, no cache"], "no cache, times as long")
predict.beside(my_growth_with, growth["one text, cache"], "with a cache, times as long")
print(f"with a cache, 32 texts: {growth['32 texts, cache']:.1f} times as long")

# %% [markdown] id="time-explained"
# Times depend on the machine. This model is also very small. For one text, most of the time of a cached step is spent on
# starting the operations, and that takes equally long at any length. With 32 texts the step reads 32 caches, and the growth
# can be seen.
#
# To see what grows, it is better to *count* operations. To feed one token costs 2 operations for each number in the weight
# matrices, a multiplication and an addition. In each layer, `4 · n_head · head_dim` operations come on top for each token
# that it reads, itself included. With a cache one token is fed in a step; without one, all n are.

# %% id="count"
config, counts = model.config, {"without a cache": [], "with a cache": []}
lengths = [64, 128, 256, 512]
for n in lengths:
    whole, one = step_cost.step_cost(config, 0, n), step_cost.step_cost(config, n - 1, 1)
    print(f"{n:>3} tokens: {whole.flops / 1e6:7.1f} million operations without a cache, {one.flops / 1e6:5.2f} with one; "
          f"cache read: {plots.say_bytes(one.cache_bytes)}")
    counts["without a cache"].append(whole.flops / 1e6)
    counts["with a cache"].append(one.flops / 1e6)
ax = plots.curve(lengths, counts, "Operations of one step, counted", "tokens in the context", "million operations (log)",
                log=True)

# %% id="count-laws"
one_token = [step_cost.step_cost(config, n - 1, 1).flops for n in range(1, 513)]  # the step at n tokens, with a cache
all_tokens = [step_cost.step_cost(config, 0, n).flops for n in range(1, 513)]  # and without one
print(f"with a cache, each further token in the context adds {one_token[1] - one_token[0]:,} operations to a step;")
print(f"without one, the second token adds {all_tokens[1] - all_tokens[0]:,}, the last {all_tokens[-1] - all_tokens[-2]:,}")
print(f"512 tokens one by one, with a cache: {sum(one_token):,} operations; all in one pass: {all_tokens[-1]:,}")
print(f"512 tokens, each time all of them: {sum(all_tokens):,} operations, {sum(all_tokens) / sum(one_token):.0f} times as many")

# %% [markdown] id="count-explained"
# *Projections* are the products of the tokens' vectors with the weight matrices.
#
# | | a step at n tokens | all steps up to n |
# |---|---|---|
# | without a cache | projections grow with n, attention with n² | with n² and n³ |
# | with a cache | projections stay the same, attention grows with n | with n and n² |
#
# A cache saves all the work of the old tokens. It does not save the new token's *reading*: each new query meets every
# stored key and value. The next cell counts what a step must read from memory, for a model of the shape of Llama 3 8B.

# %% id="reading"
llama = transformer.TransformerConfig(128_256, 32, 32, 8, 4096, 8192, n_inner=14_336)
for batch_size in (1, 8, 32):
    cost = step_cost.step_cost(llama, 4096, 1, batch_size, bytes_per_element=2)
    print(f"{batch_size:>2} × 4,096 tokens: a step reads {plots.say_bytes(cost.weight_bytes)} of weights "
          f"and {plots.say_bytes(cost.cache_bytes)} of cache")

# %% [markdown] id="reading-explained"
# The weights are read once for the whole batch. The cache is read once for each text. For 32 texts of this length, the
# cache is already the larger part.
#
# ## Speed as bandwidth
#
# To be used, a number must be read from memory, and a GPU reads only so many bytes a second. This is its *memory
# bandwidth*. NVIDIA states 3.35 TB a second for its H100 SXM. We take that figure from the data sheet; we have not measured
# it. Bytes read, divided by bytes a second, give the time that a step takes at the least. **Guess** it for one text of
# 4,096 tokens, in milliseconds.

# %% id="guess-bandwidth" tags=["nbval-ignore-output"]
my_milliseconds = ...

# %% id="bandwidth" tags=["nbval-ignore-output"]
BANDWIDTH = 3.35e12  # bytes a second, as the data sheet of the H100 SXM says; put that of your own GPU here
batch_sizes = (1, 2, 4, 8, 16, 32)
a_token = {}
for context in (512, 4096):
    costs = [step_cost.step_cost(llama, context, 1, batch_size, bytes_per_element=2) for batch_size in batch_sizes]
    at_least = [1000 * cost.bytes_read / BANDWIDTH for cost in costs]
    each = a_token[f"{context:,} tokens"] = [step / texts for step, texts in zip(at_least, batch_sizes, strict=True)]
    print(f"context {context:,}: one text {at_least[0]:.2f} ms a step; 32 texts {at_least[-1]:.2f} ms a step, "
          f"that is {each[-1]:.2f} ms a token")
predict.beside(my_milliseconds, at_least[0], "one text of 4,096 tokens, ms a step")
ax = plots.curve(batch_sizes, a_token, "Llama 3 8B on an H100: the least time for a token", "texts in the batch",
                 "milliseconds a token (log)", log=True)

# %% id="assert-cost" tags=["assertions"]
from itertools import pairwise

growing = [later - before for before, later in pairwise(all_tokens)]
assert len({later - before for before, later in pairwise(one_token)}) == 1  # the same growth everywhere: linear
assert len({later - before for before, later in pairwise(growing)}) == 1 and growing[1] > growing[0]  # quadratic
assert sum(one_token) == all_tokens[-1]
weights = step_cost.step_cost(llama, 4096, 1, 1, 2).weight_bytes
assert round(weights / 1024**3, 2) == 13.98 and step_cost.step_cost(llama, 4096, 1, 8, 2).cache_bytes == 4 * 1024**3
assert step_cost.step_cost(llama, 4096, 1, 32, 2).cache_bytes > weights
assert 4 < 1000 * weights / 3.35e12 < 5 and 12 < a_token["4,096 tokens"][0] / a_token["4,096 tokens"][-1] < 20

# %% [markdown] id="bandwidth-explained"
# One text alone pays for reading all the weights: 13.98 GiB take more than 4 ms. In a batch, the texts share that cost, and
# this is why servers fill batches (notebook 10). Each text also pays for reading its own cache, so with long contexts a
# batch helps less. All of these are *lower bounds*: arithmetic takes time as well, and a program may not reach the stated
# bandwidth.
#
# ## What these figures leave out
#
# The cache is not all of the memory. There are the weights. There are *activations*, the numbers inside a pass, which exist
# for a moment and are largest in a prefill. The memory allocator keeps a reserve. And there are Python and its libraries.
# The next cell asks for the memory of the whole process.

# %% id="process" tags=["nbval-ignore-output"]
process, rows = psutil.Process(), choose(32, 8)
print(f"the process at first:     {plots.say_bytes(process.memory_info().rss)}, "
      f"with {plots.say_bytes(4 * model.n_parameters())} of weights")
large = model.new_cache(rows)
print(f"with an empty cache:      {plots.say_bytes(process.memory_info().rss)}, "
      f"{plots.say_bytes(large.n_bytes_allocated)} allocated")
model(long_text.repeat(rows, 1), large)
print(f"after a prefill:          {plots.say_bytes(process.memory_info().rss)}, {plots.say_bytes(large.n_bytes)} used")

# %% id="assert-process" tags=["assertions"]
assert large.n_bytes == large.n_bytes_allocated == kv_cache.kv_cache_bytes(4, 2, 32, 512, rows, bytes_per_element=4)

# %% [markdown] id="process-explained"
# The cache has exactly the bytes of the formula. The process has far more, and it need not grow by exactly the size of the
# cache. An empty cache is allocated for the whole context at once. A prefill may make the process larger although the cache
# is no larger than before: it needs room for activations, and the allocator keeps some memory for later.

# %% [markdown] id="generate-exercise-text"
# ### Exercise `05.generate_cached` · hard · 15 minutes
#
# Write `generate_cached(model, prompt_ids, max_new_tokens)`. It returns the list of the new ids, without the prompt. Each
# new id is the likeliest one; if several are equally likely, it is the lowest of these. Use `model.new_cache()` and
# `model(token_ids, cache)`, where `token_ids` is an int64 tensor (1, T).
#
# - Feed the prompt in chunks of any size, then one new token a step. Every token is fed exactly once, except the last new
#   token, which is not fed.
# - No id is special, so nothing ends the text early. For 0 new tokens return `[]`.
#
# For example, with a prompt of 5 ids and 3 new tokens, you may feed the 5, then the first new id, then the second: three
# calls.

# %% id="exercise-generate-cached" tags=["exercise:05.generate_cached"]
def generate_cached(model, prompt_ids, max_new_tokens):
    ...

# %% id="check-generate-cached" tags=["check:05.generate_cached", "nbval-ignore-output"]
check("05.generate_cached", generate_cached)

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | a cache remembers earlier answers | it holds keys and values of one text, and saves computing them again |
# | with a cache each step costs the same | the reading grows with the context |
# | fewer key/value heads mean a shorter context | the same tokens are kept, in fewer bytes |
# | a GPU with twice the bandwidth writes twice as fast | only the lower bound halves; we have measured no GPU |
#
# **Further, without a check:** measure the bandwidth of your own machine. Make a tensor, `x = torch.ones(50_000_000)`, and
# time its sum with `fastest([x.sum], 5)`. It holds 200 million bytes. How many tokens a second could Llama 3 8B write on
# your machine at best?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A prompt of 100 tokens is fed at once, and 50 new tokens are made. How many tokens does the cache hold in the end, and how many calls of the model were there?</summary>It holds 149, since the last new token is never fed. There were 50 calls: one prefill, which gives the first new token, and 49 decode steps.</details>
# <details><summary>2. Someone replaces 32 key/value heads by 8. Does the model now write shorter texts?</summary>No. The cache is a quarter as large at the same number of tokens. The length of the text has its own limits.</details>
# <details><summary>3. Does a cache make the cost of a step independent of the context?</summary>No. It saves the work of the old tokens. But the new query still reads every stored key and value, so attention and the bytes read grow with the context.</details>
# <details><summary>4. You correct a typo at the beginning of a prompt of 1,000 tokens. How much of its cache can still be used?</summary>You can keep the part before the typo. Every later token has read the typo, so the keys and values of these tokens belong to another text, from the second layer on at the latest.</details>
# <details><summary>5. With a cache you get another text than without one. Which of the two is wrong?</summary>The texts alone cannot tell you. Compare the logits, within a tolerance: that is the next notebook.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Prefill feeds the prompt at once, and decode feeds one token a step. The cache holds the keys and values of each layer. A
# token costs 2 · layers · key/value heads · head dimension · bytes a number, and less with windows or latents. A cache
# saves the work of the old tokens. The reading still grows with the context, and reading from memory bounds the speed.
# **Next:** [06 Is the cache right?](06_is_the_cache_right.ipynb)
#
# **Sources.** N. Shazeer, [*Fast transformer decoding*](https://arxiv.org/abs/1911.02150), 2019: one key/value head for all, and why bandwidth matters. J. Ainslie et al., [*GQA*](https://arxiv.org/abs/2305.13245), 2023: groups. A. Jiang et al., [*Mistral 7B*](https://arxiv.org/abs/2310.06825), 2023: the window.
# DeepSeek-AI, [*DeepSeek-V2*](https://arxiv.org/abs/2405.04434), 2024: latent attention. R. Pope et al., [*Efficiently scaling transformer inference*](https://arxiv.org/abs/2211.05102), 2022: times from bytes and operations. Bandwidth: [NVIDIA H100](https://www.nvidia.com/en-us/data-center/h100/). Shapes: the models' `config.json` as listed in
# [litgpt](https://github.com/Lightning-AI/litgpt), the defaults of transformers 5.24, and [GPT-2](https://github.com/openai/gpt-2). Checked on 2026-11-30.
