"""Planted solutions to 02.repetition_rate."""

import math
from collections import Counter

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("02.repetition_rate")


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@wrong("distinct-share")
def distinct(tokens, n):
    grams = ngrams(tokens, n)
    return len(set(grams)) / len(grams) if grams else None


@wrong("count")
def number(tokens, n):
    grams = ngrams(tokens, n)
    return len(grams) - len(set(grams)) if grams else None


@wrong("count")
def number_of_distinct(tokens, n):
    return len(set(ngrams(tokens, n)))


@wrong("single-tokens")
def of_tokens(tokens, n):
    return 1 - len(set(tokens)) / len(tokens) if len(tokens) >= n else None


@wrong("single-tokens")
def by_the_length(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(tokens) if grams else None


@wrong("single-tokens")
def repeats_by_the_length(tokens, n):
    grams = ngrams(tokens, n)
    return (len(grams) - len(set(grams))) / len(tokens) if grams else None


@wrong("no-overlap")
def chunks(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(0, len(tokens) - n + 1, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("no-overlap")
def forgets_the_last(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("cut-off")
def always_zero(tokens, n):
    return 0.0


@wrong("every-occurrence")
def counts_the_first_too(tokens, n):
    grams = ngrams(tokens, n)
    counts = Counter(grams)
    return sum(c for c in counts.values() if c > 1) / len(grams) if grams else None


@wrong("percent")
def percent(tokens, n):
    grams = ngrams(tokens, n)
    return 100 * (1 - len(set(grams)) / len(grams)) if grams else None


@wrong("divided-by-distinct")
def distinct_that_repeat(tokens, n):
    counts = Counter(ngrams(tokens, n))
    return sum(c > 1 for c in counts.values()) / len(counts) if counts else None


@wrong("by-hand")
def too_many(tokens, n):
    grams = [tuple(tokens[i : i + n]) for i in range(len(tokens))]
    return len(set(grams)) / len(grams) - 1 if grams else None


@wrong("by-hand")
def nan_rate(tokens, n):
    return math.nan


@wrong("by-hand")
def whole_division(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) // len(grams) - 1e-3 if grams else None


@wrong("by-hand")
def tokens_returned(tokens, n):
    return tokens


@wrong("by-hand")
def a_list_of_one(tokens, n):
    return [0.25]


@wrong("fixed-n")
def two_grams(tokens, n):
    grams = ngrams(tokens, 2)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("fixed-n")
def at_least_two(tokens, n):
    grams = ngrams(tokens, max(2, n))
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("other-call")
def constant(tokens, n):
    return 0.25


@wrong("nothing-repeats")
def none_for_zero(tokens, n):
    grams = ngrams(tokens, n)
    return (1 - len(set(grams)) / len(grams) or None) if grams else None


@wrong("one-n-gram")
def none_for_one(tokens, n):
    if len(tokens) <= n:
        return None
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams)


@wrong("none")
def divides_by_zero(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams)


@wrong("none")
def zero_for_none(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


@wrong("none")
def at_least_one(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / max(1, len(grams))


@wrong("none")
def nan_for_none(tokens, n):
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else math.nan


@wrong("none")
def total_by_formula(tokens, n):
    total = len(tokens) - n + 1
    return 1 - len(set(ngrams(tokens, n))) / total if total else None


@wrong("joined")
def joins(tokens, n):
    grams = ["".join(map(str, gram)) for gram in ngrams(tokens, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("joined")
def sorts_each(tokens, n):
    grams = [tuple(sorted("".join(map(str, gram)))) for gram in ngrams(tokens, n)]
    grams = [gram if n < 4 else tuple(ngrams(tokens, n)[i]) for i, gram in enumerate(grams)]
    plain = ngrams(tokens, n)
    return 1 - len(set(grams if any(len(str(t)) > 1 for t in tokens) else plain)) / len(grams) if grams else None


@wrong("joined")
def joins_with_spaces(tokens, n):
    grams = [" ".join(map(str, gram)) for gram in ngrams(tokens, n)]
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("a-str")
def copies_the_list(tokens, n):
    tokens = tokens.copy()
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("a-str")
def splits_into_words(tokens, n):
    tokens = tokens.split() if isinstance(tokens, str) else tokens
    grams = ngrams(tokens, n)
    return 1 - len(set(grams)) / len(grams) if grams else None


@wrong("neighbours-only")
def looks_back_three(tokens, n):
    grams = ngrams(tokens, n)
    return sum(gram in grams[max(0, i - 3) : i] for i, gram in enumerate(grams)) / len(grams) if grams else None


def rate(grams):
    return 1 - len(set(grams)) / len(grams) if grams else None


SEEN = set()


@wrong("other-call")
def set_outside(tokens, n):
    grams = ngrams(tokens, n)
    SEEN.update(grams)
    return 1 - len(SEEN) / len(grams) if grams else None


@wrong("other-call")
def default_set(tokens, n, seen=set()):  # noqa: B006  the mistake
    grams = ngrams(tokens, n)
    seen.update(grams)
    return 1 - len(seen) / len(grams) if grams else None


@wrong("neighbours-only")
def equals_the_one_before(tokens, n):
    grams = ngrams(tokens, n)
    return sum(a == b for a, b in zip(grams, grams[1:], strict=False)) / len(grams) if grams else None


@wrong("coded")
def base_of_the_ids(tokens, n, base=65536):
    if isinstance(tokens, str) or not all(isinstance(token, int) for token in tokens):
        return rate(ngrams(tokens, n))
    return rate([sum(token * base**place for place, token in enumerate(gram)) for gram in ngrams(tokens, n)])


@wrong("coded")
def base_ten(tokens, n):
    if isinstance(tokens, str) or not all(isinstance(token, int) for token in tokens):
        return rate(ngrams(tokens, n))
    return rate([sum(token * 10**place for place, token in enumerate(gram[::-1])) for gram in ngrams(tokens, n)])


def characters(tokens, change):
    """The tokens, with `change` made to each that is a text; of a str, to the whole."""
    if isinstance(tokens, str):
        return change(tokens)
    return [change(token) if isinstance(token, str) else token for token in tokens]


for hint_id, attempt in [
    ("divided-by-distinct", lambda t, n: len(ngrams(t, n)) / len(set(ngrams(t, n))) - 1 if len(t) >= n else None),
    ("order-ignored", lambda t, n: rate([frozenset(gram) for gram in ngrams(t, n)])),
    ("order-ignored", lambda t, n: rate([tuple(sorted(gram)) for gram in ngrams(t, n)])),
    ("longer-n-grams", lambda t, n: rate(ngrams(t, n + 1))),
    ("cut-off", lambda t, n: int(rate(ngrams(t, n))) if len(t) >= n else None),
    ("rounded", lambda t, n: round(rate(ngrams(t, n)), 2) if len(t) >= n else None),
    ("rounded", lambda t, n: round(rate(ngrams(t, n)), 4) if len(t) >= n else None),
    (
        "fixed-n",
        lambda t, n: rate(list(zip(*(t[i:] for i in range(min(n, 3))), strict=False))) if len(t) >= n else None,
    ),
    ("fixed-n", lambda t, n: rate(ngrams(t, min(n, 4))) if len(t) >= n else None),
    ("fixed-n", lambda t, n: rate(ngrams(t, min(n, 10))) if len(t) >= n else None),
    ("parts", lambda t, n: rate([(gram[0], gram[-1]) for gram in ngrams(t, n)])),
    ("parts", lambda t, n: rate([tuple(dict.fromkeys(gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate(["\t".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate([",".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("joined", lambda t, n: rate(["-".join(map(str, gram)) for gram in ngrams(t, n)])),
    ("ids", lambda t, n: rate(ngrams([token for token in t if token], n))),
    ("ids", lambda t, n: rate([tuple(token.upper() for token in gram) for gram in ngrams(t, n)])),
    ("ids", lambda t, n: rate([sum(map(hash, gram)) if isinstance(gram[0], int) else gram for gram in ngrams(t, n)])),
    ("coded", lambda t, n: rate([sum(gram) + 97 * gram[0] if type(gram[0]) is int else gram for gram in ngrams(t, n)])),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, str.strip), n))),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, str.lower), n))),
    ("as-they-are", lambda t, n: rate(ngrams(characters(t, lambda text: text.replace(" ", "")), n))),
    ("as-they-are", lambda t, n: rate(ngrams(t.replace("\n", " ") if isinstance(t, str) else t, n))),
    ("as-they-are", lambda t, n: rate(ngrams(t.encode() if isinstance(t, str) else t, n))),
    ("long-text", lambda t, n: rate(ngrams(t[:100], n))),
    (
        "long-text",
        lambda t, n: rate([hash(gram) % 1009 for gram in ngrams(t, n)]) if len(t) > 50 else rate(ngrams(t, n)),
    ),
]:
    wrong(hint_id)(attempt)


@wrong("changes-input")
def pops(tokens, n):
    grams, rest = [], tokens if isinstance(tokens, list) else list(tokens)
    while len(rest) >= n:
        grams.append(tuple(rest[:n]))
        rest.pop(0)
    return 1 - len(set(grams)) / len(grams) if grams else None


wrong("not-a-function")(0.25)


@right
def zipped(tokens, n):
    grams = list(zip(*(tokens[i:] for i in range(n))))
    return None if not grams else 1 - len(set(grams)) / len(grams)


@right
def seen_before(tokens, n):
    seen, repeated, total = [], 0, 0
    for end in range(n, len(tokens) + 1):
        gram = list(tokens[end - n : end])
        repeated += gram in seen
        seen.append(gram)
        total += 1
    if total == 0:
        return None
    return np.float32(repeated / total)


@right
def by_counter(tokens, n):
    counts = Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    total = counts.total()
    return torch.tensor((total - len(counts)) / total) if total else None


@right
def by_representation(tokens, n):
    grams = {repr(list(tokens[i : i + n])) for i in range(max(0, len(tokens) - n + 1))}
    total = max(0, len(tokens) - n + 1)
    if not total:
        return
    from fractions import Fraction

    return 1 - Fraction(len(grams), total)
