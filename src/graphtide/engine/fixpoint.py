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

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, edge_arrays
from graphtide.engine.changes import Change
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.sections import fixpoint_section
from graphtide.kernels import fixpoint_records as records
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection, selection, why_not_selection
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back."""

    log: Any
    count: int
    vertices: int
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
        self._parameters = GrowingParameters(program, parameters, graph.vertices)
        edge_arrays(graph, program)
        self._done: list[_Done] = []
        self._advances = 0
        self._seen: Any = None
        self._read: Any = None
        self.touched = 0

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        source = generated_source(fixpoint_section(self.program, self._selection), "fixpoint")
        return generated_module(source, self.program.name)

    @cached_property
    def _arrays(self) -> dict[str, GrowingArray]:
        types: dict[str, Any] = {"value": FIELD_TYPES[self._selection.type]}
        types |= dict.fromkeys(("parent", "level", "stamp", "heap", "place"), np.int32)
        return {name: GrowingArray(np.empty(0, dtype)) for name, dtype in types.items()}

    @property
    def vertices(self) -> int:
        """How many vertices have a value: those of the graph as of the last repair."""
        return self._arrays["value"].length

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; a view of the state, not a copy."""
        return self._arrays["value"].view

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self._done.clear()
        self._fit(self.graph.vertices)
        self._arrays["stamp"].view.fill(-1)
        self.kernels.run_from_scratch(self._context, self._state)

    def advance(self, inserted: Int32, deleted: Int32) -> Change:
        """Flip edges (inside numbers) and bring the values up to date."""
        self.graph.flip(inserted, deleted)
        return self.repair(inserted, deleted)

    def repair(self, inserted: Int32, deleted: Int32) -> Change:
        """Bring the values up to date with a graph that has been flipped already.

        Vertices that the graph has got since are there with their start, and are not reported
        where they keep it.
        """
        before = self.vertices
        if before != self.graph.vertices:
            self._fit(self.graph.vertices)
            self.kernels.begin_vertices(self._context, self._state, before)
        self._advances += 1
        log, count, self.touched = self.kernels.repair(
            self._context, self._state, inserted, deleted, self._advances
        )
        self._done.append(_Done(log, count, before, inserted, deleted))
        return self._changes(log, count)

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included. O(what it changed)."""
        last = self.restore()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)

    def restore(self) -> _Done:
        """Undo the last repair; flipping the graph back is left to the caller."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self.kernels.roll_back(self._state, last.log, last.count)
        self._fit(last.vertices)
        return last

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""
        self._done.clear()

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference."""
        other = FixpointMaintainer(self.graph, self.program, self._parameters.view)
        other.start()
        wrong = np.flatnonzero(self.values != other.values)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {self.values[vertex]}, from scratch {other.values[vertex]}"
            )

    def _fit(self, vertices: int) -> None:
        for array in self._arrays.values():
            array.resize(vertices)
        self._parameters.resize(vertices)
        self.__dict__.pop("_state", None)
        self._seen = None

    @cached_property
    def _state(self) -> Any:
        return records.FixpointState(**{name: array.view for name, array in self._arrays.items()})

    @property
    def _context(self) -> Any:
        """What kernels read; made anew only where the graph or the parameters have grown."""
        if self._seen is not self.graph.adjacency:
            self._seen = self.graph.adjacency
            properties = edge_arrays(self.graph, self.program)
            self._read = records.Context(self._seen, properties, self._parameters.view)
        return self._read

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
