"""What an engine did in each step, as plain data: pictures, tests and exercises read it."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One step of an engine. Requests are named by their numbers, in the order in which they came.

    admitted: (request, tokens that were found in the store and are not computed again). prefilled: (request, tokens
    fed). decoded: requests that were fed the one token that they had chosen last. preempted: their blocks were taken
    from them, and they wait again. finished: their text has ended. failed: their logits could not be used;
    `EngineRequest.error` says why. tables: (request, its blocks) of all that run when the step ends. n_free: blocks
    that nobody holds then. waiting: who waits then, first come first.
    """

    number: int
    admitted: tuple[tuple[int, int], ...]
    prefilled: tuple[tuple[int, int], ...]
    decoded: tuple[int, ...]
    preempted: tuple[int, ...]
    finished: tuple[int, ...]
    failed: tuple[int, ...]
    tables: tuple[tuple[int, tuple[int, ...]], ...]
    n_free: int
    waiting: tuple[int, ...]

    @property
    def n_fed(self) -> int:
        """How many tokens went through the model."""
        return len(self.decoded) + sum(n_tokens for _, n_tokens in self.prefilled)

    @property
    def holders(self) -> dict[int, list[int]]:
        """For each block that is held, the requests that hold it."""
        held: dict[int, list[int]] = {}
        for request, blocks in self.tables:
            for block in blocks:
                held.setdefault(block, []).append(request)
        return held


@dataclass
class Events:
    """A step while it happens. The names are those of `Step`."""

    admitted: list[tuple[int, int]] = field(default_factory=list)
    prefilled: list[tuple[int, int]] = field(default_factory=list)
    decoded: list[int] = field(default_factory=list)
    preempted: list[int] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)

    def step(self, number: int, tables: Sequence[tuple[int, list[int]]], n_free: int, waiting: Sequence[int]) -> Step:
        """The step, once it is over."""
        return Step(
            number=number,
            admitted=tuple(self.admitted),
            prefilled=tuple(self.prefilled),
            decoded=tuple(self.decoded),
            preempted=tuple(self.preempted),
            finished=tuple(self.finished),
            failed=tuple(self.failed),
            tables=tuple((request, tuple(blocks)) for request, blocks in tables),
            n_free=n_free,
            waiting=tuple(waiting),
        )


def states(steps: Sequence[Step]) -> dict[int, str]:
    """What each request did in each step, as one letter a step.

    P: tokens of its prompt were fed. D: it was decoded. W: it waited. R: it ran, and the budget left nothing for it.
    A space: it had not come yet, or it had ended.
    """
    letters: dict[int, list[str]] = {}
    for place, step in enumerate(steps):
        now = {number: "W" for number in step.waiting} | {number: "R" for number, _ in step.tables}
        now |= {number: "P" for number, _ in step.prefilled} | {number: "D" for number in step.decoded}
        for number, letter in now.items():
            letters.setdefault(number, [" "] * len(steps))[place] = letter
    return {number: "".join(row) for number, row in sorted(letters.items())}
