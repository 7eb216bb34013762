"""`make lab` as a learner starts it: no question covers the notebook."""

import os
import secrets
import socket
import subprocess
import time
import urllib.request

import pytest

from browser.lab import chromium, write_notebook
from course_utils.workspace import start_lab


@pytest.fixture
def started(needs_browser, tmp_path):
    """JupyterLab by the course's own command, with new settings, on a folder of the test; gives its address."""
    start_lab.leave_out_the_news()
    write_notebook(tmp_path / "scratch.ipynb", "1")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    options = ["--no-browser", f"--port={port}", "--ServerApp.port_retries=0"]
    command = start_lab.command(tmp_path, "scratch.ipynb", options)
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR",
             "JUPYTERLAB_WORKSPACES_DIR")  # fmt: skip
    own = {name: str(tmp_path / "jupyter" / name.lower()) for name in names}
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env={**os.environ, **own, "JUPYTER_TOKEN": token},
                                  stdout=output, stderr=subprocess.STDOUT)  # fmt: skip
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token={token}", timeout=5):
                break
        except OSError:
            assert server.poll() is None and time.monotonic() < until, log.read_text(encoding="utf-8")
            time.sleep(0.2)
    yield f"http://127.0.0.1:{port}/lab/tree/scratch.ipynb?reset&token={token}"
    server.terminate()
    server.wait(20)


def test_no_question_about_news_covers_the_notebook(started):
    with chromium() as context:
        page = context.new_page()
        page.goto(started)
        page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell", timeout=60_000)
        page.wait_for_timeout(4000)  # the question comes after the notebook
        assert page.locator(".Toastify__toast").all_inner_texts() == []
