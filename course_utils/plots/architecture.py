"""Diagrams of the transformer: one layer, what prefill and decode compute, and where a head looks.

Each function draws one figure and returns what it shows, in words.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.patches import FancyBboxPatch, Rectangle
from numpy.typing import ArrayLike

from course_utils.plots.basics import BLUE, GREEN, GREY, INK, ORANGE, VERMILION, new_axes
from course_utils.plots.signs import as_drawn
from course_utils.transformer import TransformerConfig


def llama_layer(config: TransformerConfig) -> str:
    """One layer of a Llama from top to bottom, with the shapes for one text of T tokens.

    config: has n_embd, n_head, n_kv_head, head_dim and n_inner, as a TransformerConfig.
    """
    c, h, k, d, inner = config.n_embd, config.n_head, config.n_kv_head, config.head_dim, config.n_inner
    rows = (
        ("RMSNorm", f"(T, {c})", GREY),
        (f"queries: {h} heads × {d}; keys and values: {k} × {d}", f"(T, {h * d}), (T, {k * d}) twice", BLUE),
        ("RoPE turns queries and keys by their positions", "the same shapes", BLUE),
        (f"attention: {h // k} query heads share one key/value head" if h > k else "attention",
         f"weights ({h}, T, T)", BLUE),
        ("output matrix, added to the stream", f"(T, {c})", GREEN),
        ("RMSNorm", f"(T, {c})", GREY),
        ("SwiGLU: silu(gate) × up", f"(T, {inner})", ORANGE),
        ("down matrix, added to the stream", f"(T, {c})", GREEN),
    )  # fmt: skip
    ax = new_axes(8, 5.2)
    for row, (name, shape, colour) in enumerate(rows):
        box = FancyBboxPatch((1, row - 0.3), 6, 0.6, boxstyle="round,pad=0.04", facecolor=colour, edgecolor="none")
        ax.add_patch(box)
        ax.text(4, row, name, ha="center", va="center", fontsize=9, color="white" if colour == BLUE else "black")
        ax.text(7.3, row, shape, va="center", fontsize=9)
        ax.annotate("", (4, row - 0.34), (4, row - 0.68), arrowprops={"arrowstyle": "->", "color": INK})
    for start, end in ((-0.8, 4), (4.42, 7)):  # the residual stream passes each half by
        ax.plot([4, 0.4, 0.4, 0.9], [start, start, end, end], color=INK, linewidth=1.2)
        ax.plot(0.9, end, ">", color=INK, markersize=6)
        ax.text(0.15, (start + end) / 2, "residual stream", rotation=90, ha="center", va="center", fontsize=9)
    ax.annotate("", (4, 8), (4, 7.34), arrowprops={"arrowstyle": "->", "color": INK})
    ax.set(title=f"One Llama layer: (T, {c}) in, (T, {c}) out", xlim=(-0.2, 10), ylim=(8.1, -1.1))
    ax.set_axis_off()
    matrices = c * h * d + 2 * c * k * d + h * d * c + 3 * c * inner
    return (
        f"A layer takes T vectors of {c} numbers and returns T vectors of the same size. Its first half consists of "
        f"RMSNorm, {h} query heads and {k} key/value heads of {d} dimensions, RoPE, attention and the output matrix. "
        f"The result is added to the vectors that came in. Its second half consists of RMSNorm, SwiGLU with {inner} "
        f"inner dimensions and a matrix back to {c}. Its result is added, too. The matrices hold {matrices:,} numbers."
    )


def prefill_and_decode(tokens: Sequence[str], n_prompt: int) -> str:
    """Which scores of attention each call computes: the prompt's triangle at once, then one row for each new token.

    tokens: labels of all tokens that are fed; about 12. n_prompt: how many the first call feeds; at least 1.
    """
    n = len(tokens)
    if not 1 <= n_prompt <= n:
        raise ValueError(f"n_prompt is {n_prompt} and there are {n} tokens; expected 1 <= n_prompt <= {n}.")
    ax = new_axes(6.5, 1.4 + 0.34 * n)
    for query in range(n):
        new = query >= n_prompt
        for key in range(query + 1):
            colour, hatch = (ORANGE, "//") if new else (BLUE, None)
            ax.add_patch(Rectangle((key - 0.45, query - 0.42), 0.9, 0.84, linewidth=0, edgecolor="white",
                                   facecolor=colour, hatch=hatch))  # fmt: skip
        call = f"decode, call {query - n_prompt + 2}" if new else "prefill, call 1" if query == 0 else ""
        ax.text(n - 0.3, query, call, va="center", fontsize=9)
    ax.axhline(n_prompt - 0.5, color=VERMILION, linestyle="--", linewidth=1)
    ax.set(title="What each call computes: one row of scores for each token fed", xlim=(-0.7, n + 2.2),
           ylim=(n - 0.4, -0.6), xticks=range(n), yticks=range(n), xlabel="key (kept in the cache)",
           ylabel="query (fed by the call)")  # fmt: skip
    ax.set_xticklabels([as_drawn(token) for token in tokens], fontsize=9)
    ax.set_yticklabels([as_drawn(token) for token in tokens], fontsize=9)
    ax.spines[:].set_visible(False)
    steps = range(n_prompt + 1, n + 1)
    triangle = n_prompt * (n_prompt + 1) // 2
    said = f"Prefill feeds {n_prompt} tokens in one call and computes {triangle} scores in each head."
    if steps:
        whole = [step * (step + 1) // 2 for step in steps]
        said += (
            f" Each decode step feeds one token and computes one row: {', '.join(map(str, steps))} scores. Without a "
            f"cache the same calls would compute the whole triangle again: {', '.join(map(str, whole))}."
        )
    return said


def attention_map(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    query_is: str = "the token that looks",
    key_is: str = "the token looked at",
) -> str:
    """One head's attention weights as a heat map: a row for each query, a column for each key.

    weights: (n_queries, n_keys), each row adds up to 1; a part of the rows may be given. queries, keys: their labels.
    query_is, key_is: what a row and a column stand for, as words on the axes.
    Each row's largest weight is marked. The words name it for the last row.
    """
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights has the shape {values.shape}; expected ({len(queries)}, {len(keys)}), one row for each query and "
            f"one column for each key."
        )
    ax = new_axes(min(2.2 + 0.24 * len(keys), 14), min(1.6 + 0.24 * len(queries), 9))
    image = ax.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    best = values.argmax(axis=1)
    ax.plot(best, range(len(queries)), "o", markerfacecolor=VERMILION, markeredgecolor="white", markersize=6)
    ax.set(title=as_drawn(title), xlabel=f"key: {key_is}", ylabel=f"query: {query_is}",
           xticks=range(len(keys)), yticks=range(len(queries)))  # fmt: skip
    upright = 90 if max(map(len, keys)) > 2 else 0  # words side by side would run into each other
    ax.set_xticklabels([as_drawn(key) for key in keys], fontsize=8, rotation=upright)
    ax.set_yticklabels([as_drawn(query) for query in queries], fontsize=8)
    ax.figure.colorbar(image, label="attention weight")
    return (
        f"Each row adds up to 1. The last query, {queries[-1]} (row {len(queries) - 1}), looks most at "
        f"{keys[best[-1]]} (column {best[-1]}), with a weight of {values[-1, best[-1]]:.3f}."
    )
