"""Solutions to the exercises of notebook 04."""

import functools

import numpy as np
import torch

from wrong_solutions import right, wrong

MASK, POSITIONS, COUNT = "04.causal_mask", "04.positions", "04.count_parameters"

# 04.causal_mask


def good_mask(n_query, n_key):
    return torch.arange(n_key) <= torch.arange(n_key - n_query, n_key)[:, None]


def except_when(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda q, k: instead(q, k) if odd(q, k) else good_mask(q, k)


@wrong(MASK, "added-mask")
def m_minus_infinity(n_query, n_key):
    return torch.zeros(n_query, n_key).masked_fill(~good_mask(n_query, n_key), -torch.inf)


@wrong(MASK, "added-mask")
def m_large_negative(n_query, n_key):
    return (1.0 - good_mask(n_query, n_key).float()) * -10000.0


@wrong(MASK, "added-mask")
def m_triu_of_infinities(n_query, n_key):
    return torch.full((n_query, n_key), float("-inf")).triu(n_key - n_query + 1)


@wrong(MASK, "not-bool")
def m_floats(n_query, n_key):
    return torch.ones(n_query, n_key).tril(n_key - n_query)


@wrong(MASK, "not-bool")
def m_ints(n_query, n_key):
    return good_mask(n_query, n_key).long()


@wrong(MASK, "not-bool")
def m_bytes(n_query, n_key):
    return good_mask(n_query, n_key).to(torch.uint8)


@wrong(MASK, "not-bool")
def m_tri(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query)


@wrong(MASK, "not-bool")
def m_lists_of_ints(n_query, n_key):
    return [[int(key <= n_key - n_query + i) for key in range(n_key)] for i in range(n_query)]


@wrong(MASK, "not-bool")
def m_differences(n_query, n_key):
    return torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None]


@wrong(MASK, "turned")
def m_transposed(n_query, n_key):
    return good_mask(n_query, n_key).T


@wrong(MASK, "turned")
def m_keys_first(n_query, n_key):
    return torch.ones(n_key, n_query, dtype=torch.bool).tril()


@wrong(MASK, "square")
def m_all_queries(n_query, n_key):
    return torch.ones(n_key, n_key, dtype=torch.bool).tril()


@wrong(MASK, "square")
def m_new_keys_only(n_query, n_key):
    return torch.ones(n_query, n_query, dtype=torch.bool).tril()


@wrong(MASK, "extra-axes")
def m_for_heads(n_query, n_key):
    return good_mask(n_query, n_key)[None, None]


@wrong(MASK, "inverted")
def m_hidden_is_true(n_query, n_key):
    return ~good_mask(n_query, n_key)


@wrong(MASK, "inverted")
def m_triu(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)


@wrong(MASK, "top-left")
def m_plain_tril(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril()


@wrong(MASK, "top-left")
def m_compares_indices(n_query, n_key):
    return torch.arange(n_query)[:, None] >= torch.arange(n_key)


@wrong(MASK, "no-mask")
def m_everything(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool)


@wrong(MASK, "not-itself")
def m_strict(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query - 1)


@wrong(MASK, "one-ahead")
def m_one_ahead(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query + 1)


@wrong(MASK, "cached-hidden")
def m_cached_hidden(n_query, n_key):
    n_cached = n_key - n_query
    own = torch.ones(n_query, n_query, dtype=torch.bool).tril()
    return torch.cat([torch.zeros(n_query, n_cached, dtype=torch.bool), own], dim=1)


@wrong(MASK, "cached-only")
def m_cached_only(n_query, n_key):
    return (torch.arange(n_key) < n_key - n_query).expand(n_query, n_key)


@wrong(MASK, "itself-only")
def m_diagonal(n_query, n_key):
    return torch.eye(n_key, dtype=torch.bool)[-n_query:]


@wrong(MASK, "itself-only")
def m_eye(n_query, n_key):
    return np.eye(n_query, n_key, dtype=bool)


@wrong(MASK, "future")
def m_other_triangle(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query)


@wrong(MASK, "future")
def m_plain_triu(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).triu()


@wrong(MASK, "future")
def m_plain_triu_of_one(n_query, n_key):
    return torch.triu(torch.ones(n_query, n_key), diagonal=1).bool()


@wrong(MASK, "mirrored")
def m_columns_backwards(n_query, n_key):
    return good_mask(n_query, n_key).flip(1)


@wrong(MASK, "mirrored")
def m_rows_backwards(n_query, n_key):
    return good_mask(n_query, n_key).flip(0)


@wrong(MASK, "by-hand")
def m_flat(n_query, n_key):
    return good_mask(n_query, n_key).flatten()


@wrong(MASK, "by-hand")
def m_one_row(n_query, n_key):
    return good_mask(n_query, n_key)[0]


@wrong(MASK, "by-hand")
def m_nothing(n_query, n_key):
    return torch.zeros(n_query, n_key, dtype=torch.bool)


@wrong(MASK, "by-hand")
def m_empty(n_query, n_key):
    return torch.tensor([], dtype=torch.bool)


@wrong(MASK, "by-hand")
def m_last_row_for_all(n_query, n_key):
    return good_mask(n_query, n_key)[-1:]


@wrong(MASK, "by-hand")
def m_window_of_two(n_query, n_key):
    return good_mask(n_query, n_key) & ~good_mask(n_query, n_key).roll(-2, 1)


@wrong(MASK, "by-hand")
def m_visible_keys(n_query, n_key):
    return [list(range(n_key - n_query + i + 1)) for i in range(n_query)]


@wrong(MASK, "by-hand")
def m_text(n_query, n_key):
    return [["True" if may else "False" for may in row] for row in good_mask(n_query, n_key).tolist()]


@wrong(MASK, "earlier-call")
def m_first_of_its_width(n_query, n_key, seen={}):
    return seen.setdefault(n_key, good_mask(n_query, n_key))


@wrong(MASK, "earlier-call")
def m_first_of_its_height(n_query, n_key, seen={}):
    return seen.setdefault(n_query, good_mask(n_query, n_key))


@wrong(MASK, "earlier-call")
def m_first_of_all(n_query, n_key, seen={}):
    return seen.setdefault("mask", good_mask(n_query, n_key))


@wrong(MASK, "nothing-cached")
def m_refuses_no_cache(n_query, n_key):
    if n_query == n_key:
        raise ValueError("nothing is cached")
    return good_mask(n_query, n_key)


@wrong(MASK, "one-query")
def m_one_row_without_its_axis(n_query, n_key):
    return good_mask(n_query, n_key).squeeze()


@wrong(MASK, "chunk")
def m_two_halves(n_query, n_key):
    return good_mask(n_query, n_key) if n_key < 2 * n_query or n_query == 1 else m_plain_tril(n_query, n_key)


@wrong(MASK, "any-size")
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
    wrong(MASK, hint_id)(attempt)

wrong(MASK, "not-a-function")(good_mask(3, 5))


@right(MASK)
def m_tril(n_query, n_key):
    return torch.tril(torch.ones((n_query, n_key), dtype=torch.bool), diagonal=n_key - n_query)


@right(MASK)
def m_last_rows_of_a_square(n_query, n_key):
    return torch.ones(n_key, n_key).tril().bool()[n_key - n_query :]


@right(MASK)
def m_rows_of_a_running_sum(n_query, n_key):
    return ~torch.eye(n_key)[n_key - n_query :].cumsum(1).roll(1, 1).index_fill(1, torch.tensor([0]), 0).bool()


@right(MASK)
def m_python(n_query, n_key):
    return [[key <= n_key - n_query + i for key in range(n_key)] for i in range(n_query)]


@right(MASK)
def m_numpy(n_query, n_key):
    return np.tri(n_query, n_key, n_key - n_query, dtype=bool)


@right(MASK)
def m_not_triu(n_query, n_key):
    return torch.triu(torch.ones(n_query, n_key), n_key - n_query + 1) == 0


@right(MASK)
def m_fills_rows(n_query, n_key):
    mask = torch.zeros(n_query, n_key, dtype=torch.bool)
    for i in range(n_query):
        mask[i, : n_key - n_query + i + 1] = True
    return mask


@right(MASK)
def m_past_and_triangle(n_query, n_key):
    past = np.ones((n_query, n_key - n_query), dtype=bool)
    return np.concatenate([past, np.tril(np.ones((n_query, n_query), dtype=bool))], axis=1)


@right(MASK)
def m_rows_of_tensors(n_query, n_key):
    return [torch.arange(n_key) < end for end in range(n_key - n_query + 1, n_key + 1)]


@right(MASK)
def m_python_with_numpys_bools(n_query, n_key):
    places = np.arange(n_key)
    return tuple(list(places <= place) for place in places[n_key - n_query :])


right(MASK)(functools.lru_cache(good_mask))


# 04.positions


def good_positions(n_cached, n_new):
    return torch.arange(n_cached, n_cached + n_new)


def but(odd, instead):
    """A wrong solution: right, but for the calls that `odd` picks."""
    return lambda c, n: instead(c, n) if odd(c, n) else good_positions(c, n)


@wrong(POSITIONS, "kept")
def p_own_count(n_cached, n_new, seen={}):
    first = seen.get("end", n_cached)
    seen["end"] = first + n_new
    return torch.arange(first, first + n_new)


@wrong(POSITIONS, "kept")
def p_first_answer(n_cached, n_new, seen={}):
    return seen.setdefault(n_new, good_positions(n_cached, n_new))


@wrong(POSITIONS, "kept")
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
    wrong(POSITIONS, hint_id)(attempt)


@right(POSITIONS)
def p_sum(n_cached, n_new):
    return torch.arange(n_new) + n_cached


@right(POSITIONS)
def p_list(n_cached, n_new):
    return list(range(n_cached, n_cached + n_new))


@right(POSITIONS)
def p_range(n_cached, n_new):
    return range(n_cached, n_cached + n_new)


@right(POSITIONS)
def p_numpy(n_cached, n_new):
    return np.arange(n_cached, n_cached + n_new)


@right(POSITIONS)
def p_tensor_of_a_loop(n_cached, n_new):
    return torch.tensor([n_cached + i for i in range(n_new)])


@right(POSITIONS)
def p_all_then_cut(n_cached, n_new):
    return torch.arange(n_cached + n_new)[n_cached:]


@right(POSITIONS)
def p_cumsum(n_cached, n_new):
    return torch.ones(n_new, dtype=torch.int64).cumsum(0) + (n_cached - 1)


@right(POSITIONS)
def p_tensors_in_a_list(n_cached, n_new):
    return [torch.tensor(i) for i in range(n_cached, n_cached + n_new)]


@right(POSITIONS)
def p_tuple_of_numpys_ints(n_cached, n_new):
    return tuple(np.int64(n_cached + i) for i in range(n_new))


# 04.count_parameters


def good_count(config, **changed):
    """The right number, or with one part counted otherwise."""
    C, D, H, K = config.n_embd, config.head_dim, config.n_head, config.n_kv_head
    parts = {
        "q": C * H * D,
        "k": C * K * D,
        "v": C * K * D,
        "o": C * C,
        "mlp": 3 * C * config.n_inner,
        "norms": 2 * C,
        "biases": 0,
        "L": config.n_layer,
        "final": C,
        "embedding": config.vocab_size * C,
        "head": 0 if config.tie_embeddings else config.vocab_size * C,
        "more": 0,
        **changed,
    }
    layer = sum(parts[name] for name in ("q", "k", "v", "o", "mlp", "norms", "biases"))
    return parts["L"] * layer + parts["final"] + parts["embedding"] + parts["head"] + parts["more"]


@wrong(COUNT, "kv-heads")
def c_multi_head(config):
    C = config.n_embd
    return good_count(config, k=C * C, v=C * C)


@wrong(COUNT, "earlier-call")
def c_adds_up(config, total=[0]):
    total[0] += good_count(config)
    return total[0]


@wrong(COUNT, "earlier-call")
def c_first_answer(config, seen={}):
    return seen.setdefault("n", good_count(config))


@wrong(COUNT, "parts")
def c_list_of_parts(config):
    tables = config.vocab_size * config.n_embd * (1 if config.tie_embeddings else 2)
    return [tables, good_count(config) - tables]


def width_of(config):
    return (config.n_head + 2 * config.n_kv_head) * config.head_dim


for hint_id, attempt in [
    ("kv-heads", lambda c: good_count(c, k=c.n_embd**2, v=c.n_embd**2) if c.n_kv_head == 1 else good_count(c)),
    ("kv-heads", lambda c: good_count(c, k=c.n_embd**2 // 3, v=c.n_embd**2 // 3)),
    ("kv-heads", lambda c: good_count(c, k=c.n_embd * c.head_dim * min(2, c.n_kv_head))),
    ("kv-once", lambda c: good_count(c, k=0)),
    ("kv-once", lambda c: good_count(c, k=0, v=0)),
    ("one-layer", lambda c: good_count(c, L=1)),
    ("one-layer", lambda c: good_count(c) if c.n_layer > 1 else good_count(c, L=0)),
    ("outside-a-layer", lambda c: c.n_layer * good_count(c, L=1)),
    ("outside-a-layer", lambda c: good_count(c, final=c.n_layer * c.n_embd)),
    ("outside-a-layer", lambda c: good_count(c, embedding=c.n_layer * c.vocab_size * c.n_embd)),
    ("one-table", lambda c: good_count(c, head=0)),
    ("one-table", lambda c: good_count(c, head=0, embedding=0)),
    ("last-norm", lambda c: good_count(c, final=0)),
    ("norms", lambda c: good_count(c, norms=0)),
    ("norms", lambda c: good_count(c, norms=0, final=0)),
    ("norms", lambda c: good_count(c, norms=c.n_embd)),
    ("norm-bias", lambda c: good_count(c, norms=4 * c.n_embd, final=2 * c.n_embd)),
    ("biases", lambda c: good_count(c, biases=width_of(c) + 2 * c.n_embd + 2 * c.n_inner)),
    ("biases", lambda c: good_count(c, biases=width_of(c) + 2 * c.n_embd + 2 * c.n_inner, more=c.vocab_size)),
    ("biases", lambda c: good_count(c, biases=width_of(c))),
    ("position-table", lambda c: good_count(c, more=c.block_size * c.n_embd)),
    ("position-table", lambda c: good_count(c, more=c.block_size * c.head_dim)),
    ("two-matrices", lambda c: good_count(c, mlp=2 * c.n_embd * c.n_inner)),
    ("no-gate-half", lambda c: good_count(c, mlp=c.n_embd * c.n_inner)),
    ("no-gate-half", lambda c: good_count(c, mlp=0)),
    ("out-projection", lambda c: good_count(c, o=0)),
    ("four-times", lambda c: good_count(c, mlp=3 * c.n_embd * 4 * c.n_embd)),
    ("four-times", lambda c: good_count(c, mlp=3 * c.n_embd * int(8 * c.n_embd / 3))),
    ("not-the-count", lambda c: 4 * good_count(c)),
    ("not-the-count", lambda c: 2 * good_count(c)),
    ("not-the-count", lambda c: good_count(c) / 1e6),
    ("by-hand", lambda c: c.n_embd * c.n_inner),
    ("by-hand", lambda c: float("nan")),
    ("by-hand", lambda c: torch.tensor([good_count(c)])),
    ("by-hand", lambda c: str(good_count(c))),
    ("by-hand", lambda c: c.vocab_size),
    ("by-hand", lambda c: round(good_count(c), -2)),
    ("by-hand", lambda c: c),
    ("by-hand", lambda c: good_count(c) + 1),
    ("by-hand", lambda c: good_count(c) - 0.4),
    ("four-times", lambda c: good_count(c, mlp=2 * c.n_embd * 4 * c.n_embd)),
    ("tied", lambda c: good_count(c, head=c.vocab_size * c.n_embd)),
    ("tied", lambda c: good_count(c, embedding=0 if c.tie_embeddings else c.vocab_size * c.n_embd)),
    ("by-config", lambda c: good_count(c, embedding=29 * c.n_embd)),
    ("by-config", lambda c: good_count(c, k=c.n_embd * c.n_kv_head * 4, v=c.n_embd * c.n_kv_head * 4)),
    ("by-config", lambda c: good_count(c, mlp=3 * c.n_embd * (c.n_inner if c.n_inner > 20 else 40))),
    ("by-config", lambda c: good_count(c, L=min(c.n_layer, 4))),
    ("by-config", lambda c: good_count(c, L=min(c.n_layer, 12))),
    ("by-config", lambda c: good_count(c, o=576)),
    ("by-config", lambda c: good_count(c, final=24)),
    ("n-inner", lambda c: good_count(c, mlp=0) if c.n_inner == 64 else good_count(c)),
    ("n-inner", lambda c: good_count(c, mlp=3 * c.n_embd * (8 * c.n_embd // 3 if c.n_inner % 32 == 0 else c.n_inner))),
    ("no-weights", lambda c: good_count(c, more=max(0, c.block_size - 11) * c.n_embd)),
    ("no-weights", lambda c: int(good_count(c) * (1 - c.dropout))),
    ("no-weights", lambda c: good_count(c) + (c.rope_theta != 10000.0)),
    ("smallest", lambda c: good_count(c) if c.vocab_size > 2 else good_count(c, head=0, embedding=0)),
    ("smallest", lambda c: good_count(c) if c.vocab_size != 2 else good_count(c, head=c.vocab_size * c.n_embd)),
    ("large", lambda c: min(good_count(c), 10**6)),
    ("large", lambda c: good_count(c) % 10**6),
    ("large", lambda c: torch.tensor(good_count(c) / 24).bfloat16() * 24 if c.vocab_size > 50 else good_count(c)),
    ("large", lambda c: good_count(c) if c.vocab_size < 1000 else good_count(c, mlp=0)),
    ("not-a-function", 14808),
]:
    wrong(COUNT, hint_id)(attempt)


@right(COUNT)
def c_asks_the_model(config):
    from course_utils.transformer import Transformer

    return sum(parameter.numel() for parameter in Transformer(config).parameters())


@right(COUNT)
def c_formula(config):
    C, D = config.n_embd, config.n_embd // config.n_head
    layer = 2 * C * config.n_head * D + 2 * C * config.n_kv_head * D + 3 * C * config.n_inner + 2 * C
    n = config.n_layer * layer + C + config.vocab_size * C
    return n if config.tie_embeddings else n + config.vocab_size * C


@right(COUNT)
def c_shapes(config):
    C, kv = config.n_embd, config.n_kv_head * config.head_dim
    shapes = [
        (C, C),
        (kv, C),
        (kv, C),
        (C, C),
        (config.n_inner, C),
        (config.n_inner, C),
        (C, config.n_inner),
        (C,),
        (C,),
    ]
    tables = [(config.vocab_size, C)] * (2 - config.tie_embeddings)
    return np.int64(sum(np.prod(shape) for shape in shapes * config.n_layer + tables + [(C,)]))


@right(COUNT)
def c_as_a_tensor(config):
    return torch.tensor(good_count(config))


@right(COUNT)
def c_layer_by_layer(config):
    total = config.vocab_size * config.n_embd
    for _ in range(config.n_layer):
        total += config.n_embd * width_of(config) + config.n_embd**2
        total += config.n_inner * config.n_embd * 3
        total += config.n_embd + config.n_embd
    total += config.n_embd
    if not config.tie_embeddings:
        total += config.n_embd * config.vocab_size
    return total
