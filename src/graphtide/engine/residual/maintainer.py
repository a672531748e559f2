"""The maintainer of programs that add up and settle: values with a residual each.

Right where the plan proves a contraction (`plan.settling_sums`): then a residual of no more than a
share t of the base at every vertex means that every value is within t of the true one, relatively,
after any number of advances. The true one is the fixpoint, which no number of iterations reaches.
Where bases may be 0, it is within t of the true one and a floor besides.

Residuals are corrected by what edges carry, and each correction is rounded. `DRIFT` adds up a bound
on what that may have come to at any vertex; a sixteenth of the tolerance is set apart for it, and
before it is used up all residuals are pulled anew. Values and shares are rounded as well: beside
the tolerance, results are off by a few units in the last place for each edge on the way to them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import GrowingParameters
from graphtide.engine.changes import Change, Changes, change_between
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.section import residual_section
from graphtide.engine.residual.state import Done, SummedState
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.residual.records import (
    DRIFT,
    LIMIT,
    MOST,
    MOVES,
    SLACK_DRIFT,
    TOUCHED,
    WAITING,
    WIDE,
    ResidualState,
    Summed,
)
from graphtide.model.errors import GraphtideError, InputError, LimitError
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.settling_sums import (
    SettlingSum,
    settling_sum,
    why_not_settling_sum,
    with_equal_bases,
)

Int64 = NDArray[np.int64]

FOR_DRIFT = 1 / 16
"""The share of the tolerance that is set apart for rounding of residuals."""

WIDE_SHARE = 0.5
"""Once so many of the graph's edges have been pushed in turn, or wait to be, vertices are pushed in
their own order: an edge takes 6 to 8 ns in turn, with its log, and 1.8 ns in order, without."""

NARROW_SHARE = 0.05
"""Fewer are pushed in turn again: looking at every vertex takes as long."""

MOST_SHARE = 0.85
"""Where more of the graph's edges would be pushed, all values are pulled: 1.4 ns an edge."""

RELIEFS = (32.0, 8.0, 2.0)
"""Those who are off by so many times their limit are pushed before others, where many are: over 40
days of sx-mathoverflow within 1e-4, 111 million edges instead of 179, and 0.33 s instead of 0.42,
once each. Others that were tried came within a tenth of that in edges."""

EASED = 1e-5
"""No relief within less: a day moves nearly all ranks by more than 1e-6, all are pulled, and relief
took a quarter longer. Between 1e-4 and 1e-6 nothing was measured."""

MOST_ROUNDS = 100_000
"""So many times all edges are looked at in one advance before it is given up."""

LIFTS = 6
"""So many passes over all ceilings leave few that are far from where they should be."""

LEAST_SLACK = 0.15
"""The share of the least base that no slack is below: a sixth at a tolerance of 1, and else more.

Slack is at least a quarter of value - A ceiling, which is the base less a residual, or more. Where
bases may be 0, it is at least half of the floor."""

_PAUSE = 1 << 24
"""Edges that a kernel pushes before it returns, so that it can be interrupted."""


class ResidualMaintainer(Maintainer):
    """A settling sum on a graph in memory, within its tolerance after every advance."""

    def __init__(
        self, graph: ResidentGraph, bound: BoundProgram, parameters: tuple[Any, ...]
    ) -> None:
        self._sum = _checked(bound)
        self._field = self._sum.state
        super().__init__(graph, (self._field,))
        self.program = bound.program
        self.tolerance = bound.tolerance
        self._share = self.tolerance / (1 + self.tolerance)
        self._given = parameters
        self._parameters = GrowingParameters(graph, bound.program, parameters)
        self._state = self._new_state()
        self._copied: Summed | None = None
        self._block: Block | None = None
        self._seen: tuple[Any, Any] = None, None

    @cached_property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        section = residual_section(self.program, self._sum)
        return generated_module(
            generated_source(section, "residual", "residual_pushes"), self.program.name
        )

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex; a view of the state, not a copy."""
        assert field in (None, self._field)
        return self._state.record.summed.value

    def start(self) -> None:
        """Settle from scratch on the version that the graph is at; forgets what could be undone."""
        self.forget()
        self._state = self._new_state()
        self._run(self._state)

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the version that the graph is at, apart from the state."""
        state = self._new_state()
        self._run(state)
        return {self._field: state.record.summed.value}

    def follow(self, delta: Delta) -> Changes:
        """Bring the values up to date with a graph that has been flipped."""
        state, before = self._state, self._state.vertices
        measures = state.measures()
        self._add_vertices(state)
        state.begin_advance()
        self._copied = None
        try:
            self._repair(delta)
        except GraphtideError:
            state.record.mark[:] = 0
            self._put_back(Done(self._copied or state.logged(), measures, before))
            raise
        self.touched = int(state.record.counts[TOUCHED])
        self._done.append(Done(self._copied or state.logged(), measures, before))
        return {self._field: self._report(self._copied)}

    def _repair(self, delta: Delta) -> None:
        """Push what the delta changed, all vertices in order where that is cheaper.

        In that case everything as it was before is copied; otherwise the logs tell.
        """
        state, words = self._state, self._words(self._state)
        self.kernels.take_delta(words, *delta)
        while not self._settle(words, state.record) or self._drifted(state.record):
            self._copied = self._copied or state.take_copy()
            if self._drifted(state.record):
                self._pull(words, state.record)
            self._scan(words, state)

    def _report(self, copied: Summed | None) -> Change:
        """Whose value moved: by the log, or by comparing with everything before."""
        record = self._state.record
        if copied is not None:
            record.mark[:] = 0
            return change_between(copied.value, record.summed.value)
        new = np.empty(int(record.counts[MOVES]))
        count = self.kernels.finish(self._words(self._state), new)
        moves = record.moves
        return Change(moves.vertex[:count].copy(), moves.value[:count].copy(), new[:count])

    def _put_back(self, done: Done) -> None:
        state = self._state
        state.put_back(done.before)
        state.put_measures(done.measures)
        if done.vertices != state.vertices:
            state.fit(done.vertices)
            self._parameters.resize(done.vertices)

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference.

        Both are within the tolerance of the true values, and so within twice that of each other.
        """
        found, expected = self.values(), self.scratch()[self._field]
        beside = expected + self.beside_values()
        wrong = np.flatnonzero(np.abs(found - expected) > self.between * beside)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {found[vertex]}, from scratch {expected[vertex]}"
            )

    def beside_values(self) -> NDArray[Any] | float:
        """What the tolerance is a share of besides the value; 0 where every base is above 0.

        It is what a vertex would have if every base were the floor, by that program's definition.
        """
        if not self._sum.floor:
            return 0.0
        program = with_equal_bases(self.program, self._sum)
        found = plain_values(self.graph, program, self._given)[self._field]
        return self._sum.floor / self._sum.greatest * found

    @property
    def between(self) -> float:
        """By which share two results may differ that are each within the tolerance."""
        return 2 * self.tolerance / (1 - self.tolerance)

    @property
    def spare(self) -> float:
        """The share by which values may still move, each time anew, and end within the tolerance.

        What is left of every move is sent on: all that follow come to move / (1 - factor).
        """
        return self.tolerance * (1 - self._sum.factor)

    def _run(self, state: SummedState) -> None:
        """Values and balances from scratch: sweeps, then pushes."""
        self._add_vertices(state)
        words, record = self._words(state), state.record
        self._sweep(words, record)
        self.kernels.lift_all(words, LIFTS)
        self._pull(words, record)
        self._scan(words, state)
        while not self._settle(words, record) or self._drifted(record):
            if self._drifted(record):
                self._pull(words, record)
            self._scan(words, state)
        record.mark[:] = 0

    def _sweep(self, words: Int64, record: ResidualState) -> None:
        """Sweep while most of the graph moves; balances are then out of date."""
        everything = self.graph.live + self.graph.vertices
        moving = everything + 1
        while moving > MOST_SHARE * everything:
            moving = self.kernels.sweep(words)
            record.counts[TOUCHED] += everything
            self._check_rounds(record)

    def _scan(self, words: Int64, state: SummedState) -> None:
        """Push whoever is off, in the order of vertices, while those are many; sweep for most.

        Whoever is far off comes first: what reaches the others meanwhile is then pushed at once.
        """
        measures = state.record.measures
        limit = measures[LIMIT]
        try:
            for relief in RELIEFS if self.tolerance >= EASED else ():
                measures[LIMIT] = relief * limit
                self._scan_within(words, state.record)
        finally:
            measures[LIMIT] = limit
        self._scan_within(words, state.record)
        state.begin_sweeping()
        self.kernels.enqueue_all(words)

    def _scan_within(self, words: Int64, record: ResidualState) -> None:
        """The same by the limit of now, until few are off by more."""
        everything = self.graph.live + self.graph.vertices
        moving = everything
        while moving > NARROW_SHARE * everything:
            moving = self.kernels.scan(words)
            if moving > MOST_SHARE * everything:
                self._sweep(words, record)
                self._pull(words, record)
            self._check_rounds(record)

    def _pull(self, words: Int64, record: ResidualState) -> None:
        """Balances of what edges carry now, without what rounding has put them off by."""
        self.kernels.pull_balances(words)
        record.counts[TOUCHED] += self.graph.live + self.graph.vertices

    def _settle(self, words: Int64, record: ResidualState) -> bool:
        """Push in turn until nobody waits; False where that comes to too much of the graph."""
        counts = record.counts
        counts[WIDE] = int(WIDE_SHARE * (self.graph.live + self.graph.vertices)) + 1
        while counts[WAITING] > 0:
            counts[MOST] = counts[TOUCHED] + _PAUSE
            if not self.kernels.settle(words):
                return False
            self._check_rounds(record)
        return True

    def _drifted(self, record: ResidualState) -> bool:
        """True where rounding may have used up what is set apart for it."""
        least = self._sum.floor / 2 or LEAST_SLACK * self._sum.least
        drift, slack_drift = record.measures[[DRIFT, SLACK_DRIFT]]
        return bool(drift > self._share * FOR_DRIFT * least or slack_drift > FOR_DRIFT * least)

    def _check_rounds(self, record: ResidualState) -> None:
        most = MOST_ROUNDS * (self.graph.live + self.graph.vertices + 1024)
        if record.counts[TOUCHED] > most:
            raise LimitError(
                f"{self.program.name} has not settled after looking at all edges "
                f"{MOST_ROUNDS:,} times",
                hint="give it a larger tolerance, or a lesser factor",
            )

    def _new_state(self) -> SummedState:
        return SummedState(self._share * (1 - 2 * FOR_DRIFT) / (1 + FOR_DRIFT), self._sum.floor)

    def _add_vertices(self, state: SummedState) -> None:
        """Vertices that came later have their base and no edges yet, as far as is known here."""
        before, now = state.vertices, self.graph.vertices
        if before != now:
            state.fit(now)
            self._parameters.resize(now)
            self.kernels.begin(self._words(state), before)

    def _words(self, state: SummedState) -> Int64:
        """Where all that kernels work with is; written anew where any of it was replaced."""
        seen = self.graph.adjacency, state.record
        if self._block is None or any(
            one is not other for one, other in zip(seen, self._seen, strict=True)
        ):
            self._seen, self._block = seen, Block(*seen, self._parameters.arrays)
        return self._block.words


def _checked(bound: BoundProgram) -> SettlingSum:
    found = settling_sum(bound)
    if found is None:
        reason = why_not_settling_sum(bound)
        raise InputError(
            f"{bound.program.name} has no fixpoint mode: {reason}", hint="use exact mode"
        )
    return found
