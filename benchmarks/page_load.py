"""How much the page loads, and how long a visitor waits for the first result, beside JupyterLite.

    python -m webpage.build
    python -m benchmarks.page_load
    python -m benchmarks.page_load --jupyterlite FOLDER    # a site that `jupyter lite build` has made

Each round uses a browser with an empty profile: a first visit, then a second one in the same profile. Requests and
bytes are counted by the server, which compresses nothing. The clock starts when the address is opened; the run is
asked for as soon as its button is there, and ends when its output is.
"""

import argparse
import functools
import http.server
import os
import platform
import statistics
import tempfile
import threading
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.lab import find_browser
from webpage import serve

ROUNDS = 5


class Counting(serve.Handler):
    """Counts the requests that are answered, and the bytes of the bodies that are sent."""

    requests, sent = 0, 0

    def copyfile(self, source, outputfile) -> None:
        """Send a body, and count it."""
        body = source.read()
        Counting.sent += len(body)
        outputfile.write(body)

    def send_response(self, code, message=None) -> None:
        """Begin an answer, and count it."""
        Counting.requests += 1
        super().send_response(code, message)


def counted(visit) -> tuple[int, int, float]:
    """Requests, bytes and seconds of what `visit` does."""
    Counting.requests = Counting.sent = 0
    begun = time.monotonic()
    seconds = visit(begun)
    return Counting.requests, Counting.sent, seconds


def page_visit(context, address: str):
    """Open the page, run the first piece at once, and wait for its output."""

    def visit(begun: float) -> float:
        page = context.new_page()
        page.goto(address)
        page.locator("#temperature button.run").click()
        page.locator("#temperature .out", has_text="0.881").wait_for(timeout=120_000)
        seconds = time.monotonic() - begun
        page.wait_for_timeout(300)
        page.close()
        return seconds

    return visit


def jupyterlite_visit(context, address: str):
    """Open JupyterLite's console with a line of Python in the address, and wait for its output."""

    def visit(begun: float) -> float:
        page = context.new_page()
        page.goto(address + "repl/index.html?kernel=python&code=print(6*7)")
        page.locator(".jp-OutputArea-output", has_text="42").wait_for(timeout=120_000)
        seconds = time.monotonic() - begun
        page.wait_for_timeout(300)
        page.close()
        return seconds

    return visit


def main() -> None:
    """Print a table of medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jupyterlite", type=Path, help="the folder of a built JupyterLite site")
    options = parser.parse_args()
    ways = {"the page": (serve.DIST, page_visit)}
    if options.jupyterlite:
        ways["JupyterLite"] = (options.jupyterlite, jupyterlite_visit)
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {find_browser()}")
    for name, (folder, way) in ways.items():
        serving = http.server.ThreadingHTTPServer((serve.HOST, 0), functools.partial(Counting, directory=str(folder)))
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        rounds = [visits(f"http://{serve.HOST}:{serving.server_port}/", way) for _ in range(ROUNDS)]
        for number, label in enumerate(("first visit", "second visit")):
            requests, sent, seconds = zip(*(one[number] for one in rounds), strict=True)
            requests, sent = statistics.median(requests), statistics.median(sent) / 1e6
            waited = f"{statistics.median(seconds):.2f} s (from {min(seconds):.2f} to {max(seconds):.2f})"
            print(f"{name}, {label}: {requests:.0f} requests, {sent:.2f} MB, {waited}")
        serving.shutdown()


def visits(address: str, way) -> list[tuple[int, int, float]]:
    """Two visits with one new profile."""
    arguments = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=find_browser(), headless=True, args=arguments
        )
        found = [counted(way(context, address)) for _ in range(2)]
        context.close()
    return found


if __name__ == "__main__":
    main()
