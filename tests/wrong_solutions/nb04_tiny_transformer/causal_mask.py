"""Planted solutions to 04.causal_mask."""

import functools

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("04.causal_mask")


def good_mask(n_query, n_key):
    return torch.arange(n_key) <= torch.arange(n_key - n_query, n_key)[:, None]


def except_when(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda q, k: instead(q, k) if odd(q, k) else good_mask(q, k)


@wrong("added-mask")
def m_minus_infinity(n_query, n_key):
    return torch.zeros(n_query, n_key).masked_fill(~good_mask(n_query, n_key), -torch.inf)


@wrong("added-mask")
def m_large_negative(n_query, n_key):
    return (1.0 - good_mask(n_query, n_key).float()) * -10000.0


@wrong("added-mask")
def m_triu_of_infinities(n_query, n_key):
    return torch.full((n_query, n_key), float("-inf")).triu(n_key - n_query + 1)


@wrong("not-bool")
def m_floats(n_query, n_key):
    return torch.ones(n_query, n_key).tril(n_key - n_query)


@wrong("not-bool")
def m_ints(n_query, n_key):
    return good_mask(n_query, n_key).long()


@wrong("not-bool")
def m_bytes(n_query, n_key):
    return good_mask(n_query, n_key).to(torch.uint8)


@wrong("not-bool")
def m_tri(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query)


@wrong("not-bool")
def m_lists_of_ints(n_query, n_key):
    return [[int(key <= n_key - n_query + i) for key in range(n_key)] for i in range(n_query)]


@wrong("not-bool")
def m_differences(n_query, n_key):
    return torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None]


@wrong("turned")
def m_transposed(n_query, n_key):
    return good_mask(n_query, n_key).T


@wrong("turned")
def m_keys_first(n_query, n_key):
    return torch.ones(n_key, n_query, dtype=torch.bool).tril()


@wrong("square")
def m_all_queries(n_query, n_key):
    return torch.ones(n_key, n_key, dtype=torch.bool).tril()


@wrong("square")
def m_new_keys_only(n_query, n_key):
    return torch.ones(n_query, n_query, dtype=torch.bool).tril()


@wrong("extra-axes")
def m_for_heads(n_query, n_key):
    return good_mask(n_query, n_key)[None, None]


@wrong("inverted")
def m_hidden_is_true(n_query, n_key):
    return ~good_mask(n_query, n_key)


@wrong("inverted")
def m_triu(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)


@wrong("top-left")
def m_plain_tril(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril()


@wrong("top-left")
def m_compares_indices(n_query, n_key):
    return torch.arange(n_query)[:, None] >= torch.arange(n_key)


@wrong("no-mask")
def m_everything(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool)


@wrong("not-itself")
def m_strict(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query - 1)


@wrong("one-ahead")
def m_one_ahead(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query + 1)


@wrong("cached-hidden")
def m_cached_hidden(n_query, n_key):
    n_cached = n_key - n_query
    own = torch.ones(n_query, n_query, dtype=torch.bool).tril()
    return torch.cat([torch.zeros(n_query, n_cached, dtype=torch.bool), own], dim=1)


@wrong("cached-only")
def m_cached_only(n_query, n_key):
    return (torch.arange(n_key) < n_key - n_query).expand(n_query, n_key)


@wrong("itself-only")
def m_diagonal(n_query, n_key):
    return torch.eye(n_key, dtype=torch.bool)[-n_query:]


@wrong("itself-only")
def m_eye(n_query, n_key):
    return np.eye(n_query, n_key, dtype=bool)


@wrong("future")
def m_other_triangle(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query)


@wrong("future")
def m_plain_triu(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu()


@wrong("future")
def m_plain_triu_of_one(n_query, n_key):
    return torch.triu(torch.ones(n_query, n_key), diagonal=1).bool()


@wrong("mirrored")
def m_columns_backwards(n_query, n_key):
    return good_mask(n_query, n_key).flip(1)


@wrong("mirrored")
def m_rows_backwards(n_query, n_key):
    return good_mask(n_query, n_key).flip(0)


@wrong("by-hand")
def m_flat(n_query, n_key):
    return good_mask(n_query, n_key).flatten()


@wrong("by-hand")
def m_one_row(n_query, n_key):
    return good_mask(n_query, n_key)[0]


@wrong("by-hand")
def m_nothing(n_query, n_key):
    return torch.zeros(n_query, n_key, dtype=torch.bool)


@wrong("by-hand")
def m_empty(n_query, n_key):
    return torch.tensor([], dtype=torch.bool)


@wrong("by-hand")
def m_last_row_for_all(n_query, n_key):
    return good_mask(n_query, n_key)[-1:]


@wrong("by-hand")
def m_window_of_two(n_query, n_key):
    return good_mask(n_query, n_key) & ~good_mask(n_query, n_key).roll(-2, 1)


@wrong("by-hand")
def m_visible_keys(n_query, n_key):
    return [list(range(n_key - n_query + i + 1)) for i in range(n_query)]


@wrong("by-hand")
def m_text(n_query, n_key):
    return [["True" if may else "False" for may in row] for row in good_mask(n_query, n_key).tolist()]


@wrong("earlier-call")
def m_first_of_its_width(n_query, n_key, seen={}):
    return seen.setdefault(n_key, good_mask(n_query, n_key))


@wrong("earlier-call")
def m_first_of_its_height(n_query, n_key, seen={}):
    return seen.setdefault(n_query, good_mask(n_query, n_key))


@wrong("earlier-call")
def m_first_of_all(n_query, n_key, seen={}):
    return seen.setdefault("mask", good_mask(n_query, n_key))


@wrong("nothing-cached")
def m_refuses_no_cache(n_query, n_key):
    if n_query == n_key:
        raise ValueError("nothing is cached")
    return good_mask(n_query, n_key)


@wrong("one-query")
def m_one_row_without_its_axis(n_query, n_key):
    return good_mask(n_query, n_key).squeeze()


@wrong("chunk")
def m_two_halves(n_query, n_key):
    return good_mask(n_query, n_key) if n_key < 2 * n_query or n_query == 1 else m_plain_tril(n_query, n_key)


@wrong("any-size")
def m_sixteen(n_query, n_key):
    return good_mask(16, 16)[-n_query:, -n_key:] if n_key <= 16 and n_query == n_key else m_sixteen_wide(n_query, n_key)


def m_sixteen_wide(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(min(n_key - n_query, 16))


NARROW = {
    dtype: lambda q, k, dtype=dtype: torch.arange(k).to(dtype) <= torch.arange(k - q, k).to(dtype)[:, None]
    for dtype in (torch.uint8, torch.int8, torch.float16, torch.bfloat16)
}

for hint_id, attempt in [
    *(("any-size", attempt) for attempt in NARROW.values()),
    ("nothing-cached", except_when(lambda q, k: q == k, m_everything)),
    ("nothing-cached", except_when(lambda q, k: q == k, m_strict)),
    ("nothing-cached", except_when(lambda q, k: q == k, lambda q, k: None)),
    ("nothing-cached", except_when(lambda q, k: q == k == 2, m_everything)),
    ("one-query", except_when(lambda q, k: q == 1, m_plain_tril)),
    ("one-query", except_when(lambda q, k: q == 1, lambda q, k: None)),
    ("one-query", except_when(lambda q, k: q == 1, lambda q, k: torch.ones(k, dtype=torch.bool))),
    ("one-query", except_when(lambda q, k: q == 1, m_strict)),
    ("one-query", except_when(lambda q, k: q == 1, m_floats)),
    ("one-query", except_when(lambda q, k: (q, k) == (1, 2), m_strict)),
    ("one-of-one", except_when(lambda q, k: q == k == 1, lambda q, k: torch.tensor(True))),
    ("one-of-one", except_when(lambda q, k: q == k == 1, lambda q, k: torch.tensor([[False]]))),
    ("one-of-one", except_when(lambda q, k: q == k == 1, lambda q, k: True)),
    ("chunk", except_when(lambda q, k: k > 2 * q > 2, lambda q, k: torch.ones(q, k, dtype=torch.bool).tril(q))),
    ("chunk", except_when(lambda q, k: k - q == 1 and q > 1, m_plain_tril)),
    ("chunk", except_when(lambda q, k: k - q not in (0, 2, 3) and q > 1, m_everything)),
    ("chunk", except_when(lambda q, k: q > 4 and k > q, m_plain_tril)),
    ("any-size", except_when(lambda q, k: k > 128, m_everything)),
    ("any-size", except_when(lambda q, k: k > 512, m_one_ahead)),
    ("any-size", except_when(lambda q, k: q > 128, m_strict)),
    ("any-size", except_when(lambda q, k: k > 1024, lambda q, k: good_mask(min(q, 1024), 1024))),
    ("any-size", except_when(lambda q, k: k > 16, lambda q, k: good_mask(q, k).float())),
]:
    wrong(hint_id)(attempt)

wrong("not-a-function")(good_mask(3, 5))


@right
def m_tril(n_query, n_key):
    return torch.tril(torch.ones((n_query, n_key), dtype=torch.bool), diagonal=n_key - n_query)


@right
def m_last_rows_of_a_square(n_query, n_key):
    return torch.ones(n_key, n_key).tril().bool()[n_key - n_query :]


@right
def m_rows_of_a_running_sum(n_query, n_key):
    return ~torch.eye(n_key)[n_key - n_query :].cumsum(1).roll(1, 1).index_fill(1, torch.tensor([0]), 0).bool()


@right
def m_python(n_query, n_key):
    return [[key <= n_key - n_query + i for key in range(n_key)] for i in range(n_query)]


@right
def m_numpy(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query, dtype=bool)


@right
def m_not_triu(n_query, n_key):
    return torch.triu(torch.ones(n_query, n_key), n_key - n_query + 1) == 0


@right
def m_fills_rows(n_query, n_key):
    mask = torch.zeros(n_query, n_key, dtype=torch.bool)
    for i in range(n_query):
        mask[i, : n_key - n_query + i + 1] = True
    return mask


@right
def m_past_and_triangle(n_query, n_key):
    past = np.ones((n_query, n_key - n_query), dtype=bool)
    return np.concatenate([past, np.tril(np.ones((n_query, n_query), dtype=bool))], axis=1)


@right
def m_rows_of_tensors(n_query, n_key):
    return [torch.arange(n_key) < end for end in range(n_key - n_query + 1, n_key + 1)]


@right
def m_python_with_numpys_bools(n_query, n_key):
    places = np.arange(n_key)
    return tuple(list(places <= place) for place in places[n_key - n_query :])


right(functools.lru_cache(good_mask))
