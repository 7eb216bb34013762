"""The exercises of notebook 01: from counts to logits, softmax, the last logits of a batch, and the loop."""

from course_utils.exercises.counts_cases import COUNTS_CASES
from course_utils.exercises.last_cases import LAST_CASES
from course_utils.exercises.loop_cases import LOOP_CASES
from course_utils.exercises.softmax_cases import SOFTMAX_CASES
from course_utils.judging import Exercise

NOTEBOOK = "01_one_forward_pass"


# References.


def softmax(logits):
    """The probabilities (..., V) of logits (..., V), along the last axis."""
    shifted = logits - logits.max(dim=-1, keepdim=True).values  # the largest becomes 0: nothing overflows
    weights = shifted.exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def last_logits(logits, lengths):
    """Of logits (B, T, V), the (B, V) at the last valid position of each row; lengths: (B,), at least 1."""
    rows = range(len(lengths))
    return logits[list(rows), lengths - 1]  # row b, position lengths[b] - 1


def generate_loop(next_logits, prompt_ids, max_new_tokens, choose):
    """The prompt's ids and those that were chosen after it, as a new list."""
    ids = list(prompt_ids)  # a copy: the caller's list stays as it is
    for _ in range(max_new_tokens):
        ids.append(choose(next_logits(ids)))
    return ids


COUNTS_TO_LOGITS = Exercise(
    id="01.counts_to_logits",
    writes="`counts_to_logits(counts)`",
    contract="(V, V) counts, row = previous token, no empty row → log-probabilities; 0 → -inf",
    difficulty="easy",
    minutes=8,
    hints=(
        "Each row is a distribution of its own: divide it by its own sum.",
        "`counts.sum(dim=1, keepdim=True)` has the shape (V, 1), so that it divides row by row.",
        "Take the logarithm of the shares. The logarithm of 0 is -inf by itself: nothing has to be done for it.",
    ),
    reference="course_utils.bigram:counts_to_logits",
    cases=COUNTS_CASES,
)

SOFTMAX = Exercise(
    id="01.softmax",
    writes="`softmax(logits)`",
    contract="(..., V) → probs over the last axis; large logits don't overflow; -inf → 0",
    difficulty="easy",
    minutes=8,
    hints=(
        "Exponentials first, then divide by their sum.",
        "`dim=-1` is the last axis for any number of axes, and `keepdim=True` keeps it for the division.",
        "A constant added to a row cancels. Subtract each row's largest logit before the exponential.",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:softmax",
    cases=SOFTMAX_CASES,
)

LAST_LOGITS = Exercise(
    id="01.last_logits",
    writes="`last_logits(logits, lengths)`",
    contract="(B, T, V), (B,) → (B, V): last valid position of right-padded rows",
    difficulty="medium",
    minutes=10,
    hints=(
        "A row of length 1 has one valid position, number 0. So where is the last one of a row of length n?",
        "Each row b needs its own position. Two index tensors of the same length pick one element for each pair.",
        "`logits[rows, positions]` with rows = 0, 1, ... and positions = lengths - 1 has the shape (B, V).",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:last_logits",
    cases=LAST_CASES,
)

GENERATE_LOOP = Exercise(
    id="01.generate_loop",
    writes="`generate_loop(next_logits, prompt_ids, max_new_tokens, choose)`",
    contract="list: prompt + new ids; `next_logits(list) -> (V,)`, `choose((V,)) -> int`; the prompt list is not "
    "changed",
    difficulty="medium",
    minutes=12,
    hints=(
        "One turn: score the ids so far, choose one id, append it.",
        "`next_logits` gets the prompt and everything that was chosen since, at every turn.",
        "Begin with a copy of the prompt, and take exactly `max_new_tokens` turns, none if it is 0.",
    ),
    reference="course_utils.exercises.nb01_one_forward_pass:generate_loop",
    cases=LOOP_CASES,
)

EXERCISES = (COUNTS_TO_LOGITS, SOFTMAX, LAST_LOGITS, GENERATE_LOOP)
