"""The cache panel in JupyterLab in a real browser: what only the front end does."""

from pathlib import Path

import pytest

from browser.lab import CURRENT, Notebook, chromium, jupyterlab, write_notebook
from browser.test_panels import CONTRAST, shown

SHOTS = Path(__file__).resolve().parent.parent.parent / "build" / "screenshots"
LABELS = ("Model", "A number", "Layers", "Query heads", "Keys and values", "Head dimension", "Window",
          "Context, tokens", "Batch, texts")  # fmt: skip


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
    assert "1 text of 4,096 tokens: 512 MiB" in shown(panel)["summary"]
    panel.get_by_label("Context, tokens", exact=True).fill("10")
    panel.get_by_label("Model", exact=True).select_option("GPT-2 small")
    notebook.settle()
    assert list(values(panel).values()) == ["GPT-2 small", "2", "12", "12", "1", "64", "0/1 0", "10", "0"]
    assert "36,864 bytes (36 KiB). 1 text of 1,024 tokens: 36 MiB" in shown(panel)["summary"]
    panel.get_by_label("Batch, texts", exact=True).press("ArrowRight")  # belongs to no model
    panel.get_by_label("A number", exact=True).select_option("4")
    notebook.settle()
    assert values(panel)["Model"] == "GPT-2 small" and "144 MiB" in shown(panel)["summary"]
    panel.get_by_label("Keys and values", exact=True).select_option("4")
    notebook.settle()
    assert values(panel)["Model"] == "your own" and "with 3 key/value heads of 64" in shown(panel)["summary"]
    assert "This is the shape of" not in shown(panel)["summary"]
    panel.get_by_label("Model", exact=True).select_option("DeepSeek-V3")
    notebook.settle()
    assert values(panel)["Keys and values"] == "576" and "one latent of 576 numbers" in shown(panel)["summary"]
    panel.get_by_label("Model", exact=True).select_option("Mistral 7B v0.1")
    panel.get_by_label("Context, tokens", exact=True).fill("16")
    notebook.settle()
    assert values(panel)["Window"] == "1/1 4096" and "keep only the last 4,096 tokens" in shown(panel)["summary"]
    panel.get_by_label("Model", exact=True).select_option("Llama 3 8B")
    panel.get_by_label("A number", exact=True).select_option("2")
    panel.get_by_label("Context, tokens", exact=True).fill("12")
    panel.get_by_label("Batch, texts", exact=True).fill("3")
    notebook.settle()
    assert "8 texts of 4,096 tokens: 4 GiB" in shown(panel)["summary"]


def test_every_control_is_reached_by_keyboard_and_speaks_a_number(notebook):
    panel = notebook.panel()
    panel.get_by_label("Model", exact=True).focus()
    visited = []
    for _ in range(10):
        visited.append(notebook.page.evaluate("() => document.activeElement.closest('[data-control]')?.dataset.control"
                                              " ?? document.activeElement.tagName.toLowerCase()"))  # fmt: skip
        notebook.page.keyboard.press("Tab")
    assert visited == ["model", "dtype", "n_layer", "n_head", "shared", "head_dim", "window", "context", "batch",
                       "summary"]  # fmt: skip
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
