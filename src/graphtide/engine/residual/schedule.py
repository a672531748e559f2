"""What a settling sum keeps, whom it pushes, and when: in turn, in the order of vertices, or all.

Whoever is off is pushed in turn, from a queue and with logs, as long as that is little of the
graph; otherwise in the order of vertices; and where most of them move, all values are pulled. All
ways end with every residual within its limit, which is what the bound is proved from. Where those
who are off are many, the ones that are far off go first: what reaches the others meanwhile is then
pushed together, and some are not pushed at all.

What an advance changed can be undone by its logs, or, where it swept over all vertices, by a copy
of everything before it. `record` is what kernels take; growth makes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.engine.maintainer import Experience
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.fixpoint.residuals import (
    BALANCES,
    CORRECTIONS,
    DRIFT,
    FLOOR,
    LIMIT,
    MOST,
    MOVES,
    SLACK_DRIFT,
    TOUCHED,
    WAITING,
    WIDE,
    Corrections,
    MovedValues,
    ResidualState,
    Summed,
)
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import LimitError
from graphtide.plan.settling_sums import SettlingSum

Float64 = NDArray[np.float64]
_WIDTHS = 1, 1, 1, BALANCES, 1
_COUNTS, _MEASURES = 7, 5


class Logged(NamedTuple):
    """What an advance by pushes replaced."""

    corrections: Corrections
    moves: MovedValues


class SummedAdvance(NamedTuple):
    """An advance that can be undone: what it replaced, of some vertices or (`Summed`) of all."""

    before: Logged | Summed
    measures: Float64
    vertices: int


class SummedState:
    """What is kept of all vertices, with room to work."""

    def __init__(self, limit: float, floor: float) -> None:
        self._kept = [GrowingArray(np.empty(0)) for _ in Summed._fields]
        self._mark = GrowingArray(np.empty(0, np.uint8))
        self._counts = np.zeros(_COUNTS, np.int64)
        self._measures = np.zeros(_MEASURES)
        self._measures[LIMIT], self._measures[FLOOR] = limit, floor
        self.copied: Summed | None = None
        """Everything as it was before the advance, where it was copied."""
        self.vertices = 0
        self.fit(0)

    def fit(self, vertices: int) -> None:
        """Have so many vertices; those that come have nothing set but their marks."""
        before, self.vertices = self.vertices, vertices
        for array, width in zip((*self._kept, self._mark), _WIDTHS, strict=True):
            array.resize(width * vertices)
        self._mark.view[before:] = 0
        self.record = ResidualState(
            summed=Summed(*(array.view for array in self._kept)),
            mark=self._mark.view,
            queue=np.empty(vertices + 1, np.int32),
            corrections=_no_corrections(vertices + 1),
            moves=MovedValues(
                np.empty(vertices, np.int32), *(np.empty(vertices) for _ in range(3))
            ),
            counts=self._counts,
            measures=self._measures,
            pledged=np.empty(vertices),
        )

    def begin_advance(self) -> None:
        """Nobody waits, and nothing is logged or copied."""
        self._counts[:] = 0
        self.copied = None

    def replaced(self) -> Logged | Summed:
        return self.logged() if self.copied is None else self.copied

    def logged(self) -> Logged:
        corrections, moves = self.record.corrections, self.record.moves
        corrected, moved = int(self._counts[CORRECTIONS]), int(self._counts[MOVES])
        vertices = corrections.vertex[:corrected].copy()
        balances = corrections.balance[: BALANCES * corrected].copy()
        copies: list[Any] = [array[:moved].copy() for array in moves]
        return Logged(Corrections(vertices, balances), MovedValues(*copies))

    def keep_copy(self) -> None:
        """Copy everything as it was before the advance, unless that has been done."""
        if self.copied is None:
            copied = Summed(*(array.copy() for array in self.record.summed))
            put_back(copied, self.logged())
            self.copied = copied

    def begin_sweeping(self) -> None:
        """Nobody waits any more, and everybody may be changed."""
        self._counts[: MOVES + 1] = 0
        self.record.mark[:] = 0

    def put_back(self, before: Logged | Summed) -> None:
        if isinstance(before, Logged):
            put_back(self.record.summed, before)
            return
        for array, old in zip(self.record.summed, before, strict=True):
            array[:] = old

    def measures(self) -> Float64:
        return self._measures.copy()

    def put_measures(self, before: Float64) -> None:
        self._measures[:] = before


def put_back(summed: Summed, logged: Logged) -> None:
    """Let vertices have again what is logged of them. O(what is logged)."""
    corrections, moves = logged
    balance = summed.balance.reshape(-1, BALANCES)
    balance[corrections.vertex] = corrections.balance.reshape(-1, BALANCES)
    for array, old in zip(summed[:3], moves[1:], strict=True):
        array[moves.vertex] = old


def _no_corrections(room: int) -> Corrections:
    return Corrections(np.empty(room, np.int32), np.empty(BALANCES * room))


Int64 = NDArray[np.int64]

FOR_DRIFT = 1 / 16
"""The share of the tolerance that is set apart for rounding of residuals."""

WIDE_SHARE = 1.0
"""Once so many of the graph's edges have been pushed in turn, or wait to be, vertices are pushed in
their own order: an edge takes 5 to 8 ns in turn, with its log, and 2 ns in order, without. Going
over to that costs a copy of everything, and looks at every vertex seven times."""

FEW_SHARE = 0.05
"""Once so many have been pushed in turn, or wait to be, those who are far off go first. Below, that
costs more than it saves: a single edge within 1% took 84 us so, and takes 65."""

NARROW_SHARE = 0.05
"""Fewer are pushed in turn again: looking at every vertex takes as long."""

MOST_SHARE = 0.85
"""Where more of the graph's edges would be pushed, all values are pulled: 1.4 ns an edge."""

RELIEFS = (128.0, 32.0, 8.0, 2.0)
"""Those who are off by so many times their limit are pushed before others. Over all 2,351 days of
sx-mathoverflow within 1%, 265 million edges instead of 340, and half of the days are no longer
pushed in the order of vertices; over 200 days within 1e-4, 341 million instead of 371. Three to six
reliefs up to 512 came within a tenth of that."""

EASED = 1e-5
"""No relief within less: a day moves nearly all ranks by more than 1e-6, all are pulled, and relief
took a quarter longer. Between 1e-4 and 1e-6 nothing was measured."""

MOST_ROUNDS = 100_000
"""An advance is given up after looking at all edges this many times."""

LIFTS = 6
"""After this many passes over all ceilings, few are far from where they should be."""

LEAST_SLACK = 0.15
"""The share of the least base that no slack is below: a sixth at a tolerance of 1, and else more.

Slack is at least a quarter of value - A ceiling, which is the base less a residual, or more. Where
bases may be 0, it is at least half of the floor."""

_PAUSE = 1 << 24
"""Edges that a kernel pushes before it returns, so that it can be interrupted."""


def residual_limit(share: float) -> float:
    """The share of its slack that a residual may have, where results may be off by `share`."""
    return share * (1 - 2 * FOR_DRIFT) / (1 + FOR_DRIFT)


@contextmanager
def _eased(record: ResidualState, relief: float) -> Iterator[None]:
    """Let limits be so many times as high."""
    measures = record.measures
    limit = measures[LIMIT]
    measures[LIMIT] = relief * limit
    try:
        yield
    finally:
        measures[LIMIT] = limit


class Schedule:
    """Brings values within their limits, by the kernels of one program on one graph."""

    def __init__(
        self, kernels: Any, graph: ResidentGraph, settling: SettlingSum, tolerance: float, name: str
    ) -> None:
        self._kernels = kernels
        self._graph = graph
        self._share = tolerance / (1 + tolerance)
        self._least = settling.floor / 2 or LEAST_SLACK * settling.least
        self._reliefs = RELIEFS if tolerance >= EASED else ()
        self._limits = (*self._reliefs, 1.0)
        self._name = name
        self._experience = Experience()

    @property
    def _everything(self) -> int:
        return self._graph.live + self._graph.vertices

    def run(self, words: Int64, state: SummedState) -> None:
        """Values and balances from scratch: sweeps, then pushes."""
        record = state.record
        self._sweep(words, record)
        self._kernels.lift_all(words, LIFTS)
        self._pull(words, record)
        self._scan(words, state)
        while not self._settle(words, record, WIDE_SHARE) or self._drifted(record):
            if self._drifted(record):
                self._pull(words, record)
            self._scan(words, state)
        record.mark[:] = 0

    def follow(self, words: Int64, state: SummedState, delta: Delta) -> None:
        """Push what the delta changed, all vertices in order where that is cheaper.

        In that case `state` keeps a copy of everything before; otherwise its logs tell.
        """
        settled = self._take(words, state.record, delta)
        while not settled or self._drifted(state.record):
            state.keep_copy()
            if self._drifted(state.record):
                self._pull(words, state.record)
            self._scan(words, state)
            settled = self._settle(words, state.record, WIDE_SHARE)

    def _take(self, words: Int64, record: ResidualState, delta: Delta) -> bool:
        """Take a delta in, and push in turn if that is worth trying; False where it is too much.

        Without relief, a queue that is too long is seen soon, and what was pushed is not lost.
        """
        size = len(delta.sources)
        tried = not self._reliefs or self._experience.worth_trying(size)
        self._kernels.take_delta(words, *delta)
        if not tried:
            return False
        settled = self._settle(words, record, FEW_SHARE if self._reliefs else WIDE_SHARE)
        if not settled and self._reliefs:
            settled = self._relieve(words, record)
        self._experience.learn(size, broken_off=not settled)
        return settled

    def _relieve(self, words: Int64, record: ResidualState) -> bool:
        """Push in turn whoever is far off, and then those who still are off by less."""
        for relief in self._limits:
            with _eased(record, relief):
                self._kernels.line_up(words)
                if not self._settle(words, record, WIDE_SHARE):
                    return False
        return True

    def _sweep(self, words: Int64, record: ResidualState) -> None:
        """Sweep while most of the graph moves; balances are then out of date."""
        everything = self._everything
        moving = everything + 1
        while moving > MOST_SHARE * everything:
            moving = self._kernels.sweep(words)
            record.counts[TOUCHED] += everything
            self._check_rounds(record)

    def _scan(self, words: Int64, state: SummedState) -> None:
        """Push whoever is off, in the order of vertices, while those are many; sweep for most."""
        for relief in self._limits:
            with _eased(state.record, relief):
                self._scan_within(words, state.record)
        state.begin_sweeping()
        self._kernels.enqueue_all(words)

    def _scan_within(self, words: Int64, record: ResidualState) -> None:
        """Push in the order of vertices until few are off by more than the limit of now."""
        everything = self._everything
        moving = everything
        while moving > NARROW_SHARE * everything:
            moving = self._kernels.scan(words)
            if moving > MOST_SHARE * everything:
                self._sweep(words, record)
                self._pull(words, record)
            self._check_rounds(record)

    def _pull(self, words: Int64, record: ResidualState) -> None:
        """Balances of what edges carry now, without what rounding has put them off by."""
        self._kernels.pull_balances(words)
        record.counts[TOUCHED] += self._everything

    def _settle(self, words: Int64, record: ResidualState, wide: float) -> bool:
        """Push in turn until nobody waits; False where that comes to such a share of the graph."""
        counts = record.counts
        counts[WIDE] = int(wide * self._everything) + 1
        while counts[WAITING] > 0:
            counts[MOST] = counts[TOUCHED] + _PAUSE
            if not self._kernels.settle(words):
                return False
            self._check_rounds(record)
        return True

    def _drifted(self, record: ResidualState) -> bool:
        """True where rounding may have used up what is set apart for it."""
        apart, measures = FOR_DRIFT * self._least, record.measures
        return bool(measures[DRIFT] > self._share * apart or measures[SLACK_DRIFT] > apart)

    def _check_rounds(self, record: ResidualState) -> None:
        most = MOST_ROUNDS * (self._everything + 1024)
        if record.counts[TOUCHED] > most:
            raise LimitError(
                f"{self._name} has not settled after looking at all edges {MOST_ROUNDS:,} times",
                hint="give it a larger tolerance, or a lesser factor",
            )
