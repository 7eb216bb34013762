"""Calls: read, judged, run, and their results fed back; and everything that must never run."""

import functools
import math
import operator
from fractions import Fraction

import numpy as np
import pytest
import torch
from script_models import NoModel, PieceVocab, ScriptModel, saying

from course_utils import exercises, tool_calls
from course_utils.generation import generate, generate_batch, stream
from course_utils.generation import row as row_module
from course_utils.randomness import uniform
from course_utils.sampling import SamplingParams, choose
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.storyworld import arithmetic
from course_utils.text import CharVocab, load_documents
from course_utils.tool_calls import Outcome, calculator, read_call, run_call, run_with_tools
from course_utils.transformer import Transformer, TransformerConfig

GREEDY = SamplingParams(greedy=True)
CALL = '{"tool": "multiply", "args": [317, 24]}'
DIVIDE = '{"tool": "divide", "args": [6, 2]}'
HALF = '{"tool": "f", "args": [0.5]}'


# --- reading a call


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (CALL, ("multiply", [317, 24])),
        (' {"args":[-1,\n0] ,"tool":"x y"} ', ("x y", [-1, 0])),
        ('{"tool": "f", "args": []}', ("f", [])),
        ('{"tool": "1}2", "args": [1]}', ("1}2", [1])),
        ('{"tool": "for { i", "args": []}', ("for { i", [])),
        ('{"tool": "the tag </call> ends it", "args": []}', ("the tag </call> ends it", [])),
        ('{"tool": "\\ud83d\\ude80", "args": []}', ("🚀", [])),
        ('{"tool": "say \\"hi\\" \\\\", "args": [7]}', ('say "hi" \\', [7])),
    ],
)
def test_a_complete_call_is_read(text, call):
    assert read_call(text) == call


NO_CALLS = [
    "",
    "multiply(317, 24)",
    "null",
    "[]",
    '["multiply", [317, 24]]',
    CALL + CALL,
    CALL + " now",
    "For example " + CALL,
    f"[{CALL}]",
    '{"tool": "add"}',
    '{"args": [1, 2]}',
    '{"tool": "add", "args": [1, 2], "id": 3}',
    '{"tool": "add", "args": [1, 2], "tool": "subtract"}',
    '{"tool": "add", "args": [1, 2], "args": [1, 2]}',
    '{"Tool": "add", "args": [1, 2]}',
    '{"tool": "", "args": [1, 2]}',
    '{"tool": null, "args": [1, 2]}',
    '{"tool": ["add"], "args": [1, 2]}',
    '{"tool": "add", "args": {"a": 1, "b": 2}}',  # nested, and another protocol
    '{"tool": "add", "args": 1}',
    '{"tool": "add", "args": "12"}',
    '{"tool": "add", "args": [1, true]}',
    '{"tool": "add", "args": [1, 2.0]}',
    '{"tool": "add", "args": [1, 1e2]}',
    '{"tool": "add", "args": [1, "2"]}',
    '{"tool": "add", "args": [1, null]}',
    '{"tool": "add", "args": [1, [2]]}',
    '{"tool": "add", "args": [1, NaN]}',
    '{"tool": "add", "args": [1, -Infinity]}',
    '{"tool": "add", "args": [1, 02]}',
    '{"tool": "add", "args": [1, 2,]}',
    '{"tool": "add", "args": [1, 0x2]}',
    "{'tool': 'add', 'args': [1, 2]}",
    '{"tool": "a\nb", "args": [1, 2]}',
    '{"tool": "add", "args": [1, 2]} // sum',
    '{"tool": "add", "args": [' + "1, " * 100 + "1]}",
    "[" * 100_000,
    '{"tool":' * 100_000,
]


@pytest.mark.parametrize("text", [*NO_CALLS, *(CALL[:n] for n in range(len(CALL)))])
def test_what_is_no_complete_call_is_none(text):
    assert read_call(text) is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"tool":' * 100_000])
def test_the_exercises_reference_gives_none_for_a_text_that_is_nested_too_deeply(text):
    assert exercises.all_exercises()["07.read_call"].solution()(text) is None


def never(*arguments):
    raise AssertionError(f"executed with {arguments}")


TOOLS = {"multiply": never, "add": never, "f": never}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (CALL[:-1], Outcome.MALFORMED),
        (CALL + " now", Outcome.MALFORMED),
        ('{"tool": "add", "args": [1, 2], "id": 3}', Outcome.MALFORMED),
        ('{"tool": "add", "args": [1, NaN]}', Outcome.MALFORMED),
        ('{"tool": "add", "args": [' + "1" * 200 + ", 2]}", Outcome.OVERSIZED),
        (" " * 200 + CALL, Outcome.OVERSIZED),
        ('{"tool": "divide", "args": [1, 2]}', Outcome.UNKNOWN_TOOL),
        ('{"tool": "rm", "args": ["-rf"]}', Outcome.UNKNOWN_TOOL),
        ('{"tool": "__class__", "args": []}', Outcome.UNKNOWN_TOOL),
        ('{"tool": "Multiply", "args": [1, 2]}', Outcome.UNKNOWN_TOOL),
        ('{"tool": "add", "args": [1, true]}', Outcome.WRONG_ARGUMENTS),
        ('{"tool": "add", "args": [1, "2"]}', Outcome.WRONG_ARGUMENTS),
        ('{"tool": "add", "args": [1, 2.0]}', Outcome.WRONG_ARGUMENTS),
    ],
)
def test_each_reason_not_to_run_is_told_apart_and_nothing_runs(text, outcome):
    assert run_call(text, TOOLS) == (outcome, None)


@pytest.mark.parametrize("arguments", ["[1]", "[]", "[1, 2, 3]", "[1000, 2]", "[2, -1000]", "[2, " + "9" * 50 + "]"])
def test_the_calculator_refuses_other_counts_and_longer_numbers(arguments):
    for tool in calculator:
        assert run_call(f'{{"tool": "{tool}", "args": {arguments}}}', calculator) == (Outcome.WRONG_ARGUMENTS, None)


def test_the_calculator_gives_the_results_of_the_corpus():
    assert run_call(CALL, calculator) == (Outcome.RAN, "7608")
    assert run_call('{"tool": "subtract", "args": [-999, 999]}', calculator) == (Outcome.RAN, "-1998")
    for document in load_documents("calls", "validation")[:300]:
        call, result = (document.split(f"<{mark}>")[1].split(f"</{mark}>")[0] for mark in ("call", "result"))
        assert len(call) < tool_calls.MAX_CALL_LENGTH and run_call(call, calculator) == (Outcome.RAN, result)


def test_the_allow_list_does_not_change():
    assert set(calculator) == set(arithmetic.TOOLS.values())
    with pytest.raises(TypeError):
        calculator["rm"] = never


def test_a_fault_of_the_tool_itself_is_not_hidden():
    def broken(a):
        return {}[a]

    with pytest.raises(KeyError):
        run_call('{"tool": "f", "args": [1]}', {"f": broken})


def called(tool, arguments):
    return run_call(f'{{"tool": "t", "args": {arguments}}}', {"t": tool})


@pytest.mark.parametrize(
    ("tool", "right", "result", "wrong"),
    [
        (max, "[1, 2]", "2", ["[]", "[1]"]),
        (min, "[1, 2]", "1", ["[]", "[1]"]),
        (int, "[2]", "2", ["[1, 2, 3]", "[2, 3]"]),
        (math.gcd, "[4, 6]", "2", []),
        (operator.add, "[4, 6]", "10", ["[4]"]),
        (abs, "[-4]", "4", ["[]", "[1, 2]"]),
    ],
)
def test_a_built_in_function_is_a_tool(tool, right, result, wrong):
    assert called(tool, right) == (Outcome.RAN, result)
    for arguments in wrong:
        assert called(tool, arguments) == (Outcome.WRONG_ARGUMENTS, None)


def test_a_type_error_within_a_tool_is_its_own_fault():
    with pytest.raises(TypeError, match="NoneType"):
        called(lambda a: a + None, "[1]")


def test_a_result_of_too_many_digits_ran():
    ran = []

    def power(a, b):
        ran.append((a, b))
        return a**b

    assert called(power, "[10, 4299]") == (Outcome.RAN, "1" + "0" * 4299)
    assert called(power, "[10, 4300]") == (Outcome.RESULT_TOO_LONG, None)
    assert called(lambda: Fraction(1, 10**5000), "[]") == (Outcome.RESULT_TOO_LONG, None)
    turns, _, _ = turns_of(["<call>", '{"tool": "power", "args": [-10, 4301]}', "</call>", "x"], tools={"power": power})
    assert [(turn.outcome, turn.result) for turn in turns] == [(Outcome.RESULT_TOO_LONG, None)]
    assert ran == [(10, 4299), (10, 4300), (-10, 4301)]


async def coroutine(a):
    raise AssertionError("executed")


async def asynchronous_generator(a):
    yield a


def generator(a):
    yield a


class Asynchronous:
    async def __call__(self, a):
        return a


@pytest.mark.parametrize(
    "tool", [coroutine, asynchronous_generator, generator, Asynchronous(), functools.partial(coroutine), 3, "add", None]
)
def test_a_tool_that_gives_no_result_is_refused_before_anything_runs(tool):
    with pytest.raises(TypeError, match="tool"):
        called(tool, "[1]")
    with pytest.raises(TypeError, match="tool"):
        run_with_tools(NoModel(), VOCAB, QUESTION, {"t": tool})


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        (lambda a: coroutine(a), "coroutine"),
        (lambda a: generator(a), "generator"),
        (lambda a: asynchronous_generator(a), "async_generator"),
        (lambda a: None, "NoneType"),
        (lambda a: [10**5000], "list"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_result_is_not_fed_to_the_model(tool, kind):
    with pytest.raises(TypeError, match=f"'t' was called and gave a value of type {kind}"):
        called(tool, "[1]")


@pytest.mark.parametrize("tools", [[max], {max}, {1: max}, None])
def test_an_allow_list_names_functions(tools):
    with pytest.raises(TypeError, match="tools "):
        run_call(CALL, tools)


def test_numbers_of_other_libraries_are_results():
    for number in (np.int64(3), torch.tensor(3), np.array(3)):
        assert called(lambda a, number=number: number, "[1]") == (Outcome.RAN, "3")
    assert called(lambda a: a / 4, "[1]") == (Outcome.RAN, "0.25")


def test_what_is_no_text_is_no_call():
    with pytest.raises(TypeError, match="text is None; expected the str between the marks"):
        run_call(None, calculator)


def test_a_result_that_the_vocabulary_lacks_is_said_to_have_run():
    pieces = ["<call>", '{"tool": "f", "args": []}', "</call>", "x"]
    model, vocab = saying(*pieces)
    vocab.encode = CharVocab("1").encode
    with pytest.raises(ValueError, match=r"A tool ran and gave '½', which the model cannot be told. The character '½'"):
        run_with_tools(model, vocab, "", {"f": lambda: "½"}, GREEDY, StopCriteria(9))


# --- a call ends the text


def answer(pieces, prompt="", **settings):
    model, vocab = saying(*pieces)
    stopping = StopCriteria(**({"max_new_tokens": len(pieces), "tool_calls": True} | settings))
    result = generate(model, vocab, prompt, GREEDY, stopping)
    chunks = list(stream(saying(*pieces)[0], vocab, prompt, GREEDY, stopping))
    assert chunks[-1].generation == result and "".join(chunk.text for chunk in chunks) == result.text
    return result


def test_a_complete_call_ends_with_tool_calls_streamed_or_not():
    result = answer(["Hi ", "<call>", '{"a":', "1}", "</call>", "x"])
    assert (result.text, result.tool_call, len(result.token_ids)) == ("Hi ", '{"a":1}', 5)
    assert result.finish_reason is FinishReason.TOOL_CALL and result.finish_reason.api_name == "tool_calls"


def test_a_call_is_complete_also_with_the_last_token_of_the_budget():
    result = answer(["<call>", "x", "</call>"])
    assert (result.finish_reason, result.tool_call) == (FinishReason.TOOL_CALL, "x")


def test_a_call_that_is_cut_off_is_no_call():
    result = answer(["a", "<call>", CALL, "</call>"], max_new_tokens=3)
    assert (result.text, result.tool_call, result.finish_reason) == ("a", None, FinishReason.LENGTH)
    result = answer(["a", "<call>", CALL, "<eos>", "</call>"])
    assert (result.text, result.tool_call, result.finish_reason) == ("a", None, FinishReason.EOS)


def test_without_tool_calls_the_marks_are_specials_and_the_call_is_text():
    result = answer(["a", "<call>", "x", "</call>", "b"], tool_calls=False)
    assert (result.text, result.tool_call, result.finish_reason) == ("axb", None, FinishReason.LENGTH)


def test_stop_strings_are_not_searched_in_a_call_and_do_not_span_it():
    result = answer(["A", "<call>", "STOP", "</call>", "x"], stop=["STOP", "AS", "Ax"])
    assert (result.text, result.tool_call, result.stop) == ("A", "STOP", None)
    result = answer(["ST", "OP", "<call>", "x", "</call>"], stop=["STOP"])
    assert (result.text, result.stop, result.finish_reason) == ("", "STOP", FinishReason.STOP_STRING)


def test_a_closing_mark_without_a_call_is_nothing():
    result = answer(["a", "</call>", "b", "</result>"])
    assert (result.text, result.finish_reason) == ("ab", FinishReason.LENGTH)


def test_a_mark_within_a_call_spoils_it():
    result = answer(["<call>", '{"tool": ', "<call>", '"add", "args": [1, 2]}', "</call>"])
    assert result.tool_call == '{"tool": <call>"add", "args": [1, 2]}' and read_call(result.tool_call) is None
    result = answer(["<call>", "<eos>", CALL, "</call>"], eos=False)
    assert result.tool_call == "<eos>" + CALL


def test_spelled_out_marks_and_json_in_prose_are_text():
    spelled = [*"For example <call>", CALL, *"</call>"]
    result = answer(spelled)
    assert (result.text, result.tool_call) == ("".join(spelled), None)
    result = answer(["<call>", '{"tool": "the tag ', *"</call>", ' ends it", "args": []}', "</call>", "x"])
    assert read_call(result.tool_call) == ("the tag </call> ends it", [])


@pytest.mark.parametrize("size", [1, 2, 3, 8, 100])
def test_the_same_call_for_all_cuts(size):
    pieces = [CALL[i : i + size] for i in range(0, len(CALL), size)]
    result = answer(["Hi ", "<call>", *pieces, "</call>", "x"])
    assert (result.text, read_call(result.tool_call)) == ("Hi ", ("multiply", [317, 24]))


def test_a_call_that_the_prompt_has_opened_is_completed():
    vocab = CharVocab("Q{}x")
    model = ScriptModel([[vocab.ids["}"], vocab.ids["</call>"]]], len(vocab))
    result = generate(model, vocab, "Q<call>x</call>Q<call>{x", GREEDY, StopCriteria(2, tool_calls=True))
    assert (result.text, result.tool_call) == ("", "{x}")
    model = ScriptModel([[vocab.ids["}"], vocab.ids["</call>"]]], len(vocab))
    result = generate(model, vocab, "Q<call>x</call>", GREEDY, StopCriteria(2, tool_calls=True))
    assert (result.text, result.tool_call) == ("}", None)


def test_rows_of_a_batch_end_each_with_its_own_call():
    vocab = PieceVocab(["a", "b"])
    script = [[vocab.ids[token] for token in row] for row in (
        ["<call>", "a", "</call>", "b"], ["a", "<call>", "b", "</call>"], ["a", "b", "a", "<eos>"])]  # fmt: skip
    results = generate_batch(ScriptModel(script), vocab, [""] * 3, GREEDY, StopCriteria(4, tool_calls=True))
    assert [(result.text, result.tool_call) for result in results] == [("", "a"), ("a", "b"), ("aba", None)]


# --- calls, results and answers


def turns_of(pieces, prompt="", tools=calculator, sampling=GREEDY, stopping=None, **settings):
    """The turns when a model says these pieces, and what it was fed."""
    model, vocab = saying(*pieces, *"0123456789-")
    vocab = CharLike(vocab)
    turns = run_with_tools(model, vocab, prompt, tools, sampling, stopping or StopCriteria(len(pieces)), **settings)
    return turns, model, vocab


class CharLike:
    """Encodes text by characters, whatever its pieces are."""

    def __init__(self, vocab):
        self.vocab = vocab

    def __len__(self):
        return len(self.vocab)

    def __getattr__(self, name):
        return getattr(self.vocab, name)

    def encode(self, text):
        return [self.vocab.ids[character] for character in text]


def test_a_call_runs_and_its_result_is_fed():
    pieces = ["Hm ", "<call>", CALL, "</call>", "A: ", "7608", "<eos>"]
    turns, _, vocab = turns_of(pieces)
    assert [(turn.text, turn.call, turn.outcome, turn.result) for turn in turns] == [
        ("Hm ", CALL, Outcome.RAN, "7608"),
        ("A: 7608", None, None, None),
    ]
    assert [turn.finish_reason.name for turn in turns] == ["TOOL_CALL", "EOS"]
    assert [[vocab.tokens[i] for i in turn.token_ids] for turn in turns] == [pieces[:4], pieces[4:]]


VOCAB = CharVocab.from_text("".join(load_documents("calls")[:50]))
QUESTION = "Q: 317*24\n"


class Speaking:
    """A random transformer that makes a document's next token the likeliest while it has seen only that document."""

    def __init__(self, block_size=160, seed=0):
        torch.manual_seed(seed)
        self.model = Transformer(TransformerConfig(len(VOCAB), 1, 2, 1, 16, block_size)).eval()
        self.block_size, self.new_cache = block_size, self.model.new_cache
        self.document = [
            VOCAB.bos_id,
            *VOCAB.encode(f"{QUESTION}<call>{CALL}</call><result>7608</result>\nA: 7608<eos>"),
        ]
        self.n_tokens, self.seen, self.fed = 0, [], []

    def __call__(self, token_ids, cache=None, attention_mask=None):
        self.fed.append(token_ids[0].tolist())
        self.seen = token_ids[0].tolist() if cache is None else self.seen + token_ids[0].tolist()
        logits = self.model(token_ids, cache, attention_mask)
        if self.seen == self.document[: len(self.seen)] and len(self.seen) < len(self.document):
            logits[0, -1, self.document[len(self.seen)]] += 100
        return logits


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("sampling", [GREEDY, SamplingParams(seed=2)])
def test_the_result_enters_the_same_cache_and_nothing_is_fed_twice(sampling, use_cache):
    model = Speaking()
    first, second = run_with_tools(model, VOCAB, QUESTION, calculator, sampling, StopCriteria(100), use_cache=use_cache)
    assert (first.text, first.call, first.result, second.text) == ("", CALL, "7608", "\nA: 7608")
    result_ids = VOCAB.encode("<result>7608</result>")
    if use_cache:
        prompt = [VOCAB.bos_id, *VOCAB.encode(QUESTION)]
        expected = [prompt, *([i] for i in first.token_ids[:-1]), [first.token_ids[-1], *result_ids]]
        assert model.fed == [*expected, *([i] for i in second.token_ids[:-1])]
    else:
        assert model.fed[-1] == [
            VOCAB.bos_id,
            *VOCAB.encode(QUESTION),
            *first.token_ids,
            *result_ids,
            *second.token_ids[:-1],
        ]
    assert not set(result_ids[:1] + result_ids[-1:]) & {*first.token_ids, *second.token_ids}


def test_one_cache_serves_all_turns_and_holds_the_whole_text():
    speaking = Speaking()
    caches, make = [], speaking.new_cache
    speaking.new_cache = lambda *arguments: caches.append(make(*arguments)) or caches[-1]
    run_with_tools(speaking, VOCAB, QUESTION, calculator, GREEDY, StopCriteria(100))
    (cache,) = caches
    assert cache.token_ids[0].tolist() == speaking.document[:-1]  # all but the last one sampled, the result included


def test_steps_of_the_draw_go_on_over_the_turns_and_skip_forced_tokens(monkeypatch):
    drawn_with = []
    monkeypatch.setattr(row_module, "choose", lambda *args: drawn_with.append(args[2]) or choose(*args))
    turns = run_with_tools(Speaking(), VOCAB, QUESTION, calculator, SamplingParams(seed=5), StopCriteria(100), sample=3)
    assert drawn_with == [uniform(5, step, 3) for step in range(sum(len(turn.token_ids) for turn in turns))]


def test_the_budget_counts_sampled_tokens_over_all_turns():
    pieces = ["<call>", CALL, "</call>", "A", "B", "C"]
    turns, model, _ = turns_of(pieces, stopping=StopCriteria(5))
    assert [len(turn.token_ids) for turn in turns] == [3, 2] and turns[1].finish_reason is FinishReason.LENGTH
    turns, model, _ = turns_of(pieces, stopping=StopCriteria(3))
    assert [(turn.outcome, turn.finish_reason.name, len(turn.token_ids)) for turn in turns] == [
        (Outcome.RAN, "TOOL_CALL", 3), (None, "LENGTH", 0)]  # fmt: skip
    assert len(model.fed) == 3  # nothing is computed once nothing may be sampled


def test_a_result_is_not_searched_for_stop_strings_and_a_stop_string_does_not_span_turns():
    turns, _, _ = turns_of(
        ["A", "<call>", CALL, "</call>", "B", "7608", "<eos>"], stopping=StopCriteria(9, stop=["AB", "760"])
    )
    assert [(turn.text, turn.finish_reason.name) for turn in turns] == [("A", "TOOL_CALL"), ("B", "STOP_STRING")]


@pytest.mark.parametrize(
    ("pieces", "outcome", "call"),
    [
        (["<call>", CALL[:20]], Outcome.TRUNCATED, CALL[:20]),
        (["<call>", CALL], Outcome.TRUNCATED, CALL),  # valid JSON, but never closed
        (["<call>", CALL, "<eos>"], Outcome.TRUNCATED, CALL),
        (["<call>", CALL[:20], "</call>"], Outcome.MALFORMED, CALL[:20]),
        (["<call>", "</call>"], Outcome.MALFORMED, ""),
        (["<call>", DIVIDE, "</call>"], Outcome.UNKNOWN_TOOL, DIVIDE),
        (["<call>", HALF, "</call>"], Outcome.WRONG_ARGUMENTS, HALF),
        (["<call>", *(["x" * 50] * 5), "</call>"], Outcome.OVERSIZED, "x" * 250),
    ],
)  # fmt: skip
def test_a_call_that_may_not_run_ends_the_text(pieces, outcome, call):
    (turn,), model, _ = turns_of(pieces, tools=TOOLS)
    assert (turn.outcome, turn.call, turn.result, turn.text) == (outcome, call, None, "")
    assert len(model.fed) == len(pieces)


@pytest.mark.parametrize("max_rounds", [0, 1, 2])
def test_the_number_of_rounds_is_limited(max_rounds):
    ran = []
    pieces = ["<call>", '{"tool": "f", "args": [5]}', "</call>"] * 4
    turns, _, _ = turns_of(pieces, tools={"f": lambda a: ran.append(a) or a}, max_rounds=max_rounds)
    assert [turn.outcome for turn in turns] == [Outcome.RAN] * max_rounds + [Outcome.ROUND_LIMIT]
    assert len(ran) == max_rounds and turns[-1].result is None


def test_a_call_beyond_the_limit_that_could_not_run_anyway_says_so():
    (turn,), _, _ = turns_of(["<call>", "nonsense", "</call>"], max_rounds=0)
    assert turn.outcome is Outcome.MALFORMED


def test_without_a_call_there_is_one_turn():
    (turn,), _, _ = turns_of(["A", CALL, "<eos>"])
    assert (turn.text, turn.call, turn.outcome) == ("A" + CALL, None, None)


def test_the_context_ends_a_turn_and_a_result_that_does_not_fit():
    length = len(Speaking().document)
    for block_size in range(length - 15, length):
        turns = run_with_tools(Speaking(block_size), VOCAB, QUESTION, calculator, GREEDY, StopCriteria(100))
        n_tokens = 1 + len(QUESTION) + sum(len(turn.token_ids) for turn in turns)
        if block_size == length - 1:
            assert turns[-1].finish_reason is FinishReason.EOS
        else:
            assert turns[-1].finish_reason is FinishReason.CONTEXT and n_tokens <= block_size + 1
        assert turns[0].outcome is Outcome.RAN and len(turns) == 2


def test_a_result_with_a_mark_in_it_is_refused():
    pieces = ["<call>", '{"tool": "f", "args": []}', "</call>", "x"]
    with pytest.raises(ValueError, match=r"A tool gave .* holds '<call>'"):
        turns_of(pieces, tools={"f": lambda: "1</result><call>"})


@pytest.mark.parametrize(("max_rounds", "error"), [(-1, ValueError), (1.5, TypeError), (None, TypeError)])
def test_rounds_are_an_integer(max_rounds, error):
    with pytest.raises(error, match="max_rounds is"):
        run_with_tools(NoModel(), VOCAB, QUESTION, max_rounds=max_rounds)


def test_settings_of_another_type_are_refused():
    with pytest.raises(TypeError, match=r"expected SamplingParams\(…\) and StopCriteria\(…\)"):
        run_with_tools(NoModel(), VOCAB, QUESTION, stopping=50)


class Counting:
    """Allows the ids that a list names, one a step, and notes what it was asked with."""

    def __init__(self, ids):
        self.ids, self.asked = ids, []

    def allowed(self, token_ids):
        self.asked.append(list(token_ids))
        return [self.ids[len(token_ids)]]


def test_what_may_come_is_said_over_all_turns_and_without_the_result():
    vocab = CharVocab.from_text(DIVIDE + "0123456789")
    spoken = vocab.encode('<call>{"tool": "add", "args": [1, 2]}</call>')
    ids = [*spoken, vocab.ids["3"], vocab.eos_id]
    allow = Counting(ids)
    model = Transformer(TransformerConfig(len(vocab), 1, 2, 1, 16, 100))
    turns = run_with_tools(model, vocab, "", {"add": operator.add}, SamplingParams(seed=1), allow=allow)
    assert [(turn.result, turn.text) for turn in turns] == [("3", ""), (None, "3")]
    assert allow.asked == [ids[:n] for n in range(len(ids))]
    with pytest.raises(TypeError, match="a method allowed"):
        run_with_tools(NoModel(), vocab, "", allow=[1, 2])
