"""Exercise 02.repetition_rate. Its expected values are counted by hand, beside each text."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from course_utils.checker.answers import same
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.recognisers import any_of


def repetition_rate(tokens, n):
    """The share of n-grams that occurred before; None if the text has no n-gram."""
    n_grams = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    if not n_grams:
        return None
    return 1 - len(set(n_grams)) / len(n_grams)


def _given(tokens: list | str, n: int, shown: str = "") -> Call:
    """A call with these tokens. shown: what is said of them, where they are not written out."""
    shows = f"{shown or f'tokens {tokens!r}'} and n = {n}"
    return Call(shows, lambda: (tokens if isinstance(tokens, str) else list(tokens), n))


def _asks(hint_id: str, hint: str, tokens: list | str, n: int, rate: float | None, shown: str = "") -> Case:
    """A case that asks for a rate."""
    return Case(hint_id, hint, _given(tokens, n, shown), Equals(rate), error_is_typical=True)


# aabab has the 2-grams aa, ab, ba, ab: four, of which three are distinct.
_HAND = Call("tokens a a b a b and n = 2", lambda: (list("aabab"), 2))
# aaabaab has the 2-grams aa, aa, ab, ba, aa, ab: six, of which three are distinct. The mistakes below give other rates.
_SEVEN = Call("tokens a a a b a a b and n = 2", lambda: (list("aaabaab"), 2))
# cdcdc has the 2-grams cd, dc, cd, dc: the rate is 1/2. With the three of aabab still in the set it is 1 - 5/4.
_NEXT = Call("tokens c d c d c and n = 2, after other calls", lambda: (list("cdcdc"), 2))

# For each separator, "x" + "y?x" and "x?y" + "x" are the same text when it joins them. All n-grams are distinct.
_SEPARATORS = [" ", "  ", ",", ", ", "|", "-", "_", "/", "+", ":", ";", ".", "#", "\n", "\t"]
_SEPARATED = [token for s in _SEPARATORS for token in ("x", f"y{s}x", f"x{s}y", "x", s)]
_SEPARATED_TEXT = f'tokens [t for s in {_SEPARATORS} for t in ("x", f"y{{s}}x", f"x{{s}}y", "x", s)]'
# Pairs such as (1, 5) and (0, 15) are the same number in base 10; then other bases. None repeats.
_CODES = [1, 5, 0, 15, 1, 6, 0, 106, 1, 7, 0, 263, 1, 8, 0, 1008, 1, 9, 0, 50266, 1, 10, 0, 65546]
# 0 … 299, then 0 … 99: 399 2-grams. (0, 1) to (98, 99) come again, so 99 repeat.
_LONG = [*range(300), *range(100)]
# Ten characters: four spaces, two a, and A, é, full stop and line feed once. Six are distinct.
_TEXT = " aA é  a.\n"

_FIXED_N = "n is an argument, and it may be any whole number from 1 on."
_NONE = "a text shorter than n has no n-gram, and therefore no rate. The answer is None, not 0 and not an error."
_JOINED = "different n-grams became equal when their tokens were joined to one text. Compare tuples of tokens instead."
_CODED = "different n-grams became equal when their ids were combined to one number. Compare tuples of tokens instead."
_AS_THEY_ARE = (
    "compare the tokens exactly as they are. Capitals, spaces, signs and line ends all count, so change and leave out "
    "nothing."
)
_LONG_TEXT = (
    "short texts come out right and a long one does not. Look for a limit in the code, or for a step that takes two "
    "different n-grams for one."
)

EXERCISE = FunctionExercise(
    id="02.repetition_rate",
    writes="`repetition_rate(tokens, n)`",
    contract="list → 1 - distinct / total n-grams; None when there are none",
    difficulty="medium",
    minutes=8,
    hints=(
        "Write down every run of n neighbouring tokens. The runs overlap: each begins one token after the run before.",
        "A text of T tokens has T - n + 1 such runs. If you put them into a set, as tuples, each different run is in "
        "it once.",
        "Before you divide, deal with a text that has no n-gram.",
    ),
    reference=repetition_rate,
    cases=(
        Case("distinct-share", "this is the share of distinct n-grams. The repetition rate is 1 minus that share.",
             _HAND,
             Recognises(0.75)),
        Case("count", "this is a number of n-grams. Return their share of all n-grams.", _HAND,
             Recognises(lambda value: any(same(value, number) for number in (1, 2, 3, 4, 5)))),
        Case("single-tokens", "single tokens were counted, or the total is the number of tokens. Count n-grams, which "
             "are runs of n neighbours, above and below the line.", _HAND, Recognises(any_of(0.6, 0.4, 0.2))),
        Case("divided-by-distinct", "you divided by the number of distinct n-grams. Divide by the number of all "
             "n-grams, and count each one as often as it occurs.", _HAND, Recognises(1 / 3)),
        Case("order-ignored", "two n-grams with the same tokens in another order are different. Keep the order: use a "
             "tuple, not a set, and do not sort.", _SEVEN, Recognises(4 / 6)),
        Case("every-occurrence", "the first occurrence was counted as a repetition too. Only the later occurrences "
             "repeat something.",
             _HAND, Recognises(0.5)),
        Case("percent", "this is a percentage. Return a share, from 0 to 1.", _HAND, Recognises(25.0)),
        Case("no-overlap", "n-grams overlap. Each begins one token after the one before, and the last one ends with "
             "the last token.", _SEVEN, Recognises(any_of(1 / 3, 2 / 5))),
        Case("neighbours-only", "only n-grams that equal their direct predecessor were counted. An n-gram may repeat "
             "any earlier one.", _SEVEN, Recognises(1 / 6)),
        Case("longer-n-grams", "these n-grams have n + 1 tokens.", _SEVEN, Recognises(1 / 5)),
        Case("cut-off", "this is 0, though n-grams repeat. Is the share cut off to a whole number?", _SEVEN,
             Recognises(0.0)),
        Case("by-hand", "write down the 2-grams of a a b a b, then cross out each one that came before.", _HAND,
             Equals(0.25)),
        Case("rounded", "the share was rounded. Return it as it is.",
             Call("tokens a a a b and n = 2", lambda: (list("aaab"), 2)), Recognises(any_of(0.3, 0.33, 0.333, 0.3333))),
        Case("other-call", "n-grams from an earlier call are still counted, or its answer came back. Begin each call "
             "with an empty set. (A default argument is made only once.)",
             _NEXT, Recognises(any_of(-0.25, 0.25, 1 / 3))),
        # abc, bca, cab, abc, bca, cab, abd: seven, of which four are distinct.
        _asks("fixed-n", _FIXED_N, list("abcabcabd"), 3, 3 / 7),
        _asks("fixed-n", "n may be 1. The n-grams are then the single tokens.", list("aabab"), 1, 0.6),
        _asks("fixed-n", _FIXED_N, ["a"] * 9, 5, 0.8),  # five, all the same
        _asks("fixed-n", _FIXED_N, ["a"] * 15, 12, 0.75),  # four, all the same
        _asks("nothing-repeats", "nothing repeats here, so the rate is 0. That is a measured rate, and not the same "
              "as None.",
              list("abc"), 2, 0.0),
        _asks("one-n-gram", "a text of n tokens has exactly one n-gram.", list("ab"), 2, 0.0),
        _asks("none", _NONE, ["a"], 2, None),
        _asks("none", "an empty text has no n-gram, and therefore no rate. The answer is None.", [], 1, None),
        _asks("none", _NONE, list("ab"), 5, None),
        # abcd, bcde, cdea, deab, eabc, abcd, bcde: seven, of which five are distinct.
        _asks("neighbours-only", "an n-gram may repeat any earlier one, not only its neighbour.",
              list("abcdeabcde"), 4, 1 - 5 / 7),
        _asks("parts", "two n-grams are the same only if all their tokens are the same, each in its place. Leave out "
              "no token.",
              list("abcadc"), 3, 0.0),
        _asks("parts", "two n-grams are the same only if all their tokens are the same. A token that occurs twice in "
              "an n-gram counts twice.", list("aabb"), 3, 0.0),
        _asks("joined", _JOINED, ["a", "bc", "ab", "c"], 2, 0.0),
        _asks("ids", "tokens may also be numbers, such as token ids.", [1, 11, 11, 1, 1, 11], 2, 0.2),
        _asks("ids", "0 is a token id like any other.", [0, 0, 1], 1, 1 / 3),
        _asks("coded", _CODED, [1, 111, 11, 12, 11, 21, 111], 2, 0.0),
        _asks("coded", _CODED, [0, 1, 3, 0], 2, 0.0),
        _asks("coded", _CODED, [1, 0, 3], 2, 0.0),
        _asks("coded", _CODED, _CODES, 2, 0.0),
        _asks("coded", _CODED, _CODES[::-1], 2, 0.0),
        _asks("a-str", "`tokens` may be a str. Its characters are then the tokens.", "abababab", 3, 4 / 6),
        _asks("as-they-are", _AS_THEY_ARE, _TEXT, 1, 0.4),
        _asks("as-they-are", _AS_THEY_ARE, ["A", "a", " a", "a ", "", ".", "a."], 1, 0.0),
        _asks("none", _NONE, "", 1, None),
        _asks("long-text", _LONG_TEXT, _LONG, 2, 99 / 399, shown="tokens [*range(300), *range(100)]"),
        _asks("long-text", _LONG_TEXT, "ab" * 150, 2, 1 - 2 / 299, shown="the text 'ab' * 150"),
        _asks("joined", _JOINED, _SEPARATED, 2, 0.0, _SEPARATED_TEXT),
    ),
)  # fmt: skip
