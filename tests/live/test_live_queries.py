"""Queries on live graphs: there after every start, with the answers of a plain search."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import BFS
from graphtide.api import live_registered
from graphtide.model.errors import FullDiskError, InputError, NotFoundError
from graphtide.run.durable import live_store
from graphtide.run.durable.stored_queries import made_query, stored_query
from graphtide.store.log import LogWriter
from tests.live.graphs import START, begun, graph_of, leave
from tests.oracle.live_graph import EdgeList, given, random_batch
from tests.oracle.regular_paths import Edge, answers

Q = gt.queries
ANY = ("except", (), None)
EVERY = ("repeat", ANY, 0, None)
PATHS: dict[str, tuple[Any, Any, Any]] = {
    "pair": (Q.Path(0, 2, weight="weight"), EVERY, None),
    "pairs": (Q.Paths([(0, 1), (1, 2), (0, 2)]), EVERY, None),
    "near": (Q.Hops(1, 2), EVERY, 2),
    "reach": (Q.Reach(2), EVERY, None),
    "can": (Q.Reach(2, 1), EVERY, None),
    "regular": (
        Q.Regular("a/(b|^c)*", 0, label="kind", weight="weight", bound=3.5),
        (
            "sequence",
            (
                ("step", "a"),
                ("repeat", ("alternative", (("step", "b"), ("inverse", ("step", "c")))), 0, None),
            ),
        ),
        3.5,
    ),
}


def said(asked: Any, node: Any, bound: Any, known: EdgeList) -> dict[Any, Any]:
    """The answer by the oracle, as `told` has that of a graph."""
    weighted = asked.weight is not None
    edges = [Edge(row[0], row[1], row[3], row[2] if weighted else 1) for row in known.rows]

    def of(start: Any) -> dict[Any, float]:
        return answers(node, edges, known.vertices, start, bound)

    if asked.pairs is None:
        found: dict[Any, Any] = of(asked.asked[0].start)
        return found if asked.tells_cost else dict.fromkeys(found)
    costs = {pair: of(pair[0]).get(pair[1]) for pair in asked.pairs}
    return costs if asked.tells_cost else {p: c is not None for p, c in costs.items()}


def told(query: gt.Query) -> dict[Any, Any]:
    table = query.table()
    rows = table.select([name for name in table.column_names if name != "path"]).to_pylist()
    found = {}
    for row in rows:
        cost = row.pop(query.asked.cost, None)
        found[row["id"] if "id" in row else (row["source"], row["target"])] = cost
    return found


def check_queries(graph: gt.LiveGraph, known: EdgeList, names: list[str]) -> None:
    assert list(graph.queries) == names
    for name in names:
        assert told(graph.queries[name]) == said(*PATHS[name], known)


@pytest.mark.parametrize("seed", range(4))
def test_queries_come_go_and_are_there_after_every_start(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_store, "_FEW_GONE", 5)
    pick = random.Random(seed)
    graph, known = begun(tmp_path / "g")
    reader = gt.live(tmp_path / "g", readonly=True)
    names: list[str] = []
    for _ in range(40):
        match pick.randrange(10):
            case 0:
                graph.checkpoint()
            case 1:
                graph.compact()
            case 2 | 3:
                graph.close() if pick.random() < 0.5 else leave(graph)
                graph = gt.live(tmp_path / "g")
            case 4 if names:
                graph.drop_query(names.pop(pick.randrange(len(names))))
            case 4 | 5 if len(names) < len(PATHS):
                names.append(pick.choice([name for name in PATHS if name not in names]))
                graph.query(names[-1], PATHS[names[-1]][0])
            case _:
                batch = random_batch(pick, known)
                graph.advance(**given(batch))
                known.advance(**batch)
        check_queries(graph, known, names)
        if pick.random() < 0.3:
            reader.refresh()
            check_queries(reader, known, names)
    for query in graph.queries.values():
        query.verify()


@pytest.mark.parametrize("name", PATHS)
def test_a_query_is_stored_as_it_was_asked(name: str) -> None:
    asked = PATHS[name][0]
    assert made_query(stored_query(asked)) == asked


def test_changes_of_a_query_since_any_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_registered, "_MOST_VERSIONS", 3)
    pick = random.Random(7)
    graph, known = begun(tmp_path / "g")
    graph.advance(insert=[(0, 5, 1.0, "b")])
    known.advance([(0, 5, 1.0, "b")])
    graph.query("near", Q.Hops(5, 3))
    seen = {1: told(graph.queries["near"])}
    for step in range(16):
        batch = random_batch(pick, known)
        graph.advance(**given(batch))
        known.advance(**batch)
        seen[graph.version] = told(graph.queries["near"])
        if step == 9:
            graph.compact()
        elif step == 12:
            leave(graph)
            graph = gt.live(tmp_path / "g")
    for _ in range(2):
        for since in range(18):
            values, last = dict(seen[max(since, 1)]), max(since, 1)
            for version, table in graph.changes("near", since):
                for row in table.to_pylist():
                    values[row["id"]] = row["new"]
                last += 1
                assert version == last
                assert {id_: hops for id_, hops in values.items() if hops is not None} == (
                    seen[version]
                )
            assert last == 17
    with pytest.raises(NotFoundError, match="did you mean 'near'"):
        graph.changes("neer", 0)


def test_a_vertex_that_is_named_stays_until_the_query_goes(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph(["a", "b", "c"], ["b", "c", "d"]))
    with pytest.raises(InputError, match="the ids of this graph are texts"):
        graph.query("never", Q.Reach(7))
    graph.query("trip", Q.Path("a", "d"))
    graph.register("hops", BFS(source="b"))
    reader = gt.live(tmp_path / "g", readonly=True)
    graph.advance(remove=["a", "b", "d"])
    for _ in range(2):
        graph.compact()
        assert graph.vertices()["id"].to_pylist() == ["a", "b", "c", "d"]
        assert graph.queries["trip"].value is None
        assert graph.program("hops").at("b") == {"hops": 0.0}
        leave(graph)
        graph = gt.live(tmp_path / "g")
    graph.advance(insert=[("a", "c"), ("c", "d")])
    assert graph.queries["trip"].path() == ["a", "c", "d"]
    graph.advance(remove=["a"])
    graph.drop_query("trip")
    graph.unregister("hops")
    graph.compact()
    assert graph.vertices()["id"].to_pylist() == ["c", "d"]
    reader.refresh()
    assert reader.vertices()["id"].to_pylist() == ["c", "d"]
    assert (reader.registered(), reader.queries) == ([], {})


def test_a_vertex_that_is_not_there_yet(tmp_path: Path) -> None:
    """Through starts, compactions, readers and changes of before; it may come by a listing."""
    graph = gt.live(tmp_path / "g", gt.Graph(["a"], ["b"]))
    for name, asked in (
        ("trip", Q.Paths([("a", "b"), ("a", "z"), ("z", "a")])),
        ("near", Q.Hops("y", 3)),
    ):
        with pytest.warns(gt.UnseenVertexWarning):
            graph.query(name, asked)
    reader = gt.live(tmp_path / "g", readonly=True)
    for _ in range(2):
        graph.compact()
        leave(graph)
        graph = gt.live(tmp_path / "g")
        assert graph.queries["trip"].table()["hops"].to_pylist() == [1, None, None]
        assert (len(graph.queries["near"]), graph.queries["near"].absent) == (0, ["y"])
    graph.advance(insert=[("b", "z"), ("z", "y")])
    graph.advance(insert=[("y", "a")])
    leave(graph)
    graph = gt.live(tmp_path / "g")
    reader.refresh()
    for one in (graph, reader):
        assert one.queries["trip"].table()["hops"].to_pylist() == [1, 2, 2]
        assert one.queries["near"].table().to_pylist() == [
            {"id": "a", "hops": 1}, {"id": "b", "hops": 2}, {"id": "z", "hops": 3},
            {"id": "y", "hops": 0},
        ]  # fmt: skip
        changes = {version: table.to_pylist() for version, table in one.changes("near", 0)}
        assert changes[1] == [{"id": "y", "old": None, "new": 0}]
        assert [row["id"] for row in changes[2]] == ["a", "b", "z"]
    graph.advance(remove=["y"])
    graph.compact()
    assert graph.queries["near"].table().to_pylist() == [{"id": "y", "hops": 0}]


def test_a_name_stands_for_one_thing(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", graph_of(START))
    graph.query("it", Q.Reach(0))
    with pytest.raises(InputError, match="there is a query 'it' already"):
        graph.register("it", BFS(source=0))
    with pytest.raises(InputError, match="there is a query 'it' already"):
        graph.query("it", Q.Reach(1))
    graph.register("hops", BFS(source=0))
    with pytest.raises(InputError, match="a program is registered as 'hops' already"):
        graph.query("hops", Q.Reach(0))
    with pytest.raises(NotFoundError, match="there is no query 'hops'"):
        graph.drop_query("hops")
    graph.close()
    with pytest.raises(InputError, match="was closed"):
        graph.query("other", Q.Reach(0))


def test_a_reader_asks_for_itself(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", graph_of(START))
    reader = gt.live(tmp_path / "g", readonly=True)
    own = reader.query("near", Q.Hops(0, 1))
    assert len(own) == 2
    graph.advance(insert=[(0, 9, 1.0, "b")])
    assert reader.refresh() == 1
    assert len(own) == 3
    assert graph.queries == {}
    graph.query("near", Q.Hops(0, 9))
    reader.refresh()
    with pytest.raises(InputError, match="was dropped"):
        own.table()
    assert reader.queries["near"].asked == Q.Hops(0, 9)
    with pytest.raises(InputError, match="was opened to be read"):
        reader.drop_query("near")


def test_a_query_that_cannot_be_logged_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = gt.live(tmp_path / "g", graph_of(START))
    graph.query("near", Q.Hops(0, 1))

    def full(*given: Any) -> None:
        raise FullDiskError("the disk is full", hint="make room")

    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, "append", full)
        with pytest.raises(FullDiskError):
            graph.query("reach", Q.Reach(0))
        with pytest.raises(FullDiskError):
            graph.drop_query("near")
    assert list(graph.queries) == ["near"]
    graph.query("reach", Q.Reach(0))
    leave(graph)
    assert list(gt.live(tmp_path / "g").queries) == ["near", "reach"]


def test_changes_of_queries_are_delivered(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", graph_of(START))
    graph.query("pair", Q.Path(0, 2))
    taken: list[tuple[int, list[Any]]] = []

    def take(version: int, table: pa.Table) -> None:
        taken.append((version, table.to_pylist()))

    graph.deliver("pair", take, consumer="page")
    graph.advance(insert=[(0, 2, 1.0, "b")])
    graph.advance(insert=[(0, 2, 1.0, "b")])
    leave(graph)
    graph = gt.live(tmp_path / "g")
    with pytest.warns(RuntimeWarning, match=r"'page', since its function is not stored"):
        graph.advance(delete=[(0, 2), (0, 2)])
    graph.deliver("pair", take, consumer="page")
    shorter, longer = ({"source": 0, "target": 2, "old": a, "new": b} for a, b in ((2, 1), (1, 2)))
    assert taken == [(1, [shorter]), (2, []), (3, [longer])]
