"""The maintainer of walk programs.

Where no walk reads state, all accumulators follow a batch by the terms of rule 7
(`plan/walk_terms`), and `update` runs again where an accumulator, a degree or a global that it
reads has changed. Where walks read state, all rounds are kept and gone through (`rounds_run`), as
far as that costs less than a start. Where a run's end depends on all vertices at once, the program
starts anew with every advance. So it does for a batch of more than a share of the graph, which
costs less so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import change_between
from graphtide.engine.experience import Experience
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.refining import TooDearError
from graphtide.engine.walks.changes import WalkChanges, global_changes, same_value
from graphtide.engine.walks.code import walk_code
from graphtide.engine.walks.matches import MatchRows, Row, shown_changes
from graphtide.engine.walks.plain import plain_walks
from graphtide.engine.walks.rounds_run import NO_BUDGET, RoundsDone, RoundsRun
from graphtide.engine.walks.runs import WalkRun
from graphtide.engine.walks.terms_run import TermsRun
from graphtide.kernels.graph.flips import Delta
from graphtide.plan.walks import WalkProgram

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
