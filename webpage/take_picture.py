"""Take docs/page.png, README's picture of the page: `python -m webpage.take_picture`, after a build."""

import sys
import threading
from pathlib import Path

from webpage import serve

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser.lab import chromium  # noqa: E402


def main() -> None:
    """A wrong guess at the first piece, corrected."""
    serving = serve.server()
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    with chromium(860, 1000) as context:
        page = context.new_page()
        page.goto(f"http://{serve.HOST}:{serving.server_port}/")
        piece = page.locator("#temperature")
        piece.locator("input").fill("0.731")
        piece.locator("button.run").click()
        piece.locator(".note.explain").wait_for(timeout=60_000)
        piece.evaluate("""section => {
            section.style.padding = "0 16px 12px";
            for (const node of section.querySelectorAll("h3, .try, .explain, .out, figure details")) node.remove();
        }""")
        piece.screenshot(path=ROOT / "docs" / "page.png")
    serving.shutdown()


if __name__ == "__main__":
    main()
