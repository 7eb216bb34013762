"""The corpus on disk: which documents are written, how they are split, and what data/README.md says of them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from course_utils.storyworld import KINDS, arithmetic, floor, write

SEED = 20260
TALES = {"train": 6500, "validation": 500}
CALLS = {"train": 2500, "validation": 250}
SPLITS = ("train", "validation")
COMMAND = "python -m course_utils.storyworld data"
BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"


def make_corpus() -> dict[str, list[str]]:
    """All documents by file name, the same at every call.

    No document occurs twice. Of the 5,050 unordered pairs of the sums, a tenth is validation, in both orders.
    """
    corpus = {}
    for number, (kind, sizes) in enumerate({"tales": TALES, "calls": CALLS}.items()):
        drawn = _distinct(kind, sum(sizes.values()), Random(SEED + number))
        corpus[f"{kind}.validation.txt"] = drawn[: sizes["validation"]]
        corpus[f"{kind}.train.txt"] = drawn[sizes["validation"] :]
    corpus["sums.train.txt"], corpus["sums.validation.txt"] = _split_sums(Random(SEED + 2))
    return {name: corpus[name] for name in file_names()}


def file_names() -> Iterator[str]:
    """The names of the corpus files, in the order in which they are listed."""
    return (f"{kind}.{split}.txt" for kind in KINDS for split in SPLITS)


def _distinct(kind: str, count: int, rng: Random) -> list[str]:
    documents: dict[str, None] = {}
    while len(documents) < count:
        documents[write(kind, rng)] = None
    return list(documents)


def _split_sums(rng: Random) -> tuple[list[str], list[str]]:
    pairs = [(a, b) for a in range(100) for b in range(a, 100)]
    held_out = set(_shuffled(pairs, rng)[: len(pairs) // 10])
    train: list[str] = []
    validation: list[str] = []
    for a, b in _shuffled([(a, b) for a in range(100) for b in range(100)], rng):
        split = validation if (min(a, b), max(a, b)) in held_out else train
        split.append(arithmetic.sum_text(arithmetic.Question(a, "+", b)))
    return train, validation


def _shuffled(items: list[tuple[int, int]], rng: Random) -> list[tuple[int, int]]:
    """A random order; random() alone has a stream that Python promises to keep, shuffle() has not."""
    return [item for _, item in sorted((rng.random(), item) for item in items)]


def join_documents(documents: list[str]) -> str:
    """The text of a file: documents joined by a blank line, and a final newline."""
    return "\n\n".join(documents) + "\n"


def describe(corpus: dict[str, list[str]]) -> str:
    """The generated part of data/README.md: a table of the files and one of the floors, in Markdown."""
    lines = [f"Written by `{COMMAND}`.", "", "| file | documents | bytes | sha256 |", "|---|---:|---:|---|"]
    for name, documents in corpus.items():
        content = join_documents(documents).encode()
        digest = hashlib.sha256(content).hexdigest()
        lines.append(f"| `{name}` | {len(documents):,} | {len(content):,} | `{digest}` |")
    lines += ["", "| kind | floor on the validation file (nats a symbol) |", "|---|---:|"]
    lines += [f"| {kind} | {floor(corpus[f'{kind}.validation.txt']):.4f} |" for kind in KINDS]
    return "\n".join(lines) + "\n"


def write_corpus(folder: Path) -> None:
    """Write the six files into `folder`, and the generated part of its README.md if it has one."""
    corpus = make_corpus()
    folder.mkdir(parents=True, exist_ok=True)
    for name, documents in corpus.items():
        (folder / name).write_text(join_documents(documents), encoding="utf-8", newline="\n")
    readme = folder / "README.md"
    if readme.exists():
        prose = readme.read_text(encoding="utf-8")
        if BEGIN not in prose or END not in prose:
            raise ValueError(f"{readme} has lost its markers; it needs the lines {BEGIN!r} and {END!r}")
        before, after = prose.split(BEGIN)[0], prose.split(END)[1]
        readme.write_text(before + BEGIN + describe(corpus) + END + after, encoding="utf-8", newline="\n")
