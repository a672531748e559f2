"""Random batches with heavy deletion, starts in between: always the edges of a plain list."""

from __future__ import annotations

import contextlib
import random
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import BFS, Triangles
from graphtide.engine.walks.rounds import RoundsRun
from graphtide.model.errors import InputError, LockedError, NotFoundError
from graphtide.run.durable import live_store, writer
from tests.changing import begin_graph
from tests.live.graphs import START, begun, check, check_hops, graph_of, leave, rows_of
from tests.oracle.live_graph import EdgeList, given, random_batch


@gt.program
class Levels:
    """How many steps of two edges each a vertex is from a root."""

    root: gt.Vertex
    level: int = 99
    least = gt.Min(int)

    def initialize(self, v):
        v.level = 0 if v == self.root else 99

    def traverse(self, u):
        for v in u.neighbours:
            for w in v.neighbours:
                w.least(u.level + 1)

    def update(self, v):
        v.level = min(v.level, v.least)


@pytest.mark.parametrize("seed", range(6))
def test_batches_starts_checkpoints_and_compactions(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_store, "_FEW_GONE", 5)
    pick = random.Random(seed)
    graph, known = begun(tmp_path / "g")
    hops = graph.register("hops", BFS(source=0))
    reader = gt.live(tmp_path / "g", readonly=True)
    for _ in range(60):
        match pick.randrange(12):
            case 0:
                graph.checkpoint()
            case 1:
                graph.compact()
            case 2 | 3:
                graph.close() if pick.random() < 0.5 else leave(graph)
                graph = gt.live(tmp_path / "g")
                hops = graph.program("hops")
            case 4:
                batches = []
                for _ in range(pick.randrange(4)):
                    batches.append(random_batch(pick, known))
                    known.advance(**batches[-1])
                graph.advance_all(map(given, batches))
            case _:
                batch = random_batch(pick, known)
                graph.advance(**given(batch))
                known.advance(**batch)
        check(graph, known)
        check_hops(hops, known)
        if pick.random() < 0.3:
            reader.refresh()
            check(reader, known)
            check_hops(reader.program("hops"), known)
    hops.verify()


def test_a_checkpoint_is_a_graph_of_the_catalog(tmp_path: Path) -> None:
    session = gt.session(tmp_path, progress=False)
    known = EdgeList(START)
    with session.live("calls", graph_of(START)) as graph:
        for at in range(5):
            batch = {"insert": [(at, at + 1, 1.0, "b")], "delete": [known.rows[0]]}
            graph.advance(**given(batch))
            known.advance(**batch)
            graph.checkpoint()
            assert Counter(rows_of(session.graph("calls").edges())) == known.counted()
            assert session.graph("calls").num_edges == len(known.rows)
        graph.compact()
        assert Counter(rows_of(session.graph("calls").edges())) == known.counted()
    assert session.check().column("state").to_pylist() == ["ok"]
    with pytest.raises(gt.GraphtideError, match="is a live graph"):
        session.graph("calls").append([(1, 2, 1.0, "b")])
    with session.live("calls") as graph:
        check(graph, known)
    session.delete_graph("calls")
    assert not (tmp_path / "graphs" / "calls").exists()


def test_one_writer(tmp_path: Path) -> None:
    graph, _ = begun(tmp_path / "g")
    with pytest.raises(LockedError, match="is being written by process"):
        gt.live(tmp_path / "g")
    reader = gt.live(tmp_path / "g", readonly=True)
    with pytest.raises(InputError, match="was opened to be read"):
        reader.advance(insert=[(1, 2, 1.0, "b")])
    graph.close()
    with pytest.raises(InputError, match="was closed"):
        graph.advance(insert=[(1, 2, 1.0, "b")])
    gt.live(tmp_path / "g").close()


def test_what_is_refused_is_in_no_log(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    for batch in (
        {"delete": [(7, 8)]},
        {"insert": [(1, 2)]},
        {"insert": [("x", "y", 1.0, "b")]},
        {"insert": [(1, 2, "text", "a")]},
        {"insert": [0]},
        {"vertices": [0]},
        {"remove": [77]},
        {"update": [{"src": 0, "dst": 1}]},
        {"id": 7},
    ):
        with pytest.raises(InputError):
            graph.advance(**batch)
        check(graph, known)
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_a_refused_batch_among_many(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    good = {"insert": [(3, 4, 1.0, "b")]}
    with pytest.raises(InputError, match="edges that are not there"):
        graph.advance_all([good, good, {"delete": [(0, 0)]}, good])
    for _ in range(2):
        known.advance(**good)
    check(graph, known)
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_a_batch_with_an_id_is_applied_once(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    batch = {"insert": [(3, 4, 1.0, "b")]}
    known.advance(**batch)
    known.advance(**batch)
    for _ in range(2):
        for _ in range(3):
            graph.advance(**batch, id="first")
            graph.advance(**batch, id=("orders", 8))
        graph.advance_all([{**batch, "id": "first"}, {**batch, "id": ("orders", 8)}])
        assert graph.applied("first")
        assert graph.applied(("orders", 7))
        check(graph, known)
        with pytest.raises(InputError, match="follows the batch 8"):
            graph.advance(**batch, id=("orders", 10))
        leave(graph)
        graph = gt.live(tmp_path / "g")
        graph.checkpoint()


def test_a_rollback_is_one_more_version(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    hops = graph.register("hops", BFS(source=0))
    graph.advance(insert=[(1, 5, 1.0, "b")], delete=[(0, 1, 1.0)])
    graph.advance(insert=[(5, 6, 1.0, "b")])
    graph.rollback()
    graph.rollback()
    known.vertices |= {5, 6}
    known.version = 4
    check(graph, known)
    check_hops(hops, known)
    with pytest.raises(InputError, match="no advance to roll back"):
        graph.rollback()
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_updates_and_vertices_that_go(tmp_path: Path) -> None:
    graph, known = begun(tmp_path / "g")
    graph.advance(
        insert=[(2, 3, 1.0, "b")],
        update=[{"src": 1, "dst": 2, "weight": 9.0}],
        delete=[(0, 1)],
    )
    known.advance([(2, 3, 1.0, "b"), (1, 2, 9.0, "c")], [(1, 2, 2.0, "c"), (0, 1, 1.0, "b")])
    check(graph, known)
    graph.advance(update=[{"src": 0, "dst": 1, "kind": "z", "weight": 1.0}], match=["weight"])
    known.advance([(0, 1, 1.0, "z")], [(0, 1, 1.0, "b")])
    check(graph, known)
    graph.advance(remove=[0])
    known.advance(delete=[row for row in known.rows if 0 in row[:2]])
    check(graph, known)
    leave(graph)
    graph = gt.live(tmp_path / "g")
    check(graph, known)
    graph.compact()
    known.vertices -= {0}
    check(graph, known)
    graph.advance(remove=[3])
    graph.advance(insert=[(3, 1, 1.0, "b")])
    known.advance(delete=[(2, 3, 1.0, "b")])
    known.advance([(3, 1, 1.0, "b")])
    graph.compact()
    check(graph, known)


def test_texts_as_ids_and_vertex_properties(tmp_path: Path) -> None:
    start = gt.Graph([], [], vertices={"id": [], "age": [], "city": []})
    graph = gt.live(tmp_path / "g", start)
    graph.advance(insert=[("ann", "bob")], vertices={"id": ["cy"], "age": [7], "city": ["Rome"]})
    graph.advance(vertices={"id": ["dan"], "age": [8]})
    with pytest.raises(InputError, match="ids of this graph are texts"):
        graph.advance(insert=[(1, 2)])
    expected = graph.vertices().to_pylist()
    assert {row["id"]: row["age"] for row in expected} == {
        "ann": None, "bob": None, "cy": 7, "dan": 8,
    }  # fmt: skip
    for stored in (False, True):
        if stored:
            graph.checkpoint()
        leave(graph)
        graph = gt.live(tmp_path / "g")
        assert graph.vertices().to_pylist() == expected
        assert graph.edges().select(["src", "dst"]).to_pylist() == [{"src": "ann", "dst": "bob"}]


def test_moments_missing_numbers_and_truth_values_come_back(tmp_path: Path) -> None:
    start = gt.Graph.from_frame(
        pa.table(
            {
                "from": [1, 2],
                "to": [2, 3],
                "at": pa.array([1, 2], pa.timestamp("us", tz="UTC")),
                "day": pa.array([1, None], pa.date32()),
                "count": pa.array([2**60 + 1, None]),
                "sure": [True, False],
            }
        ),
        src="from",
        dst="to",
    )
    graph = gt.live(tmp_path / "g", start)
    graph.advance(insert=[{"from": 3, "to": 1, "count": 5, "sure": True}])
    expected = graph.edges().to_pylist()
    for stored in (False, True):
        if stored:
            graph.checkpoint()
        leave(graph)
        graph = gt.live(tmp_path / "g", start)
        assert graph.edges().to_pylist() == expected
        graph.advance(insert=[{"from": 9, "to": 1, "count": None, "sure": True}])
        expected = graph.edges().to_pylist()
    with pytest.raises(InputError, match="other columns"):
        gt.live(tmp_path / "g", gt.Graph([1], [2])) if graph.close() is None else None


def test_what_a_live_graph_cannot_begin_with(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot begin with list"):
        gt.live(tmp_path / "graph", [(1, 2)])  # type: ignore[arg-type]
    stored, _ = begin_graph(tmp_path / "data", random.Random(1), edges=2)
    with pytest.raises(InputError, match=r"graph.to_memory\(\)"):
        gt.live(tmp_path / "graph", stored)  # type: ignore[arg-type]
    start = gt.Graph([1], [2], at=[0])
    with pytest.raises(InputError, match="time is given without keep"):
        gt.live(tmp_path / "graph", start, time="at")
    assert not (tmp_path / "graph").exists()
    with gt.live(tmp_path / "graph", start) as graph:
        assert "2 vertices, 1 edge;" in repr(graph)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is not there"):
        gt.live(tmp_path / "g")
    with pytest.raises(NotFoundError, match="is not there"):
        gt.live(tmp_path / "g", readonly=True)
    assert not (tmp_path / "g").exists()


def test_edges_expire_by_the_time_of_the_data(tmp_path: Path) -> None:
    pick = random.Random(3)
    start = gt.Graph([], [], at=np.empty(0, np.int64))
    graph = gt.live(tmp_path / "g", start, keep=10, time="at")
    rows: list[tuple[int, int, int]] = []
    latest, late = None, 0
    for step in range(60):
        come = [
            (pick.randrange(9), pick.randrange(9), step // 2 + pick.randrange(-15, 3))
            for _ in range(pick.randrange(4))
        ]
        gone = pick.sample(rows, min(len(rows), pick.randrange(2)))
        latest = max([row[2] for row in come] + ([] if latest is None else [latest]), default=None)
        for row in gone:
            rows.remove(row)
        border = -100 if latest is None else latest - 10
        late += sum(row[2] < border for row in come)
        rows = [row for row in rows + come if row[2] >= border]
        graph.advance(insert=come or None, delete=gone or None)
        found = graph.edges().select(["src", "dst", "at"]).to_pylist()
        assert Counter(tuple(row.values()) for row in found) == Counter(rows)
        assert graph.late == late
        if pick.random() < 0.2:
            leave(graph)
            graph = gt.live(tmp_path / "g", keep=10, time="at")
        elif pick.random() < 0.1:
            graph.compact()
    with pytest.raises(InputError, match="another period"):
        gt.live(tmp_path / "g", keep=11, time="at") if graph.close() is None else None


def test_edges_without_a_time_to_expire_by_are_named(tmp_path: Path) -> None:
    start = gt.Graph([1, 2, 3], [2, 3, 4], at=[7, None, 8])
    with pytest.raises(InputError, match=r"without a time in 'at'(.|\n)*row 1: no time"):
        gt.live(tmp_path / "g", start, keep=10, time="at")


def test_expiry_by_days(tmp_path: Path) -> None:
    at = np.array(["2026-01-01", "2026-01-05"], "datetime64[us]")
    graph = gt.live(tmp_path / "g", gt.Graph([1, 2], [2, 3], at=at), keep="7 days")
    graph.advance(insert={"src": [4], "dst": [5], "at": np.array(["2026-01-09"], "M8[us]")})
    assert graph.edges().column("src").to_pylist() == [2, 4]


def test_a_graph_that_runs_for_long_takes_no_more_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_store, "_FEW_GONE", 50)
    monkeypatch.setattr(live_store, "LOG_BYTES", 20_000)
    graph, known = begun(tmp_path / "g")
    sizes = []
    for at in range(300):
        batch = {
            "insert": [(at % 7, one, 1.0, "b") for one in range(10)],
            "delete": known.rows[: 10 if at else 0],
        }
        graph.advance(**given(batch))
        known.advance(**batch)
        stored = sum(path.stat().st_size for path in (tmp_path / "g").rglob("*") if path.is_file())
        sizes.append((graph._resident.edges, stored, len(graph._versions._done)))
    check(graph, known)
    for half in (sizes[:150], sizes[150:]):
        assert max(size[0] for size in half) < 1000
        assert max(size[2] for size in half) == 0
    assert max(size[1] for size in sizes[150:]) < 1.3 * max(size[1] for size in sizes[:150])


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [Triangles, Levels(root=0)], ids=["terms", "rounds"])
def test_walks_on_a_graph_that_runs_for_long_keep_nothing_to_undo(
    tmp_path: Path, program: Any
) -> None:
    """Neither logs of advances, nor copies of histories that changed."""
    graph, _ = begun(tmp_path / "g")
    live = graph.register("walks", program)
    results = live._kept.maintainer
    rows = []
    graph.advance(insert=[(one, 0, 1.0, "b") for one in range(1, 6)])
    for at in range(40):
        graph.advance(insert=[(at % 5, 7, 1.0, "b")], delete=[(at % 5, 7)] if at > 4 else None)
        assert len(results._done) == 0
        run = results._run
        rows.append(run._stored.histories.used[0] if isinstance(run, RoundsRun) else 0)
    live.verify()
    assert max(rows[20:]) <= max(rows[:20])


def test_a_rollback_takes_back_edges_that_another_one_brought_back(tmp_path: Path) -> None:
    """They have new numbers by then."""
    graph, known = begun(tmp_path / "g")
    before = known.counted()
    graph.advance(insert=[(5, 6, 1.0, "b"), (6, 5, 2.0, "c"), (1, 5, 0.5, "a")])
    graph.advance(delete=[(6, 5), (0, 1), (5, 6)])
    graph.advance(remove=[0])
    for _ in range(3):
        graph.rollback()
    assert Counter(rows_of(graph.edges())) == before
    leave(graph)
    assert Counter(rows_of(gt.live(tmp_path / "g").edges())) == before


def calls_per_batch(graph: gt.LiveGraph, count: int) -> float:
    """How many functions of the product an advance calls, of so many that are given together."""
    calls = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and "/durable/" in frame.f_code.co_filename

    batches = [{"insert": [(0, 1, 1.0)], "id": f"{count} {at}"} for at in range(count)]
    sys.setprofile(note)
    try:
        graph.advance_all(batches)
    finally:
        sys.setprofile(None)
    return calls / count


def test_many_small_advances_cost_no_more_each_than_a_few(tmp_path: Path) -> None:
    with gt.live(tmp_path / "g", gt.Graph([0], [1], weight=[1.0])) as graph:
        graph.advance_all([{"insert": [(0, 1, 1.0)], "id": "first"}])
        assert calls_per_batch(graph, 600) < 1.1 * calls_per_batch(graph, 60)


def test_rollbacks_go_as_far_as_undo_says(tmp_path: Path) -> None:
    graph, _ = begun(tmp_path / "g")
    seen = [Counter(rows_of(graph.edges()))]
    for bounds, most in ((2, 2), ("2 KB", 9), (gt.Undo(3, None), 3), (0, 0), (None, 40)):
        graph.set_undo(bounds)
        for at in range(10):
            first = graph.edges()["edge"].to_pylist()[:1]
            graph.advance(insert=[(at, at + 1, 1.0, "b")], delete=first if at % 3 else None)
            seen.append(Counter(rows_of(graph.edges())))
        before = len(seen)
        with contextlib.suppress(InputError):
            while True:
                graph.rollback()
                seen.pop()
                assert Counter(rows_of(graph.edges())) == seen[-1]
        with pytest.raises(InputError, match="there is no advance"):
            graph.rollback()
        kept = before - len(seen)
        assert 0 < kept <= most or most == 0 == kept
    assert Counter(rows_of(graph.edges())) == seen[-1]


def test_batches_that_are_given_together_keep_little_to_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They go to the disk before what undoes them in memory is too much."""
    monkeypatch.setattr(writer, "GROUP_UNDO_BYTES", 4_000)
    graph, _ = begun(tmp_path / "g")
    graph.register("hops", BFS(source=0))
    kept: list[int] = []
    graph._writer.applied = lambda version: kept.append(graph._versions.undo_bytes)  # type: ignore[union-attr]
    graph.advance_all({"insert": [(at, at + 1, 1.0, "b")]} for at in range(60))
    assert graph.version == 60
    assert 3_000 < max(kept) < 6_000
    edges = Counter(rows_of(graph.edges()))
    leave(graph)
    assert Counter(rows_of(gt.live(tmp_path / "g").edges())) == edges
