"""A project of three small packages, an index that serves them on this machine, and a Python to make it with.

With it, bootstrap.py does in some seconds all that it does for the course, with nothing from a network.
"""

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
FILES = 500  # in `leaf`, so that its installation can be interrupted
ZEROS = 30_000_000  # bytes that one of them has, more than a small disk has room for; packed they are few

BACKEND = """
import os, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    file = "tiny-0-py3-none-any.whl"
    lines = ["Metadata-Version: 2.1", "Name: tiny", "Version: 0", "Requires-Dist: leaf", "Requires-Dist: torch"]
    lines += ["Provides-Extra: test", 'Requires-Dist: twig; extra == "test"', "Requires-Dist: none; os_name == 'none'"]
    with zipfile.ZipFile(os.path.join(wheel_directory, file), "w") as wheel:
        wheel.writestr("tiny-0.dist-info/METADATA", "\\n".join(lines) + "\\n")
        wheel.writestr("tiny-0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        names = wheel.namelist() + ["tiny-0.dist-info/RECORD"]
        wheel.writestr("tiny-0.dist-info/RECORD", "".join(name + ",,\\n" for name in names))
    return file
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "0"
"""
PINS = "leaf==1.0\ntorch==2.13.0\ntwig==1.0\nnone==1.0  # on no system\n"


def write_project(root: Path) -> Path:
    """The tiny project, in a new folder."""
    root.mkdir(parents=True)
    for name, text in {"backend.py": BACKEND, "pyproject.toml": PYPROJECT, "constraints.txt": PINS}.items():
        (root / name).write_text(text, encoding="utf-8", newline="\n")
    return root


def wheel(name: str, version: str, requires=(), files: int = 1) -> tuple[str, bytes]:
    """A wheel's file name and its bytes. One of many files is large."""
    content, info = io.BytesIO(), f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {other}\n" for other in requires)
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(files):
            archive.writestr(f"{name}/{number}.txt", "0" * ZEROS if number == FILES // 2 else f"{version}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        names = [*archive.namelist(), f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{inside},,\n" for inside in names))
    return f"{name}-{version}-py3-none-any.whl", content.getvalue()


PACKAGES = {
    "simple": [wheel("leaf", "1.0", files=FILES), wheel("leaf", "2.0"), wheel("twig", "1.0"), wheel("gpu", "1.0"),
               wheel("torch", "2.13.0", ["gpu"])],
    "cpu": [wheel("leaf", "1.0"), wheel("twig", "1.0"), wheel("torch", "2.13.0+cpu", ["leaf"])],
}  # fmt: skip


class Index:
    """Serves simple/ and cpu/. `asked` lists the paths; a path that contains `held` gets no answer before `release`."""

    def __init__(self):
        self.asked, self.held, self.go_on = [], None, threading.Event()
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = unquote(self.path)
                index.asked.append(path)
                if index.held and index.held in path:
                    index.go_on.wait(60)
                self.answer(index.page(path))

            def answer(self, body):
                with contextlib.suppress(OSError):  # whoever asked may be gone
                    self.send_response(404 if body is None else 200)
                    self.send_header("Content-Type", "text/html")
                    self.send_header("Content-Length", str(len(body or b"")))
                    self.end_headers()
                    self.wfile.write(body or b"")

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    @staticmethod
    def page(path: str) -> bytes | None:
        """/simple/leaf/ lists its files; /simple/leaf/leaf-1.0-py3-none-any.whl is one."""
        folder, name, file = [*path.strip("/").split("/"), "", ""][:3]
        found = {file: content for file, content in PACKAGES.get(folder, ()) if file.split("-")[0] == name}
        if file:
            return found.get(file)
        if folder == "broken":  # its pages list what it does not have
            found = {f"{name}-2.13.0+cpu-py3-none-any.whl": None}
        links = "".join(f'<a href="{file.replace("+", "%2B")}">{file}</a>\n' for file in found)
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if found else None

    def hold(self, part: str):
        """Answer no request for a path with this part until `release`."""
        self.held = part

    def release(self):
        """Answer all that is held."""
        self.held = None
        self.go_on.set()
        self.go_on = threading.Event()

    def close(self):
        """Serve no more."""
        self.release()
        self.server.shutdown()
        self.server.server_close()


def copy_python(folder: Path) -> Path:
    """A Python with a site-packages of its own, into which its pip can install, as a learner has one."""
    base, version = Path(sys.base_prefix), f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = folder / "lib" / version
    (folder / "bin").mkdir(parents=True)
    (library / "site-packages").mkdir(parents=True)
    executable = folder / "bin" / version
    shutil.copy2(Path(sys.executable).resolve(), executable)
    for path in (base / "lib" / version).iterdir():
        if path.name not in ("site-packages", "dist-packages", "EXTERNALLY-MANAGED"):
            (library / path.name).symlink_to(path)
    subprocess.run([executable, "-m", "ensurepip"], check=True, capture_output=True)
    prefix = [executable, "-c", "import sys; print(sys.prefix)"]
    assert Path(subprocess.run(prefix, check=True, capture_output=True, text=True).stdout.strip()).samefile(folder)
    return executable


def digest_of(folder: Path) -> str:
    """Of every file's name and bytes, and of what every link names."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def start(python, root: Path, index: Index | None, script: str = "", **environment) -> subprocess.Popen:
    """`python bootstrap.py` for the project at `root`, away from this machine's pip settings.

    script: lines that are run first, to change bootstrap.py's constants. Ctrl-C is listened to even where this run
    was started in the background, in which a shell has it ignored.
    """
    lines = ["import signal, sys", "signal.signal(signal.SIGINT, signal.default_int_handler)",
             f"sys.path.insert(0, {str(ROOT)!r})", "import bootstrap", "bootstrap.TORCH_CPU_SECONDS = 1", script,
             "bootstrap.end_as_by_ctrl_c()", f"bootstrap.main({str(root)!r})"]  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("PIP_", "PYTHON"))}
    own = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if index is not None:
        own["PIP_INDEX_URL"] = f"{index.address}/simple"
    return subprocess.Popen([python, "-c", "\n".join(lines)], env={**kept, **own, **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")  # fmt: skip


def finish(process: subprocess.Popen) -> str:
    """What it printed, once it has ended."""
    output = process.communicate(timeout=120)[0]
    assert "Traceback (most recent" not in output, output
    return output
