"""The panel of notebook 05: what a cache costs, by its sizes, beside real models' shapes."""

from dataclasses import replace

from matplotlib.axes import Axes

from course_utils import plots
from course_utils.plots.cache import say_bytes, unit_of
from course_utils.widgets import cache_pictures, pictures
from course_utils.widgets.cache_shapes import MODELS, Shape, Sizes, count, shared_out
from course_utils.widgets.controls import Control
from course_utils.widgets.panel import Panel, html

OWN = "your own"
MAX_CONTEXT, MAX_BATCH = 17, 8  # exponents of 2: 131,072 tokens, 256 texts
_DTYPES = (("4", "4 bytes: float32"), ("2", "2 bytes: float16, bfloat16"), ("1", "1 byte: int8, float8"))
_HEADS = ("4", "8", "12", "16", "32", "64", "71", "128")  # as models have them; 71 are Falcon's
_LATENT = "576"
_SHARED = (("1", "each query head has its own"), ("2", "2 query heads share one"), ("4", "4 query heads share one"),
           ("8", "8 query heads share one"), ("16", "16 query heads share one"), ("128", "all query heads share one"),
           (_LATENT, f"one latent of {_LATENT} numbers (MLA)"))  # fmt: skip
_WINDOWS = (("0/1 0", "every layer keeps all tokens"), ("1/1 4096", "every layer keeps 4,096 tokens"),
            ("1/2 128", "every other layer keeps 128"), ("5/6 1024", "5 of 6 layers keep 1,024"))  # fmt: skip


def explore_cache(model: str = "Llama 3 8B") -> Panel:
    """Sizes as controls, and the bytes of all that is kept: over the context, by heads, and added up.

    model: a name in `MODELS`, whose shape the panel begins with; context, batch and bytes stay when another is chosen.
    Raises ValueError for any other name.
    """
    if model not in MODELS:
        raise ValueError(f"model is {model!r}; expected one of {list(MODELS)}.")
    return Panel("Memory of a key/value cache", _controls(model), _views, None, _still, _caption)


def _controls(model: str) -> list[Control]:
    sets = {name: _set_by(shape) for name, shape in MODELS.items()}
    start, options = sets[model], ((OWN, "your own sizes"), *((name, name) for name in MODELS))
    return [
        Control("model", "choice", "Model", model, options=options, sets=sets),
        Control("dtype", "choice", "A number", "2", options=_DTYPES),
        Control("n_layer", "slider", "Layers", start["n_layer"], 1, 128, 1),
        Control("n_head", "choice", "Query heads", start["n_head"], options=[(n, n) for n in _HEADS]),
        Control("shared", "choice", "Keys and values", start["shared"], options=_SHARED),
        Control("head_dim", "slider", "Head dimension", start["head_dim"], 8, 256, 8),
        Control("window", "choice", "Window", start["window"], options=_WINDOWS),
        Control("context", "slider", "Context, tokens", 12, 0, MAX_CONTEXT, 1, _powers(MAX_CONTEXT)),
        Control("batch", "slider", "Batch, texts", 0, 0, MAX_BATCH, 1, _powers(MAX_BATCH)),
    ]


def _set_by(shape: Shape) -> dict:
    """The controls' values for a model, so that `shape_of` gives its sizes back."""
    groups = [group for group, _ in _SHARED if shared_out(shape.n_head, int(group)) == shape.n_kv_head]
    windows = (value for value, _ in _WINDOWS if _window(value, shape.n_layer) == (shape.window, shape.n_windowed))
    return {"n_layer": shape.n_layer, "n_head": str(shape.n_head), "head_dim": shape.head_dim, "window": next(windows),
            "shared": _LATENT if shape.n_latent else "128" if shape.n_kv_head == 1 else groups[0]}  # fmt: skip


def _powers(highest: int) -> dict[str, str]:
    """The slider moves an exponent, so that 1 and 131,072 are both in reach; the panel shows and speaks the number."""
    return {str(exponent): f"{2**exponent:,}" for exponent in range(highest + 1)}


def _window(value: str, n_layer: int) -> tuple[int, int]:
    """The window, in tokens, and how many of the layers have it."""
    share, window = value.split()
    some, of = map(int, share.split("/"))
    return int(window), n_layer * some // of


def sizes_of(settings: dict) -> Sizes:
    """The sizes that the settings of the controls stand for."""
    n_head, shared = int(settings["n_head"]), settings["shared"]
    latent = int(shared) if shared == _LATENT else 0
    n_kv_head = n_head if latent else shared_out(n_head, int(shared))
    window, n_windowed = _window(settings["window"], settings["n_layer"])
    shape = Shape(settings["n_layer"], n_head, n_kv_head, settings["head_dim"], None, window, n_windowed, latent)
    return Sizes(shape, 2 ** settings["context"], 2 ** settings["batch"], int(settings["dtype"]))


def _views(settings: dict) -> dict[str, str]:
    sizes = sizes_of(settings)
    dashed = "all tokens in all layers" if sizes.shape.n_windowed else "one key/value head"
    bars = "filled: as set ▲ · outline: other ways to share"
    return {
        "summary": html("p", _say(settings)),
        "growth": pictures.figure("Bytes over the context", f"dashed: {dashed}", cache_pictures.growth(sizes)),
        "heads": pictures.figure("By key/value heads", bars, cache_pictures.heads(sizes)),
        "numbers": cache_pictures.table(sizes),
    }


def _say(settings: dict) -> str:
    """The sizes and the bytes in words; what the model at hand adds to them."""
    sizes = sizes_of(settings)
    shape, token = sizes.shape, sizes.shape.cache_bytes(1, 1, sizes.bytes_per_element)
    stored = f"{count(shape.n_kv_head, 'key/value head')} of {count(shape.head_dim, 'number')}"
    if shape.n_latent:
        stored = f"one latent of {shape.n_latent} numbers for all heads"
    layers, each = count(shape.n_layer, "layer"), count(sizes.bytes_per_element, "byte")
    said = (
        f"{layers} with {stored}, {each} a number: a token takes {token:,} bytes ({say_bytes(token)}). "
        f"{count(sizes.batch_size, 'text')} of {count(sizes.n_tokens, 'token')}: {say_bytes(sizes.n_bytes)}. "
    )
    if shape.n_windowed and sizes.n_tokens > shape.window:
        whole = say_bytes(sizes.of(replace(shape, n_windowed=0)))
        said += f"{shape.n_windowed} of {layers} keep only the last {shape.window:,} tokens; without that, {whole}. "
    name = next((name for name in MODELS if settings["model"] in (name, OWN) and _is(name, settings)), None)
    return said + (_say_model(name, sizes.n_tokens) if name else "Weights and activations come on top.")


def _is(name: str, settings: dict) -> bool:
    return all(settings[control] == value for control, value in _set_by(MODELS[name]).items())


def _say_model(name: str, n_tokens: int) -> str:
    shape = MODELS[name]
    said = f"This is the shape of {name}: {shape.kind} attention, {shape.n_head} query heads. "
    if shape.context and n_tokens > shape.context:
        said += f"It was made for at most {shape.context:,} tokens. "
    return said + "Weights and activations come on top."


def _still(settings: dict) -> Axes:
    sizes = sizes_of(settings)
    unit, unit_bytes = unit_of(sizes.n_bytes)
    points = cache_pictures.lines(sizes)
    lines = {name: [n_bytes / unit_bytes for _, n_bytes in line] for name, line in points.items()}
    places = [n_tokens for n_tokens, _ in next(iter(points.values()))]
    title = "A panel as it opens: run the cell in JupyterLab, and sliders move it"
    return plots.curve(places, lines, title, "context (tokens)", f"cache ({unit})")


def _caption(settings: dict) -> str:
    return f"Panel, {_say(settings)}"
