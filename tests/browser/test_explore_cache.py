"""The cache panel in JupyterLab in a real browser: what only the front end does."""

from pathlib import Path

import pytest

from browser.lab import CURRENT, Notebook, chromium, jupyterlab, write_notebook
from browser.test_panels import CONTRAST, shown

SHOTS = Path(__file__).resolve().parent.parent.parent / "build" / "screenshots"
LABELS = ("Model", "A number", "Layers", "Key/value heads", "Head dimension", "Context, tokens", "Batch, texts")


@pytest.fixture(scope="module")
def notebook(needs_browser, tmp_path_factory):
    files = tmp_path_factory.mktemp("cache")
    write_notebook(files / "cache.ipynb", "from course_utils import widgets\nwidgets.explore_cache()")
    SHOTS.mkdir(parents=True, exist_ok=True)
    with jupyterlab(files) as address, chromium() as context:
        opened = Notebook(context, address, "cache.ipynb")
        opened.run_all()
        yield opened
        assert opened.problems == []


def values(panel):
    return {label: panel.get_by_label(label, exact=True).input_value() for label in LABELS}


def test_a_model_sets_its_shape_and_a_moved_slider_leaves_the_model(notebook):
    panel = notebook.panel()
    assert "1 × 4,096 tokens: 512 MiB" in shown(panel)["summary"]
    panel.get_by_label("Context, tokens", exact=True).fill("10")
    panel.get_by_label("Model", exact=True).select_option("GPT-2 small")
    notebook.settle()
    assert list(values(panel).values()) == ["GPT-2 small", "2", "12", "12", "64", "10", "0"]
    assert "36,864 bytes (36 KiB) a token. 1 × 1,024 tokens: 36 MiB" in shown(panel)["summary"]
    panel.get_by_label("Batch, texts", exact=True).press("ArrowRight")  # belongs to no model
    panel.get_by_label("A number", exact=True).select_option("4")
    notebook.settle()
    assert values(panel)["Model"] == "GPT-2 small" and "144 MiB" in shown(panel)["summary"]
    panel.get_by_label("Key/value heads", exact=True).press("ArrowLeft")
    notebook.settle()
    assert values(panel)["Model"] == "your own" and values(panel)["Key/value heads"] == "11"
    assert "The shape of" not in shown(panel)["summary"]
    panel.get_by_label("Model", exact=True).select_option("Llama 3 8B")
    panel.get_by_label("A number", exact=True).select_option("2")
    panel.get_by_label("Context, tokens", exact=True).fill("12")
    panel.get_by_label("Batch, texts", exact=True).fill("3")
    notebook.settle()
    assert "8 × 4,096 tokens: 4 GiB" in shown(panel)["summary"]


def test_every_control_is_reached_by_keyboard_and_speaks_a_number(notebook):
    panel = notebook.panel()
    panel.get_by_label("Model", exact=True).focus()
    visited = []
    for _ in range(8):
        visited.append(notebook.page.evaluate("() => document.activeElement.closest('[data-control]')?.dataset.control"
                                              " ?? document.activeElement.tagName.toLowerCase()"))  # fmt: skip
        notebook.page.keyboard.press("Tab")
    assert visited == ["model", "dtype", "n_layer", "n_kv_head", "head_dim", "context", "batch", "summary"]
    context = panel.get_by_label("Context, tokens", exact=True)
    assert context.get_attribute("aria-valuetext") == "4,096"
    context.press("ArrowRight")
    notebook.settle()
    assert context.get_attribute("aria-valuetext") == "8,192" and "8 GiB" in shown(panel)["growth"]
    context.press("ArrowLeft")
    notebook.settle()
    assert notebook.page.evaluate(f"{CURRENT}.content.model.cells.length") == 1


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_it_is_readable_in_both_themes_and_whole_at_900_pixels(notebook, theme):
    notebook.theme(theme)
    panel = notebook.panel()
    assert panel.evaluate(CONTRAST) == []
    panel.screenshot(path=SHOTS / f"cache_{theme.lower()}.png")
    notebook.resize(900)
    wide = panel.evaluate("panel => [...panel.querySelectorAll('figure, p, label, select')]"
                          ".some(node => node.getBoundingClientRect().right > innerWidth)")  # fmt: skip
    notebook.page.screenshot(path=SHOTS / f"cache_900_pixels_{theme.lower()}.png")
    notebook.resize(1400)
    notebook.theme("Light")
    assert not wide
