"""A program, a graph and what happens to it: all that a check needs, and how to write it down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.equivalence.random_programs.given_vertices import vertex_columns

Row = tuple[Any, Any, float, int, bool]
"""An edge: its ends by id, then weight, toll and open."""
TYPES: dict[str, type] = {"weight": float, "toll": int, "open": bool}
PROPERTIES = tuple(TYPES)


@dataclass(frozen=True)
class Step:
    """Edges in and out, the last advance undone, or all undoing given up.

    Rows of `delete` that are not there are passed over, and so is an undoing of nothing: a
    journey stays one when steps are left out.
    """

    kind: Literal["advance", "rollback", "forget"] = "advance"
    insert: tuple[Row, ...] = ()
    delete: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Case:
    """The text of a program with its parameters, on a graph that changes step by step."""

    text: str
    parameters: dict[str, Any]
    vertices: tuple[Any, ...]
    edges: tuple[Row, ...]
    steps: tuple[Step, ...]
    knobs: dict[str, Any] = field(default_factory=dict)
    family: str = ""
    hasty: bool = False
    seed: str = ""
    directed: bool = True

    @property
    def name(self) -> str:
        return self.text.split("class ", 1)[1].split(":", 1)[0].strip()


def pasteable(case: Case, mode: str) -> str:
    """The case as a script that a person can run."""
    given = _given(case)
    options = "".join(f", {name}={value!r}" for name, value in case.knobs.items())
    lines = _opening(case, case.vertices, case.edges)
    lines.append(f"live = g.maintain({case.name}({given}), mode={mode!r}{options})")
    lines += _steps(case)
    lines.append("print({name: live[name] for name in live.fields})")
    return "\n".join(lines)


def _steps(case: Case) -> Iterator[str]:
    """A line a step; vertices that enter are listed with what the data say of them."""
    before = [list(case.vertices)]
    for step in case.steps:
        if step.kind == "advance":
            ends = dict.fromkeys(end for row in step.insert for end in row[:2])
            new = [end for end in ends if end not in before[-1]]
            before.append([*before[-1], *new])
            listed = vertex_columns(case.seed, new) if new else None
            rows = f"insert={list(step.insert)}, delete={list(step.delete)}"
            yield f"g.advance({rows}, vertices={listed})"
        else:
            before = before[-1:] if step.kind == "forget" else before[:-1] or before
            yield f"g.{step.kind}()"


def pasteable_run(
    case: Case,
    graph: tuple[tuple[Any, ...], tuple[Row, ...]],
    versions: dict[str, list[bool]],
    how: dict[str, Any],
) -> str:
    """The same for a run over versions of a graph."""
    options = ", ".join(f"{name}={value!r}" for name, value in how.items())
    lines = _opening(case, *graph)
    lines.append(f"versions = {versions}")
    lines.append(f"run = g.run({case.name}({_given(case)}), versions, {options})")
    lines.append("print({name: run.table(name).to_pydict() for name in versions})")
    return "\n".join(lines)


def _given(case: Case) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in case.parameters.items())


def _opening(case: Case, vertices: tuple[Any, ...], edges: tuple[Row, ...]) -> list[str]:
    columns = list(zip(*edges, strict=True)) or [()] * 5
    lines = ["import datetime", "import math", "from math import inf"]
    lines += ["import numpy as np", "import graphtide as gt"]
    lines += ["", case.text.strip(), "", f"g = gt.Graph({list(columns[0])}, {list(columns[1])},"]
    lines.append(f"    vertices={vertex_columns(case.seed, vertices)},")
    for (name, kind), column in zip(TYPES.items(), columns[2:], strict=True):
        lines.append(f"    {name}=np.array({list(column)}, {kind.__name__}),")
    return [*lines, f"    directed={case.directed},", ")"]
