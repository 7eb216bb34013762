"""Planted solutions to 03.which_order."""

from wrong_solutions import planting

wrong, right = planting("03.which_order")


for hint_id, value in [
    ("swapped", {(0,): "truncation first", (0, 1): "temperature first"}),
    ("same-order-twice", {(0,): "truncation first", (0, 1): "truncation first"}),
    ("same-order-twice", {(0,): "temperature first", (0, 1): "temperature first"}),
    ("incomplete", {(0,): "temperature first", (0, 1): ...}),
    ("incomplete", {(0,): None, (0, 1): "truncation first"}),
    ("incomplete", {(0,): "temperature first"}),
    ("general", {(0,): "top-p first", (0, 1): "temperature"}),
    ("general", {(1,): "temperature first", (0, 1): "truncation first"}),
    ("general", {(0,): True, (0, 1): False}),
    ("general", {(0,): "temperature first", (0, 1): "truncation first", (0, 1, 2): "neither"}),
    ("general", "temperature first"),
    ("general", {}),
    ("general", ["temperature first", "truncation first"]),
    ("general", {"temperature first": (0,), "truncation first": (0, 1)}),
    ("general", 0),
    ("general", float("nan")),
    ("general", print),
]:
    wrong(hint_id)(value)

for value in [
    {(0,): "temperature first", (0, 1): "truncation first"},
    {(0, 1): "Truncation first", (0,): " Temperature  First "},
    {0: "temperature first", frozenset({1, 0}): "truncation first"},
    dict([((0,), "temperature first"), ((1, 0), "truncation first")]),
]:
    right(value)
