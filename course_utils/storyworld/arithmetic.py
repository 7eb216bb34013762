"""Sums and tool calls: documents in which the question decides all the rest.

A sum is `12+34=46`, both numbers from 0 to 99, each equally likely. A call is

    Q: 317*24
    <call>{"tool": "multiply", "args": [317, 24]}</call><result>7608</result>
    A: 7608

with +, - or *, equally likely, and two numbers whose count of digits (1, 2 or 3) is uniform, and which are
uniform among the numbers of that many digits. Numbers have no leading zero.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

TOOLS = {"+": "add", "-": "subtract", "*": "multiply"}
RANGES = {1: range(0, 10), 2: range(10, 100), 3: range(100, 1000)}


@dataclass(frozen=True)
class Question:
    """Two numbers and an operator, "+", "-" or "*"."""

    a: int
    operator: str
    b: int

    @property
    def result(self) -> int:
        return {"+": self.a + self.b, "-": self.a - self.b, "*": self.a * self.b}[self.operator]

    @property
    def choices(self) -> tuple[tuple[str, str | int], ...]:
        return (("a", self.a), ("operator", self.operator), ("b", self.b))


class OutsideError(ValueError):
    """Where a document leaves the language, and what was expected there."""

    def __init__(self, position: int, expected: str):
        super().__init__(expected)
        self.position, self.expected = position, expected


def sum_text(question: Question) -> str:
    """The document of a sum, such as `12+34=46`."""
    return f"{question.a}+{question.b}={question.result}"


def call_text(question: Question) -> str:
    """The document of a tool call: question, call, result, answer."""
    a, operator, b = question.a, question.operator, question.b
    call = f'<call>{{"tool": "{TOOLS[operator]}", "args": [{a}, {b}]}}</call>'
    return f"Q: {a}{operator}{b}\n{call}<result>{question.result}</result>\nA: {question.result}"


def draw_sum(random: Callable[[], float]) -> Question:
    """A question of the sums; `random()` gives the next number in [0, 1)."""
    return Question(int(random() * 100), "+", int(random() * 100))


def draw_call(random: Callable[[], float]) -> Question:
    """A question of the calls; `random()` gives the next number in [0, 1)."""
    operator = "+-*"[int(random() * 3)]
    numbers = []
    for _ in range(2):
        among = RANGES[1 + int(random() * 3)]
        numbers.append(among[int(random() * len(among))])
    return Question(numbers[0], operator, numbers[1])


def sum_log_prob(question: Question) -> float:
    """Nats; every one of the 10,000 ordered pairs is equally likely."""
    return -math.log(10_000)


def call_log_prob(question: Question) -> float:
    """Nats: operator, then for each number its count of digits and the number itself."""
    sizes = [len(RANGES[len(str(number))]) for number in (question.a, question.b)]
    return -math.log(3) - sum(math.log(3) + math.log(size) for size in sizes)


def read_sum(document: str) -> Question:
    """The question of a sum; OutsideError says where the document leaves the language."""
    question = _read_question(document, 0, digits=2, operators="+")
    _compare(document, sum_text(question))
    return question


def read_call(document: str) -> Question:
    """The question of a call; OutsideError says where the document leaves the language."""
    _compare(document[:3], "Q: ")
    question = _read_question(document, 3, digits=3, operators="+-*")
    _compare(document, call_text(question))
    return question


def _read_question(document: str, position: int, digits: int, operators: str) -> Question:
    a, position = _read_number(document, position, digits)
    operator = document[position : position + 1]
    if not operator or operator not in operators:
        wanted = " or ".join(repr(sign) for sign in operators)
        raise OutsideError(position, f"expected {wanted} after {a}{_found(document, position)}")
    b, _ = _read_number(document, position + 1, digits)
    return Question(a, operator, b)


def _read_number(document: str, position: int, digits: int) -> tuple[int, int]:
    number = re.compile(rf"0|[1-9][0-9]{{0,{digits - 1}}}").match(document, position)
    if number is None:
        expected = f"expected a number of up to {digits} digits{_found(document, position)}"
        raise OutsideError(position, expected)
    return int(number[0]), number.end()


def _compare(document: str, right: str) -> None:
    if document == right:
        return
    position = 0
    while position < min(len(document), len(right)) and document[position] == right[position]:
        position += 1
    expected = repr(right[position : position + 12]) if position < len(right) else "the end"
    raise OutsideError(position, f"expected {expected}{_found(document, position)}")


def _found(document: str, position: int) -> str:
    if position >= len(document):
        return ", but the document ends there"
    return f", found {document[position : position + 12]!r}"
