"""The maintainer of selecting programs whose end result alone is wanted.

It keeps one value, one parent edge and one level a vertex. Right where the plan proves that
messages are monotone and never overtake their source, on edge data that meets the conditions of
the proof; both are checked here before anything runs.

Parents and levels, the roots of a value, are needed by repairs alone. A run from scratch settles
each vertex once; labels of plain components come from union-find, which looks at every edge once.
A repair that has looked at a fair share of the graph is broken off, undone and replaced by a run
from scratch. Where that happens again and again, it is not tried any more, and runs from scratch
find values alone, without roots: whoever repairs next makes them first.

A repair is undone by its log. Where a component was renamed, its members are listed beside it;
where everything was run from scratch, the values that came out otherwise.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes
from graphtide.engine.code import FIXPOINT, program_code
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
from graphtide.engine.stretches import Followed, Patience, StretchWalk, step_delta
from graphtide.kernels.blocks import Block
from graphtide.kernels.fixpoint import records
from graphtide.kernels.fixpoint.records import (
    FIRST_NOW,
    LABEL,
    LIVE,
    MOST_COUNT,
    MOST_CYCLES,
    NEW_LABEL,
    NOW,
    ChangeLog,
    Context,
    Reached,
    Stretch,
)
from graphtide.kernels.graph.components import label_components
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import Selection, labels_components
from graphtide.plan.programs import AccumulatorKind, VertexProgram

LOGGED_SHARE, LOGGED_AT_LEAST = 4, 1024
"""One vertex in so many has room in the log of an advance, and so many more."""


class Roots(NamedTuple):
    """Parents and levels of all vertices."""

    parent: GrowingArray
    level: GrowingArray


class VertexState:
    """Values, roots, and room to work. `record` is what kernels take; growth makes it anew."""

    def __init__(self, dtype: Any) -> None:
        self._value = GrowingArray(np.empty(0, dtype))
        self._work = {name: _numbers(0) for name in ("stamp", "heap", "place")}
        self._roots = _new_roots(0)
        self.rooted = False
        """Whether parents and levels are those of the values."""
        self.vertices = 0
        self.fit(0)

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; a view."""
        return self._value.view

    @property
    def reached(self) -> records.Reached:
        """Where a run from scratch writes what it finds, roots included."""
        return records.Reached(self.record.value, self.record.parent, self.record.level)

    def fit(self, vertices: int) -> None:
        """Grow or shrink to so many vertices; of new ones only the marks are set."""
        before, self.vertices = self.vertices, vertices
        for array in (self._value, *self._work.values(), *self._roots):
            array.resize(vertices)
        for name in ("stamp", "place"):
            self._work[name].view[before:] = -1
        room = vertices // LOGGED_SHARE + LOGGED_AT_LEAST
        types = np.int32, self._value.dtype, np.int32, np.int32
        self._log = records.ChangeLog(*(np.empty(room, dtype) for dtype in types))
        self._fallen = np.empty(room, np.int32)
        self._view()

    def take_roots(self) -> Roots | None:
        """Hand the roots over to the caller, and have none; None if there were none."""
        if not self.rooted:
            return None
        taken, self._roots, self.rooted = self._roots, _new_roots(self.vertices), False
        self._view()
        return taken

    def put_roots(self, roots: Roots | None) -> None:
        """Take back the roots that `take_roots` handed over, or have none."""
        self.rooted = roots is not None
        if roots is not None:
            self._roots = roots
            self._view()

    def put_back(self, log: records.ChangeLog) -> None:
        """Undo what is logged; every vertex is in the log once."""
        self.record.value[log.vertex] = log.value
        self.record.parent[log.vertex] = log.parent
        self.record.level[log.vertex] = log.level

    def _view(self) -> None:
        self.record = records.FixpointState(
            value=self._value.view,
            parent=self._roots.parent.view,
            level=self._roots.level.view,
            **{name: array.view for name, array in self._work.items()},
            log=self._log,
            fallen=self._fallen,
        )


def _numbers(count: int) -> GrowingArray:
    return GrowingArray(np.empty(count, np.int32))


def _new_roots(vertices: int) -> Roots:
    return Roots(_numbers(vertices), _numbers(vertices))


Int32 = NDArray[np.int32]


class Rerun(NamedTuple):
    """What a run from scratch replaced: values that came out otherwise, and the roots of all."""

    vertices: Int32
    values: NDArray[Any]
    roots: Roots | None


class Renamed(NamedTuple):
    """What a repair replaced that renamed a component: a label, and the others by its log."""

    members: Int32
    label: int
    log: ChangeLog


class FixpointAdvance(NamedTuple):
    """A repair, or a run in its place, that can be undone; `what` is None if it changed nothing."""

    what: ChangeLog | Renamed | Rerun | None
    vertices: int


def renamed(
    state: VertexState, log: ChangeLog, changed: int, orders: NDArray[np.int64]
) -> tuple[Renamed, Change]:
    """A repair that renamed a component; and what it changed.

    Who has the new label and was not logged had the old one; so many first entries of the log
    tell of all others whose value changed.
    """
    values, old, new = state.values, int(orders[LABEL]), int(orders[NEW_LABEL])
    unlogged = state.record.stamp != orders[NOW]
    members = np.flatnonzero(unlogged & (values == new)).astype(np.int32)
    vertices, same = log.vertex[:changed], np.full(len(members), old, values.dtype)
    change = Change(
        np.concatenate([members, vertices]),
        np.concatenate([same, log.value[:changed]]),
        np.concatenate([np.full_like(same, new), values[vertices]]),
    )
    return Renamed(members, old, log), change


def undo(state: VertexState, what: ChangeLog | Renamed | Rerun | None) -> None:
    """Put back what an advance changed. O(what it changed)."""
    if isinstance(what, Renamed):
        state.values[what.members] = what.label
        state.put_back(what.log)
    elif isinstance(what, Rerun):
        state.values[what.vertices] = what.values
        state.put_roots(what.roots)
    elif what is not None:
        state.put_back(what)


_NO_ROOM = np.empty(0, np.int32)


def settled_values(
    program: VertexProgram, selection: Selection, kernels: Any, context: Context
) -> NDArray[Any]:
    """The values of the version that the graph is at, and nothing else."""
    count = len(context.graph.out.live)
    values: NDArray[Any] = np.empty(count, FIELD_TYPES[selection.type])
    queue = np.empty(count, np.int32)
    if labels_components(program, selection):
        label_components(context.graph, queue, values, _sign(selection))
    else:
        settle(kernels, context, Reached(values, _NO_ROOM, _NO_ROOM), queue)
    return values


def settle(kernels: Any, context: Context, reached: Reached, queue: Int32) -> None:
    """Values, and parents and levels where there is room; `queue` has room for all vertices."""
    starts = np.empty(len(reached.value), np.int32)
    count, in_order = kernels.begin(context, reached, 0, starts)
    starts = starts[:count]
    if not in_order:
        order = np.argsort(reached.value[starts], kind="stable")
        starts = starts[order if kernels.SIGN > 0 else order[::-1]]
    kernels.settle(context, reached, starts, queue)


def _sign(selection: Selection) -> int:
    return 1 if selection.kind is AccumulatorKind.MIN else -1


_NO_EDGES = np.empty(0, np.int32)


class FixpointMaintainer(Maintainer):
    """A selecting program on a graph in memory, current after every advance."""

    follows_stretches = True
    patience = 0.25
    """A repair is broken off once it has looked at this many edges for each edge or vertex."""

    def __init__(
        self, graph: ResidentGraph, program: VertexProgram, parameters: tuple[Any, ...]
    ) -> None:
        self._selection = _checked_selection(program)
        self._field = self._selection.state
        super().__init__(graph, (self._field,))
        self.program = program
        self._code = program_code(program)
        self._labels = self._code.labels_components
        self._parameters = GrowingParameters(graph, program, parameters)
        edge_arrays(graph, program)
        self._advances = 0
        self._orders = np.zeros(4, np.int64)
        self._seen: Any = None
        self._read = Block()
        self._block: Block | None = None
        self._type = FIELD_TYPES[self._selection.type]
        self._state = VertexState(self._type)
        self._experience = Experience()
        self._no_change = {self._field: Change(_NO_EDGES, *[np.empty(0, self._type)] * 2)}

    @cached_property
    def kernels(self) -> Any:
        return self._code.module(FIXPOINT)

    @property
    def vertices(self) -> int:
        """How many vertices have a value: those of the graph as of the last repair."""
        return self._state.vertices

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex; a view of the state, not a copy."""
        assert field in (None, self._field)
        return self._state.values

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self.forget()
        self._state = VertexState(self._type)
        self._fit(self.graph.vertices)
        self._run()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the version that the graph is at, apart from the state."""
        if self._parameters.resize(self.graph.vertices):
            self._seen = None
        values = settled_values(self.program, self._selection, self.kernels, self._context)
        return {self._field: values}

    def follow(self, delta: Delta) -> Changes:
        """Bring the values up to date with a graph that has been flipped: by a repair that is
        tried, or by a run from scratch.
        """
        worth_trying = self._experience.worth_trying(len(delta.sources))
        if worth_trying and self._state.rooted:
            return self._try(delta)
        self.touched = self.graph.live
        return self._run_anew(self._with_new_vertices(), rooted=worth_trying)

    def _try(self, delta: Delta) -> Changes:
        """Repair, or run from scratch if that turns out to be too much."""
        graph, before = self.graph, self._with_new_vertices()
        words, orders = self._words(), self._orders
        most = int(self.patience * max(graph.live, graph.vertices)) + 1024
        orders[records.NOW], orders[records.MOST] = self._numbers(records.ATTEMPTS), most
        kernels = self.kernels
        follow = kernels.follow_labels if self._labels else kernels.follow
        logged, changed, self.touched = follow(words, *delta)
        self._experience.learn(len(delta.sources), broken_off=self.touched > most)
        if self.touched > most:
            return self._run_anew(before, rooted=True)
        if not logged:
            self._done.append(FixpointAdvance(None, before))
            return self._no_change
        return {self._field: self._report(logged, changed, before)}

    def _report(self, logged: int, changed: int, before: int) -> Change:
        """What a repair changed, by its log, which is kept for the way back."""
        log = records.ChangeLog(*(array[:logged].copy() for array in self._state.record.log))
        orders = self._orders
        if orders[records.LABEL] != orders[records.NEW_LABEL]:
            undo, change = renamed(self._state, log, changed, orders)
            self._done.append(FixpointAdvance(undo, before))
            return change
        self._done.append(FixpointAdvance(log, before))
        vertices = log.vertex[:changed].copy()
        return Change(vertices, log.value[:changed].copy(), self._state.record.value.take(vertices))

    def _run_anew(self, before: int, *, rooted: bool) -> Changes:
        """Run from scratch on a graph that has been flipped, in place of a repair."""
        state, old = self._state, self.values().copy()
        roots = state.take_roots()
        self._block = None
        if rooted:
            self._run()
        else:
            state.values[:] = self.scratch()[self._field]
        moved = np.flatnonzero(state.values != old).astype(np.int32)
        self._done.append(FixpointAdvance(Rerun(moved, old[moved], roots), before))
        return {self._field: Change(moved.copy(), old[moved], state.values[moved])}

    def follow_stretch(self, stretch: Stretch, patience: Patience) -> Followed:
        """Many advances and rollbacks in one call, graph included, as far as patience goes.

        The last step that was made, and those on the way to it, can be undone one by one.
        """
        graph = self.graph
        assert self.vertices == graph.vertices
        if not self._state.rooted:
            self._run()
        walk = StretchWalk(stretch, (len(self._state.record.log.vertex), self._type))
        walk.progress[LIVE] = graph.live
        walk.progress[FIRST_NOW] = self._numbers(len(stretch.parent) + 1)
        walk.progress[[MOST_CYCLES, MOST_COUNT]] = patience
        walk.go(self.kernels.follow_stretch, self._words(), self.patience)
        steps, graph.live = walk.steps, int(walk.progress[LIVE])
        if stretch.final[:steps].any():
            self.forget()
        path = list(walk.undo_logs())
        for step, log in path:
            if log is not None:
                self._done.append(FixpointAdvance(log, self.vertices))
                self._alone.append(step_delta(stretch, step))
        if steps:
            self.touched = int(walk.room.rows.touched[steps - 1])
        return walk.followed(tuple(entry.step for entry in path))

    def _put_back(self, done: FixpointAdvance) -> None:
        undo(self._state, done.what)
        if isinstance(done.what, Rerun):
            self._block = None
        if done.vertices != self.vertices:
            self._fit(done.vertices)

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference."""
        expected = self.scratch()[self._field]
        wrong = np.flatnonzero(self.values() != expected)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {self.values()[vertex]}, from scratch {expected[vertex]}"
            )

    def _run(self) -> None:
        """Values and roots of the version that the graph is at."""
        state = self._state
        settle(self.kernels, self._context, state.reached, state.record.heap)
        state.rooted = True

    def _numbers(self, count: int) -> int:
        """Reserve so many numbers of repairs that no stamp has yet, and return the first."""
        if self._advances > records.LAST_NUMBER - count:
            self._state.record.stamp[:] = self._advances = 0
        first = self._advances + 1
        self._advances += count
        return first

    def _with_new_vertices(self) -> int:
        """Give vertices that came later their start; their edges are offered by the repair.

        Returns how many vertices there were before.
        """
        before, now = self.vertices, self.graph.vertices
        if before != now:
            self._fit(now)
            state = self._state
            self.kernels.begin(self._context, state.reached, before, state.record.heap)
        return before

    def _fit(self, vertices: int) -> None:
        self._state.fit(vertices)
        self._parameters.resize(vertices)
        self._seen = self._block = None

    def _words(self) -> NDArray[np.int64]:
        """The block of all arrays that an advance works with; made anew if one was replaced."""
        if self._block is None or self._seen is not self.graph.adjacency:
            context, state = self._context, self._state.record
            self._block = Block(context.graph, state, self._orders, tuple(self._read.arrays))
        return self._block.words

    @property
    def _context(self) -> records.Context:
        """What kernels read; made anew only where the graph or the parameters have grown."""
        if self._seen is not self.graph.adjacency:
            self._seen, self._block = self.graph.adjacency, None
            properties = edge_arrays(self.graph, self.program)
            slabs = target_arrays(self.graph, self.program)
            self._read = read_block(properties, self._parameters, slabs)
        return records.Context(self._seen, self._read.words)


def _checked_selection(program: VertexProgram) -> Selection:
    code = program_code(program)
    selection = code.selection
    if selection is None or not selection.settles:
        reason = code.why_not_selection or "its messages may overtake their source"
        raise InputError(f"{program.name} has no fixpoint mode: {reason}")
    return selection
