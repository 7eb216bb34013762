"""The course on a JupyterHub of its own: two learners in a browser, in notebooks 00 and 02.

    python -m venv HUB && HUB/bin/pip install jupyterhub && npm install configurable-http-proxy
    python -m benchmarks.hub HUB/bin/python node_modules/.bin/configurable-http-proxy

The hub listens on this machine only, keeps everything in a temporary folder, and ends with the script. Its two learners
have homes of their own; their servers run with the Python of this script, to which JupyterHub is added. Each learner
gets fresh copies, gives a wrong and a right answer, moves a panel by keys, and restarts a kernel. Printed are the times
and the memory of servers and kernels.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from tests.browser.lab import CURRENT, Notebook, chromium

ROOT = Path(__file__).resolve().parent.parent
LEARNERS = ("ada", "bo")
CONFIG = """
c.JupyterHub.bind_url = {address!r}
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.cmd = [{python!r}, "-c", {start!r}]
c.Spawner.args = ["--LabApp.expose_app_in_browser=True", "--allow-root"]
c.Spawner.environment = {{"PYTHONPATH": {root!r}, "COURSE_BUDGET": "class", "OMP_NUM_THREADS": "1"}}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(place, hub_python, proxy):
    """The hub's process, its address and its password."""
    packages = subprocess.check_output([hub_python, "-c", "import site; print(site.getsitepackages()[0])"], text=True)
    address, password = f"http://127.0.0.1:{free_port()}", secrets.token_hex(16)
    added = f"import sys; sys.path.append({packages.strip()!r}); from jupyterhub.singleuser import main; main()"
    text = CONFIG.format(
        address=address, hub_port=free_port(), api_port=free_port(), password=password, homes=str(place / "homes"),
        python=sys.executable, start=added, root=str(ROOT), proxy=str(Path(proxy).resolve()),
    )  # fmt: skip
    (place / "jupyterhub_config.py").write_text(text, encoding="utf-8", newline="\n")
    log = (place / "log.txt").open("wb")
    command = [hub_python, "-m", "jupyterhub", "-f", str(place / "jupyterhub_config.py")]
    process = subprocess.Popen(command, cwd=place, stdout=log, stderr=subprocess.STDOUT)
    until = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{address}/hub/health", timeout=5).close()
            return process, address, password
        except OSError:
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError((place / "log.txt").read_text(encoding="utf-8")[-3000:]) from None
            time.sleep(0.3)


def log_in(context, address, learner, password):
    """Log in and wait for the learner's server; gives the seconds that it took."""
    page, begun = context.new_page(), time.monotonic()
    page.goto(f"{address}/hub/login")
    page.fill("input[name=username]", learner)
    page.fill("input[name=password]", password)
    page.click("#login_submit")
    page.wait_for_url(f"**/user/{learner}/**", timeout=120_000)
    page.wait_for_selector("#jupyterlab-splash, .jp-LabShell", state="attached", timeout=120_000)
    page.close()
    return time.monotonic() - begun


def cell_with(notebook, tag):
    """The place of the cell with this tag."""
    return notebook.page.evaluate(f"""tag => [...{CURRENT}.content.model.cells].findIndex(
        cell => (cell.getMetadata("tags") || []).includes(tag))""", tag)  # fmt: skip


def answer(notebook, exercise, source):
    """Write an answer, run it and its check; gives the verdict as the learner sees it."""
    stub, check = (cell_with(notebook, f"{kind}:{exercise}") for kind in ("exercise", "check"))
    notebook.page.evaluate(f"([place, source]) => {CURRENT}.content.model.cells.get(place)"
                           ".sharedModel.setSource(source)", [stub, source])  # fmt: skip
    notebook.run_cell(stub)
    notebook.run_cell(check)
    shown = f"[...{CURRENT}.content.widgets[{check}].node.querySelectorAll('.jp-OutputArea-output')]"
    return notebook.page.evaluate(f"() => {shown}.map(node => node.textContent).join('')")


def work(context, address, learner):
    """What one learner does. Raises AssertionError where something is not as it should be."""
    first = Notebook(context, address, "00_start_here.ipynb")
    first.run_all()
    wrong, right = (answer(first, "00.first_answer", f"first_answer = {value}") for value in (500, 269))
    assert wrong.startswith("Not yet: 00.first_answer (equal-shares)") and "Hint: " in wrong, wrong
    assert right.startswith("Passed: 00.first_answer"), right
    first.page.close()
    second = Notebook(context, address, "02_temperature.ipynb")
    begun = time.monotonic()
    second.run_all()
    seconds = time.monotonic() - begun
    panel = second.panel(0)
    slider = panel.locator("input[type=range]").first
    before = panel.inner_text()
    slider.focus()
    for _ in range(5):
        second.page.keyboard.press("ArrowRight")
    second.settle(0)
    assert panel.inner_text() != before, "the panel did not move"
    second.page.evaluate(f"async () => {{ await {CURRENT}.sessionContext.session.kernel.restart(); }}")
    assert second.ask_kernel("print('model' in globals())").strip() == "False"
    second.run_all()
    assert not [problem for problem in second.problems if "page error" in problem], second.problems
    print(f"{learner}: a wrong and a right answer in 00; all of 02 in {seconds:.0f} s, its panel moved by keys, "
          "its kernel restarted and all of it run again")  # fmt: skip


def memory(process):
    """MB of each server and each kernel below the hub."""
    found = {"server": [], "kernel": []}
    for child in process.children(recursive=True):
        line = " ".join(child.cmdline())
        kind = "kernel" if "ipykernel" in line else "server" if "singleuser" in line else None
        if kind:
            found[kind].append(round(child.memory_info().rss / 1e6))
    return found


def main(hub_python, proxy):
    """Print what was tried and measured. Raises an error where the course does not work on the hub."""
    place = Path(tempfile.mkdtemp())
    process, address, password = start(place, hub_python, proxy)
    try:
        for learner in LEARNERS:
            home = place / "homes" / learner
            home.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, "-m", "course_utils.workspace", "fill", str(home / "course")]
            subprocess.run(command, check=True, cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)})
            with chromium() as context:
                seconds = log_in(context, address, learner, password)
                print(f"{learner}: from the login to JupyterLab in {seconds:.1f} s")
                work(context, f"{address}/user/{learner}/lab/tree/course/{{}}?reset", learner)
        print("MB of memory:", memory(psutil.Process(process.pid)))
        version = subprocess.check_output([hub_python, "-m", "jupyterhub", "--version"], text=True)
        print(f"JupyterHub {version.strip()}")
    except BaseException:
        print((place / "log.txt").read_text(encoding="utf-8", errors="replace")[-3000:])
        raise
    finally:
        below = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        process.wait(30)
        for child in below:
            if child.is_running():
                child.kill()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
