"""A walk program whose walks read no state, on a graph: it follows batches by terms of its walks.

What every vertex was sent is kept, and is the same in every round; a vertex runs to its end alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.walks.changes import WalkChanges, global_changes
from graphtide.engine.walks.matches import MatchRows, Row
from graphtide.engine.walks.runs import WalkRun
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.walks import records
from graphtide.model.errors import InputError, LimitError

Int64 = NDArray[np.int64]
_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True)
class Done:
    """What an advance did, as far as it takes to undo it, in proportion to what changed."""

    delta: Delta
    vertices: int
    pairs: tuple[NDArray[Any], ...]
    extra: tuple[int, int]
    touched: NDArray[np.int32]
    sums: Int64
    states: Int64
    words: Int64
    matches: list[list[tuple[Row, int]]]
    rows: tuple[MatchRows, ...] | None
    """The rows as they were, where they were trimmed or found anew."""


class TermsRun(WalkRun):
    """One program, its parameters, and its results on the version that the graph is at."""

    def follow(self, delta: Delta) -> tuple[Done, WalkChanges]:
        """Follow a graph that has been flipped, and may have got vertices."""
        state, kernels = self.state, self._kernels
        vertices = self._take_in_vertices()
        state.make_ready(len(delta.sources))
        while True:
            state.counts[records.OLD_VERTICES] = vertices
            state.counts[records.VERTICES] = state.vertices
            extra = self._extra()
            words = state.globals.copy()
            self._follow_walks(delta)
            if not self._lacks_room():
                break
            unsettled = replace(self._done(delta, vertices, extra, words, []), states=_NOTHING)
            self.put_back(unsettled)
            self._take_in_vertices()
            state.make_ready(len(delta.sources))
        before = self.globals
        if self.program.globals:
            if state.counts[records.DOUBT]:
                self._take_globals_anew()
            self._finish_globals()
        moved = global_changes(before, self.globals)
        kernels.follow_updates(self._words(), bool(moved) and self.code.facts.reads_globals)
        rows = self._reported() if self.program.matches else []
        done = self._done(delta, vertices, extra, words, rows)
        try:
            self._check()
        except (InputError, LimitError):
            self.put_back(done)
            raise
        done = replace(done, rows=self._take_rows(rows))
        return done, WalkChanges(self._field_changes(done), moved, self._row_changes(rows))

    def _follow_walks(self, delta: Delta) -> None:
        """Find what walks change, while ordered rows hold both versions."""
        self._enter_ordered(delta)
        self._kernels.follow_walks(self._words(), *delta)
        self._leave_ordered(delta)

    def put_back(self, done: Done) -> None:
        """Undo an advance; the graph may be at either version."""
        self._put_ordered_back(done.delta)
        self._put_index_back(done.pairs, done.extra)
        self._kernels.put_rows_back(self._words(), done.touched, done.sums, done.states)
        self._put_whole_back(done.words, done.matches, done.rows)
        self._put_vertices_back(done.vertices)

    def _take_in_vertices(self) -> int:
        """Let vertices that came stand at their end with nothing sent; how many there were."""
        before = self.state.vertices
        if self._generation == self.graph.generation and before == self.graph.vertices:
            return before
        self._fit()
        if before != self.state.vertices:
            self._kernels.begin_vertices(self._words(), before, self.state.vertices)
            self._kernels.settle_vertices(self._words(), before, self.state.vertices)
        return before

    def _take_globals_anew(self) -> None:
        """Run all walks for the accumulators of the whole graph alone, beside the rest."""
        state = self.state
        sums, reported = state.sums.copy(), int(state.counts[records.REPORTED])
        rows = state.reported[: reported * self._report_width].copy()
        self._kernels.clear_all(self._words())
        self._run_roots(0, self.graph.vertices)
        self._copies.clear()
        state.sums[:] = sums
        state.counts[records.REPORTED] = reported
        state.reported[: len(rows)] = rows

    def _done(
        self,
        delta: Delta,
        vertices: int,
        extra: tuple[int, int],
        words: Int64,
        rows: list[list[tuple[Row, int]]],
    ) -> Done:
        state, touched = self.state, self.state.touched
        count = int(state.counts[records.TOUCHED])
        return Done(
            delta=delta,
            vertices=vertices,
            pairs=self._changed_pairs(),
            extra=extra,
            touched=touched.vertex[:count].copy(),
            sums=touched.sums[: count * state.widths["sums"]].copy(),
            states=touched.states[: count * state.widths["states"]].copy(),
            words=words,
            matches=rows,
            rows=None,
        )

    def _field_changes(self, done: Done) -> dict[str, Change]:
        state = self.state
        entries = state.touched.moved[: state.counts[records.MOVED]]
        width = state.widths["states"]
        before = done.states.reshape(-1, width)[entries] if width else done.states
        return self._changes_at(done.touched[entries], before)
