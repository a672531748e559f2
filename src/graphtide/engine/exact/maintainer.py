"""The maintainer of selecting programs whose every iteration is wanted: bounded runs, histories.

Results equal those of a synchronous run from scratch in every iteration. Where the number of
iterations is not bounded, the plan must prove that a run settles.

A repair that has done a fair share of the work of a run from scratch is broken off and replaced by
one; the state before it is then kept as a whole, for the undoing. Where that happens again and
again, it is not tried any more.

The entries of histories are one array of records, so that an entry is one place of memory; kernels
see its fields as arrays. The desk that an advance works at is made once and used by every advance;
it grows when one needs more room.
"""

from __future__ import annotations

from functools import cached_property
from operator import is_not
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes
from graphtide.engine.code import EXACT, EXACT_SETTLING, program_code
from graphtide.engine.fixpoint.maintainer import settled_values
from graphtide.engine.growing import GrowingArray
from graphtide.engine.inputs import (
    FIELD_TYPES,
    GrowingParameters,
    edge_arrays,
    read_block,
    target_arrays,
)
from graphtide.engine.maintainer import Experience, Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import Block
from graphtide.kernels.exact import histories
from graphtide.kernels.exact.histories import line_up_entries
from graphtide.kernels.fixpoint import records as fixpoint_records
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection
from graphtide.plan.programs import VertexProgram

COUNTERS = 9


class ExactState:
    """Last values and histories of so many vertices."""

    def __init__(self, vertices: int, dtype: Any, room: int) -> None:
        fields = [("value", dtype), ("time", np.int32), ("following", np.int32)]
        self._entries = np.empty(room, np.dtype(fields, align=True))
        self._free = np.array([-1, 0], np.int32)
        self._value = GrowingArray(np.empty(vertices, dtype))
        self._head = GrowingArray(np.full(vertices, -1, np.int32))
        self._stamp = GrowingArray(np.full(vertices, -1, np.int32))
        self._view()

    @property
    def vertices(self) -> int:
        return self._value.length

    @property
    def value(self) -> NDArray[Any]:
        """The last value of every vertex; a view."""
        return self._value.view

    def fit(self, vertices: int) -> None:
        """Have so many vertices; those that come have no entries, and values yet to be set."""
        before = self.vertices
        for array in (self._value, self._head, self._stamp):
            array.resize(vertices)
        self._head.view[before:] = -1
        self._stamp.view[before:] = -1
        self._view()

    def grow(self, more: int) -> None:
        """Room for so many more entries than there are, and at least for half as many again."""
        room = len(self._entries) + max(more, len(self._entries) // 2)
        larger = np.empty(room, self._entries.dtype)
        larger[: len(self._entries)] = self._entries
        self._entries = larger
        self._view()

    def line_up(self) -> None:
        """Put the entries of each vertex side by side. O(entries); room stays as it is."""
        fresh = np.empty(len(self._entries), self._entries.dtype)
        line_up_entries(self.histories, fresh["time"], fresh["value"], fresh["following"])
        self._entries = fresh
        self._view()

    def _view(self) -> None:
        self.histories = histories.ValueHistories(
            head=self._head.view,
            stamp=self._stamp.view,
            time=self._entries["time"],
            value=self._entries["value"],
            following=self._entries["following"],
            free=self._free,
        )


def new_desk(room: int, dtype: Any, mark: NDArray[np.int32]) -> histories.Desk:
    """A desk for so many visits, and as many vertices to be logged; `mark` is 0 for all vertices.

    Room that is not used takes no memory: it is never touched.
    """
    return histories.Desk(
        visits=histories.Visits(*(np.empty(room, np.int32) for _ in range(4))),
        log=histories.Log(
            vertex=np.empty(room, np.int32),
            begin=np.zeros(room + 1, np.int32),
            last=np.empty(room, dtype),
            time=np.empty(4 * room, np.int32),
            value=np.empty(4 * room, dtype),
        ),
        changed=histories.Changed(
            np.empty(room, np.int32), np.empty(room, np.bool_), np.zeros(room, dtype)
        ),
        times=np.empty(room, np.int32),
        mark=mark,
        counts=np.zeros(COUNTERS, np.int64),
    )


def logged(desk: histories.Desk, vertices: int, entries: int) -> histories.Log:
    """A copy of what the desk's log holds, to be kept while the desk is used again."""
    return histories.Log(
        vertex=desk.log.vertex[:vertices].copy(),
        begin=desk.log.begin[: vertices + 1].copy(),
        last=desk.log.last[:vertices].copy(),
        time=desk.log.time[:entries].copy(),
        value=desk.log.value[:entries].copy(),
    )


_NO_ENTRIES = 0
_NO_EDGES = np.empty(0, np.int32)


class _Done(NamedTuple):
    """A repair that can be undone: by its log, or by the whole state before it.

    It has neither if nothing changed.
    """

    log: histories.Log | None
    state: ExactState | None
    vertices: int


class ExactMaintainer(Maintainer):
    """A selecting program on a graph in memory, with the history of every vertex."""

    patience = 0.15
    """A repair may look at so many edges for each that a run from scratch looks at.

    Entries of histories that it passes count as well (`records.PASSED_AN_EDGE`), and so does what
    it did before it had room enough.
    """

    def __init__(
        self,
        graph: ResidentGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        *,
        iterations: int | None = None,
    ) -> None:
        self._selection = _checked_selection(program, iterations)
        self._field = self._selection.state
        super().__init__(graph, (self._field,))
        self.program = program
        edge_arrays(graph, program)
        self._parameters = GrowingParameters(graph, program, parameters)
        self._given_iterations = iterations
        self._type = FIELD_TYPES[self._selection.type]
        self._state = ExactState(0, self._type, 16)
        self._mark = GrowingArray(np.zeros(0, np.int32))
        self._first = GrowingArray(np.empty(0, np.int32))
        self._desk: Any = None
        self._advances = 0
        self._work = 0
        self._room = 256
        self._orders = np.zeros(3, np.int64)
        self._experience = Experience()
        self._seen: Any = None
        self._read = Block()
        self._known: Any = None
        self._handed: tuple[Any, ...] = ()
        self._block: Block | None = None
        self._no_change = {self._field: Change(_NO_EDGES, *[np.empty(0, self._type)] * 2)}

    @cached_property
    def kernels(self) -> Any:
        return program_code(self.program).module(EXACT_SETTLING if self._settles else EXACT)

    @property
    def _settles(self) -> bool:
        """True where no message overtakes its source, whatever the edges carry.

        An unbounded run is kept on edges that satisfy the obligations, which its caller checks. A
        bounded one takes any edges, and so has nothing that holds on conditions only.
        """
        proved = self._selection
        return proved.settles and (self._given_iterations is None or not proved.obligations)

    @property
    def _iterations(self) -> int:
        """A run that settles does so within as many iterations as there are vertices."""
        given = self._given_iterations
        return self.graph.vertices + 1 if given is None else given

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex after the last iteration; a view of the state."""
        assert field in (None, self._field)
        return self._state.value

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self.forget()
        self._fit_work(self.graph.vertices)
        self._state = self._run()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The last values of the version that the graph is at, apart from the state."""
        self._fit_work(max(self.graph.vertices, self._state.vertices))
        if self._selection.settles and self._given_iterations is None:
            context = fixpoint_records.Context(*self._context[:2])
            values = settled_values(self.program, self._selection, self.kernels, context)
        else:
            empty = ExactState(0, self._type, _NO_ENTRIES)
            values = np.empty(self.graph.vertices, self._type)
            self._run_rounds(empty, values, keep=False)
        return {self._field: values}

    def history(self, vertex: int) -> list[tuple[int, Any]]:
        """The values of a vertex where they change: (iteration, value), iteration 0 included."""
        kept = self._state.histories
        entries = [(0, self.kernels.initial_of(vertex, self._context.read))]
        at = kept.head[vertex]
        while at >= 0:
            entries.append((int(kept.time[at]), kept.value[at].item()))
            at = kept.following[at]
        return entries

    def follow(self, delta: Delta) -> Changes:
        """Bring all histories up to date with a graph that has been flipped: by a repair that is
        tried, or by a run from scratch.
        """
        if not self._experience.worth_trying(len(delta.sources)):
            changes = self._run_anew(self._with_new_vertices())
            self.touched = self._work
            return changes
        before = self._with_new_vertices()
        self._advances += 1
        stopped, vertices, entries, changed = self._repaired(delta)
        too_much = stopped == histories.TOO_MUCH
        self._experience.learn(len(delta.sources), broken_off=too_much)
        if too_much:
            return self._run_anew(before)
        log = logged(self._desk, vertices, entries) if vertices else None
        self._done.append(_Done(log, None, before))
        if log is None or not changed:
            return self._no_change
        new = self.values()[log.vertex]
        differs = new != log.last
        return {self._field: Change(log.vertex[differs], log.last[differs], new[differs])}

    def _run_anew(self, before: int) -> Changes:
        """Run from scratch on a graph that has been flipped, in place of a repair."""
        was, self._state = self._state, self._run()
        self._done.append(_Done(None, was, before))
        new = self.values()
        moved = np.flatnonzero(was.value != new).astype(np.int32)
        return {self._field: Change(moved, was.value[moved], new[moved])}

    def _put_back(self, done: _Done) -> None:
        if done.state is not None:
            self._state = done.state
        elif done.log is not None:
            histories.roll_back(self._state.histories, done.log, len(done.log.vertex))
            self.values()[done.log.vertex] = done.log.last
        if done.vertices != self._state.vertices:
            self._fit(done.vertices)

    def verify(self) -> None:
        """Compare every history with a run from scratch; an error at the first difference."""
        other = ExactMaintainer(
            self.graph, self.program, self._parameters.given, iterations=self._given_iterations
        )
        other.start()
        for vertex in range(self.graph.vertices):
            if self.history(vertex) != other.history(vertex):
                raise AssertionError(
                    f"vertex {vertex} has {self.history(vertex)}, "
                    f"from scratch {other.history(vertex)}"
                )

    def _run(self) -> ExactState:
        count = self.graph.vertices
        state = ExactState(count, self._type, count + 16)
        self._work = self._run_rounds(state, state.value, keep=True)
        state.line_up()
        return state

    def _run_rounds(self, state: ExactState, value: NDArray[Any], *, keep: bool) -> int:
        count = len(value)
        frontier, listed, tail = (np.empty(count, np.int32) for _ in range(3))
        rounds = histories.Rounds(
            value=value,
            fresh=np.empty(count, self._type),
            frontier=frontier,
            listed=listed,
            tail=tail if keep else tail[:0],
            progress=np.zeros(4, np.int64),
        )
        self.kernels.begin_rounds(self._context, state.histories, rounds)
        while not self.kernels.run_rounds(self._context, state.histories, rounds):
            state.grow(int(rounds.progress[histories.LISTED]))
        return int(rounds.progress[histories.WORK])

    def _repaired(self, delta: Delta) -> tuple[int, int, int, int]:
        """Repair, with more room if it runs out; all as it was if that is too much.

        Returns why it ended, how many vertices and entries were logged, and how many last values
        changed.
        """
        most = int(self.patience * self._work) + 1024
        while True:
            self._orders[:] = self._advances, self._iterations, most
            words = self._handed_over(len(delta.sources)).words
            stopped, *counts = self.kernels.follow(words, *delta)
            self.touched = int(self._desk.counts[histories.TOUCHED])
            if stopped in (histories.GOING, histories.TOO_MUCH):
                return stopped, *counts
            most -= self.touched
            if stopped == histories.HISTORIES_FULL:
                self._state.grow(self._room)
            else:
                self._room *= 4
                self._desk = None

    def _handed_over(self, edges: int) -> Block:
        """All that an advance of so many edges works with; made anew where any of it is."""
        self._room = max(self._room, 4 * edges)
        if self._desk is None or len(self._desk.visits.vertex) < self._room:
            self._desk = new_desk(self._room, self._type, self._mark.view)
        context, kept = self._context, self._state.histories
        parts = context, kept, self._desk
        if self._block is None or any(map(is_not, parts, self._handed)):
            given = self.values(), self._first.view, self._orders
            self._handed = parts
            read = tuple(self._read.arrays)
            self._block = Block(context.graph, kept, self._desk, given, read)
        return self._block

    def _with_new_vertices(self) -> int:
        """Vertices that came later start with an empty history; offers come by their edges.

        Returns how many vertices there were before.
        """
        before, now = self._state.vertices, self.graph.vertices
        if before != now:
            self._fit(now)
            for vertex in range(before, now):
                self.values()[vertex] = self.kernels.initial_of(vertex, self._context.read)
        return before

    def _fit(self, vertices: int) -> None:
        self._state.fit(vertices)
        self._fit_work(vertices)

    def _fit_work(self, vertices: int) -> None:
        self._mark.resize(vertices)
        self._parameters.resize(vertices)
        self._desk = self._seen = self._block = None
        wanted = vertices + 3 if self._given_iterations is None else self._given_iterations + 2
        before = self._first.length
        self._first.resize(wanted)
        self._first.view[before:] = -1

    @property
    def _context(self) -> histories.HistoryContext:
        """What kernels read; made anew only where the graph or the parameters have grown."""
        if self._seen is not self.graph.adjacency:
            self._seen = self.graph.adjacency
            properties = edge_arrays(self.graph, self.program)
            slabs = target_arrays(self.graph, self.program)
            self._read = read_block(properties, self._parameters, slabs)
            self._known = histories.HistoryContext(self._seen, self._read.words, self._iterations)
        found: histories.HistoryContext = self._known
        return found


def _checked_selection(program: VertexProgram, iterations: int | None) -> Selection:
    code = program_code(program)
    selection = code.selection
    if selection is None or not selection.start.holds:
        reason = selection.start.reason if selection else code.why_not_selection
        raise InputError(f"{program.name} has no exact mode for selections: {reason}")
    if iterations is None and not selection.settles:
        raise InputError(
            f"{program.name} may not settle: its messages may overtake their source",
            hint="give a number of iterations",
        )
    return selection
