"""The pictures of the cache panel: bytes over the context, bytes for other ways to share, and how they add up."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from course_utils.plots.cache import say_bytes, unit_of
from course_utils.widgets import pictures
from course_utils.widgets.cache_shapes import Shape, Sizes, count, shared_out
from course_utils.widgets.pictures import BOTTOM, LEFT, RIGHT

_NICE = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


def top_of(value: float) -> float:
    """A round number that is at least `value`, for the upper end of an axis."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    return next(size * step for step in _NICE if size * step >= value)


def lines(sizes: Sizes) -> dict[str, list[tuple[int, int]]]:
    """The cache as it is set, and one to compare it with: name -> points (tokens, bytes), joined by straight lines."""
    shape, bend = sizes.shape, min(sizes.shape.window, sizes.n_tokens)
    places = sorted({0, bend, sizes.n_tokens})
    other = {"one key/value head": replace(shape, n_kv_head=1, n_latent=0)}
    if shape.n_windowed:
        other = {"all tokens in all layers": replace(shape, n_windowed=0)}
    set_now = "one latent" if shape.n_latent else count(shape.n_kv_head, "key/value head")
    shapes = {set_now: shape} | other
    return {name: [(n, sizes.of(some, n)) for n in places] for name, some in shapes.items()}


def growth(sizes: Sizes) -> str:
    """Bytes of the whole cache while the context grows to its length, beside those of `lines`' comparison."""
    (_, points), (other, others) = lines(sizes).items()
    n_tokens, end = points[-1]
    highest = max(end, others[-1][1])
    unit, unit_bytes = unit_of(highest)
    top = top_of(highest / unit_bytes)
    marks = [pictures.axis(top)]
    for line, kind in ((points, "cp-curve"), (others, "cp-line")):
        for (n0, y0), (n1, y1) in pairwise(line):
            x = [LEFT + (RIGHT - LEFT) * n / n_tokens for n in (n0, n1)]
            y = [pictures.y_of(n_bytes / unit_bytes, top) for n_bytes in (y0, y1)]
            marks.append(f'<line class="{kind}" x1="{x[0]:.1f}" x2="{x[1]:.1f}" y1="{y[0]:.1f}" y2="{y[1]:.1f}"/>')
    y_end = pictures.y_of(end / unit_bytes, top)
    below = 14 if y_end < 40 else -8
    x_end = RIGHT - 4 if below < 0 else RIGHT - 70
    marks.append(pictures.text(x_end, y_end + below, say_bytes(end), "cp-strong cp-end"))
    for share, style in ((0, "cp-start"), (0.5, ""), (1, "cp-end")):
        marks.append(pictures.text(LEFT + (RIGHT - LEFT) * share, BOTTOM + 14, f"{n_tokens * share:,.0f}", style))
    marks.append(pictures.text((LEFT + RIGHT) / 2, BOTTOM + 28, f"tokens of context · up: {unit}", ""))
    way = ""
    if sizes.shape.n_windowed and n_tokens > sizes.shape.window:
        then = "more slowly" if sizes.shape.n_windowed < sizes.shape.n_layer else "not at all"
        way = f"until {sizes.shape.window:,} tokens, then {then}, "
    said = (
        f"The cache grows in a straight line {way}to {say_bytes(end)} at {count(n_tokens, 'token')}; with {other}, to "
    )
    return pictures.svg(marks, f"{said}{say_bytes(others[-1][1])}.")


def heads_shown(n_head: int) -> list[int]:
    """The numbers of key/value heads that so many query heads can share evenly, in groups of 1, 2, 4, 8, 16 or all."""
    return sorted({shared_out(n_head, group) for group in (1, 2, 4, 8, 16, n_head)})


def heads(sizes: Sizes) -> str:
    """The same cache with its query heads shared out otherwise, as bars; the one that is set is filled darker."""
    shape = sizes.shape
    shapes: dict[str, Shape] = {"latent": shape} if shape.n_latent else {}
    shapes |= {str(n): replace(shape, n_kv_head=n, n_latent=0) for n in heads_shown(shape.n_head)}
    here = "latent" if shape.n_latent else str(shape.n_kv_head)
    bytes_of = {name: sizes.of(some) for name, some in shapes.items()}
    unit, unit_bytes = unit_of(max(bytes_of.values()))
    top = top_of(max(bytes_of.values()) / unit_bytes)
    column = min((RIGHT - LEFT) / len(shapes), 90)
    marks = [pictures.axis(top)]
    for index, (name, n_bytes) in enumerate(bytes_of.items()):
        x, y = LEFT + column * (index + 0.5), pictures.y_of(n_bytes / unit_bytes, top)
        marks.append(pictures.bar(x, column * 0.7, BOTTOM, y, "cp-kept" if name == here else "cp-before"))
        marks.append(pictures.text(x, y - 3, say_bytes(n_bytes), "cp-small"))
        marks.append(pictures.token_label(x, name, name == here, False))
    x, style = (LEFT, "cp-start") if list(shapes).index(here) * 2 >= len(shapes) else (RIGHT, "cp-end")  # beside the ▲
    marks.append(pictures.text(x, BOTTOM + 28, f"key/value heads · up: {unit}", style))
    shown = ", ".join(f"{name}: {say_bytes(n_bytes)}" for name, n_bytes in bytes_of.items())
    return pictures.svg(marks, f"Bars of the cache by key/value heads, in {unit}. {shown}.")


def table(sizes: Sizes) -> str:
    """How the bytes add up, from one key to the batch."""
    shape, width, n_tokens = sizes.shape, sizes.bytes_per_element, sizes.n_tokens
    key, K = shape.head_dim * width, shape.n_kv_head
    steps: list[tuple[str, str, int]] = [
        ("a key of one head", f"{shape.head_dim} numbers × {width}", key),
        ("key and value of one head", "× 2", 2 * key),
        ("a layer, one token", f"× {count(K, 'key/value head')}", 2 * key * K),
    ]
    if shape.n_latent:
        steps = [("a layer, one token", f"{shape.n_latent} numbers × {width}", shape.n_latent * width)]
    steps.append(("all layers, one token", f"× {count(shape.n_layer, 'layer')}", shape.cache_bytes(1, 1, width)))
    how = f"× {count(n_tokens, 'token')}"
    if shape.n_windowed and n_tokens > shape.window:
        rest = shape.n_layer - shape.n_windowed
        how = f"{rest} layers × {n_tokens:,} tokens, {shape.n_windowed} × {shape.window:,}"
    steps.append(("one text", how, shape.cache_bytes(n_tokens, 1, width)))
    steps.append(("the batch", f"× {count(sizes.batch_size, 'text')}", sizes.n_bytes))
    return _table(steps)


def _table(steps: Sequence[tuple[str, str, int]]) -> str:
    rows = []
    for name, how, total in steps:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in (how, f"{total:,}", say_bytes(total)))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in ("what", "how", "bytes", "that is"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
