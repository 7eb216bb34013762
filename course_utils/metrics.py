"""What can be measured of a text or a model. None of these says that a text is good.

Repetition and distinct n-grams need no grammar and work on any text. Coherence needs the storyworld: it asks
whether words exist, sentences parse and stories keep their facts. Loss asks the model, not the text. A sum is right
or wrong, so right answers can be counted: pass@k, and the interval of a share. `comparison` compares two settings.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from course_utils import storyworld
from course_utils.arguments import check_documents, check_integer, check_number
from course_utils.eval_mode import eval_mode
from course_utils.model_checks import check_model_and_vocab
from course_utils.protocols import LanguageModel, Vocabulary
from course_utils.text import split_documents


def repetition_rate(tokens: Sequence, n: int) -> float | None:
    """The share of n-grams that occurred before in the same text: 1 - distinct / total.

    tokens: a str (its characters) or a list of tokens without specials; `Generation.text` has none.
    n: length of the n-grams, >= 1.
    Returns 0 (no n-gram twice) to below 1, or None if the text has no n-gram. A longer text repeats more by
    itself: compare equal lengths only.

    >>> repetition_rate("ababab", 2)  # ab ba ab ba ab: 2 distinct of 5
    0.6
    """
    distinct = distinct_n(tokens, n)
    return None if distinct is None else 1 - distinct


def distinct_n(tokens: Sequence, n: int) -> float | None:
    """Distinct n-grams by all n-grams, or None if the text has none. Arguments as in repetition_rate.

    Source: Li et al. 2016, A diversity-promoting objective function, https://arxiv.org/abs/1510.03055
    """
    n = check_integer("n", n, at_least=1)
    tokens = _listed(tokens)
    ngrams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return len(set(ngrams)) / len(ngrams) if ngrams else None


def longest_loop(tokens: Sequence) -> int:
    """The number of tokens in the longest stretch that says one block at least twice in a row; 0 if no stretch does.

    >>> longest_loop("xabababy"), longest_loop("abc"), longest_loop("see")
    (6, 0, 2)
    """
    seen: dict = {}
    values = np.array([seen.setdefault(token, len(seen)) for token in _listed(tokens)])
    longest = 0
    for period in range(1, len(values) // 2 + 1):
        same = np.concatenate([[False], values[period:] == values[:-period], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        run = int((edges[1::2] - edges[::2]).max(initial=0))  # so many tokens equal the one a period before
        if run >= period:
            longest = max(longest, run + period)
    return longest


def _listed(tokens: Sequence) -> list:
    """The tokens as plain Python values: two elements of a tensor never count as equal in a set."""
    return tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)


@dataclass(frozen=True)
class Coherence:
    """Shares from 0 to 1, or None where nothing could be counted.

    real_words: of all words, those that the storyworld's tales can contain.
    sentences: of all sentences, those that one of its patterns makes.
    facts: of all documents with at least two such sentences, those whose sentences can all belong to one story:
        the same arc, and the same who, where and what throughout.
    """

    real_words: float | None
    sentences: float | None
    facts: float | None


def coherence(text: str) -> Coherence:
    """How far a text in the manner of the tales holds together, at three levels.

    text: one document, or several with blank lines between. A fragment at the end, where a budget cut the text
    off, counts as a sentence that does not parse. A text about anything else scores near 0; that says nothing
    about its quality.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is of type {type(text).__name__}; expected a str.")
    words, known = storyworld.split_words(text), storyworld.words()
    sentences = [sentence for document in split_documents(text) for sentence in storyworld.split_sentences(document)]
    kept = [storyworld.keeps_facts(document) for document in split_documents(text)]
    return Coherence(
        real_words=_share([word in known for word in words]),
        sentences=_share([bool(storyworld.read_sentence(sentence)) for sentence in sentences]),
        facts=_share([facts for facts in kept if facts is not None]),
    )


def _share(outcomes: list[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None


def loss(model: LanguageModel, vocab: Vocabulary, documents: Sequence[str]) -> float:
    """The mean loss over documents: nats for each token, the end mark included, every token with equal weight.

    Each document is scored on its own, from <bos> to <eos>. Returns inf if the model excludes a token that occurs.
    """
    check_model_and_vocab(model, vocab)
    total, count = 0.0, 0
    for document in check_documents(documents):
        ids = torch.tensor([[vocab.bos_id, *vocab.encode(document), vocab.eos_id]])
        with eval_mode(model):
            logprobs = model(ids[:, :-1]).double().log_softmax(-1)
        total -= logprobs.gather(-1, ids[:, 1:, None]).sum().item()
        count += ids.shape[1] - 1
    if not count:
        raise ValueError("There are no documents to score.")
    return total / count


def perplexity(model: LanguageModel, vocab: Vocabulary, documents: Sequence[str]) -> float:
    """exp(loss): as unsure as a fair choice among so many tokens. The mean is over tokens, and taken before exp."""
    return math.exp(loss(model, vocab, documents))


# --- right or wrong


class Interval(NamedTuple):
    """From `low` to `high`."""

    low: float
    high: float


def sum_is_right(prompt: str, answer: str) -> bool:
    """Whether a prompt such as "12+34=" is continued by the sum, and nothing else: no space, no zero before it.

    >>> sum_is_right("12+34=", "46"), sum_is_right("12+34=", "46."), sum_is_right("12+34=", "")
    (True, False, False)
    """
    found = storyworld.parse(prompt + answer)
    return prompt.endswith("=") and found.ok and found.kind == "sums"


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k different samples is right, if c of n samples of one problem are.

    n: samples of this one problem, never the number of problems. c: how many of them are right. k: 1 to n.
    Returns 1 - C(n - c, k) / C(n, k), computed with whole numbers, so that no size overflows or rounds. A fraction;
        over problems take its mean.
    Raises ValueError for k > n: n samples do not tell what more would give.
    Source: Chen et al. 2021, Evaluating large language models trained on code, https://arxiv.org/abs/2107.03374

    >>> pass_at_k(n=5, c=2, k=3)  # of the 10 choices of 3, one has none of the 2 right ones
    0.9
    """
    n, c, k = _counted("n", n), _counted("c", c), _counted("k", k)
    if not 0 <= c <= n:
        raise ValueError(f"c is {c} and n is {n}; expected 0 <= c <= n, the right ones of the samples of one problem.")
    if not 1 <= k <= n:
        raise ValueError(
            f"k is {k} and n is {n}; expected 1 <= k <= n. n is the number of samples of one problem: for a larger k "
            f"draw more of them."
        )
    return (math.comb(n, k) - math.comb(n - c, k)) / math.comb(n, k)


def mean_pass_at_k(right: Sequence[Sequence[bool]], k: int) -> float:
    """The mean of pass@k over problems, each with the same weight.

    right: for each problem a list, array or Series that says of each of its samples whether it is right: a bool, or 0
        or 1. The samples must have been drawn at random: k copies of one greedy answer are one answer.
    Raises ValueError if there is no problem, if one has fewer than k samples (leaving it out for large k only would let
        pass@k fall as k grows), or if a sample has no outcome (None, NaN or another number). Raises TypeError for
        what is not an outcome at all, such as the word "False".
    """
    k = _counted("k", k)
    problems = [outcomes(f"problem {number}", samples) for number, samples in enumerate(entries("right", right))]
    if not problems:
        raise ValueError("There are no problems.")
    for number, samples in enumerate(problems):
        if len(samples) < k:
            raise ValueError(
                f"Problem {number} has {len(samples)} samples and k is {k}; expected at least k of each. Draw more, or "
                f"compare all k on the problems that have enough."
            )
    return sum(pass_at_k(len(samples), sum(samples), k) for samples in problems) / len(problems)


def entries(name: str, values: Any) -> list:
    """The entries of a list, tuple, array, tensor or Series, single numbers as Python's own.

    Raises TypeError for all else: a dict or a table would give its keys, a set no order, a str its characters.
    """
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is of type {type(values).__name__}; expected a list, a tuple, an array or a Series.")
    return [_single(value) for value in values]


def _single(value: Any) -> Any:
    """A number of NumPy or torch as Python's own."""
    return value.item() if isinstance(value, (np.generic, np.ndarray, torch.Tensor)) and not value.ndim else value


def outcomes(name: str, samples: Any) -> list[bool]:
    """Whether each sample is right. The truth of an object is not an outcome: NaN and "False" are true to Python."""
    given = entries(name, samples)
    for number, value in enumerate(given):
        if value is not None and not isinstance(value, (bool, int, float)):
            raise TypeError(f"Sample {number} of {name} is {value!r}; expected True or False, or 1 or 0.")
        if value not in (0, 1):
            raise ValueError(
                f"Sample {number} of {name} is {value}; expected True or False, or 1 or 0. If it could not be judged, "
                f"leave it out or count it as False."
            )
    return [bool(value) for value in given]


def proportion_ci(k: int, n: int, confidence: float = 0.95) -> Interval:
    """The Wilson interval of a share: k right answers of n that do not depend on each other.

    It has a width where all or none are right, too.
    Raises ValueError for n = 0, k outside 0 to n, or a confidence outside (0, 1).
    Source: Wilson 1927, Probable inference, https://doi.org/10.1080/01621459.1927.10502953

    >>> [round(share, 3) for share in proportion_ci(4, 4)]
    [0.51, 1.0]
    """
    from scipy.stats import binomtest  # here, since it takes as long to import as torch

    k, n = _counted("k", k), _counted("n", n)
    if not 0 <= k <= n or not n:
        raise ValueError(f"k is {k} and n is {n}; expected n >= 1 and 0 <= k <= n.")
    if not 0 < check_number("confidence", confidence) < 1:
        raise ValueError(f"confidence is {confidence}; expected a share between 0 and 1, such as 0.95.")
    low, high = binomtest(k, n).proportion_ci(confidence, method="wilson")
    return Interval(float(low), float(high))


def _counted(name: str, value: Any) -> int:
    """`value` as an int, if it is a whole number and no bool."""
    value = _single(value)
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; expected a whole number.") from None
