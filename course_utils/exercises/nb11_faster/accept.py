"""Exercise 11.accept. Probabilities and u are exact in binary wherever u stands on the border."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable
from typing import Any

from course_utils.checker.answers import as_array, same
from course_utils.checker.exercise import Call, Case, FunctionExercise, Holds, Recognises
from course_utils.exercises.common.hints import OTHER_CALL
from course_utils.exercises.common.inputs import tensor


def accept(p, q, drafted, u):
    """(True, None), or (False, the distribution to draw from instead)."""
    if u * q[drafted] < p[drafted]:
        return True, None
    missing = (p - q).clamp(min=0)
    return False, missing / missing.sum()


def _expected(p: list, q: list, drafted: int, u: float) -> list | None:
    """The oracle: None if the proposal is accepted, else the rest, token by token."""
    if u * q[drafted] < p[drafted]:
        return None
    missing = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
    return [one / sum(missing) for one in missing]


def _parts(value: Any) -> tuple[Any, Any]:
    """The two parts of an answer; an error if it has not two."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ValueError("not a pair")
    return value[0], value[1]


def _says(value: Any) -> bool:
    """What the answer decided, as a bool; an error if it is not one."""
    first, _ = _parts(value)
    decided = first.item() if hasattr(first, "item") else first
    if not isinstance(decided, bool):
        raise ValueError("not a bool")
    return decided


def _is_right(p: list, q: list, drafted: int, u: float) -> Callable[[Any, tuple], bool]:
    want = _expected(p, q, drafted, u)

    def right(value: Any, _: tuple) -> bool:
        decided, instead = _says(value), _parts(value)[1]
        if want is None:
            return decided and instead is None
        return not decided and same(instead, want)

    return right


def _given(p: list, q: list, drafted: int, u: float, shown: str = "") -> Call:
    shows = shown or f"p = {p}, q = {q}, drafted = {drafted} and u = {u}"
    return Call(shows, lambda: (tensor(p, "float64"), tensor(q, "float64"), drafted, u))


def _asks(hint_id: str, hint: str, p: list, q: list, drafted: int, u: float, shown: str = "") -> Case:
    """A case that asks for the decision and what belongs to it."""
    return Case(hint_id, hint, _given(p, q, drafted, u, shown), Holds(_is_right(p, q, drafted, u)), True)


# Token 0 is proposed twice as often as it should be, 1 and 2 half as often, and 3 just as often.
_P, _Q = [0.25, 0.25, 0.25, 0.25], [0.5, 0.125, 0.125, 0.25]
_REJECTED = _given(_P, _Q, 0, 0.75)
_REST = [0.0, 0.5, 0.5, 0.0]
_KEPT = _given(_P, _Q, 0, 0.25)


def _instead(wrong: list) -> Callable[[Any], bool]:
    return lambda value: not _says(value) and same(_parts(value)[1], wrong)


def _a_pair(value: Any) -> bool:
    """Whether the answer has the form that is asked for."""
    try:
        _says(value)
        return True
    except (ValueError, TypeError):
        return False


def _by_sum(numbers: list[int]) -> list[float]:
    return [number / sum(numbers) for number in numbers]


_MANY_P = _by_sum([1 + 7 * i % 16 for i in range(64)])
_MANY_Q = _by_sum([1 + 5 * i % 32 for i in range(64)])
_MANY = "p from 1 + 7 * i % 16 and q from 1 + 5 * i % 32 for i in range(64), each by its sum,"
_BORDER = "if u * q equals p exactly, the proposal is rejected. Only a u below the border accepts it."
_NEVER = "a token that the model never gives (p = 0) is never accepted, not even at u = 0."

EXERCISE = FunctionExercise(
    id="11.accept",
    writes="`accept(p, q, drafted, u)`",
    contract="float64 (V,), each adds up to 1 within 1e-9, q[drafted] > 0, 0 <= u < 1 → (True, None) if "
    "u * q[drafted] < p[drafted], else (False, max(p - q, 0) divided by its sum)",
    difficulty="hard",
    minutes=15,
    hints=(
        "A token that the draft proposes too often (q > p) is accepted with probability p / q. Every other token is "
        "always accepted.",
        "An event of probability a happens if u < a. Multiply instead of dividing: u * q < p.",
        "After a rejection, draw from what the draft proposes too rarely. That is p - q where it is positive, divided "
        "by its sum.",
    ),
    reference=accept,
    cases=(
        Case("a-pair", "return a pair: True and None, or False and the distribution to draw from instead.",
             _REJECTED, Holds(lambda value, _: _a_pair(value))),
        Case("accepts-everything", "a proposal was accepted although the draft gives this token a higher probability "
             "than the model does. If you always accept, the texts are those of the draft.",
             _REJECTED, Recognises(_says)),
        Case("redraws-from-p", "after a rejection the whole p was taken. But tokens that the draft proposes often "
             "were accepted often already, so they would come too often.", _REJECTED,
             Recognises(_instead(_P))),
        Case("redraws-from-q", "after a rejection the draft would draw again. Tokens that it proposes too rarely "
             "would then still come too rarely.", _REJECTED, Recognises(_instead(_Q))),
        Case("not-normalised", "the distribution to draw from does not add up to 1. Divide it by its sum.", _REJECTED,
             Recognises(lambda value: not _says(value) and abs(as_array(_parts(value)[1]).sum() - 1) > 1e-5)),
        Case("absolute", "|p - q| includes the tokens that the draft proposes too often. Take only those that it "
             "proposes too rarely.", _REJECTED, Recognises(_instead([0.5, 0.25, 0.25, 0.0]))),
        Case("q-minus-p", "this is what the draft proposes too often. Take the other side, p - q.", _REJECTED,
             Recognises(_instead([1.0, 0.0, 0.0, 0.0]))),
        Case("only-drafted-removed", "the distribution is not p without the rejected token. It depends on how much "
             "too rarely each token was proposed.", _REJECTED, Recognises(_instead([0.0, 1 / 3, 1 / 3, 1 / 3]))),
        Case("by-hand", "work out one case by hand: compare u with p / q of the proposed token, then divide max(p - "
             "q, 0) by its sum.", _REJECTED, Holds(_is_right(_P, _Q, 0, 0.75))),
        Case("rejects-too-much", "this proposal should be accepted. Compare u with p / q, not with p, and not with q "
             "/ p.", _KEPT, Holds(lambda value, _: _says(value))),
        _asks("rest-with-acceptance", "return None beside an accepted proposal, because nothing is drawn in its place.",
              _P, _Q,
              0, 0.25),
        _asks("too-rare", "a token that the draft proposes too rarely, or just as often as it should, is always "
              "accepted.", _P, _Q, 1, 0.984375),
        _asks("too-rare", "if p and q give a token the same probability, it is always accepted.", _P, _Q, 3, 0.984375),
        _asks("compares-with-p", "compare u with p / q, not with p itself.", [0.125, 0.875],
              [0.25, 0.75], 0, 0.375),
        _asks("compares-with-p", "a u above p / q means a rejection, whatever p and q are by themselves.", [0.5, 0.5],
              [0.75, 0.25], 0, 0.703125),
        _asks("border", _BORDER, _P, _Q, 0, 0.5),
        _asks("border", _BORDER + " Here are other numbers.", [0.125, 0.875], [0.5, 0.5], 0, 0.25),
        _asks("never", _NEVER, [0.0, 1.0], [0.5, 0.5], 0, 0.0),
        _asks("never", _NEVER + " The distribution to draw from still adds up to 1.", [0.0, 0.25, 0.75],
              [0.5, 0.5, 0.0], 0, 0.5),
        _asks("other-call", OTHER_CALL, [0.5, 0.25, 0.25], [0.25, 0.625, 0.125], 1, 0.75),
        _asks("likeliest-only", "return a whole distribution, not only the token that is missing most.",
              [0.125, 0.5, 0.375], [0.75, 0.125, 0.125], 0, 0.5),
        _asks("any-size", "four tokens come out right and sixty-four do not. Look for a size that is fixed in the "
              "code.", _MANY_P, _MANY_Q,
              31, 0.9375, f"{_MANY} drafted = 31 and u = 0.9375"),
        _asks("any-size", "a vocabulary may have two tokens only.", [0.25, 0.75], [0.75, 0.25], 0, 0.875),
        _asks("small", "small probabilities matter. Look for rounding, or for an added epsilon.",
              [2**-20, 1 - 2**-20], [0.25, 0.75], 0, 2**-19,
              "p = [2**-20, 1 - 2**-20], q = [0.25, 0.75], drafted = 0 and u = 2**-19"),
    ),
)  # fmt: skip
