"""Carry what a learner wrote from their copy of a notebook into a newer version of it.

Three kinds of cells are the learner's: the exercises, the guesses, and the cells that they added. All others are the
course's, and come from the newer version.
"""

import ast
import re


def carry(mine: dict, new: dict, shipped: frozenset[str]) -> tuple[dict, int, int]:
    """The newer version with the learner's cells in it, the number of answers in it, and of cells added to it.

    mine: the learner's copy. new: the newer version. shipped: the ids of all cells that the course ever had in this
    notebook, so that every other one is the learner's. An answer finds its place by its cell's id, or by its
    exercise's tag if the ids were lost. A stub in which nothing is written takes the new text. An added cell follows
    the cell that it followed in the copy; so does an answer whose cell the newer version no longer has.
    """
    cells = [dict(cell) for cell in new["cells"]]
    places = {cell["id"]: cell for cell in cells}
    kept = {cell.get("id") for cell in mine["cells"]} & set(places)
    by_tag = {tag: cell for cell in cells for tag in _exercise_tags(cell) if cell["id"] not in kept}
    following: dict[str | None, list[dict]] = {}  # added cells, by the id of the course's cell before them
    before, answers, added = None, 0, 0
    for cell in mine["cells"]:
        written = _is_answer(cell) and not is_untouched(_text(cell))
        place = places.get(cell.get("id")) or next((by_tag[t] for t in _exercise_tags(cell) if t in by_tag), None)
        if place is not None:
            before = place["id"]
            if written and _is_answer(place):
                place["source"] = _text(cell)
                answers += 1
        elif written or (cell.get("id") and cell["id"] not in shipped and _text(cell).strip()):
            following.setdefault(before, []).append(cell)
            added += 1
    merged = following.get(None, [])
    for cell in cells:
        merged += [cell, *following.get(cell["id"], [])]
    return {**new, "cells": merged}, answers, added


def is_untouched(source: str) -> bool:
    """True for a stub in which nothing is written: only `...`, docstrings, imports and empty definitions.

    A comment counts as written.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False
    return not re.search(r"^\s*#|\s#\s", source, re.MULTILINE) and all(map(_says_nothing, body))


def _says_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(body=body) | ast.ClassDef(body=body):
            return all(map(_says_nothing, body))
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is not None and _all_dots(value)
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ... or isinstance(value, str)
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass))


def _all_dots(value: ast.expr) -> bool:
    """True for `...`, and for a tuple, list or dictionary in which every value is `...`."""
    match value:
        case ast.Constant(value=constant):
            return constant is ...
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Dict(values=values):
            return bool(values) and all(map(_all_dots, values))
    return False


def _text(cell: dict) -> str:
    return "".join(cell["source"])  # the format allows a list of lines as well


def _exercise_tags(cell: dict) -> list[str]:
    tags = cell.get("metadata", {}).get("tags") or []
    return [tag for tag in tags if str(tag).startswith("exercise:")]


def _is_answer(cell: dict) -> bool:
    guess = str(cell.get("id", "")).startswith("guess-")
    return cell["cell_type"] == "code" and (guess or bool(_exercise_tags(cell)))
