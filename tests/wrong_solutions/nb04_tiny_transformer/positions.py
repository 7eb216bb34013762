"""Planted solutions to 04.positions."""

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("04.positions")


def good_positions(n_cached, n_new):
    return torch.arange(n_cached, n_cached + n_new)


def but(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda c, n: instead(c, n) if odd(c, n) else good_positions(c, n)


@wrong("kept")
def p_own_count(n_cached, n_new, seen={}):
    first = seen.get("end", n_cached)
    seen["end"] = first + n_new
    return torch.arange(first, first + n_new)


@wrong("kept")
def p_first_answer(n_cached, n_new, seen={}):
    return seen.setdefault(n_new, good_positions(n_cached, n_new))


@wrong("kept")
def p_cached_since(n_cached, n_new, seen=[]):
    seen.append(n_cached)
    return good_positions(sum(seen), n_new)


for hint_id, attempt in [
    ("from-zero", lambda c, n: torch.arange(n)),
    ("from-zero", lambda c, n: list(range(n))),
    ("counted-from-one", lambda c, n: torch.arange(c + 1, c + n + 1)),
    ("last-again", lambda c, n: torch.arange(c - 1, c - 1 + n)),
    ("cached-too", lambda c, n: torch.arange(c + n)),
    ("cached-too", lambda c, n: torch.arange(c)),
    ("swapped", lambda c, n: torch.arange(n, c + n)),
    ("begin-and-end", lambda c, n: (c, c + n)),
    ("one-too-many", lambda c, n: torch.arange(c, c + n + 1)),
    ("one-too-many", lambda c, n: list(range(c - 1, c + n + 1))),
    ("one-for-all", lambda c, n: torch.full((n,), c)),
    ("one-for-all", lambda c, n: torch.full((n,), c + n - 1)),
    ("one-for-all", lambda c, n: [c + n] * n),
    ("one-number", lambda c, n: c),
    ("one-number", lambda c, n: c + n),
    ("one-number", lambda c, n: torch.tensor([c])),
    ("one-number", lambda c, n: torch.tensor([[c + n - 1]])),
    ("one-number", lambda c, n: torch.arange(c, c + n - 1)),
    ("backwards", lambda c, n: good_positions(c, n).flip(0)),
    ("extra-axis", lambda c, n: good_positions(c, n)[None]),
    ("extra-axis", lambda c, n: good_positions(c, n)[:, None]),
    ("not-int64", lambda c, n: torch.arange(c, c + n, dtype=torch.float32)),
    ("not-int64", lambda c, n: good_positions(c, n).int()),
    ("not-int64", lambda c, n: c + torch.ones(n).cumsum(0) - 1),
    ("not-int64", lambda c, n: np.linspace(c, c + n - 1, n)),
    ("not-int64", lambda c, n: [float(c + i) for i in range(n)]),
    ("not-int64", lambda c, n: good_positions(c, n).to(torch.uint8)),
    ("not-int64", but(lambda c, n: c == 0, lambda c, n: torch.arange(float(n)))),
    ("not-int64", but(lambda c, n: n == 1, lambda c, n: torch.tensor([float(c)]))),
    ("not-int64", but(lambda c, n: c > 9999, lambda c, n: good_positions(c, n).double())),
    ("by-hand", lambda c, n: good_positions(c, n) * 2),
    ("by-hand", lambda c, n: torch.tensor([])),
    ("begin-and-end", lambda c, n: torch.arange(c, c + 2 * n, 2)),
    ("by-hand", lambda c, n: good_positions(c, n) / c),
    ("by-hand", lambda c, n: good_positions(c, n) * float("nan")),
    ("by-hand", lambda c, n: slice(c, c + n)),
    ("by-hand", lambda c, n: [str(i) for i in range(c, c + n)]),
    ("by-hand", lambda c, n: (i for i in range(c, c + n))),
    ("after-the-new", lambda c, n: torch.arange(c + n, c + 2 * n)),
    ("by-hand", lambda c, n: torch.tensor([-2, -1])),
    ("by-hand", lambda c, n: -good_positions(c, n)),
    ("nothing-cached", but(lambda c, n: c == 0, lambda c, n: torch.arange(1, n + 1))),
    ("nothing-cached", lambda c, n: good_positions(c or 1, n)),
    ("nothing-cached", but(lambda c, n: c == 0, lambda c, n: torch.tensor([]))),
    ("nothing-cached", but(lambda c, n: c == 0, lambda c, n: None)),
    ("nothing-cached", lambda c, n: torch.arange(10**6)[: c + n][-n:] if c else 1 / c),
    ("nothing-cached", but(lambda c, n: c == 0 and n == 1, lambda c, n: torch.tensor(0))),
    ("one-token", lambda c, n: good_positions(c, n).squeeze() if c else good_positions(c, n)),
    ("one-token", but(lambda c, n: n == 1 and c, lambda c, n: c)),
    ("one-token", but(lambda c, n: n == 1 and c, lambda c, n: torch.tensor([c - 1]))),
    ("one-token", but(lambda c, n: n == 1 == c, lambda c, n: torch.tensor([0]))),
    ("sizes", lambda c, n: torch.arange(c, max(2 * c, c + 1, 2 if c == 6 else 0))[:n] if c else torch.arange(n)),
    ("sizes", but(lambda c, n: n > c > 0, lambda c, n: torch.arange(n, n + c))),
    ("sizes", but(lambda c, n: n == c > 1, lambda c, n: torch.arange(n))),
    ("any-size", lambda c, n: good_positions(c, n).clamp(max=511)),
    ("any-size", lambda c, n: good_positions(c, n) % 512),
    ("any-size", lambda c, n: good_positions(c, n)[:1024]),
    ("any-size", lambda c, n: torch.arange(64)[c : c + n]),
    ("any-size", lambda c, n: torch.arange(4096)[c : c + n]),
    ("any-size", lambda c, n: good_positions(c, n).to(torch.uint8).long()),
    ("any-size", lambda c, n: good_positions(c, n).to(torch.int8).long()),
    ("any-size", lambda c, n: good_positions(c, n).to(torch.int16).long()),
    ("any-size", lambda c, n: good_positions(c, n).half().long()),
    ("any-size", lambda c, n: good_positions(c, n).bfloat16().long()),
    ("none-new", lambda c, n: torch.arange(c + n)[-n:]),
    ("none-new", but(lambda c, n: n == 0, lambda c, n: torch.tensor([c]))),
    ("none-new", but(lambda c, n: n == 0, lambda c, n: None)),
    ("none-new", but(lambda c, n: c == n == 0, lambda c, n: torch.zeros(1, dtype=torch.int64))),
    ("none-new", but(lambda c, n: n == 0, lambda c, n: [[]])),
    ("none-new", but(lambda c, n: n == 0, lambda c, n: 1 // n)),
    ("not-a-function", torch.tensor([3, 4])),
]:
    wrong(hint_id)(attempt)


@right
def p_sum(n_cached, n_new):
    return torch.arange(n_new) + n_cached


@right
def p_list(n_cached, n_new):
    return list(range(n_cached, n_cached + n_new))


@right
def p_range(n_cached, n_new):
    return range(n_cached, n_cached + n_new)


@right
def p_numpy(n_cached, n_new):
    return np.arange(n_cached, n_cached + n_new)


@right
def p_tensor_of_a_loop(n_cached, n_new):
    return torch.tensor([n_cached + i for i in range(n_new)])


@right
def p_all_then_cut(n_cached, n_new):
    return torch.arange(n_cached + n_new)[n_cached:]


@right
def p_cumsum(n_cached, n_new):
    return torch.ones(n_new, dtype=torch.int64).cumsum(0) + (n_cached - 1)


@right
def p_tensors_in_a_list(n_cached, n_new):
    return [torch.tensor(i) for i in range(n_cached, n_cached + n_new)]


@right
def p_tuple_of_numpys_ints(n_cached, n_new):
    return tuple(np.int64(n_cached + i) for i in range(n_new))
