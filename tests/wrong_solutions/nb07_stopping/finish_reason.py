"""Planted solutions to 07.finish_reason."""

import functools

from course_utils.stopping import FinishReason
from wrong_solutions import planting

wrong, right = planting("07.finish_reason")


NAMES = ("EOS", "STOP_STRING", "TOOL_CALL", "LENGTH", "CONTEXT")


def conditions(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    """What holds, in the order of precedence."""
    return [last_is_eos, stop is not None, call_complete, n_new == max_new_tokens, n_context == context_size]


def reasons(order=range(5), conditions=conditions, otherwise=None, give=lambda name: FinishReason[name]):
    """A right function, some of whose parts may be replaced by wrong ones."""

    def reason(*state):
        held = conditions(*state)
        return next((give(NAMES[place]) for place in order if held[place]), otherwise)

    return reason


def changed(place, test):
    """`conditions` with one of them replaced."""

    def others(*state):
        held = conditions(*state)
        held[place] = test(*state)
        return held

    return reasons(conditions=others)


for hint_id, attempt in [
    ("a-word", reasons(give=lambda name: FinishReason[name].api_name)),
    ("a-word", reasons(give=lambda name: FinishReason[name].value)),
    ("a-word", reasons(give=lambda name: name)),
    ("a-word", reasons(give=NAMES.index)),
    ("a-word", reasons(give=lambda name: True)),
    ("a-word", reasons(give=lambda name: (FinishReason[name],))),
    ("a-word", reasons(give=lambda name: FinishReason)),
    ("a-word", lambda *state: conditions(*state)),
    ("eos", reasons(order=[0], give=lambda name: FinishReason.STOP_STRING)),
    ("stop", changed(1, lambda eos, stop, *rest: stop is True)),
    ("stop", changed(1, lambda eos, stop, *rest: eos and stop is not None)),
    ("call", reasons(order=[0, 1, 3, 4])),
    ("call", reasons(give=lambda name: FinishReason["STOP_STRING" if name == "TOOL_CALL" else name])),
    ("length", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new > budget)),
    ("length", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget + 1)),
    ("length", reasons(order=[0, 1, 2, 4])),
    ("context", reasons(order=[0, 1, 2, 3])),
    ("context", changed(4, lambda eos, stop, call, n_new, budget, n, size: n > size)),
    ("context", changed(4, lambda eos, stop, call, n_new, budget, n, size: n_new + n == size)),
    ("context", reasons(give=lambda name: FinishReason["LENGTH" if name == "CONTEXT" else name])),
    ("goes-on", reasons(otherwise=FinishReason.LENGTH)),
    ("goes-on", reasons(otherwise="")),
    ("goes-on", reasons(otherwise=False)),
    ("call", changed(1, lambda eos, stop, *rest: stop != "")),
    ("one-less", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new >= budget - 1)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n >= size - 1)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n + 1 >= size)),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n == budget)),
    ("context", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n > budget)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or budget == size)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n + n_new >= size)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n + n_new == size + 4)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == size or n == n_new)),
    ("counts", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == max(budget, size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == max(budget, 20))),
    ("zero", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new and n_new == budget)),
    ("zero", changed(3, lambda eos, stop, call, n_new, budget, n, size: budget and n_new >= budget)),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop == "END")),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.strip())),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.isalpha())),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop != "0")),
    ("any-stop", changed(0, lambda eos, stop, *rest: eos or stop == "<eos>")),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop != "</call>")),
    ("large", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new is budget)),
    ("large", changed(4, lambda eos, stop, call, n_new, budget, n, size: n is size and n < 1000)),
    ("large", changed(4, lambda eos, stop, call, n_new, budget, n, size: n == min(size, 4096))),
    ("eos-first", reasons(order=[1, 0, 2, 3, 4])),
    ("eos-first", changed(0, lambda eos, stop, *rest: eos and stop is None)),
    ("call-too-early", reasons(order=[2, 0, 1, 3, 4])),
    ("call-too-early", reasons(order=[0, 2, 1, 3, 4])),
    ("not-cut-off", reasons(order=[3, 0, 1, 2, 4])),
    ("not-cut-off", reasons(order=[0, 3, 1, 2, 4])),
    ("not-cut-off", reasons(order=[0, 1, 3, 2, 4])),
    ("room-comes-last", reasons(order=[4, 0, 1, 2, 3])),
    ("room-comes-last", reasons(order=[0, 4, 1, 2, 3])),
    ("room-comes-last", reasons(order=[0, 1, 2, 4, 3])),
    ("several", changed(0, lambda *state: state[0] and sum(map(bool, conditions(*state))) < 3)),
    ("several", changed(1, lambda *state: state[1] and sum(map(bool, conditions(*state))) != 4)),
    ("several", changed(0, lambda *state: state[0] and not all(conditions(*state)))),
    ("as-text", changed(4, lambda eos, stop, call, n_new, budget, n, size: str(n) >= str(size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new in (budget, size))),
    ("counts", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == min(budget, size))),
    ("one-less", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new == budget or n_new > 0.999 * budget)),
    ("one-less", changed(4, lambda eos, stop, call, n_new, budget, n, size: n >= 0.9999 * size)),
    ("one", changed(3, lambda eos, stop, call, n_new, budget, n, size: n_new != 1 and n_new == budget)),
    ("one", changed(4, lambda eos, stop, call, n_new, budget, n, size: n > 1 and n == size)),
    ("any-stop", changed(1, lambda eos, stop, *rest: stop and stop.isascii())),
    ("not-a-function", FinishReason.EOS),
]:
    wrong(hint_id)(attempt)

right(reasons())


@right
def r_ifs(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    if last_is_eos:
        return FinishReason.EOS
    if stop:
        return FinishReason.STOP_STRING
    if call_complete:
        return FinishReason.TOOL_CALL
    if n_new >= max_new_tokens:
        return FinishReason.LENGTH
    if n_context >= context_size:
        return FinishReason.CONTEXT


@right
def r_last_first(last_is_eos, stop, call_complete, n_new, max_new_tokens, n_context, context_size):
    reason = None
    if n_context == context_size:
        reason = FinishReason("context")
    if max_new_tokens - n_new <= 0:
        reason = FinishReason["LENGTH"]
    if call_complete is True:
        reason = FinishReason.TOOL_CALL
    if isinstance(stop, str):
        reason = FinishReason.STOP_STRING
    return FinishReason.EOS if last_is_eos else reason


@right
def r_match(*state):
    match conditions(*state):
        case [True, *_]:
            return FinishReason.EOS
        case [_, True, *_]:
            return FinishReason.STOP_STRING
        case [_, _, True, *_]:
            return FinishReason.TOOL_CALL
        case [*_, True, _]:
            return FinishReason.LENGTH
        case [*_, True]:
            return FinishReason.CONTEXT
    return None


right(functools.lru_cache(reasons()))
