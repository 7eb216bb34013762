"""The panel of notebook 05: what a cache costs, by its sizes, beside real models' shapes.

The shapes are those of the models' published `config.json`, read on 2026-11-30 in the list of litgpt
(https://github.com/Lightning-AI/litgpt, litgpt/config.py); GPT-2's in https://github.com/openai/gpt-2, src/model.py;
Mistral's in transformers 5.24, whose defaults are that model's.
"""

from dataclasses import dataclass

from matplotlib.axes import Axes

from course_utils import plots
from course_utils.kv_cache import kv_cache_bytes
from course_utils.plots.cache import say_bytes, unit_of
from course_utils.widgets import cache_pictures, pictures
from course_utils.widgets.controls import Control
from course_utils.widgets.panel import Panel, html


@dataclass(frozen=True)
class Shape:
    """The sizes of a model that decide how large its cache is, and how it is used.

    n_head: query heads, which cost no cache. context: tokens that it was made for. window: how far back a layer looks.
    """

    n_layer: int
    n_head: int
    n_kv_head: int
    head_dim: int
    context: int
    window: int | None = None


MODELS = {
    "Llama 2 7B": Shape(32, 32, 32, 128, 4096),
    "Llama 3 8B": Shape(32, 32, 8, 128, 8192),
    "Llama 3 70B": Shape(80, 64, 8, 128, 8192),
    "Mistral 7B v0.1": Shape(32, 32, 8, 128, 32_768, window=4096),
    "Falcon 7B": Shape(32, 71, 1, 64, 2048),
    "GPT-2 small": Shape(12, 12, 12, 64, 1024),
    "tiny_llama": Shape(4, 4, 2, 32, 512),
}
OWN = "your own"
MAX_CONTEXT, MAX_BATCH = 17, 8  # exponents of 2: 131,072 tokens, 256 texts
_DTYPES = (("4", "4 bytes: float32"), ("2", "2 bytes: float16, bfloat16"), ("1", "1 byte: int8, float8"))


def explore_cache(model: str = "Llama 3 8B") -> Panel:
    """Sizes as controls, and the bytes of all keys and values: over the context, by heads, and added up.

    model: a name in `MODELS`, whose shape the panel begins with; context, batch and bytes stay when another is chosen.
    Raises ValueError for any other name.
    """
    if model not in MODELS:
        raise ValueError(f"model is {model!r}; expected one of {list(MODELS)}.")
    return Panel("Memory of a key/value cache", _controls(model), _views, None, _still, _caption)


def _controls(model: str) -> list[Control]:
    start = MODELS[model]
    sets = {name: {"n_layer": shape.n_layer, "n_kv_head": shape.n_kv_head, "head_dim": shape.head_dim}
            for name, shape in MODELS.items()}  # fmt: skip
    options = ((OWN, "your own sizes"), *((name, name) for name in MODELS))
    return [
        Control("model", "choice", "Model", model, options=options, sets=sets),
        Control("dtype", "choice", "A number", "2", options=_DTYPES),
        Control("n_layer", "slider", "Layers", start.n_layer, 1, 128, 1),
        Control("n_kv_head", "slider", "Key/value heads", start.n_kv_head, 1, 128, 1),
        Control("head_dim", "slider", "Head dimension", start.head_dim, 8, 256, 8),
        Control("context", "slider", "Context, tokens", 12, 0, MAX_CONTEXT, 1, _powers(MAX_CONTEXT)),
        Control("batch", "slider", "Batch, texts", 0, 0, MAX_BATCH, 1, _powers(MAX_BATCH)),
    ]


def _powers(highest: int) -> dict[str, str]:
    """The slider moves an exponent, so that 1 and 131,072 are both in reach; the panel shows and speaks the number."""
    return {str(exponent): f"{2**exponent:,}" for exponent in range(highest + 1)}


def sizes_of(settings: dict) -> dict[str, int]:
    """The arguments of `kv_cache_bytes`, from the settings of the controls."""
    return {
        "n_layer": settings["n_layer"],
        "n_kv_head": settings["n_kv_head"],
        "head_dim": settings["head_dim"],
        "n_tokens": 2 ** settings["context"],
        "batch_size": 2 ** settings["batch"],
        "bytes_per_element": int(settings["dtype"]),
    }


def _views(settings: dict) -> dict[str, str]:
    sizes = sizes_of(settings)
    bars = "filled: as set ▲ · outline: other numbers of heads"
    return {
        "summary": html("p", _say(settings)),
        "growth": pictures.figure("Bytes over the context", "dashed: one key/value head", cache_pictures.growth(sizes)),
        "heads": pictures.figure("By key/value heads", bars, cache_pictures.heads(sizes)),
        "numbers": cache_pictures.table(sizes),
    }


def _say(settings: dict) -> str:
    """The sizes and the bytes in words; what the model at hand adds to them."""
    sizes = sizes_of(settings)
    tokens, texts = sizes["n_tokens"], sizes["batch_size"]
    token = kv_cache_bytes(**{**sizes, "n_tokens": 1, "batch_size": 1})
    said = (
        f"{sizes['n_layer']} layers, {sizes['n_kv_head']} key/value heads of {sizes['head_dim']}, "
        f"{sizes['bytes_per_element']} bytes a number: {token:,} bytes ({say_bytes(token)}) a token. "
        f"{texts} × {tokens:,} tokens: {say_bytes(kv_cache_bytes(**sizes))}. "
    )
    name = next((name for name, shape in MODELS.items() if _is(shape, sizes, settings["model"], name)), None)
    return said + (_say_model(name, tokens) if name else "Weights and activations come on top.")


def _is(shape: Shape, sizes: dict, chosen: str, name: str) -> bool:
    same = all(getattr(shape, key) == sizes[key] for key in ("n_layer", "n_kv_head", "head_dim"))
    return same and chosen in (name, OWN)


def _say_model(name: str, n_tokens: int) -> str:
    shape = MODELS[name]
    kind = {1: "multi-query", shape.n_head: "multi-head"}.get(shape.n_kv_head, "grouped-query")
    said = f"The shape of {name}: {kind} attention, {shape.n_head} query heads. "
    if n_tokens > shape.context:
        return said + f"It was made for {shape.context:,} tokens only."
    if shape.window and n_tokens > shape.window:
        return (
            said + f"Its layers look back {shape.window:,} tokens: a cache that forgets the rest is smaller than this."
        )
    return said + "Weights and activations come on top."


def _still(settings: dict) -> Axes:
    sizes = sizes_of(settings)
    unit, unit_bytes = unit_of(kv_cache_bytes(**sizes))
    ends = {f"{heads} key/value heads": kv_cache_bytes(**{**sizes, "n_kv_head": heads}) / unit_bytes
            for heads in dict.fromkeys((sizes["n_kv_head"], 1))}  # fmt: skip
    lines = {name: (0, end) for name, end in ends.items()}
    title = "A panel as it opens: run the cell in JupyterLab, and sliders move it"
    return plots.curve((0, sizes["n_tokens"]), lines, title, "context (tokens)", f"cache ({unit})")


def _caption(settings: dict) -> str:
    return f"Panel, {_say(settings)}"
