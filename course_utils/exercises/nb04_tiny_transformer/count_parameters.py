"""Exercise 04.count_parameters."""

# The reference is shown to learners as they would write it, without types.
# mypy: allow-untyped-defs

from collections.abc import Callable, Sequence
from math import prod

from course_utils.checker.answers import as_array
from course_utils.checker.exercise import Call, Case, Equals, FunctionExercise, Recognises
from course_utils.exercises.common.hints import EARLIER_CALL
from course_utils.exercises.common.recognisers import any_of


def count_parameters(config):
    """How many weights a Transformer with this config has."""
    C, inner = config.n_embd, config.n_inner
    kv_width = config.n_kv_head * config.head_dim  # narrower than C where query heads share them
    attention = 2 * C * C + 2 * C * kv_width  # queries and output; keys and values
    feed_forward = 3 * C * inner  # gate, up, down
    norms = 2 * C
    tables = config.vocab_size * C * (1 if config.tie_embeddings else 2)
    return tables + config.n_layer * (attention + feed_forward + norms) + C


_BASE = {"vocab_size": 29, "n_layer": 3, "n_head": 6, "n_kv_head": 2, "n_embd": 24, "block_size": 11, "n_inner": 40}


def _sizes(given: dict) -> dict:
    """What the shapes below are made of, from the arguments of a TransformerConfig."""
    given = {"tie_embeddings": False, **given}
    C = given["n_embd"]
    if given.get("n_inner") is None:
        third = 8 * C / 3
        given["n_inner"] = next(n for n in range(32, 100_000, 32) if n >= third)
    return {"V": given["vocab_size"], "L": given["n_layer"], "H": given["n_head"], "K": given["n_kv_head"],
            "C": C, "D": C // given["n_head"], "I": given["n_inner"], "S": given["block_size"],
            "tied": given["tie_embeddings"]}  # fmt: skip


def _layer(s: dict) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of a layer, as the layout of a Llama lists them."""
    C, D, inner = s["C"], s["D"], s["I"]
    return {"q": (s["H"] * D, C), "k": (s["K"] * D, C), "v": (s["K"] * D, C), "o": (C, s["H"] * D), "gate": (inner, C),
            "up": (inner, C), "down": (C, inner), "norm 1": (C,), "norm 2": (C,)}  # fmt: skip


def _count(given: dict, leave: Sequence[str] = (), extra: Callable[[dict], int] = lambda s: 0, **changed: int) -> int:
    """The oracle: the shapes, one by one. leave, extra, changed: a mistake."""
    s = {**_sizes(given), **changed}
    layer = sum(prod(shape) for name, shape in _layer(s).items() if name not in leave)
    outside = {"embedding": s["V"] * s["C"], "norm": s["C"], "head": 0 if s["tied"] else s["V"] * s["C"]}
    return s["L"] * layer + sum(size for name, size in outside.items() if name not in leave) + extra(s)


def _given(given: dict) -> Call:
    """A call with a TransformerConfig of these arguments."""

    def make() -> tuple:
        from course_utils.transformer import TransformerConfig  # brings torch, which the list of exercises must not

        return (TransformerConfig(**given),)

    return Call(f"TransformerConfig({', '.join(f'{name}={value}' for name, value in given.items())})", make)


def _asks(hint_id: str, hint: str, **changed: float | None) -> Case:
    """A case that asks for the number. changed: what differs from the first config."""
    given = {**_BASE, **changed}
    return Case(hint_id, hint, _given(given), Equals(_count(given)), error_is_typical=True)


_HAND = _given(_BASE)
_RIGHT = _count(_BASE)
_TIED = {**_BASE, "tie_embeddings": True}
_OTHER = {**_BASE, "vocab_size": 31, "n_layer": 2, "n_inner": 44}
_NORMS = ("norm 1", "norm 2", "norm")
_EACH = {"table": 29 * 24, "tables": 2 * 29 * 24, "norm": 24}


def _linear_biases(s: dict) -> int:
    return s["L"] * ((s["H"] + 2 * s["K"]) * s["D"] + s["C"] + 2 * s["I"] + s["C"])


def _parts(value: object) -> bool:
    """Several numbers instead of their sum."""
    return as_array(value).size > 1 and abs(as_array(value).sum() - _RIGHT) < 0.5


_GQA = (
    "keys and values were given as many heads as queries. They have only n_kv_head heads, so their matrices are "
    "narrower."
)
_ONE_LAYER = "every layer has its own weights, so a layer's part counts n_layer times."
_TIES = "with tie_embeddings the embedding is also used as the head. It is one table and counts once."
_BY_CONFIG = "read every size from the config. This config differs from the first example in the settings shown above."
_NO_WEIGHTS = "this setting changes how the model computes, but it adds no weight. The number stays the same."
_INNER = (
    "the width of the feed-forward block is `config.n_inner`. Where None was given, the config has already worked it "
    "out."
)
_SMALL = "even the smallest model has every part: a table, a layer, a norm and a head."
_LARGE = "small models come out right and a larger one does not. Use every size as it is."

EXERCISE = FunctionExercise(
    id="04.count_parameters",
    writes="`count_parameters(config)`",
    contract="a TransformerConfig → a number, equals the model's own count; no biases, tied weights counted once",
    difficulty="medium",
    minutes=12,
    hints=(
        "Go through the parts of the model: the embedding, one layer (times n_layer), the last norm, and the head.",
        "A matrix from n to m numbers has n * m weights. Queries have n_head heads of head_dim numbers; keys and "
        "values have n_kv_head such heads.",
        "A layer has seven matrices (q, k, v, out, gate, up and down) and two norms. Rotary positions have no weights.",
    ),
    reference=count_parameters,
    cases=(
        Case("not-the-count", "this is in another unit, such as bytes or millions. Return the number of parameters "
             "itself.", _HAND,
             Recognises(any_of(*(_RIGHT * n for n in (2, 4, 8)), _RIGHT / 1e6, _RIGHT / 1e3))),
        Case("earlier-call", EARLIER_CALL, Call(f"{_HAND.shows} in a second call", _HAND.args), Recognises(2 * _RIGHT)),
        Case("kv-heads", _GQA, _HAND, Recognises(_count(_BASE, K=6))),
        Case("kv-once", "keys and values are two matrices, each n_kv_head heads wide. One of them is missing.", _HAND,
             Recognises(any_of(_count(_BASE, ("k",)), _count(_BASE, ("k", "v"))))),
        Case("one-layer", _ONE_LAYER, _HAND, Recognises(_count(_BASE, L=1))),
        Case("outside-a-layer", "the embedding, the last norm or the head was counted once for each layer. They stand "
             "outside the layers and count once.", _HAND,
             Recognises(any_of(*(_RIGHT + 2 * _EACH[name] for name in _EACH), _RIGHT + 2 * (_EACH["tables"] + 24)))),
        Case("one-table", "the embedding and the head are two tables here, each with a row of n_embd weights for each "
             "token. They are one table only if they are tied.", _HAND,
             Recognises(any_of(_count(_BASE, ("head",)), _count(_BASE, ("head", "embedding"))))),
        Case("last-norm", "the norm after the last layer has weights too, n_embd of them.", _HAND,
             Recognises(_count(_BASE, ("norm",)))),
        Case("norms", "each norm has n_embd weights: two in a layer, and one after the last layer.", _HAND,
             Recognises(any_of(_count(_BASE, _NORMS), _count(_BASE, ("norm 1", "norm 2")), _count(_BASE, ("norm 1",)),
                               _count(_BASE, ("norm 1", "norm"))))),
        Case("norm-bias", "an RMSNorm scales and does not shift: n_embd weights, and no bias.", _HAND,
             Recognises(_count(_BASE, extra=lambda s: (2 * s["L"] + 1) * s["C"]))),
        Case("biases", "biases were counted. The projections of this model have none.", _HAND,
             Recognises(any_of(_count(_BASE, extra=_linear_biases),
                               _count(_BASE, extra=lambda s: _linear_biases(s) + s["V"]),
                               _count(_BASE, extra=lambda s: s["L"] * (s["H"] + 2 * s["K"]) * s["D"]),
                               _count(_BASE, extra=lambda s: s["L"] * ((s["H"] + 2 * s["K"]) * s["D"] + s["C"])),
                               _count(_BASE, extra=lambda s: s["L"] * (2 * s["I"] + s["C"])),
                               _count(_BASE, extra=lambda s: s["V"])))),
        Case("position-table", "positions were given weights. Rotary positions are computed, not learned: block_size "
             "adds nothing.", _HAND,
             Recognises(any_of(_count(_BASE, extra=lambda s: s["S"] * s["C"]),
                               _count(_BASE, extra=lambda s: s["S"] * s["D"]),
                               _count(_BASE, extra=lambda s: s["S"] * s["D"] // 2)))),
        Case("two-matrices", "the feed-forward part has three matrices: gate, up and down.", _HAND,
             Recognises(_count(_BASE, ("gate",)))),
        Case("no-gate-half", "a part of the feed-forward block was left out. Gate and up lead from n_embd to n_inner, "
             "and down leads back.", _HAND,
             Recognises(any_of(_count(_BASE, ("gate", "up")), _count(_BASE, ("gate", "up", "down"))))),
        Case("out-projection", "after attention one more matrix mixes the heads: from n_embd to n_embd.", _HAND,
             Recognises(_count(_BASE, ("o",)))),
        Case("four-times", "the feed-forward block was taken to be 4 times, or 8/3 times, as wide as the model. Its "
             "width is `config.n_inner`.", _HAND, Recognises(any_of(*(_count(_BASE, I=n) for n in (96, 64))))),
        Case("parts", "these are the sizes of the parts. Return their sum.", _HAND, Recognises(_parts)),
        Case("by-hand", "write down the shape of every weight, in the order of the model, and add up their sizes.",
             _HAND, Equals(_RIGHT)),
        Case("earlier-call", EARLIER_CALL,
             Call(f"{_given(_OTHER).shows}, after calls with another config", _given(_OTHER).args), Recognises(_RIGHT)),
        Case("tied", _TIES, _given(_TIED), Recognises(_RIGHT)),
        _asks("tied", _TIES, tie_embeddings=True),
        _asks("kv-heads", _GQA, n_kv_head=1),
        _asks("kv-heads", "with as many key/value heads as query heads, all four attention matrices are square.",
              n_kv_head=6),
        _asks("by-config", _BY_CONFIG, vocab_size=19),
        _asks("by-config", _BY_CONFIG, n_layer=5),
        _asks("by-config", _BY_CONFIG, n_head=2),
        _asks("by-config", _BY_CONFIG, n_embd=36),
        _asks("by-config", _BY_CONFIG, n_inner=17),
        _asks("by-config", _BY_CONFIG, n_layer=2, n_head=6, n_kv_head=3, n_embd=36, n_inner=50, tie_embeddings=True),
        _asks("n-inner", _INNER, n_inner=None),
        _asks("n-inner", _INNER, n_head=2, n_embd=104, n_inner=None),
        _asks("no-weights", _NO_WEIGHTS, block_size=300),
        _asks("no-weights", _NO_WEIGHTS, dropout=0.25),
        _asks("no-weights", _NO_WEIGHTS, rope_theta=500.0, norm_eps=0.01),
        _asks("one-layer", "a model may have a single layer.", n_layer=1),
        _asks("smallest", _SMALL, vocab_size=1, n_layer=1, n_head=1, n_kv_head=1, n_embd=2, block_size=1, n_inner=1),
        _asks("smallest", _SMALL, vocab_size=2, n_layer=1, n_head=3, n_kv_head=1, n_embd=6, n_inner=5,
              tie_embeddings=True),
        _asks("kv-heads", _GQA, n_head=8, n_kv_head=1, n_embd=16),
        _asks("by-config", _BY_CONFIG, n_layer=13, n_head=1, n_kv_head=1, n_embd=10, n_inner=9),
        _asks("by-config", _BY_CONFIG, n_head=1, n_kv_head=1, n_embd=200),
        _asks("large", _LARGE, vocab_size=32_003, n_layer=2, n_head=16, n_kv_head=16, n_embd=32, n_inner=7),
        _asks("large", _LARGE, vocab_size=301, n_layer=4, n_head=6, n_kv_head=2, n_embd=192, n_inner=512),
        _asks("large", _LARGE, vocab_size=5003, n_layer=1, n_head=2, n_kv_head=2, n_embd=64, n_inner=33,
              tie_embeddings=True),
    ),
)  # fmt: skip
