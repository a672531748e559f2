"""A program on one view after the other: from scratch, or on from the results of the last view.

Programs that select, and whose messages never overtake their source, go on. Where the next view
contains the last one, its results are no better than the next ones, and more edges only make
messages better: supersteps from there sink to the same results as from scratch, bit by bit. Where
it loses edges, what these held up falls first (`trimming`), and the same is true of the rest.

All tasks decide alike: by the classes of both views, and by how many vertices of all tasks fall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.engine.shards.supersteps import NEVER, Keeping, Supersteps, ViewRun
from graphtide.engine.shards.trimming import Trimming, losers_of

Int64 = NDArray[np.int64]
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
        self, live: Classes, keeping: Keeping = NEVER, kept: tuple[int, Int64] | None = None
    ) -> Ran:
        """Run on the view of some classes, on from what was `kept` of it at a superstep, if any."""
        version, sent = self._graph.version(live), self._steps.exchange.sent
        run = self._steps.on(version, levels=self._follows)
        last, self._last = self._last, None
        rounds, fallen, followed = 0, 0, False
        if kept is not None:
            run.go_on(*kept)
        elif last is None:
            run.begin()
        else:
            rounds, fallen, followed = self._follow(run, last, live, keeping)
        run.finish(keeping)
        if run.level is not None:
            self._last = _Last(live, run.form.rows.copy(), run.level, run.clock)
        rows = run.form.rows[: self._graph.owned].copy()
        sent = self._steps.exchange.sent - sent
        return Ran(rows, version.edges, followed, run.form.superstep, rounds, fallen, sent)

    def _follow(
        self, run: ViewRun, last: _Last, live: Classes, keeping: Keeping
    ) -> tuple[int, int, bool]:
        """Begin with what is left of the last view, or anew where that is little."""
        lost = last.live & ~live
        run.go_on_from(last.rows, last.level, last.clock)
        if not lost.any():
            return 0, 0, True
        assert run.level is not None
        trimming = Trimming(run.inputs, self._steps.exchange, run.form.rows, run.level)
        vertices = self._graph.placement.vertices
        most = vertices if self._always else vertices // WORTH
        rounds, fallen = trimming.run(losers_of(self._graph, lost), most, keeping.due)
        if fallen > most:
            run.begin()
        return rounds, fallen, fallen <= most
