# %% [markdown] id="title"
# # 11 · Faster, and still the same
#
# **After this notebook you can** say what an idea that makes decoding faster leaves unchanged (the logits, the draw or the
# text), and name the test that shows it; write the rule of speculative decoding and tell it from two rules that look
# right; put a mask before the filters; and judge a cache that is smaller and no longer exact.
#
# **You need** notebooks 06 and 08. **Time:** 80 minutes. **Before:** [10 Many texts at once](10_many_texts.ipynb)

# %% id="setup"
import time
from operator import eq

import torch

from course_utils import budget, comparison, generation, metrics, plots, predict, sampling, speculative, tool_calls
from course_utils.bigram import BigramLM
from course_utils.checking import check, hint, solution
from course_utils.checkpoint import load_model
from course_utils.compare_logits import compare_logits, in_chunks
from course_utils.constrained import JsonMask
from course_utils.fast_decode import plan

# %% id="setup-more"
from course_utils.ngram import NgramLM
from course_utils.quantised_cache import Int8CacheModel, quantise
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import load_documents

torch.set_num_threads(1)  # steps as small as these gain nothing from more
torch.set_grad_enabled(False)  # nothing is trained here
model, vocab = load_model("tiny_llama")
tales = load_documents("tales", "validation")
tale = torch.tensor([[vocab.bos_id, *vocab.encode(max(tales, key=len))]])

# %% [markdown] id="planned-text"
# ## One step, fewer calls
#
# In a model as small as this one, a decode step does little arithmetic. Most of its time goes into *calling* operations.
# `plan(model)` computes the same step with fewer calls. These are its ideas:
#
# - The gains of the norms are multiplied into the next matrix, once and for all.
# - Queries, keys and values come from one matrix, and one complex multiplication turns all heads.
# - Buffers and views are made once, and heads that share a key are rows of one attention call.
# - A prompt goes through in one pass.
#
# **Guess:** how many times as fast does `generate` become with it?

# %% id="guess-planned" tags=["nbval-ignore-output"]
my_times_as_fast = ...

# %% id="planned-logits" tags=["nbval-ignore-output"]
planned = plan(model)
report = compare_logits(in_chunks(model, tale, 24), in_chunks(planned, tale, 24))
print("the planned step against the plain one:", report, sep="\n")

# %% id="time-of" tags=["nbval-ignore-output"]
def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start

def times_as_fast(ways, repeats):
    """For each way, how many times as fast as the first way it is: a median, and the ways take turns."""
    times = torch.tensor([[seconds(run) for run in ways.values()] for _ in range(repeats)])
    return dict(zip(ways, (times[:, :1] / times).median(0).values.tolist(), strict=True))

greedy, new = SamplingParams(greedy=True), StopCriteria(budget.choose(120, 30), eos=False)
def writes(one):
    return lambda: generation.generate(one, vocab, "The fox", greedy, new)

speed = times_as_fast({"plain": writes(model), "planned": writes(planned)}, budget.choose(5, 3))
predict.beside(my_times_as_fast, round(speed["planned"], 1), "times as fast, whole generate")

# %% id="assert-planned" tags=["assertions"]
assert report.equal and report.max_abs_diff > 0

# %% [markdown] id="planned-explained"
# The **logits** are unchanged, up to rounding, at every position of a given text. The test of notebook 06 shows this. The
# test has to run on given tokens, because texts can agree in spite of a fault. `benchmarks/planned_step.py` measures what
# each idea saves by itself. (The planned step has its own file, `fast_decode.py`. The model that you read in notebook 04
# stays plain.)
#
# ## Several tokens for the price of one
#
# A pass over five tokens does five times the arithmetic of a pass over one, with the same number of calls. **Guess** what
# it costs, if a pass over one token costs 1.

# %% id="guess-pass" tags=["nbval-ignore-output"]
my_cost_of_five = ...

# %% id="passes" tags=["nbval-ignore-output"]
def passing(one, n_tokens):
    """A function that makes 20 passes over this number of tokens, after 100 that are cached."""
    cache = one.new_cache()
    one(tale[:, :100], cache)
    def run():
        for _ in range(20):
            cache.crop(100)
            one(tale[:, 100 : 100 + n_tokens], cache)
    return run

for name, one in (("plain", model), ("planned", planned)):
    costs = times_as_fast({n: passing(one, n) for n in (1, 2, 3, 5, 9)}, budget.choose(5, 3))
    print(f"{name:>7}: " + ", ".join(f"{n} tokens cost {1 / ratio:.2f}" for n, ratio in costs.items()))
    if name == "plain":
        predict.beside(my_cost_of_five, round(1 / costs[5], 2), "a plain pass over five tokens costs")

# %% [markdown] id="speculation-text"
# Suppose that somebody proposes the next four tokens. Then the plain model can check all four for little more than the price
# of one. That is *speculation*: a cheap *draft* proposes, and the model checks. A proposal that is right need not be computed
# again. (The planned step gains nothing from four proposals here. Its single step is so cheap that a longer pass costs more
# than it saves.)
#
# First we look at what must be forgotten. A pass over proposals writes their keys and values into the cache. If the second
# of four proposals is wrong, the third and the fourth have been computed from it. **Guess:** the cache held 10 tokens. The pass
# fed the newest token and four proposals, and only the first proposal was right. How many tokens may the cache keep?

# %% id="guess-crop" tags=["nbval-ignore-output"]
my_kept = ...

# %% id="crop"
ids = tale[:, :15]
wrong = ids.clone()
wrong[0, 12] = vocab.encode("z")[0]  # token 10 is the newest, 11 was proposed rightly, 12 wrongly
cache = model.new_cache()
model(ids[:, :10], cache)
model(wrong[:, 10:], cache)
whole, right = model(ids), {}
for kept in (14, 13, 12):
    cropped = cache.copy()
    cropped.crop(kept)
    right[kept] = compare_logits(whole[:, kept:], model(ids[:, kept:], cropped)).equal
    print(f"{kept} kept: the rest has the right logits: {right[kept]}")

# %% id="see-crop" tags=["nbval-ignore-output"]
predict.beside(my_kept, 12, "tokens that may stay")

# %% id="assert-crop" tags=["assertions"]
assert right == {14: False, 13: False, 12: True}

# %% [markdown] id="same-text-text"
# ## The model's own draw
#
# To the loop, `speculate(model, draft, k)` looks like any other model. It hands out the *model's* logits. The logits after a
# proposal are handed out only if the loop has drawn exactly that token. The loop draws with its own u, as always. A draw
# depends only on the logits and on u, so the **text** is the model's, for sampled texts too. (The logits of a longer pass
# differ in their last digits. A draw within that noise may fall the other way.)
#
# The draft knows the settings and the seed. It draws with the *same* u, so it often lands on the same token. We try five
# drafts. The n-grams count which token followed the last few; the last two drafts are the first layers of the model itself.

# %% id="drafts" tags=["nbval-ignore-output"]
documents = load_documents("tales")[: budget.choose(9000, 1500)]
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
for number, document in enumerate(tales[: budget.choose(10, 5)]):
    for params in (greedy, SamplingParams(seed=number), SamplingParams(1.5, top_p=0.9, seed=number)):
        plain = generation.generate(model, vocab, document[:12], params, StopCriteria(30))
        for draft in (drafts["4-gram"], drafts["first layer"]):
            fast = speculative.speculate(model, draft, 4, params)
            other = generation.generate(fast, vocab, document[:12], params, StopCriteria(30))
            checked += 1
            same += plain.token_ids == other.token_ids and plain.finish_reason == other.finish_reason
print(f"{same} of {checked} texts, greedy and sampled, are the same")

# %% [markdown] id="pays-text"
# Now look at what speculation saves. The loop reaches only some of the proposals. *Accepted* is the share of the reached
# proposals that were equal to the drawn token. *Passes a token* counts calls of the model. **Guess:** which drafts make
# decoding faster than it is with the plain model alone?

# %% id="guess-drafts" tags=["nbval-ignore-output"]
my_faster_drafts = ...  # a list of their names

# %% id="pays" tags=["nbval-ignore-output"]
at_one = SamplingParams(seed=3)
ways = {name: speculative.speculate(model, draft, 4, at_one) for name, draft in drafts.items()}
runs = {name: lambda one=one: generation.generate(one, vocab, "The ", at_one, new)
        for name, one in {"plain": model, **ways}.items()}
speed = times_as_fast(runs, budget.choose(5, 3))
for name, fast in ways.items():
    counts = fast.counts
    print(f"{name:>11}: {speed[name]:4.2f} times as fast as plain, {counts.accepted / counts.judged:.2f} accepted, "
          f"{counts.passes / counts.handed_out:.2f} passes a token")
predict.beside(my_faster_drafts, [name for name, ratio in speed.items() if ratio > 1.05], "faster")

# %% id="assert-pays" tags=["assertions"]
assert same >= checked - 1  # a draw within rounding noise may tip, rarely
told = {name: one.counts.accepted / one.counts.judged for name, one in ways.items()}
assert told["bigram"] < 0.5 and told["bigram"] < told["4-gram"] < told["9-gram"]
assert all(one.counts.passes < one.counts.handed_out for one in ways.values())

# %% [markdown] id="pays-explained"
# The bigram costs more than it saves. Four of five proposals are wrong, and each pass is longer. The first layers propose a
# little better, but they cost a good part of the model. With the 9-gram, eight characters are enough to guess almost nine of
# ten tokens. That is a property of this grammar, whose sentences repeat; do not expect it of a language. All of these ratios
# compare with the *plain* step.

# %% [markdown] id="rule-text"
# ## The textbook rule
#
# The papers do not use a common u. A token is drawn from the draft's distribution q. It is accepted with the probability
# min(1, p / q), where p is what the model gives it and q what the draft gives it. After a rejection another token is drawn
# from max(p - q, 0), divided by its sum. The *texts* are then not the model's texts, but the **distribution** is the model's.
#
# Two other rules look right as well: accept everything, or draw again from p after a rejection. We compute what comes out for
# three tokens with p = [0.6, 0.3, 0.1] and q = [0.2, 0.3, 0.5]. **Guess:** if a new token is drawn from p after a rejection,
# how often does the first token come out? (0.6 would be right.)

# %% id="guess-redraw" tags=["nbval-ignore-output"]
my_share = ...

# %% id="rules"
p, q = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64), torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
share = speculative.acceptance(p, q)

def comes_out(accepted, instead):
    """The distribution of what comes out: accepted proposals, and what is drawn for the rejected ones."""
    kept = q * accepted
    return kept + (1 - kept.sum()) * instead

rules = {"accept everything": comes_out(torch.ones(3), p), "draw again from p": comes_out(share, p),
         "the textbook's": comes_out(share, speculative.rest(p, q))}
for name, result in rules.items():
    print(f"{name:>18}: {[round(x, 3) for x in result.tolist()]}")

# %% id="see-redraw" tags=["nbval-ignore-output"]
predict.beside(my_share, rules["draw again from p"][0].item(), "the first token, drawn again from p")

# %% id="assert-rules" tags=["assertions"]
assert torch.allclose(rules["the textbook's"], p, atol=1e-12)
assert not torch.allclose(rules["draw again from p"], p, atol=1e-2)
assert speculative.accept(p, q, 2, 0.1) == (True, None)
accepted, instead = speculative.accept(p, q, 2, 0.5)
assert not accepted and torch.allclose(instead, torch.tensor([1.0, 0, 0], dtype=torch.float64))

# %% [markdown] id="accept-exercise-text"
# Texts look right under each of the three rules. A check of a few samples can pass all of them. Where p and q each have one
# very likely token, but not the same one, max(p - q, 0) divided by its sum is nearly p, so the last two rules nearly agree.
# That is why we *computed* the distribution.
#
# ### Exercise `11.accept` · hard · 15 minutes
#
# Write `accept(p, q, drafted, u)`. p and q are float64 tensors (V,) that add up to 1, `drafted` is an id with q > 0, and
# 0 <= u < 1.
#
# - If u · q[drafted] < p[drafted], return `(True, None)`.
# - Otherwise return `(False, rest)`, where rest is max(p - q, 0) divided by its sum.
#
# | p | q | drafted | u | you return |
# |---|---|---|---|---|
# | [0.6, 0.3, 0.1] | [0.2, 0.3, 0.5] | 2 | 0.1 | `(True, None)`, since 0.05 < 0.1 |
# | [0.6, 0.3, 0.1] | [0.2, 0.3, 0.5] | 2 | 0.5 | `(False, [1, 0, 0])`, since 0.25 is not below 0.1 |

# %% id="exercise-accept" tags=["exercise:11.accept"]
def accept(p, q, drafted, u):
    ...

# %% id="check-accept" tags=["check:11.accept", "nbval-ignore-output"]
check("11.accept", accept)

# %% [markdown] id="two-ways-text"
# How often is a proposal accepted? Under the textbook rule it is accepted with the probability Σ min(p, q), and no rule can
# do better. With a common u, lay p and q on two rulers, token after token. Both draws give the same token where
# that token lies at the same place on both rulers, and the total length of these places is the probability. We compute both at
# every position of given tales.

# %% id="two-ways" tags=["nbval-ignore-output"]
given = [torch.tensor([[vocab.bos_id, *vocab.encode(one)]]) for one in tales[: budget.choose(12, 3)]]
common = {}
for name in ("bigram", "4-gram", "9-gram", "first two"):
    for t in (0.3, 1.0, 2.0):
        chances = []
        for ids in given:
            p, q = (sampling.next_token_probs(one(ids)[0], SamplingParams(t)) for one in (model, drafts[name]))
            chances.append(torch.stack(speculative.acceptance_rates(p, q)))
        common[name, t] = torch.cat(chances, 1).mean(1).tolist()
        print(f"{name:>9}, T = {t:g}: textbook {common[name, t][0]:.2f}, common u {common[name, t][1]:.2f}")

# %% id="two-ways-picture" tags=["nbval-ignore-output"]
curves = {name: [common[name, t][1] for t in (0.3, 1.0, 2.0)] for name in ("bigram", "4-gram", "9-gram", "first two")}
ax = plots.curve((0.3, 1.0, 2.0), curves, "Proposals that are accepted, with a common u", "temperature", "share accepted")

# %% id="assert-two-ways" tags=["assertions"]
assert all(same_u <= rule + 1e-9 for rule, same_u in common.values())
assert any(same_u < rule - 1e-3 for rule, same_u in common.values())

# %% [markdown] id="mask-text"
# The common u gives up some acceptance. In return the text can be compared token by token, and reproduced.
#
# ## A mask of what is allowed
#
# A tool call has to be JSON of one form. Instead of hoping for it, we can drop every token that cannot lead to that form,
# *before* temperature and filters. Here it is by hand: the logits are [3, 2, 1, 0], and only tokens 1 and 2 are allowed.
# **Guess** the probability of token 1.

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

# %% id="assert-mask" tags=["assertions"]
assert round(free[1].item(), 2) == 0.24 and round(only[1].item(), 3) == 0.731 and only[0] == only[3] == 0

# %% [markdown] id="allowed-exercise-text"
# The probabilities of the allowed tokens are scaled until they add up to 1. So 0.731 is not the model's probability any more.
# The model gave token 1 about 0.24.
#
# ### Exercise `11.allowed` · medium · 10 minutes
#
# Write `allowed(logits, allowed_ids)` for logits of the shape (..., V). The ids come as a list, a set, a range or a tensor, and
# are the same for all rows.
#
# - Return a new tensor in which allowed logits are unchanged and all others are -inf.
# - If nothing is allowed, or an id is outside 0 … V - 1, raise `ValueError`.
#
# | logits | allowed_ids | you return |
# |---|---|---|
# | `[3.0, 2.0, 1.0, 0.0]` | `[1, 2]` | `[-inf, 2.0, 1.0, -inf]` |
# | `[3.0, 2.0, 1.0, 0.0]` | `[4]` | `ValueError` |

# %% id="exercise-allowed" tags=["exercise:11.allowed"]
def allowed(logits, allowed_ids):
    ...

# %% id="check-allowed" tags=["check:11.allowed", "nbval-ignore-output"]
check("11.allowed", allowed)

# %% [markdown] id="schema-text"
# By hand that was one step. A *schema* describes a whole text: here an object with one of three tools and two whole numbers.
# `JsonMask` knows from the schema and the text so far which tokens may come next.

# %% id="schema"
schema = {"type": "object", "required": ["tool", "args"], "additionalProperties": False, "properties": {
    "tool": {"enum": ["add", "subtract", "multiply"]},
    "args": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}}
mask = JsonMask(vocab, schema, end="</call>")
for begun in ("", '{"tool": "', '{"tool": "add", "args": [3', '{"tool": "add", "args": [3, 4]}'):
    may = mask.allowed(vocab.encode(begun))
    print(f"{begun:<33} may go on with {[vocab.tokens[i] for i in may.nonzero()[0]]}")

# %% [markdown] id="calls-text"
# `generate(..., allow=mask)` asks this object at each token, and gives it the ids that were sampled so far. We let the model call
# for held-out questions at three temperatures, with the mask and without it. *Valid* means that the form is right. *Right*
# means that the call has the question's own tool and numbers.

# %% id="call-questions"
documents = load_documents("calls", "validation")[: budget.choose(40, 10)]
prompts = [document[: document.index("<call>") + 6] for document in documents]
wanted = [tool_calls.read_call(document.split("<call>")[1].split("</call>")[0]) for document in documents]
print(prompts[0], "should become", wanted[0])

# %% id="calls" tags=["nbval-ignore-output"]
stopping = StopCriteria(80, tool_calls=True)
tally = {}
for t in (1.0, 2.0, 3.0):
    settings = [SamplingParams(t, seed=seed) for seed in range(len(prompts))]
    for name, masks in (("free", None), ("masked", [JsonMask(vocab, schema, "</call>") for _ in prompts])):
        made = generation.generate_batch(model, vocab, prompts, settings, stopping, allow=masks)
        calls = [one.tool_call and tool_calls.read_call(one.tool_call) for one in made]
        valid, right = len(calls) - calls.count(None), sum(map(eq, calls, wanted))
        cut = sum(one.finish_reason is FinishReason.LENGTH for one in made)
        tally[t, name] = valid, right, cut
        low, high = metrics.proportion_ci(valid, len(calls))
        print(f"T = {t:g}, {name:>6}: valid {valid} of {len(calls)} ({low:.2f} to {high:.2f}), "
              f"right {right}, cut off {cut}")

# %% [markdown] id="calls-explained"
# Under the mask, every call that ends is valid. That does not make it right, since form is all that a schema knows. At a high
# temperature a wrong number now comes in a well-formed call, and no parser will stop it. And a budget still cuts calls off.
# The beginning of a call is not a call, and nothing is executed.

# %% id="cut"
cut = generation.generate(model, vocab, prompts[0], SamplingParams(seed=0), StopCriteria(12, tool_calls=True), allow=mask)
print(cut.finish_reason, "tool_call:", cut.tool_call)
try:
    generation.reproduce(model, vocab, cut.record())
except ValueError as error:
    print(error)

# %% id="assert-calls" tags=["assertions"]
assert all(valid + n_cut == len(prompts) for (_, name), (valid, _, n_cut) in tally.items() if name == "masked")
assert tally[3.0, "masked"][1] < tally[3.0, "masked"][0] and tally[3.0, "free"][0] < tally[3.0, "masked"][0]
assert cut.finish_reason is FinishReason.LENGTH and cut.tool_call is None
assert generation.reproduce(model, vocab, cut.record(), allow=mask).token_ids == cut.token_ids

# %% [markdown] id="int8-text"
# A record cannot hold the mask itself. It holds only a description of the mask, and `reproduce` asks for the same mask.
#
# ## A smaller cache
#
# Keys and values can be stored as *int8*, whole numbers from -127 to 127. Each vector is divided by its *scale*, so that the
# largest of its numbers becomes 127 or -127, and then rounded. **Guess:** a vector has 32 numbers, and its scale is kept in float32. How many times
# fewer bytes does it need than 32 numbers in float32?

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

# %% [markdown] id="int8-explained"
# The comparison says *different*, and it is right: the difference is far above rounding. Here nobody promises that the
# logits, the draw or the text stay the same. So we ask other questions. How often does the likeliest token change on *given*
# text, where one change cannot cause others? And is the work still done as well? (In a free text, one near tie can change
# everything after it, so a comparison of free texts says little.)

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

# %% id="sums" tags=["nbval-ignore-output"]
sums = load_documents("sums", "validation")[: budget.choose(200, 40)]
questions = [document[: document.index("=") + 1] for document in sums]
marks = {}
for name, one in (("float32", model), ("int8", small)):
    answers = generation.generate_batch(one, vocab, questions, greedy, StopCriteria(8))
    marks[name] = [float(metrics.sum_is_right(answer.prompt, answer.text)) for answer in answers]
    print(f"{name}: {sum(marks[name]):.0f} of {len(sums)} sums right")
print("int8 minus float32:", comparison.paired_difference(marks["int8"], marks["float32"]))

# %% id="assert-int8" tags=["assertions"]
difference = compare_logits(exact, rounded)
assert exact_cache.n_bytes == 128 / 36 * small_cache.n_bytes and 36 / 128 < 1 / 3
assert not difference and difference.max_abs_diff > 100 * difference.tolerance and changed <= total / 200

# %% [markdown] id="table"
# ## What is unchanged, and how you would know
#
# | idea | what it saves | what it changes | how you would know |
# |---|---|---|---|
# | planned step | calls of operations | logits in their last digits | logits on given tokens, within a tolerance |
# | speculation, common u | passes of the model | nothing that is drawn, except ties within the noise | the same texts, token by token, for every draft |
# | speculation, textbook rule | still more passes | the texts, but not their distribution | the distribution, computed |
# | a mask | texts of a wrong form | the distribution: what is allowed is made to add up to 1 | every ended text against the schema; right answers counted apart |
# | int8 keys and values | more than two thirds of the bytes | logits, and with them texts | likeliest tokens on given text; paired differences in what the model is for |

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | the texts are the same, so the step is right | a fault can keep them; compare the logits on given tokens |
# | a better draft gives better texts | it gives fewer passes; the texts are the model's |
# | speculation is always faster | here three of five drafts were slower than the plain step |
# | every call is valid, so the calls are right | the mask knows the form only |
# | the int8 cache changed hardly anything, so it is exact | its logits differ by far more than rounding |
#
# The times are those of a tiny model on one thread, where calling an operation costs more than its arithmetic. A large model
# on a GPU is another case. **Further, without a check:** make a draft that is right less often than the 4-gram and still
# makes decoding faster. What may such a draft cost?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A colleague shows ten texts that are the same with and without speculation. What else would you ask for?</summary>I would ask for sampled texts as well as greedy ones. I would also want mismatches at each place of the proposals, a draft that is always wrong, and texts that end among the proposals. A cache that forgets too little shows only after a mismatch.</details>
# <details><summary>2. Why not draw from p after a rejection?</summary>What was accepted already holds min(p, q) of each token. For a token that the draft proposes too often, that is all of p, and a draw from p would add more. Only the missing part, max(p - q, 0), belongs there.</details>
# <details><summary>3. Every call is valid under a mask. Has the model become better at calling?</summary>Only its form is better, and the mask forced that. Whether tool and numbers fit the question is another count. A wrong call in the right form will be executed.</details>
# <details><summary>4. The draft is told another seed than the loop. What changes?</summary>Fewer proposals are accepted, so there are more passes. The text stays the same, because it is drawn from the model's logits with the loop's own u.</details>
# <details><summary>5. An int8 cache gives another text than float32. Is it broken?</summary>One near tie is enough for that. Count changes on given text, and compare in pairs what the model is used for.</details>

# %% [markdown] id="summary"
# ## Summary
#
# Ask of every speed-up what it leaves unchanged, and test exactly that: logits within a tolerance, the same texts, or a computed
# distribution. Speculation needs fewer passes, and each is longer. It pays if the draft is cheap and often right. A mask is
# a promise about form. A smaller cache makes another model, and is judged as one. This is the last notebook; the first,
# [00 Start here](00_start_here.ipynb), showed four texts that you can now explain.
#
# **Sources.** Y. Leviathan et al., [*Fast inference from transformers via speculative decoding*](https://arxiv.org/abs/2211.17192), 2022, and C. Chen et al.,
# [*Accelerating large language model decoding with speculative sampling*](https://arxiv.org/abs/2302.01318), 2023: the textbook rule and why it is exact.
# [llguidance](https://github.com/guidance-ai/llguidance): grammars and schemas as masks. Checked on 2026-12-01. A teaching example, not a production benchmark.
