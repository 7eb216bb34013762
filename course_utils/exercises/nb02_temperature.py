"""The exercises of notebook 02: temperature, greedy, and how much a text repeats itself."""

import numpy as np

from course_utils.answers import as_array, same
from course_utils.exercises.inputs import args, scores
from course_utils.judging import Case, Exercise

NOTEBOOK = "02_temperature"


# Oracles, in plain numpy and Python.


def _softmax(logits) -> np.ndarray:
    logits = np.asarray(logits, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _at(logits, temperature) -> np.ndarray:
    return _softmax(np.asarray(logits, dtype=np.float64) / temperature)


# References.


def probs_at(logits, temperature):
    """The probabilities (..., V) of logits (..., V) at a temperature above 0."""
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}; expected a number above 0. For its limit take the largest.")
    logits = logits - logits.max(dim=-1, keepdim=True).values  # before the division, so that nothing overflows
    weights = (logits / temperature).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


def greedy(logits):
    """The ids (...) of the largest of logits (..., V); of equal ones the lowest id."""
    return logits.argmax(dim=-1)  # of equal logits torch's argmax gives the first


# 02.temperature

_PAIR = [2.0, 1.0]
_ROWS = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
_CUBE = scores(21, 3, 2, 8, scale=9.0)
_HAND = {"shows": "logits [2, 1] and T = 0.5", "args": args(_PAIR, 0.5)}
_P = _softmax(_PAIR)

TEMPERATURE = Exercise(
    id="02.temperature",
    writes="`probs_at(logits, temperature)`",
    contract="probabilities of logits / T; ValueError for T <= 0",
    difficulty="easy",
    minutes=8,
    hints=(
        "Temperature works on the logits. Softmax comes after it.",
        "A T below 1 must make the likelier token likelier still. Does yours?",
        "Raise the ValueError before anything is divided, for 0 and for negative numbers.",
    ),
    reference="course_utils.exercises.nb02_temperature:probs_at",
    cases=(
        Case("multiplied", "the logits were multiplied by T. A low temperature must make the distribution sharper, and "
             "this one became flatter.", **_HAND, wrong=_softmax(np.multiply(_PAIR, 0.5))),
        Case("temperature-ignored", "these are the probabilities at T = 1. The temperature has no effect yet.", **_HAND,
             wrong=_P),
        Case("divided-probabilities", "the probabilities were divided by T. They no longer add up to 1. Divide the "
             "logits, before softmax.", **_HAND, wrong=_P / 0.5),
        Case("no-softmax", "these are logits divided by T. Probabilities come from them by softmax.", **_HAND,
             wrong=np.divide(_PAIR, 0.5)),
        Case("not-normalised", "these numbers do not add up to 1. Divide by their sum.", **_HAND,
             wrong=lambda value: any(same(value, other) for other in (_P**2, np.exp([4.0, 2.0]), np.exp([0.0, -2.0])))),
        Case("softmax-twice", "probabilities went through softmax as if they were logits.", **_HAND,
             wrong=lambda value: any(same(value, _softmax(other)) for other in (_P / 0.5, _at(_PAIR, 0.5)))),
        Case("by-hand", "take it by hand: divide both logits by T, then softmax.", **_HAND, want=_at(_PAIR, 0.5)),
        Case("whole-division", "a fraction was cut off in the division. Use `/`, also where T is a whole number.",
             "logits [2, 1] and T = 2", args(_PAIR, 2), want=_at(_PAIR, 2)),
        Case("other-axis", "each row is a distribution of its own, along the last axis.",
             "two rows of logits, [2, 1, 0] and [0, 3, 1], and T = 0.7", args(_ROWS, 0.7), want=_at(_ROWS, 0.7),
             error_is_typical=True),
        Case("overflow", "dividing by a small T makes large numbers, and their exponentials overflow. Subtract the "
             "largest logit first: a constant cancels in softmax.", "logits [10, 9.97] and T = 0.01",
             args([10.0, 9.97], 0.01), want=_at([10.0, 9.97], 0.01), atol=1e-3, error_is_typical=True),
        Case("zero", "T = 0 is asked to raise a ValueError: nothing can be divided by it. Its limit, greedy, is a mode "
             "of its own.", "logits [2, 1] and T = 0", args(_PAIR, 0), raises=ValueError),
        Case("zero", "T = 0.0 is asked to raise a ValueError, like T = 0.", "logits [2, 1] and T = 0.0",
             args(_PAIR, 0.0), raises=ValueError),
        Case("negative", "a negative T turns the order round, so that the worst token becomes the likeliest. It is "
             "asked to raise a ValueError.", "logits [2, 1] and T = -1", args(_PAIR, -1.0), raises=ValueError),
        Case("any-size", "small examples come out right and a larger tensor does not. Look for a size, an axis or a "
             "limit that is written into the code.", "logits of the shape (3, 2, 8) and T = 5", args(_CUBE, 5),
             want=_at(_CUBE, 5), error_is_typical=True),
    ),
)  # fmt: skip


# 02.greedy

_ROW = [0.5, 2.5, 1.5]
_TWO = [[3.0, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 9.0]]
_TIES = [[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]]
_GREEDY_CUBE = scores(22, 2, 3, 4)
_CLOSE = [0.2, 0.93, 0.7, 0.94]
_BIG = scores(23, 5, 4, 40, scale=0.3)
_HAND = {"shows": "logits [0.5, 2.5, 1.5]", "args": args(_ROW)}

GREEDY = Exercise(
    id="02.greedy",
    writes="`greedy(logits)`",
    contract="(..., V) → ids (...); ties to the lowest id",
    difficulty="easy",
    minutes=6,
    hints=(
        "The answer is an id: the place of the largest logit, counted from 0.",
        "The last axis goes away, and every other axis stays.",
        "If two logits are equally large, take the first. Try [1, 3, 3, 0].",
    ),
    reference="course_utils.exercises.nb02_temperature:greedy",
    cases=(
        Case("value-returned", "this is the largest logit. Asked for is its id.", **_HAND, wrong=2.5),
        Case("one-hot", "this marks the token in a row. Asked for is its id, one number.", **_HAND,
             wrong=lambda value: np.shape(value.tolist() if hasattr(value, "tolist") else value) == (3,)),
        Case("smallest", "this is the id of the smallest logit.", **_HAND, wrong=0),
        Case("counted-from-one", "ids count from 0.", **_HAND, wrong=2),
        Case("by-hand", "look for the largest of the three logits. Its place, counted from 0, is the id.", **_HAND,
             want=1),
        Case("negative-logits", "logits may all be negative. A search that begins with 0 as the largest so far finds "
             "none.", "logits [-5, -2, -9]", args([-5.0, -2.0, -9.0]), want=1, error_is_typical=True),
        Case("flattened", "the whole tensor was searched as one row. Each row has its own id.",
             "two rows of four logits", args(_TWO), wrong=lambda value: as_array(value).shape == ()),
        Case("axis-kept", "an axis of length 1 is left where the vocabulary was. Asked for is one id for each row.",
             "two rows of four logits", args(_TWO), wrong=lambda value: as_array(value).shape == (2, 1)),
        Case("other-axis", "for each row, search along the last axis, the vocabulary.", "two rows of four logits",
             args(_TWO), want=[0, 3], error_is_typical=True),
        Case("last-axis", "with three axes, (B, T, V), the vocabulary still is the last one. Count axes from the end.",
             "logits of the shape (2, 3, 4)", args(_GREEDY_CUBE), want=_GREEDY_CUBE.argmax(axis=-1),
             error_is_typical=True),
        Case("ties", "of equal logits the lowest id is asked for.", "rows [1, 3, 3, 0] and [2, 2, 2, 2]", args(_TIES),
             want=[1, 0]),
        Case("rounded", "logits that differ by a little are not equal. Something rounds them.",
             "logits [0.2, 0.93, 0.7, 0.94]", args(_CLOSE), want=3),
        Case("any-size", "small examples come out right and larger ones do not. Greedy draws no random number, and "
             "knows no fixed size.", "logits of the shape (5, 4, 40)", args(_BIG), want=_BIG.argmax(axis=-1),
             error_is_typical=True),
    ),
)  # fmt: skip


# 02.repetition_rate. aabab has the 2-grams aa, ab, ba, ab: four, of which three are distinct. abcabcabd has the 3-grams
# abc, bca, cab, abc, bca, cab, abd: seven, of which four are distinct.

_TOKENS = list("aabab")
_LETTERS = list("abcabcabd")
_HAND = {"shows": "tokens a a b a b and n = 2", "args": lambda: (list(_TOKENS), 2)}

REPETITION_RATE = Exercise(
    id="02.repetition_rate",
    writes="`repetition_rate(tokens, n)`",
    contract="list → 1 - distinct / total n-grams; None when there are none",
    difficulty="medium",
    minutes=8,
    hints=(
        "Write down all runs of n neighbours. They overlap: each begins one token after the one before.",
        "T tokens have T - n + 1 of them. A set of tuples keeps each one once.",
        "Look at the case without any n-gram before you divide.",
    ),
    reference="course_utils.metrics:repetition_rate",
    cases=(
        Case("distinct-share", "this is the share of distinct n-grams. Repetition is what is left of the whole.",
             **_HAND, wrong=0.75),
        Case("count", "this is a number of n-grams. Asked for is their share of all n-grams.", **_HAND,
             wrong=lambda value: any(same(value, number) for number in (1, 2, 3, 4, 5))),
        Case("single-tokens", "tokens were counted, or the total is the number of tokens. Count n-grams, runs of n "
             "neighbours, above and below the line.", **_HAND,
             wrong=lambda value: same(value, 0.6) or same(value, 0.4) or same(value, 0.2)),
        Case("no-overlap", "n-grams overlap. Each begins one token after the one before, and the last ends with the "
             "last token.", **_HAND, wrong=0.0),
        Case("every-occurrence", "the first occurrence was counted as a repetition too. Only the later ones repeat.",
             **_HAND, wrong=0.5),
        Case("percent", "this is a percentage. Asked for is a share, from 0 to 1.", **_HAND, wrong=25.0),
        Case("by-hand", "write down the 2-grams of a a b a b, then cross out those that came before.", **_HAND,
             want=0.25),
        Case("fixed-n", "n is an argument: it may be other than 2.", "tokens a b c a b c a b d and n = 3",
             lambda: (list(_LETTERS), 3), want=3 / 7, error_is_typical=True),
        Case("fixed-n", "n may be 1: then the n-grams are the tokens.", "tokens a a b a b and n = 1",
             lambda: (list(_TOKENS), 1), want=0.6, error_is_typical=True),
        Case("nothing-repeats", "where nothing repeats, the rate is 0. That is a rate, and not the same as None.",
             "tokens a b c and n = 2", lambda: (list("abc"), 2), want=0.0, error_is_typical=True),
        Case("one-n-gram", "n tokens have one n-gram.", "tokens a b and n = 2", lambda: (list("ab"), 2), want=0.0,
             error_is_typical=True),
        Case("none", "a text shorter than n has no n-gram, so no rate: the answer is None, not 0 and not an error.",
             "the one token a and n = 2", lambda: (["a"], 2), want=None, error_is_typical=True),
        Case("none", "an empty text has no n-gram, so no rate: the answer is None.", "no tokens and n = 1",
             lambda: ([], 1), want=None, error_is_typical=True),
        Case("none", "a text far shorter than n has no n-gram: the answer is None.", "tokens a b and n = 5",
             lambda: (list("ab"), 5), want=None, error_is_typical=True),
        Case("neighbours-only", "an n-gram repeats one from anywhere before it, not only its neighbour.",
             "tokens a b c d e a b c d e and n = 4", lambda: (list("abcdeabcde"), 4), want=1 - 5 / 7),
        Case("joined", "different n-grams became equal when their tokens were put together to one text. Compare "
             "tuples of tokens.", "tokens a, bc, ab, c and n = 2", lambda: (["a", "bc", "ab", "c"], 2), want=0.0),
        Case("ids", "tokens may be numbers, as token ids are.", "tokens 1, 11, 11, 1, 1, 11 and n = 2",
             lambda: ([1, 11, 11, 1, 1, 11], 2), want=0.2, error_is_typical=True),
        Case("a-str", "`tokens` may be a str: its characters are the tokens.", "the text 'abababab' and n = 3",
             lambda: ("abababab", 3), want=4 / 6, error_is_typical=True),
    ),
)  # fmt: skip

EXERCISES = (TEMPERATURE, GREEDY, REPETITION_RATE)
