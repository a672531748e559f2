"""The maintainer of selecting programs whose every iteration is wanted: bounded runs, histories.

Results equal those of a synchronous run from scratch in every iteration. Where the number of
iterations is not bounded, the plan must prove that a run settles.
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
from graphtide.kernels import exact_records as records
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection, selection, why_not_selection
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
_COUNTERS = 7
_VERTICES, _FULL, _TOUCHED = 1, 6, 5


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back."""

    log: Any
    count: int
    vertices: int
    inserted: Int32
    deleted: Int32


class ExactMaintainer:
    """A selecting program on a graph in memory, with the history of every vertex."""

    def __init__(
        self,
        graph: ResidentGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        *,
        iterations: int | None = None,
    ) -> None:
        self.graph = graph
        self.program = program
        self._selection = _checked_selection(program, iterations)
        edge_arrays(graph, program)
        self._parameters = GrowingParameters(program, parameters, graph.vertices)
        self._given_iterations = iterations
        self._done: list[_Done] = []
        self._advances = 0
        self._room = 256
        self.touched = 0

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        source = generated_source(
            fixpoint_section(self.program, self._selection), "selecting", "exact"
        )
        return generated_module(source, f"{self.program.name}_exact")

    @property
    def _iterations(self) -> int:
        """A run that settles does so within as many iterations as there are vertices."""
        given = self._given_iterations
        return self.graph.vertices + 1 if given is None else given

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self._done.clear()
        count, room = self.graph.vertices, 2 * self.graph.vertices + 16
        self._parameters.resize(count)
        self._values = GrowingArray(np.empty(count, FIELD_TYPES[self._selection.type]))
        self._mark = GrowingArray(np.zeros(count, np.int32))
        self._first = GrowingArray(np.full(self._iterations + 2, -1, np.int32))
        self._head = GrowingArray(np.full(count, -1, np.int32))
        self._stamp = GrowingArray(np.full(count, -1, np.int32))
        scratch = np.empty(count, np.int32), np.empty(count, np.int32)
        while True:
            self._histories = self._empty_histories(room)
            last = self.kernels.run_from_scratch(
                self._context(), self._histories, self.values, *scratch
            )
            if last >= 0:
                return
            room *= 2

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex after the last iteration; a view of the state."""
        return self._values.view

    def history(self, vertex: int) -> list[tuple[int, Any]]:
        """The values of a vertex where they change: (iteration, value), iteration 0 included."""
        first = self.kernels.initial(vertex, self._parameters.view)
        found = [(0, first)]
        at = self._histories.head[vertex]
        while at >= 0:
            found.append((int(self._histories.time[at]), self._histories.value[at].item()))
            at = self._histories.following[at]
        return found

    def advance(self, inserted: Int32, deleted: Int32) -> Change:
        """Flip edges (inside numbers) and bring all histories up to date."""
        self.graph.flip(inserted, deleted)
        return self.repair(inserted, deleted)

    def repair(self, inserted: Int32, deleted: Int32) -> Change:
        """Bring all histories up to date with a graph that has been flipped already.

        Vertices that the graph has got since are there with their start, and are not reported
        where they keep it.
        """
        before = self._values.length
        if before != self.graph.vertices:
            self._add_vertices(before)
        self._advances += 1
        desk = self._repaired(inserted, deleted)
        count = int(desk.counts[_VERTICES])
        self.touched = int(desk.counts[_TOUCHED])
        vertices = desk.log.vertex[:count].copy()
        old = self.values[vertices]
        self.kernels.final_values(self._context(), self._histories, desk.log, count, self.values)
        self._done.append(_Done(desk.log, count, before, inserted, deleted))
        new = self.values[vertices]
        differs = new != old
        return Change(vertices[differs], old[differs], new[differs])

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included."""
        last = self.restore()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)

    def restore(self) -> _Done:
        """Undo the last repair; flipping the graph back is left to the caller."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self.kernels.roll_back(self._histories, last.log, last.count)
        context = self._context()
        self.kernels.final_values(context, self._histories, last.log, last.count, self.values)
        self._fit(last.vertices)
        return last

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""
        self._done.clear()

    def verify(self) -> None:
        """Compare every history with a run from scratch; an error at the first difference."""
        other = ExactMaintainer(
            self.graph, self.program, self._parameters.view, iterations=self._iterations
        )
        other.start()
        for vertex in range(self.graph.vertices):
            if self.history(vertex) != other.history(vertex):
                raise AssertionError(
                    f"vertex {vertex} has {self.history(vertex)}, "
                    f"from scratch {other.history(vertex)}"
                )

    def _repaired(self, inserted: Int32, deleted: Int32) -> Any:
        """Repair; where room runs out, roll back, make room and repair again."""
        while True:
            desk = self._desk()
            delta = (inserted, deleted, self._advances)
            agenda = records.Agenda(self._first.view)
            if self.kernels.repair(self._context(), self._histories, agenda, desk, delta):
                return desk
            self.kernels.roll_back(self._histories, desk.log, int(desk.counts[_VERTICES]))
            self._room *= 4
            self._grow_histories()

    def _desk(self) -> Any:
        room, value = self._room, self.values.dtype
        return records.Desk(
            visits=records.Visits(*(np.empty(room, np.int32) for _ in range(4))),
            log=records.Log(
                np.empty(room, np.int32),
                np.zeros(room + 1, np.int32),
                np.empty(4 * room, np.int32),
                np.empty(4 * room, value),
            ),
            changed=records.Changed(
                np.empty(room, np.int32), np.empty(room, np.bool_), np.zeros(room, value)
            ),
            times=np.empty(room, np.int32),
            mark=self._mark.view,
            counts=np.zeros(_COUNTERS, np.int64),
        )

    def _empty_histories(self, room: int) -> Any:
        return records.Histories(
            head=self._head.view,
            stamp=self._stamp.view,
            time=np.empty(room, np.int32),
            value=np.empty(room, self.values.dtype),
            following=np.empty(room, np.int32),
            free=np.zeros(1, np.int32),
        )

    def _add_vertices(self, before: int) -> None:
        """Vertices that came later start with an empty history; offers come by their edges."""
        self._fit(self.graph.vertices)
        parameters = self._parameters.view
        for vertex in range(before, self.graph.vertices):
            self.values[vertex] = self.kernels.initial(vertex, parameters)
        for array in (self._head, self._stamp):
            array.view[before:] = -1
        self._mark.view[before:] = 0

    def _fit(self, vertices: int) -> None:
        for array in (self._values, self._mark, self._head, self._stamp):
            array.resize(vertices)
        self._parameters.resize(vertices)
        if self._given_iterations is None:
            before = self._first.length
            self._first.resize(vertices + 3)
            self._first.view[before:] = -1
        self._histories = self._histories._replace(head=self._head.view, stamp=self._stamp.view)

    def _grow_histories(self) -> None:
        """Twice the entries, where fewer than the desk's room are free."""
        used = len(self._histories.time)
        larger = {
            name: np.concatenate([array, np.empty_like(array)])
            for name, array in self._histories._asdict().items()
            if name in ("time", "value", "following")
        }
        self._histories = self._histories._replace(**larger)
        self.kernels.add_room(self._histories, used)

    def _context(self) -> Any:
        properties = edge_arrays(self.graph, self.program)
        return records.Context(
            self.graph.adjacency, properties, self._parameters.view, self._iterations
        )


def _checked_selection(program: VertexProgram, iterations: int | None) -> Selection:
    found = selection(program)
    if found is None or found.initial is None:
        reason = why_not_selection(program) or "its start has no closed form"
        raise InputError(f"{program.name} has no exact mode for selections: {reason}")
    if iterations is None and not found.settles:
        raise InputError(
            f"{program.name} may not settle: its messages may overtake their source",
            hint="give a number of iterations",
        )
    return found
