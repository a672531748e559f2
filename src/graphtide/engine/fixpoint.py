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

from graphtide.engine.binding import (
    FIELD_TYPES,
    GrowingParameters,
    edge_arrays,
    parameter_arrays,
)
from graphtide.engine.changes import Change
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph, misplaced
from graphtide.engine.sections import fixpoint_section
from graphtide.engine.settling import settle, settled_values
from graphtide.engine.stretches import Followed, Patience, followed, step_edges, undo_logs
from graphtide.kernels import fixpoint_records as records
from graphtide.kernels.blocks import Block
from graphtide.kernels.flips import Delta
from graphtide.kernels.stretch_records import Stretch, StretchLimits
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection, selection, why_not_selection
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]


_NO_EDGES = np.empty(0, np.int32)


class _Done(NamedTuple):
    """A repair that can be undone; without a log if it changed nothing."""

    log: records.ChangeLog | None
    vertices: int
    inserted: Int32
    deleted: Int32


class FixpointMaintainer:
    """A selecting program on a graph in memory, current after every `advance`."""

    patience = 0.25
    """A repair may look at so many edges for each edge or vertex before it is broken off."""

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
        self._orders = np.zeros(2, np.int64)
        self._seen: Any = None
        self._read: Any = None
        self._block: Block | None = None
        self._no_change = Change(_NO_EDGES, *[np.empty(0, FIELD_TYPES[self._selection.type])] * 2)
        self.vertices = 0
        """How many vertices have a value: those of the graph as of the last repair."""
        self.touched = 0
        """How many edges the last repair looked at."""

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        section = fixpoint_section(self.program, self._selection)
        templates = ("selecting", "settling", "trimming", "fixpoint", "fixpoint_call", "stretch")
        source = generated_source(section, *templates)
        return generated_module(source, self.program.name)

    @cached_property
    def _arrays(self) -> dict[str, GrowingArray]:
        types: dict[str, Any] = {"value": FIELD_TYPES[self._selection.type]}
        types |= dict.fromkeys(("parent", "level", "stamp", "heap", "place"), np.int32)
        return {name: GrowingArray(np.empty(0, dtype)) for name, dtype in types.items()}

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
        return self._follow(self.graph.new_delta(inserted, deleted), (inserted, deleted), True)

    def repair(self, inserted: Int32, deleted: Int32) -> Change:
        """Bring the values up to date with a graph that has been flipped already.

        Vertices that the graph has got since are there with their start, and are not reported
        where they keep it.
        """
        return self._follow(self.graph.delta(inserted, deleted), (inserted, deleted), False)

    def _follow(self, delta: Delta, edges: tuple[Int32, Int32], flips: bool) -> Change:
        """An advance or a repair."""
        graph, before = self.graph, self.vertices
        if before != graph.vertices:
            self._add_vertices(before)
        if self._block is None or self._seen is not graph.adjacency:
            self._block = self._handed_over()
        self._advances += 1
        more = len(edges[0]) - len(edges[1]) if flips else 0
        most = int(self.patience * max(graph.live + more, graph.vertices)) + 1024
        orders = self._orders
        orders[records.NOW], orders[records.MOST] = self._advances, most
        misfit, logged, changed, touched = self.kernels.advance(self._block.words, *delta, flips)
        if misfit >= 0:
            if before != self.vertices:
                self._fit(before)
            raise misplaced(delta, misfit)
        graph.live += more
        self.touched = touched
        if touched > most:
            log, changed = self._run_again()
        elif logged:
            log = records.ChangeLog(*(array[:logged].copy() for array in self._state.log))
        else:
            log = None
        self._done.append(_Done(log, before, *edges))
        if log is None or not changed:
            return self._no_change
        vertices = log.vertex[:changed].copy()
        return Change(vertices, log.value[:changed].copy(), self.values[vertices])

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
                self._done.append(_Done(log, self.vertices, *edges))
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
        if last.log is not None:
            self._put_back(last.log)
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
        """Run from scratch; a log of what comes out otherwise, and how many values are in it."""
        state = self._state
        kept = (state.value, state.parent, state.level)
        before = tuple(array.copy() for array in kept)
        self._run()
        moved = state.value != before[0]
        turned = (state.parent != before[1]) | (state.level != before[2])
        vertices = np.concatenate([np.flatnonzero(moved), np.flatnonzero(turned & ~moved)])
        log = records.ChangeLog(vertices.astype(np.int32), *(old[vertices] for old in before))
        return log, int(np.count_nonzero(moved))

    def _put_back(self, log: records.ChangeLog) -> None:
        """Undo what is logged; every vertex is in the log once."""
        state = self._state
        state.value[log.vertex] = log.value
        state.parent[log.vertex] = log.parent
        state.level[log.vertex] = log.level

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
        self.vertices = vertices
        self.__dict__.pop("_state", None)
        self._seen = self._block = None

    @cached_property
    def _state(self) -> records.FixpointState:
        kept = {name: array.view for name, array in self._arrays.items()}
        room = self.vertices // 4 + 1024
        types = np.int32, self._arrays["value"].dtype, np.int32, np.int32
        log = records.ChangeLog(*(np.empty(room, dtype) for dtype in types))
        return records.FixpointState(**kept, log=log, fallen=np.empty(room, np.int32))

    def _handed_over(self) -> Block:
        """All that an advance works with; made anew where any of it is."""
        context = self._context
        parameters = parameter_arrays(self.program, context.parameters)
        return Block(context.graph, self._state, self._orders, context.properties, parameters)

    @property
    def _context(self) -> records.Context:
        """What kernels read; made anew only where the graph or the parameters have grown."""
        if self._seen is not self.graph.adjacency:
            self._seen, self._block = self.graph.adjacency, None
            properties = edge_arrays(self.graph, self.program)
            self._read = records.Context(self._seen, properties, self._parameters.view)
        found: records.Context = self._read
        return found


def _checked_selection(program: VertexProgram) -> Selection:
    found = selection(program)
    if found is None or found.initial is None or not found.settles:
        reason = why_not_selection(program) or "its messages may overtake their source"
        raise InputError(f"{program.name} has no fixpoint mode: {reason}")
    return found
