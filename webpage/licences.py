"""THIRD_PARTY.txt: the licence of everything that the built page carries."""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
_TEXTS = HERE / "licence_texts"
_RULE = "\n\n" + "-" * 78 + "\n\n"


def shipped(modules: Path) -> dict[str, dict]:
    """The packages whose code is in the built page: name -> its entry in the lock file."""
    lock = json.loads((modules.parent / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    found = {path.removeprefix("node_modules/"): entry for path, entry in lock.items() if path}
    node_only = {"ws"} | {name for name in found if name.startswith("@types/")}  # Pyodide needs them under Node only
    return {name: entry for name, entry in sorted(found.items()) if not entry.get("dev") and name not in node_only}


def text(modules: Path) -> str:
    """One file with each package's name, version and licence. Raises ValueError for a package without a licence."""
    parts = ["What this page is built with, and the licences. The course itself: MIT, see its LICENSE."]
    for name, entry in shipped(modules).items():
        parts.append(f"{name} {entry['version']} ({entry['license']})\n\n{_licence(modules, name, entry)}")
    parts.append(
        "Python (PSF-2.0) is part of Pyodide, in pyodide.asm.wasm and python_stdlib.zip. The licences of what Python\n"
        "itself incorporates are listed at https://docs.python.org/3/license.html\n\n" + _text("PSF-2.0")
    )
    return _RULE.join(parts) + "\n"


def _licence(modules: Path, name: str, entry: dict) -> str:
    files = sorted((modules / name).glob("LICENSE*"))
    if files:
        return "\n\n".join(path.read_text(encoding="utf-8").strip() for path in files)
    if name == "pyodide" and entry["license"] == "MPL-2.0":
        return f"Its source: https://github.com/pyodide/pyodide, tag {entry['version']}\n\n{_text('MPL-2.0')}"
    raise ValueError(f"{name} brings no licence file; add its text to webpage/licence_texts and name it here.")


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.txt").read_text(encoding="utf-8").strip()
