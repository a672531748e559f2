"""The maintainer of walk programs.

Where no walk reads state, what every vertex was sent is the same in every round, and a vertex runs
to its end alone. All accumulators follow a batch by the terms of rule 7 (`plan/walk_terms`), and
`update` runs again where an accumulator, a degree or a global that it reads has changed. Where
walks read state, all rounds are gone through (`rounds`), as far as that costs less than a start.
Where a run's end depends on all vertices at once, the program starts anew with every advance. So it
does for a batch of more than a share of the graph, which costs less so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, change_between
from graphtide.engine.maintainer import Experience, Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.maintainer import TooDearError
from graphtide.engine.synchronous.rows import Column
from graphtide.engine.walks.code import walk_code
from graphtide.engine.walks.matches import (
    GlobalChange,
    MatchRows,
    Row,
    RowChange,
    WalkChanges,
    global_changes,
    same_value,
    shown_changes,
)
from graphtide.engine.walks.plain import plain_walks
from graphtide.engine.walks.rounds import NO_BUDGET, RoundsDone, RoundsRun
from graphtide.engine.walks.runs import WalkRun
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.walks import records
from graphtide.kernels.walks.batch import LOGGED_TOUCHED, tell_field
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.expressions import FLOAT
from graphtide.plan.walks import WalkProgram

Int64 = NDArray[np.int64]
_NO_WORDS = np.empty(0, np.int64)
_NO_ROWS: dict[str, RowChange] = {}


class TermsUndo(NamedTuple):
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

    def follow(self, delta: Delta) -> tuple[TermsUndo, WalkChanges]:
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

    def _with_rows(self, done: TermsUndo, rows: list[list[tuple[Row, int]]]) -> TermsUndo:
        """Let rows come and leave, and remember what was there."""
        if not any(rows):
            return done
        return done._replace(matches=rows, rows=self._take_rows(rows))

    def _followed(self, delta: Delta) -> tuple[TermsUndo, Mapping[str, GlobalChange]]:
        """Find what walks change, while ordered rows hold both versions, and settle vertices."""
        state, counts = self.state, self.state.counts
        vertices = self._take_in_vertices()
        state.make_ready(len(delta.sources))
        counts[records.OLD_VERTICES], counts[records.VERTICES] = vertices, state.vertices
        words = state.globals.copy() if self.program.globals else _NO_WORDS
        highest = self._enter_ordered(delta)
        log, moved = self._call_kernels(delta)
        self._leave_ordered(delta)
        return TermsUndo(delta, vertices, log, words, [], None, highest), moved

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

    def _refuse(self, done: TermsUndo) -> None:
        """Say what is wrong, with everything as it was before."""
        try:
            self._check()
        except (InputError, LimitError):
            self.put_back(done)
            raise

    def put_back(self, done: TermsUndo) -> None:
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


SHARE = 1e-9
"""How much of itself a float may differ by from a plain run, which adds up in another order."""


class WalkMaintainer(Maintainer):
    """A walk program on a graph in memory, current after every advance.

    Results are state fields (`values`), accumulators of the whole graph (`globals`: a number or an
    array by name) and rows (`matches`, by name: `rows()`, `total`, and `cut` where a limit cuts).
    `follow` returns `WalkChanges`: changes by state field, with `globals` and `matches` beside
    them.
    """

    anew_share = 4
    """A batch of more than one live edge in so many starts anew; 0: none does for its size."""

    def __init__(
        self, graph: ResidentGraph, program: WalkProgram, parameters: tuple[Any, ...]
    ) -> None:
        super().__init__(graph, tuple(item.name for item in program.state))
        self.program = program
        self._code = walk_code(program)
        self._values = parameters
        self._run = WalkRun(graph, self._code, parameters)
        self._experience = Experience()

    @property
    def kernels(self) -> Any:
        """The compiled module of the program."""
        return self._code.module

    @property
    def globals(self) -> Mapping[str, Any]:
        """What each accumulator of the whole graph holds: a number, or an array of them."""
        return self._run.globals

    @property
    def matches(self) -> Mapping[str, MatchRows]:
        """The rows of each kind of matches."""
        return _by_name(self._run.matches)

    def values(self, field: str | None = None) -> NDArray[Any]:
        """A state field of every vertex, the first if none is named; a view, at a stride."""
        return self._run.field(field or self.fields[0])

    def rounds(self) -> list[dict[str, NDArray[Any]]]:
        """State fields after every round, round 0 first; none where rounds are not kept."""
        return list(self._run.rounds()) if isinstance(self._run, RoundsRun) else []

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        self.forget()
        self._run = self._started(keeps=True)

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        if isinstance(self._run, RoundsRun):
            self._run.sweep(lambda: self._done.entries(lambda entry: isinstance(entry, RoundsDone)))

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The state fields of the version that the graph is at, apart from the state."""
        return self.scratch_results()[0]

    def scratch_results(
        self,
    ) -> tuple[dict[str, NDArray[Any]], Mapping[str, Any], Mapping[str, MatchRows]]:
        """State fields, globals and matches of the version that the graph is at, like `scratch`."""
        run = self._started(keeps=False)
        fields = {name: run.field(name).copy() for name in self.fields}
        return fields, run.globals, _by_name(run.matches)

    def follow(self, delta: Delta) -> WalkChanges:
        """Follow a graph that has been flipped, and may have got vertices; says what changed."""
        self.touched, run = len(delta.sources), self._run
        if len(delta.sources) * self.anew_share > self.graph.live:
            return self._start_over()
        if isinstance(run, TermsRun):
            done, changes = run.follow(delta)
            self._done.append(done)
            return changes
        if isinstance(run, RoundsRun) and run.follows:
            return self._go_through_rounds(run, delta)
        return self._start_over()

    def _go_through_rounds(self, run: RoundsRun, delta: Delta) -> WalkChanges:
        """Follow round by round, unless batches of about this size came out too dear again and
        again, or this one does.
        """
        edges = len(delta.sources)
        if self.anew_share and not self._experience.worth_trying(edges):
            return self._start_over()
        run.budget = None if self.anew_share else NO_BUDGET
        try:
            done, changes = run.follow(delta)
        except TooDearError:
            self._experience.learn(edges, broken_off=True)
            return self._start_over()
        self._experience.learn(edges, broken_off=False)
        self.touched = run.looked
        self._done.append(done, run.kept_for(done))
        return changes

    def begin_again(self) -> WalkChanges:
        """Start on a version whose vertices have other values; says what that changed."""
        found = self._start_over()
        self.forget()
        return found

    def _start_over(self) -> WalkChanges:
        before, run = self._run, self._started(keeps=True)
        self._done.append(before)
        self._run = run
        self.touched = self.graph.live
        known = before.state.vertices
        fields = {
            name: change_between(before.field(name), run.field(name)[:known])
            for name in self.fields
        }
        rows = shown_changes(_by_name(before.matches), _by_name(run.matches))
        whole = global_changes(before.globals, run.globals)
        return WalkChanges(lambda: fields, whole, rows)

    def _started(self, *, keeps: bool) -> WalkRun:
        kind: type[WalkRun] = WalkRun
        ending = self._run.ending
        if keeps and ending.alone:
            kind = TermsRun
        if keeps and ending.by_rounds:
            kind = RoundsRun
        run = kind(self.graph, self._code, self._values)
        run.start()
        return run

    def _put_back(self, done: Any) -> None:
        if isinstance(done, WalkRun):
            self._run = done
            return
        assert isinstance(self._run, TermsRun | RoundsRun)
        self._run.put_back(done)

    def verify(self) -> None:
        """Compare with a plain run, without kernels; AssertionError at the first difference."""
        expected = plain_walks(self.graph, self.program, self._values)
        for name in self.fields:
            found = change_between(expected.state[name], self.values(name))
            _check_near(name, found.vertices, found.old, found.new)
        for name, value in expected.globals.items():
            if not same_value(value, self.globals[name]):
                _check_near(name, [0], value, self.globals[name])
        for name, rows in self.matches.items():
            counted: dict[Row, int] = {}
            for row in expected.matches[name]:
                counted[row] = counted.get(row, 0) + 1
            if rows.total != len(expected.matches[name]):
                raise AssertionError(
                    f"{name} has {rows.total} rows, from scratch {len(expected.matches[name])}"
                )
            shown = sorted(expected.matches[name])[: rows.limit]
            if shown != rows.rows():
                raise AssertionError(f"{name} has other rows than a run from scratch")


def _by_name(matches: Iterable[MatchRows]) -> dict[str, MatchRows]:
    return {rows.matches.name: rows for rows in matches}


def _check_near(name: str, rows: Any, expected: Any, found: Any) -> None:
    """Refuse values that differ by more than rounding."""
    wanted, given = np.atleast_1d(expected), np.atleast_1d(found)
    near = np.zeros(wanted.shape, np.bool_)
    if wanted.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            near = np.isclose(given, wanted, rtol=SHARE, atol=0.0, equal_nan=True)
    wrong = np.flatnonzero(~(near.all(axis=1) if near.ndim == 2 else near))
    if len(wrong):
        at = int(wrong[0])
        raise AssertionError(f"{name} of {int(rows[at])} is {given[at]}, from scratch {wanted[at]}")
