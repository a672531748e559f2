"""Graphs that change while the page is open: facts, tables, events, operators, pace."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.model.errors import GraphtideError, InputError, NotFoundError, UnseenVertexWarning
from graphtide.run.memory_graph import KEPT, SECONDS, Pace
from graphtide.web import live
from graphtide.web.shelf import Shelf

ODD = "<script>alert(1)</script>"
LONG = 60


@pytest.fixture
def session(tmp_path: Path) -> gt.Session:
    return gt.session(tmp_path, progress=False)


def begin(session: gt.Session, name: str = "net") -> gt.LiveGraph:
    graph = session.live(name, gt.Graph(["a", "b", ODD], ["b", "c", "a"]))
    graph.register("parts", gt.algorithms.WCC)
    graph.query("way", gt.queries.Path("a", "c"))
    return graph


def news(events: Iterator[dict[str, Any] | None]) -> dict[str, Any]:
    """The next event that has something."""
    return next(item for item in events if item is not None)


def test_a_graph_in_memory_shows_its_programs_and_queries() -> None:
    graph = gt.Graph(["a", "b", ODD], ["b", "c", "a"])
    first, second = graph.maintain(gt.algorithms.WCC), graph.maintain(gt.algorithms.WCC)
    shelf = Shelf()
    assert shelf.put(graph, "mine") == ["live", "mine"]
    told = live.live(shelf, "mine", {})
    assert (told["vertices"], told["edges"], told["version"]) == (4, 3, 0)
    assert told["folder"] is told["log"] is told["checkpoint"] is None
    assert told["writable"]
    assert [item["name"] for item in told["programs"]] == ["WCC", "WCC-2"]
    assert told["queries"] == []
    assert told["budget"] == {"bytes": None, "used": 0}
    assert graph._asked is None  # Looking has not begun to keep queries.
    with pytest.warns(UnseenVertexWarning):
        graph.query("way", gt.queries.Path("a", "nowhere"))
    told = live.live(shelf, "mine", {})
    (query,) = told["queries"]
    assert query["waits"]
    assert told["budget"]["used"] > 0
    graph.advance(insert=[("c", "d")])
    table = live.program(shelf, "mine", "WCC", {})
    assert ODD in table.column("id").to_pylist()
    changed = live.changes(shelf, "mine", "WCC-2", {})
    assert changed.column("id").to_pylist() == ["d"]
    assert live.query(shelf, "mine", "way", {}).num_rows == 1
    with pytest.raises(NotFoundError, match="there is no program"):
        live.program(shelf, "mine", ODD, {})
    with pytest.raises(NotFoundError, match="there is no program or query"):
        live.query(shelf, "mine", "../way", {})
    with pytest.raises(InputError, match="has no operators"):
        live.operators(shelf, "mine", "WCC", {})
    assert len({id(first), id(second)}) == 2


def test_a_live_graph_of_the_catalog_is_read_and_not_taken(session: gt.Session) -> None:
    with begin(session) as graph:
        other = Shelf(gt.session(session.catalog.root, progress=False))
        told = live.live(other, "net", {})
        assert not told["writable"]
        assert told["folder"] == str(graph.folder)
        assert told["log"]["records"] == 2
        assert told["log"]["bytes"] > 0
        assert told["checkpoint"]["version"] == 0
        assert [item["name"] for item in told["programs"]] == ["parts"]
        assert [item["name"] for item in told["queries"]] == ["way"]
        graph.advance(insert=[("c", "x")])
        told = live.live(other, "net", {})
        assert told["version"] == 1
        assert told["pace"]["advances"] == 1
        assert told["pace"]["p50"] is None
        assert told["pace"]["longest"] == []
        graph.checkpoint()
        told = live.live(other, "net", {})
        assert told["log"]["records"] == 0
        assert told["checkpoint"]["version"] == 1
        assert live.changes(other, "net", "parts", {}).num_rows == 1
        graph.advance(insert=[("c", "y")])  # Nobody else has taken it.


def test_who_writes_in_this_session_is_looked_at_as_it_is(session: gt.Session) -> None:
    with begin(session) as graph:
        shelf = Shelf(session)
        graph.advance(insert=[("c", "x")])
        told = live.live(shelf, "net", {})
        assert told["writable"]
        assert told["pace"]["advances"] == 1
        assert told["pace"]["p50"] > 0
        assert session.live("net") is graph
        assert graph.writable


def test_events_follow_a_graph_in_memory() -> None:
    graph = gt.Graph([1, 2], [2, 3])
    shelf = Shelf()
    shelf.put(graph, "mine")
    events = live.live_events(shelf, "mine")
    assert news(events)["version"] == 0
    fed = threading.Thread(target=lambda: graph.advance(insert=[(3, 4), (4, 5)]))
    fed.start()
    told = news(events)
    fed.join()
    assert told["version"] == 1
    assert told["pace"]["advances"] == 1
    assert sum(told["pace"]["rows"]) == 2
    program = graph.maintain(gt.algorithms.WCC)
    assert [item["name"] for item in news(events)["programs"]] == ["WCC"]
    del program
    assert news(events)["programs"] == []
    assert any(item is None for _, item in zip(range(6), events, strict=False))


def test_events_of_another_writers_graph_and_its_end(session: gt.Session) -> None:
    graph = begin(session)
    shelf = Shelf(gt.session(session.catalog.root, progress=False))
    events = live.live_events(shelf, "net")
    assert news(events)["version"] == 0
    for number in range(3):
        graph.advance(insert=[("c", f"x{number}")])
        assert news(events)["version"] == number + 1
    graph.close()
    session.delete_graph("net")
    with pytest.raises(GraphtideError):
        list(zip(range(100), events, strict=False))


def test_events_end_where_the_graph_is_closed(session: gt.Session) -> None:
    graph = begin(session)
    shelf = Shelf()
    shelf.put(graph, "mine")
    events = live.live_events(shelf, "mine")
    assert news(events)["version"] == 0
    graph.close()
    with pytest.raises(InputError, match="was closed"):
        list(zip(range(100), events, strict=False))
    with pytest.raises(InputError, match="was closed"):
        live.live(shelf, "mine", {})


def _feed(root: str, count: int, begun: Any, go_on: Any) -> None:
    with gt.session(root, progress=False).live("net") as graph:
        begun.set()
        assert go_on.wait(LONG)
        for number in range(count):
            graph.advance(insert=[("c", f"x{number}")])


def test_events_while_another_process_feeds(session: gt.Session) -> None:
    begin(session).close()
    context = multiprocessing.get_context("spawn")
    begun, go_on = context.Event(), context.Event()
    other = context.Process(target=_feed, args=(str(session.catalog.root), 40, begun, go_on))
    other.start()
    try:
        assert begun.wait(LONG)
        events = live.live_events(Shelf(session), "net")
        versions = [news(events)["version"]]
        go_on.set()
        while versions[-1] < 40:
            told = news(events)
            versions.append(told["version"])
        assert versions == sorted(set(versions))
        assert told["pace"]["advances"] == 40
        assert told["edges"] == 43
    finally:
        go_on.set()
        other.join(LONG)


@gt.dataflow.program("fans", int, missing=0)
def fans(edges: Any) -> Any:
    """How many edges come to each vertex."""
    return edges.count(by="dst")


def test_operators_of_a_dataflow_and_of_rules() -> None:
    graph = gt.Graph([1, 2, 3], [2, 3, 1])
    rules = gt.datalog("""
        .decl edge(a: vertex, b: vertex)
        .decl reach(a: vertex, b: vertex)
        .output reach
        reach(a, b) :- edge(a, b).
        reach(a, c) :- reach(a, b), edge(b, c).
    """)
    held = graph.maintain(fans()), graph.maintain(rules)
    shelf = Shelf()
    shelf.put(graph, "mine")
    names = [item["name"] for item in live.live(shelf, "mine", {})["programs"]]
    assert all(item["dataflow"] for item in live.live(shelf, "mine", {})["programs"])
    graph.advance(insert=[(1, 3)])
    for name in names:
        told = live.operators(shelf, "mine", name, {})
        kinds = {item["kind"] for item in told["operators"]}
        assert {"input", "output"} <= kinds
        assert any(item["rows"] > 0 for item in told["operators"])
        assert sum(item["seconds"] for item in told["operators"]) > 0
        known = {item["id"] for item in told["operators"]}
        assert {end for edge in told["edges"] for end in edge} <= known
    loops = {item["id"] for item in told["loops"]}
    assert loops
    assert {item["loop"] for item in told["operators"]} <= {None, *loops}
    assert live.program(shelf, "mine", names[-1], {}).num_rows == 9
    assert len(held) == 2


def test_the_pace_adds_up_whatever_is_forgotten() -> None:
    pace, took = Pace(), list[float]()
    graph = gt.Graph([0], [1])
    shelf = Shelf()
    shelf.put(graph, "mine")
    for number in range(3 * KEPT):
        pace.note(0.0, number % 3)
        took.append(pace.entries[-1][0])
    told = pace.told()
    assert told["advances"] == 3 * KEPT
    assert KEPT <= len(pace.entries) < 2 * KEPT
    assert len(told["rows"]) == len(told["longest"]) == SECONDS
    assert sum(told["rows"]) == sum(number % 3 for number in range(3 * KEPT))
    assert told["p50"] == pytest.approx(1e3 * np.percentile(took[-KEPT:], 50), rel=1e-3)
    assert max(told["longest"]) == pytest.approx(1e3 * max(took), rel=1e-3)
    entries = len(pace.entries)
    pace.promised(2)
    assert len(pace.entries) == entries
    assert Pace().told() == {
        **dict.fromkeys(("p50", "p90", "p99")),
        "advances": 0,
        "rows_a_second": 0.0,
        "rows": [0] * SECONDS,
        "longest": [0.0] * SECONDS,
    }


def test_an_advance_that_is_refused_is_none() -> None:
    graph = gt.Graph([1, 2], [2, 3])
    with pytest.raises(InputError):
        graph.advance(delete=[(7, 8)])
    assert graph._pace.told()["advances"] == 0
    graph.advance(insert=[(7, 8)], delete=[(1, 2)])
    assert sum(graph._pace.told()["rows"]) == 2
