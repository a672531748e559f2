"""Random graphs with labels and costs that change, and queries of all kinds on them.

The plain side is a list of edges, and what the oracle says of it. Paths are checked to be walks
that cost what the answer says: any of the shortest is right.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator
from typing import Any

import graphtide as gt
from graphtide.model.errors import LimitError, UnseenVertexWarning
from tests.compiled import interpreted
from tests.examples import repeats
from tests.oracle.regular_paths import Edge, Node, answers

EXAMPLES = repeats(6 if interpreted() else 20)
"""Interpreted, each takes ten times as long."""

LABELS = ("a", "b", "c", None)
COSTS = (0.0, 0.0, 0.5, 1.0, 2.0, 3.0)
WAYS = {"out": ("except", (), None), "in": ("inverse", ("except", (), None))}
WAYS["both"] = ("alternative", [WAYS["out"], WAYS["in"]])


def anything(direction: str) -> Node:
    return ("repeat", WAYS[direction], 0, None)


class Beside:
    """A graph, and the edges that it must have; vertices are 0 to `vertices` - 1 and any newer."""

    def __init__(
        self,
        pick: random.Random,
        vertices: int,
        edges: int,
        costs: tuple[float, ...] = COSTS,
        queries: Any = None,
    ) -> None:
        self.pick, self.costs = pick, costs
        self.ids = list(range(vertices))
        # The first has a label, which makes the property one of texts.
        self.edges = [Edge(0, vertices - 1, "a"), *(self.random_edge() for _ in range(edges))]
        self.graph = gt.Graph(
            [e.source for e in self.edges],
            [e.target for e in self.edges],
            vertices=vertices,
            queries=queries,
            kind=[e.label for e in self.edges],
            cost=[float(e.cost) for e in self.edges],
        )
        self._before: list[tuple[list[Edge], list[Any]]] = []

    def random_edge(self, more: tuple[Any, ...] = ()) -> Edge:
        """Often parallel to another, and at times a loop."""
        source, target = self.pick.choices([*self.ids, *more], k=2)
        return Edge(source, target, self.pick.choice(LABELS), self.pick.choice(self.costs))

    def advance(self, come: int, go: int) -> None:
        """Insert and delete so many edges, at times with a new vertex."""
        self._before.append((list(self.edges), list(self.ids)))
        newcomer = (len(self.ids),) if self.pick.random() < 0.2 else ()
        inserted = [self.random_edge(newcomer) for _ in range(come)]
        table = self.graph.edges().to_pylist()
        gone = self.pick.sample(table, min(go, len(table)))
        rows = {
            "src": [e.source for e in inserted],
            "dst": [e.target for e in inserted],
            "kind": [e.label for e in inserted],
            "cost": [float(e.cost) for e in inserted],
        }
        try:
            self.graph.advance(rows if inserted else None, [row["edge"] for row in gone] or None)
        except LimitError:
            self._before.pop()
            raise
        for row in gone:
            self.edges.remove(Edge(row["src"], row["dst"], row["kind"], row["cost"]))
        self.edges += inserted
        if newcomer and any(newcomer[0] in (e.source, e.target) for e in inserted):
            self.ids.append(newcomer[0])

    def rollback(self) -> None:
        self.graph.rollback()
        self.edges, self.ids = self._before.pop()

    @property
    def versions(self) -> int:
        return len(self._before)


class Watched:
    """A query, and what the oracle says of it."""

    def __init__(self, beside: Beside, name: str, kind: Any, node: Node, starts: list[Any]) -> None:
        self.beside, self.kind, self.node, self.starts = beside, kind, node, starts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenVertexWarning)
            self.query = beside.graph.query(name, kind)
        self.told = self.wanted()

    def wanted(self) -> dict[Any, float]:
        """The costs by vertex, or by pair."""
        edges = self.beside.edges
        if self.kind.weight is None:
            edges = [Edge(e.source, e.target, e.label, 1) for e in edges]
        found = {
            start: answers(self.node, edges, self.beside.ids, start, self.kind.bound)
            if start in self.beside.ids
            else {}
            for start in self.starts
        }
        if self.kind.pairs is None:
            return found[self.starts[0]]
        return {
            (start, end): found[start][end] for start, end in self.kind.pairs if end in found[start]
        }

    def check(self, *, advanced: bool | None) -> None:
        """Answer, changes and paths are those of the oracle; no changes where None is given."""
        wanted, table = self.wanted(), self.query.table()
        named = {end for pair in self.kind.pairs or () for end in pair} | {*self.starts}
        assert set(self.query.absent) == named - {*self.beside.ids}
        found = dict(_rows(table, self.kind.cost))
        if self.kind.tells_cost:
            assert found == wanted, (self.kind, found, wanted)
        else:
            assert set(found) == set(wanted), (self.kind, found, wanted)
        if advanced is not None:
            self._check_changes(wanted, advanced)
        if self.kind.tells_path:
            there = {item["edge"]: item for item in self.beside.graph.edges().to_pylist()}
            for row in table.to_pylist():
                self._check_path(row)
                self._check_route(row, there)
        self.told = wanted

    def _check_changes(self, wanted: dict[Any, float], advanced: bool) -> None:
        moved = {
            key: (self.told.get(key), wanted.get(key))
            for key in {**self.told, **wanted}
            if self.told.get(key) != wanted.get(key)
        }
        if not self.kind.tells_cost:
            moved = {
                key: (one is not None, other is not None)
                for key, (one, other) in moved.items()
                if (one is None) != (other is None)
            }
        found = {key: (old, new) for key, old, new in _changed(self.query.changes())}
        assert found == (moved if advanced else {}), (self.kind, found, moved)
        by_name = self.beside.graph.query_changes()
        assert (self.query.name in by_name) == bool(found)

    def _check_path(self, row: dict[str, Any]) -> None:
        if row[self.kind.cost] is None:
            assert row["path"] is None
            return
        path, total = row["path"], 0.0
        assert (path[0], path[-1]) == (row["source"], row["target"])
        for one, other in itertools.pairwise(path):
            ends = {"out": [(one, other)], "in": [(other, one)]}
            ends["both"] = ends["out"] + ends["in"]
            allowed = ends[self.kind.direction]
            steps = [e for e in self.beside.edges if (e.source, e.target) in allowed]
            assert steps, "the path goes along an edge that is not there"
            total += min(1 if self.kind.weight is None else e.cost for e in steps)
        assert total == row[self.kind.cost]

    def _check_route(self, row: dict[str, Any], there: dict[int, dict[str, Any]]) -> None:
        """Its edges are those of the graph, one behind the other, and add up to its cost."""
        route = self.query.path(row["target"], row["source"])
        if route is None:
            assert row["path"] is None
            return
        assert (list(route), route.cost) == (row["path"], row[self.kind.cost])
        edges = route.edges.to_pylist()
        assert edges == [there[item["edge"]] for item in edges]
        steps = [{(item["src"], item["dst"]), (item["dst"], item["src"])} for item in edges]
        assert all(
            step in ends for step, ends in zip(itertools.pairwise(route), steps, strict=True)
        )
        costs = [1 if self.kind.weight is None else item["cost"] for item in edges]
        assert sum(costs) == route.cost


def _rows(table: Any, cost: str) -> Iterator[tuple[Any, Any]]:
    for row in table.to_pylist():
        key = row["id"] if "id" in row else (row["source"], row["target"])
        value = row.get(cost, True)
        if value is not None and value is not False:
            yield key, value


def _changed(table: Any) -> Iterator[tuple[Any, Any, Any]]:
    for row in table.to_pylist():
        yield row["id"] if "id" in row else (row["source"], row["target"]), row["old"], row["new"]


def unseen(ids: list[Any]) -> range:
    """The vertices that may come next."""
    return range(max(ids) + 1, max(ids) + 3)


def ask(beside: Beside, name: str, regular: tuple[str, Node]) -> Watched:
    """A random query of a random kind; `regular` is a path as text and for the oracle."""
    pick = beside.pick
    ids = [*beside.ids, *unseen(beside.ids)]
    start, target = pick.choices(ids, k=2)
    weight = pick.choice([None, "cost"])
    bound = pick.choice([None, None, 0, 1.5, 3])
    direction = pick.choice(["out", "in", "both"])
    kinds = gt.queries
    match pick.randrange(7):
        case 0:
            kind: Any = kinds.Path(start, target, weight, bound, direction)
        case 1:
            pairs = [tuple(pick.choices(ids, k=2)) for _ in range(4)]
            kind = kinds.Paths(pairs, weight, bound, direction)
            starts = list(dict.fromkeys(pair[0] for pair in pairs))
            return Watched(beside, name, kind, anything(direction), starts)
        case 2:
            kind = kinds.Hops(start, pick.randrange(4), direction)
        case 3:
            kind = kinds.Reach(start, pick.choice([None, target]), direction)
        case _:
            end = pick.choice([None, None, target])
            kind = kinds.Regular(regular[0], start, end, "kind", weight, bound)
            return Watched(beside, name, kind, regular[1], [start])
    return Watched(beside, name, kind, anything(direction), [start])
