"""The maintainer of selecting programs whose end result alone is wanted.

It keeps one value, one parent edge and one level a vertex. Right where the plan proves that
messages are monotone and never overtake their source, on edge data that meets the conditions of
the proof; both are checked here before anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.sections import edge_properties, fixpoint_section
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_analysis import Selection, selection, why_not_selection
from graphtide.plan.programs import ParameterKind, VertexProgram

Int32 = NDArray[np.int32]
_TYPES = {ValueType.INT: np.int64, ValueType.FLOAT: np.float64, ValueType.BOOL: np.bool_}


@dataclass(frozen=True)
class Change:
    """The vertices whose value differs from before an advance, with both values."""

    vertices: Int32
    old: NDArray[Any]
    new: NDArray[Any]

    def __len__(self) -> int:
        return len(self.vertices)


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back."""

    log: Any
    count: int
    inserted: Int32
    deleted: Int32


class FixpointMaintainer:
    """A selecting program on a graph in memory, current after every `advance`."""

    def __init__(
        self, graph: ResidentGraph, program: VertexProgram, parameters: tuple[Any, ...]
    ) -> None:
        self.graph = graph
        self.program = program
        self._selection = _checked_selection(program)
        self._properties = tuple(_property(graph, name) for name in edge_properties(program))
        self._parameters = _converted(program, parameters, graph.vertices)
        self._done: list[_Done] = []
        self._advances = 0
        self.touched = 0

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        source = generated_source(fixpoint_section(self.program, self._selection), "fixpoint")
        return generated_module(source, self.program.name)

    @cached_property
    def _state(self) -> Any:
        count = self.graph.vertices
        return self.kernels.FixpointState(
            value=np.empty(count, _TYPES[self._selection.type]),
            parent=np.empty(count, np.int32),
            level=np.empty(count, np.int32),
            stamp=np.full(count, -1, np.int32),
            heap=np.empty(count, np.int32),
            place=np.full(count, -1, np.int32),
        )

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; a view of the state, not a copy."""
        values: NDArray[Any] = self._state.value
        return values

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self._done.clear()
        self.kernels.run_from_scratch(self._context(), self._state)

    def advance(self, inserted: Int32, deleted: Int32) -> Change:
        """Flip edges (inside numbers) and bring the values up to date."""
        self.graph.flip(inserted, deleted)
        self._advances += 1
        log, count, self.touched = self.kernels.repair(
            self._context(), self._state, inserted, deleted, self._advances
        )
        self._done.append(_Done(log, count, inserted, deleted))
        return self._changes(log, count)

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included. O(what it changed)."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self.kernels.roll_back(self._state, last.log, last.count)
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference."""
        other = FixpointMaintainer(self.graph, self.program, self._parameters)
        other.start()
        wrong = np.flatnonzero(self.values != other.values)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {self.values[vertex]}, from scratch {other.values[vertex]}"
            )

    def _context(self) -> Any:
        return self.kernels.Context(self.graph.adjacency, self._properties, self._parameters)

    def _changes(self, log: Any, count: int) -> Change:
        vertices = log.vertex[:count]
        new = self.values[vertices]
        differs = new != log.value[:count]
        return Change(vertices[differs], log.value[:count][differs], new[differs])


def _checked_selection(program: VertexProgram) -> Selection:
    found = selection(program)
    if found is None or found.initial is None or not found.settles:
        reason = why_not_selection(program) or "its messages may overtake their source"
        raise InputError(f"{program.name} has no fixpoint mode: {reason}")
    return found


def _property(graph: ResidentGraph, name: str) -> NDArray[Any]:
    if name not in graph.properties:
        known = ", ".join(graph.properties) or "none"
        raise InputError(f"the edges have no property '{name}'", hint=f"they have: {known}")
    return graph.properties[name]


def _converted(program: VertexProgram, values: tuple[Any, ...], vertices: int) -> tuple[Any, ...]:
    """Parameters as kernels take them: ints, floats, and a mask for a set of vertices."""
    found: list[Any] = []
    for item, value in zip(program.parameters, values, strict=True):
        if item.kind is ParameterKind.VERTICES and not isinstance(value, np.ndarray):
            mask = np.zeros(vertices, np.bool_)
            mask[list(value)] = True
            found.append(mask)
        else:
            found.append(value)
    return tuple(found)
