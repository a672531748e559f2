"""What a program reads on the part of a graph that a task has: edges, vertices, their facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES
from graphtide.engine.shards.local_graph import WAYS, LocalGraph, Way
from graphtide.engine.vertex_data import VertexData
from graphtide.plan.expressions import ValueType, VertexProperty
from graphtide.plan.given_facts import FACTS, with_given_facts
from graphtide.plan.program_reads import vertex_properties
from graphtide.plan.programs import Direction, VertexProgram

Int64 = NDArray[np.int64]

GATHERED_ALONG: dict[Direction, tuple[Way, ...]] = {
    Direction.OUT: ("into",),
    Direction.IN: ("out",),
    Direction.BOTH: WAYS,
}
"""The edges that vertices gather along, by the direction of messages."""

DEGREES: dict[str, tuple[Way, ...]] = {
    "in_degree": ("into",),
    "out_degree": ("out",),
    "degree": WAYS,
}
"""The edges that each degree counts."""


class GivenData:
    """What the data say of the vertices that a task knows, and the facts of them."""

    def __init__(self, given: VertexData, facts: Mapping[str, Int64]) -> None:
        self._given = given
        self._facts = facts

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        """A property, or a fact under the name that it has as one."""
        fact = self._facts.get(wanted.name)
        return self._given.array(wanted) if fact is None else fact

    def code(self, text: str) -> int:
        """The code of a text."""
        return self._given.code(text)

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        """Nobody checks a part of a graph by itself."""
        return self.array(wanted)


@dataclass(frozen=True)
class Known:
    """The vertices that a task knows, as parameters are bound to them."""

    vertices: int
    vertex_data: VertexData


def edge_values(graph: LocalGraph, name: str, type_: ValueType) -> NDArray[Any]:
    """An edge property of all edges of a task, live or not, by their numbers."""
    kind = FIELD_TYPES.get(type_, np.int64)
    shards = [item for way in WAYS for item in graph.gathered.get(way, ())]
    values: list[NDArray[Any]] = [np.empty(0, kind)]
    values += [item.properties[name].astype(kind, copy=False) for item in shards]
    return np.concatenate(values)


def ways_needed(program: VertexProgram) -> tuple[tuple[Way, ...], tuple[Way, ...]]:
    """The ways whose edges a program gathers along, and those that it needs for degrees alone."""
    gathered = GATHERED_ALONG[program.direction]
    wanted = {FACTS[name] for name in vertex_properties(with_given_facts(program)) if name in FACTS}
    needed = {way for fact in wanted for way in DEGREES.get(fact, ())}
    return gathered, tuple(way for way in WAYS if way in needed and way not in gathered)


def members(known: Int64, value: Any) -> NDArray[np.bool_]:
    """Which of the vertices here are in a set of vertices."""
    return np.isin(known, np.asarray(list(value), np.int64))
