"""Serve the built page on this machine: `python -m webpage.serve`, with --port and --folder.

Any other static server does as well. This one names the types of scripts and of WebAssembly itself, since some systems
register others, with which a browser refuses to run them.
"""

import argparse
import functools
import http.server
from pathlib import Path

DIST = Path(__file__).resolve().parent / "dist"
HOST = "127.0.0.1"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of one folder, with the right types; a browser asks whether a file has changed before it uses its copy."""

    extensions_map = {  # noqa: RUF012  as the base class declares it
        "": "application/octet-stream",
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
        ".wasm": "application/wasm",
        ".zip": "application/zip",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *args) -> None:
        """A learner's terminal stays quiet."""


def server(port: int = 0, folder: Path = DIST) -> http.server.ThreadingHTTPServer:
    """A server of the folder on 127.0.0.1; port 0 takes a free one."""
    return http.server.ThreadingHTTPServer((HOST, port), functools.partial(Handler, directory=str(folder)))


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Serve the built page on this machine.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--folder", type=Path, default=DIST)
    options = parser.parse_args()
    if not (options.folder / "index.html").is_file():
        raise SystemExit(f"There is no page in {options.folder}. Build it first: make page")
    try:
        serving = server(options.port, options.folder)
    except OSError as error:
        advice = "Take another: make page PORT=8001"
        raise SystemExit(f"Port {options.port} cannot be used ({error.strerror}). {advice}") from None
    print(f"The page is at http://{HOST}:{serving.server_port}/ and this command ends with Ctrl-C.", flush=True)
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
