"""A model's modes and the gradients, inside and afterwards."""

import pytest
import torch
from torch import nn

from course_utils.eval_mode import eval_mode


def test_each_module_gets_its_own_mode_back():
    model = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout()), nn.Identity())
    model[1].eval()
    before = [module.training for module in model.modules()]
    assert True in before and False in before
    with eval_mode(model):
        assert not any(module.training for module in model.modules()) and not torch.is_grad_enabled()
    assert [module.training for module in model.modules()] == before and torch.is_grad_enabled()


def test_it_can_be_entered_again_and_within_itself():
    model = nn.Dropout()
    mode = eval_mode(model)
    for _ in range(2):
        with mode:
            with mode:
                assert not model.training and not torch.is_grad_enabled()
            assert not model.training and not torch.is_grad_enabled()
        assert model.training and torch.is_grad_enabled()


def test_an_error_inside_restores_all_and_passes_on():
    model = nn.Dropout()
    with pytest.raises(RuntimeError, match="broken"), eval_mode(model):
        raise RuntimeError("broken")
    assert model.training and torch.is_grad_enabled()


def test_gradients_that_were_off_stay_off():
    with torch.no_grad(), eval_mode(nn.Dropout()):
        pass
    with torch.no_grad():
        with eval_mode(nn.Dropout()):
            pass
        assert not torch.is_grad_enabled()


def test_what_is_not_a_module_has_no_mode():
    with eval_mode(lambda token_ids: token_ids):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
