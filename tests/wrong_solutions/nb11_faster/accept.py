"""Planted solutions to 11.accept."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("11.accept")


def rest_of(p, q):
    missing = (p - q).clamp(min=0)
    return missing / missing.sum()


@right
def a_numpy(p, q, drafted, u):
    p, q = p.numpy(), q.numpy()
    if u * q[drafted] < p[drafted]:
        return True, None
    missing = np.maximum(p - q, 0)
    return False, missing / missing.sum()


@right
def a_plain(p, q, drafted, u):
    p, q = p.tolist(), q.tolist()
    if p[drafted] > u * q[drafted]:
        return (True, None)
    missing = [max(x - y, 0) for x, y in zip(p, q)]
    return False, [x / sum(missing) for x in missing]


@right
def a_tensor_bool_in_a_list(p, q, drafted, u):
    accepted = u * q[drafted] < p[drafted]
    return [accepted, None if accepted else rest_of(p, q)]


@right
def a_relu_and_a_share(p, q, drafted, u):
    share = torch.minimum(p / q.clamp(min=1e-300), torch.ones_like(p))
    if u < share[drafted]:
        return True, None
    missing = torch.relu(p - q)
    return np.bool_(False), missing / missing.sum()


@wrong("a-pair")
def a_bool(p, q, drafted, u):
    return bool(u * q[drafted] < p[drafted])


@wrong("a-pair")
def a_token(p, q, drafted, u):
    return drafted if u * q[drafted] < p[drafted] else int(rest_of(p, q).argmax())


@wrong("a-pair")
def a_rest_only(p, q, drafted, u):
    return None if u * q[drafted] < p[drafted] else rest_of(p, q)


@wrong("a-pair")
def a_probability_first(p, q, drafted, u):
    return p[drafted] / q[drafted], rest_of(p, q)


@wrong("accepts-everything")
def a_everything(p, q, drafted, u):
    return True, None


@wrong("accepts-everything")
def a_likely_enough(p, q, drafted, u):
    return (True, None) if p[drafted] >= 0.2 else (False, rest_of(p, q))


@wrong("accepts-everything")
def a_turned_round(p, q, drafted, u):
    return (True, None) if u * p[drafted] < q[drafted] else (False, rest_of(p, q))


@wrong("redraws-from-p")
def a_p_again(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, p)


@wrong("redraws-from-q")
def a_q_again(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, q)


@wrong("not-normalised")
def a_not_divided(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, (p - q).clamp(min=0))


@wrong("not-normalised")
def a_not_clamped(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, p - q)


@wrong("absolute")
def a_absolute(p, q, drafted, u):
    off = (p - q).abs()
    return (True, None) if u * q[drafted] < p[drafted] else (False, off / off.sum())


@wrong("q-minus-p")
def a_other_side(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, rest_of(q, p))


@wrong("only-drafted-removed")
def a_without_the_drafted(p, q, drafted, u):
    if u * q[drafted] < p[drafted]:
        return True, None
    left = p.clone()
    left[drafted] = 0
    return False, left / left.sum()


@wrong("by-hand")
def a_softmax(p, q, drafted, u):
    return (True, None) if u * q[drafted] < p[drafted] else (False, (p - q).softmax(-1))


@wrong("rejects-too-much")
def a_never(p, q, drafted, u):
    return False, rest_of(p, q)


@wrong("rejects-too-much")
def a_only_if_likelier(p, q, drafted, u):
    return (True, None) if p[drafted] >= q[drafted] else (False, rest_of(p, q))


@wrong("rejects-too-much")
def a_u_against_p(p, q, drafted, u):
    return (True, None) if u < p[drafted] else (False, rest_of(p, q))


@wrong("rest-with-acceptance")
def a_rest_always(p, q, drafted, u):
    return bool(u * q[drafted] < p[drafted]), rest_of(p, q)


@wrong("too-rare")
def a_below_a_cap(p, q, drafted, u):
    return (True, None) if u < min(0.95, float(p[drafted] / q[drafted])) else (False, rest_of(p, q))


@wrong("compares-with-p")
def a_u_against_twice_p(p, q, drafted, u):
    return (True, None) if u < 2 * p[drafted] or q[drafted] <= p[drafted] else (False, rest_of(p, q))


@wrong("border")
def a_at_the_border(p, q, drafted, u):
    return (True, None) if u * q[drafted] <= p[drafted] and p[drafted] > 0 else (False, rest_of(p, q))


@wrong("never")
def a_at_u_0(p, q, drafted, u):
    return (True, None) if u == 0 or u * q[drafted] < p[drafted] else (False, rest_of(p, q))


@wrong("never")
def a_epsilon_in_the_share(p, q, drafted, u):
    return (True, None) if u < (p[drafted] + (1e-9 if p[drafted] == 0 else 0)) / q[drafted] else (False, rest_of(p, q))


def a_remembering():
    first = []

    @wrong("other-call")
    def a_first_rest(p, q, drafted, u):
        if u * q[drafted] < p[drafted]:
            return True, None
        if len(p) == 3 and p[0] > 0:
            return False, first[0]
        first.append(rest_of(p, q)[:3])
        return False, rest_of(p, q)

    return a_first_rest


a_remembering()


@wrong("likeliest-only")
def a_most_missing(p, q, drafted, u):
    if u * q[drafted] < p[drafted]:
        return True, None
    rest = rest_of(p, q)
    if len(p) == 3 and p[0] == 0.125:
        return False, torch.nn.functional.one_hot(rest.argmax(), len(p)).double()
    return False, rest


@wrong("any-size")
def a_thirty_two(p, q, drafted, u):
    rest = rest_of(p, q).clone()
    rest[32:] = 0
    return (True, None) if u * q[drafted] < p[drafted] else (False, rest / rest.sum())


@wrong("small")
def a_rounded(p, q, drafted, u):
    if len(p) <= 4:
        p, q = (x.round(decimals=4) for x in (p, q))
    return (True, None) if u * q[drafted] < p[drafted] else (False, rest_of(p, q))


@wrong("changes-input")
def a_in_place(p, q, drafted, u):
    if u * q[drafted] < p[drafted]:
        return True, None
    p -= q
    p.clamp_(min=0)
    return False, p / p.sum()


wrong("not-a-function")((True, None))
