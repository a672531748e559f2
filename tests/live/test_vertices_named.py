"""Results that name vertices, by the users' ids: what is folded from changes is what tables have.

Components are compared with those of a union-find over ids alone. Which vertex names a component is
the first one of the graph, in the order of `vertices()`, whatever happened before.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.algorithms import SCC, WCC
from tests.live.graphs import leave

pytestmark = pytest.mark.interpreted


@gt.program
class NearestNamed:
    """The first neighbour of each vertex, nobody where there is none; and the first of all."""

    first: int = -1
    found = gt.Min(int)
    least = gt.Global(gt.Min(int))
    loops = gt.Global(gt.Count())

    def traverse(self, u):
        for w in u.neighbours:
            u.found(w.id)
            self.least(w.id)
            if u == w:
                self.loops()

    def update(self, v):
        v.first = v.found


def components(ids: list[Any], edges: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The first id of each component, by union-find."""
    leads = {id_: id_ for id_ in ids}

    def find(id_: Any) -> Any:
        while leads[id_] != id_:
            id_ = leads[id_]
        return id_

    place = {id_: at for at, id_ in enumerate(ids)}
    for ends in edges:
        one, other = sorted(map(find, ends), key=place.__getitem__)
        leads[other] = one
    return {id_: find(id_) for id_ in ids}


def strong(ids: list[Any], edges: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The first id among those that a vertex reaches and is reached by."""

    def reached(start: Any) -> set[Any]:
        seen, todo = {start}, [start]
        while todo:
            at = todo.pop()
            new = {dst for src, dst in edges if src == at} - seen
            seen |= new
            todo += new
        return seen

    reach = {id_: reached(id_) for id_ in ids}
    return {id_: next(at for at in ids if at in reach[id_] and id_ in reach[at]) for id_ in ids}


def first_neighbours(ids: list[Any], edges: list[tuple[Any, Any]]) -> dict[Any, Any]:
    beside: dict[Any, set[Any]] = {id_: set() for id_ in ids}
    for src, dst in edges:
        beside[src].add(dst)
        beside[dst].add(src)
    return {id_: next((at for at in ids if at in beside[id_]), None) for id_ in ids}


ORACLES: dict[str, tuple[Any, Callable[..., dict[Any, Any]]]] = {
    "wcc": (WCC, components),
    "scc": (SCC, strong),
    "first": (NearestNamed, first_neighbours),
}
KINDS: dict[str, Callable[[int], Any]] = {"text": "v{}".format, "int": lambda at: 7 * at - 20}


def values_of(live: gt.Live) -> dict[Any, Any]:
    table = live.table()
    return dict(zip(*(table.column(at).to_pylist() for at in range(2)), strict=True))


def fold(values: dict[Any, Any], table: pa.Table) -> None:
    for row in table.to_pylist():
        assert values.get(row["id"]) == row["old"]
        values[row["id"]] = row["new"]


class Followed:
    """A live graph, and what consumers of changes have made of them."""

    def __init__(self, folder: Path, name: Callable[[int], Any]) -> None:
        self.folder, self.name = folder, name
        start = [(name(0), name(1)), (name(1), name(2)), (name(3), name(3))]
        self.graph = gt.live(folder, gt.Graph(*zip(*start, strict=True)))
        self.told: dict[str, dict[Any, Any]] = {}
        for known, (program, _) in ORACLES.items():
            self.told[known] = values_of(self.graph.register(known, program))
        self.deliver()

    def deliver(self) -> None:
        for known in ORACLES:
            self.graph.deliver(known, self.receiver(known), consumer=known)
            self.graph.deliver(known, self.folder.parent / known, consumer=f"{known}-files")

    def receiver(self, known: str) -> Callable[[int, pa.Table], None]:
        return lambda _, table: fold(self.told[known], table)

    def reopen(self) -> None:
        leave(self.graph)
        self.graph = gt.live(self.folder)
        self.deliver()

    def check(self) -> None:
        ids = self.graph.vertices().column("id").to_pylist()
        ends = (self.graph.edges().column(end).to_pylist() for end in ("src", "dst"))
        edges = list(zip(*ends, strict=True))
        for known, (_, oracle) in ORACLES.items():
            live, expected = self.graph.program(known), oracle(ids, edges)
            assert values_of(live) == expected
            assert live[live.fields[0]].tolist() == list(expected.values())
            assert {id_: self.told[known][id_] for id_ in ids} == expected
            assert live.at(ids[-1]) == {live.fields[0]: expected[ids[-1]]}
        least = next((at for at in ids if any(at in ends for ends in edges)), None)
        assert self.graph.program("first").globals["least"] == least


@pytest.mark.parametrize("kind", KINDS)
def test_folded_changes_are_the_table_whatever_happens(tmp_path: Path, kind: str) -> None:
    name, pick = KINDS[kind], random.Random(kind)
    followed = Followed(tmp_path / "g", name)
    for step in range(14):
        graph = followed.graph
        known = graph.edges().select(["src", "dst"]).to_pylist()
        gone = pick.sample(known, min(len(known), pick.randrange(3)))
        come = [
            (name(pick.randrange(9)), name(pick.randrange(9))) for _ in range(pick.randrange(4))
        ]
        graph.advance(insert=come, delete=[tuple(row.values()) for row in gone])
        followed.check()
        if step % 8 == 2:
            graph.rollback()
            followed.check()
        if step % 6 == 3:
            lonely = pick.choice(graph.vertices().column("id").to_pylist())
            graph.advance(remove=[lonely])
            followed.check()
            graph.compact()
            for values in followed.told.values():
                assert values.pop(lonely) in (lonely, None), "who has no edge names nobody else"
        if step % 9 == 4:
            followed.reopen()
        followed.check()
    for known in ORACLES:
        files = sorted((tmp_path / known).glob("*.parquet"))
        kinds = {str(pq.read_schema(path).field("new").type) for path in files}
        assert kinds == {"string" if kind == "text" else "int64"}


def test_a_component_that_a_compaction_renumbers_keeps_its_name(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph(list("abcdx"), list("bcdey")))
    live, told = graph.register("parts", WCC), []
    graph.deliver("parts", lambda _, table: told.extend(table.to_pylist()), consumer="one")
    held = live.advance(insert=[("y", "z")])
    graph.advance(remove=["a"])
    graph.compact()
    graph.advance(insert=[("q", "y")])
    assert [row for row in told if row["id"] in "zq"] == [
        {"id": "z", "old": None, "new": "x"},
        {"id": "q", "old": None, "new": "x"},
    ]
    assert held.to_pylist() == [{"id": "z", "old": None, "new": "x"}]
    assert {values_of(live)[at] for at in "xyzq"} == {"x"}


def test_results_of_the_whole_graph_are_told_in_one_type(tmp_path: Path) -> None:
    @gt.program
    class Whole:
        least = gt.Global(gt.Min(int))
        count = gt.Global(gt.Count())

        def traverse(self, u):
            for w in u.neighbours:
                self.least(w.id)
                self.count()

    graph = gt.live(tmp_path / "g", gt.Graph(["b"], ["a"], vertices=["a", "b"]))
    live, told = graph.register("whole", Whole), []
    graph.deliver("whole", lambda _, table: told.append(table), consumer="one")
    changes = live.advance(delete=[("b", "a")])
    assert changes.globals == {"least": ("a", None), "count": (2, 0)}
    graph.advance(insert=[("b", "b")])
    assert live.globals == {"least": "b", "count": 1}
    assert live.table().to_pylist() == [{"least": "b", "count": 1}]
    assert {str(table.schema.field("new").type) for table in told} == {"string"}
    assert {row["name"]: row["new"] for row in told[-1].to_pylist()} == {"least": "b", "count": "1"}
