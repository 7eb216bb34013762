"""The controls of a panel, as data: what the front end builds, and what it may send back."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

MAX_SEED = 999_999  # JavaScript counts exactly to 2**53; nobody types more digits than this


@dataclass(frozen=True)
class Control:
    """One control with its label and the value at which it starts.

    kind: "slider", "number", "choice" or "text".
    low, high, step: limits of a slider or number. An integer step makes integers.
    words: values that are shown and spoken as words, such as {"0": "off"}.
    options: for a choice, the values and their labels.
    sets: for a choice, option -> {another control: the value that it gets when the option is chosen}. An option that
        sets nothing is shown as soon as one of those controls is moved to another value.
    """

    name: str
    kind: str
    label: str
    start: float | int | str
    low: float = 0
    high: float = 0
    step: float = 1
    words: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[tuple[str, str]] = ()
    sets: Mapping[str, Mapping[str, float | int | str]] = field(default_factory=dict)

    def describe(self) -> dict:
        """For the front end, as JSON."""
        return asdict(self)

    def read(self, value: object) -> float | int | str:
        """The value that the front end sent, as a number or text that can be trusted.

        Raises ValueError for one that the control cannot have.
        """
        if self.kind == "text":
            return str(value)
        if self.kind == "choice":
            if not isinstance(value, str) or value not in dict(self.options):
                raise ValueError(f"{self.label} is {value!r}; expected one of {list(dict(self.options))}.")
            return value
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
        whole = isinstance(self.step, int)
        if not self.low <= number <= self.high or (whole and number != int(number)):
            expected = "a whole number" if whole else "a number"
            shown = "empty" if value is None else value
            raise ValueError(f"{self.label} is {shown}; expected {expected} from {self.low} to {self.high}.")
        return int(number) if whole else float(number)


def read_all(controls: Sequence[Control], values: Mapping) -> dict:
    """The settings of all controls; where a value is missing, the control's start."""
    return {control.name: control.read(values.get(control.name, control.start)) for control in controls}
