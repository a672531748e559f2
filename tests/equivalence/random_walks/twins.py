"""Twins: what walks send to the whole graph, a twin of the class sends to one vertex of each walk.

What the vertices got then adds up to what the graph got. No oracle says what is right here: two
ways through the product must agree, after every step and in every version of a run.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.equivalence.random_walks.words import ACCUMULATORS

_SENDS = re.compile(r"( +)self\.all_(\w+)(.*)")
_LOOP = re.compile(r"for (v\d+)\b")
_TYPES = {"int": "int", "count": "int", "float": "float", "factor": "float", "bool": "bool"}
_FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "Count": sum,
    "Min": min,
    "Max": max,
    "Or": any,
    "And": all,
}


class Twin:
    """The text of a twin, and what its vertices say of the graph; `names` are those of globals.

    Where the class reads what the graph got, its twin sends to both.
    """

    def __init__(self, text: str, width: int, seed: int) -> None:
        self._random, self._width = random.Random(seed), width
        head, traverse, update = _parts(text)
        self.names = sorted({found[2] for found in map(_SENDS.match, traverse) if found})
        read = {name for name in self.names if any(f"self.all_{name}" in line for line in update)}
        head = [line for line in head if not self._is_idle(line, read)]
        for name in self.names:
            declared, kind, _ = ACCUMULATORS[name]
            sized = re.search(r"size=[^)]*", declared)
            size = f", {sized[0]}" if sized else ""
            head += [f"    sent_{name} = {declared}"]
            head += [f"    told_{name} = gt.State({_TYPES[kind]}{size})"]
        update = [*(update or ["", "    def update(self, v):"]), *self._told_lines()]
        self.text = "\n".join([*head, *self._sent_lines(traverse, read), *update]) + "\n"

    @property
    def told(self) -> list[str]:
        """The state of vertices that tells what they got."""
        return [f"told_{name}" for name in self.names]

    def globals(self, columns: dict[str, list[Any]]) -> dict[str, Any]:
        """What the graph should have got, from the columns of what vertices tell."""
        found = {}
        for name in self.names:
            rows = columns[f"told_{name}"]
            kind = ACCUMULATORS[name][0].removeprefix("gt.").partition("(")[0]
            if self._size(name) is None:
                found[f"all_{name}"] = _folded(kind, rows)
            else:
                found[f"all_{name}"] = [
                    _folded(kind, list(items)) for items in zip(*rows, strict=True)
                ]
        return found

    def _is_idle(self, line: str, read: set[str]) -> bool:
        name = line.strip().partition(" = ")[0].removeprefix("all_")
        return line.startswith("    all_") and name not in read

    def _size(self, name: str) -> int | None:
        declared, _, least = ACCUMULATORS[name]
        return self._width if '"width"' in declared else least

    def _sent_lines(self, traverse: list[str], read: set[str]) -> Iterator[str]:
        """The lines of `traverse`, each send to the graph one to a vertex that the walk is at."""
        around: list[tuple[int, str]] = []
        for line in traverse:
            indent = len(line) - len(line.lstrip())
            around = [(at, name) for at, name in around if at < indent]
            if loop := _LOOP.match(line.strip()):
                around.append((indent, loop[1]))
            found = _SENDS.match(line)
            if found is None or found[2] in read:
                yield line
            if found is not None:
                vertex = self._random.choice(["u", *(name for _, name in around)])
                yield f"{found[1]}{vertex}.sent_{found[2]}{found[3]}"

    def _told_lines(self) -> Iterator[str]:
        for name in self.names:
            size = self._size(name)
            for index in [""] if size is None else [f"[{at}]" for at in range(size)]:
                # A sum is a number, also where what was sent are numbers of vertices.
                plain = " + 0" if _TYPES[ACCUMULATORS[name][1]] == "int" else ""
                yield f"        v.told_{name}{index} = v.sent_{name}{index}{plain}"


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of declarations, of functions up to `traverse`, and of `update`, if any."""
    declared, *functions = re.split(r"\n(?=    def )", text.rstrip("\n"))
    updates = [function for function in functions if "def update" in function]
    others = [function for function in functions if function not in updates]
    return (
        declared.rstrip("\n").splitlines(),
        [line for function in others for line in ("", *function.rstrip("\n").splitlines())],
        [line for function in updates for line in ("", *function.splitlines())],
    )


def _folded(kind: str, values: list[Any]) -> Any:
    """What all vertices got together."""
    if kind in _FOLDS:
        return _FOLDS[kind](values)
    if isinstance(values[0], float):
        return math.fsum(values) if kind == "Sum" else math.prod(values)
    whole = sum(values) if kind == "Sum" else math.prod(values)
    return (whole + 2**63) % 2**64 - 2**63
