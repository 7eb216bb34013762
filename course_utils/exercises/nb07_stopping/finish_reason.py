"""Exercise 07.finish_reason: which of the conditions that hold is reported. All 32 combinations are tried."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from typing import Any

from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Holds, Recognises
from course_utils.stopping import FinishReason


def finish_reason(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    """Why a text ends after a token was sampled; None if it goes on."""
    if last_is_eos:
        return FinishReason.EOS
    if stop is not None:
        return FinishReason.STOP_STRING
    if call_complete:
        return FinishReason.TOOL_CALL
    if n_new == max_new_tokens:
        return FinishReason.LENGTH
    if n_context == context_size:
        return FinishReason.CONTEXT
    return None


EOS, STOP, CALL, LENGTH, CONTEXT = "EOS", "STOP_STRING", "TOOL_CALL", "LENGTH", "CONTEXT"


_NAMES = ("last_is_eos", "stop", "call_complete", "n_new", "max_new_tokens", "n_context", "context_size")


def _given(
    *,
    eos: bool = False,
    stop: str | None = None,
    call: bool = False,
    n_new: int = 7,
    budget: int = 100,
    n_context: int = 40,
    size: int = 512,
) -> Call:
    """A call in which no condition holds but those that are given."""
    values = (eos, stop, call, n_new, budget, n_context, size)
    shows = ", ".join(f"{name}={value!r}" for name, value in zip(_NAMES, values, strict=True))
    return Call(shows, lambda: values)


def _asks(hint_id: str, hint: str, name: str | None, **state: Any) -> Case:
    """A case that asks for a reason by its name, or for None."""
    expect = Equals(None) if name is None else Holds(lambda value, args: value is FinishReason[name])
    return Case(hint_id, hint, _given(**state), expect, error_is_typical=True)


_HOLDS: dict[str, dict] = {EOS: {"eos": True}, STOP: {"stop": "END"}, CALL: {"call": True},
          LENGTH: {"n_new": 100}, CONTEXT: {"n_context": 512}}  # fmt: skip
_FIRST = {
    (EOS, STOP): "the end mark comes before a stop string, because the model itself has ended the text.",
    (EOS, CALL): "the end mark comes before a call, because the model itself has ended the text.",
    (STOP, CALL): "a stop string comes before a call in the order of the reasons.",
    (EOS, LENGTH): "the last token that the budget allows may be the end mark. Then the text is complete.",
    (STOP, LENGTH): "the last token that the budget allows may complete a stop string. Then nothing was cut off.",
    (CALL, LENGTH): "the last token that the budget allows may complete a call. Then the call can be run.",
    (EOS, CONTEXT): "the last token that has room may be the end mark. Then the text is complete.",
    (STOP, CONTEXT): "the last token that has room may complete a stop string. Then nothing was cut off.",
    (CALL, CONTEXT): "the last token that has room may complete a call. Then the call can be run.",
    (LENGTH, CONTEXT): "the budget comes before the context, because the caller can change the budget.",
}
_IDS = {STOP: "eos-first", CALL: "call-too-early", LENGTH: "not-cut-off", CONTEXT: "room-comes-last"}


def _pairs() -> list[Case]:
    """Two conditions at a time."""
    return [
        _asks(_IDS[second], hint, first, **_HOLDS[first], **_HOLDS[second]) for (first, second), hint in _FIRST.items()
    ]


def _many() -> list[Case]:
    """Three or more conditions at a time."""
    hint = "several conditions hold. Go through them in the order EOS, STOP_STRING, TOOL_CALL, LENGTH, CONTEXT."
    cases = []
    for bits in range(32):
        names = [name for place, name in enumerate(_HOLDS) if bits >> place & 1]
        if len(names) >= 3:
            held = {key: value for name in names for key, value in _HOLDS[name].items()}
            cases.append(_asks("several", hint, names[0], **held))
    return cases


_GOES_ON = "no condition holds, so the answer is None, and the text goes on."
_ONE_LESS = "there is still room for a token, so this is not yet a reason to end."
_COUNTS = "compare the budget with the new tokens, and the context size with all tokens. Do not mix them up."
_ANY_STOP = "`stop` is None or the str that matched. Every such str is a reason to end, whatever it says."
_ONE = "one token may be all that there is room for. Treat 1 like any other number."
_LARGE = "counts may be large. Compare them with ==, because `is` checks whether two objects are identical."

EXERCISE = FunctionExercise(
    id="07.finish_reason",
    writes="`finish_reason(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size)`",
    contract="a member of FinishReason, such as FinishReason.EOS, or None to go on; EOS, then STOP_STRING, TOOL_CALL, "
    "LENGTH, CONTEXT; LENGTH if n_new = max_new_tokens, CONTEXT if n_context = context_size; stop is None or the str "
    "that matched",
    difficulty="easy",
    minutes=8,
    hints=(
        "Ask five questions, one after the other. The first one that is answered with yes decides.",
        "The answers are members such as `FinishReason.EOS`. If every question is answered with no, return None.",
    ),
    reference=finish_reason,
    cases=(
        Case("a-word", "this is a word or a number. Return the member itself, such as `FinishReason.LENGTH`. (A "
             "misspelt member is an error at once; a misspelt word goes unnoticed.)", _given(eos=True),
             Recognises(lambda value: not isinstance(value, FinishReason))),
        _asks("eos", "the last token is the end mark, and nothing else holds.", EOS, eos=True),
        _asks("stop", "a stop string has matched, and nothing else holds.", STOP, stop="END"),
        _asks("call", "a call is complete, and nothing else holds.", CALL, call=True),
        _asks("length", "there are as many new tokens as the budget allows, and nothing else holds.",
              LENGTH, n_new=100),
        _asks("context", "the context is full, and nothing else holds.", CONTEXT, n_context=512),
        _asks("goes-on", _GOES_ON, None),
        _asks("goes-on", f"{_GOES_ON} It is the first token.", None, n_new=1, n_context=2),
        _asks("one-less", f"{_ONE_LESS} The budget allows one more.", None, n_new=99),
        _asks("one-less", f"{_ONE_LESS} The context has room for one more.", None, n_context=511),
        _asks("one-less", f"{_ONE_LESS} Both have room for one more.", None, n_new=99, n_context=511),
        _asks("one-less", f"{_ONE_LESS} Both have room for one more, and the numbers are large.", None, n_new=4999,
              budget=5000,
              n_context=131071, size=131072),
        _asks("as-text", "numbers were compared as text, where 9 comes after 10 and 99 after 512.", None, n_new=9,
              budget=10, n_context=99),
        _asks("counts", _COUNTS, None, n_new=7, budget=40, n_context=40),
        _asks("counts", f"{_COUNTS} The prompt does not count for the budget.", None, n_new=20, n_context=300),
        _asks("counts", f"{_COUNTS} Here each number equals the wrong limit.", None, n_new=7, budget=512, n_context=7,
              size=8),
        _asks("counts", f"{_COUNTS} Budget and context size may be equal.", None, budget=512),
        _asks("counts", f"{_COUNTS} The new tokens are a part of the context.", None, n_new=12, n_context=504),
        _asks("counts", f"{_COUNTS} This budget is larger than the context.", CONTEXT, n_new=20, budget=900,
              n_context=64, size=64),
        _asks("counts", f"{_COUNTS} This context is smaller than the other one.", LENGTH, n_new=16, budget=16,
              n_context=40, size=64),
        _asks("counts", f"{_COUNTS} The prompt was one token, so the context holds as many tokens as are new.", CONTEXT,
              n_new=64,
              n_context=64, size=64),
        _asks("one", _ONE, LENGTH, n_new=1, budget=1, n_context=5),
        _asks("one", f"{_ONE} Here this is the context.", CONTEXT, n_new=1, n_context=1, size=1),
        _asks("zero", "a budget of 0 is used up from the beginning, with 0 new tokens.", LENGTH, n_new=0,
              budget=0, n_context=5),
        _asks("any-stop", _ANY_STOP, STOP, stop="\n"),
        _asks("any-stop", f"{_ANY_STOP} This one is a space.", STOP, stop=" "),
        _asks("any-stop", f"{_ANY_STOP} This one looks like a number.", STOP, stop="0"),
        _asks("any-stop", f"{_ANY_STOP} This one only looks like an end mark.", STOP, stop="<eos>"),
        _asks("any-stop", f"{_ANY_STOP} This one looks like the mark of a call.", STOP, stop="</call>"),
        _asks("any-stop", f"{_ANY_STOP} This one is not in English letters.", STOP, stop="。"),
        _asks("large", _LARGE, LENGTH, n_new=int("5000"), budget=int("5000"), n_context=6000, size=131072),
        _asks("large", f"{_LARGE} Here this is the context.", CONTEXT, n_new=5000, budget=10**6,
              n_context=int("131072"),
              size=int("131072")),
        *_pairs(),
        *_many(),
    ),
)  # fmt: skip
