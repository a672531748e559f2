"""The maintainer of selecting programs whose end result alone is wanted.

It keeps one value, one parent edge and one level a vertex. Right where the plan proves that
messages are monotone and never overtake their source, on edge data that meets the conditions of
the proof; both are checked here before anything runs.

A repair that has looked at a fair share of the graph is broken off, undone and replaced by a run
from scratch. What that changed is logged like any repair, so that it is undone like one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, edge_arrays
from graphtide.engine.changes import Change
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.sections import fixpoint_section
from graphtide.engine.settling import settle, settled_values
from graphtide.engine.stretches import Followed, Patience, followed, step_edges, undo_logs
from graphtide.kernels import fixpoint_records as records
from graphtide.kernels.stretch_records import Stretch, StretchLimits
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection, selection, why_not_selection
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]


class _Done(NamedTuple):
    """A repair that can be undone."""

    log: records.ChangeLog
    entries: int
    vertices: int
    inserted: Int32
    deleted: Int32


class FixpointMaintainer:
    """A selecting program on a graph in memory, current after every `advance`."""

    patience = 0.25
    """A repair may look at so many edges for each of the graph before it is broken off."""

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
        section = fixpoint_section(self.program, self._selection)
        templates = ("selecting", "settling", "trimming", "fixpoint", "stretch")
        source = generated_source(section, *templates)
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
        for name in ("stamp", "place"):
            self._arrays[name].view.fill(-1)
        self._run()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the version that the graph is at, apart from the state."""
        self._parameters.resize(self.graph.vertices)
        self._seen = None
        values = settled_values(self.program, self._selection, self.kernels, self._context)
        return {self._selection.state: values}

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
            self._add_vertices(before)
        self._advances += 1
        delta = self.graph.delta(inserted, deleted)
        most = int(self.patience * self.graph.live) + 1024
        context, state, now = self._context, self._state, self._advances
        log, count, self.touched = self.kernels.repair(context, state, delta, now, most)
        if self.touched > most:
            self.kernels.roll_back(state, log, count)
            log, count = self._run_again()
        self._done.append(_Done(_cut(log, count), count, before, inserted, deleted))
        return self._changes(log, count)

    def follow(self, stretch: Stretch, patience: Patience) -> Followed:
        """Many advances and rollbacks in one call, graph included, as far as patience goes.

        The last step that was made, and those on the way to it, can be undone one by one.
        """
        graph = self.graph
        assert self.vertices == graph.vertices
        limits = StretchLimits(graph.live, self.patience, *patience)
        context, state, now = self._context, self._state, self._advances + 1
        rows, way, length, steps, graph.live = self.kernels.follow_stretch(
            context, state, stretch, now, limits
        )
        self._advances += steps + 1
        if stretch.final[:steps].any():
            self._done.clear()
        path = list(undo_logs(way, length, stretch))
        for step, log in path:
            if log is not None:
                edges = step_edges(stretch, step)
                self._done.append(_Done(log, len(log.vertex), self.vertices, *edges))
        if steps:
            self.touched = int(rows.touched[steps - 1])
        return followed(rows, steps, tuple(entry.step for entry in path))

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included. O(what it changed)."""
        last = self.restore()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)

    def restore(self) -> _Done:
        """Undo the last repair; flipping the graph back is left to the caller."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self.kernels.roll_back(self._state, last.log, last.entries)
        if last.vertices != self.vertices:
            self._fit(last.vertices)
        return last

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""
        self._done.clear()

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference."""
        expected = self.scratch()[self._selection.state]
        wrong = np.flatnonzero(self.values != expected)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {self.values[vertex]}, from scratch {expected[vertex]}"
            )

    def _run(self) -> None:
        state = self._state
        reached = records.Reached(state.value, state.parent, state.level)
        settle(self.kernels, self._context, reached, state.heap)

    def _run_again(self) -> tuple[records.ChangeLog, int]:
        """Run from scratch, and log what comes out otherwise than it was."""
        state = self._state
        kept = (state.value, state.parent, state.level)
        before = tuple(array.copy() for array in kept)
        self._run()
        differs = state.value != before[0]
        for old, new in zip(before[1:], kept[1:], strict=True):
            differs |= old != new
        vertices = np.flatnonzero(differs).astype(np.int32)
        return records.ChangeLog(vertices, *(old[vertices] for old in before)), len(vertices)

    def _add_vertices(self, first: int) -> None:
        """Give vertices that came later their start; their edges are offered by the repair."""
        self._fit(self.graph.vertices)
        for name in ("stamp", "place"):
            self._arrays[name].view[first:] = -1
        state = self._state
        reached = records.Reached(state.value, state.parent, state.level)
        self.kernels.begin(self._context, reached, first, state.heap)

    def _fit(self, vertices: int) -> None:
        for array in self._arrays.values():
            array.resize(vertices)
        self._parameters.resize(vertices)
        self.__dict__.pop("_state", None)
        self._seen = None

    @cached_property
    def _state(self) -> records.FixpointState:
        return records.FixpointState(**{name: array.view for name, array in self._arrays.items()})

    @property
    def _context(self) -> records.Context:
        """What kernels read; made anew only where the graph or the parameters have grown."""
        if self._seen is not self.graph.adjacency:
            self._seen = self.graph.adjacency
            properties = edge_arrays(self.graph, self.program)
            self._read = records.Context(self._seen, properties, self._parameters.view)
        found: records.Context = self._read
        return found

    def _changes(self, log: records.ChangeLog, count: int) -> Change:
        vertices, old = log.vertex[:count], log.value[:count]
        if count == 0:
            return Change(vertices, old, old)
        new = self.values[vertices]
        differs = new != old
        return Change(vertices[differs], old[differs], new[differs])


def _cut(log: records.ChangeLog, count: int) -> records.ChangeLog:
    """A log without the room that it did not need, where that is much."""
    if len(log.vertex) <= 4 * count + 1024:
        return log
    return records.ChangeLog(*(array[:count].copy() for array in log))


def _checked_selection(program: VertexProgram) -> Selection:
    found = selection(program)
    if found is None or found.initial is None or not found.settles:
        reason = why_not_selection(program) or "its messages may overtake their source"
        raise InputError(f"{program.name} has no fixpoint mode: {reason}")
    return found
