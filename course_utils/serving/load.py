"""How long requests wait: arrivals at a rate, and the times that a server is judged by.

The computing takes real time, and the waiting does not: a clock of our own is moved on by the duration of each step,
and when nothing is left to do it jumps to the next arrival. So a minute of light load is measured in a second.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course_utils.randomness import uniform
from course_utils.serving.engine import Engine, EngineRequest
from course_utils.serving.trace import Step


@dataclass
class Timed:
    """A request with its times, in seconds of the clock.

    arrived: when it was asked for. first: when its first token was there. ended: when its last one was.
    """

    request: EngineRequest
    arrived: float
    first: float = math.nan
    ended: float = math.nan

    @property
    def ttft(self) -> float:
        """Time to first token: waiting and prefill."""
        return self.first - self.arrived

    @property
    def tpot(self) -> float:
        """Time per output token, after the first one; NaN for a text of one token."""
        n = self.request.row.n_sampled - 1
        return (self.ended - self.first) / n if n else math.nan


@dataclass(frozen=True)
class Latency:
    """What a load led to. tokens_a_second: new tokens, from the first arrival to the last token.

    ttft, tpot: medians over the requests, in seconds; ttft_p95: 95 of 100 first tokens came sooner.
    """

    tokens_a_second: float
    ttft: float
    ttft_p95: float
    tpot: float


def arrivals(n: int, per_second: float, seed: int) -> list[float]:
    """When n requests come that know nothing of each other, at a mean rate: n seconds from 0, in order.

    The gaps are exponential. `math.inf` requests a second come all at once.
    """
    if not per_second > 0:
        raise ValueError(f"per_second is {per_second}; expected a number above 0.")
    times, now = [], 0.0
    for number in range(n):
        now -= math.log(1 - uniform(seed, number)) / per_second
        times.append(now)
    return times


def serve(
    engine: Engine, submits: Sequence[Callable[[], EngineRequest]], times: Sequence[float]
) -> tuple[list[Timed], list[Step]]:
    """Let requests come at these times and step until all have ended.

    submits: each asks the engine for one text. times: when, in seconds, in order.
    Returns the requests with their times, and what each step did.
    """
    clock, timed, steps = 0.0, [], []
    coming = list(zip(times, submits, strict=True))
    while coming or engine.waiting or engine.running:
        if not (engine.waiting or engine.running):
            clock = max(clock, coming[0][0])
        while coming and coming[0][0] <= clock:
            arrived, submit = coming.pop(0)
            timed.append(Timed(submit(), arrived))
        begun = time.perf_counter()
        steps.append(engine.step())
        clock += time.perf_counter() - begun
        for one in timed:
            if one.request.row.n_sampled and math.isnan(one.first):
                one.first = clock
            if one.request.ended and math.isnan(one.ended):
                one.ended = clock
    return timed, steps


def latency(timed: Sequence[Timed]) -> Latency:
    """The figures of a load, from its requests."""
    n_tokens = sum(one.request.row.n_sampled for one in timed)
    span = max(one.ended for one in timed) - min(one.arrived for one in timed)
    ttft = sorted(one.ttft for one in timed)
    return Latency(
        tokens_a_second=n_tokens / span,
        ttft=statistics.median(ttft),
        ttft_p95=ttft[min(len(ttft) - 1, math.ceil(0.95 * len(ttft)) - 1)],
        tpot=statistics.median(one.tpot for one in timed if not math.isnan(one.tpot)),
    )
