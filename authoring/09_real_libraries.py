# %% [markdown] id="title"
# # 09 · Real libraries
#
# **After this notebook you can** open a model's folder with another program and show that it computes the same; use
# the cache of transformers and know which mistakes it does not report; pad a batch; say your sampling settings in the
# words of three libraries; and read the commands that serve a model on many GPUs.
#
# **You need** notebooks 03, 05 and 06. **Time:** 60 minutes.

# %% id="setup"
import json
import math
import os
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is looked up on the network
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from course_utils import checkpoint, kv_cache, plots, predict, sampling, text, translate
from course_utils.checking import check
from course_utils.compare_logits import compare_logits
from course_utils.sampling import SamplingParams

transformers.utils.logging.disable_progress_bar()

# %% [markdown] id="folder-text"
# ## One folder, two programs
#
# Our model lies in a folder, laid out as the Hugging Face ecosystem does it: a configuration, a vocabulary and what its
# special tokens mean, and the weights as plain numbers. Whoever knows the layout can open it. Until now only our own code has.
# Everything that it computes wrongly but consistently, it would compute wrongly in every test of its own. A second program
# that others wrote is a second opinion.

# %% id="folder"
folder = text.DATA / "tiny_llama"
for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
    print(f"{name:>22}: {(folder / name).stat().st_size:>9,} bytes")
config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
for name in ("model_type", "vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim"):
    print(f"{name:>22}: {config[name]}")

# %% id="load"
ours, vocab = checkpoint.load_model("tiny_llama")
theirs = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = AutoTokenizer.from_pretrained(folder)
torch.set_grad_enabled(False)  # nothing is trained here
prompt = "Once upon a time there was a fox. "
ids = tokenizer(prompt, return_tensors="pt").input_ids
assert ids[0].tolist() == [vocab.bos_id, *vocab.encode(prompt)]
assert isinstance(theirs, LlamaForCausalLM) and not theirs.training
print(type(theirs).__name__, "and", type(ours).__name__, "read the same", ids.shape[1], "ids")

# %% [markdown] id="difference-text"
# `from_pretrained` gives the model in eval mode. Compare ids before logits: a tokenizer that puts `<bos>` in front, or
# leaves it out, changes every number after it.
#
# **Guess** the largest difference between the two programs' logits, over all positions and tokens, as a power of ten:
# -3 stands for about 0.001. The logits themselves reach 10 and more.

# %% id="guess-difference" tags=["nbval-ignore-output"]
my_power = ...

# %% id="difference" tags=["nbval-ignore-output"]
full = theirs(ids).logits
report = compare_logits(ours(ids), full)
print(report)
predict.beside(my_power, math.floor(math.log10(max(report.max_abs_diff, 1e-17))), "power of ten")
assert report.equal

# %% [markdown] id="cache-text"
# Not 0: the two round at different places. We compute the angles of the rotation in float64 and transformers in float32, for
# example, and a sum may run in another order. A wrong row of a matrix would differ in the first digit.
#
# ## The prefix, its cache, the last token
#
# Now in two calls: all tokens but the last fill a cache, then only the last is fed. **Guess:** how many tokens does the *first*
# call's cache hold, after the second call? The prompt has 35 ids.

# %% id="guess-cached" tags=["nbval-ignore-output"]
my_n_cached = ...

# %% id="cache"
first = theirs(ids[:, :-1])
print(type(first.cache).__name__, "holds", first.cache.get_seq_length(), "tokens")
print("keys of a layer:", tuple(first.cache.layers[0].keys.shape), " (B, K, T, D)")
last = theirs(ids[:, -1:], cache=first.cache)
print("logits of the second call:", tuple(last.logits.shape))

# %% id="see-cached" tags=["nbval-ignore-output"]
own = ours.new_cache()
ours(ids[:, :-1], own)
print("theirs, cached, with theirs, full:", compare_logits(last.logits[0], full[0, -1:]))
print("theirs, cached, with ours, cached:", compare_logits(last.logits, ours(ids[:, -1:], own)))
predict.beside(my_n_cached, first.cache.get_seq_length(), "tokens in the first call's cache")
assert compare_logits(last.logits[0], full[0, -1:]) and first.cache.get_seq_length() == ids.shape[1] == own.n_tokens

# %% [markdown] id="names-text"
# The second call appended to the cache that it was given: there is one object, and it grew. Feed it once more and the
# last token is in it twice. To go on from a prefix in two ways, copy the cache first. Positions and mask were not
# given: the library counts what the cache holds, as ours does.
#
# In most code that you will read, the argument is called `past_key_values`. In transformers 5.24 it is `cache`:

# %% id="names"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    again = theirs(ids[:, -1:], past_key_values=theirs(ids[:, :-1]).cache)
assert compare_logits(again.logits, last.logits)
print(*(str(warning.message) for warning in caught), sep="\n")

# %% [markdown] id="last-token-text"
# ### Exercise `09.last_token` · medium · 12 minutes
#
# Write `last_token_logits(model, token_ids)` for a Llama of transformers in eval mode: (1, T) ids → the last position's
# logits, (V,), within 1e-4. The prefix fills a cache, in one call or in chunks; then the last token is fed alone. Each token is
# fed once; the way is checked as well as the numbers. With T = 1 there is no prefix. The model is not to be changed.

# %% id="exercise-last-token" tags=["exercise:09.last_token"]
def last_token_logits(model, token_ids):
    ...

# %% id="check-last-token" tags=["check:09.last_token", "nbval-ignore-output"]
check("09.last_token", last_token_logits)

# %% [markdown] id="faults-text"
# ## What the library does not report
#
# Five ways to get it wrong, as they stand in bug reports: the last token fed twice; the first one left out of the prefix;
# the cache not passed on; position 0 for the last token; a mask for the last token alone. **Guess:** how many of them does
# transformers answer with an error or a warning?

# %% id="guess-reported" tags=["nbval-ignore-output"]
my_n_reported = ...

# %% id="faults" tags=["nbval-ignore-output"]
def behind(prefix, **extra):
    return theirs(ids[:, -1:], cache=theirs(prefix).cache, **extra).logits[0]

one = torch.ones(1, 1, dtype=torch.int64)
with warnings.catch_warnings(record=True) as reported:
    warnings.simplefilter("always")
    faults = {"fed twice": behind(ids), "first left out": behind(ids[:, 1:-1]),
              "no cache": theirs(ids[:, -1:]).logits[0], "position 0": behind(ids[:, :-1], position_ids=0 * one),
              "short mask": behind(ids[:, :-1], attention_mask=one)}
for name, logits in faults.items():
    print(f"{name:>15}: {compare_logits(logits, full[0, -1:])}")
assert not any(compare_logits(logits, full[0, -1:]) for logits in faults.values())
predict.beside(my_n_reported, len(reported), "reported")

# %% [markdown] id="padding-text"
# None. Each gives numbers of the right shape, and with luck the likeliest token stays the same, so that a greedy text shows
# nothing. Only a comparison of logits tells.
#
# ## A padded batch
#
# Prompts of different lengths need padding, to the left or to the right. The mask says which tokens are real; the positions
# count real ones. Both come from the *lengths*, never from the ids: a pad id may also be a real token.

# %% id="batch"
assert tokenizer.pad_token_id == vocab.pad_id  # tokenizer_config.json says which token pads
prompts = ["The fox", "The mouse has a red"]
batches = {side: tokenizer(prompts, padding=True, padding_side=side, return_tensors="pt") for side in ("left", "right")}
for side, batch in batches.items():
    mask = batch.attention_mask
    positions = (mask.cumsum(-1) - 1).clamp_min(0)
    print(f"{side:>5}: mask {''.join(map(str, mask[0].tolist()))}  positions {positions[0].tolist()}")

# %% [markdown] id="padding-guess-text"
# **Guess** for the short row, padded on the left: which of the two, left out alone, changes its last logits beyond
# noise? Write `"mask"`, `"positions"`, `"both"` (each does) or `"neither"`. The model has rotary positions: attention depends on
# how far apart two tokens are.

# %% id="guess-padding" tags=["nbval-ignore-output"]
my_culprit = ...

# %% id="padding" tags=["nbval-ignore-output"]
alone = theirs(tokenizer(prompts[0], return_tensors="pt").input_ids).logits[0, -1]
same = {}
for side, batch in batches.items():
    mask = batch.attention_mask
    both = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp_min(0)}
    place = -1 if side == "left" else int(mask[0].sum()) - 1  # the last real token
    for left_out in ("nothing", "attention_mask", "position_ids", "both"):
        given = {name: value for name, value in both.items() if left_out not in (name, "both")}
        report = compare_logits(theirs(batch.input_ids, **given).logits[0, place], alone)
        same[side, left_out] = report.equal
        print(f"{side:>5}, without {left_out:>14}: |difference| {report.max_abs_diff:.0e}")
predict.beside(my_culprit, "positions" if same["left", "attention_mask"] else "mask", "left out")
assert {key for key, equal in same.items() if not equal} == {("left", "attention_mask"), ("left", "both")}

# %% [markdown] id="padding-explained"
# On the left pads come first, and every later token would see them: without a mask the row is another text. Left-out
# positions shift the whole row alike, which rotary attention cannot see; a model with learned positions would. On
# the right a causal model never looks at the pads, so all is right at the last *real* token; at index -1, where careless
# code reads, stands a pad. Give both, and generate from left-padded batches.
#
# And if nobody gives a mask? `generate` makes one from the ids. Here the space is declared to be the pad token.

# %% id="guessed-mask" tags=["nbval-ignore-output"]
space = vocab.encode(" ")[0]
options = {"max_new_tokens": 30, "do_sample": False, "pad_token_id": space, "output_logits": True,
           "return_dict_in_generate": True}
given = theirs.generate(ids, attention_mask=torch.ones_like(ids), **options)
guessed = theirs.generate(ids, **options)
for name, answer in (("mask given", given), ("mask guessed", guessed)):
    print(f"{name:>12}: {tokenizer.decode(answer.sequences[0, ids.shape[1]:])!r}")
assert not compare_logits(guessed.logits[0], given.logits[0])

# %% [markdown] id="settings-text"
# The guessed mask hides every space of the prompt from the model. Always pass the mask.
#
# ## The same settings, in other words
#
# `generate` can say from which probabilities it draws. Here it is asked to sample, and nothing else is set. **Guess:** how many of
# the 81 tokens have a chance?

# %% id="guess-kept" tags=["nbval-ignore-output"]
my_n_kept = ...

# %% id="kept" tags=["nbval-ignore-output"]
def drawn_from(**settings):
    """The probabilities from which `generate` draws the token after the prompt, (V,)."""
    answer = theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=1, output_scores=True,
                             return_dict_in_generate=True, **settings)
    return answer.scores[0][0].double().softmax(-1)

n_kept = {name: int((drawn_from(do_sample=True, **settings) > 0).sum()) for name, settings in
          {"nothing else said": {}, "top_k=0": {"top_k": 0}, "top_p=1.5": {"top_k": 0, "top_p": 1.5}}.items()}
print(n_kept)
predict.beside(my_n_kept, n_kept["nothing else said"], "tokens with a chance")
assert list(n_kept.values()) == [50, 81, 81]

# %% id="refused"
for settings in ({"temperature": 2}, {"temperature": 0.0}, {"top_k": -1}):
    try:
        drawn_from(do_sample=True, **settings)
    except ValueError as error:
        print(settings, "→", str(error).split(",")[0])

# %% [markdown] id="translate-text"
# Silently 50. A top_p of 1.5 is ignored without a word, while a temperature of 2 is refused for having no point.
#
# ### Exercise `09.translate` · medium · 15 minutes
#
# Write `to_transformers(params)`: a `SamplingParams` → a dict with which `generate` draws from the same probabilities, out of the keys
# `do_sample`, `temperature`, `top_k`, `top_p`, `min_p`. Greedy means no sampling. The seed is left out. If the steps that are on stand
# in an order that `generate` cannot follow (it has temperature, top-k, top-p, min-p), raise a ValueError; an order that differs
# in nothing but steps that are off may be refused or translated. What the arguments mean is what counts.

# %% id="exercise-translate" tags=["exercise:09.translate"]
def to_transformers(params):
    ...

# %% id="check-translate" tags=["check:09.translate", "nbval-ignore-output"]
check("09.translate", to_transformers)

# %% id="agree" tags=["nbval-ignore-output"]
row = theirs(ids).logits[0, -1]
for params in (SamplingParams(), SamplingParams(0.7, top_k=10), SamplingParams(1.5, top_p=0.9, min_p=0.05)):
    arguments = translate.to_transformers(params)
    difference = (drawn_from(**arguments) - sampling.next_token_probs(row, params)).abs().max().item()
    print(f"{difference:.0e} between the two distributions for {arguments}")
    assert difference < 1e-5

# %% [markdown] id="order-text"
# The distributions agree; the texts will not, since each library draws random numbers of its own. So compare
# distributions on the same logits, not texts.
#
# The order decides which tokens stay. Below, the filters of transformers as single objects, on logits [2.5, 1.5, 0] with T = 0.5 and
# top-p = 0.8. And a way out: `generate` applies processors that you pass *before* its own, so any order can be said.

# %% id="order"
warper = {"T": transformers.TemperatureLogitsWarper(0.5), "top-p": transformers.TopPLogitsWarper(0.8)}
for order in (("T", "top-p"), ("top-p", "T")):
    scores = torch.tensor([[2.5, 1.5, 0.0]])
    for name in order:
        scores = warper[name](None, scores)
    print(f"{' then '.join(order):>12}: keeps {torch.isfinite(scores[0]).nonzero().flatten().tolist()}")

# %% id="own-order"
params = SamplingParams.like("llama.cpp", temperature=0.8)
try:
    translate.to_transformers(params)
except ValueError as error:
    print(error)
steps = [transformers.TopKLogitsWarper(40), transformers.TopPLogitsWarper(0.95), transformers.MinPLogitsWarper(0.05),
         transformers.TemperatureLogitsWarper(0.8)]
probs = drawn_from(do_sample=True, top_k=0, logits_processor=transformers.LogitsProcessorList(steps))
assert torch.allclose(probs, sampling.next_token_probs(row, params), atol=1e-5)

# %% id="three"
params = SamplingParams(0.8, top_k=40, top_p=0.95)
print("transformers:", translate.to_transformers(params))
print("        vLLM:", translate.to_vllm(params))
print("   llama.cpp:", json.dumps(translate.to_llama_cpp(params)))

# %% [markdown] id="three-text"
# The names are nearly the same; what is left out is not. Left out, vLLM filters nothing, llama.cpp takes top-k 40, top-p
# 0.95, min-p 0.05 and T = 0.8, and transformers takes the likeliest token, or top-k 50 once it samples. In vLLM min-p comes before
# top-p, and a temperature between 0 and 0.01 becomes 0.01. For llama.cpp, `samplers` says the order; it wants the model in a file
# format of its own. (These two libraries were read, not run.)

# %% id="defaults" tags=["nbval-ignore-output"]
likeliest = row.topk(6).indices
series = {name: sampling.next_token_probs(row, SamplingParams.like(name))[likeliest]
          for name in ("transformers", "vllm", "llama.cpp")}
ax = plots.probability_bars([vocab.label(i) for i in likeliest.tolist()], series,
                            "One step, three libraries with nothing set but sampling")
for name, probs in series.items():
    print(f"{name:>12}: {probs.numpy().round(3)}")

# %% [markdown] id="serve-text"
# ## Many GPUs
#
# A laptop ends where memory and users do. A server such as vLLM reads the same folder. These commands follow its documentation;
# **they were not run here**. The first is for one machine with 2 GPUs. The second, for a larger model, is for 2 machines with 8
# each, on which a Ray cluster runs. `float32` keeps our numbers; without `--generation-config vllm` a model's own file may set
# defaults.
#
#     vllm serve FOLDER --dtype float32 --generation-config vllm --tensor-parallel-size 2
#     vllm serve LARGER_FOLDER --tensor-parallel-size 8 --pipeline-parallel-size 2 --distributed-executor-backend ray

# %% [markdown] id="request-text"
#     curl http://localhost:8000/v1/completions -H "Content-Type: application/json" \
#          -d '{"model": "FOLDER", "prompt": "Once", "max_tokens": 50, "temperature": 0.8, "top_k": 40, "top_p": 0.95}'
#
# *Tensor parallel* splits each layer by heads, so the number of query heads must be divisible by it: our 4 allow 1, 2 and 4. Key/value
# heads are split as far as they go, then copied: at 4, each of our 2 lies on two GPUs. *Pipeline parallel* gives each machine some
# of the layers. **Guess:** a model has 32 layers and 8 key/value heads of 128, 2 bytes each: 128 KiB of cache a token. Its
# layers are split over 16 GPUs by tensor parallel alone. How many KiB a token lie on each?

# %% id="guess-share" tags=["nbval-ignore-output"]
my_kib = ...

# %% id="share" tags=["nbval-ignore-output"]
shares = {}
for n_gpu in (1, 2, 4, 8, 16):
    heads_each = max(1, 8 // n_gpu)  # at least one: beyond 8 GPUs a head is copied
    shares[n_gpu] = kv_cache.kv_cache_bytes(n_layer=32, n_kv_head=heads_each, head_dim=128, n_tokens=1) // 1024
    print(f"tensor parallel {n_gpu:>2}: {shares[n_gpu]:>3} KiB a token on each GPU")
predict.beside(my_kib, shares[16], "KiB")
assert shares == {1: 128, 2: 64, 4: 32, 8: 16, 16: 16}

# %% [markdown] id="system-text"
# ## The system's layer
#
# A server does more with the cache; notebook 10 builds three of these. *Paging*: keys and values lie in blocks of a few
# tokens, with a table for each text, so that no memory is set aside for tokens that may never come. *Prefix sharing*: a full block is
# found again by its tokens and all before them, the rule of notebook 06. *Layouts*: ours and transformers' are (B, K, T, D); others
# put tokens before heads, or blocks first. *Continuous batching*: texts join and leave a batch at any step. None of
# them changes what the logits must be, so your comparison from notebook 06 is the test for each.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Your model and a library's agree on every greedy text of a test set. Are the logits the same?</summary>Not shown. Texts can agree on wrong logits. Compare the logits, within a stated tolerance.</details>
# <details><summary>2. You kept the cache of a long prompt to answer two questions about it. What goes wrong with the second?</summary>The first question was appended to the same object. Copy the cache, or crop it back, before each use.</details>
# <details><summary>3. Two libraries are given the same prompt, weights, temperature and top-p. Name three reasons why texts may differ.</summary>Other defaults for what is left out; another order of the steps; other random numbers. Ties and float noise are two more.</details>
# <details><summary>4. Why is a mask made from <code>ids != pad_id</code> unsafe?</summary>A real token may have that id, above all where the end token pads as well. Only the lengths say what is padding.</details>

# %% [markdown] id="summary"
# ## Summary
#
# One folder, two programs, the same logits within float noise. A cache is one object that grows, and faults around it are
# silent. A padded batch needs a mask from the lengths. Say every setting: defaults and orders differ. A server takes over
# the folder, and the test stays the same.
#
# **Sources.** [transformers](https://huggingface.co/docs/transformers) 5.24, run here. vLLM's pages on
# [parallelism](https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html) and its sources; llama.cpp's [server](https://github.com/ggml-org/llama.cpp/tree/master/tools/server), both read. W. Kwon
# et al., [*PagedAttention*](https://arxiv.org/abs/2309.06180), 2023. Checked on 2026-11-30. A teaching example, not a production benchmark.
