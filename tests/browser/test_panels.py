"""The panels of notebooks 01 to 03, and some in a notebook for tests, in JupyterLab in a real browser.

Screenshots go to build/screenshots/. Numbers that are shown are compared with the package's own.
"""

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch

from browser.lab import CURRENT, Notebook, chromium, jupyterlab, write_notebook
from course_utils import bigram, sampling, text, widgets
from course_utils.sampling import SamplingParams

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "build" / "screenshots"
SETUP = """from course_utils import bigram, text, widgets
from course_utils.sampling import SamplingParams
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))"""
SCRATCH = ('widgets.explore_sampling(model, vocab, "The ", SamplingParams(top_p=0.8, seed=1))',
           'widgets.explore_logits([2.0, 1.0], ["first", "second"])')  # fmt: skip
NUMERIC = ("temperature", "top_k", "top_p", "min_p", "seed", "step", "u")
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
three = torch.tensor([0.6, 0.25, 0.15]).log()


def sampling_panel(n, settings=sampling.STEPS, **options):
    return lambda: widgets.explore_sampling(model, vocab, "The ", SamplingParams(**options), n, settings)


# As in the notebooks' cells, in their order.
IN_NOTEBOOKS = {
    "01_one_forward_pass": [sampling_panel(40, [], seed=13)],
    "02_temperature": [
        lambda: widgets.explore_logits([2.0, 1.0], ["first", "second"], settings=["temperature"]),
        sampling_panel(70, ["temperature"], seed=3),
    ],
    "03_top_k_top_p": [
        lambda: widgets.explore_logits(three, ["first", "second", "third"], SamplingParams(top_p=0.8)),
        sampling_panel(60, top_p=0.9, seed=5),
        lambda: widgets.explore_logits([2.5, 1.5, 0.0], ["0", "1", "2"], SamplingParams(0.5, top_p=0.8)),
    ],
}


@pytest.fixture(scope="module")
def lab(needs_browser, tmp_path_factory):
    """The address of a JupyterLab that serves copies of the notebooks, and a browser."""
    files = tmp_path_factory.mktemp("notebooks")
    for name in IN_NOTEBOOKS:
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", files)
    write_notebook(files / "scratch.ipynb", SETUP, *SCRATCH)
    write_notebook(files / "morning.ipynb", SETUP, *SCRATCH[::-1])
    SHOTS.mkdir(parents=True, exist_ok=True)
    with jupyterlab(files) as address, chromium() as context:
        yield lambda name: Notebook(context, address, name)


@pytest.fixture(scope="module")
def scratch(lab):
    notebook = lab("scratch.ipynb")
    notebook.run_all()
    yield notebook
    notebook.page.close()


def shown(panel):
    """What can be read in a panel: the text of its slots, and what its pictures say."""
    slots = panel.locator("[data-slot]").evaluate_all("nodes => nodes.map(n => [n.dataset.slot, n.innerHTML])")
    return {name: said(html) for name, html in slots}


def said(html):
    tree = ET.fromstring(f"<div>{html}</div>")
    return " ".join([*(node.get("aria-label", "") for node in tree.iter("svg")), "".join(tree.itertext())])


def set_to(panel):
    """The values of a panel's controls, as the front end sends them."""
    values = {}
    for row in panel.locator("[data-control]").all():
        name, value = row.get_attribute("data-control"), row.locator("input, select, textarea").input_value()
        values[name] = float(value) if name in NUMERIC else value
    return values


def expected(make, settings):
    """What the same panel, made here, shows at rest under these settings."""
    panel = make()
    answer = panel.handle({"kind": "look", "settings": settings})
    slots = dict(answer["slots"])
    while answer["more"]:
        answer = panel.handle({"kind": "more", "settings": settings})
        slots.update(answer["slots"])
    panel.close()
    return {name: said(html) for name, html in slots.items()}


def drag(notebook, control, to, moves=30):
    """Drag a slider's handle to a share of its width, with the mouse."""
    box = control.bounding_box()
    y = box["y"] + box["height"] / 2
    notebook.page.mouse.move(box["x"] + box["width"] / 2, y)
    notebook.page.mouse.down()
    for i in range(1, moves + 1):
        notebook.page.mouse.move(box["x"] + box["width"] * (0.5 + (to - 0.5) * i / moves), y)
    notebook.page.mouse.up()


# What each notebook's panels can move, beside the row's own u.
CONTROLS = {
    "01_one_forward_pass": [["prompt", "seed", "step"]],
    "02_temperature": [["temperature", "u"], ["prompt", "temperature", "seed", "step"]],
    "03_top_k_top_p": [
        [*sampling.STEPS, "order", "u", "sort"],
        ["prompt", *sampling.STEPS, "order", "seed", "step", "sort"],
        [*sampling.STEPS, "order", "u", "sort"],
    ],
}


@pytest.mark.parametrize("name", IN_NOTEBOOKS)
def test_the_panels_of_a_notebook_show_the_packages_numbers(lab, name):
    notebook = lab(f"{name}.ipynb")
    notebook.run_all()
    assert notebook.panels().count() == len(IN_NOTEBOOKS[name])
    for index, make in enumerate(IN_NOTEBOOKS[name]):
        panel = notebook.panel(index)
        opened = set_to(panel)
        assert [*opened] == CONTROLS[name][index]
        assert shown(panel) == expected(make, opened)
        moved = {}
        for label, control, key, by in (
            ("Temperature", "temperature", "ArrowRight", 0.01),
            ("Seed", "seed", "ArrowUp", 1),
        ):
            if control in opened:
                panel.get_by_label(label, exact=True).press(key)
                moved[control] = round(opened[control] + by, 2)
        notebook.settle(index)
        pressed = set_to(panel)
        assert moved and pressed == {**opened, **moved}
        assert shown(panel) == expected(make, pressed)
        for label, control, to in (("Top-p", "top_p", 0.6), ("Step of the text", "step", 0.4)):
            if control in opened:
                panel.get_by_label(label, exact=True).scroll_into_view_if_needed()
                drag(notebook, panel.get_by_label(label, exact=True), to)
        notebook.settle(index)
        dragged = set_to(panel)
        assert dragged.get("top_p") != pressed.get("top_p", 0) and 0.55 < dragged.get("top_p", 0.6) < 0.65
        assert shown(panel) == expected(make, dragged)
        panel.screenshot(path=SHOTS / f"{name}_{index}_light.png")
        notebook.theme("Dark")
        notebook.panel(index).screenshot(path=SHOTS / f"{name}_{index}_dark.png")
        notebook.theme("Light")
    assert notebook.problems == []
    notebook.page.close()


def test_the_lessons_figure_is_found_by_moving(scratch):
    panel = scratch.panel(1)
    panel.get_by_label("Temperature", exact=True).fill("1.18")
    scratch.settle(1)
    second = sampling.next_token_probs(torch.tensor([2.0, 1.0]), SamplingParams(1.18))[1].item()
    assert f"{second:.3f}" == "0.300" and "second 0.300" in shown(panel)["bars"]
    panel.get_by_label("Temperature", exact=True).fill("1")
    scratch.settle(1)


def test_after_a_fast_drag_the_newest_state_is_shown(scratch):
    panel = scratch.panel(0)
    scratch.page.evaluate("""() => {
        window.redraws = 0;
        const bars = document.querySelector('.course-panel [data-slot=bars]');
        window.watching = new MutationObserver(() => { window.redraws += 1; });
        window.watching.observe(bars, {childList: true});
        const slider = document.querySelector('.course-panel [data-control=temperature] input');
        for (let i = 1; i <= 200; i++) { slider.value = i / 100; slider.dispatchEvent(new Event('input')); }
    }""")
    scratch.settle(0)
    assert set_to(panel)["temperature"] == 2 and scratch.page.evaluate("window.redraws") == 2
    assert shown(panel) == expected(sampling_panel(60, top_p=0.8, seed=1), set_to(panel))
    panel.get_by_label("Temperature", exact=True).fill("1")
    scratch.settle(0)


def test_everything_is_reached_and_moved_by_keyboard(scratch):
    panel = scratch.panel(0)
    cells = scratch.page.evaluate(f"{CURRENT}.content.model.cells.length")
    panel.get_by_label("Prompt", exact=True).focus()
    visited = []
    for _ in range(11):
        visited.append(
            scratch.page.evaluate("""() => {
            const a = document.activeElement;
            return a.closest('[data-control]')?.dataset.control ?? a.dataset.slot ?? a.tagName.toLowerCase();
        }""")
        )
        scratch.page.keyboard.press("Tab")
    controls = ["prompt", "temperature", "top_k", "top_p", "min_p", "order", "seed", "step", "sort"]
    assert visited == [*controls, "text", "summary"]

    before = set_to(panel)
    for label, keys in {"Temperature": ["ArrowUp", "PageUp"], "Top-k": ["ArrowRight"], "Top-p": ["Home", "ArrowRight"],
                        "Min-p": ["ArrowUp"], "Order": ["ArrowDown"], "Seed": ["ArrowUp"],
                        "Step of the text": ["End"], "Candidates": ["ArrowDown"]}.items():  # fmt: skip
        panel.get_by_label(label, exact=True).focus()
        for key in keys:
            scratch.page.keyboard.press(key)
    panel.get_by_label("Prompt", exact=True).focus()
    scratch.page.keyboard.press("End")
    scratch.page.keyboard.type("dd a b z")  # in JupyterLab these letters delete, add and move cells
    scratch.settle(0)
    after = set_to(panel)
    assert [name for name in controls if before[name] == after[name]] == []
    assert after["prompt"] == "The dd a b z" and after["step"] == 59 and after["seed"] == 2
    assert shown(panel) == expected(sampling_panel(60, top_p=0.8, seed=1), after)
    assert scratch.page.evaluate(f"{CURRENT}.content.model.cells.length") == cells
    summary = panel.locator("summary")
    summary.focus()
    scratch.page.keyboard.press("Enter")
    assert panel.locator("table").is_visible()
    assert panel.locator("tbody tr").count() == 14
    summary.press("Enter")
    scratch.run_cell(1)


def test_a_screen_reader_finds_a_name_and_a_value_for_every_control(scratch):
    panel = scratch.panel(0)
    panel.get_by_label("Temperature", exact=True).fill("0")
    scratch.settle(0)
    devtools = scratch.page.context.new_cdp_session(scratch.page)
    nodes = devtools.send("Accessibility.getFullAXTree")["nodes"]
    children = {node["nodeId"]: node.get("childIds", []) for node in nodes}
    by_id = {node["nodeId"]: node for node in nodes}
    region = next(n for n in nodes if n.get("name", {}).get("value") == "From scores to a text")
    assert region["role"]["value"] == "region"
    found, todo = {}, [region["nodeId"]]
    while todo:
        node = by_id[todo.pop()]
        todo += children[node["nodeId"]]
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        value = node.get("value", {}).get("value")
        if properties.get("focusable") and node["role"]["value"] != "DisclosureTriangle":
            found.setdefault(node["role"]["value"], {})[node["name"]["value"]] = value
    assert {name: round(value, 6) for name, value in found["slider"].items()} == {
        "Temperature": 0,
        "Top-k": 0,
        "Top-p": 0.8,
        "Min-p": 0,
        "Step of the text": 0,
    }
    # The protocol leaves out what is spoken in place of the number, so that is read where it was said.
    spoken = {label: panel.get_by_label(label, exact=True).get_attribute("aria-valuetext") for label in found["slider"]}
    assert spoken == {
        "Temperature": "0: greedy",
        "Top-k": "off",
        "Top-p": "0.8",
        "Min-p": "off",
        "Step of the text": "0",
    }
    assert found["spinbutton"] == {"Seed": 1} and found["textbox"]["Prompt"].strip() == "The"
    assert set(found["combobox"]) == {"Order", "Candidates"} and all(found["combobox"].values())
    pictures = [n["name"]["value"] for n in nodes if n.get("role", {}).get("value") in ("image", "img")]
    assert sum("Bars of 14 of" in p or p.startswith(("Cumulative mass.", "CDF by id.", "From ")) for p in pictures) >= 4

    scratch.page.wait_for_function("() => document.querySelector('.course-panel [role=status]').textContent")
    spoken = panel.get_by_role("status").text_content()
    assert "Greedy takes" in spoken and "60 tokens, ended by: length." in spoken  # told once the panel is at rest
    panel.get_by_label("Temperature", exact=True).fill("1")
    scratch.settle(0)


CONTRAST = """panel => {
    const canvas = document.createElement("canvas").getContext("2d");
    const rgb = (color, under) => {
        for (const layer of [under, color]) {
            canvas.fillStyle = layer;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = (color, under) => rgb(color, under).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = node => {
        for (; node; node = node.parentElement) {
            const color = getComputedStyle(node).backgroundColor;
            if (!["rgba(0, 0, 0, 0)", "transparent"].includes(color)) return color;
        }
        return "white";
    };
    const contrast = (a, b) => {
        const [x, y] = [light(a, b), light(b, b)].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
    };
    const worst = (selector, property, least) => [...panel.querySelectorAll(selector)]
        .map(node => [node.outerHTML.slice(0, 120), contrast(getComputedStyle(node)[property], behind(node)), least])
        .filter(([, c]) => c < least)[0];
    return [
        worst("p, label, output, summary, textarea, select, [type=number], figcaption, span", "color", 4.5),
        worst("mark", "color", 4.5),
        worst("svg text:not(.cp-sign):not(.cp-cross)", "fill", 4.5),
        worst(".cp-sign, .cp-cross", "fill", 3),
        worst("rect.cp-kept:not(.cp-faint)", "fill", 3),
        worst("rect.cp-before, .cp-line, .cp-curve, .cp-marked", "stroke", 3),
    ].filter(Boolean);
}"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_text_and_marks_stand_out_in_both_themes(scratch, theme):
    scratch.theme(theme)
    panel = scratch.panel(0)
    panel.get_by_label("Top-k", exact=True).fill("5")  # so that something is dropped
    scratch.settle(0)
    assert "cp-cross" in panel.locator("[data-slot=bars]").inner_html()
    assert panel.evaluate(CONTRAST) == []
    panel.screenshot(path=SHOTS / f"dropped_{theme.lower()}.png")
    panel.get_by_label("Top-k", exact=True).fill("0")
    scratch.settle(0)
    scratch.theme("Light")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_nothing_is_cut_off_at_900_pixels(scratch, theme):
    scratch.resize(900)
    scratch.theme(theme)
    for index in (0, 1):
        panel = scratch.panel(index)
        cut = panel.evaluate("""panel => {
            const area = panel.closest('.jp-OutputArea-output').getBoundingClientRect();
            const right = Math.min(area.right, innerWidth);
            return [...panel.querySelectorAll('*')].filter(node => node.getClientRects().length
                && !node.closest('[role=status], select, svg')
                && (node.getBoundingClientRect().right > right + 1
                    || node.getBoundingClientRect().left < area.left - 1
                    || ['OUTPUT', 'TEXTAREA'].includes(node.tagName) && node.scrollWidth > node.clientWidth + 1))
                .map(node => node.outerHTML.slice(0, 80));
        }""")
        assert cut == []
        scratch.page.screenshot(path=SHOTS / f"900_pixels_{index}_{theme.lower()}.png")
    scratch.theme("Light")
    scratch.resize(1400)


def test_an_error_is_shown_and_the_panel_lives_on(scratch):
    panel = scratch.panel(0)
    panel.get_by_label("Prompt", exact=True).fill("€")
    scratch.settle(0)
    alert = panel.get_by_role("alert")
    assert "'€' (U+20AC) at position 0 was never seen in training" in alert.inner_text()
    panel.screenshot(path=SHOTS / "error_light.png")
    panel.get_by_label("Prompt", exact=True).fill("The ")
    scratch.settle(0)
    assert alert.is_hidden()
    panel.get_by_label("Seed", exact=True).fill("")
    scratch.settle(0)
    assert "Seed is empty; expected a whole number from 0" in alert.inner_text()
    panel.get_by_label("Seed", exact=True).fill("1")
    scratch.settle(0)
    assert shown(panel) == expected(sampling_panel(60, top_p=0.8, seed=1), set_to(panel))


def test_running_the_cell_again_replaces_the_panel_and_leaves_the_other_alone(scratch):
    count = "import ipywidgets.widgets.widget as w; print(len(w._instances))"
    scratch.panel(1).get_by_label("Temperature", exact=True).fill("2")
    scratch.settle(1)
    before = int(scratch.ask_kernel(count))
    for _ in range(3):
        scratch.run_cell(1)
        scratch.settle(0)
    assert scratch.panels().count() == 2 and int(scratch.ask_kernel(count)) == before
    assert set_to(scratch.panel(1))["temperature"] == 2
    for index, temperature in ((1, "0.5"), (0, "0.7")):
        scratch.panel(index).get_by_label("Temperature", exact=True).fill(temperature)
        scratch.settle(index)
    assert [set_to(scratch.panel(i))["temperature"] for i in (0, 1)] == [0.7, 0.5]
    assert "first 0.881" in shown(scratch.panel(1))["bars"]


def test_moves_leave_nothing_behind(scratch):
    """`benchmarks/slider_latency.py` does the same with 500 moves, and measures memory."""
    move = """async ([from, moves]) => {
        const panel = document.querySelector(".course-panel");
        const slider = panel.querySelector("[data-control=temperature] input");
        for (let i = from; i < from + moves; i++) {
            slider.value = 0.5 + (i % 50) / 50;
            slider.dispatchEvent(new Event("input"));
            while (panel.dataset.settled !== "true") await new Promise(done => setTimeout(done, 2));
        }
        return [panel.querySelectorAll("*").length, document.querySelectorAll(".jp-Cell *").length].join();
    }"""
    count = """import comm, matplotlib.pyplot as plt, ipywidgets.widgets.widget as w
print(len(w._instances), len(comm.get_comm_manager().comms), len(plt.get_fignums()))"""
    sizes = []
    for moves in (1, 50):  # both end at the same setting
        page = scratch.page.evaluate(move, [1 if moves == 1 else 2, moves])
        sizes.append((page, scratch.ask_kernel(count)))
    assert sizes[0] == sizes[1]
    scratch.panel(0).get_by_label("Temperature", exact=True).fill("1")
    scratch.settle(0)


def test_a_reloaded_page_shows_the_state_that_the_panel_had(scratch):
    scratch.panel(1).get_by_label("Temperature", exact=True).fill("0.5")
    scratch.settle(1)
    scratch.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    scratch.open_again()
    panel = scratch.panel(1)
    assert set_to(panel)["temperature"] == 0.5 and "first 0.881" in shown(panel)["bars"]
    panel.get_by_label("Temperature", exact=True).fill("2")
    scratch.settle(1)
    assert "first 0.622" in shown(panel)["bars"]


def test_no_error_reached_the_console(scratch):
    assert scratch.problems == []


def test_a_panel_whose_kernel_is_gone_says_so(scratch):
    scratch.page.evaluate(f"{CURRENT}.sessionContext.session.kernel.restart()")
    alert = scratch.panels().nth(0).get_by_role("alert")
    alert.wait_for()
    assert re.search(r"kernel .* is gone\. Run the panel's cell again", alert.inner_text())


PLACES = "document.querySelectorAll('.jp-OutputArea .course-panel-place')"


def test_a_notebook_that_is_opened_with_a_new_kernel_shows_pictures_and_what_to_do(lab):
    """The normal next morning: run and saved, the kernel ended, the notebook opened again."""
    notebook = lab("morning.ipynb")
    notebook.run_all()
    for index in (0, 1):
        notebook.settle(index)
    notebook.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    notebook.page.wait_for_function(f"() => !{CURRENT}.context.model.dirty")
    notebook.page.evaluate(f"{CURRENT}.sessionContext.shutdown()")
    notebook.open_again()
    # The widget manager has heard from the new kernel, which has no widget; an error would come within two seconds.
    notebook.ask_kernel("1")
    notebook.page.wait_for_function(f"() => {PLACES}.length === 2")
    notebook.page.wait_for_timeout(3000)
    assert notebook.panels().count() == 0 and notebook.page.get_by_text("Error displaying widget").count() == 0
    for index in (0, 1):
        place = notebook.page.locator(".jp-OutputArea .course-panel-place").nth(index)
        place.scroll_into_view_if_needed()
        assert place.get_by_text("Run this cell to make it move").is_visible() and place.locator("img").is_visible()
        assert place.locator("img").evaluate("image => image.complete && image.naturalWidth > 200")
        assert place.locator("img").get_attribute("alt").startswith("Panel, ")
    notebook.page.screenshot(path=SHOTS / "new_kernel_light.png")
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.panels().first.wait_for()
    notebook.settle(0)
    assert notebook.panels().count() == 1 and "first 0.731" in shown(notebook.panel(0))["bars"]
    assert not notebook.page.locator(".jp-OutputArea .course-panel-place").first.locator("img").is_visible()
    assert notebook.problems == []
    notebook.page.close()


def test_the_readmes_picture_is_there_and_small():
    picture = ROOT / "docs" / "panel.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 150_000
    assert "](docs/panel.png)" in (ROOT / "README.md").read_text(encoding="utf-8")
