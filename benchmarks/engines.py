"""Records what llama.cpp computes from the shipped model, for learners who have not installed it.

    python -m benchmarks.engines            print
    python -m benchmarks.engines --write    also write it into data/engines.json

Needs the extra: `make engines`. Each experiment is one of `course_utils.engines.EXPERIMENTS`, which notebooks 09 and 10
show. The last one is a timing: read its ratio, and run it on a quiet machine.
"""

import argparse
import datetime
import json
import platform

from course_utils.engines import EXPERIMENTS, llama_cpp
from course_utils.engines.recorded import RECORD


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write data/engines.json")
    given = parser.parse_args()
    llama_cpp.require()
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": llama_cpp.version(),
        "machine": f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}",
        "figures": {name: experiment() for name, experiment in EXPERIMENTS.items()},
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text)
    if given.write:
        RECORD.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
