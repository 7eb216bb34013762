"""Planted solutions to 05.kv_bytes."""

import functools
import math
import operator

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("05.kv_bytes")


@wrong("keys-only")
def keys_alone(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("kv-twice")
def query_and_output_too(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 4 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("bits")
def in_bits(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element * 8


@wrong("bytes-missing")
def counts_elements(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size


@wrong("bytes-fixed")
def half_precision_always(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * 2


@wrong("bytes-fixed")
def float32_always(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * 4


@wrong("bytes-fixed")
def one_byte_or_four(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * (1 if bytes_per_element == 1 else 4)


@wrong("layers-missing")
def one_layer(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("heads-missing")
def one_head(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("dim-missing")
def a_number_for_each_head(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * n_tokens * batch_size * bytes_per_element


@wrong("tokens-missing")
def of_one_token(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * batch_size * bytes_per_element


@wrong("batch-missing")
def of_one_row(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * bytes_per_element


@wrong("squared")
def tokens_by_tokens(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens**2 * batch_size * bytes_per_element


@wrong("squared")
def width_of_a_layer_by_heads(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    width = n_kv_head * head_dim
    return 2 * n_layer * n_kv_head * width * n_tokens * batch_size * bytes_per_element


@wrong("unit")
def in_kib(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1024


@wrong("unit")
def in_whole_kilobytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return round(2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1000)


@wrong("unit")
def in_mib(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element / 1024**2


@wrong("by-hand")
def adds_them_up(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * (n_layer + n_kv_head + head_dim + n_tokens + batch_size) * bytes_per_element


@wrong("by-hand")
def two_factors_missing(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_kv_head * head_dim * n_tokens * bytes_per_element


@wrong("by-hand")
def one_layer_more(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * (n_layer + 1) * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("by-hand")
def without_the_last_token(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * (n_tokens - 1) * batch_size * bytes_per_element


@wrong("by-hand")
def as_a_text(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return f"{2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element} bytes"


@wrong("by-hand")
def in_a_list(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return [2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element]


@wrong("by-hand")
def keys_and_values_apart(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    half = n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element
    return half, half


@wrong("by-hand")
def not_a_number(*sizes):
    return math.nan


@wrong("earlier-call")
def kept_by_layers(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element, kept={}):  # noqa: B006
    size = 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element
    return kept.setdefault((n_layer, bytes_per_element), size)


@wrong("earlier-call")
def kept_without_the_dtype(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element, kept={}):  # noqa: B006
    key = (n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element == 1)
    return kept.setdefault(key, 2 * math.prod((n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element)))


@wrong("any-size")
def at_least_two_heads(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * max(n_kv_head, 2) * head_dim * n_tokens * batch_size * bytes_per_element


@wrong("any-size")
def zero_is_replaced(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * (n_tokens or 1) * batch_size * bytes_per_element


@wrong("any-size")
def heads_rounded_up(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    dim = head_dim if head_dim < 9 else -(-head_dim // 8) * 8
    return 2 * n_layer * n_kv_head * dim * n_tokens * batch_size * bytes_per_element


@wrong("any-size")
def a_hundred_at_most(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * min(head_dim, 100) * n_tokens * batch_size * bytes_per_element


@wrong("large")
def in_32_bits(*sizes):
    with np.errstate(over="ignore"):
        return int(functools.reduce(operator.mul, (np.int32(size) for size in (2, *sizes))))


@wrong("large")
def in_float32(*sizes):
    return int(torch.tensor([2.0, *sizes]).prod())


@wrong("large")
def block_of_four_thousand(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * min(n_tokens, 4096) * batch_size * bytes_per_element


LARGEST = {"layers": (0, 128), "heads": (1, 64), "dimensions": (2, 128), "texts": (4, 128)}

for place, most in LARGEST.values():

    def no_more_than(*sizes, place=place, most=most):
        return 2 * math.prod(min(size, most) if number == place else size for number, size in enumerate(sizes))

    wrong("any-size")(no_more_than)


@wrong("large")
def a_context_of_at_most_131072(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * min(n_tokens, 131_072) * batch_size * bytes_per_element


@wrong("any-size")
def no_batch_is_one_text(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * (batch_size or 1) * bytes_per_element


@wrong("bytes-fixed")
def never_more_than_four_bytes(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * min(bytes_per_element, 4)


def _called_already():
    return 2 * 32 * 8 * 128 * 2


@right
def in_one_line(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    return 2 * n_layer * n_kv_head * head_dim * n_tokens * batch_size * bytes_per_element


@right
def product_of_all(*sizes):
    return 2 * math.prod(sizes)


@right
def from_the_inside(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    a_key = head_dim * bytes_per_element
    a_token = n_layer * n_kv_head * (a_key + a_key)
    return a_token * n_tokens * batch_size


@right
def of_real_tensors(n_layer, n_kv_head, head_dim, n_tokens, batch_size, bytes_per_element):
    dtype = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_per_element]
    keys = torch.empty(n_layer, batch_size, n_kv_head, n_tokens, head_dim, dtype=dtype, device="meta")
    return keys.nbytes + torch.empty_like(keys).nbytes


@right
def in_float64(*sizes):
    return np.prod(np.array([2, *sizes], dtype=np.float64))


@right
def as_a_tensor(*sizes):
    return torch.tensor([2, *sizes]).prod()


wrong("not-a-function")(_called_already())
