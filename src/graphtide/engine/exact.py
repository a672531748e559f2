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

from graphtide.engine.binding import FIELD_TYPES, edge_arrays, kernel_parameters
from graphtide.engine.changes import Change
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.sections import fixpoint_section
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
        self._properties = edge_arrays(graph, program)
        self._parameters = kernel_parameters(program, parameters, graph.vertices)
        self._iterations = graph.vertices + 1 if iterations is None else iterations
        self._done: list[_Done] = []
        self._advances = 0
        self._room = 256
        self.touched = 0

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        source = generated_source(fixpoint_section(self.program, self._selection), "exact")
        return generated_module(source, f"{self.program.name}_exact")

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self._done.clear()
        count, room = self.graph.vertices, 2 * self.graph.vertices + 16
        self._values: NDArray[Any] = np.empty(count, FIELD_TYPES[self._selection.type])
        self._agenda = self.kernels.Agenda(np.full(self._iterations + 2, -1, np.int32))
        self._mark = np.zeros(count, np.int32)
        scratch = np.empty(count, np.int32), np.empty(count, np.int32)
        while True:
            self._histories = self._empty_histories(room)
            last = self.kernels.run_from_scratch(
                self._context(), self._histories, self._values, *scratch
            )
            if last >= 0:
                return
            room *= 2

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex after the last iteration; a view of the state."""
        return self._values

    def history(self, vertex: int) -> list[tuple[int, Any]]:
        """The values of a vertex where they change: (iteration, value), iteration 0 included."""
        first = self.kernels.initial(vertex, self._parameters)
        found = [(0, first)]
        at = self._histories.head[vertex]
        while at >= 0:
            found.append((int(self._histories.time[at]), self._histories.value[at].item()))
            at = self._histories.following[at]
        return found

    def advance(self, inserted: Int32, deleted: Int32) -> Change:
        """Flip edges (inside numbers) and bring all histories up to date."""
        self.graph.flip(inserted, deleted)
        self._advances += 1
        desk = self._repaired(inserted, deleted)
        count = int(desk.counts[_VERTICES])
        self.touched = int(desk.counts[_TOUCHED])
        vertices = desk.log.vertex[:count].copy()
        old = self._values[vertices]
        self.kernels.final_values(self._context(), self._histories, desk.log, count, self._values)
        self._done.append(_Done(desk.log, count, inserted, deleted))
        new = self._values[vertices]
        differs = new != old
        return Change(vertices[differs], old[differs], new[differs])

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self.kernels.roll_back(self._histories, last.log, last.count)
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)
        context = self._context()
        self.kernels.final_values(context, self._histories, last.log, last.count, self._values)

    def verify(self) -> None:
        """Compare every history with a run from scratch; an error at the first difference."""
        other = ExactMaintainer(
            self.graph, self.program, self._parameters, iterations=self._iterations
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
            if self.kernels.repair(self._context(), self._histories, self._agenda, desk, delta):
                return desk
            self.kernels.roll_back(self._histories, desk.log, int(desk.counts[_VERTICES]))
            self._room *= 4
            self._grow_histories()

    def _desk(self) -> Any:
        kernels, room, value = self.kernels, self._room, self._values.dtype
        return kernels.Desk(
            visits=kernels.Visits(*(np.empty(room, np.int32) for _ in range(4))),
            log=kernels.Log(
                np.empty(room, np.int32),
                np.zeros(room + 1, np.int32),
                np.empty(4 * room, np.int32),
                np.empty(4 * room, value),
            ),
            changed=kernels.Changed(
                np.empty(room, np.int32), np.empty(room, np.bool_), np.zeros(room, value)
            ),
            times=np.empty(room, np.int32),
            mark=self._mark,
            counts=np.zeros(_COUNTERS, np.int64),
        )

    def _empty_histories(self, room: int) -> Any:
        count = self.graph.vertices
        return self.kernels.Histories(
            head=np.full(count, -1, np.int32),
            stamp=np.full(count, -1, np.int32),
            time=np.empty(room, np.int32),
            value=np.empty(room, self._values.dtype),
            following=np.empty(room, np.int32),
            free=np.zeros(1, np.int32),
        )

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
        return self.kernels.Context(
            self.graph.adjacency, self._properties, self._parameters, self._iterations
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
