"""A walk program whose walks read no state, on a graph: it follows batches by terms of its walks.

What every vertex was sent is kept, and is the same in every round; a vertex runs to its end alone.
An advance is one call of a kernel, unless `update` reads results of the whole graph, and leaves one
array (`kernels/walks/logs`): more would take longer than the walks of one edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.synchronous.row_layout import Column
from graphtide.engine.walks.changes import GlobalChange, WalkChanges, global_changes
from graphtide.engine.walks.matches import MatchRows, Row, RowChange
from graphtide.engine.walks.runs import WalkRun
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.walks import records
from graphtide.kernels.walks.logs import LOGGED_TOUCHED, tell_field
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.expressions import FLOAT

Int64 = NDArray[np.int64]
_NO_WORDS = np.empty(0, np.int64)
_NO_ROWS: dict[str, RowChange] = {}


class Done(NamedTuple):
    """What an advance did, as far as it takes to undo it, in proportion to what changed."""

    delta: Delta
    vertices: int
    log: Int64
    words: Int64
    matches: list[list[tuple[Row, int]]]
    rows: tuple[MatchRows, ...] | None
    """The rows as they were, where they were trimmed or found anew."""
    highest: Int64
    """The highest edges of ordered rows."""


class TermsRun(WalkRun):
    """One program, its parameters, and its results on the version that the graph is at."""

    def follow(self, delta: Delta) -> tuple[Done, WalkChanges]:
        """Follow a graph that has been flipped, and may have got vertices."""
        done, moved = self._followed(delta)
        while self._lacks_room():
            self.put_back(done)
            done, moved = self._followed(delta)
        if self.state.fault[0]:
            self._refuse(done)
        log, told = done.log, _NO_ROWS
        if self.program.matches:
            rows = self._reported()
            done = self._with_rows(done, rows)
            told = self._row_changes(rows, done.rows)
        return done, WalkChanges(lambda: self._field_changes(log), moved, told)

    def _with_rows(self, done: Done, rows: list[list[tuple[Row, int]]]) -> Done:
        """Let rows come and leave, and remember what was there."""
        if not any(rows):
            return done
        return done._replace(matches=rows, rows=self._take_rows(rows))

    def _followed(self, delta: Delta) -> tuple[Done, Mapping[str, GlobalChange]]:
        """Find what walks change, while ordered rows hold both versions, and settle vertices."""
        state, counts = self.state, self.state.counts
        vertices = self._take_in_vertices()
        state.make_ready(len(delta.sources))
        counts[records.OLD_VERTICES], counts[records.VERTICES] = vertices, state.vertices
        words = state.globals.copy() if self.program.globals else _NO_WORDS
        highest = self._enter_ordered(delta)
        log, moved = self._call_kernels(delta)
        self._leave_ordered(delta)
        return Done(delta, vertices, log, words, [], None, highest), moved

    def _call_kernels(self, delta: Delta) -> tuple[Int64, Mapping[str, GlobalChange]]:
        """The log, and what changed of the whole graph."""
        kernels = self._kernels
        if not self.code.facts.reads_globals:
            size = kernels.follow_batch(self._words(), *delta, self._log_room)
            log = self._copy_of_log(size, self._update_touched)
            return log, self._take_globals(delta) if self.program.globals else {}
        kernels.follow_walks(self._words(), *delta)
        moved = self._take_globals(delta)
        size = kernels.follow_updates(self._words(), bool(moved), self._log_room)
        return self._copy_of_log(size, self._update_touched), moved

    def _update_touched(self) -> None:
        """Settle vertices for whose log there was no room before."""
        self._kernels.follow_updates(self._words(), False, self._log_room)

    def _take_globals(self, delta: Delta) -> Mapping[str, GlobalChange]:
        """What changed of the accumulators of the whole graph, which everybody sees from now on."""
        before = self.globals
        if self.state.counts[records.DOUBT]:
            self._take_globals_anew(delta)
        self._finish_globals()
        return global_changes(before, self.globals)

    def _refuse(self, done: Done) -> None:
        """Say what is wrong, with everything as it was before."""
        try:
            self._check()
        except (InputError, LimitError):
            self.put_back(done)
            raise

    def put_back(self, done: Done) -> None:
        """Undo an advance; the graph may be at either version."""
        self._put_ordered_back(done.delta, done.highest)
        self._undo_log(done.log)
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

    def _take_globals_anew(self, delta: Delta) -> None:
        """Run all walks for the accumulators of the whole graph alone, beside the rest.

        They are those of the new version: what left is out of ordered rows meanwhile.
        """
        state, ordered, count = self.state, self.state.ordered, len(delta.inserted)
        self._leave_ordered(delta)
        sums, reported = state.sums.copy(), int(state.counts[records.REPORTED])
        rows = state.reported[: reported * self._report_width].copy()
        self._kernels.clear_all(self._words())
        self._run_roots(0, self.graph.vertices)
        self._copies.clear()
        state.sums[:] = sums
        state.counts[records.REPORTED] = reported
        state.reported[: len(rows)] = rows
        if ordered.some:
            ordered.enter(delta.deleted, delta.sources[count:], delta.targets[count:])

    def _field_changes(self, log: Int64) -> dict[str, Change]:
        """What a log tells of vertices whose state differs."""
        touched = int(log[LOGGED_TOUCHED])
        if not touched:
            return self._no_changes
        reals = log.view(np.float64)
        return {
            name: self._field_change(log, reals, touched, column)
            for name, column in self._columns.items()
        }

    def _field_change(
        self, log: Int64, reals: NDArray[np.float64], touched: int, column: Column
    ) -> Change:
        """The same of one field."""
        _, dtype, length = self.state.shape(column)
        vertices = np.empty(touched, np.int32)
        words = np.empty(2 * touched * (1 if length is None else length), np.int64)
        count = tell_field(log, reals, self._logged[column.item.name], vertices, words)
        shape, strides = ((count,), (8,)) if length is None else ((count, length), (8 * length, 8))
        both = (np.ndarray(shape, dtype, words, at, strides) for at in (0, 4 * len(words)))
        return Change(vertices[:count], *both)

    @cached_property
    def _logged(self) -> dict[str, Int64]:
        """Where each field stands in a log, as `tell_field` takes it."""
        sums, width = self.state.widths["sums"], self.state.widths["states"]
        return {
            name: np.array(
                [1 + sums + self.state.shape(column)[0] // 8, width, 1 + sums + 2 * width, real]
            )
            for name, column in self._columns.items()
            for real in [column.item.type is FLOAT]
        }
