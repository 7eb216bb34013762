"""The equivalence check: it passes what is right, and can fail in every way in which it should."""

import math

import numpy as np
import pytest
import torch

from course_utils import plots
from course_utils.checkpoint import load_model
from course_utils.compare_logits import Place, cached_equals_full, compare_logits, in_chunks
from course_utils.text import load_documents
from course_utils.transformer import Transformer, TransformerConfig

NAN, INF = math.nan, math.inf


@pytest.fixture(scope="module")
def shipped():
    model, vocab = load_model("tiny_llama")
    document = max(load_documents("tales", "validation"), key=len)
    return model, torch.tensor([[vocab.bos_id, *vocab.encode(document)]])


def random_logits(*shape, seed=0, scale=5.0):
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("got", "want", "atol"),
    [
        ([NAN, NAN], [0.5, 0.5], None),
        ([0.5], [0.5, 0.5, 0.5], None),
        ([], [0.5], None),
        ([0.5, 0.5001], [0.5, 0.5], 1e-5),
        ([NAN, NAN], [NAN, NAN], 1.0),
        ([], [], 1.0),
        ([INF, 0.0], [INF, 0.0], 1.0),
        ([-INF, 0.0], [0.0, 0.0], 1e9),
        ([[0.5, 0.5]], [0.5, 0.5], None),
        ([[0.5], [0.5]], [[0.5, 0.5]], None),
        (torch.zeros(1, 0, 3), torch.zeros(1, 0, 3), None),
    ],
)
def test_what_differs_is_never_called_equal(got, want, atol):
    for a, b in ((got, want), (want, got)):
        report = compare_logits(torch.tensor(a) if isinstance(a, list) else a, b, atol)
        assert not report and not report.equal and str(report).startswith("different: ")


def test_equal_greedy_tokens_do_not_prove_equal_logits():
    report = compare_logits([2.0, 1.0, 0.0], [2.5, 1.0, 0.0])
    assert report.argmax_agreement == 1.0 and report.max_abs_diff == 0.5 and not report.equal


def test_the_place_is_the_earliest_position_then_the_first_row():
    a = random_logits(3, 5, 7)
    b = a.clone()
    b[0, 4, 0] += 1
    b[2, 2, 6] -= 1
    b[1, 2, 3] += 1
    report = compare_logits(a, b)
    assert report.first_divergence == Place(row=1, position=2)
    assert "first at position 2 of row 1" in str(report) and "3 x 5 positions" in str(report)
    assert (report.differences > report.tolerance).nonzero().tolist() == [[0, 4], [1, 2], [2, 2]]


def test_nan_is_named_with_its_place_and_its_side():
    a = random_logits(2, 3, 4)
    b = a.clone()
    b[1, 2, 3] = NAN
    report = compare_logits(a, b)
    assert report.first_divergence == Place(1, 2) and "b has NaN" in str(report) and math.isnan(report.max_abs_diff)


def test_a_difference_equal_to_atol_counts_as_equal():
    assert compare_logits([1.0, 2.0], [1.5, 2.0], atol=0.5)
    assert not compare_logits([1.0, 2.0], [1.5, 2.0], atol=0.49)
    assert compare_logits([1.0, 2.0], [1.0, 2.0], atol=0)


def test_minus_inf_at_the_same_places_is_equal():
    filtered = [1.0, -INF, 0.5]
    report = compare_logits(filtered, [1.0, -INF, 0.5])
    assert report and report.max_abs_diff == 0 and report.max_kl == 0


def test_the_tolerance_follows_the_dtype_and_the_size():
    a = random_logits(4, 9)
    small, large = compare_logits(a, a), compare_logits(1000 * a, 1000 * a)
    assert large.tolerance == pytest.approx(1000 * small.tolerance)
    tolerances = [compare_logits(a.to(dtype), a.to(dtype)).tolerance
                  for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)]  # fmt: skip
    assert tolerances == sorted(tolerances) and tolerances[0] < 1e-12
    mixed = compare_logits(a.half(), a.double())
    assert mixed.tolerance == pytest.approx(tolerances[2], rel=1e-3), "the coarser dtype counts"


def test_swapped_arguments_give_the_same_verdict():
    a, b = random_logits(2, 3, 4), random_logits(2, 3, 4, seed=1)
    one, other = compare_logits(a, b), compare_logits(b, a)
    assert (one.equal, one.max_abs_diff, one.tolerance, one.first_divergence) == (
        other.equal, other.max_abs_diff, other.tolerance, other.first_divergence)  # fmt: skip


def test_kl_is_that_of_the_distributions():
    a, b = [0.3, -1.0, 2.0], [0.1, 0.4, 1.0]
    p, q = (np.exp(x) / np.exp(x).sum() for x in (a, b))
    assert compare_logits(a, b).max_kl == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-5)
    assert compare_logits([0.0, -INF], [0.0, 0.0]).max_kl == pytest.approx(math.log(2))
    assert compare_logits([0.0, 0.0], [0.0, -INF]).max_kl == INF


def test_a_number_added_to_all_logits_is_seen_though_the_distribution_is_the_same():
    a = random_logits(3, 6)
    report = compare_logits(a, a + 1)
    assert not report and report.max_kl < 1e-9 and report.argmax_agreement == 1


@pytest.mark.parametrize("atol", [-1e-5, NAN, INF])
def test_an_odd_atol_is_refused(atol):
    with pytest.raises(ValueError, match="atol is"):
        compare_logits([1.0], [1.0], atol)


def test_logits_without_or_with_four_axes_are_refused():
    for logits in (torch.tensor(1.0), torch.zeros(1, 1, 1, 1)):
        with pytest.raises(ValueError, match=r"expected \(V,\)"):
            compare_logits(logits, logits)


@pytest.mark.parametrize("split", [0, 5, -1, [], [2, 1], [2, 0, 2], [5]])
def test_chunks_that_do_not_fit_are_refused(split):
    model = Transformer(TransformerConfig(11, 1, 2, 1, 8, 8)).eval()
    with pytest.raises(ValueError, match="for 4 tokens"):
        cached_equals_full(model, [1, 2, 3, 4], split)


@pytest.mark.parametrize("ids", [[], [[]], 3, [0.5]])
def test_ids_of_another_kind_are_refused(ids):
    with pytest.raises(ValueError, match="expected int64"):
        cached_equals_full(Transformer(TransformerConfig(11, 1, 2, 1, 8, 8)), ids, 1)


@pytest.mark.parametrize("length", [1, 2, 3, 39, 40])
def test_every_length_and_position_is_compared(shipped, length):
    model, ids = shipped
    ids = ids[:, :length]
    for split in sorted({1, (length + 1) // 2, length}):
        report = cached_equals_full(model, ids, split)
        assert report, str(report)
        assert report.differences.shape == (1, length)


def test_the_whole_context_is_compared_in_any_chunks(shipped):
    model, ids = shipped
    block = torch.cat([ids, ids, ids], dim=1)[:, : model.block_size]
    assert block.shape[1] == model.block_size
    for split in (model.block_size - 1, [200, 1, 311], [100] * 5 + [12]):
        report = cached_equals_full(model, block, split)
        assert report, str(report)


def test_the_shipped_model_is_well_within_the_tolerance_and_another_model_is_far_above(shipped):
    model, ids = shipped
    report = cached_equals_full(model, ids, 20)
    assert report and report.max_abs_diff < report.tolerance / 2
    other = Transformer(model.config).eval()
    with torch.no_grad():
        report = compare_logits(model(ids), other(ids))
    assert not report and report.max_abs_diff > 1000 * report.tolerance and report.first_divergence == Place(0, 0)


def test_the_comparison_is_made_in_eval_mode_and_the_mode_restored():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(11, 2, 4, 2, 16, 32, dropout=0.5)).train()
    ids = torch.arange(20) % 11
    assert cached_equals_full(model, ids, 7) and model.training
    with torch.no_grad():
        assert not compare_logits(model(ids[None]), model(ids[None])), "in training mode two equal calls differ"


def test_a_cache_is_gone_on_with_behind_what_it_holds(shipped):
    model, ids = shipped
    cache = model.new_cache()
    first = in_chunks(model, ids[:, :30], [10, 20], cache=cache)
    rest = in_chunks(model, ids[:, 30:60], 5, cache=cache)
    with torch.no_grad():
        assert compare_logits(model(ids[:, :60]), torch.cat([first, rest], 1))
    assert cache.n_tokens == 60 and not first.requires_grad


def test_the_picture_shows_the_differences_the_noise_floor_and_zero_as_a_place_on_the_axis():
    import matplotlib.pyplot as plt

    a = random_logits(1, 6, 4)
    b = a.clone()
    b[0, 3:] += 0.25
    report = compare_logits(a, b)
    ax = plots.divergence(report, "Title", boundaries=[2])
    assert ax.get_title() == "Title" and ax.get_xlabel() and "nats" in ax.get_ylabel() and ax.get_yscale() == "log"
    [drawn] = [line for line in ax.lines if len(line.get_xdata()) == 6]
    assert list(drawn.get_ydata()[3:]) == pytest.approx([0.25] * 3, rel=1e-4)
    assert all(0 < y < report.tolerance for y in drawn.get_ydata()[:3]), (
        "a logarithm has no zero: it is shown at the floor"
    )
    assert "tolerance" in " ".join(text.get_text() for text in ax.get_legend().get_texts())
    plt.close("all")


@pytest.mark.parametrize(
    ("a", "b", "named"),
    [
        (torch.float32, torch.float32, "(float32, 1 x 1 positions"),
        (torch.bfloat16, torch.float32, "(bfloat16 and float32, 1 x 1 positions"),
        (torch.float64, torch.float16, "(float64 and float16, 1 x 1 positions"),
        (torch.int64, torch.float32, "(int64 and float32, 1 x 1 positions"),
    ],
)
def test_the_types_that_were_compared_are_named(a, b, named):
    numbers = [2, 1, 0]
    for other in (numbers, [5, 1, 0]):
        report = compare_logits(torch.tensor(numbers).to(a), torch.tensor(other).to(b))
        assert named in str(report) and report.equal is (other == numbers)
        assert report.dtypes == tuple(str(dtype).removeprefix("torch.") for dtype in (a, b))
    assert compare_logits(torch.zeros(2, dtype=a), torch.zeros(3, dtype=b)).dtypes == report.dtypes
