"""The clinic: decoders that look alike, each with one planted fault, or none.

A specimen is a model like any other: call it with token ids, a cache and an attention mask, give it to `generate`, or
compare it with the sound model. Its letter does not tell what is wrong with it; `examine`, `stored_positions` and
what a learner measures do.

    sound, vocab = load_model("tiny_llama")
    specimens = clinic.admit(sound)
    report = clinic.examine(specimens["C"], sound, token_ids)["decode"]
"""

from course_utils.clinic.admission import DIAGNOSES, FAULTS, SOUND, admit, planted
from course_utils.clinic.paged import PAGED_DIAGNOSES, PAGED_FAULTS, PAGED_SITUATIONS, admit_paged, examine_paged
from course_utils.clinic.rolling import rolled
from course_utils.clinic.situations import SITUATIONS, SPLIT, examine, signature, stored_positions
from course_utils.clinic.texts import texts_and_logits
from course_utils.clinic.ties import WAYS, gaps_at_ties, nearest_ties, right_ways

__all__ = [
    "DIAGNOSES",
    "FAULTS",
    "PAGED_DIAGNOSES",
    "PAGED_FAULTS",
    "PAGED_SITUATIONS",
    "SITUATIONS",
    "SOUND",
    "SPLIT",
    "WAYS",
    "admit",
    "admit_paged",
    "examine",
    "examine_paged",
    "gaps_at_ties",
    "nearest_ties",
    "planted",
    "right_ways",
    "rolled",
    "signature",
    "stored_positions",
    "texts_and_logits",
]
