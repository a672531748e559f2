"""One query as its graph keeps it: the searches that it asks for, by the numbers of vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphtide.engine.queries.searches import UNBOUNDED, Search
from graphtide.plan.orientation import path_both_ways
from graphtide.plan.path_automaton import automaton_of
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.queries.conditions import QueryConditions
from graphtide.run.queries.kinds import Asked, QueryKind
from graphtide.run.queries.labels import EdgeLabels


@dataclass
class Part:
    """One search of a query: what it asks, with the numbers of its targets, None for any.

    `since` is the version at which its vertices were there.
    """

    asked: Asked
    search: Search
    since: int

    @property
    def named(self) -> list[int]:
        """The numbers of the vertices that it names."""
        return [self.search.start, *(self.search.targets or ())]


@dataclass
class KeptQuery:
    """A query with its parts, whose searches have numbers in the engine.

    `since` is the version it came at. Vertices that it names and that are not there are `absent`:
    what depends on one has no part, so no answer, until the vertex comes.
    """

    name: str
    kind: QueryKind
    since: int
    parts: list[Part] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    absent: tuple[Any, ...] = ()
    directed: bool = True

    @property
    def asked(self) -> tuple[Asked, ...]:
        """What it asks for; on an undirected graph, edges are taken whichever way."""
        if self.directed:
            return self.kind.asked
        return tuple(item._replace(path=path_both_ways(item.path)) for item in self.kind.asked)

    @property
    def searches(self) -> list[Search]:
        """Those of its parts, in their order."""
        return [part.search for part in self.parts]

    @property
    def named(self) -> list[int]:
        """The numbers of the vertices that it names, of those that are there."""
        return [number for part in self.parts for number in part.named]

    def place(self, source: int, target: int) -> int | None:
        """The part that tells of walks from one vertex to another; None without one."""
        for at, part in enumerate(self.parts):
            targets = part.search.targets
            if part.search.start == source and (targets is None or target in targets):
                return at
        return None

    def find(self, ids: VertexIds, labels: EdgeLabels) -> None:
        """Find what it names; InputError where that can never be there."""
        self.parts = []
        for asked in self.asked:
            for item in (asked.start, *(asked.targets or ())):
                check_can_come(ids, item)
            _check_labels(self.kind, asked, labels)
        self.parts = self.parts_of(ids, labels, self.since)
        self.note_absent(ids, len(ids))

    def parts_of(self, ids: VertexIds, labels: EdgeLabels, since: int) -> list[Part]:
        """The parts that it can have and has not, by the vertices that are there."""
        found = []
        for asked in self.asked:
            start, targets = vertex_number(ids, asked.start), None
            if asked.targets is not None:
                numbers = (vertex_number(ids, target) for target in asked.targets)
                targets = tuple(n for n in numbers if n >= 0 and self.place(start, n) is None)
            is_new = self.place(start, start) is None if targets is None else len(targets) > 0
            if start >= 0 and is_new:
                found.append(Part(asked, self._search(asked, start, targets, labels), since))
        return found

    def note_absent(self, ids: VertexIds, vertices: int) -> None:
        """Note which of the vertices that it names are not among the first so many."""
        every = (item for asked in self.asked for item in (asked.start, *(asked.targets or ())))
        there = range(vertices)
        named = dict.fromkeys(every)
        self.absent = tuple(item for item in named if vertex_number(ids, item) not in there)

    def _search(
        self, asked: Asked, start: int, targets: tuple[int, ...] | None, labels: EdgeLabels
    ) -> Search:
        kind = self.kind
        return Search(
            start,
            automaton_of(asked.path),
            *_labels(kind, asked, labels),
            kind.weight,
            UNBOUNDED if kind.bound is None else min(float(kind.bound), UNBOUNDED),
            targets,
            kind.tells_cost,
        )

    def cut(self, version: int, labels: EdgeLabels) -> list[int]:
        """Have no parts that came behind a version; the numbers of their searches."""
        stays = [part.since <= version for part in self.parts]
        if all(stays):
            return []
        gone = [n for n, stay in zip(self.numbers, stays, strict=False) if not stay]
        self.forget(
            [part for part, stay in zip(self.parts, stays, strict=True) if not stay], labels
        )
        self.numbers = [n for n, stay in zip(self.numbers, stays, strict=False) if stay]
        self.parts = [part for part, stay in zip(self.parts, stays, strict=True) if stay]
        return gone

    def forget(self, parts: list[Part], labels: EdgeLabels) -> None:
        """Name the labels of some parts no more."""
        for part in parts:
            if self.kind.label is not None:
                named = automaton_of(part.asked.path).letters.labels
                labels.forget(self.kind.label, named)


def vertex_number(ids: VertexIds, item: Any) -> int:
    """The number of a vertex by its id; -1 where it is not there."""
    return int(ids.numbers(id_column([item], "the vertex"))[0])


def check_can_come(ids: VertexIds, item: Any) -> None:
    """Refuse what no vertex of the graph can ever be called."""
    if vertex_number(ids, item) < 0:
        column = id_column([item], "the vertex")
        ids.check_new([plain_id(column[0])])


def _labels(
    kind: QueryKind, asked: Asked, labels: EdgeLabels
) -> tuple[tuple[int, ...], str | None]:
    """The codes of the labels that a path names, and the property that has them."""
    named = automaton_of(asked.path).letters.labels
    if not named or kind.label is None:
        return (), None
    return labels.name(kind.label, named), kind.label


def _check_labels(kind: QueryKind, asked: Asked, labels: EdgeLabels) -> None:
    """Refuse labels that edges can never have."""
    named = automaton_of(asked.path).letters.labels
    if named and kind.label is not None:
        labels.check(kind.label, named)


def check_costs(known: KnownEdges, name: str) -> None:
    """Refuse a property that cannot be what edges cost, by the edges that there are."""
    resident, conditions = known.resident, QueryConditions((name,))
    conditions.check_columns(resident.properties)
    known.check_edges(conditions, resident.live_edges())
