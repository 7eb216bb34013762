"""Whether a wrong decoder's greedy text shows that its logits are wrong."""

from collections.abc import Mapping, Sequence

import pandas as pd
import torch

from course_utils.clinic.faults import Specimen
from course_utils.compare_logits import compare_logits, in_chunks
from course_utils.generation import generate_batch
from course_utils.sampling import SamplingParams
from course_utils.stopping import StopCriteria
from course_utils.text import CharVocab
from course_utils.transformer import Transformer


def texts_and_logits(
    specimens: Mapping[str, Specimen], sound: Transformer, vocab: CharVocab, prompts: Sequence[str], n_tokens: int
) -> pd.DataFrame:
    """How many prompts keep their greedy text, and how many have wrong logits, for each specimen.

    prompts: texts of equal length. n_tokens: how many tokens each is continued by; an end mark does not stop it.
    The logits are compared while the sound model's text goes through the cache: the prompt in one call, then one token
    at a time.
    Returns a row for each letter with the columns "same text", "wrong logits" and "both", which count prompts, and
        "largest |difference|" in nats.
    Raises ValueError for prompts of different lengths.
    """
    lengths = {len(vocab.encode(prompt)) for prompt in prompts}
    if len(lengths) != 1:
        raise ValueError(f"The prompts have the lengths {sorted(lengths)}; expected prompts of one length.")
    greedy, stopping = SamplingParams(greedy=True), StopCriteria(n_tokens, eos=False)
    right = generate_batch(sound, vocab, prompts, greedy, stopping)
    fed = torch.tensor([[vocab.bos_id, *vocab.encode(one.prompt), *one.token_ids] for one in right])
    n_prompt = fed.shape[1] - n_tokens
    expected, rows = in_chunks(sound, fed, n_prompt), {}
    for letter, specimen in specimens.items():
        written = generate_batch(specimen, vocab, prompts, greedy, stopping)
        same = torch.tensor([a.token_ids == b.token_ids for a, b in zip(written, right, strict=True)])
        report = compare_logits(expected, in_chunks(specimen, fed, n_prompt))
        wrong = (report.differences > report.tolerance).any(1)
        counts = int(same.sum()), int(wrong.sum()), int((same & wrong).sum())
        named = dict(zip(("same text", "wrong logits", "both"), counts, strict=True))
        rows[letter] = {**named, "largest |difference|": report.max_abs_diff}
    return pd.DataFrame.from_dict(rows, orient="index")
