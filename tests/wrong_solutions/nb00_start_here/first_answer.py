"""Planted solutions to 00.first_answer."""

from fractions import Fraction

import numpy as np
import torch

from wrong_solutions import planting

wrong, right = planting("00.first_answer")

for hint_id, value in [
    ("equal-shares", 500),
    ("equal-shares", 1000 / 2),
    ("first-candidate", 731),
    ("first-candidate", 731.06),
    ("a-probability", 0.269),
    ("a-probability", torch.tensor(0.2689)),
    ("percent", 26.9),
    ("percent", 27),
    ("share-of-logits", 1000 / 3),
    ("share-of-logits", 333),
    ("general", 0),
    ("general", 267.9),
    ("general", 270.5),
    ("general", -269),
    ("general", float("nan")),
    ("general", float("inf")),
    ("general", "269"),
    ("general", True),
    ("general", [269]),
    ("general", [731, 269]),
    ("general", []),
    ("general", {}),
    ("general", torch.tensor([])),
    ("general", np.array([269.0])),
    ("general", 269 + 0j),
    ("general", print),
    ("general", (269, 269)),
]:
    wrong(hint_id)(value)

for value in [269, 268.94, 1000 * np.exp(1) / (np.exp(1) + np.exp(2)), torch.tensor(269), Fraction(269), 268, 270,
              np.float32(268.9), 1000 * torch.tensor([2.0, 1.0]).softmax(-1)[1]]:  # fmt: skip
    right(value)
