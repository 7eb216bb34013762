"""Tool calls: a call is read only when it is complete, judged before anything runs, and its result fed back.

The model writes `<call>{"tool": "multiply", "args": [317, 24]}</call>`; each mark is one token, so no text can imitate
it. What stands between the marks is data from a model: it is parsed as strict JSON and looked up in an allow list,
never evaluated.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Number
from types import MappingProxyType
from typing import Any, NoReturn

from course_utils.arguments import check_integer
from course_utils.generation import start
from course_utils.generation.allow import Allow
from course_utils.generation.batch import Batch
from course_utils.generation.row import Row
from course_utils.protocols import LanguageModel, NamedVocabulary
from course_utils.sampling import SamplingParams
from course_utils.stopping import FinishReason, StopCriteria
from course_utils.text import SPECIALS

MAX_CALL_LENGTH = 200  # characters between the marks; a call of the corpus has about 40
MAX_ARGUMENT = 999  # the corpus has numbers of up to three digits: the model has never seen a longer one
Tools = Mapping[str, Callable[..., int | str]]  # the allow list: a name for each function


class Outcome(Enum):
    """What became of a call. Only RAN and RESULT_TOO_LONG mean that a tool did its work."""

    RAN = "ran"
    RESULT_TOO_LONG = "result too long"  # it ran, but gave a number of so many digits that Python does not write it
    TRUNCATED = "truncated"  # the text ended within the call
    OVERSIZED = "oversized"  # longer than MAX_CALL_LENGTH: it was not even parsed
    MALFORMED = "malformed"  # no JSON object with exactly a tool and its arguments
    UNKNOWN_TOOL = "unknown tool"  # not on the allow list
    WRONG_ARGUMENTS = "wrong arguments"  # no integers, too many or too few, or refused by the tool before it acts
    ROUND_LIMIT = "round limit"  # a valid call, but max_rounds have run already


@dataclass(frozen=True)
class Turn:
    """What the model wrote up to one end, and what became of it.

    text: what may be shown, without the call. token_ids: what was sampled. call: the text between the marks, also of a
    call that was cut off; None without a call. outcome, result: of the call; result is None unless it ran.
    """

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    call: str | None = None
    outcome: Outcome | None = None
    result: str | None = None


def read_call(text: str) -> tuple[str, list[int]] | None:
    """The tool and the arguments that a call names, or None if it is not a valid call. Executes nothing.

    text: what stands between the marks: one JSON object with exactly the keys "tool", a str that is not empty, and
        "args", a list of integers (not true, not 1.0), which may be empty. Longer than MAX_CALL_LENGTH is invalid.

    >>> read_call('{"tool": "add", "args": [1, 2]}'), read_call('{"tool": "add", "args": [1, 2')
    (('add', [1, 2]), None)
    """
    call = _parsed(text)
    return call if isinstance(call, tuple) and _are_integers(call[1]) else None


def _are_integers(arguments: list) -> bool:
    return all(type(argument) is int for argument in arguments)  # to isinstance, True is an int as well


def _parsed(text: str) -> tuple[str, list] | Outcome:
    """The tool and its arguments, of whatever kind, or why the text is not a call."""
    if not isinstance(text, str):
        raise TypeError(f"text is {text!r}; expected the str between the marks of a call.")
    if len(text) > MAX_CALL_LENGTH:
        return Outcome.OVERSIZED
    try:
        call = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except ValueError:
        return Outcome.MALFORMED
    if not isinstance(call, dict) or set(call) != {"tool", "args"} or not isinstance(call["tool"], str):
        return Outcome.MALFORMED
    if not call["tool"] or not isinstance(call["args"], list):
        return Outcome.MALFORMED
    return call["tool"], call["args"]


def _object(pairs: list[tuple[str, object]]) -> dict:
    """A JSON object whose keys differ: of two equal ones JSON does not say which counts."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def run_call(text: str, tools: Tools) -> tuple[Outcome, str | None]:
    """Judge the text between the marks and, only if all of it is right, run the tool: (RAN, result) or (why not, None).

    tools: the allow list: name to function of integers, which gives a number or a str. It refuses arguments by a
        ValueError, before it does anything; other errors pass through.
    Raises TypeError for an allow list that cannot be used, or a tool that gave something else.
    """
    checked = judge_call(text, tools)
    if isinstance(checked, Outcome):
        return checked, None
    tool, arguments = checked
    try:
        result = tools[tool](*arguments)
    except ValueError:
        return Outcome.WRONG_ARGUMENTS, None
    except TypeError as error:
        if (trace := error.__traceback__) and trace.tb_next is None:  # by a built-in without a signature
            return Outcome.WRONG_ARGUMENTS, None
        raise
    return _written(tool, result)


def _written(tool: str, result: Any) -> tuple[Outcome, str | None]:
    """The outcome of a tool that ran, and its result as text."""
    result = result.item() if hasattr(result, "item") and getattr(result, "ndim", 1) == 0 else result
    if not isinstance(result, (str, Number)):
        if inspect.iscoroutine(result):
            result.close()  # nobody awaits it, and it would warn later
        raise TypeError(
            f"The tool {tool!r} was called and gave a value of type {type(result).__name__}; expected a number or a "
            f"str. Let it return its result itself: a coroutine or a generator has not done its work yet."
        )
    try:
        return Outcome.RAN, str(result)
    except ValueError:
        return Outcome.RESULT_TOO_LONG, None


def judge_call(text: str, tools: Tools) -> tuple[str, list[int]] | Outcome:
    """The tool and arguments if the call may run, else why not. Executes nothing. A built-in function may have no
    signature; how many arguments it takes is then known only when it is called.
    """
    _check_tools(tools)
    call = _parsed(text)
    if isinstance(call, Outcome):
        return call
    tool, arguments = call
    if tool not in tools:
        return Outcome.UNKNOWN_TOOL
    if not _are_integers(arguments):
        return Outcome.WRONG_ARGUMENTS
    try:
        signature = inspect.signature(tools[tool])
    except ValueError:
        return call
    try:
        signature.bind(*arguments)
    except TypeError:  # too many or too few
        return Outcome.WRONG_ARGUMENTS
    return call


def _check_tools(tools: Mapping[str, Callable]) -> None:
    """Refuse an allow list that no call could use, before anything runs."""
    if not isinstance(tools, Mapping):
        raise TypeError(f"tools is of type {type(tools).__name__}; expected a dict, a name for each function.")
    for name, tool in tools.items():
        if not isinstance(name, str) or not callable(tool):
            raise TypeError(f"tools has {name!r}: {tool!r}; expected a str and a function.")
        later = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
        if any(is_kind(function) for is_kind in later for function in (tool, type(tool).__call__)):
            raise TypeError(
                f"The tool {name!r} is asynchronous or a generator; expected a function that returns its result. Wrap "
                f"it in one, for example with asyncio.run."
            )


def _add(a: int, b: int) -> int:
    return _in_range(a) + _in_range(b)


def _subtract(a: int, b: int) -> int:
    return _in_range(a) - _in_range(b)


def _multiply(a: int, b: int) -> int:
    return _in_range(a) * _in_range(b)


def _in_range(number: int) -> int:
    if abs(number) > MAX_ARGUMENT:
        raise ValueError(f"{number} is out of range; expected -{MAX_ARGUMENT} to {MAX_ARGUMENT}.")
    return number


calculator: Tools = MappingProxyType({"add": _add, "subtract": _subtract, "multiply": _multiply})


def run_with_tools(
    model: LanguageModel,
    vocab: NamedVocabulary,
    prompt: str,
    tools: Tools = calculator,
    sampling: SamplingParams = SamplingParams(),
    stopping: StopCriteria = StopCriteria(),
    max_rounds: int = 4,
    use_cache: bool = True,
    sample: int = 0,
    allow: Allow | None = None,
) -> list[Turn]:
    """Continue the prompt, run the calls that the model completes, and let it go on with their results.

    The result enters the context as `<result>…</result>`, tokens that are forced: they are fed to the same cache, and
    belong neither to a turn's text nor to its token_ids. The budget, and the step of the draw, count sampled tokens
    over all turns. A call without a result ends the text: an error as a result is nothing that the model has ever seen.
    max_rounds: how many calls may run. The other arguments are those of `generation.generate`.
    """
    max_rounds = check_integer("max_rounds", max_rounds)
    _check_tools(tools)
    if isinstance(stopping, StopCriteria):  # the row refuses anything else
        stopping = replace(stopping, tool_calls=True)
    row = start(model, vocab, prompt, sampling, stopping, sample, allow)
    batch = Batch(model, [row], use_cache)
    turns: list[Turn] = []
    while True:
        batch.run()
        assert row.finish_reason is not None  # it has ended
        outcome, result = _judged(row, tools, may_run=len(turns) < max_rounds)
        call = None if row.call is None else "".join(row.call)
        turns.append(Turn(row.text, tuple(row.token_ids), row.finish_reason, call, outcome, result))
        if outcome is not Outcome.RAN or result is None:
            return turns
        row.go_on(_result_ids(vocab, result))


def _judged(row: Row, tools: Tools, may_run: bool) -> tuple[Outcome | None, str | None]:
    if row.call is None:
        return None, None
    if row.tool_call is None:
        return Outcome.TRUNCATED, None
    if may_run:
        return run_call(row.tool_call, tools)
    judged = judge_call(row.tool_call, tools)
    return (judged if isinstance(judged, Outcome) else Outcome.ROUND_LIMIT), None


def _result_ids(vocab: NamedVocabulary, result: str) -> list[int]:
    """The forced tokens. Raises ValueError for a result with a mark in it: data must not look like the protocol."""
    if held := [mark for mark in SPECIALS if mark in result]:
        raise ValueError(f"A tool gave {result!r}, which holds {held[0]!r}; expected a result without marks.")
    try:
        ids = vocab.encode(result)
    except ValueError as error:
        raise ValueError(f"A tool ran and gave {result!r}, which the model cannot be told. {error}") from None
    return [vocab.ids["<result>"], *ids, vocab.ids["</result>"]]
