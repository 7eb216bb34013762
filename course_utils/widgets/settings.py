"""Which of a decoder's settings a panel lets move, and so how much of the way to a token it shows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course_utils.sampling import STEPS, SamplingParams
from course_utils.widgets.controls import Control
from course_utils.widgets.views import Stage

NAMES = {"temperature": "temperature", "top_k": "top-k", "top_p": "top-p", "min_p": "min-p"}


class Chosen:
    """Which settings can be moved, what the others are, and so how much of the way there is to see."""

    def __init__(self, params: SamplingParams, names: Sequence[str]):
        unknown = [name for name in names if name not in STEPS]
        if isinstance(names, str) or unknown:
            raise ValueError(f"settings is {names!r}; expected some of {', '.join(STEPS)}, in a list.")
        self.params, self.names = params, tuple(names)
        on = {*names, *(step for step, _ in params.steps)}
        filters, temperature = on - {"temperature"}, "temperature" in on or params.greedy
        self.stage = Stage.FILTERS if filters else Stage.TEMPERATURE if temperature else Stage.CHOICE

    def read(self, settings: dict) -> SamplingParams:
        """The decoder's settings, from those of the controls."""
        new: dict[str, Any] = {name: settings[name] for name in (*self.names, "seed") if name in settings}
        if "temperature" in new:
            new["greedy"] = new["temperature"] == 0
        if new.get("top_p") == 1:
            new["top_p"] = None
        if "order" in settings:
            new["order"] = tuple(settings["order"].split(","))
        return replace(self.params, **new)


_SORTS = (("likeliest", "likeliest first"), ("id", "by id"))


def sort_control(chosen: Chosen) -> list[Control]:
    """How the candidates are sorted, where filters are looked at."""
    there = chosen.stage == Stage.FILTERS
    return [Control("sort", "choice", "Candidates", "likeliest", options=_SORTS)] if there else []


def setting_controls(chosen: Chosen, vocab_size: int) -> list[Control]:
    """A slider for each setting that can be moved, and the order of the steps if one of them is a filter."""
    params = chosen.params
    orders = {",".join(SamplingParams.like(name).order): name for name in ("transformers", "vllm", "llama.cpp")}
    orders = {",".join(params.order): "yours"} | orders
    options = tuple((order, f"{who}: {_steps(order)}") for order, who in orders.items())
    k = min(params.top_k or 0, vocab_size)
    top_p = 1.0 if params.top_p is None else params.top_p
    t = 0.0 if params.greedy else params.temperature
    every = [
        Control("temperature", "slider", "Temperature", t, 0, max(3.0, t), 0.01, {"0": "0: greedy"}),
        Control("top_k", "slider", "Top-k", k, 0, vocab_size, 1, {"0": "off", str(vocab_size): f"{vocab_size}: all"}),
        Control("top_p", "slider", "Top-p", top_p, 0, 1, 0.01, {"1": "off"}),
        Control("min_p", "slider", "Min-p", params.min_p or 0.0, 0, 1, 0.01, {"0": "off"}),
    ]
    controls = [control for control in every if control.name in chosen.names]
    if {*chosen.names} - {"temperature"}:
        controls.append(Control("order", "choice", "Order", ",".join(params.order), options=options))
    return controls


def _steps(order: str) -> str:
    return ", ".join(NAMES[step] for step in order.split(","))


def say(settings: dict) -> str:
    """The values of the controls, in words."""
    special = {"temperature": {0: "0, greedy"}, "top_k": {0: "off"}, "top_p": {1: "off"}, "min_p": {0: "off"}}
    numbers = {key: settings[key] for key in NAMES if key in settings}
    values = [f"{NAMES[key]} {special[key].get(number, f'{number:g}')}" for key, number in numbers.items()]
    if "order" in settings:
        values.append(f"order {_steps(settings['order'])}")
    values += [f"{key} {settings[key]:g}" for key in ("seed", "u") if key in settings]
    return ", ".join(values)
