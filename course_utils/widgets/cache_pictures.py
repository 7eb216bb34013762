"""The pictures of the cache panel: bytes over the context, bytes for other numbers of heads, and how they add up."""

from collections.abc import Sequence
from html import escape

from course_utils.kv_cache import kv_cache_bytes
from course_utils.plots.cache import say_bytes, unit_of
from course_utils.widgets import pictures
from course_utils.widgets.pictures import BOTTOM, LEFT, RIGHT

_NICE = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


def top_of(value: float) -> float:
    """A round number that is at least `value`, for the upper end of an axis."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    return next(size * step for step in _NICE if size * step >= value)


def growth(sizes: dict) -> str:
    """Bytes of the whole cache while the context grows to its length: a straight line, and that of a single head."""
    end = kv_cache_bytes(**sizes)
    unit, unit_bytes = unit_of(end)
    top, n_tokens = top_of(end / unit_bytes), sizes["n_tokens"]
    marks = [pictures.axis(top)]
    for heads, kind in ((sizes["n_kv_head"], "cp-curve"), (1, "cp-line")):
        y = pictures.y_of(kv_cache_bytes(**{**sizes, "n_kv_head": heads}) / unit_bytes, top)
        marks.append(f'<line class="{kind}" x1="{LEFT}" x2="{RIGHT}" y1="{BOTTOM}" y2="{y:.1f}"/>')
    y = pictures.y_of(end / unit_bytes, top)
    below = 14 if y < 40 else -8
    marks.append(pictures.text(RIGHT - 4 if below < 0 else RIGHT - 70, y + below, say_bytes(end), "cp-strong cp-end"))
    for share, style in ((0, "cp-start"), (0.5, ""), (1, "cp-end")):
        marks.append(pictures.text(LEFT + (RIGHT - LEFT) * share, BOTTOM + 14, f"{n_tokens * share:,.0f}", style))
    marks.append(pictures.text((LEFT + RIGHT) / 2, BOTTOM + 28, f"tokens of context · up: {unit}", ""))
    single = say_bytes(kv_cache_bytes(**{**sizes, "n_kv_head": 1}))
    said = f"The cache grows in a straight line to {say_bytes(end)} at {n_tokens:,} tokens; with one head to {single}."
    return pictures.svg(marks, said)


def heads_shown(n_kv_head: int) -> list[int]:
    """Powers of two up to 64, and the number itself."""
    return sorted({1, 2, 4, 8, 16, 32, 64, n_kv_head})


def heads(sizes: dict) -> str:
    """The same cache with other numbers of key/value heads, as bars; the one that is set is filled darker."""
    counts = heads_shown(sizes["n_kv_head"])
    bytes_of = {count: kv_cache_bytes(**{**sizes, "n_kv_head": count}) for count in counts}
    unit, unit_bytes = unit_of(max(bytes_of.values()))
    top = top_of(max(bytes_of.values()) / unit_bytes)
    column = (RIGHT - LEFT) / len(counts)
    marks = [pictures.axis(top)]
    for index, (count, n_bytes) in enumerate(bytes_of.items()):
        x, y = LEFT + column * (index + 0.5), pictures.y_of(n_bytes / unit_bytes, top)
        here = count == sizes["n_kv_head"]
        marks.append(pictures.bar(x, column * 0.7, BOTTOM, y, "cp-kept" if here else "cp-before"))
        marks.append(pictures.text(x, y - 3, f"{n_bytes / unit_bytes:.3g}", "cp-small"))
        marks.append(pictures.token_label(x, str(count), here, False))
    shown = ", ".join(f"{count}: {say_bytes(n_bytes)}" for count, n_bytes in bytes_of.items())
    return pictures.svg(marks, f"Bars of the cache by key/value heads, in {unit}. {shown}.")


def table(sizes: dict) -> str:
    """How the bytes add up, from one key to the batch."""
    n_layer, K, D, width = (sizes[name] for name in ("n_layer", "n_kv_head", "head_dim", "bytes_per_element"))
    n_tokens, batch_size = sizes["n_tokens"], sizes["batch_size"]
    steps: Sequence[tuple[str, str]] = (
        ("a key of one head", f"{D} numbers × {width}"),
        ("key and value of one head", "× 2"),
        ("a layer, one token", f"× {K} key/value heads"),
        ("all layers, one token", f"× {n_layer} layers"),
        ("one text", f"× {n_tokens:,} tokens"),
        ("the batch", f"× {batch_size} texts"),
    )
    total, rows = 1, []
    for (name, how), factor in zip(steps, (D * width, 2, K, n_layer, n_tokens, batch_size), strict=True):
        total *= factor
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in (how, f"{total:,}", say_bytes(total)))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in ("what", "how", "bytes", "that is"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
