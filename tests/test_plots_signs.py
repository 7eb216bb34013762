"""Texts of learners in still pictures: no markup, no boxes, no warning."""

import io
import math
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest
import torch
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.font_manager import fontManager

from course_utils import plots
from course_utils.compare_logits import compare_logits
from course_utils.plots import signs
from course_utils.plots.signs import as_drawn
from course_utils.sampling import SamplingParams

pytestmark = pytest.mark.filterwarnings("error")
HARD = (
    "$",
    "$$",
    r"Let $\alpha$",
    "$#1 $",
    r"\$",
    "猫",
    "狗 cost $5",
    "_hidden",
    "\x07",
    "🤦‍♂️",
    "e\u0301",
    "ab\u200bc",
)
VALUES = [0.5] * len(HARD)
REPORT = compare_logits(torch.zeros(1, 2, 3), torch.zeros(1, 2, 3))
BINS = [SimpleNamespace(said=0.5, came_true=0.4, low=0.2, high=0.6)]
CUBE = torch.zeros(1, 2, len(HARD))


def said(words):
    """The picture of a diagram, which gives back words."""
    assert isinstance(words, str)
    return plt.gcf().axes[0]


PICTURES = {
    "calibration_curve": lambda t: plots.calibration_curve({name: BINS for name in HARD}, t, t, t),
    "u_on_a_ruler": lambda t: said(plots.u_on_a_ruler([t, "猫"], [0.5, 0.5], 0.1)),
    "choice_steps": lambda t: said(plots.choice_steps([t, "猫"], [2.0, 1.0], SamplingParams(top_p=0.9), 0.1)),
    "the_loop": lambda t: said(plots.the_loop(HARD, [t], t)),
    "logits_cube": lambda t: said(plots.logits_cube(CUBE, [[t, "猫"]], HARD)),
    "prefill_and_decode": lambda t: said(plots.prefill_and_decode([t, *HARD], 2)),
    "timeline": lambda t: plots.timeline({name: "WPD" for name in HARD}, t),
    "attention_map": lambda t: said(plots.attention_map([VALUES], [t], HARD, t)),
    "probability_bars": lambda t: plots.probability_bars(HARD, {t: VALUES, "猫": VALUES}, t),
    "bigram_table": lambda t: plots.bigram_table(torch.eye(len(HARD)), HARD, t),
    "curve": lambda t: plots.curve([0, 1], {name: [2.0, 1.0] for name in HARD}, t, t, t, levels={t: 0.5}),
    "dots_by_setting": lambda t: plots.dots_by_setting({name: [1, 2] for name in HARD}, t, t, t),
    "dots_with_intervals": lambda t: plots.dots_with_intervals(HARD, VALUES, [(0, 1)] * len(HARD), t, t, t),
    "side_by_side": lambda t: plots.side_by_side([1, 2], {t: {name: [0, 1] for name in HARD}}, t, t)[0],
    "divergence": lambda t: plots.divergence(REPORT, t),
    "divergence_grid": lambda t: plots.divergence_grid({"$$": REPORT, "猫": REPORT}, t).axes[0],
    "cache_filling": lambda t: plots.cache_filling(HARD, [4, 1], 8, t),
    "held_back": lambda t: plots.held_back(HARD, [1] * len(HARD), [1] * len(HARD), t),
    "training_curve": lambda t: plots.training_curve([2.0, 1.0], {t: 1.0}, t),
}


@pytest.fixture(autouse=True)
def own_settings():
    with plt.rc_context():
        yield
    plt.close("all")


def drawn(figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=50)
    return file.getvalue()


@pytest.mark.parametrize("text", [r"$\alpha$", "_猫 $#1 $ 🤦‍♂️"])
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_draws_every_text(name, text):
    assert drawn(PICTURES[name](text).figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", sorted(set(dir(plots)) & set(plots.__all__)))
def test_no_picture_is_left_out_of_this_file(name):
    made = getattr(plots, name)
    no_pictures = ("LiveLoss", "legend_beside", "llama_layer", "new_axes", "say_bytes", "smoothed")
    assert isinstance(made, (str, tuple)) or name in (*PICTURES, *no_pictures)


def test_dollar_signs_are_drawn_as_they_are():
    def picture(title, **options):
        ax = plots.new_axes()
        ax.set_title(title, **options)
        return drawn(ax.figure)

    for text in ("$", "$5 or $6", r"Let $\alpha$ be", r"\$1", r"a\\$b$"):
        assert picture(as_drawn(text)) == picture(text, parse_math=False)
        assert picture(as_drawn(text)) != picture(text.replace("$", ""), parse_math=False)


@given(st.text(st.sampled_from("$\\_^{}ab猫 "), max_size=12))
@settings(max_examples=50)
def test_no_text_is_a_formula(text):
    with plt.rc_context():
        ax = plots.new_axes()
        signs.write(ax, title=text, xlabel=text)
        ax.title._get_layout(ax.figure._get_renderer())  # reads formulas, without drawing the rest
    plt.close(ax.figure)


def test_signs_without_a_font_are_told_apart_by_their_code_points():
    assert as_drawn("猫") == "U+732B" and as_drawn("猫狗 a犬") == "U+732B U+72D7 aU+72AC"
    assert as_drawn("naïve ␣⏎⇥ — “q” жук") == "naïve ␣⏎⇥ — “q” жук"
    assert len({as_drawn(text) for text in HARD}) == len(HARD)


def test_a_long_text_is_cut_between_signs():
    assert as_drawn("猫" * 3, most=13) == "U+732B U+732B…" and as_drawn("a" * 500) == "a" * 400 + "…"
    drawn(plots.held_back(["你好", "🙂" * 400], [1, 2], [0, 1], "a").figure)


def test_a_name_with_an_underscore_stands_in_the_legend():
    ax = plots.curve([0, 1], {"_mine": [1, 2], "theirs": [2, 1]}, "title", "x", "y")
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["_mine", "theirs"]


def test_long_labels_stand_upright_and_short_ones_do_not():
    for labels, turned in ((["a", "b"], 0), (["<result>"] * 14, 90), (["猫"] * 14, 90)):
        ax = plots.probability_bars(labels, {"p": [1 / len(labels)] * len(labels)}, "title")
        assert {label.get_rotation() for label in ax.get_xticklabels()} == {turned}


def test_a_font_of_the_machine_that_has_the_signs_is_taken(tmp_path, monkeypatch):
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 900), (900, 900), (900, 0)):
        pen.lineTo(corner)
    pen.closePath()
    font = FontBuilder(1000)
    font.setupGlyphOrder([".notdef", "cat"])
    font.setupCharacterMap({ord("猫"): "cat"})
    font.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "cat": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (1000, 0), "cat": (1000, 0)})
    font.setupHorizontalHeader(ascent=900, descent=-100)
    font.setupNameTable({"familyName": "One Cat", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "cat.ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(tmp_path / "cat.ttf")
    monkeypatch.setattr(signs, "WIDE_FONTS", ("One Cat",))
    ax = plots.probability_bars(["猫", "狗"], {"p": [0.5, 0.5]}, "猫")
    assert ax.get_title() == "猫" and [label.get_text() for label in ax.get_xticklabels()] == ["猫", "U+72D7"]
    drawn(ax.figure)
    plots.new_axes()
    assert plt.rcParams["font.family"].count("One Cat") == 1


def test_shares_of_a_picture_are_not_changed_by_its_texts():
    ax = plots.probability_bars(["$", "猫"], {"$p$": [0.25, 0.75]}, "$")
    assert math.fsum(bar.get_height() for bar in ax.patches) == 1
