"""Records how `transformers serve` answers for the shipped model: with its generation_config.json, and without.

    PYTHON -m benchmarks.transformers_serve            print
    PYTHON -m benchmarks.transformers_serve --write    also write it into data/transformers_serve.json

PYTHON is that of an environment with transformers 5.24, fastapi, uvicorn, openai and accelerate, which the course does
not install. The server listens on 127.0.0.1. Notebook 07 says what was seen.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
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

import transformers

DATA = Path(__file__).resolve().parent.parent / "data"
RECORD = DATA / "transformers_serve.json"
TALE = "Once upon a time there was a fox. "
REQUESTS = {
    "the end mark, in time": {"prompt": "12+34=", "temperature": 0, "max_tokens": 20},
    "the end mark is the last allowed token": {"prompt": "12+34=", "temperature": 0, "max_tokens": 3},
    "a stop string": {"prompt": TALE, "temperature": 0, "max_tokens": 90, "stop": ["fox was a fin"]},
    "T = 3, seed 1": {"prompt": TALE, "temperature": 3.0, "max_tokens": 30, "seed": 1},
    "T = 3, seed 2": {"prompt": TALE, "temperature": 3.0, "max_tokens": 30, "seed": 2},
    "an unknown character": {"prompt": "é", "temperature": 0, "max_tokens": 5},
    "the pad token": {"prompt": "<pad>", "temperature": 0, "max_tokens": 5},
}


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The server's address; it is ended afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = str(Path(sys.executable).with_name("transformers"))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([program, "serve", "--host", "127.0.0.1", "--port", str(port)],
                              env={**os.environ, "HF_HUB_OFFLINE": "1"}, **quiet)  # fmt: skip
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/models", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(1)
        yield address
    finally:
        server.terminate()
        server.wait(60)


def ask(address: str, model: Path, fields: dict) -> list[str]:
    """The text and the finish reason of one request."""
    body = json.dumps({"model": str(model), **fields}).encode("utf-8")
    request = urllib.request.Request(f"{address}/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        choice = json.loads(answer.read())["choices"][0]
    return [choice["text"], choice["finish_reason"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write data/transformers_serve.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, serving() as address:
        folders = {name: Path(place) / name for name in ("with the file", "without")}
        for folder in folders.values():
            shutil.copytree(DATA / "tiny_llama", folder)
        (folders["without"] / "generation_config.json").unlink()
        figures = {
            name: {situation: ask(address, folder, fields) for situation, fields in REQUESTS.items()}
            for name, folder in folders.items()
        }
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": f"transformers {transformers.__version__}",
        "machine": f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}",
        "figures": figures,
    }
    said = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    print(said)
    if given.write:
        RECORD.write_text(said, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
