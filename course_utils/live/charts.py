"""Pictures for the visitor's code. Numbers go to the page, which draws them; markup never does."""

import math
from collections.abc import Callable, Mapping, Sequence

LONGEST = 24  # labels, and series, of one picture


def _print(kind: str, data: dict) -> None:
    """Where there is no page, a picture is its title."""
    print(f"[{kind}: {data['title']}]")


show: Callable[[str, dict], None] = _print  # the page puts its own function here


def bars(labels: Sequence, series: Mapping[str, Sequence[float]], title: str = "", most: float | None = None) -> None:
    """Draw a bar for each label in each series.

    labels: what the bars stand for. series: name -> a number of 0 or more for each label.
    most: the number whose bar is as long as there is room; None takes the largest number of all.
    Raises ValueError for series of another length, for too many bars, and for numbers that have no bar.
    """
    labels = [str(label) for label in labels]
    rows = {str(name): [float(number) for number in numbers] for name, numbers in dict(series).items()}
    if not labels or not rows or max(len(labels), len(rows)) > LONGEST:
        raise ValueError(f"There are {len(labels)} labels and {len(rows)} series; expected 1 to {LONGEST} of each.")
    for name, numbers in rows.items():
        if len(numbers) != len(labels):
            raise ValueError(f"{name!r} has {len(numbers)} numbers and there are {len(labels)} labels.")
        for number in numbers:
            if not 0 <= number < math.inf:
                raise ValueError(f"{name!r} has the number {number}; a bar needs a finite number of 0 or more.")
    largest = max(map(max, rows.values())) if most is None else float(most)
    show("bars", {"labels": labels, "series": rows, "title": str(title), "most": largest or 1.0})
