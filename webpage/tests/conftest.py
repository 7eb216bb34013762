"""The built page in a browser. `make test-page` builds it first; without a page or a browser every test fails."""

import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.lab import HOW, chromium, find_browser  # noqa: E402

from webpage import serve  # noqa: E402

STARTS = 60_000  # milliseconds; a loaded machine needs more than the two seconds of a quiet one


class Visit:
    """One visitor's view of the page."""

    def __init__(self, context, address: str, **media):
        self.page = context.new_page()
        self.page.set_default_timeout(STARTS)
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        if media:
            self.page.emulate_media(**media)
        self.page.goto(address)

    def ready(self) -> "Visit":
        """Wait until Python has started."""
        self.page.locator("#python[data-state=python-ready]").wait_for(state="attached")
        return self

    def piece(self, name: str):
        return self.page.locator(f"section#{name}")

    def write(self, name: str, code: str) -> None:
        """Replace the code of a piece."""
        self.piece(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def start(self, name: str, code: str | None = None, guess: str | None = None):
        """Press Run, and do not wait."""
        if code is not None:
            self.write(name, code)
        if guess is not None:
            self.piece(name).locator("input").fill(guess)
        self.piece(name).locator("button.run").click()
        return self.piece(name)

    def run(self, name: str, code: str | None = None, guess: str | None = None):
        """Press Run, and wait for the end."""
        piece = self.start(name, code, guess)
        piece.locator("button.stop[disabled]").wait_for()
        self.state(name, "")
        return piece

    def state(self, name: str, text: str) -> str:
        """Wait until the line of state begins with a text and is not about a run that goes on."""
        line = self.piece(name).locator(".state")
        until = time.monotonic() + STARTS / 1000
        while time.monotonic() < until:
            said = line.inner_text()
            if said and said.startswith(text) and not said.startswith(("Running", "Python is still", "Waiting")):
                return said
            self.page.wait_for_timeout(30)
        raise AssertionError(f"The state of {name} is {line.inner_text()!r}; expected {text!r} …")

    def notes(self, name: str, kind: str = "") -> str:
        return "\n".join(self.piece(name).locator(f".note{kind}").all_inner_texts())

    def output(self, name: str) -> str:
        return self.piece(name).locator(".out").inner_text().rstrip()


@pytest.fixture(scope="session")
def address():
    """The page, served as `make page` serves it."""
    if not (serve.DIST / "index.html").is_file():
        pytest.fail("There is no built page. Run: make test-page", pytrace=False)
    if find_browser() is None:
        pytest.fail(f"There is no browser: {HOW}.", pytrace=False)
    serving = serve.server()
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://{serve.HOST}:{serving.server_port}/"
    serving.shutdown()


@pytest.fixture(scope="session")
def context(address):
    with chromium(1000, 900) as context:
        yield context


@pytest.fixture(scope="session")
def sixty_seconds(context, address):
    """A page whose run goes on for a real minute while the other tests run; its clock is nobody's."""
    visit = Visit(context, address).ready()
    visit.start("temperature", "import time\nprint('begun')\ntime.sleep(300)")
    visit.page.locator("#temperature .out", has_text="begun").wait_for()
    return visit, time.monotonic()


@pytest.fixture(scope="session")
def shared(context, address, sixty_seconds):
    """One page for all tests that leave Python running."""
    return Visit(context, address).ready()


@pytest.fixture
def visit(shared):
    """The shared page, with its starters and without guesses."""
    for piece in ("temperature", "filters", "bigram", "cache"):
        shared.piece(piece).locator("button.reset").click()
        shared.piece(piece).locator("input").fill("")
    shared.ready()
    return shared
