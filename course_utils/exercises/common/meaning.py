"""What arguments for `generate` of transformers mean: the probabilities that it draws from, on logits of our own."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from course_utils.exercises.common.inputs import scores

if TYPE_CHECKING:
    from course_utils.sampling import SamplingParams

V = 600  # so many that a silent top_k = 50 shows, and any other number that is meant to keep all
N_LIKELY = 80  # the others are unlikely, though together they count
N_ROWS = 3


@functools.cache
def rows() -> np.ndarray:
    """Logits (3, V): spread, flat and peaked. No two are equal, since libraries break ties differently."""
    likely = scores(91, N_ROWS, N_LIKELY) * np.array([[1.0], [0.4], [1.6]])
    first, second = np.argsort(likely[1])[:-3:-1]
    likely[1, second] = likely[1, first] - 0.02  # so near that a low temperature decides between the two
    unlikely = scores(92, N_ROWS, V - N_LIKELY, scale=0.3) - 4
    return np.concatenate([likely, unlikely], axis=1).astype(np.float32)


@functools.cache
def wanted(params: SamplingParams) -> np.ndarray:
    """The probabilities that our own sampler draws from, (3, V)."""
    import torch

    from course_utils.sampling import next_token_probs

    return next_token_probs(torch.tensor(rows()), params).numpy()


def meant(settings: Mapping) -> np.ndarray:
    """The probabilities that `generate` draws from with these arguments, (3, V). Its errors come out of here."""
    return _meant(tuple((name, type(value), value) for name, value in settings.items()))


@functools.lru_cache(256)
def _meant(items: tuple) -> np.ndarray:
    """As `meant`; the types are there since 2 and 2.0 are one key, and not the same to `generate`."""
    import torch
    from transformers import LogitsProcessorList

    settings = {name: value for name, _, value in items}
    prompt = torch.ones(N_ROWS, 1, dtype=torch.int64)
    in_place_of_the_models = LogitsProcessorList([lambda ids, logits: torch.tensor(rows())])
    with _unnoticed():
        answer = _model().generate(
            prompt,
            attention_mask=prompt,
            logits_processor=in_place_of_the_models,
            max_new_tokens=1,
            output_scores=True,
            return_dict_in_generate=True,
            **settings,
        )
    processed = answer.scores[0].double()
    if not settings.get("do_sample"):
        return torch.nn.functional.one_hot(processed.argmax(-1), V).double().numpy()
    return processed.softmax(-1).numpy()


@contextlib.contextmanager
def _unnoticed() -> Iterator[None]:
    """No warning is shown, and no random number of the learner's is used up."""
    import torch
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)


@functools.cache
def _model() -> Any:
    """The smallest Llama that there is, since its logits are replaced."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=V, hidden_size=4, intermediate_size=4, num_hidden_layers=1, num_attention_heads=1,
                         max_position_embeddings=8, bos_token_id=None, eos_token_id=None)  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        return LlamaForCausalLM(config).eval()
