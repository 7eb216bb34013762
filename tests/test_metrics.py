"""Every measure by hand, and against a definition written out differently."""

import math
import re
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course_utils import storyworld
from course_utils.bigram import BigramLM
from course_utils.generation import generate_batch
from course_utils.metrics import Coherence, coherence, distinct_n, longest_loop, loss, repetition_rate
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab

TOKENS = st.text("ab", max_size=14) | st.text("abc", max_size=14)

# --- repetition


def test_repetition_by_hand_MET_02():
    tokens = ["a", "b", "a", "b", "a", "b"]  # ab ba ab ba ab: 5, of which 2 are different
    assert distinct_n(tokens, 2) == pytest.approx(0.4)
    assert repetition_rate(tokens, 2) == pytest.approx(0.6)
    assert repetition_rate("aaaa", 1) == 0.75 and repetition_rate("aaaa", 4) == 0
    assert repetition_rate("abcd", 1) == 0 and distinct_n("abcd", 2) == 1


@pytest.mark.parametrize(("tokens", "n"), [(["a"], 2), ("", 1), ([], 3), ("abc", 4), ((), 1)])
def test_a_text_without_n_grams_has_no_rate_MET_01(tokens, n):
    assert distinct_n(tokens, n) is None and repetition_rate(tokens, n) is None
    assert distinct_n("a" * n, n) == 1 and repetition_rate("a" * n, n) == 0


@given(TOKENS, st.integers(1, 5))
def test_repetition_is_the_share_of_n_grams_that_occurred_before(text, n):
    seen, before = [], 0
    for end in range(n, len(text) + 1):
        ngram = text[end - n : end]
        before += ngram in seen
        seen.append(ngram)
    rate = repetition_rate(text, n)
    assert rate == (pytest.approx(before / len(seen)) if seen else None)
    assert rate is None or 0 <= rate < 1


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 3))
def test_tokens_may_be_ids_in_any_container(ids, n):
    text = "".join(map(str, ids))
    for tokens in (ids, tuple(ids), np.array(ids), torch.tensor(ids, dtype=torch.long)):
        assert repetition_rate(tokens, n) == repetition_rate(text, n)
        assert distinct_n(tokens, n) == distinct_n(text, n)
        assert longest_loop(tokens) == longest_loop(text)


@pytest.mark.parametrize("n", [0, -1])
def test_n_grams_have_a_length(n):
    for function in (repetition_rate, distinct_n):
        with pytest.raises(ValueError, match=f"n is {n}"):
            function("abc", n)


def test_padding_and_end_marks_do_not_count_as_repetition_MET_04():
    vocab = CharVocab("abc")
    a, b, c = vocab.encode("abc")
    script = [[a, b, vocab.eos_id, vocab.eos_id, a, a], [c] * 6]

    class Script(nn.Module):
        def new_cache(self, batch_size=1):
            return iter(range(6))

        def forward(self, token_ids, cache=None, attention_mask=None):
            step = next(cache)
            rows = torch.tensor([row[step] for row in script])
            return nn.functional.one_hot(rows, len(vocab))[:, None].double().log()

    short, long = generate_batch(Script(), vocab, ["", ""], SamplingParams(seed=1), StopCriteria(6))
    assert short.text == "ab" and repetition_rate(short.text, 1) == 0 and distinct_n(short.text, 1) == 1
    assert long.text == "cccccc" and repetition_rate(long.text, 1) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("a", 0),
        ("aa", 2),
        ("abab", 4),
        ("ababa", 5),  # the third block may be cut off
        ("abcab", 0),  # not twice in a row
        ("xabababy", 6),
        ("seen", 2),
        ("ab" * 3 + "xyz" * 4, 12),
        ("aab" * 2, 6),
        (["the", "cat", "the", "cat"], 4),
        ([1, "1", 1, "1", 1], 5),
        ("a\0a\0", 4),
        ("aa\0a", 2),
    ],
)
def test_longest_loop_by_hand(text, length):
    assert longest_loop(text) == length


@given(TOKENS)
def test_longest_loop_is_the_longest_stretch_that_repeats_a_block(text):
    def loops(part):
        return any(
            all(part[i] == part[i - period] for i in range(period, len(part)))
            for period in range(1, len(part) // 2 + 1)
        )

    stretches = [text[i:j] for i in range(len(text)) for j in range(i + 2, len(text) + 1)]
    assert longest_loop(text) == max((len(part) for part in stretches if loops(part)), default=0)


# --- coherence

TALES = [storyworld.write("tales", Random(seed)) for seed in range(40)]


def shares(words, sentences, facts) -> Coherence:
    return Coherence(*(share if share is None else pytest.approx(share) for share in (words, sentences, facts)))


def test_tales_are_coherent():
    for tale in TALES[:20]:
        assert coherence(tale) == Coherence(1, 1, 1)
    assert coherence("\n\n".join(TALES)) == Coherence(1, 1, 1)


def test_each_share_is_counted():
    tale = TALES[0]
    n_words, n_sentences = len(storyworld.split_words(tale)), len(storyworld.split_sentences(tale))
    assert n_words > 20 and n_sentences > 3
    nonsense = "Qzx vlorp. Zzz."  # three words, two sentences, nothing that could disagree
    expected = shares(n_words / (n_words + 3), n_sentences / (n_sentences + 2), 1)
    assert coherence(f"{tale}\n\n{nonsense}") == coherence(f"{nonsense}\n\n\n{tale}\n") == expected
    assert coherence(f"{tale} {nonsense}") == expected


@pytest.mark.parametrize("text", ["", "\n\n", " \n \n"])
def test_of_nothing_there_is_no_share_MET_01(text):
    assert coherence(text) == Coherence(None, None, None)


def test_a_text_about_something_else_scores_0():
    assert coherence("Qzx vlorp zzz. Vlorp qzx.") == Coherence(0, 0, None)
    assert coherence("人之初。") == Coherence(0, 0, None)
    assert coherence("12 34.").real_words is None


def test_a_fragment_at_the_end_is_a_sentence_that_does_not_parse():
    sentences = storyworld.split_sentences(TALES[1])
    cut = TALES[1][: -len(sentences[-1]) // 2]
    assert coherence(cut).sentences == pytest.approx(1 - 1 / len(sentences))
    assert coherence(cut).facts == 1


def test_real_words_in_the_wrong_order_are_no_sentence():
    words = storyworld.split_words(TALES[2])
    shuffled = " ".join(sorted(words)) + "."
    assert coherence(shuffled) == Coherence(1, 0, None)


def contradictions():
    """Tales of which one sentence has another value for a slot that a sentence before it mentions, too."""
    parses = [storyworld.parse(tale) for tale in TALES]
    for tale, parse in zip(TALES, parses, strict=True):
        for slot, value in parse.facts.items():
            for other in {p.facts[slot] for p in parses if p.facts.keys() == parse.facts.keys()} - {value}:
                places = [match.start() for match in re.finditer(rf"\b{re.escape(value)}\b", tale)]
                if places and places[0] < tale.rindex(". ", 0, len(tale) - 1) < places[-1]:
                    yield tale[: places[-1]] + other + tale[places[-1] + len(value) :]


def test_a_story_that_changes_a_fact_parses_but_does_not_keep_it():
    scores = [coherence(text) for text in contradictions()]
    parsed = [score for score in scores if score.sentences == 1]  # some break a pattern too, such as "a" before "owl"
    assert len(parsed) >= 20
    assert all(score == Coherence(1, 1, 0) for score in parsed)


def test_facts_are_a_share_of_stories():
    wrong = next(text for text in contradictions() if coherence(text).sentences == 1)
    assert coherence("\n\n".join([*TALES[:3], wrong])) == shares(1, 1, 3 / 4)


# --- loss


def test_loss_by_hand_weighs_every_token_alike():
    vocab = CharVocab("ab")
    a, b = vocab.encode("ab")
    table = torch.full((len(vocab), len(vocab)), -math.inf, dtype=torch.float64)
    table[vocab.bos_id, [a, b]] = torch.tensor([0.25, 0.75], dtype=torch.float64).log() + 3  # need not be normalised
    table[a, [b, vocab.eos_id]] = torch.tensor([0.5, 0.5], dtype=torch.float64).log()
    table[b, [b, vocab.eos_id]] = torch.tensor([0.9, 0.1], dtype=torch.float64).log()
    model = BigramLM(table)
    first, second = math.log(0.25 * 0.5 * 0.1), math.log(0.75 * 0.1)  # "ab" and its end: 3 tokens; "b": 2
    assert loss(model, vocab, ["ab"]) == pytest.approx(-first / 3)
    assert loss(model, vocab, ["ab", "b"]) == loss(model, vocab, ["b", "ab"]) == pytest.approx(-(first + second) / 5)
    assert loss(model, vocab, ["ba"]) == loss(model, vocab, ["ab", ""]) == math.inf


def test_the_loss_of_knowing_nothing_is_the_log_of_the_vocabulary():
    vocab = CharVocab.from_text("".join(TALES[:5]))
    model = BigramLM(torch.zeros(len(vocab), len(vocab)))
    assert loss(model, vocab, TALES[:5]) == pytest.approx(math.log(len(vocab)))
    assert loss(model, vocab, [""]) == pytest.approx(math.log(len(vocab)))


def test_a_counted_bigram_has_the_least_loss_of_all_bigrams():
    tales = TALES[:12]
    vocab = CharVocab.from_text("".join(tales))
    counted = BigramLM.fit(vocab.encode_documents(tales), len(vocab))
    least = loss(counted, vocab, tales)
    assert storyworld.floor(tales) < least < loss(BigramLM(torch.zeros_like(counted.table)), vocab, tales)
    for add in (0.1, 1):
        assert loss(BigramLM.fit(vocab.encode_documents(tales), len(vocab), add), vocab, tales) > least


def test_loss_is_measured_without_dropout_and_leaves_the_mode():
    vocab = CharVocab("ab")

    class Dropping(BigramLM):
        def forward(self, token_ids, cache=None, attention_mask=None):
            return nn.functional.dropout(super().forward(token_ids), 0.5, self.training)

    table = torch.randn(len(vocab), len(vocab), generator=torch.Generator().manual_seed(1))
    model = Dropping(table).train()
    assert loss(model, vocab, ["abab"]) == loss(BigramLM(table), vocab, ["abab"])
    assert model.training and model.table.grad is None


def test_loss_takes_a_list_of_documents():
    vocab = CharVocab("ab")
    model = BigramLM(torch.zeros(len(vocab), len(vocab)))
    with pytest.raises(ValueError, match="no documents"):
        loss(model, vocab, [])
    with pytest.raises(TypeError, match="expected a list"):
        loss(model, vocab, "ab")
