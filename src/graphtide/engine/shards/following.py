"""A program on one view after the other: from scratch, or on from the results of the last view.

Programs that select, and whose messages never overtake their source, go on. Where the next view
contains the last one, its results are no better than the next ones, and more edges only make
messages better: supersteps from there sink to the same results as from scratch, bit by bit. Where
it loses edges, what these held up falls first, and the same is true of the rest. Who fell and who
got an edge gather first, and nobody else: all others have the best that they are offered, and
offers have only got worse. The first view may go on from the end of a run on an earlier state of
the graph in the same way. All tasks decide alike: by the classes of both views, and by how many
vertices of all tasks fall.

Every vertex has a level: the superstep in which its value last changed, counted on from view to
view. When a vertex changes, a neighbour has brought the new value in the superstep before. So there
is a neighbour that brings it and has the same value and a lower level, or a better value, and stays
one: if the neighbour changes again, its value was no worse and is now better. Mirrors need no
messages for their levels: whoever takes in a state knows the superstep. Where edges are deleted,
vertices that lost one are asked for such a support, round by round until no task has anybody left
(`templates/own_trimming.py`). What stays has come along live edges from a start, so that it is no
better than the results of the view. What falls is sent to mirrors like any change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import OWN_TRIMMING
from graphtide.engine.inputs import FIELD_TYPES, target_slabs
from graphtide.engine.shards.local_graph import LocalGraph, MirrorExchange, ShardVersion
from graphtide.engine.shards.supersteps import NEVER, Inputs, Keeping, Supersteps, ViewRun
from graphtide.kernels.blocks import Block
from graphtide.kernels.fixpoint.records import Context, Held
from graphtide.plan.expressions import ValueType
from graphtide.plan.program_reads import with_given_facts

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Trimmed(NamedTuple):
    """How many rounds there were, how many vertices of all tasks fell, and which own ones."""

    rounds: int
    fallen: int
    own: Int32


class Trimming:
    """One program on one view; changes rows and levels in place."""

    def __init__(
        self,
        given: Inputs,
        graph: LocalGraph,
        exchange: MirrorExchange,
        rows: Int64,
        level: Int64,
    ) -> None:
        selection = given.code.selection
        assert selection is not None
        self._type = selection.type
        self._module = given.code.module(OWN_TRIMMING)
        self._exchange = exchange
        self._rows = rows
        self._reach = given.version.reach
        self._read = Block(tuple(given.read.arrays), _targets(given, graph))
        self._context = Context(given.version.graph, self._read.words)
        self._held = Held(
            value=self._values(rows),
            level=level,
            line=np.empty(given.owned, np.int32),
            waiting=np.zeros(given.owned, np.bool_),
            fallen=np.empty(given.owned, np.int32),
        )

    def run(self, losers: Int32, most: int, look: Callable[[], object]) -> Trimmed:
        """Let fall what has no support; `losers` are the own vertices that lost an edge.

        Broken off, in all tasks alike, where more than `most` fall. `look` is called in every
        round.
        """
        told, rounds, total = np.empty(0, np.int32), 0, 0
        own = [told]
        while True:
            look()
            count, _ = self._module.trim_own(self._context, self._reach, self._held, losers, told)
            fallen = self._held.fallen[:count].copy()
            own.append(fallen)
            self._rows[fallen, 0] = self._words(self._held.value[fallen])
            found, told = self._exchange.changed(self._rows, fallen, (count,), exact=True)
            self._held.value[told] = self._values(self._rows[told])
            self._held.level[told] = 0
            losers, rounds = np.empty(0, np.int32), rounds + 1
            total += int(found.total[0])
            if not found.total[0] or total > most:
                return Trimmed(rounds, total, np.concatenate(own))

    def _values(self, rows: Int64) -> NDArray[Any]:
        """Rows of one word as the values that kernels compare; a copy."""
        words: NDArray[Any] = rows[:, 0].copy()
        return words != 0 if self._type is ValueType.BOOL else words.view(FIELD_TYPES[self._type])

    def _words(self, values: NDArray[Any]) -> Int64:
        if self._type is ValueType.BOOL:
            return values.astype(np.int64)
        return values.view(np.int64)


def _targets(given: Inputs, graph: LocalGraph) -> tuple[NDArray[Any], ...]:
    """Where messages look for the vertex that an edge leads to, if they read anything of it.

    They take it from slots and neighbours (`engine.inputs`), here of all edges by number. Where
    messages go both ways, they take the end that is not the source.
    """
    wanted = len(target_slabs(with_given_facts(given.code.plan)))
    if not wanted:
        return ()
    own, other = graph.ends()
    slots = np.arange(len(own), dtype=np.int32)
    return (slots, own) if wanted == 1 else (slots, own, slots, other)


Classes = NDArray[np.bool_]

WORTH = 2
"""A view follows where no more than one of so many vertices falls. Each that does is sent once more
than in a run from scratch, in which all are sent once or more often: where half of them fall, there
is next to nothing to gain."""


class Ran(NamedTuple):
    """The states of own vertices that a view ends with, and what it took.

    `fallen` counts the vertices of all tasks that lost their value first, in so many `rounds`;
    `sent` the bytes of states that this task sent.
    """

    rows: Int64
    edges: int
    followed: bool
    supersteps: int
    rounds: int
    fallen: int
    sent: int


class Before(NamedTuple):
    """The end of a run on an earlier state of the graph, and what has become of its edges since.

    `rows` are the states and levels of the own vertices that are `known` from then. `lost` and
    `gained` are the own vertices that gather along an edge less or more, or along one that has
    changed: these are in both. `loses` is whether any vertex of any task is in the first.
    """

    rows: Int64
    known: NDArray[np.bool_]
    lost: Int32
    gained: Int32
    loses: bool


class _Last(NamedTuple):
    """The last view: its classes, states and levels of all vertices, and the greatest level."""

    live: Classes
    rows: Int64
    level: Int64
    clock: int


class Following:
    """The views of a run, by one task. `always` goes on however many vertices fall."""

    def __init__(
        self, steps: Supersteps, graph: LocalGraph, *, follows: bool, always: bool = False
    ) -> None:
        self._steps, self._graph = steps, graph
        self._follows, self._always = follows and steps.follows, always
        self._last: _Last | None = None

    def run(
        self,
        live: Classes,
        keeping: Keeping = NEVER,
        kept: tuple[int, Int64] | None = None,
        *,
        followed: bool = False,
        before: Before | None = None,
    ) -> Ran:
        """Run on the view of some classes, on from what was `kept` of it at a superstep, if any.

        `followed` is whether it had followed then. Otherwise a first view goes on from `before`.
        """
        version, sent = self._graph.version(live), self._steps.exchange.sent
        run = self._steps.on(version, levels=self._follows)
        last, self._last = self._last, None
        rounds, fallen = 0, 0
        if kept is not None:
            run.go_on(*kept)
        elif last is not None:
            rounds, fallen, followed = self._follow(run, last, version, keeping)
        elif before is not None and self._follows:
            rounds, fallen, followed = self._go_on(run, before, keeping)
        else:
            run.begin()
        keeping.begin(followed)
        run.finish(keeping)
        if run.level is not None:
            self._last = _Last(live, run.form.rows.copy(), run.level, run.clock)
        rows = run.form.rows[: self._graph.owned].copy()
        sent = self._steps.exchange.sent - sent
        return Ran(rows, version.edges, followed, run.form.superstep, rounds, fallen, sent)

    def _follow(
        self, run: ViewRun, last: _Last, version: ShardVersion, keeping: Keeping
    ) -> tuple[int, int, bool]:
        """Begin with what is left of the last view, or anew where that is little."""
        assert (version.before == last.live).all()
        run.go_on_from(last.rows, last.level, last.clock)
        loses = bool((last.live & ~version.live).any())
        return self._repair(run, version.lost, version.gained, keeping, loses=loses)

    def _go_on(self, run: ViewRun, before: Before, keeping: Keeping) -> tuple[int, int, bool]:
        """The same with what is left of an earlier state; vertices that came since just begin."""
        run.begin()
        rows = run.own_rows().copy()
        rows[before.known] = before.rows
        run.go_on(0, rows)
        return self._repair(run, before.lost, before.gained, keeping, loses=before.loses)

    def _repair(
        self, run: ViewRun, lost: Int32, gained: Int32, keeping: Keeping, *, loses: bool
    ) -> tuple[int, int, bool]:
        """Let fall what has no support, and have those gather who fell or got an edge."""
        rounds, fallen, own = 0, 0, lost[:0]
        if loses:
            rounds, fallen, own = self._trimmed(run, lost, keeping)
            if fallen > self._most:
                run.begin()
                return rounds, fallen, False
        run.form.let_gather(np.union1d(own, gained).astype(np.int32))
        return rounds, fallen, True

    def ended(self) -> Int64 | None:
        """The states of own vertices that the last view ended with, and their levels behind them.

        None where levels are not known: nothing could follow.
        """
        if self._last is None:
            return None
        own = slice(self._graph.owned)
        return np.column_stack([self._last.rows[own], self._last.level[own]])

    def _trimmed(self, run: ViewRun, losers: Int32, keeping: Keeping) -> Trimmed:
        assert run.level is not None
        exchange = self._steps.exchange
        trimming = Trimming(run.inputs, self._graph, exchange, run.form.rows, run.level)
        return trimming.run(losers, self._most, keeping.due)

    @property
    def _most(self) -> int:
        """How many vertices of all tasks may fall."""
        vertices = self._graph.placement.vertices
        return vertices if self._always else vertices // WORTH
