"""One query as its graph keeps it: the searches that it asks for, by the numbers of vertices."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.engine.queries.searches import UNBOUNDED, Search
from graphtide.plan.orientation import path_both_ways
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
    directed: bool = True

    @property
    def vertices(self) -> int:
        """How many vertices the graph must have for all that it names to be there."""
        return max(self.named) + 1

    @property
    def named(self) -> list[int]:
        """The numbers of the vertices that it names."""
        named = [search.start for search in self.searches]
        return named + [end for ends in self.targets for end in ends or ()]

    @property
    def asked(self) -> tuple[Asked, ...]:
        """One for each start; on an undirected graph, edges are taken whichever way."""
        if self.directed:
            return self.kind.asked
        return tuple(item._replace(path=path_both_ways(item.path)) for item in self.kind.asked)

    def find(self, vertices: GraphVertices, labels: EdgeLabels) -> None:
        """Find what it names; InputError where that is not there."""
        self.targets = [_numbers(asked, vertices) for asked in self.asked]
        asked_for = zip(self.asked, self.targets, strict=True)
        self.searches = [
            Search(
                vertices.number(asked.start),
                automaton_of(asked.path),
                *_labels(self.kind, asked, labels),
                self.kind.weight,
                UNBOUNDED if self.kind.bound is None else min(float(self.kind.bound), UNBOUNDED),
                None if ends is None else tuple(ends),
                self.kind.tells_cost,
            )
            for asked, ends in asked_for
        ]

    def forget(self, labels: EdgeLabels) -> None:
        """Name the labels of its paths no more."""
        for asked in self.asked:
            if self.kind.label is not None:
                labels.forget(self.kind.label, automaton_of(asked.path).letters.labels)


def _numbers(asked: Asked, vertices: GraphVertices) -> list[int] | None:
    if asked.targets is None:
        return None
    return [vertices.number(target) for target in asked.targets]


def _labels(
    kind: QueryKind, asked: Asked, labels: EdgeLabels
) -> tuple[tuple[int, ...], str | None]:
    """The codes of the labels that a path names, and the property that has them."""
    named = automaton_of(asked.path).letters.labels
    if not named or kind.label is None:
        return (), None
    labels.check(kind.label, named)
    return labels.name(kind.label, named), kind.label


def check_costs(known: KnownEdges, name: str) -> None:
    """Refuse a property that cannot be what edges cost, by the edges that there are."""
    resident, conditions = known.resident, QueryConditions((name,))
    conditions.check_columns(resident.properties)
    known.check_edges(conditions, resident.live_edges())
