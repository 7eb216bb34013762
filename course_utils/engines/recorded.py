"""An experiment's figures: computed here if llama.cpp is installed, and otherwise those of a recorded run."""

import json
import textwrap
from collections.abc import Callable
from typing import Any

from course_utils.engines import ends, experiments, llama_cpp, many
from course_utils.text import DATA

RECORD = DATA / "engines.json"
EXPERIMENTS: dict[str, Callable[[], Any]] = {
    "one_request": experiments.one_request,
    "caches": experiments.caches,
    "defaults": experiments.defaults,
    "orders": experiments.orders,
    "prompt_cache": experiments.prompt_cache,
    "ends": ends.ends,
    "held_back": ends.held_back,
    "silences": ends.silences,
    "many_texts": many.many_texts,
}


def look(*names: str) -> Any:
    """The figures of the experiments, after a printed line that says where they come from.

    names: of `EXPERIMENTS`, each of which says what its figures mean.
    Returns the figures of one experiment, or a list with those of several.
    With the extra `engines` the experiments run now. Without it, the figures are those that `benchmarks/engines.py`
    recorded, and the line says when, with which version, and how to get the extra.
    Raises ValueError for another name.
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"The experiment is {name!r}; expected one of {(*EXPERIMENTS,)}.")
    if llama_cpp.installed():
        print(f"Run here, with {llama_cpp.version()}.")
        found = [json.loads(json.dumps(EXPERIMENTS[name]())) for name in names]
    else:
        record = read_record()
        print("Not run here, because llama.cpp is not installed.")
        print(textwrap.fill(llama_cpp.HOW_TO_GET_IT, 100))
        print(f"What follows was recorded on {record['date']} with {record['version']} ({record['machine']}).")
        found = [record["figures"][name] for name in names]
    return found[0] if len(found) == 1 else found


def read_record() -> dict[str, Any]:
    """The recorded run: its `date`, `version` and `machine`, and the `figures` of each experiment."""
    return json.loads(RECORD.read_text(encoding="utf-8"))
