"""What can be measured of a text or a model. None of these says that a text is good.

Repetition and distinct n-grams need no grammar and work on any text. Coherence needs the storyworld: it asks
whether words exist, sentences parse and stories keep their facts. Loss asks the model, not the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from course_utils import storyworld
from course_utils.generation import evaluating, modules_of
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
    if n < 1:
        raise ValueError(f"n is {n}; expected 1 or more.")
    tokens = _listed(tokens)
    ngrams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    return len(set(ngrams)) / len(ngrams) if ngrams else None


def longest_loop(tokens: Sequence) -> int:
    """The number of tokens in the longest stretch that says one block at least twice in a row; 0 if there is none.

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


def loss(model, vocab, documents: Sequence[str]) -> float:
    """The mean loss over documents: nats for each token, the end mark included, every token with equal weight.

    Each document is scored on its own, from <bos> to <eos>. Returns inf if the model excludes a token that occurs.
    """
    if isinstance(documents, str):
        raise TypeError("documents is a str; expected a list of them. For one document give [document].")
    total, count = 0.0, 0
    for document in documents:
        ids = torch.tensor([[vocab.bos_id, *vocab.encode(document), vocab.eos_id]])
        with evaluating(modules_of(model)):
            logprobs = model(ids[:, :-1]).double().log_softmax(-1)
        total -= logprobs.gather(-1, ids[:, 1:, None]).sum().item()
        count += ids.shape[1] - 1
    if not count:
        raise ValueError("There are no documents to score.")
    return total / count
