"""Every measure by hand, and against a definition written out differently."""

import itertools
import math
import re
from random import Random

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course_utils import storyworld
from course_utils.bigram import BigramLM
from course_utils.generation import generate_batch
from course_utils.metrics import (
    Coherence,
    coherence,
    distinct_n,
    longest_loop,
    loss,
    mean_pass_at_k,
    pass_at_k,
    perplexity,
    proportion_ci,
    repetition_rate,
    sum_is_right,
)
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab, load_documents
from course_utils.transformer import Transformer, TransformerConfig

TOKENS = st.text("ab", max_size=14) | st.text("abc", max_size=14)

# --- repetition


def test_repetition_by_hand():
    tokens = ["a", "b", "a", "b", "a", "b"]  # ab ba ab ba ab: 5, of which 2 are different
    assert distinct_n(tokens, 2) == pytest.approx(0.4)
    assert repetition_rate(tokens, 2) == pytest.approx(0.6)
    assert repetition_rate("aaaa", 1) == 0.75 and repetition_rate("aaaa", 4) == 0
    assert repetition_rate("abcd", 1) == 0 and distinct_n("abcd", 2) == 1


@pytest.mark.parametrize(("tokens", "n"), [(["a"], 2), ("", 1), ([], 3), ("abc", 4), ((), 1)])
def test_a_text_without_n_grams_has_no_rate(tokens, n):
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


def test_padding_and_end_marks_do_not_count_as_repetition():
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
def test_of_nothing_there_is_no_share(text):
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


# --- perplexity


class CostsByLength(nn.Module):
    """Texts of "a": every token of a text with two tokens costs 0.3 nats, of a longer one 0.7; the end mark counts."""

    vocab = CharVocab("a")

    def forward(self, token_ids, cache=None, attention_mask=None):
        n_tokens, vocab = token_ids.shape[1], self.vocab
        cost = 0.3 if n_tokens == 2 else 0.7
        logits = torch.full((1, n_tokens, len(vocab)), -math.inf, dtype=torch.float64)
        targets = torch.tensor([*vocab.encode("a" * (n_tokens - 1)), vocab.eos_id])
        logits[0, torch.arange(n_tokens), targets] = -cost
        logits[0, :, vocab.pad_id] = math.log1p(-math.exp(-cost))
        return logits


def test_perplexity_weighs_tokens_and_not_texts():
    model, vocab = CostsByLength(), CostsByLength.vocab
    assert perplexity(model, vocab, ["a"]) == pytest.approx(math.exp(0.3))
    assert perplexity(model, vocab, ["aaaaa"]) == pytest.approx(math.exp(0.7))
    for documents in (["a", "aaaaa"], ["aaaaa", "a"]):
        assert perplexity(model, vocab, documents) == pytest.approx(math.exp((0.6 + 4.2) / 8))
        assert perplexity(model, vocab, documents) == pytest.approx(1.822119, abs=1e-6)  # not 1.648721 or 1.681806


def test_a_texts_loss_does_not_depend_on_its_neighbours():
    torch.manual_seed(0)
    vocab = CharVocab("abc")
    model = Transformer(TransformerConfig(len(vocab), 1, 2, 1, 8, 16)).eval()
    short, long = "a", "abcabcab"
    sums = [loss(model, vocab, [text]) * (len(text) + 1) for text in (short, long)]
    assert loss(model, vocab, [short, long]) == pytest.approx(sum(sums) / 11, rel=1e-6)
    rows = [[vocab.bos_id, *vocab.encode(text)] for text in (short, long)]  # both in one batch, padding left out
    ids = torch.tensor([row + [vocab.pad_id] * (9 - len(row)) for row in rows])
    with torch.no_grad():
        logprobs = model(ids).double().log_softmax(-1)
    targets = [[*vocab.encode(text), vocab.eos_id] for text in (short, long)]
    for row, target, want in zip(logprobs, targets, sums, strict=True):
        assert -row[range(len(target)), target].sum().item() == pytest.approx(want, rel=1e-5)


# --- right or wrong


@pytest.mark.parametrize(
    ("prompt", "answer", "right"),
    [
        ("12+34=", "46", True),
        ("0+0=", "0", True),
        ("99+99=", "198", True),
        ("12+34=", "47", False),
        ("12+34=", "", False),
        ("12+34=", "4", False),
        ("12+34=", "460", False),
        ("12+34=", "046", False),
        ("12+34=", "46.", False),
        ("12+34=", " 46", False),
        ("12+34=", "46\n", False),
        ("12+34", "=46", False),
        ("", "12+34=46", False),
        ("Q: 1+1\n", '<call>{"tool": "add", "args": [1, 1]}</call><result>2</result>\nA: 2', False),
    ],
)
def test_a_sum_is_right_or_wrong(prompt, answer, right):
    assert sum_is_right(prompt, answer) is right


def test_every_sum_of_the_corpus_is_right_and_its_neighbour_is_not():
    for document in load_documents("sums", "validation")[:200]:
        prompt, _, answer = document.partition("=")
        assert sum_is_right(prompt + "=", answer) and not sum_is_right(prompt + "=", str(int(answer) + 1))


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_right_one(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    choices = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(20, 0, 25), (3, 0, 4), (3, 3, 4), (1, 1, 2)])
def test_k_above_n_is_undefined(n, c, k):
    with pytest.raises(ValueError, match="of one problem"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"), [(5, 0, 5, 0.0), (5, 3, 3, 1.0), (5, 5, 1, 1.0), (5, 0, 1, 0.0), (1, 1, 1, 1.0)]
)
def test_the_borders_of_pass_at_k(n, c, k, value):
    assert pass_at_k(n, c, k) == value


def test_pass_at_k_is_a_fraction():
    assert pass_at_k(200, 1, 1) == 0.005
    assert mean_pass_at_k([[True] + [False] * 199, [False] * 200], 1) == 0.0025


def test_n_counts_samples_and_not_problems():
    right = [[True]] * 40 + [[False]] * 60
    assert mean_pass_at_k(right, 1) == 0.4
    with pytest.raises(ValueError, match="Problem 0 has 1 samples and k is 10"):
        mean_pass_at_k(right, 10)


def test_pass_at_k_never_falls_as_k_grows():
    right = [[False] * 10, [True] * 5]
    assert mean_pass_at_k(right, 5) == 0.5
    with pytest.raises(ValueError, match="Problem 1 has 5 samples"):
        mean_pass_at_k(right, 10)
    random = np.random.Generator(np.random.Philox(1))
    for _ in range(20):
        some = random.random((7, 9)) < 0.2
        curve = [mean_pass_at_k(some, k) for k in range(1, 10)]
        assert curve == sorted(curve) and curve[0] == pytest.approx(some.mean())


def test_copies_of_one_answer_add_nothing():
    right = [[True] * 10, [False] * 10, [False] * 10]
    assert {mean_pass_at_k(right, k) for k in range(1, 11)} == {mean_pass_at_k(right, 1)}


def test_pass_at_k_neither_overflows_nor_rounds():
    assert pass_at_k(100_000, 1, 1) == 1e-5
    assert pass_at_k(10_000, 5_000, 5_000) == 1.0
    assert pass_at_k(10**15, 1, 1) == 1e-15  # 1 - (1 - 1e-15) in floats is 1.1e-15
    assert 0 < pass_at_k(3000, 1, 1500) == 0.5


@pytest.mark.parametrize(
    "samples",
    [
        [True, False],
        (1, 0),
        [1.0, 0.0],
        [np.True_, np.float32(0)],
        [torch.tensor(1), torch.tensor(0.0)],
        np.array([True, False]),
        torch.tensor([1, 0]),
        pd.Series([True, False], index=[7, 3]),
        pd.Series([True, False], dtype="boolean"),
    ],
)
def test_an_outcome_may_be_a_bool_or_0_or_1_of_any_library(samples):
    assert mean_pass_at_k([samples], 1) == 0.5 and mean_pass_at_k([samples], 2) == 1.0


@pytest.mark.parametrize(
    ("samples", "error", "said"),
    [
        ([1.0, math.nan], ValueError, "Sample 1 of problem 1 is nan"),
        ([None, True], ValueError, "Sample 0 of problem 1 is None"),
        ([True, 2], ValueError, "Sample 1 of problem 1 is 2"),
        ([0.5, True], ValueError, "Sample 0 of problem 1 is 0.5"),
        (pd.Series([True, None]), ValueError, "Sample 1 of problem 1 is None"),
        (["False", "False"], TypeError, "Sample 0 of problem 1 is 'False'"),
        ([[], [False]], TypeError, r"Sample 0 of problem 1 is \[\]"),
        ([{"right": False}], TypeError, "Sample 0 of problem 1 is {'right': False}"),
        ([pd.NA, True], TypeError, "Sample 0 of problem 1 is <NA>"),
        ([1j, True], TypeError, "Sample 0 of problem 1 is 1j"),
        ({"right": [False]}, TypeError, "problem 1 is of type dict"),
        ("10", TypeError, "problem 1 is of type str"),
        ({True, False}, TypeError, "problem 1 is of type set"),
        (True, TypeError, "problem 1 is of type bool"),
    ],
)
def test_the_truth_of_an_object_is_no_outcome(samples, error, said):
    with pytest.raises(error, match=said):
        mean_pass_at_k([[True], samples], 1)


def test_what_is_no_list_of_problems_is_refused():
    table = pd.DataFrame({"problem": [0, 0], "right": [True, False]})
    for wrong in ({"a": [True]}, table, table.groupby("problem").right, "ab", 3, iter([[True]])):
        with pytest.raises(TypeError, match="right is of type"):
            mean_pass_at_k(wrong, 1)
    with pytest.raises(TypeError, match="k is '1'"):
        mean_pass_at_k([[True]], "1")


def test_a_table_says_the_same_before_and_after_csv(tmp_path):
    def share(table):
        return mean_pass_at_k([group.tolist() for _, group in table.groupby("problem").right], 1)

    table = pd.DataFrame({"problem": [0, 0, 1, 1], "right": [True, False, False, False]})
    table.to_csv(tmp_path / "t.csv", index=False)
    assert share(table) == share(pd.read_csv(tmp_path / "t.csv")) == 0.25
    table["right"] = [True, None, False, False]  # one could not be judged
    table.to_csv(tmp_path / "t.csv", index=False)
    for found in (table, pd.read_csv(tmp_path / "t.csv")):
        with pytest.raises(ValueError, match=r"Sample 1 of problem 0 is (None|nan)"):
            share(found)


@pytest.mark.parametrize(("n", "c", "k"), [(0, 0, 0), (5, 2, 0), (5, 2, -1), (5, 6, 1), (5, -1, 1)])
def test_counts_that_make_no_sense_are_refused(n, c, k):
    with pytest.raises(ValueError, match="expected"):
        pass_at_k(n, c, k)


def test_counts_are_whole_numbers():
    assert pass_at_k(np.int64(5), torch.tensor(2), 3) == 0.9
    for wrong in (2.0, "2", True, None, torch.tensor(True), torch.tensor(2.0)):
        with pytest.raises(TypeError, match="whole number"):
            pass_at_k(5, wrong, 3)
    with pytest.raises(ValueError, match="no problems"):
        mean_pass_at_k([], 1)


def test_an_interval_of_all_right_has_a_width():
    assert proportion_ci(4, 4) == pytest.approx((0.510109, 1), abs=1e-6)
    assert proportion_ci(0, 4) == pytest.approx((0, 1 - 0.510109), abs=1e-6)


@given(st.integers(1, 500), st.data())
def test_the_wilson_interval_is_where_the_score_test_accepts(n, data):
    k = data.draw(st.integers(0, n))
    low, high = proportion_ci(k, n)
    assert 0 <= low <= k / n <= high <= 1
    for edge in (low, high):  # at its ends the share is exactly 1.96 standard errors of the edge away
        if 0 < edge < 1:
            assert abs(k / n - edge) / math.sqrt(edge * (1 - edge) / n) == pytest.approx(1.959964, abs=1e-4)


def test_more_confidence_is_wider_and_more_samples_are_narrower():
    widths = [high - low for low, high in (proportion_ci(30, 100, c) for c in (0.5, 0.9, 0.99))]
    assert widths == sorted(widths)
    assert np.diff(proportion_ci(300, 1000)) < np.diff(proportion_ci(30, 100))


@pytest.mark.parametrize(("k", "n", "confidence"), [(1, 0, 0.95), (5, 4, 0.95), (-1, 4, 0.95), (1, 4, 95), (1, 4, 1.0)])
def test_an_interval_of_nothing_is_refused(k, n, confidence):
    with pytest.raises(ValueError, match="expected"):
        proportion_ci(k, n, confidence)
