"""Streams into live graphs: every row once, in its order, whatever dies in between.

Batches come from file sinks that the tests write themselves, so that no JVM is started.
"""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.model.errors import DamagedError, InputError, StoreError
from graphtide.run.streams import feeds
from graphtide.run.streams import feeds as running
from graphtide.run.streams.feeds import FileSink
from graphtide.run.streams.taker import Position, StreamBatch
from tests.damage.test_appends import Death
from tests.live.graphs import START, begun, check, graph_of, leave
from tests.live.sinks import PlainSink
from tests.live.test_live_deaths import DyingDisk
from tests.oracle.live_graph import EdgeList

pytestmark = pytest.mark.interpreted

Change = tuple[str, tuple[Any, ...]]
NAMES = ("src", "dst", "weight", "kind")


def table_of(rows: list[Any], words: list[str] | None = None) -> pa.Table:
    columns: dict[str, Any] = {
        name: pa.array([row[at] for row in rows], type_)
        for at, (name, type_) in enumerate(
            zip(NAMES, (pa.int64(), pa.int64(), pa.float64(), pa.string()), strict=True)
        )
    }
    return pa.table(columns if words is None else {**columns, "op": words})


def changes_of(changes: list[Change]) -> pa.Table:
    return table_of([row for _, row in changes], [word for word, _ in changes])


def follow(graph: gt.LiveGraph, sink: PlainSink, **options: Any) -> gt.Follower:
    follower = graph.follow(sink.folder, trigger="available now", **options)
    assert follower.wait(60)
    return follower


@pytest.mark.parametrize("seed", range(4))
def test_changes_of_all_kinds_with_starts_in_between(tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    limit = pick.choice([1, 3, 100])
    for _ in range(12):
        changes = random_whole_rows(pick, known, pick.randrange(12))
        sink.commit(changes_of(changes), compact=pick.random() < 0.2)
        if pick.random() < 0.3:
            leave(graph)
            graph = gt.live(tmp_path / "g")
        if pick.random() < 0.7:
            follower = follow(graph, sink, operation="op", match=["weight", "kind"], limit=limit)
            known.version = graph.version
            check(graph, known)
            assert follower.status().batch == sink.batch - 1


def random_whole_rows(pick: random.Random, known: EdgeList, rows: int) -> list[Change]:
    """Edges that come and go, by all their values; often the same ones again."""
    made: list[Change] = []
    for _ in range(rows):
        if known.rows and pick.random() < 0.5:
            row = known.rows.pop(pick.randrange(len(known.rows)))
            made.append((pick.choice(["delete", "d", " D "]), row))
        else:
            row = (pick.randrange(3), pick.randrange(3), pick.choice([0.5, 1.0]), pick.choice("ab"))
            known.rows.append(row)
            known.vertices |= set(row[:2])
            made.append((pick.choice(["insert", "I", "c", "r", "Create"]), row))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_updates_in_between(tmp_path: Path, seed: int) -> None:
    """Each pair of ends has one edge, which comes, changes and goes within one batch."""
    pick = random.Random(seed)
    graph = gt.live(tmp_path / "g", graph_of([]))
    sink = PlainSink(tmp_path / "sink")
    edges: dict[tuple[int, int], tuple[float, str]] = {}
    for _ in range(8):
        changes: list[Change] = []
        for _ in range(pick.randrange(30)):
            ends = pick.randrange(3), pick.randrange(3)
            values = pick.random(), pick.choice("abc")
            if ends not in edges:
                word = "insert"
            elif pick.random() < 0.4:
                word = "d"
            else:
                word = "u"
            changes.append((word, (*ends, *values)))
            if word == "d":
                del edges[ends]
            else:
                edges[ends] = values
        sink.commit(changes_of(changes))
        follow(graph, sink, operation="op", limit=pick.choice([2, 100]))
        found = graph.edges().select(NAMES).to_pylist()
        assert {(row["src"], row["dst"]): (row["weight"], row["kind"]) for row in found} == edges
        assert len(found) == len(edges)


def test_one_edge_has_two_names_where_it_has_no_direction(tmp_path: Path) -> None:
    """It comes, changes and goes within one batch, whichever end a row names first."""
    start = gt.Graph([0], [0], weight=[1.0], kind=["a"], directed=False)
    graph = gt.live(tmp_path / "g", start)
    sink = PlainSink(tmp_path / "sink")
    changes: list[Change] = [
        ("insert", (1, 2, 0.5, "a")),
        ("u", (2, 1, 0.75, "b")),
        ("insert", (5, 3, 0.5, "a")),
        ("d", (3, 5, 0.5, "a")),
        ("d", (0, 0, 1.0, "a")),
    ]
    sink.commit(changes_of(changes))
    follow(graph, sink, operation="op")
    rows = [tuple(row.values())[1:] for row in graph.edges().to_pylist()]
    assert rows == [(1, 2, 0.75, "b")]


def test_an_update_keeps_what_its_row_does_not_give(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", graph_of(START[1:2]))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(pa.table({"a": [1], "b": [2], "w": [7.5], "op": ["u"]}))
    columns = {"src": "a", "dst": "b", "weight": "w"}
    follow(graph, sink, operation="op", columns=columns)
    assert graph.edges().select(NAMES).to_pylist() == [
        {"src": 1, "dst": 2, "weight": 7.5, "kind": "c"}
    ]


def test_a_change_feed_of_delta_is_known_by_its_columns(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    rows = [
        (5, 5, 2.0, "z"), (0, 1, 1.0, "b"), (0, 1, 3.0, "new"), (5, 5, 2.0, "z"), (9, 9, 1.0, "b"),
    ]  # fmt: skip
    words = ["insert", "update_preimage", "update_postimage", "delete", "insert"]
    commits = [4, 6, 6, 5, 4]
    order = [2, 3, 0, 1, 4]  # Spark hands commits out in any order.
    table = table_of(rows).append_column("_change_type", pa.array(words))
    table = table.append_column("_commit_version", pa.array(commits))
    table = table.append_column("_commit_timestamp", pa.array([0] * 5, pa.timestamp("us")))
    sink.commit(table.take(order))
    follow(graph, sink)
    known.advance([(0, 1, 3.0, "new"), (9, 9, 1.0, "b")], [(0, 1, 1.0, "b")])
    known.vertices.add(5)
    known.version = graph.version
    check(graph, known)


def test_missing_numbers_equal_missing_numbers(tmp_path: Path) -> None:
    nan = float("nan")
    graph = gt.live(tmp_path / "g", graph_of([(1, 2, nan, "a"), (1, 2, 1.0, "b")]))
    sink = PlainSink(tmp_path / "sink")
    rows = pa.table({"src": [1], "dst": [2], "weight": [nan], "kind": ["a"], "op": ["d"]})
    sink.commit(rows)
    follow(graph, sink, operation="op", match=["weight"])
    assert graph.edges()["kind"].to_pylist() == ["b"]


def test_parallel_edges_are_told_apart_by_texts_too(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", graph_of([(1, 2, 1.0, "a"), (1, 2, 1.0, "b")]))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(table_of([(1, 2, 1.0, "b")], ["d"]))
    follow(graph, sink, operation="op", match="kind")
    assert graph.edges()["kind"].to_pylist() == ["a"]


def test_dead_at_every_operation_each_row_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = EdgeList(START)
    begun(tmp_path / "begun")[0].close()
    sink = PlainSink(tmp_path / "sink")
    pick = random.Random(7)
    for _ in range(2):
        sink.commit(changes_of(random_whole_rows(pick, known, 12)))
    options = {"operation": "op", "match": ("weight", "kind"), "limit": 5}
    for operations in count():
        folder = shutil.copytree(tmp_path / "begun", tmp_path / f"g{operations}")
        graph = gt.live(folder)
        with monkeypatch.context() as patch:
            dying = DyingDisk(patch, operations)
            with suppress(Death, gt.GraphtideError):
                follow(graph, sink, **options)
        leave(graph)
        graph = gt.live(folder)
        follower = follow(graph, sink, **options)
        known.version = graph.version
        check(graph, known)
        assert follower.status().rows == 24
        leave(graph)
        left = [path.name for path in (folder / "streams" / "stream").glob("*.arrow")]
        assert not left
        shutil.rmtree(folder)
        if dying.left >= 0:
            break
    assert operations > 3


def test_lists_that_were_put_together(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    for at in range(12):
        sink.commit(*[table_of([(at, one, 1.0, "b")]) for one in range(at % 3)], compact=at == 9)
        known.advance([(at, one, 1.0, "b") for one in range(at % 3)])
        if at == 3:
            follow(graph, sink)
    sink.forget_lists(9)
    follower = follow(graph, sink)
    known.version = graph.version
    check(graph, known)
    assert follower.status().batch == 11
    again = follow(graph, sink)
    check(graph, known)
    assert again.status() == follower.status() or again.status().rows == follower.status().rows


def test_a_gap_is_refused(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    for at in range(3):
        sink.commit(table_of([(at, 9, 1.0, "b")]))
    sink.list_of(1).unlink()
    with pytest.raises(StoreError, match="the batch 1 of the file sink is gone, and 2 is there"):
        follow(graph, sink)
    known.advance([(0, 9, 1.0, "b")])
    check(graph, known)


def test_another_stream_under_the_same_name_is_refused(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    for name in ("one", "two"):
        PlainSink(tmp_path / name).commit(table_of([(7, 9, 1.0, "b")]))
    known.advance([(7, 9, 1.0, "b")])
    graph.follow(tmp_path / "one", trigger="available now").wait()
    for _ in range(2):
        with pytest.raises(StoreError, match=r"another one.*\n.*another name"):
            graph.follow(tmp_path / "two", trigger="available now")
        check(graph, known)
        leave(graph)
        graph = gt.live(tmp_path / "g")
    graph.follow(tmp_path / "two", name="second", trigger="available now").wait()
    known.advance([(7, 9, 1.0, "b")])
    check(graph, known)


def test_late_rows_are_counted_and_set_aside(tmp_path: Path) -> None:
    start = gt.Graph([], [], at=np.empty(0, np.int64))
    graph = gt.live(tmp_path / "g", start, keep=10, time="at")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(pa.table({"src": [1, 2, 3], "dst": [2, 3, 4], "at": [100, 89, 95]}))
    sink.commit(pa.table({"src": [1, 2, 3], "dst": [2, 3, 4], "at": [99, 103, 94]}))
    follower = follow(graph, sink)
    assert sorted(graph.edges()["at"].to_pylist()) == [94, 95, 99, 100, 103]
    assert (follower.status().late, follower.status().rows, graph.late) == (1, 5, 1)
    sink.commit(pa.table({"src": [5, 6], "dst": [6, 7], "at": [92, 110]}))
    assert follow(graph, sink).status().late == 2
    assert sorted(graph.edges()["at"].to_pylist()) == [100, 103, 110]
    aside = pq.read_table(follower.set_aside)
    assert sorted(aside["at"].to_pylist()) == [89, 92]
    assert set(aside["_reason"].to_pylist()) == {"late"}


def test_a_bound_of_the_streams_own(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph([0], [1], at=[5]))
    sink = PlainSink(tmp_path / "sink")
    words = pa.array(["i", "i", "i", "d"])
    sink.commit(
        pa.table({"src": [1, 2, 3, 0], "dst": [2, 3, 4, 1], "at": [100, 89, 95, 5], "op": words})
    )
    options = {"late": 10, "time": "at", "operation": "op", "match": ["at"]}
    follow(graph, sink, **options)
    assert graph.edges()["at"].to_pylist() == [100, 95]  # The old edge could be taken away.
    leave(graph)
    graph = gt.live(tmp_path / "g")
    sink.commit(pa.table({"src": [1, 2], "dst": [2, 3], "at": [89, 90], "op": ["i", "i"]}))
    status = follow(graph, sink, **options).status()
    assert graph.edges()["at"].to_pylist() == [100, 95, 90]
    assert (status.late, graph.late, status.rows) == (2, 2, 4)


def wrong_rows() -> pa.Table:
    rows = [
        (1, 2, 1.0, "b"),
        (None, 2, 1.0, "b"),
        (3, 4, 1.0, "b"),
        (8, 8, 1.0, "b"),
        (0, 1, 1.0, "b"),
    ]
    return table_of(rows, ["i", "i", "upsert", "d", "d"])


def test_wrong_rows_end_a_stream(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(table_of([(7, 9, 1.0, "b")], ["i"]))
    sink.commit(wrong_rows())
    follower = graph.follow(sink.folder, operation="op")
    with pytest.raises(InputError, match=r"2 rows are wrong in the batch 1") as told:
        follower.wait(60)
    for text in ("unknown operation 'upsert'", "no value in 'src'", "set aside"):
        assert text in str(told.value)
    assert not follower.active
    known.advance([(7, 9, 1.0, "b")])
    check(graph, known)


def test_wrong_rows_set_aside(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(wrong_rows())
    follower = follow(graph, sink, operation="op", on_error="set aside")
    known.advance([(1, 2, 1.0, "b")], [(0, 1, 1.0, "b")])
    check(graph, known)
    assert (follower.status().set_aside, follower.status().rows) == (3, 2)
    reasons = [
        item
        for path in sorted(follower.set_aside.iterdir())
        for item in pq.read_table(path)["_reason"].to_pylist()
    ]
    assert sorted(reasons) == ["no such edge", "no value in 'src'", "unknown operation 'upsert'"]


def refused_alone(graph: gt.LiveGraph, row: dict[str, Any]) -> bool:
    """Whether an advance of one row is refused; the graph takes it otherwise."""
    given = {name: [value] for name, value in row.items()}
    try:
        graph.advance(insert=given)
    except InputError:
        return True
    return False


@gt.program
class Dated:
    """Reads a moment of edges, and a property of vertices."""

    since: gt.Timestamp
    oldest: int = 0
    best = gt.Max(int)
    at = gt.Property(gt.Timestamp)
    age = gt.VertexProperty(int)

    def initialize(self, v):
        v.oldest = v.age

    def traverse(self, u, e, v):
        if e.at >= self.since:
            v.best(u.oldest)

    def update(self, v):
        v.oldest = max(v.oldest, v.best)


def random_wrong_row(pick: random.Random) -> dict[str, Any]:
    return {
        "src": pick.choice([0, 1, 2, 7, None]),
        "dst": pick.choice([0, 1, 2, 2, 8]),
        "weight": pick.choice([1.0, 0.5, 0.0, None, float("nan"), -1.0]),
        "count": pick.choice([1, 2, 3, None]),
        "kind": pick.choice(["a", None]),
    }


@pytest.mark.parametrize("seed", range(6))
def test_what_an_advance_would_refuse_is_set_aside(tmp_path: Path, seed: int) -> None:
    """Each row alone, on a graph with the same programs, says whether it is to be set aside."""
    pick = random.Random(seed)
    start = pa.table(
        {"src": [0, 1], "dst": [1, 2], "weight": [1.0, 2.0], "count": [1, 2], "kind": ["a", "b"]}
    )
    graphs = [gt.live(tmp_path / name, gt.Graph.from_frame(start)) for name in "ab"]
    follows = [None, gt.queries.Path(0, 2, weight="weight"), gt.algorithms.ShortestPaths(source=0)]
    chosen = follows[seed % 3]
    for graph in graphs:
        if isinstance(chosen, gt.queries.Path):
            graph.query("follows", chosen)
        elif chosen is not None:
            graph.register("follows", chosen)
    rows = [random_wrong_row(pick) for _ in range(25)]
    alone, streamed = graphs
    bad = [row for row in rows if refused_alone(alone, row)]
    assert bad
    sink = PlainSink(tmp_path / "sink")
    sink.commit(pa.Table.from_pylist(rows, schema=start.schema))
    status = follow(streamed, sink, on_error="set aside", limit=pick.choice([4, 100])).status()
    assert (status.rows, status.set_aside) == (len(rows) - len(bad), len(bad))
    names = start.column_names
    assert sorted(map(str, streamed.edges().select(names).to_pylist())) == sorted(
        map(str, alone.edges().select(names).to_pylist())
    )


def reasons_of(follower: gt.Follower) -> list[str]:
    return [
        item
        for path in sorted(follower.set_aside.iterdir())
        for item in pq.read_table(path)["_reason"].to_pylist()
    ]


def test_a_missing_cost_is_set_aside_with_its_reason(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    query = graph.query("trip", gt.queries.Path(0, 2, weight="weight"))
    paths = graph.register("paths", gt.algorithms.ShortestPaths(source=0))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(
        table_of([(0, 5, None, "b"), (5, 2, 1.0, "b"), (0, 5, 1.0, "b"), (1, 5, -2.0, "b")])
    )
    with pytest.raises(InputError, match=r"(?s)2 rows are wrong.*missing.*on_error='set aside'"):
        follow(graph, sink)
    check(graph, known)
    follower = follow(graph, sink, on_error="set aside")
    known.advance([(5, 2, 1.0, "b"), (0, 5, 1.0, "b")])
    check(graph, known)
    assert query.value == 2.0
    assert paths.at(2) == {"dist": 2.0}
    assert "takes the edge property 'weight' for a cost" in reasons_of(follower)[0]
    assert "2 rows, 2 wrong set aside" in repr(follower)


def test_an_update_that_is_refused_leaves_its_edge(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    graph.query("trip", gt.queries.Path(0, 2, weight="weight"))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(table_of([(1, 2, -1.0, "c"), (2, 0, 3.0, "a"), (9, 9, 1.0, "b")], ["u", "u", "i"]))
    follower = follow(graph, sink, operation="op", on_error="set aside")
    known.advance([(2, 0, 3.0, "a"), (9, 9, 1.0, "b")], [(2, 0, 0.5, "a")])
    check(graph, known)
    assert len(reasons_of(follower)) == 1


@pytest.mark.parametrize(
    ("column", "values", "taken", "reason"),
    [
        ("weight", pa.array(["1.5", None, "x"]), [1], "'weight' is '1.5', and is to be a number"),
        ("weight", pa.array([True, None, False]), [1], "'weight' is True"),
        ("count", pa.array([1.0, 1.5, 2.0]), [0, 2], "'count' is 1.5, and is to be a whole number"),
        ("count", pa.array([1, 2**63, 3], pa.uint64()), [0, 2], "'count' is 9223372036854775808"),
        ("kind", pa.array([1, None, 2]), [1], "'kind' is 1, and is to be a text"),
        ("src", pa.array(["a", "b", "1"]), [], "'src' is 'a', and the ids of this graph are whole"),
        ("dst", pa.array([1.0, 2.5, 3.0]), [0, 2], "'dst' is 2.5, and the ids of this graph are"),
        ("at", pa.array([1, None, 3]), [1], "'at' is 1, and is to be a timestamp"),
    ],
)
def test_values_of_other_types_are_set_aside(
    tmp_path: Path, column: str, values: pa.Array, taken: list[int], reason: str
) -> None:
    moments = pa.array([0, 1, 2], pa.timestamp("us", tz="UTC"))
    right = pa.table(
        {"src": [1, 2, 3], "dst": [2, 3, 4], "weight": [1.0, 2.0, 3.0], "count": [1, 2, 3]}
        | {"kind": ["a", "b", "c"], "at": moments}
    )
    graph = gt.live(tmp_path / "g", gt.Graph.from_frame(right.slice(0, 1)))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(right.set_column(right.column_names.index(column), column, values))
    follower = follow(graph, sink, on_error="set aside")
    assert follower.status().rows == len(taken) == graph.num_edges - 1
    assert reason in reasons_of(follower)[0]
    assert graph.edges()["at"].to_pylist()[1:] == (
        [None] if column == "at" else [right["at"][at].as_py() for at in taken]
    )


def test_a_vertex_that_a_program_cannot_take_is_set_aside(tmp_path: Path) -> None:
    vertices = pa.table({"id": [1, 2], "age": [20, 30]})
    moment = pa.array([0, None, 5], pa.timestamp("us", tz="UTC"))
    rows = pa.table({"src": [1, 1, 1], "dst": [2, 2, 3], "at": moment})
    start = gt.Graph.from_frame(rows.slice(0, 1), vertices=vertices)
    graph = gt.live(tmp_path / "g", start)
    live = graph.register("dated", Dated(since="1970-01-01"))
    sink = PlainSink(tmp_path / "sink")
    sink.commit(rows)
    follower = follow(graph, sink, on_error="set aside")
    assert (follower.status().rows, follower.status().set_aside) == (1, 2)
    assert reasons_of(follower) == [
        "Dated reads the edge property 'at', which is missing",
        "Dated reads 'age' of vertices, and a new one has none",
    ]
    live.verify()


def test_an_edge_without_a_time_is_set_aside_where_edges_expire(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph([0], [1], at=[5]), keep=10, time="at")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(pa.table({"src": [1, 2], "dst": [2, 3], "at": ["7", "8"]}))
    follower = follow(graph, sink, on_error="set aside")
    assert (follower.status().set_aside, graph.num_edges) == (2, 1)


def test_a_simple_graph_takes_no_edge_twice(tmp_path: Path) -> None:
    start = gt.Graph([1], [2], simple=True)
    graph = gt.live(tmp_path / "g", start)
    sink = PlainSink(tmp_path / "sink")
    words = ["i", "d", "i", "i", "i"]
    sink.commit(pa.table({"src": [1, 1, 1, 3, 3], "dst": [2, 2, 2, 4, 4], "op": words}))
    status = follow(graph, sink, operation="op", on_error="set aside").status()
    assert (status.rows, status.set_aside) == (3, 2)
    assert graph.edges().select(["src", "dst"]).to_pylist() == [
        {"src": 3, "dst": 4}, {"src": 1, "dst": 2},
    ]  # fmt: skip


def test_a_large_batch_becomes_several_advances(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    hops = graph.register("hops", gt.algorithms.BFS(source=0))
    sink = PlainSink(tmp_path / "sink")
    rows = [(at % 20, (at + 1) % 20, 1.0, "b") for at in range(95)]
    sink.commit(table_of(rows[:50]), table_of(rows[50:]))
    follow(graph, sink, limit=10)
    known.advance(rows)
    known.version = 10
    check(graph, known)
    hops.verify()


def test_a_running_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "_POLL", 0.01)
    monkeypatch.setattr(running, "_RECENT", 1e9)
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    with graph.follow(sink.folder) as follower:
        assert not follower.wait(0.05)
        assert follower.active
        with pytest.raises(InputError, match="is being followed"):
            graph.follow(sink.folder)
        sink.commit(table_of([(7, 9, 1.0, "b")]))
        while not follower.status().rows_per_second:  # Told last of all, when a batch is done.
            assert not follower.wait(0.01)
        known.advance([(7, 9, 1.0, "b")])
        check(graph, known)
        status = follower.status()
        assert (status.rows, status.waiting, status.lag) == (1, 0, 0.0)
        assert status.rows_per_second > 0
        assert "1 rows" in repr(follower)
    assert not follower.active
    sink.commit(table_of([(8, 9, 1.0, "b")]))
    assert follower.wait(1)
    graph.follow(sink.folder)
    graph.close()
    assert not graph._streams["stream"].active


def test_what_does_not_fit_is_refused_at_once(tmp_path: Path) -> None:
    graph, _ = begun(tmp_path / "g")
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.parquet").write_text("")
    for options, told in (
        ({"stream": tmp_path / "file"}, "is a file"),
        ({"stream": tmp_path / "folder"}, "is no file sink"),
        ({"stream": [1, 2]}, "a list is no stream"),
        ({"on_error": "ignore"}, "on_error cannot be"),
        ({"limit": 0}, "limit cannot be 0"),
        ({"late": 10, "time": "kind"}, "is no time"),
        ({"name": ""}, "cannot be the name of a stream"),
        ({"trigger": "1 second"}, "no other trigger"),
        ({"checkpoint": "there"}, "`checkpoint` has no meaning"),
    ):
        given = {"stream": tmp_path / "sink", **options}
        with pytest.raises(InputError, match=told):
            graph.follow(given.pop("stream"), **given)


@pytest.mark.parametrize(
    ("table", "options", "told"),
    [
        ({"src": [1], "dst": [2], "wieght": [1.0]}, {}, "'wieght', which edges do not have"),
        ({"src": [1], "dst": [2]}, {}, "no column for 'weight'"),
        ({"src": [1], "dst": [2], "weight": [1.0]}, {"operation": "op"}, "names the column 'op'"),
        ({"src": [1], "dst": [2], "weight": [1.0]}, {"match": ["kind"]}, "`match` names 'kind'"),
        ({"src": [1], "dst": [2], "weight": ["x"]}, {}, "weight"),
        ({"src": ["a"], "dst": ["b"], "weight": [1.0]}, {}, "ids of this graph are whole numbers"),
    ],
)
def test_columns_that_do_not_fit(
    tmp_path: Path, table: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    graph, known = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(pa.table(table))
    with pytest.raises(InputError, match=told):
        follow(graph, sink, **options)
    check(graph, known)


def test_a_damaged_sink_is_told(tmp_path: Path) -> None:
    graph, _ = begun(tmp_path / "g")
    sink = PlainSink(tmp_path / "sink")
    sink.commit(table_of([(7, 9, 1.0, "b")]))
    sink.list_of(0).write_text("v2\n{}")
    with pytest.raises(DamagedError, match="a list of the file sink cannot be read"):
        follow(graph, sink)
    sink.list_of(0).unlink()
    sink = PlainSink(tmp_path / "other")
    sink.commit(table_of([(7, 9, 1.0, "b")]))
    next(sink.folder.glob("*.parquet")).unlink()
    with pytest.raises(DamagedError, match="has written is gone"):
        follow(graph, sink)


class PlainQuery:
    """A query that writes a sink: runs until it is stopped, or told that all is read."""

    id, failure = "the query", None

    def __init__(self, started: list[PlainQuery]) -> None:
        self.is_active = True
        started.append(self)

    def stop(self) -> None:
        self.is_active = False


def test_a_query_that_is_too_far_ahead_waits_for_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_AHEAD", 2)
    sink = PlainSink(tmp_path / "sink")
    for at in range(4):
        sink.commit(table_of([(at, 9, 1.0, "b")]))
    started: list[PlainQuery] = []
    taken: list[int] = []
    position = Position("the query")

    def give(batch: StreamBatch) -> None:
        nonlocal position
        assert batch.load().num_rows == 1
        taken.append(batch.number)
        position = Position(batch.query, batch.number, files=batch.files)
        assert [query.is_active for query in started] == [False]

    feed = feeds.SinkFeed(
        FileSink(sink.folder), lambda: position, write=lambda: PlainQuery(started)
    )
    feed.start(give, lambda query: None)
    while len(started) < 2:
        feed.ends_within(0.01)
    assert taken == [0, 1, 2, 3]
    assert [query.is_active for query in started] == [False, True]
    assert not list(sink.folder.glob("*.parquet"))
    feed.stop()
    assert not feed.is_active
