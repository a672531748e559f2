"""A query on a graph in memory, as users hold it: what `Graph.query` returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.model.errors import InputError, UnseenVertexWarning, warn_user
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.queries.answers import (
    answer_rows,
    answer_table,
    change_table,
    pair_numbers,
    path_of,
    verify_answer,
)
from graphtide.run.queries.explain import explain_query, query_bytes, told_absent
from graphtide.run.queries.kinds import QueryKind
from graphtide.run.queries.standing_queries import StandingQueries
from graphtide.run.queries.standing_query import StandingQuery
from graphtide.run.routes import MemoryEdges, Route
from graphtide.run.table import HasTable, Table
from graphtide.run.turns import StaysHere, in_turn


class Query(StaysHere, HasTable):
    """The answer of one query, that of the version which its graph is at."""

    _held = "query"
    _instead = "pickle query.table(), or the graph, and ask the query on that anew"

    def __init__(self, graph: MemoryGraph, kept: StandingQueries, query: StandingQuery) -> None:
        self.graph = graph
        self._kept = kept
        self._query = query
        self._turns = graph._turns

    @property
    def name(self) -> str:
        """The name that it was given."""
        return self._query.name

    @property
    def asked(self) -> QueryKind:
        """What was asked."""
        return self._query.kind

    @in_turn
    def table(self) -> Table:
        """The answer: vertices with their `hops` or `distance`, or a row for each pair.

        A pair without a path has a missing cost and a missing path. The `path` of a pair is one of
        the shortest, as a list of ids.
        """
        self._check_open()
        return Table(answer_table(self._kept, self._query))

    @in_turn
    def __len__(self) -> int:
        self._check_open()
        return len(answer_rows(self._kept, self._query).vertices)

    @property
    @in_turn
    def absent(self) -> list[Any]:
        """The vertices that it names and that are not in the graph yet.

        What depends on them has no answer; it has one from the advance on that brings them.
        """
        self._check_open()
        return list(self._query.absent)

    @property
    @in_turn
    def value(self) -> Any:
        """The cost of a query with one target: a number, None without a path; or a truth value."""
        self._check_open()
        if self._query.kind.pairs is None or len(self._query.kind.pairs) != 1:
            raise InputError(
                f"query '{self.name}' has no single value", hint="its answer is query.table()"
            )
        return answer_table(self._kept, self._query).column(self._query.kind.cost)[0].as_py()

    @in_turn
    def path(self, target: Any = None, source: Any = None) -> Route | None:
        """The ids along a best walk to a target, from the source first; None without one.

        Beside it a table of its `edges`, as `graph.edges()` has them, and its `cost`. Of several
        that cost the same it is any. A query with one target, or with one source, need not be told
        which.
        """
        self._check_open()
        start, end = self._ends(target, source)
        walk = path_of(self._kept, self._query, start, end)
        if walk is None:
            return None
        edges = np.array(walk.edges, np.int32)
        ids = self.graph._vertices.listed(np.array(walk.vertices))
        cost: float = len(edges)
        if self._query.kind.weight is not None:
            column = self.graph._resident.properties[self._query.kind.weight]
            cost = sum(column[edges].astype(np.float64).tolist())
        return Route(ids, MemoryEdges(self.graph).table(edges), cost)

    @in_turn
    def changes(self) -> Table:
        """What the last advance changed: ids, `old` and `new`; missing where no walk led, or leads.

        Empty after a start or a rollback. Another path of the same cost is no change.
        """
        self._check_open()
        return Table(change_table(self._kept, self._query))

    @in_turn
    def verify(self) -> None:
        """Compare with the definition, without automaton and state; AssertionError if they differ.

        Goes through all edges in Python: some microseconds for each.
        """
        self._check_open()
        verify_answer(self._kept, self._query)

    @property
    @in_turn
    def nbytes(self) -> int:
        """The memory of what it keeps, without the room that all queries of the graph share."""
        self._check_open()
        return query_bytes(self._kept, self._query)

    @in_turn
    def explain(self) -> str:
        """What is asked, how it is kept current, how many states and entries that takes."""
        self._check_open()
        return explain_query(self._kept, self._query)

    @in_turn
    def __repr__(self) -> str:
        state = "" if self._is_open() else ", dropped"
        if self._query.absent and not state:
            named = ", ".join(map(repr, self._query.absent[:5]))
            state = f"; not in the graph yet: {named}{', ...' * (len(self._query.absent) > 5)}"
        return f"<query '{self.name}': {self.asked}{state}>"

    @property
    @in_turn
    def told_absent(self) -> str:
        """A line on its `absent` vertices, and what they may be misspelled for; empty without."""
        return told_absent(self._kept, self._query) if self._query.absent else ""

    def _warn_of_absent(self) -> None:
        if told := self.told_absent:
            warn_user(f"query '{self.name}': {told}", UnseenVertexWarning)

    def _ends(self, target: Any, source: Any) -> tuple[int, int]:
        query = self._query

        def number(vertex: Any) -> int:
            """The number of a vertex; -1 for one that the query waits for."""
            return -1 if vertex in query.absent else self.graph._vertices.number(vertex)

        if target is None:
            if query.kind.pairs is None or len(query.kind.pairs) != 1:
                raise InputError("which path?", hint="name its target: query.path(target)")
            sources, targets = pair_numbers(self._kept, query)
            return int(sources[0]), int(targets[0])
        starts = [asked.start for asked in query.kind.asked]
        if source is None and len(starts) > 1:
            raise InputError("which path?", hint="name its source too: query.path(target, source)")
        start = starts[0] if source is None else source
        if start not in starts:
            raise InputError(f"query '{self.name}' does not start at {source!r}")
        return number(start), number(target)

    def _is_open(self) -> bool:
        return self._kept.queries.get(self.name) is self._query and not self._kept.failed

    def _check_open(self) -> None:
        if not self._is_open():
            raise InputError(
                f"query '{self.name}' was dropped", hint="ask it on the graph anew: graph.query"
            )
