"""Collections of graphs that change: as they were made, and brought up to date."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import InputError, StoreError
from graphtide.run.append import append
from graphtide.run.catalog import refresh
from tests.changing import begin_graph, check_views, make_views, random_append
from tests.oracle.changing_graph import ChangingGraph, Row

SEEDS = range(3 if "GRAPHTIDE_CAMPAIGN" not in os.environ else 100)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_refreshed_collection_is_the_one_that_would_be_made_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """And until then it is the one that was made."""
    pick = random.Random(seed)
    monkeypatch.setattr(append, "is_merge_due", lambda stored: pick.random() < 0.2)
    monkeypatch.setattr(refresh, "_DRIFT", pick.choice([0.0, 10.0]))
    graph, known = begin_graph(tmp_path, pick, edges=25)
    collection = make_views(graph, "c")
    check_views(collection, known)
    for _ in range(5):
        then, numbering = ChangingGraph(known.vertices, known.edges), graph._stored.generation
        for _ in range(pick.randrange(1, 3)):
            change = random_append(pick, known)
            graph.append(**change)
            known.append(**change)
        if _can_be_read(collection):
            check_views(collection, then)
        else:
            assert numbering is not graph._stored.generation
            collection = make_views(graph, "c")
        assert collection.refresh() in ("brought up to date", "up to date")
        assert collection.stale == 0
        check_views(collection, known)
        check_views(gt.session(tmp_path, progress=False).collection("c"), known)


def _can_be_read(collection: gt.Collection) -> bool:
    if "a merge has replaced rows of then" not in collection.explain():
        collection.check()
        return True
    with pytest.raises(StoreError, match="a merge has replaced rows of then"):
        collection.check()
    return False


def test_runs_of_an_older_state_keep_their_meaning(tmp_path: Path) -> None:
    pick = random.Random(5)
    graph, known = begin_graph(tmp_path, pick, listed=False)
    collection = make_views(graph, "c", ["early", "calls"])
    run = collection.run(WCC, name="r")
    before = run.to_arrow()
    graph.append([(1, 40, 2000, "call"), (40, 2, 2000, "call")], delete=[known.edges[0]])
    again = gt.session(tmp_path, progress=False).results("r")
    assert again.to_arrow() == before
    assert collection.stale == 1
    graph.merge(renumber=True)
    assert gt.session(tmp_path, progress=False).results("r").to_arrow() == before


def test_an_extended_plan_is_right_whatever_its_shape(tmp_path: Path) -> None:
    """Edges only come: parts are shared, classes are added, and the plan keeps its tree."""
    pick = random.Random(6)
    graph, known = begin_graph(tmp_path, pick, edges=3)
    collection = make_views(graph, "c")
    steps = [step.parent for step in collection.plan.steps]
    rows = [
        {"src": a, "dst": b, "year": y, "kind": k}
        for a in (1, 2)
        for b in (3, 4)
        for y in (2000, 2003)
        for k in ("call", "mail")
    ]
    graph.append(rows)
    known.append(rows)
    assert collection.refresh() == "brought up to date"
    check_views(collection, known)
    totals = collection.plan.totals
    assert collection.differences >= totals.tree_bound
    assert len(steps) <= len(collection.plan.steps)


WINDOWS: dict[str, Callable[[str, int], bool]] = {
    "expanding windows over year from 1999 width 2 step 1": (
        lambda view, year: 1999 <= year < int(view.removeprefix("until-"))
    ),
    "expanding windows over year from 2001 width 3 drop partial": (
        lambda view, year: 2001 <= year < int(view.removeprefix("until-"))
    ),
    "tumbling windows over year from 2000 width 1": lambda view, year: year == int(view),
    "tumbling windows over year from 2000 width 1 drop empty": lambda view, year: year == int(view),
    "sliding windows over year from 1999 width 4 step 2": (
        lambda view, year: int(view.split("..")[0]) <= year < int(view.split("..")[1])
    ),
    "tumbling windows over year from 2000 width 2 cross ([calls: kind = 'call'], [all: true])": (
        lambda view, year: 0 <= year - int(view.split(" * ")[0]) < 2
    ),
}


@pytest.mark.parametrize("text", WINDOWS)
@pytest.mark.parametrize("seed", range(len(SEEDS) // 3))
def test_windows_are_extended_by_what_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, text: str
) -> None:
    """New windows are found among all edges; nothing is made again, and no Spark is there."""
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    pick = random.Random(f"{seed} {text}")
    graph, known = begin_graph(tmp_path, pick, listed=False, edges=25)

    def last_edge(year: int) -> list[Row]:
        """An edge that is never deleted, so that windows never become fewer."""
        return [{"src": 90, "dst": 91, "year": year, "kind": "call"}]

    graph.append(last_edge(2003))
    known.append(last_edge(2003))
    collection = make_views(graph, "c", text)
    last, views = 2003, list(collection.names)
    for _ in range(4):
        last += pick.randrange(3)
        others = ChangingGraph(known.vertices, [row for row in known.edges if row["src"] != 90])
        change = random_append(pick, others)
        change["edges"] = [*change.get("edges", ()), *last_edge(last)]
        graph.append(**change)
        known.append(**change)
        assert collection.refresh().startswith("brought up to date")
        fresh = make_views(graph, "fresh", text)
        assert collection.names == fresh.names
        assert collection.unviewed == fresh.unviewed
        for view in collection:
            wanted = [
                row
                for row in known.edges
                if row["year"] is not None and WINDOWS[text](view.name, row["year"])
                if not (view.name.endswith("calls") and row["kind"] != "call")
            ]
            assert view.to_arrow().to_pylist() == wanted, view.name
        list(collection.plan.versions())
    assert len(collection) >= len(views)


def test_a_day_that_comes_is_a_window_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    graph, _ = begin_graph(tmp_path, random.Random(1), edges=0)
    graph.append([(1, 2, 2000, "call"), (2, 3, 2001, None)])
    collection = make_views(graph, "c", "expanding windows over year width 1")
    files = [name for name, _ in collection._stored.generation.parts("edges")]
    assert collection.names == ["until-2001", "until-2002"]
    graph.append([(3, 4, 2002, "call"), (4, 5, 2003, None), (5, 6, None, None)])
    assert collection.refresh() == "brought up to date with 2 new views"
    assert [len(view) for view in collection] == [1, 2, 3, 4]
    assert collection.unviewed == {"year is missing": 1}
    now = [name for name, _ in collection._stored.generation.parts("edges")]
    assert set(files) < set(now), "what was there is not written again"
    run = collection.run(WCC, workers=1)
    assert run.summary()["vertices"].to_pylist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "before", "after", "unviewed"),
    [
        # One class of edges, of which the window that comes holds a part.
        (
            "[all: true], tumbling windows over year from 2000 width 4 drop partial",
            {"all": [1999, 2000, 2002, None]},
            {"all": [1999, 2000, 2002, None, 2003], "2000": [2000, 2002, 2003]},
            {},
        ),
        # Edges that were in no view, because their window was partial.
        (
            "[old: year < 2000], tumbling windows over year from 2000 width 4 drop partial",
            {"old": [1999]},
            {"old": [1999], "2000": [2000, 2002, 2003]},
            {"year is missing": 1},
        ),
    ],
)
def test_a_window_that_is_whole_now_has_edges_of_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    before: dict[str, list[int | None]],
    after: dict[str, list[int | None]],
    unviewed: dict[str, int],
) -> None:
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    graph, _ = begin_graph(tmp_path, random.Random(1), edges=0)
    graph.append([(1, 2, year, None) for year in (1999, 2000, 2002, None)])
    collection = make_views(graph, "c", text)

    def years() -> dict[str, list[int | None]]:
        return {view.name: view.to_arrow()["year"].to_pylist() for view in collection}

    assert years() == before
    graph.append([(1, 2, 2003, None)])
    assert collection.refresh() == "brought up to date with 1 new view"
    assert years() == after
    assert collection.unviewed == unviewed


def test_a_listing_tells_what_is_stale(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(8))
    collection = make_views(graph, "c")
    session = gt.session(tmp_path, progress=False)
    (answer,) = session.execute("show collections;")
    assert answer.table is not None
    assert "state" not in answer.table.column_names
    assert "which is up to date" in collection.explain()
    graph.append(known.edges[:1])
    (answer,) = session.execute("show collections;")
    assert answer.table is not None
    assert answer.table.column("state").to_pylist() == ["stale"]
    assert "1 append behind: refresh it" in collection.explain()
    (shown,) = session.execute("show collection c;")
    assert shown.notes == (
        "made from generation g-000001 of the graph 'g', 1 append behind: refresh it to see them",
    )
    (refreshed,) = session.execute("refresh collection c;")
    assert refreshed.notes == ("brought up to date",)
    with pytest.raises(InputError, match="'c' is a collection"):
        session.execute("refresh view c;")
