"""A failing case made smaller: fewer steps, edges and statements, as long as it still fails."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.equivalence.random_programs.cases import Case

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, seconds: float = 30) -> Case:
    """The smallest that is found in a given time by leaving out one thing after the other."""
    smaller, end = True, time.monotonic() + seconds
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            if time.monotonic() > end:
                return case
            if _still(candidate, fails):
                case, smaller = candidate, True
                break
    return case


def _still(case: Case, fails: Fails) -> bool:
    try:
        return fails(case)
    except Exception:  # No legal program, or no vertex of that name: not a smaller case.
        return False


def _smaller(case: Case) -> Iterator[Case]:
    if len(case.steps) > 1:
        yield replace(case, steps=case.steps[: len(case.steps) // 2])
    for at in reversed(range(len(case.steps))):
        yield replace(case, steps=case.steps[:at] + case.steps[at + 1 :])
    for at in range(len(case.edges)):
        yield replace(case, edges=case.edges[:at] + case.edges[at + 1 :])
    for at, step in enumerate(case.steps):
        for side in ("insert", "delete"):
            rows = getattr(step, side)
            for row in range(len(rows)):
                less = replace(step, **{side: rows[:row] + rows[row + 1 :]})
                yield replace(case, steps=(*case.steps[:at], less, *case.steps[at + 1 :]))
    if case.knobs:
        yield replace(case, knobs={})
    for text in _smaller_texts(case.text):
        used = {name: value for name, value in case.parameters.items() if name in text}
        yield replace(case, text=text, parameters=used)
    for at in range(len(case.vertices)):
        yield replace(case, vertices=case.vertices[:at] + case.vertices[at + 1 :])


def _smaller_texts(text: str) -> Iterator[str]:
    """The text with a statement less, a block in place of its `if`, or a part of an expression."""
    count = sum(1 for _ in ast.walk(ast.parse(text)))
    for at in range(count):
        for way in range(4):
            tree = ast.parse(text)
            if _cut(tree, at, way):
                yield ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _cut(tree: ast.Module, at: int, way: int) -> bool:
    node = list(ast.walk(tree))[at]
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list) and node in value:
                return _cut_from_list(value, node, way, isinstance(parent, ast.ClassDef))
            if value is node and isinstance(node, ast.expr):
                parts = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr)]
                if way < len(parts):
                    setattr(parent, name, parts[way])
                    return True
    return False


def _cut_from_list(siblings: list[ast.AST], node: ast.AST, way: int, whole: bool) -> bool:
    place = siblings.index(node)
    if isinstance(node, ast.expr):
        parts = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr)]
        if way < len(parts):
            siblings[place] = parts[way]
            return True
        return False
    if isinstance(node, ast.stmt) and way == 0 and (whole or len(siblings) > 1):
        siblings.pop(place)
        return True
    if isinstance(node, ast.If | ast.For) and way == 1:
        siblings[place : place + 1] = node.body
        return True
    if isinstance(node, ast.If) and way == 2 and node.orelse:
        siblings[place : place + 1] = node.orelse
        return True
    return False
