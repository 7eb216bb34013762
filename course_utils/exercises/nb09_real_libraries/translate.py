"""Exercise 09.translate: our settings as arguments for `generate` of transformers, judged by what they mean there."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_utils.checker.answers import same
from course_utils.checker.exercise import Call, Case, FunctionExercise, Holds, Raises, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.meaning import N_ROWS, meant, wanted


def to_transformers(params):
    """Keyword arguments with which `generate` draws from the same probabilities."""
    if params.greedy:
        return {"do_sample": False}
    off = {"temperature": (1,), "top_k": (None, 0), "top_p": (None, 1), "min_p": (None, 0)}
    steps = [step for step in params.order if getattr(params, step) not in off[step]]
    if steps != [step for step in off if step in steps]:  # `off` names the steps in the order of `generate`
        raise ValueError(f"The order is {steps}; generate applies {list(off)} and cannot follow it.")
    return {
        "do_sample": True,
        "temperature": params.temperature,
        "top_k": 0 if params.top_k is None else params.top_k,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "min_p": 0.0 if params.min_p is None else params.min_p,
    }


KEYS = ("do_sample", "temperature", "top_k", "top_p", "min_p")

_ALL = {"temperature": 0.7, "top_k": 12, "top_p": 0.85, "min_p": 0.08}
_LLAMA_CPP = ("top_k", "top_p", "min_p", "temperature")
_VLLM = ("temperature", "min_p", "top_k", "top_p")


def _given(settings: dict) -> Call:
    """A call with SamplingParams of these settings."""

    def make() -> tuple:
        from course_utils.sampling import SamplingParams

        return (SamplingParams(**settings),)

    return Call(f"SamplingParams({', '.join(f'{name}={value!r}' for name, value in settings.items())})", make)


def _same_meaning(value: Any, args: tuple) -> bool:
    return same(meant(value), wanted(args[0]))


def _asks(hint_id: str, hint: str, **settings: Any) -> Case:
    """A case that asks for arguments with the meaning of these settings."""
    return Case(hint_id, hint, _given(settings), Holds(_same_meaning), error_is_typical=True)


def _unwanted(hint_id: str, hint: str, wrong: Callable[[Any], object], **settings: Any) -> Case:
    """A case that asks for arguments which `wrong` does not recognise."""
    return Case(hint_id, hint, _given(settings), Recognises(wrong))


def _refuses(hint_id: str, hint: str, **settings: Any) -> Case:
    """A case that asks for a ValueError."""
    return Case(hint_id, hint, _given(settings), Raises(ValueError))


def _is_an_error(value: Any) -> bool:
    try:
        meant(value)
    except Exception:
        return True
    return False


def _n_kept(value: Any) -> np.ndarray:
    """How many tokens stay in each of the rows."""
    return (meant(value) > 0).sum(-1)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _is_left_over(value: Any) -> bool:
    return any(value.get(name) == number for name, number in _ALL.items())


def _draws(value: Any) -> bool:
    return bool(value.get("do_sample")) or _is_an_error(value)


_OTHER_ARGUMENT = (
    f"{', '.join(KEYS)} are the arguments that say all this. Others say something else, or `generate` does not know "
    "them."
)
_NO_DRAW = (
    "greedy draws nothing. Without sampling, `generate` takes the likeliest token. A temperature of 0 is an error "
    "there, and with top_k = 1 it still draws among tokens that tie."
)
_DROPPED = "a setting that is on arrives changed, or not at all. Each of the four settings has its own argument."
_ANY_TEMPERATURE = "`generate` takes every temperature above 0 as it is. Do not use the limits of another library."
_OFF = "top_k = 0, top_p = 1 and min_p = 0 switch a filter off, and so does a top_k above the vocabulary."
_IGNORED = (
    "`generate` has one order: temperature, top-k, top-p, min-p. The order of the keys in your dict has no effect. "
    "Raise a ValueError where another order gives other probabilities."
)
_PARTLY = (
    "this order was accepted, but `generate` has another one: temperature, top-k, top-p, min-p. All steps that are on "
    "must be in that order."
)

_earlier: list = []  # the dict of an earlier call


def _kept(value: Any) -> Any:
    """Keep an answer, for `own-dict`."""
    _earlier[:] = [value]
    return value


EXERCISE = FunctionExercise(
    id="09.translate",
    writes="`to_transformers(params)`",
    contract=f"SamplingParams → dict of {', '.join(KEYS)}, with which `generate` draws from the same probabilities; "
    "the seed is left out; ValueError where the steps that are on stand in an order that `generate` can't follow (an "
    "order that differs in nothing but steps that are off may be refused or translated)",
    difficulty="medium",
    minutes=15,
    hints=(
        "What does `generate` do if you leave out an argument? To be safe, pass all of them.",
        "None has to become the number that switches the filter off there. But 0 is not None, so test with `is None`.",
        "Check the order first: compare `params.order` with the order that `generate` follows. For greedy no order "
        "matters, and one argument is enough.",
    ),
    reference=to_transformers,
    cases=(
        Case("not-a-dict", "return a dict, as `model.generate(**arguments)` takes it.", _given(_ALL),
             Holds(lambda value, args: isinstance(value, Mapping))),
        _unwanted("seed", "`generate` has no argument for a seed. It draws from torch's global random numbers.",
                  lambda value: not {"seed", "generator"}.isdisjoint(value), **_ALL, seed=3),
        _unwanted("other-argument", _OTHER_ARGUMENT, lambda value: not set(value) <= set(KEYS), **_ALL),
        _unwanted("greedy-by-default", "without `do_sample=True`, `generate` takes the likeliest token, whatever the "
                  "other arguments say.", lambda value: not value.get("do_sample"), **_ALL),
        _unwanted("whole-temperature", "`generate` raises an error for a temperature that is an int. It has to be a "
                  "float.", lambda value: _is_whole(value.get("temperature")), **{**_ALL, "temperature": 2.0}),
        _unwanted("refused", "`generate` raises an error for one of these values. Try them in a cell of your own, and "
                  "read the error.", _is_an_error, **_ALL),
        _asks("by-hand", "go through the four settings. What is each argument called, and does its number mean the "
              "same?", **_ALL),
        _unwanted("earlier-call", EARLIER_CALL, _is_left_over, temperature=1.0),
        _unwanted("greedy-by-default", "our defaults sample from the model's own distribution. Without "
                  "`do_sample=True`, `generate` takes the likeliest token.", lambda value: not value.get("do_sample"),
                  temperature=1.0),
        _unwanted("silent-top-k", "50 tokens were kept. If you leave out top_k, it is not off: `generate` then takes "
                  "50.",
                  lambda value: same(_n_kept(value), [50] * N_ROWS), temperature=1.0),
        _unwanted("wrong-off", "None switches a filter off, but with this number the filter keeps a single token. For "
                  "top_p, 1 is off; for min_p, 0 is off.", lambda value: _n_kept(value).min() == 1, temperature=1.0),
        _asks("defaults", "our defaults keep every token and change no probability. For `generate`, the filters are "
              "off at top_k = 0, top_p = 1 and min_p = 0. A negative number is an error.", temperature=1.0),
        _asks("dropped", _DROPPED, temperature=1.7),
        _asks("dropped", _DROPPED, temperature=0.3),
        _asks("dropped", _DROPPED, temperature=0.17),
        _asks("dropped", _DROPPED, temperature=0.125),
        _asks("any-temperature", _ANY_TEMPERATURE, temperature=3.0),
        _asks("any-temperature", _ANY_TEMPERATURE, temperature=0.004),
        _asks("dropped", _DROPPED, top_k=400),
        _asks("dropped", _DROPPED, temperature=3.0, top_p=0.03),
        _asks("dropped", _DROPPED, temperature=3.0, min_p=0.9),
        _asks("dropped", _DROPPED, min_p=1.0),
        _asks("dropped", _DROPPED, top_k=1),
        _asks("dropped", _DROPPED, top_k=60),
        _asks("dropped", _DROPPED, top_p=0.6),
        _asks("dropped", _DROPPED, top_p=0.97),
        _asks("dropped", _DROPPED, min_p=0.3),
        _asks("dropped", _DROPPED, min_p=0.004),
        _asks("dropped", _DROPPED, temperature=0.9, top_k=20, top_p=0.9),
        _asks("dropped", _DROPPED, top_k=9, min_p=0.03),
        _asks("dropped", _DROPPED, temperature=1.4, top_p=0.7, min_p=0.2),
        _asks("zero-is-none", "top_p = 0 is a setting that keeps one token. `or` and `if top_p` treat it like None.",
              temperature=3.0, top_p=0.0),
        Case("dropped", _DROPPED, _given({"top_p": 0.3}), Holds(lambda value, args: _same_meaning(_kept(value), args)),
             error_is_typical=True),
        _asks("off-numbers", _OFF, temperature=0.5, top_k=0, top_p=1.0, min_p=0.0),
        _asks("off-numbers", _OFF, top_k=1000, top_p=0.9),
        _unwanted("own-dict", "the dict of an earlier call came back. Its receiver may have changed it since. Make a "
                  "new dict in each call.", lambda value: any(value is one for one in _earlier), top_p=0.4),
        _unwanted("greedy-draws", _NO_DRAW, _draws, greedy=True),
        _unwanted("greedy-draws", _NO_DRAW, _draws, temperature=0.0),
        _asks("greedy", "with greedy=True the other settings have no effect, so no order has to be refused.",
              greedy=True, temperature=0.7, top_k=40, top_p=0.9),
        _refuses("order-ignored", _IGNORED, **_ALL, order=_LLAMA_CPP),
        _refuses("order-ignored", _IGNORED, temperature=0.5, top_p=0.8, order=_LLAMA_CPP),
        _refuses("order-ignored", _IGNORED, temperature=1.6, top_p=0.8, order=_LLAMA_CPP),
        _refuses("order-partly", _PARTLY, **_ALL, order=_VLLM),
        _refuses("order-partly", _PARTLY, temperature=0.7, top_p=0.7, min_p=0.2, order=_VLLM),
        _refuses("order-partly", _PARTLY, top_k=5, top_p=0.7, order=("temperature", "top_p", "top_k", "min_p")),
        _refuses("order-partly", _PARTLY, top_p=0.7, min_p=0.2, order=("temperature", "top_k", "min_p", "top_p")),
        _refuses("order-partly", _PARTLY, temperature=0.5, top_p=0.8, order=("top_k", "top_p", "temperature", "min_p")),
        _refuses("order-partly", _PARTLY, temperature=0.5, min_p=0.2, order=("min_p", "temperature", "top_k", "top_p")),
    ),
)  # fmt: skip
