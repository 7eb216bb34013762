"""How fast a panel follows a slider in JupyterLab, beside `interactive_output` with matplotlib, in one run.

    python -m benchmarks.slider_latency

Both stand in one notebook, in one browser, with one kernel; presses and drags of the two alternate. The baseline
draws one picture, the candidates' bars; the panel draws three and a table, and then the continuation. Times are
taken in the page: from the key's event to the first frame after the new picture is there. A timing depends on the
machine, so this is not a test.
"""

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from tests.browser.lab import Notebook, chromium, find_browser, jupyterlab, write_notebook

PRESSES, DRAGS, DRAG_MOVES = 40, 8, 60
FEW, MANY = 50, 500  # moves between which nothing may grow
PANEL = """from course_utils import bigram, text, widgets
from course_utils.sampling import SamplingParams
vocab = text.CharVocab.from_text(text.load_text("all"))
model = bigram.BigramLM.fit(vocab.encode_documents(text.load_documents("tales")), len(vocab))
widgets.explore_sampling(model, vocab, "The ", SamplingParams(1.5, top_p=0.8, seed=1))"""
BASELINE = """import ipywidgets
import matplotlib.pyplot as plt
from course_utils import plots
from course_utils.widgets import views
row = model.table.detach()[vocab.ids[" "]]
def draw(temperature):
    look = views.look_at(row, SamplingParams(temperature, top_p=0.8), 0.3)
    ids = look.candidates(14)
    series = {"before": look.before[ids], "after": look.after[ids]}
    plots.probability_bars([vocab.label(i) for i in ids], series, f"T = {temperature:.2f}")
    plt.show()
slider = ipywidgets.FloatSlider(value=1.5, min=0, max=3, step=0.01, description="Temperature")
display(slider, ipywidgets.interactive_output(draw, {"temperature": slider}))"""
WATCH = """() => {
    const now = () => performance.now();
    const panel = document.querySelector(".course-panel");
    const output = document.querySelector(".jp-OutputArea .widget-slider").closest(".jp-Cell");
    const watch = window.watch = {
        panel: {slider: panel.querySelector("[data-control=temperature] input"), drawn: [], settled: []},
        baseline: {slider: output.querySelector(".noUi-handle"), drawn: [], settled: []},
    };
    const frame = list => requestAnimationFrame(() => list.push(now()));
    new MutationObserver(() => frame(watch.panel.drawn))
        .observe(panel.querySelector("[data-slot=bars]"), {childList: true});
    new MutationObserver(() => { if (panel.dataset.settled === "true") frame(watch.panel.settled); })
        .observe(panel, {attributes: true, attributeFilter: ["data-settled"]});
    let source = output.querySelector("img").src;
    new MutationObserver(() => {
        const image = output.querySelector("img");
        if (!image || image.src === source) return;
        source = image.src;
        image.decode().then(() => frame(watch.baseline.drawn));
    }).observe(output, {childList: true, subtree: true});
    for (const one of [watch.panel, watch.baseline]) {
        one.slider.addEventListener("keydown", event => { one.at = event.timeStamp; }, true);
    }
    watch.show = one => { one.slider.focus(); one.slider.scrollIntoView({block: "start"}); };
    addEventListener("pointerup", event => { watch.up = event.timeStamp; }, true);
    addEventListener("mouseup", event => { watch.up = event.timeStamp; }, true);
}"""
MOVE = """async ([from, moves]) => {
    const panel = document.querySelector(".course-panel"), slider = watch.panel.slider;
    for (let i = from; i < from + moves; i++) {
        slider.value = 0.5 + (i * 7 % 200) / 100;
        slider.dispatchEvent(new Event("input"));
        while (panel.dataset.settled !== "true") await new Promise(done => setTimeout(done, 2));
    }
}"""
KERNEL = """import gc, json, psutil, matplotlib.pyplot as plt, comm, ipywidgets.widgets.widget as w; gc.collect()
print(json.dumps({"widgets": len(w._instances), "figures": len(plt.get_fignums()),
                  "comms": len(comm.get_comm_manager().comms),
                  "kernel memory (MB)": round(psutil.Process().memory_info().rss / 1e6, 1)}))"""


def quiet(page: Page, which: str, seconds: float = 0.35) -> None:
    """Wait until nothing has been drawn for a while."""
    seen, since = -1, time.monotonic()
    while time.monotonic() - since < seconds:
        count = page.evaluate(f"watch.{which}.drawn.length + watch.{which}.settled.length")
        if count != seen:
            seen, since = count, time.monotonic()
        time.sleep(0.03)


def press(page: Page, which: str, key: str) -> list[float]:
    """Milliseconds from a key press to the changed picture, and to the panel's finished continuation (or None)."""
    page.evaluate(f"watch.{which}.drawn = []; watch.{which}.settled = []; watch.show(watch.{which});")
    time.sleep(0.1)
    page.keyboard.press(key)
    page.wait_for_function(f"watch.{which}.drawn.length")
    quiet(page, which)
    return page.evaluate(
        f"[watch.{which}.drawn[0] - watch.{which}.at, watch.{which}.settled.at(-1) - watch.{which}.at]"
    )


def drag(page: Page, which: str, distance: int) -> float:
    """Milliseconds from the release of a drag of DRAG_MOVES moves to the last picture."""
    page.evaluate(f"watch.{which}.drawn = []; watch.up = undefined; watch.show(watch.{which});")
    time.sleep(0.1)
    box = page.evaluate(f"""() => {{
        const slider = watch.{which}.slider, box = slider.getBoundingClientRect();
        const share = slider.max ? slider.value / slider.max : 0.5;
        return [box.left + (slider.max ? 8 + share * (box.width - 16) : box.width / 2), box.top + box.height / 2];
    }}""")
    page.mouse.move(*box)
    page.mouse.down()
    start = time.perf_counter()
    for i in range(1, DRAG_MOVES + 1):
        page.mouse.move(box[0] + distance * i / DRAG_MOVES, box[1])
        time.sleep(max(0, start + i / 60 - time.perf_counter()))  # sixty moves a second, as a mouse sends them
    page.mouse.up()
    quiet(page, which, 1.0)
    return max(0.0, page.evaluate(f"watch.{which}.drawn.at(-1) - watch.up"))


def sizes(notebook: Notebook, devtools: CDPSession) -> dict[str, float]:
    """What could grow, in the kernel and in the page."""
    devtools.send("HeapProfiler.collectGarbage")
    metrics = {m["name"]: m["value"] for m in devtools.send("Performance.getMetrics")["metrics"]}
    page = {"page memory (MB)": round(metrics["JSHeapUsedSize"] / 1e6, 1), "page nodes": int(metrics["Nodes"]),
            "page listeners": int(metrics["JSEventListeners"])}  # fmt: skip
    return json.loads(notebook.ask_kernel(KERNEL)) | page


def p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[18]


def main() -> None:
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    with tempfile.TemporaryDirectory() as folder:
        write_notebook(Path(folder) / "latency.ipynb", PANEL, BASELINE)
        with jupyterlab(Path(folder)) as address, chromium(1300, 1000) as context:
            notebook = Notebook(context, address, "latency.ipynb")
            notebook.run_all()
            notebook.panel()
            page = notebook.page
            page.wait_for_selector(".jp-OutputArea img")
            page.evaluate(WATCH)
            times: dict[str, list[list[float]]] = {"panel": [], "baseline": []}
            for i in range(-3, PRESSES):  # three to warm up
                for which in ("panel", "baseline"):
                    taken = press(page, which, "ArrowRight" if i % 2 else "ArrowLeft")
                    if i >= 0:
                        times[which].append(taken)
            ends: dict[str, list[float]] = {"panel": [], "baseline": []}
            for i in range(DRAGS):
                for which in ("panel", "baseline"):
                    ends[which].append(drag(page, which, -60 if i % 2 else 60))
            devtools = context.new_cdp_session(page)
            devtools.send("Performance.enable")
            page.evaluate(MOVE, [0, FEW])
            few = sizes(notebook, devtools)
            page.evaluate(MOVE, [FEW, MANY - FEW])
            many = sizes(notebook, devtools)
            version = context.browser.version
    first = {which: [taken[0] for taken in values] for which, values in times.items()}
    settled = [taken[1] for taken in times["panel"]]
    print(
        f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores; Python {platform.python_version()}, ",
        end="",
    )
    print(f"{Path(find_browser()).name} {version}; load when it began {load}")
    print(f"{PRESSES} presses and {DRAGS} drags of {DRAG_MOVES} moves each; milliseconds\n")
    print("| how | press, median | press, p95 | last picture after a drag, median | worst |\n|---|---|---|---|---|")
    for which, name in (("panel", "panel, distribution"), ("baseline", "interactive_output + matplotlib")):
        numbers = (statistics.median(first[which]), p95(first[which]), statistics.median(ends[which]), max(ends[which]))
        print(f"| {name} | {' | '.join(f'{n:.0f}' for n in numbers)} |")
    print(f"| panel, continuation | {statistics.median(settled):.0f} | {p95(settled):.0f} | | |")
    print(
        f"\nratio of the medians {statistics.median(first['panel']) / statistics.median(first['baseline']):.2f}, ",
        end="",
    )
    print(f"of p95 {p95(first['panel']) / p95(first['baseline']):.2f}\n")
    print(f"| | after {FEW} moves | after {MANY} |\n|---|---|---|")
    for name in few:
        print(f"| {name} | {few[name]} | {many[name]} |")


if __name__ == "__main__":
    main()
