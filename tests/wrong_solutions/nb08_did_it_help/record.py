"""Planted solutions to 08.record."""

from wrong_solutions import planting

wrong, right = planting("08.record")


FOUR = {"model", "seed", "sample", "order"}
for answer in (FOUR, ["order", "sample", "seed", "model"], ("Model", "Seed", "Sample", "Order"), frozenset(FOUR),
               dict.fromkeys(FOUR, "?"), "model, seed, sample, order", FOUR | {"batch_size"}):  # fmt: skip
    right(answer)

for hint_id, answer in (
    ("already-there", FOUR | {"prompt"}),
    ("already-there", {"checkpoint"}),
    ("already-there", FOUR | {"temperature", "top_p"}),
    ("already-there", ["stopping", "seed"]),
    ("already-there", FOUR | {"versions"}),
    ("already-there", FOUR | {"text"}),
    ("unknown-name", FOUR | {"author"}),
    ("unknown-name", {"random seed"}),
    ("unknown-name", "seed and sample"),
    ("a-result", FOUR | {"finish_reason"}),
    ("a-result", FOUR | {"token_ids"}),
    ("a-result", {"finish reason", "token-ids", "use_cache", *FOUR}),
    ("changes-nothing", FOUR | {"use_cache"}),
    ("changes-nothing", FOUR | {"batch_size", "seconds"}),
    ("changes-nothing", FOUR | {"seconds"}),
    ("changes-nothing", {"use_cache", "batch_size"}),
    ("no-seed", FOUR - {"seed"}),
    ("no-seed", {"model"}),
    ("no-sample", FOUR - {"sample"}),
    ("no-sample", {"seed"}),
    ("no-weights", FOUR - {"model"}),
    ("no-weights", {"seed", "sample"}),
    ("no-order", FOUR - {"order"}),
    ("general", 4),
    ("general", {1, 2}),
    ("general", [["seed"], ["order"]]),
    ("general", lambda: FOUR),
):
    wrong(hint_id)(answer)
