"""What stands behind the exercises of notebook 04: hand arithmetic, the model itself, and answers of every kind."""

import numpy as np
import pytest
import torch

from course_utils import exercises
from course_utils.checker.exercise import Equals
from course_utils.checker.judging import judge
from course_utils.transformer import Transformer, TransformerConfig

EXERCISES = exercises.all_exercises()
MASK, POSITIONS, COUNT = (EXERCISES[f"04.{name}"] for name in ("causal_mask", "positions", "count_parameters"))


def one_answer(exercise, arguments, answer):
    """The verdict on a function that is right, but gives `answer` to these arguments."""
    right = exercise.solution()
    return judge(exercise, lambda *given: answer if given == arguments else right(*given))


def test_the_mask_of_a_chunk_is_aligned_bottom_right():
    """The reported case: two queries, six keys, equal scores, values 0 to 5."""
    reported = [[True] * 5 + [False], [True] * 6]
    assert (2, 6) in [case.call.args() for case in MASK.cases]
    assert one_answer(MASK, (2, 6), reported).status == "passed"
    values = torch.arange(6.0)
    for name, mask, mixed in [
        ("right", torch.tensor(reported), [2.0, 2.5]),
        ("top-left", torch.ones(2, 6, dtype=torch.bool).tril(), [0.0, 0.5]),
        ("no mask", torch.ones(2, 6, dtype=torch.bool), [2.5, 2.5]),
    ]:
        weights = torch.zeros(2, 6).masked_fill(~mask, -torch.inf).softmax(-1)
        assert (weights @ values).tolist() == pytest.approx(mixed)
        assert one_answer(MASK, (2, 6), mask).status == ("passed" if name == "right" else "wrong")


@pytest.mark.parametrize("answer", [
    [[True, True, True, False, False], [True, True, True, True, False], [True] * 5],
    np.tri(3, 5, 2, dtype=bool),
    torch.ones(3, 5, dtype=torch.bool).tril(2),
    [row.numpy() for row in torch.ones(3, 5, dtype=torch.bool).tril(2)],
])  # fmt: skip
def test_a_mask_may_be_a_tensor_an_array_or_lists_of_bools(answer):
    assert one_answer(MASK, (3, 5), answer).status == "passed"


@pytest.mark.parametrize("answer", [
    np.tri(3, 5, 2), np.tri(3, 5, 2, dtype=int), np.tri(3, 5, 2).tolist(),
    [[True, True, True, 0, 0], [True, True, True, True, 0], [True] * 5],
])  # fmt: skip
def test_a_mask_of_numbers_is_told_from_one_of_bools(answer):
    assert one_answer(MASK, (3, 5), answer).hint_id == "not-bool"


def test_a_huge_or_ragged_mask_is_wrong_and_breaks_nothing():
    for answer in (torch.ones(2000, 2000, dtype=torch.bool), [[True], [True, False]], [[]], "mask"):
        assert one_answer(MASK, (3, 5), answer).status == "wrong"


def test_positions_that_cannot_index_are_told_from_those_that_can():
    for answer in (torch.tensor([3.0, 4.0]), torch.tensor([3, 4], dtype=torch.int32), np.array([3.0, 4.0]), [3.0, 4.0]):
        assert one_answer(POSITIONS, (3, 2), answer).hint_id == "not-int64"
    for answer in ([3, 4], (3, 4), range(3, 5), np.array([3, 4]), torch.tensor([3, 4])):
        assert one_answer(POSITIONS, (3, 2), answer).status == "passed"


def test_no_new_token_may_be_any_empty_row_of_one_axis():
    """`torch.tensor([])` is float32: a right loop over nothing gives it, and it holds no number to be refused."""
    for answer in ([], torch.tensor([]), torch.arange(0), np.array([])):
        assert one_answer(POSITIONS, (3, 0), answer).status == "passed"


@pytest.mark.parametrize("case", [case for case in COUNT.cases if isinstance(case.expect, Equals)])
def test_the_expected_number_of_parameters_is_the_models_own(case):
    [config] = case.call.args()
    assert case.expect.answer == Transformer(config).n_parameters() == COUNT.solution()(config)


def test_the_first_config_by_hand():
    """29 tokens, 3 layers, 6 heads of 4, 2 key/value heads, width 24, feed-forward 40."""
    layer = 24 * 24 + 24 * 8 + 24 * 8 + 24 * 24 + 3 * 24 * 40 + 2 * 24
    first = next(case for case in COUNT.cases if case.hint_id == "by-hand")
    assert first.expect.answer == 29 * 24 + 3 * layer + 24 + 24 * 29 == 14808


def test_a_published_number_of_parameters():
    """Llama 2 7B has 6,738,415,616; the config holds sizes only, so that no such model is made."""
    config = TransformerConfig(
        32_000, n_layer=32, n_head=32, n_kv_head=32, n_embd=4096, block_size=4096, n_inner=11_008
    )
    assert COUNT.solution()(config) == 6_738_415_616


def test_the_last_real_position_of_a_right_padded_row_scores_as_the_row_alone():
    torch.manual_seed(3)
    model = Transformer(TransformerConfig(11, n_layer=2, n_head=2, n_kv_head=1, n_embd=8, block_size=16)).eval()
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data *= 20  # so that attention is not flat, and a wrong position shows
    lengths = EXERCISES["01.last_logits"].solution()
    with torch.no_grad():
        batch = torch.tensor([[3, 4, 0], [5, 6, 7]])
        logits = model(batch, attention_mask=torch.tensor([[1, 1, 0], [1, 1, 1]]))
        alone = torch.stack([model(batch[:1, :2])[0, -1], model(batch[1:])[0, -1]])
    torch.testing.assert_close(lengths(logits, torch.tensor([2, 3])), alone, atol=1e-4, rtol=1e-4)
    assert (logits[0, -1] - alone[0]).abs().max() > 0.1  # index -1 is a pad in the short row
