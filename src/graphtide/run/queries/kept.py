"""All queries of a graph as their graph sees them: they come and go, follow, and go back.

One engine has the state of all. A query that came after an advance which is rolled back begins anew
on what was before, and so does one that is rolled back further than the engine's logs reach; the
others go back by what was noted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from graphtide.engine.queries.engine import QueryEngine
from graphtide.engine.queries.searches import UNBOUNDED, Search
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import closest
from graphtide.plan.path_automaton import automaton_of
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.result_rows import GraphVertices
from graphtide.run.queries.conditions import QueryConditions
from graphtide.run.queries.kinds import Asked, QueryKind
from graphtide.run.queries.labels import EdgeLabels


@dataclass
class KeptQuery:
    """A query with its searches, by number in the engine; `since` is the version it came at.

    `targets` has the numbers of the targets of each search, or None.
    """

    name: str
    kind: QueryKind
    searches: list[Search]
    targets: list[list[int] | None]
    numbers: list[int]
    since: int

    @property
    def vertices(self) -> int:
        """How many vertices the graph must have for all that it names to be there."""
        named = [search.start for search in self.searches]
        named += [end for ends in self.targets for end in ends or ()]
        return max(named) + 1


class KeptQueries:
    """The queries of one graph, by name; a `Follower` of it."""

    def __init__(self, known: KnownEdges, kept: Callable[[], pa.Table], version: int) -> None:
        self.conditions = QueryConditions(())
        self.failed = False
        self.queries: dict[str, KeptQuery] = {}
        self._kept = kept
        self._stand_on(known, version)

    def _stand_on(self, known: KnownEdges, version: int) -> None:
        self.known = known
        self.labels = EdgeLabels(known.resident, self._kept)
        self.engine = QueryEngine(known.resident, self.labels.column)
        self.fresh = False
        """Whether the last act was an advance, which changes can be told of."""
        self._version = version
        self._vertices = GraphVertices(known.ids)

    @property
    def version(self) -> int:
        """The version that they are at."""
        return self._version

    @property
    def since(self) -> int:
        """The version from which on all of them can be rolled back."""
        came = (query.since for query in self.queries.values())
        return max(self._version - self.engine.undoable, *came, -1)

    @property
    def vertices(self) -> int:
        """How many vertices the queries name that have come since the version before."""
        late = [query for query in self.queries.values() if query.since >= self._version]
        return max((query.vertices for query in late), default=0)

    @property
    def nbytes(self) -> int:
        """All memory that queries take beside the graph."""
        return self.engine.nbytes + self.labels.nbytes

    def add(self, name: str, kind: QueryKind) -> KeptQuery:
        """Start a query on the version that the graph is at."""
        self._check_new(name, kind)
        self._check_weight(kind)
        query = KeptQuery(name, kind, [], [], [], self._version)
        self._ask(query)
        self.queries[name] = query
        self.conditions = QueryConditions(self._weights())
        return query

    def move(self, known: KnownEdges, version: int) -> None:
        """Begin all queries anew where vertices and edges have other numbers.

        A query whose vertices are gone is dropped; what it lacks is raised when the others stand.
        """
        self._stand_on(known, version)
        failed: InputError | None = None
        for name, query in list(self.queries.items()):
            try:
                self._ask(query)
            except InputError as error:
                failed = failed or error
                del self.queries[name]
        self.conditions = QueryConditions(self._weights())
        if failed is not None:
            raise failed

    def _ask(self, query: KeptQuery) -> None:
        """Find what a query names, and start it."""
        query.searches = [self._search(query.kind, asked) for asked in query.kind.asked]
        query.targets = [self._numbers(asked) for asked in query.kind.asked]
        self._start(query)

    def drop(self, name: str) -> None:
        """Give a query up."""
        query = self.get(name)
        del self.queries[name]
        self._stop(query)
        self.conditions = QueryConditions(self._weights())

    def get(self, name: str) -> KeptQuery:
        """A query by its name; NotFoundError if there is none."""
        if name not in self.queries:
            near = closest(str(name), list(self.queries))
            told = ", ".join(list(self.queries)[:10]) or "none"
            hint = f"did you mean '{near}'?" if near else f"there are: {told}"
            raise NotFoundError(f"there is no query '{name}'", hint=hint)
        return self.queries[name]

    def follow(self, delta: Delta, before: int) -> None:
        """Follow the graph to its next version."""
        self.labels.refresh(delta.inserted)
        self.engine.follow(delta)
        self._version += 1
        self.fresh = True

    def undo(self, vertices: int) -> None:
        """Go back by one version; nothing came since, and all is noted."""
        self.engine.undo(vertices)
        self._version -= 1
        self.fresh = False

    def start(self, version: int, vertices: int) -> None:
        """Begin anew what cannot go back to the version that the graph is at now."""
        noted = version == self._version - 1 and self.engine.undoable > 0
        if noted:
            self.engine.undo(vertices)
        else:
            self.engine = QueryEngine(self.known.resident, self.labels.column)
        self._version, self.fresh = version, False
        for query in self.queries.values():
            if not noted or query.since > version:
                if noted:
                    self._stop(query)
                self._start(query)

    def forget(self, version: int) -> None:
        """Give up what could be undone."""
        self.engine.forget()

    def _start(self, query: KeptQuery) -> None:
        query.numbers, query.since = [], self._version
        try:
            for search in query.searches:
                query.numbers.append(self.engine.add(search))
        except BaseException:
            self._stop(query)
            raise

    def _stop(self, query: KeptQuery) -> None:
        for number in query.numbers:
            self.engine.remove(number)
        query.numbers = []

    def _check_new(self, name: str, kind: QueryKind) -> None:
        if not isinstance(name, str) or not name:
            raise InputError(f"a query cannot be named {name!r}", hint="give it a text for a name")
        if name in self.queries:
            raise InputError(
                f"there is a query '{name}' already",
                hint=f"take another name, or drop that one: graph.drop_query({name!r})",
            )
        if not isinstance(kind, QueryKind):
            raise InputError(
                f"{kind!r} is no query",
                hint="gt.queries has Path, Paths, Hops, Reach and Regular",
            )

    def _check_weight(self, kind: QueryKind) -> None:
        """Refuse costs that cannot be; those that another query reads have been checked."""
        name, resident = kind.weight, self.known.resident
        if name is None or name in self._weights():
            return
        conditions = QueryConditions((name,))
        conditions.check_columns(resident.properties)
        edges = resident.live_edges()
        costs = {name: resident.properties[name][edges]}
        conditions.check_rows(costs, lambda at: self.known.text(int(edges[at])))

    def _weights(self) -> set[str]:
        kinds = (query.kind for query in self.queries.values())
        return {kind.weight for kind in kinds if kind.weight is not None}

    def _numbers(self, asked: Asked) -> list[int] | None:
        if asked.targets is None:
            return None
        return [self._vertices.number(target) for target in asked.targets]

    def _search(self, kind: QueryKind, asked: Asked) -> Search:
        automaton = automaton_of(asked.path)
        codes: tuple[int, ...] = ()
        label = kind.label if automaton.letters.labels else None
        if label is not None:
            self.labels.check(label)
            codes = tuple(self.labels.code(label, item) for item in automaton.letters.labels)
        bound = UNBOUNDED if kind.bound is None else min(float(kind.bound), UNBOUNDED)
        start = self._vertices.number(asked.start)
        return Search(start, automaton, codes, label, kind.weight, bound)
