# %% [markdown] id="title"
# # 07 · Why did it stop?
#
# **After this notebook you can** say of each answer why it ended, and whether it may be cut off; search for stop strings
# in a stream without showing half of one; decode tokens that end within a character; and run a model's tool calls
# without ever running one that is not whole.
#
# **You need** notebooks 01 and 04. **Time:** 90 minutes.

# %% id="setup"
import json

import torch

from course_utils import bigram, bpe, checkpoint, generation, predict, text, tool_calls, widgets
from course_utils.checking import check
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria, StopMatcher

vocab = text.CharVocab.from_text(text.load_text("all"))

# %% [markdown] id="two-ends-text"
# ## An end mark is not a budget
#
# A model ends a text by `<eos>`, a token of its vocabulary. The budget, `max_new_tokens`, is the caller's: how much
# computation an answer may take. For examples by hand, here is a model that writes what it is told, then `<eos>`.
#
# It will write `Yes.`, four characters and so four tokens. **Guess** what is reported with a budget of 4: `"eos"` or
# `"length"`?

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
assert reasons[4] is FinishReason.LENGTH and reasons[5] is FinishReason.EOS
predict.beside(my_reason, reasons[4].value, "a budget of 4")

# %% [markdown] id="ends-explained"
# With 4 the text is whole, but nobody knows: the end mark would have been the fifth token. So `length` does not mean
# *cut off*, it means *may be cut off*. With 5, end mark and budget come true together, and the end mark is reported, since
# then nothing is missing.
#
# Now 40 tales of the bigram. **Before you run:** will twice the budget let twice as many of them end?

# %% id="share"
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
seeds = [SamplingParams(seed=seed) for seed in range(40)]
answers = generation.generate_batch(model, vocab, [""] * 40, seeds, StopCriteria(400))
lengths = [len(a.token_ids) for a in answers if a.finish_reason is FinishReason.EOS]
ended = {budget: sum(length <= budget for length in lengths) for budget in (50, 100, 200, 400)}
print("of 40 texts, ended by <eos> within the budget:", ended)
assert ended[200] < ended[400] < 2 * ended[200] < 4 * ended[100]
short = generation.generate(model, vocab, "", seeds[0], StopCriteria(50))
assert short.token_ids == answers[0].token_ids[:50]

# %% [markdown] id="share-explained"
# Nearly, but not quite. One run at 400 answers for all smaller budgets: a draw depends on the seed and the step, so a
# smaller budget gives the beginning of the same text. A budget does not make a model brief. It only decides where
# somebody stops listening.
#
# ## A cut-off answer that parses
#
# How does one find out that JSON was cut off? By parsing it, people say. **Guess:** `7608` has three proper
# beginnings, `7`, `76` and `760`. How many of them are valid JSON?

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
assert valid == {'{"total": 7608}': [], "[76, 8]": [], '"seven"': [], "7608": ["7", "76", "760"]}
predict.beside(my_valid, len(valid["7608"]), "valid beginnings")

# %% [markdown] id="json-explained"
# An open brace betrays itself, a number does not: `760` is valid, and wrong by a factor of ten. It is the same with
# code (`total = 760` is a whole statement), quotations and prose. What tells is `finish_reason`; parsing is the second
# question.
#
# The third bound is the model's context. The tiny Llama has room for 512 tokens, and with `eos=False` no end mark
# stops it.

# %% id="context"
llama, llama_vocab = checkpoint.load_model("tiny_llama")
long = generation.generate(llama, llama_vocab, "The ", SamplingParams(seed=0), StopCriteria(1000, eos=False))
print(f"context {llama.block_size}, prompt 5 with <bos>, new {len(long.token_ids)}: {long.finish_reason.value}")
assert len(long.token_ids) == llama.block_size - 5 + 1  # the last one needs no room: it is not fed

# %% [markdown] id="reason-exercise-text"
# ### Exercise `07.finish_reason` · easy · 8 minutes
#
# Write `finish_reason` for the moment after a token. Several conditions may hold: EOS comes first, then STOP_STRING,
# TOOL_CALL, LENGTH, CONTEXT. `stop` is the stop string that matched, or `None`. LENGTH holds when `n_new` equals
# `max_new_tokens`, CONTEXT when `n_context` equals `context_size`. If none holds, give `None`: the text goes on.

# %% id="exercise-finish-reason" tags=["exercise:07.finish_reason"]
def finish_reason(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    ...

# %% id="check-finish-reason" tags=["check:07.finish_reason", "nbval-ignore-output"]
check("07.finish_reason", finish_reason)

# %% [markdown] id="tokens-text"
# ## Stop strings are text, not tokens
#
# A caller may also stop at a *stop string*, such as a line end. Real tokens are not characters: *byte-pair encoding*
# merges frequent neighbours, here of tales and a few lines with other signs. `␣` is a space; bytes that are no character by
# themselves are written as `<E2 80>`.
#
# A server encodes the stop string `said` once and looks for these ids among those of the text. **Guess:** does it find
# them in `he said no`? (`True` or `False`)

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
    assert row[2]
predict.beside(my_found, by_ids("said", "he said no"), "said, by ids")

# %% [markdown] id="tokens-explained"
# The same letters are other tokens in another place: `␣said` is one, `said` at the beginning is three. Comparing ids
# misses it, and looking into each token misses what goes over an edge. Only the text is sure to show it.
#
# But the text comes in pieces, and a reader sees them at once. When `.⏎` has come and the stop is `⏎Q:`, may the line
# end be shown? Move the slider.

# %% id="stream-panel"
widgets.watch_stream(["yes", ".\n", "Q", "; no", "\nQ", ": and", " more"], ["\nQ:"])

# %% [markdown] id="panel-answers"
# **Find out by moving:** after which pieces is nothing held back? Which pieces are never made? What changes when
# the stop strings are `[";", "\nQ:"]`? <details><summary>Answers</summary>After 1 and 4. The last. At piece 4 the text ends with yes.⏎Q, since ; is complete first.</details>
#
# What can still become a stop is *held back*, and nothing else. When the stream ends, the rest is shown.
#
# Two stops, `bcd` and `c`, and the text `abcd`. **Guess** what is shown in the end.

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
assert results == {"ab"}
predict.beside(my_text, results.pop(), "shown")

# %% [markdown] id="stop-exercise-text"
# `bcd` begins first, but `c` is complete first: a model that writes one character at a time would have stopped there.
# *The earliest completion wins*, so the cuts do not matter.
#
# ### Exercise `07.stop_matcher` · hard · 20 minutes
#
# Write the generator `cut_at_stop(pieces, stops)`. It yields deltas, none of them empty; joined, they are the text before the stop that
# completes earliest (of two that complete together, the longer). It holds back only what can still match, yields the rest
# before it asks for the next piece, asks for none after the stop, and shows what is held at the end. `stops` may be empty.

# %% id="exercise-stop-matcher" tags=["exercise:07.stop_matcher"]
def cut_at_stop(pieces, stops):
    ...

# %% id="check-stop-matcher" tags=["check:07.stop_matcher", "nbval-ignore-output"]
check("07.stop_matcher", cut_at_stop)

# %% [markdown] id="include-text"
# ## Shown or not, and which one
#
# Whether the stop string belongs to the answer is for the caller to say: a line end hardly, a closing bracket mostly. And
# `"stop"` alone does not tell an end mark from a stop string, nor one stop string from another. So a `Generation` keeps it.

# %% id="include"
prompt = "Q: one\nA:"
for stop, include in ((["Q:", "!"], False), (["Q:", "!"], True), (["!"], False)):
    criteria = StopCriteria(40, stop=stop, include_stop=include)
    answer = generation.generate(script(" two\nQ: three", prompt), vocab, prompt, stopping=criteria, use_cache=False)
    print(f"{answer.text!r:18} {answer.finish_reason.value}: {answer.stop!r}, for an API {answer.finish_reason.api_name!r}")

# %% [markdown] id="bytes-text"
# The prompt has a `Q:` too. Only generated text is searched.
#
# ## Characters over token edges
#
# A token may also be *less* than a character: an emoji is four bytes, and the bytes may be several tokens. Decoding each
# token by itself gives U+FFFD, the mark for broken text, `�`. A decoder that waits gives the character.
#
# Below, a bigram over such tokens streams, by the same loop as ever. It writes ☕, which is three tokens, after one for the
# space. **Guess** the text if the budget is 3.

# %% id="bytes"
ids = byte_vocab.encode("the fox 🙂")
decoder = byte_vocab.decoder()
print("token by token:", [byte_vocab.decode([token_id]) for token_id in ids])
print("with a decoder:", [decoder.feed(token_id) for token_id in ids], "and at the end", repr(decoder.flush()))
print("as bytes:      ", [byte_vocab.label(token_id) for token_id in ids])

# %% id="guess-broken" tags=["nbval-ignore-output"]
my_broken = ...

# %% id="broken"
byte_model = bigram.BigramLM.fit(byte_vocab.encode_documents(documents), len(byte_vocab))
for budget in (14, 3):
    params, criteria = SamplingParams(0.7, seed=10), StopCriteria(budget)
    *chunks, last = generation.stream(byte_model, byte_vocab, "It rained on the tea", params, criteria)
    answer = last.generation
    print(f"{[chunk.text for chunk in chunks]}\n  from {' · '.join(map(byte_vocab.label, answer.token_ids))}")
    assert "".join(chunk.text for chunk in chunks) == answer.text

# %% id="see-broken" tags=["nbval-ignore-output"]
predict.beside(my_broken, answer.text, "budget 3")

# %% [markdown] id="broken-explained"
# In `the fox 🙂` one token is a space and half of a face. So two things wait in a stream: bytes that are no character
# yet, and characters that may become a stop. When the text ends, both are let go. A character without its last byte
# becomes one `�`: a reader shall see that something is missing.
#
# ## Tool calls
#
# The corpus has a protocol. A call is JSON between two marks, each a token of its own; the answer of a tool comes between
# two others. **Before you run:** what becomes of the call if the budget is 20, in the middle of its JSON?

# %% id="protocol"
writer = script('<call>{"tool": "multiply", "args": [317, 24]}</call><result>7608</result>\nA: 7608')
for budget in (20, 45, 100):
    turns = tool_calls.run_with_tools(writer, vocab, "", stopping=StopCriteria(budget), use_cache=False)
    for number, turn in enumerate(turns, 1):
        outcome = turn.outcome.value if turn.outcome else "no call"
        print(f"budget {budget:>3}, turn {number}: {turn.finish_reason.value:>9}, {outcome:>9}, "
              f"result {turn.result}, text {turn.text!r}")
assert turns[-1].text == "\nA: 7608"

# %% [markdown] id="tools-explained"
# A text ends with TOOL_CALL when `</call>` is sampled. The model only *writes* a call; the program around it decides, runs,
# and feeds `<result>…</result>` to the same cache, as tokens that were forced and not drawn, and the model goes on. The
# budget counts what was drawn, over all turns. A call that it cuts is LENGTH, and nothing is run.
#
# Now the tiny Llama, which has learned this. Two questions decide whether it is right: does it copy the numbers into
# the call, and the result into the answer?

# %% id="tools" tags=["nbval-ignore-output"]
greedy = SamplingParams(greedy=True)
turns = tool_calls.run_with_tools(llama, llama_vocab, "Q: 317*24\n", tool_calls.calculator, greedy, StopCriteria(120))
for turn in turns:
    print(f"{turn.finish_reason.value}: text {turn.text!r}, call {turn.call}, result {turn.result}")
    assert turn.finish_reason is FinishReason.TOOL_CALL or turn.result is None  # what is not whole is not run
    assert (turn.outcome is tool_calls.Outcome.RAN) == (turn.result is not None)
print(f"and 317 * 24 is {317 * 24}")

# %% [markdown] id="guess-alone-text"
# **Before you run:** what comes when nobody runs the call? Does the model stop, or does it write a result of its own?

# %% id="alone" tags=["nbval-ignore-output"]
alone = generation.generate(llama, llama_vocab, "Q: 317*24\n", greedy, StopCriteria(120))
print("without a tool:", "".join(llama_vocab.tokens[i] for i in alone.token_ids))

# %% [markdown] id="call-exercise-text"
# A model that was trained on results can only imitate them: it has seen what they look like.
#
# A text of a model is data from outside. It is parsed when it is complete, checked, and looked up in an allow list. It never
# goes to `eval`, and nobody guesses what a cut-off call was to become.
#
# ### Exercise `07.read_call` · medium · 12 minutes
#
# Write `read_call(text)` for the text between the marks: `(tool, args)` if it is one complete, valid JSON object with
# exactly the keys `tool`, a str that is not empty, and `args`, a list of integers (no booleans; may be empty). Otherwise
# `None`. Nothing is run, and whether the tool exists is not asked here.

# %% id="exercise-read-call" tags=["exercise:07.read_call"]
def read_call(text):
    ...

# %% id="check-read-call" tags=["check:07.read_call", "nbval-ignore-output"]
check("07.read_call", read_call)

# %% id="outcomes"
for call in ('{"tool": "multiply", "args": [317, 24]}', '{"tool": "multiply", "args": [317, 2',
             '{"tool": "launch", "args": []}', '{"tool": "add", "args": [1, 2, 3]}',
             '{"tool": "add", "args": [true, 1]}', '{"tool": "add", "args": [1000, 1]}',
             '{"tool": "add", "args": [' + "1, " * 80 + "1]}"):
    outcome, result = tool_calls.run_call(call, tool_calls.calculator)
    print(f"{outcome.value:>16}  {result or '-':>5}  {call[:44]}{'…' if len(call) > 44 else ''}")
    assert (outcome is tool_calls.Outcome.RAN) == (result is not None)

# %% [markdown] id="servers"
# ## What servers call it
#
# | here | OpenAI's API and its like | Anthropic | vLLM | llama.cpp | Ollama |
# |---|---|---|---|---|---|
# | field | `finish_reason` | `stop_reason` | `finish_reason`, `stop_reason` | `stop_type` | `done_reason` |
# | EOS | `stop` | `end_turn` | `stop`, null | `eos` | `stop` |
# | STOP_STRING | `stop` | `stop_sequence` | `stop`, the string | `word` | `stop` |
# | TOOL_CALL | `tool_calls` | `tool_use` | `tool_calls` in its chat API | – | – |
# | LENGTH | `length` | `max_tokens` | `length` | `limit` | `length` |
# | CONTEXT | – | `model_context_window_exceeded` | `length` | – | – |
#
# A dash: not told apart, or not said by the source. OpenAI's word `stop` covers two of our reasons; llama.cpp and Anthropic
# say which string it was in a field of its own.

# %% [markdown] id="self-test"
# ## Self-test
#
# <details><summary>1. A summary ends in mid-sentence. Which field do you read before you blame the model?</summary>The finish reason. With LENGTH or CONTEXT the budget or the context did it, with STOP_STRING a stop string, and only with EOS the model.</details>
# <details><summary>2. The JSON of an answer parses. Is it complete?</summary>Not for that reason alone: 760 is a valid beginning of 7608. It is if the reason is EOS, or a stop that you meant.</details>
# <details><summary>3. Why does a stream with the stop string STOP not always hold back three characters?</summary>Most ends of a text begin no stop. Holding back what cannot match delays every piece for nothing.</details>
# <details><summary>4. The end mark comes as the last token of the budget. EOS or LENGTH?</summary>EOS: the text is whole, which is what the caller wants to know.</details>
# <details><summary>5. A call was cut off by the budget, but one brace would complete it. May the program add it?</summary>No. [317, 2] would be valid too, where [317, 24] was to come.</details>

# %% [markdown] id="summary"
# ## Summary
#
# EOS is the model's word, a budget and stop strings are the caller's, the context is the model's size, and a call is a
# request to somebody else. The reason belongs to the answer. Stops are found in text, earliest completion first; a stream
# holds back what may become one. A call that is not whole and valid is not run.
#
# **Sources.** [OpenAI, chat completions](https://platform.openai.com/docs/api-reference/chat/object). [Anthropic, stop
# reasons](https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons). [vLLM, pull request 2976](https://github.com/vllm-project/vllm/pull/2976)
# and its `vllm/v1/engine`. [llama.cpp's server](https://github.com/ggml-org/llama.cpp/tree/master/tools/server). [Ollama, `llm/server.go`](https://github.com/ollama/ollama/blob/main/llm/server.go).
# A. Aho and M. Corasick, [*Efficient string matching*](https://doi.org/10.1145/360825.360855), 1975. R. Sennrich et al., [byte-pair
# encoding](https://arxiv.org/abs/1508.07909), 2016. [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259), JSON. Checked on 2026-11-30. A teaching example, not a production benchmark.
