"""Vertices of a live graph that get other values: programs, starts and readers, by an oracle."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import FullDiskError, InputError
from graphtide.run.durable import live_store
from graphtide.store.log import LogWriter
from tests.live.graphs import leave

pytestmark = pytest.mark.interpreted


@gt.program
class OpenHops:
    """By how many edges a vertex is reached, on ways that leave no closed vertex."""

    source: gt.Vertex
    hops: float = gt.inf
    best = gt.Min(float)
    kind = gt.VertexProperty(str)

    def initialize(self, v):
        v.hops = 0.0 if v == self.source else gt.inf

    def traverse(self, u, e, v):
        if u.kind != "closed":
            v.best(u.hops + 1.0)

    def update(self, v):
        v.hops = min(v.hops, v.best)


@gt.program
class Downhill:
    """Neighbours that have a lower age: rows, and how many there are."""

    total = gt.Global(gt.Count())
    rows = gt.Matches(above=gt.Vertex, below=gt.Vertex)
    age = gt.VertexProperty(int, missing=0)

    def traverse(self, u):
        for v in u.out_neighbours:
            if u.age > v.age:
                self.rows(u, v)
                self.total()


class Known:
    """Vertices with their values, and edges, in plain Python."""

    def __init__(self) -> None:
        self.edges: list[tuple[str, str]] = [("a", "b"), ("b", "c")]
        self.values: dict[str, dict[str, Any]] = {
            "a": {"age": 3, "kind": "open"},
            "b": {"age": 2, "kind": None},
            "c": {"age": None, "kind": "open"},
        }

    def hops(self) -> dict[str, float]:
        found, border, step = {"a": 0.0}, ["a"], 0.0
        while border:
            step += 1
            open_ = [v for v in border if self.values[v]["kind"] != "closed"]
            border = list({t for s, t in self.edges if s in open_ and t not in found})
            found |= dict.fromkeys(border, step)
        return {v: found.get(v, float("inf")) for v in self.values}

    def downhill(self) -> list[tuple[str, str]]:
        def age(vertex: str) -> int:
            return self.values[vertex]["age"] or 0

        return sorted({(s, t) for s, t in self.edges if age(s) > age(t)})

    def batch(self, pick: random.Random) -> dict[str, Any]:
        """Edges in and out, and values of some vertices, of which some are new."""
        names = [*self.values, f"v{len(self.values)}", f"w{len(self.values)}"]
        chosen = pick.sample(names, pick.randrange(4))
        columns = pick.choice([["age"], ["kind"], ["age", "kind"]])
        given: dict[str, list[Any]] = {"id": chosen}
        for column in columns:
            kinds = [None, 1, 5, 9] if column == "age" else [None, "open", "closed"]
            given[column] = [pick.choice(kinds) for _ in chosen]
        for at, vertex in enumerate(chosen):
            known = self.values.setdefault(vertex, {"age": None, "kind": None})
            known |= {column: given[column][at] for column in columns}
        gone = pick.sample(self.edges, min(len(self.edges), pick.randrange(3)))
        come = [(pick.choice(list(self.values)), pick.choice(list(self.values))) for _ in range(2)]
        for edge in gone:
            self.edges.remove(edge)
        self.edges += come
        types = {"id": pa.string(), "age": pa.int64(), "kind": pa.string()}
        table = pa.table({name: pa.array(given[name], types[name]) for name in given})
        return {"insert": come, "delete": gone, "vertices": table if chosen else None}


def start() -> gt.Graph:
    known = Known()
    columns = {name: [row[name] for row in known.values.values()] for name in ("age", "kind")}
    vertices = {"id": list(known.values), **columns}
    return gt.Graph(["a", "b"], ["b", "c"], vertices=vertices)


def check(graph: gt.LiveGraph, known: Known) -> None:
    found = {row.pop("id"): row for row in graph.vertices().to_pylist()}
    assert found == known.values
    hops = graph.program("hops").table().to_pylist()
    assert {row["id"]: row["hops"] for row in hops} == known.hops()
    down = graph.program("down")
    rows = [tuple(row.values()) for row in down.matches().to_pylist()]
    assert sorted(rows) == known.downhill()
    assert down["total"] == len(rows)
    assert len(graph.queries["near"]) == 1 + len({t for s, t in known.edges if s == "a"} - {"a"})


@pytest.mark.parametrize("seed", range(4))
def test_values_change_with_edges_and_are_there_after_every_start(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_store, "_FEW_GONE", 5)
    pick, known = random.Random(seed), Known()
    graph = gt.live(tmp_path / "g", start())
    graph.register("hops", OpenHops(source="a"))
    graph.register("down", Downhill)
    graph.query("near", gt.queries.Hops("a", 1))
    reader = gt.live(tmp_path / "g", readonly=True)
    told = {row["id"]: row["hops"] for row in graph.program("hops").table().to_pylist()}
    for _ in range(25):
        match pick.randrange(8):
            case 0:
                graph.checkpoint()
            case 1:
                graph.compact()
            case 2:
                leave(graph)
                graph = gt.live(tmp_path / "g")
            case _:
                graph.advance(**known.batch(pick))
                for _, table in graph.changes("hops", graph.version - 1):
                    told |= {row["id"]: row["new"] for row in table.to_pylist()}
                assert told == known.hops()
        check(graph, known)
        if pick.random() < 0.3:
            reader.refresh()
            check(reader, known)
    leave(graph)
    graph = gt.live(tmp_path / "g")
    check(graph, known)
    graph.program("hops").verify()
    graph.program("down").verify()


def test_a_rollback_brings_values_back(tmp_path: Path) -> None:
    known = Known()
    graph = gt.live(tmp_path / "g", start())
    graph.register("hops", OpenHops(source="a"))
    graph.register("down", Downhill)
    graph.query("near", gt.queries.Hops("a", 1))
    graph.advance(vertices={"id": ["b", "a"], "kind": ["closed", None]}, delete=[("a", "b")])
    assert graph.program("hops").at("c") == {"hops": float("inf")}
    graph.rollback()
    check(graph, known)
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_what_cannot_be_logged_or_taken_leaves_values_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Known()
    graph = gt.live(tmp_path / "g", start())
    graph.register("hops", OpenHops(source="a"))
    graph.register("down", Downhill)
    graph.query("near", gt.queries.Hops("a", 1))

    def full(*given: Any) -> None:
        raise FullDiskError("the disk is full", hint="make room")

    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, "append", full)
        with pytest.raises(FullDiskError):
            graph.advance(vertices={"id": ["a", "x"], "kind": ["closed", "open"]})
    check(graph, known)
    for vertices, what in (
        (["a"], "gives them no values"),
        ({"id": ["a"], "age": ["old"]}, "holds values of type int"),
        ({"id": ["a"], "size": [1]}, "no property 'size'"),
        ({"id": ["a", "a"], "age": [1, 2]}, "twice"),
    ):
        with pytest.raises(InputError, match=what):
            graph.advance(vertices=vertices)
        check(graph, known)
    with pytest.raises(InputError, match="edges that are not there"):
        graph.advance(vertices={"id": ["a"], "age": [99]}, delete=[("c", "a")])
    check(graph, known)
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


NO_AGES = {"id": ["a", "b"], "age": [None, None]}


def test_a_column_without_values_gets_some(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph(["a"], ["b"], vertices=NO_AGES))
    graph.advance(vertices={"id": ["b", "c"], "age": [7, 8]})
    expected = [("a", None), ("b", 7), ("c", 8)]
    for _ in range(2):
        assert [tuple(row.values()) for row in graph.vertices().to_pylist()] == expected
        leave(graph)
        graph = gt.live(tmp_path / "g")
        graph.checkpoint()
