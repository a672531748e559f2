"""Rules as a maintainer: they follow a graph in memory like any program, with rows for results.

As a dataflow does, rules only ever go forward: to go back is to be fed the inverse of what came,
with whatever comes next. Until then the dataflow is ahead of the rows: `_owed` is what it has yet
to be fed to be where they are, and `_ahead` by which rows it is ahead.

What fails in the middle of a batch leaves no dataflow; the next step builds one from the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.changes import WalkChanges
from graphtide.engine.walks.matches import MatchRows, RowChange, row_change
from graphtide.kernels.dataflow import run as dataflow_run
from graphtide.kernels.graph.flips import Delta
from graphtide.lang.datalog.graph_program import EDGE, VERTEX, BoundRules
from graphtide.plan.walks import Matches
from graphtide.run.dataflow.counters import operator_facts
from graphtide.run.rules.graph_facts import Columns, GraphFacts
from graphtide.run.rules.graph_flow import GraphRules, RowCounts

Fed = tuple[str, Columns | None, int]


class _Done(NamedTuple):
    """What it takes to go back: what was fed, and the rows that came and left."""

    fed: list[Fed]
    rows: dict[str, RowCounts]


class RuleMaintainer(Maintainer):
    """Rules on a graph, with their state; `parameters` have vertices by number."""

    def __init__(
        self,
        graph: ResidentGraph,
        bound: BoundRules,
        parameters: Sequence[Any],
        plans: Sequence[Matches],
    ) -> None:
        super().__init__(graph, ())
        self._bound = bound
        self._parameters = tuple(parameters)
        self._facts = GraphFacts(graph, bound.program)
        self._rules: GraphRules | None = None
        self._vertices: Columns | None = None
        self._owed: list[Fed] = []
        self._ahead: dict[str, RowCounts] = {}
        self._plans = tuple(plans)
        self.matches: dict[str, MatchRows] = {item.name: MatchRows(item, None) for item in plans}

    @property
    def kernels(self) -> ModuleType:
        """The compiled machine, which is the same for all dataflows."""
        return dataflow_run

    def values(self, field: str | None = None) -> Any:
        """The rows of a relation."""
        return Counter(self.matches[field or self._plans[0].name].kept)

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        self._drop()
        self.forget()
        self.matches = {item.name: MatchRows(item, None) for item in self._plans}
        self._take(self._begun())

    def begin_again(self) -> Any:
        """Start on a version whose vertices have other values; says what that changed."""
        before = {name: Counter(rows.kept) for name, rows in self.matches.items()}
        self.start()
        return self._changes(
            {name: _less(rows.kept, before[name]) for name, rows in self.matches.items()}
        )

    def scratch(self) -> Mapping[str, Any]:
        """The rows of the graph's present version, apart from the state."""
        return self._from_scratch(debug=False)

    def plainly(self) -> Mapping[str, Any]:
        """The same to verify by: every operator in plain Python beside."""
        return self._from_scratch(debug=True)

    def _from_scratch(self, *, debug: bool) -> Mapping[str, Any]:
        rules = GraphRules(self._bound, self._parameters, debug=debug)
        rules.feed(EDGE, self._facts.edges(self.graph.live_edges()), 1)
        rules.feed(VERTEX, self._facts.vertices(), 1)
        rows = rules.advance()
        rules.close()
        return rows

    def follow(self, delta: Delta) -> Any:
        """Follow a graph that has been flipped, and may have got vertices; says what changed."""
        came = self._facts.edges(delta.inserted)
        fed: list[Fed] = [(EDGE, came, 1), (EDGE, self._facts.edges(delta.deleted), -1)]
        before, now = self._vertices, self._facts.vertices()
        if now is not None and before is not None:
            fed += [(VERTEX, _behind(now, before), 1), (VERTEX, _behind(before, now), -1)]
        moved = self._brought_along(fed, now)
        self._take(moved)
        self._done.append(_Done(fed, moved))
        return self._changes(moved)

    def _put_back(self, done: _Done) -> None:
        """The dataflow is fed the inverse with what comes next."""
        if self._rules is not None:
            self._owed += [(name, facts, -diff) for name, facts, diff in done.fed]
            for name, rows in done.rows.items():
                self._ahead.setdefault(name, Counter()).update(rows)
        for name, facts, diff in done.fed:
            if name == VERTEX and facts is not None and self._vertices is not None:
                count = len(next(iter(self._vertices.values()))) - diff * len(
                    next(iter(facts.values()))
                )
                self._vertices = {key: item[:count] for key, item in self._vertices.items()}
        self._take({name: _negated(rows) for name, rows in done.rows.items()})

    def verify(self) -> None:
        """Compare with a run from scratch; AssertionError at the first difference."""
        for name, rows in self.scratch().items():
            if rows != self.values(name):
                raise AssertionError(f"{name} has other rows than a run from scratch")

    def explain(self) -> str:
        """Strata, rules and orders, with what has been done."""
        if self._rules is None:
            self._begun()
        assert self._rules is not None
        return self._rules.explain()

    def operators(self) -> dict[str, Any]:
        """The operators with what they hold and have done, as JSON has it."""
        if self._rules is None:
            self._begun()
        assert self._rules is not None
        return operator_facts(self._rules.flow)

    def _brought_along(self, fed: list[Fed], vertices: Columns | None) -> dict[str, RowCounts]:
        """Feed what is owed and what is new, in one batch; by which rows the results move."""
        try:
            if self._rules is None:
                moved = self._begun()
                return {name: _less(moved[name], self.matches[name].kept) for name in moved}
            for name, facts, diff in (*self._owed, *fed):
                self._rules.feed(name, facts, diff)
            moved = self._rules.advance()
        except BaseException:
            self._drop()
            raise
        for name, rows in self._ahead.items():
            moved[name] = _sum(moved[name], rows)
        self.touched = self._rules.touched()
        self._owed.clear()
        self._ahead.clear()
        self._vertices = vertices
        return moved

    def _begun(self) -> dict[str, RowCounts]:
        """Let there be a dataflow at the version that the graph is at; its rows."""
        self._drop()
        rules = GraphRules(self._bound, self._parameters)
        self._vertices = self._facts.vertices()
        rules.feed(EDGE, self._facts.edges(self.graph.live_edges()), 1)
        rules.feed(VERTEX, self._vertices, 1)
        try:
            rows = rules.advance()
        except BaseException:
            rules.close()
            raise
        self._rules = rules
        self.touched = rules.touched()
        return rows

    def _take(self, moved: Mapping[str, RowCounts]) -> None:
        for name, rows in moved.items():
            self.matches[name].take(rows.items())

    def _changes(self, moved: Mapping[str, RowCounts]) -> WalkChanges:
        changes: dict[str, RowChange] = {
            name: row_change((row, count) for row, count in rows.items() if count)
            for name, rows in moved.items()
        }
        told: Any = changes
        return WalkChanges(
            lambda: told, {}, {name: item for name, item in changes.items() if len(item)}
        )

    def _drop(self) -> None:
        if self._rules is not None:
            self._rules.close()
        self._rules = None
        self._owed.clear()
        self._ahead.clear()


def _behind(one: Columns, other: Columns) -> Columns:
    """The vertices of one that are behind the last of the other."""
    first, second = (len(next(iter(item.values()))) for item in (one, other))
    return {name: column[min(first, second) :] for name, column in one.items()}


def _sum(one: RowCounts, other: RowCounts) -> RowCounts:
    total = Counter(one)
    total.update(other)
    return Counter({row: count for row, count in total.items() if count})


def _less(one: RowCounts, other: RowCounts) -> RowCounts:
    return _sum(one, _negated(other))


def _negated(rows: RowCounts) -> RowCounts:
    return Counter({row: -count for row, count in rows.items()})
