"""Loaded before nbval (`pytest -p course_utils.nbval_plugin.light`), it makes a run start sooner.

nbval reads notebooks with jsonschema, which loads a grammar of addresses where there is one. Nothing in a notebook is
checked with it, and loading it takes longer than all the rest of a run's start.
"""

import sys

# With None in its place, a module is "not installed", as jsonschema understands it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # the type of sys.modules knows no None
