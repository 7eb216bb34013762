"""A JupyterLab of its own in a browser of its own: what the tests and the measurement drive.

The server listens on a free port of this machine, asks for a token, and keeps its settings, workspaces and files in
a temporary folder: neither the learner's JupyterLab nor their notebooks are touched.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat

HOW = "install Chromium or Google Chrome (on Debian: apt-get install chromium), or name one in CHROMIUM=/path/to/it"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
CURRENT = "window.jupyterapp.shell.currentWidget"
PANELS = "document.querySelectorAll('.jp-OutputArea section.course-panel')"


def find_browser() -> str | None:
    """The path of an installed Chromium, or None."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, _NAMES), *_PLACES]
    return next((path for path in found if path and Path(path).exists()), None)


@contextlib.contextmanager
def jupyterlab(files: Path) -> Iterator[str]:
    """Serve a folder in a JupyterLab of its own; gives the address, with the token, and ends the server afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port, token = probe.getsockname()[1], secrets.token_hex(16)
        probe.close()
        folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR",
                   "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")  # fmt: skip
        own = {name: str(Path(place) / name.lower()) for name in folders}
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", "--ServerApp.port_retries=0",
                   f"--ServerApp.root_dir={files}", "--LabApp.expose_app_in_browser=True",
                   "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")
        quiet = Path(own["JUPYTERLAB_SETTINGS_DIR"]) / "@jupyterlab" / "apputils-extension"
        quiet.mkdir(parents=True)
        settings = '{"fetchNews": "false", "checkForUpdates": false}'  # or a question covers the notebook
        (quiet / "notification.jupyterlab-settings").write_text(settings, encoding="utf-8", newline="\n")
        log_path = Path(place) / "log.txt"
        with log_path.open("wb") as log:  # the token goes by the environment: other users can read a command line
            environment = {**os.environ, **own, "JUPYTER_TOKEN": token}
            server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_until_it_answers(f"http://127.0.0.1:{port}/api?token={token}", server, log_path)
            yield f"http://127.0.0.1:{port}/lab/tree/{{}}?reset&token={token}"
        finally:
            server.terminate()  # the server ends its kernels
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_until_it_answers(address: str, server: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


@contextlib.contextmanager
def chromium(width: int = 1400, height: int = 1000) -> Iterator:
    """A headless browser with nothing in its profile; gives a playwright context."""
    from playwright.sync_api import sync_playwright

    arguments = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 "--disable-sync", "--enable-precise-memory-info", "--js-flags=--expose-gc"]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium refuses to start as root otherwise
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), headless=True, args=arguments)
        try:
            yield browser.new_context(viewport={"width": width, "height": height})
        finally:
            browser.close()


class Notebook:
    """One notebook, open in JupyterLab, with its kernel connected."""

    def __init__(self, context, address: str, name: str):
        self.problems: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.address = address.format(name)
        self.open_again()

    def open_again(self) -> None:
        """Load the page, as a learner who comes back; the kernel keeps running."""
        self.page.goto(self.address)
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        # The indicator says idle before there is a kernel, and commands would run nothing: wait for the kernel itself.
        self.page.wait_for_function(f"() => window.jupyterapp && {CURRENT}?.sessionContext?.session?.kernel")
        self.page.evaluate(f"""async () => {{
            const context = {CURRENT}.sessionContext;
            await context.ready;
            await context.session.kernel.info;
            while (context.session.kernel.connectionStatus !== "connected") await new Promise(r => setTimeout(r, 50));
        }}""")

    def _note(self, message) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def run_all(self, seconds: float = 120) -> None:
        """Run every cell; an error if one was left out or failed."""
        self.page.evaluate("() => { window.ranAll = undefined; window.jupyterapp.commands"
                           ".execute('notebook:run-all-cells').then(done => { window.ranAll = done; }); }")  # fmt: skip
        self.page.wait_for_function("() => window.ranAll !== undefined", timeout=seconds * 1000)
        missed = self.page.evaluate(f"""() => [...{CURRENT}.content.model.cells].filter(cell => cell.type === "code"
            && cell.sharedModel.getSource().trim() && !cell.executionCount).map(cell => cell.id)""")
        assert self.page.evaluate("window.ranAll") is True and not missed, f"not run or failed: {missed}"

    def run_cell(self, index: int) -> None:
        """Run one cell, by its place."""
        self.page.evaluate(f"""async (index) => {{
            {CURRENT}.content.activeCellIndex = index;
            {CURRENT}.content.deselectAll();
            await window.jupyterapp.commands.execute("notebook:run-cell");
        }}""", index)  # fmt: skip

    def ask_kernel(self, code: str) -> str:
        """What the code prints, in the notebook's kernel, without a cell."""
        return self.page.evaluate(f"""async (code) => {{
            let printed = "";
            const future = {CURRENT}.sessionContext.session.kernel.requestExecute({{code, store_history: false}});
            future.onIOPub = (message) => {{
                if (message.header.msg_type === "stream") printed += message.content.text;
                if (message.header.msg_type === "error") printed += message.content.traceback.join("\\n");
            }};
            await future.done;
            return printed;
        }}""", code)  # fmt: skip

    def theme(self, name: str) -> None:
        """ "Light" or "Dark"."""
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})",
                           f"JupyterLab {name}")  # fmt: skip
        light = str(name == "Light").lower()
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")

    def resize(self, width: int, height: int = 1000) -> None:
        """Give the window another size, and wait until JupyterLab has laid itself out in it."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(f"() => {CURRENT}.node.getBoundingClientRect().right <= innerWidth + 1"
                                    f" && {CURRENT}.node.getBoundingClientRect().right >= innerWidth - 60")  # fmt: skip
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def panels(self):
        """The panels on the page, in order."""
        return self.page.locator(".jp-OutputArea section.course-panel")

    def panel(self, index: int = 0):
        """One panel, scrolled into view and at rest."""
        panel = self.panels().nth(index)
        panel.scroll_into_view_if_needed()
        self.settle(index)
        return panel

    def settle(self, index: int = 0) -> None:
        """Wait until the panel shows its newest state, the continuation included."""
        self.page.wait_for_function(f"index => {PANELS}[index]?.dataset.settled === 'true'", arg=index)


def write_notebook(path: Path, *sources: str) -> None:
    """A notebook with these code cells."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    text = nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": {
        "display_name": "Python 3", "language": "python", "name": "python3"}}))  # fmt: skip
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
