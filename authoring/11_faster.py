# %% [markdown] id="title"
# # 11 · Faster, and still the same
#
# **After this notebook you can** say of an idea that makes decoding faster what it leaves unchanged, the logits, the draw or the
# text, and name the test that shows it; write the rule of speculative decoding and tell it from two rules that look right; put a
# mask before the filters; and judge a cache that is smaller and no longer exact.
#
# **You need** notebooks 06 and 08; [10 · Many texts at once](10_many_texts.ipynb) comes before this one. **Time:** 80 minutes.
# A teaching example, not a production benchmark.

# %% id="setup"
import statistics
import time

import torch

from course_utils import budget, comparison, generation, metrics, plots, predict, sampling, speculative, text
from course_utils.bigram import BigramLM
from course_utils.checking import check
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits, in_chunks
from course_utils.constrained import JsonMask
from course_utils.fast_decode import plan
from course_utils.ngram import NgramLM
from course_utils.quantised_cache import Int8CacheModel, quantise
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.tool_calls import read_call

torch.set_num_threads(1)  # steps as small as these gain nothing from more
torch.set_grad_enabled(False)
model, vocab = load_model("tiny_llama")
tales = text.load_documents("tales", "validation")
tale = torch.tensor([[vocab.bos_id, *vocab.encode(max(tales, key=len))]])

# %% [markdown] id="planned-text"
# ## One step, fewer calls
#
# In a model as small as this one a decode step is hardly arithmetic: most of its time goes into calling operations. `plan(model)`
# makes the same step with fewer calls. The norms' gains are multiplied into the next matrix once; queries, keys and values come
# from one matrix, and all heads are turned by one complex multiplication; buffers and views are made once; heads that share a
# key are rows of one attention call; a prompt is one pass. **Guess:** how many times as fast is its step?

# %% id="guess-planned" tags=["nbval-ignore-output"]
my_times_as_fast = ...

# %% id="planned-logits" tags=["nbval-ignore-output"]
planned = plan(model)
report = compare_logits(in_chunks(model, tale, 24), in_chunks(planned, tale, 24))
print("the planned step against the plain one:", report)
assert report.equal

# %% id="time-of" tags=["nbval-ignore-output"]
def times_as_fast(ways, repeats):
    """For each way, the median of its speed beside the first way's; the ways take turns."""
    times = {name: [] for name in ways}
    for _ in range(repeats):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    first = next(iter(times.values()))
    return {name: statistics.median(a / b for a, b in zip(first, series, strict=True)) for name, series in times.items()}


def writes(one, n_tokens=budget.choose(120, 30)):
    return lambda: generation.generate(one, vocab, "The fox", SamplingParams(greedy=True), StopCriteria(n_tokens, eos=False))


speed = times_as_fast({"plain": writes(model), "planned": writes(planned)}, budget.choose(7, 3))
predict.beside(my_times_as_fast, round(speed["planned"], 1), "times as fast, whole generate")

# %% [markdown] id="planned-explained"
# What is unchanged: the **logits**, up to rounding, at every position of a given text. That is notebook 06's test, and it has to be
# run on given tokens: texts would agree for many faults. What each of the ideas saves by itself is measured in
# `benchmarks/planned_step.py`, one variant for each idea. (Its file is `fast_decode.py`; the model that you read stayed plain.)
#
# ## Several tokens for the price of one
#
# A pass over five tokens does five times the arithmetic of a pass over one, with the same number of calls. **Guess** what it
# costs, if a pass over one token is 1.

# %% id="guess-pass" tags=["nbval-ignore-output"]
my_cost_of_five = ...

# %% id="passes" tags=["nbval-ignore-output"]
def passing(one, n_tokens):
    """A function that makes 20 passes over so many tokens, behind 100 that are cached."""
    cache = one.new_cache()
    one(tale[:, :100], cache)
    def run():
        for _ in range(20):
            cache.crop(100)
            one(tale[:, 100 : 100 + n_tokens], cache)
    return run

for name, one in (("plain", model), ("planned", planned)):
    costs = times_as_fast({n: passing(one, n) for n in (1, 2, 3, 5, 9)}, budget.choose(7, 3))
    print(f"{name:>7}: " + ", ".join(f"{n} tokens cost {1 / ratio:.2f}" for n, ratio in costs.items()))
    if name == "plain":
        predict.beside(my_cost_of_five, round(1 / costs[5], 2), "a plain pass over five tokens costs")

# %% [markdown] id="speculation-text"
# So if somebody proposes the next four tokens, the model can check all of them for little more than the price of one. That is
# *speculation*: a cheap *draft* proposes, the model checks, and what is right need not be computed again. Beside the planned step
# it does not pay here: its single step is so cheap that a pass over several costs more than it can save.
#
# First comes what must be forgotten. A pass over proposals writes their keys and values into the cache. If the second of four
# is wrong, the third and fourth have read it. **Guess:** the cache held 10 tokens; the pass fed the newest token and four
# proposals, of which one was right. How many tokens may it keep?

# %% id="guess-crop" tags=["nbval-ignore-output"]
my_kept = ...

# %% id="crop"
ids = tale[:, :15]
wrong = ids.clone()
wrong[0, 12] = vocab.encode("z")[0]  # token 10 is the newest, 11 was proposed rightly, 12 wrongly
cache = model.new_cache()
model(ids[:, :10], cache)
model(wrong[:, 10:], cache)
whole = model(ids)[:, 13:]
for kept in (14, 13, 12):
    one = cache.copy()
    one.crop(kept)
    report = compare_logits(whole[:, kept - 13 :] if kept > 13 else whole, model(ids[:, kept:], one)[:, max(0, 13 - kept) :])
    print(f"{kept} kept: the rest has the right logits: {report.equal}")
    assert report.equal == (kept == 12)

# %% id="see-crop" tags=["nbval-ignore-output"]
predict.beside(my_kept, 12, "tokens that may stay")

# %% [markdown] id="same-text-text"
# ## The model's own draw
#
# `speculate(model, draft, k)` is a model for the loop. It hands out the *model's* logits, those of a proposal as long as the drawn
# token equals it. The loop draws from them with its own u. A draw is a function of logits and u, so the **text** is the
# model's, sampled texts too. (The logits of a longer pass differ in their last digits; a draw within that noise may tip.)
# The draft is told settings and seed, and draws with the *same* u, so that it often lands on the same token.

# %% id="drafts" tags=["nbval-ignore-output"]
documents = text.load_documents("tales")[: budget.choose(9000, 1500)]
corpus = vocab.encode_documents(documents)
drafts = {
    "bigram": BigramLM.fit(corpus, len(vocab)),
    "4-gram": NgramLM.fit(corpus, 4, len(vocab)),
    "9-gram": NgramLM.fit(corpus, 9, len(vocab)),
    "first layer": speculative.first_layers(model, 1),
    "first two": speculative.first_layers(model, 2),
}
print(f"the 9-gram has seen {drafts['9-gram'].n_contexts:,} contexts of eight characters")

# %% id="same-texts" tags=["nbval-ignore-output"]
checked, same = 0, 0
for number, document in enumerate(tales[: budget.choose(30, 8)]):
    for params in (SamplingParams(greedy=True), SamplingParams(seed=number), SamplingParams(1.5, top_p=0.9, seed=number)):
        for draft in (drafts["4-gram"], drafts["first layer"]):
            fast = speculative.speculate(model, draft, 4, params)
            a, b = (generation.generate(one, vocab, document[:12], params, StopCriteria(30)) for one in (model, fast))
            checked, same = checked + 1, same + (a.token_ids == b.token_ids and a.finish_reason == b.finish_reason)
print(f"{same} of {checked} texts, greedy and sampled, are the same")
assert same >= checked - 1  # a draw within rounding noise may tip, rarely

# %% [markdown] id="pays-text"
# Now what it saves. *Accepted* is the share of proposals that met a drawn token and were equal to it; *passes a token* counts calls
# of the model. **Guess:** which drafts make the whole faster than the plain model?

# %% id="guess-drafts" tags=["nbval-ignore-output"]
my_faster_drafts = ...  # a list of their names

# %% id="pays" tags=["nbval-ignore-output"]
at_one, new = SamplingParams(seed=3), StopCriteria(budget.choose(150, 40), eos=False)
ways = {"plain": model} | {name: speculative.speculate(model, draft, 4, at_one) for name, draft in drafts.items()}
runs = {name: lambda one=one: generation.generate(one, vocab, "The ", at_one, new) for name, one in ways.items()}
speed = times_as_fast(runs, budget.choose(7, 3))
for name, ratio in speed.items():
    counts = getattr(ways[name], "counts", None)
    told = "" if counts is None else (f"{counts.accepted / counts.judged:.2f} accepted, "
                                      f"{counts.passes / counts.handed_out:.2f} passes a token")
    print(f"{name:>11}: {ratio:4.2f} times as fast as plain   {told}")
predict.beside(my_faster_drafts, [name for name, ratio in speed.items() if ratio > 1.05], "faster")

# %% [markdown] id="pays-explained"
# The bigram costs more than it saves: four of five proposals are wrong, and each pass is longer. The first layers propose a
# little better and cost a good part of the model. That nine characters suffice for nine of ten proposals is a property of this
# grammar, whose sentences repeat; do not expect it of a language. And all of these are ratios to the *plain* step.
#
# ## The textbook rule
#
# The papers do not share u. A token is drawn from the draft's q and accepted with probability min(1, p / q); after a rejection
# another is drawn from max(p - q, 0) by its sum. The *texts* are others, the **distribution** is the model's. Here for three tokens.
# Two more rules look right: accept everything; and draw again from p. **Guess:** how often comes the first token under the
# last one, if p is [0.6, 0.3, 0.1] and q [0.2, 0.3, 0.5]?

# %% id="guess-redraw" tags=["nbval-ignore-output"]
my_share = ...

# %% id="rules"
p, q = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64), torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
share = speculative.acceptance(p, q)

def comes_out(accepted, instead):
    """The distribution of what comes out, computed: accepted proposals, and what is drawn for the rejected ones."""
    kept = q * accepted
    return kept + (1 - kept.sum()) * instead

rules = {"accept everything": comes_out(torch.ones(3), p), "draw again from p": comes_out(share, p),
         "the textbook's": comes_out(share, speculative.rest(p, q))}
for name, result in rules.items():
    print(f"{name:>18}: {[round(x, 3) for x in result.tolist()]}")
assert torch.allclose(rules["the textbook's"], p, atol=1e-12)
assert not torch.allclose(rules["draw again from p"], p, atol=1e-2)

# %% id="see-redraw" tags=["nbval-ignore-output"]
predict.beside(my_share, rules["draw again from p"][0].item(), "the first token, drawn again from p")

# %% [markdown] id="accept-exercise-text"
# Texts look right under all three. Checks that look at a few samples pass all three as well, and if p and q have one likely token
# each, p and the rest are nearly the same. So the distribution is *computed* here.
#
# ### Exercise `11.accept` · hard · 15 minutes
#
# Write `accept(p, q, drafted, u)`. p and q are float64 tensors (V,) that add up to 1, `drafted` an id with q > 0, and
# 0 <= u < 1. Return `(True, None)` if u · q[drafted] < p[drafted]; otherwise `(False, rest)`, where rest is max(p - q, 0)
# divided by its sum.

# %% id="exercise-accept" tags=["exercise:11.accept"]
def accept(p, q, drafted, u):
    ...

# %% id="check-accept" tags=["check:11.accept", "nbval-ignore-output"]
check("11.accept", accept)

# %% [markdown] id="two-ways-text"
# How often is a proposal accepted? Under the textbook rule with probability Σ min(p, q): no rule can do better. With a common u
# it is the length on which both cumulative sums lie on the same token. Both can be computed at every position of given tales.

# %% id="two-ways" tags=["nbval-ignore-output"]
given = [torch.tensor([[vocab.bos_id, *vocab.encode(one)]]) for one in tales[: budget.choose(12, 3)]]
common = {}
for name in ("bigram", "4-gram", "9-gram", "first two"):
    for t in (0.3, 1.0, 2.0):
        rule, same_u = [], []
        for ids in given:
            a, b = (sampling.next_token_probs(one(ids)[0], SamplingParams(t)) for one in (model, drafts[name]))
            rule.append(torch.minimum(a, b).sum(-1))
            ends, begins = torch.minimum(a.cumsum(-1), b.cumsum(-1)), torch.maximum(a.cumsum(-1) - a, b.cumsum(-1) - b)
            same_u.append((ends - begins).clamp(min=0).sum(-1))
        rule, same_u = torch.cat(rule), torch.cat(same_u)
        common[name, t] = rule.mean().item(), same_u.mean().item()
        assert (same_u <= rule + 1e-9).all()
        print(f"{name:>9}, T = {t:g}: textbook {common[name, t][0]:.2f}, common u {common[name, t][1]:.2f}")

# %% id="two-ways-picture" tags=["nbval-ignore-output"]
curves = {name: [common[name, t][1] for t in (0.3, 1.0, 2.0)] for name in ("bigram", "4-gram", "9-gram", "first two")}
ax = plots.curve((0.3, 1.0, 2.0), curves, "Proposals that are accepted, with a common u", "temperature", "share accepted")

# %% [markdown] id="mask-text"
# The common u gives up some acceptance. What it buys is a text that can be compared token by token, and reproduced.
#
# ## A mask of what is allowed
#
# A call has to be JSON of one form. Instead of hoping, drop every token that cannot go on towards it, *before* temperature and
# filters. By hand: logits [3, 2, 1, 0], and only tokens 1 and 2 are allowed. **Guess** the probability of token 1.

# %% id="guess-mask" tags=["nbval-ignore-output"]
my_masked = ...

# %% id="mask-by-hand"
logits = torch.tensor([3.0, 2.0, 1.0, 0.0])
masked = logits.clone()
masked[[0, 3]] = -torch.inf
free, only = (sampling.next_token_probs(x, SamplingParams()) for x in (logits, masked))
print("free:  ", [round(x, 3) for x in free.tolist()])
print("masked:", [round(x, 3) for x in only.tolist()])

# %% id="see-mask" tags=["nbval-ignore-output"]
predict.beside(my_masked, only[1].item(), "token 1")

# %% [markdown] id="allowed-exercise-text"
# The rest is made to add up to 1. That is not the model's probability any more: the model gave token 1 about 0.24.
#
# ### Exercise `11.allowed` · medium · 10 minutes
#
# Write `allowed(logits, allowed_ids)` for logits (..., V) and a list, set, range or tensor of ids, the same for all rows. Return a
# new tensor: allowed logits unchanged, the others -inf. Raise `ValueError` if nothing is allowed or an id is outside 0 … V - 1.

# %% id="exercise-allowed" tags=["exercise:11.allowed"]
def allowed(logits, allowed_ids):
    ...

# %% id="check-allowed" tags=["check:11.allowed", "nbval-ignore-output"]
check("11.allowed", allowed)

# %% id="schema"
schema = {"type": "object", "required": ["tool", "args"], "additionalProperties": False, "properties": {
    "tool": {"enum": ["add", "subtract", "multiply"]},
    "args": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}}
mask = JsonMask(vocab, schema, end="</call>")
for begun in ("", '{"tool": "', '{"tool": "add", "args": [3', '{"tool": "add", "args": [3, 4]}'):
    may = mask.allowed(vocab.encode(begun))
    print(f"{begun:<33} may go on with {[vocab.tokens[i] for i in may.nonzero()[0]]}")

# %% [markdown] id="calls-text"
# `generate(..., allow=mask)` asks this object at each token, with the ids sampled so far. Now calls for held-out questions at three
# temperatures, with the mask and without. *Valid* is the form; *right* is a call with the question's own tool and numbers.

# %% id="calls" tags=["nbval-ignore-output"]
documents = text.load_documents("calls", "validation")[: budget.choose(40, 10)]
prompts = [document[: document.index("<call>") + 6] for document in documents]
wanted = [read_call(document.split("<call>")[1].split("</call>")[0]) for document in documents]
stopping = StopCriteria(80, tool_calls=True)
for t in (1.0, 2.0, 3.0):
    settings = [SamplingParams(t, seed=seed) for seed in range(len(prompts))]
    for name, masks in (("free", None), ("masked", [JsonMask(vocab, schema, "</call>") for _ in prompts])):
        made = generation.generate_batch(model, vocab, prompts, settings, stopping, allow=masks)
        calls = [one.tool_call and read_call(one.tool_call) for one in made]
        valid, right = sum(call is not None for call in calls), sum(a == b for a, b in zip(calls, wanted, strict=True))
        cut = sum(one.finish_reason is FinishReason.LENGTH for one in made)
        low, high = metrics.proportion_ci(valid, len(calls))
        print(f"T = {t:g}, {name:>6}: valid {valid} of {len(calls)} ({low:.2f} to {high:.2f}), right {right}, cut off {cut}")
        assert name == "free" or valid + cut == len(calls)

# %% [markdown] id="calls-explained"
# Under the mask whatever ends is valid. It is not right for that: form is all that a schema knows, and at high temperatures a wrong
# number now comes in a well-formed call, where nobody's parser will stop it. And a budget still cuts: a beginning of the form is
# no call, and nothing is executed.

# %% id="cut"
cut = generation.generate(model, vocab, prompts[0], SamplingParams(seed=0), StopCriteria(12, tool_calls=True), allow=mask)
print(cut.finish_reason, "tool_call:", cut.tool_call)
assert cut.finish_reason is FinishReason.LENGTH and cut.tool_call is None
try:
    generation.reproduce(model, vocab, cut.record())
except ValueError as error:
    print(error)
assert generation.reproduce(model, vocab, cut.record(), allow=mask).token_ids == cut.token_ids

# %% [markdown] id="int8-text"
# A record cannot hold the object, so it names it, and `reproduce` asks for the same one.
#
# ## A smaller cache
#
# Keys and values as int8: each vector is divided by its own scale, so that its largest number becomes 127, and rounded.
# **Guess:** a vector has 32 numbers and a scale in float32. How many times fewer bytes than float32?

# %% id="guess-bytes" tags=["nbval-ignore-output"]
my_fewer = ...

# %% id="int8" tags=["nbval-ignore-output"]
numbers, scale = quantise(torch.tensor([0.5, -1.27, 0.004]))
print("[0.5, -1.27, 0.004] is stored as", numbers.tolist(), "and the scale", round(scale.item(), 4))
small = Int8CacheModel(model)
exact_cache, small_cache = model.new_cache(), small.new_cache()
exact, rounded = in_chunks(model, tale, 24, cache=exact_cache), in_chunks(small, tale, 24, cache=small_cache)
predict.beside(my_fewer, round(exact_cache.n_bytes / small_cache.n_bytes, 2), "times fewer bytes")
print(compare_logits(exact, rounded))
assert exact_cache.n_bytes == 128 / 36 * small_cache.n_bytes

# %% [markdown] id="int8-explained"
# The comparison says *different*, and rightly so: the error is far above rounding. Nothing of logits, draw or text is promised
# here. So the questions are others: how often does the likeliest token change on *given* text, where one change cannot
# drag others along? And is the work still done as well? (One near tie changes a whole free text; that says little.)

# %% id="given-text" tags=["nbval-ignore-output"]
changed, total, errors = 0, 0, []
for one in tales[: budget.choose(25, 6)]:
    ids = torch.tensor([[vocab.bos_id, *vocab.encode(one)]])
    a, b = model(ids), in_chunks(small, ids, [ids.shape[1]])
    changed, total = changed + int((a.argmax(-1) != b.argmax(-1)).sum()), total + ids.shape[1]
    errors.append((a - b).abs().amax(-1).flatten())
errors = torch.cat(errors)
print(f"{changed} of {total} likeliest tokens changed; largest logit error a position: median {errors.median():.3f}, "
      f"largest {errors.max():.2f}")
assert changed <= total / 200

# %% id="sums" tags=["nbval-ignore-output"]
sums = text.load_documents("sums", "validation")[: budget.choose(200, 40)]
questions = [document[: document.index("=") + 1] for document in sums]
marks = {}
for name, one in (("float32", model), ("int8", small)):
    answers = generation.generate_batch(one, vocab, questions, SamplingParams(greedy=True), StopCriteria(8))
    marks[name] = [float(metrics.sum_is_right(answer.prompt, answer.text)) for answer in answers]
    print(f"{name}: {sum(marks[name]):.0f} of {len(sums)} sums right")
print("int8 minus float32:", comparison.paired_difference(marks["int8"], marks["float32"]))

# %% [markdown] id="table"
# ## What is unchanged, and how you would know
#
# | idea | what it saves | what it changes | how you would know |
# |---|---|---|---|
# | planned step | calls of operations | logits in their last digits | logits on given tokens, within a tolerance |
# | speculation, common u | passes of the model | nothing that is drawn, but for ties within noise | the same texts, token by token, for every draft |
# | speculation, textbook rule | more passes | the texts; not their distribution | the distribution, computed |
# | a mask | texts of a wrong form | the distribution: what is allowed is made to add up to 1 | every ended text against the schema; and right answers, counted apart |
# | int8 keys and values | two thirds of the bytes and more | logits, and so texts | likeliest tokens on given text; paired differences in what the model is for |

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A colleague shows ten texts that are the same with and without speculation. What else would you ask for?</summary>Sampled texts as well as greedy ones, mismatches at each place of the proposals, an always wrong draft, and ends within the proposals. A cache that forgets too little shows only after a mismatch.</details>
# <details><summary>2. Why not draw from p after a rejection?</summary>What was accepted is part of p already. Tokens that the draft proposes too often would come too often once more. Only the missing part, max(p - q, 0), belongs there.</details>
# <details><summary>3. Every call is valid under a mask. Has the model become better at calling?</summary>At the form, by force. Whether tool and numbers are the question's is another count; a wrong call of the right form will be executed.</details>
# <details><summary>4. The draft is told another seed than the loop. What changes?</summary>Fewer proposals are accepted, so there are more passes. The text stays: it is drawn from the model's logits with the loop's own u.</details>
# <details><summary>5. An int8 cache gives another text than float32. Is it broken?</summary>One near tie suffices for that. Count changes on given text, and compare what the model is used for, in pairs.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Ask of every speed-up what it leaves unchanged, and test just that: logits within a tolerance, the same texts, or a computed
# distribution. Speculation trades passes over one token for passes over several; it pays if the draft is cheap and often right.
# A mask is a promise about form. A smaller cache is another model, and is judged as one.
#
# **Sources.** Y. Leviathan et al., [*Fast inference from transformers via speculative decoding*](https://arxiv.org/abs/2211.17192), 2022.
# C. Chen et al., [*Accelerating large language model decoding with speculative sampling*](https://arxiv.org/abs/2302.01318), 2023.
# [llguidance](https://github.com/guidance-ai/llguidance). Checked on 2026-11-30.
