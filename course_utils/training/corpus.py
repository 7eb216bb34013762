"""What a training step sees: a batch of documents from each group, chosen by the seed and the number of the step."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from course_utils.text import CharVocab

IGNORED = -100  # the target at padding, which is not scored


class Corpus:
    """Groups of documents, encoded once. A batch is a function of seed and step, so that a run can be resumed.

    Each row is one document from <bos> to <eos>: it begins where a text begins, and no text sees another. One that is
    longer than `longest` + 1 tokens is cut into pieces.
    """

    def __init__(self, vocab: CharVocab, groups: Sequence[Sequence[str]], longest: int):
        if isinstance(groups, str) or any(isinstance(group, str) for group in groups):
            raise TypeError("groups holds a str; expected lists of documents, such as [load_documents('tales')].")
        if not groups or not all(groups):
            raise ValueError("Expected at least one group of documents, and a document in each.")
        self.pad_id = vocab.pad_id
        self.groups = [sorted(self._rows(vocab, group, longest), key=len) for group in groups]
        self._tokens = vocab.tokens

    def fingerprint(self) -> str:
        """The sha256 of all that batches depend on: the vocabulary, and each row of each group in its order."""
        digest = hashlib.sha256(json.dumps(self._tokens).encode())
        for group in self.groups:
            digest.update(f"group of {len(group)}".encode())
            for row in group:
                digest.update(f" {len(row)}:".encode() + row.astype("<i8").tobytes())
        return digest.hexdigest()

    @staticmethod
    def _rows(vocab: CharVocab, documents: Sequence[str], longest: int) -> list[np.ndarray]:
        rows = []
        for document in documents:
            ids = vocab.encode_documents([document])
            rows += [ids[start : start + longest + 1] for start in range(0, len(ids) - 1, longest)]
        return rows

    def batches(self, batch: Sequence[int], seed: int, step: int) -> list[tuple[Tensor, Tensor]]:
        """One batch of each group: inputs and targets, int64 (B, T), right-padded; the target at padding is IGNORED.

        batch: how many documents of each group. Those of a batch are neighbours in length, so that little is padding.
        """
        if len(batch) != len(self.groups):
            raise ValueError(f"batch is {batch}, for {len(self.groups)} groups; expected a number for each.")
        made = []
        for number, (group, count) in enumerate(zip(self.groups, batch, strict=True)):
            key = np.array([seed, number], dtype=np.uint64)
            random = np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, step, 0], dtype=np.uint64)))
            window = min(len(group), max(256, 8 * count))
            first = random.integers(len(group) - window + 1)
            made.append(self._padded([group[first + i] for i in random.integers(window, size=count)]))
        return made

    def _padded(self, rows: list[np.ndarray]) -> tuple[Tensor, Tensor]:
        width = max(map(len, rows)) - 1
        inputs = torch.full((len(rows), width), self.pad_id)
        targets = torch.full((len(rows), width), IGNORED)
        for index, row in enumerate(rows):
            ids = torch.from_numpy(row)
            inputs[index, : len(ids) - 1], targets[index, : len(ids) - 1] = ids[:-1], ids[1:]
        return inputs, targets
