"""The command that starts JupyterLab, and what it should not ask."""

import contextlib
import json
import os
import sys
from pathlib import Path

_NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}


def command(root: Path, first: str, arguments: list[str]) -> list[str]:
    """JupyterLab with the files under `root`, open on the file `first`; as root if root starts it.

    arguments: JupyterLab's own options, which come last.
    """
    own = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{first}",
    ]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*own, *(["--allow-root"] if is_root and "--allow-root" not in arguments else []), *arguments]


def leave_out_the_news(environment: Path = Path(sys.prefix)) -> None:
    """Have JupyterLab in this environment leave out its question about news, which covers a notebook's corner.

    This is a default: whoever wants the news chooses them in JupyterLab's settings. Where it cannot be written, the
    question comes as before.
    """
    folder = environment / "share" / "jupyter" / "lab" / "settings" / "overrides.d"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_NO_NEWS) + "\n"
        (folder / "scores_to_answers.json").write_text(text, encoding="utf-8", newline="\n")
