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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, change_between, first_difference
from graphtide.engine.maintainer import Experience, Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.maintainer import TooDearError
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
from graphtide.engine.walks.plain import one_row, plain_walks
from graphtide.engine.walks.rounds import NO_BUDGET, RoundsDone, RoundsRun
from graphtide.engine.walks.runs import RunChanges, WalkRun
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.walks import records
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.walks import WalkProgram

Int64 = NDArray[np.int64]


class TermsUndo(NamedTuple):
    """What it takes to undo an advance, in proportion to what it changed."""

    delta: Delta
    vertices: int
    journal: Int64
    matches: list[list[tuple[Row, int]]] = []
    rows: tuple[MatchRows, ...] | None = None
    """The rows as they were, where they were trimmed or found anew."""


class TermsRun(WalkRun):
    """One program, its parameters, and its results on the version that the graph is at."""

    def follow(self, delta: Delta) -> tuple[TermsUndo, RunChanges]:
        """Follow a graph that has been flipped, and may have got vertices."""
        while True:
            vertices = self._take_in_vertices()
            first, moved = self._follow_terms(delta, vertices)
            done = TermsUndo(delta, vertices, self.state.journal.copy())
            if not self._lacks_room():
                break
            self.put_back(done)
        try:
            self._check()
        except (InputError, LimitError):
            self.put_back(done)
            raise
        fields = self._state_changes(done.journal[first:])
        if not self.program.matches:
            return done, RunChanges(fields, moved, {})
        rows = self._reported()
        done = done._replace(matches=rows, rows=self._take_rows(rows))
        return done, RunChanges(fields, moved, self._row_changes(rows, done.rows))

    def _follow_terms(self, delta: Delta, vertices: int) -> tuple[int, Mapping[str, GlobalChange]]:
        """Find what walks change, while ordered rows hold both versions, and settle vertices.

        Returns where the journal begins to hold state, and what changed of the whole graph.
        """
        state, counts, kernels = self.state, self.state.counts, self._kernels
        state.make_ready(len(delta.sources))
        counts[records.OLD_VERTICES], counts[records.VERTICES] = vertices, state.vertices
        self._enter_ordered(delta)
        kernels.follow_walks(self._words(), *delta)
        moved = self._take_globals(delta) if self.program.globals else {}
        everyone = self.code.facts.reads_globals and bool(moved)
        first = kernels.follow_updates(self._words(), everyone)
        self._leave_ordered(delta)
        return first, moved

    def _take_globals(self, delta: Delta) -> Mapping[str, GlobalChange]:
        """What changed of the accumulators of the whole graph, which everybody sees from now on."""
        before = self.globals
        if self.state.counts[records.DOUBT]:
            self._take_globals_anew(delta)
        self._finish_globals()
        return global_changes(before, self.globals)

    def put_back(self, done: TermsUndo) -> None:
        """Undo an advance; the graph may be at either version."""
        self._undo_journal(done.delta, done.journal)
        self._put_rows_back(done.matches, done.rows)
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

    def _state_changes(self, journal: Int64) -> dict[str, Change]:
        """What changed of state, by the end of a journal: whole rows of state as they were."""
        width = self.state.widths["states"]
        if not width:
            return {}
        vertices = ((journal[:: 2 * width] >> records.KIND_BITS) // width).astype(np.int32)
        return self._changes_at(
            vertices, journal[1::2].copy(), self.state.states.reshape(-1, width)[vertices]
        )


SHARE = 1e-9
"""How much of itself a float may differ by from a plain run, which adds up in another order."""


class WalkMaintainer(Maintainer):
    """A walk program on a graph in memory, current after every advance.

    Results are state fields, then accumulators of the whole graph as arrays of one row whose number
    is 0 (and as they are: `globals`), then rows that walks report, as sets (`matches`, by name:
    `rows()`, `total`, and `cut` where a limit cuts). `fields` names those that are arrays. `follow`
    returns `WalkChanges`.
    """

    anew_share = 4
    """A batch of more than one live edge in so many starts anew; 0: none does for its size."""

    def __init__(
        self, graph: ResidentGraph, program: WalkProgram, parameters: tuple[Any, ...]
    ) -> None:
        self._states = tuple(item.name for item in program.state)
        self._globals = tuple(item.name for item in program.globals)
        super().__init__(graph, (*self._states, *self._globals))
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

    def values(self, field: str | None = None) -> Any:
        """A result by its name, the first if none is named; state is a view, at a stride."""
        name = field or self.fields[0]
        if name in self._states:
            return self._run.field(name)
        return one_row(self.globals[name]) if name in self._globals else self.matches[name].shown()

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

    def scratch(self) -> dict[str, Any]:
        """All results of the version that the graph is at, apart from the state."""
        run = self._started(keeps=False)
        fields: dict[str, Any] = {name: run.field(name).copy() for name in self._states}
        fields |= {name: one_row(value) for name, value in run.globals.items()}
        return fields | {rows.matches.name: rows.shown() for rows in run.matches}

    def follow(self, delta: Delta) -> WalkChanges:
        """Follow a graph that has been flipped, and may have got vertices; says what changed.

        Rows that a limit cuts, before or after, are not among it: which ones are shown depends on
        those that are not.
        """
        cut = self._cut()
        return self._changes(self._follow(delta), cut)

    def _follow(self, delta: Delta) -> RunChanges:
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

    def _go_through_rounds(self, run: RoundsRun, delta: Delta) -> RunChanges:
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
        cut = self._cut()
        changes = self._changes(self._start_over(), cut)
        self.forget()
        return changes

    def _start_over(self) -> RunChanges:
        before, run = self._run, self._started(keeps=True)
        self._done.append(before)
        self._run = run
        self.touched = self.graph.live
        known = before.state.vertices
        fields = {
            name: change_between(before.field(name), run.field(name)[:known])
            for name in self._states
        }
        rows = shown_changes(_by_name(before.matches), _by_name(run.matches))
        return RunChanges(fields, global_changes(before.globals, run.globals), rows)

    def _cut(self) -> set[str]:
        """The kinds of rows that a limit cuts now."""
        return {rows.matches.name for rows in self._run.matches if rows.cut}

    def _changes(self, changes: RunChanges, cut: set[str]) -> WalkChanges:
        """Changes by result, but for rows that a limit has cut or cuts now."""
        fields: dict[str, Any] = dict(changes.fields)
        fields |= {name: self._global_change(name, changes.globals) for name in self._globals}
        if self._run.matches:
            cut = cut | self._cut()
            names = (rows.matches.name for rows in self._run.matches)
            none = RowChange()
            fields |= {n: changes.matches.get(n, none) for n in names if n not in cut}
        return WalkChanges(fields, changes.globals, changes.matches)

    def _global_change(self, name: str, moved: Mapping[str, GlobalChange]) -> Change:
        if name not in moved:
            now = one_row(self.globals[name])
            return Change(np.empty(0, np.int32), now[:0], now[:0])
        change = moved[name]
        return Change(np.zeros(1, np.int32), one_row(change.old), one_row(change.new))

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
        """Compare with a compiled run from scratch, then with a plain one, reported rows included.

        AssertionError at the first difference.
        """
        current, scratch = {name: self.values(name) for name in self.fields}, self.scratch()
        difference = first_difference(current, scratch, SHARE)
        if difference is not None:
            name, row = difference
            raise AssertionError(
                f"{name} of {row} is {current[name][row]}, from scratch {scratch[name][row]}"
            )
        expected = plain_walks(self.graph, self.program, self._values)
        for name in self._states:
            change = change_between(expected.state[name], self.values(name))
            _check_near(name, change.vertices, change.old, change.new)
        for name, value in expected.globals.items():
            if not same_value(value, self.globals[name]):
                _check_near(name, [0], value, self.globals[name])
        for name, rows in self.matches.items():
            if rows.total != len(expected.matches[name]):
                raise AssertionError(
                    f"{name} has {rows.total} rows, from scratch {len(expected.matches[name])}"
                )
            if sorted(expected.matches[name])[: rows.limit] != rows.rows():
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
