"""A check computes under settings of its own, so that a verdict does not depend on what a notebook has set.

Python, numpy and PyTorch keep settings for the whole process: default types, seeds, what a warning does, how numbers
are printed. A notebook may change each of them. Here all are put to what they are in a new kernel, and afterwards back
to what the learner has set. Two differ from a new kernel: seeds are fixed, and gradients are off, since no exercise
asks for any. What PyTorch sets is left alone where it was never imported.
"""

import contextlib
import os
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

_SEED = 0
_PRINTED: dict[str, Any] = {
    "precision": 8,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 75,
    "suppress": False,
    "nanstr": "nan",
}
_PRINTED |= {"infstr": "inf", "sign": "-", "formatter": None, "floatmode": "maxprec", "legacy": False}


@contextlib.contextmanager
def own_state() -> Iterator[None]:
    """Inside, the settings of a new kernel; afterwards those of before, whatever was changed inside."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_folder_kept())
        stack.enter_context(_seeds())
        stack.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
        stack.enter_context(np.printoptions(**_PRINTED))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # what the learner's function warns of is recorded where it is called
        if "torch" in sys.modules:
            _enter_torch(stack)
        yield


@contextlib.contextmanager
def _folder_kept() -> Iterator[None]:
    before = None
    with contextlib.suppress(OSError):  # a folder that was removed
        before = os.getcwd()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if before is not None:
                os.chdir(before)


@contextlib.contextmanager
def _seeds() -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()
    random.seed(_SEED)
    np.random.seed(_SEED)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


def _enter_torch(stack: contextlib.ExitStack) -> None:
    import torch

    generator = torch.default_generator  # that of the processor; those of GPUs are not used
    stack.callback(generator.set_state, generator.get_state())
    generator.manual_seed(_SEED)
    stack.callback(torch.set_default_dtype, torch.get_default_dtype())
    torch.set_default_dtype(torch.float32)
    stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("highest")
    strict, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    stack.callback(torch.use_deterministic_algorithms, strict, warn_only=warns)
    torch.use_deterministic_algorithms(False)
    stack.enter_context(torch.device("cpu"))
    stack.enter_context(torch.inference_mode(False))
    stack.enter_context(torch.no_grad())
    stack.enter_context(torch.autocast("cpu", enabled=False))
