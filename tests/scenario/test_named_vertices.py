"""Results that name a vertex, wherever users see them: the ids that they gave, of any kind."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import SCC, WCC
from graphtide.model.errors import InputError

pytestmark = pytest.mark.interpreted

KINDS: dict[str, list[Any]] = {
    "texts": ["ann", "bob", "cem", "dan", "eve"],
    "numbers": [10, 2**53 + 1, -7, 30, 40],
    "large": [2**63, 2**63 + 1, 5, 6, 7],
    "mixed": ["ann", 2, "cem", 4.5, 6],
    "tuples": [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10)],
}


@gt.program
class Parents:
    """A tree of shortest ways from the source: from which vertex each was first reached."""

    source: gt.Vertex
    hops: int = 1000
    parent: int = -1
    best = gt.Min(int)
    before = gt.Min(int)

    def initialize(self, v):
        v.hops = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(u.hops + 1)
        if u.hops + 1 < v.hops:
            v.before(u.id)

    def update(self, v):
        if v.best < v.hops:
            v.parent = v.before
        v.hops = min(v.hops, v.best)


@gt.program
class Ends:
    """The least and the greatest neighbour of each vertex, in an array."""

    ends = gt.State(int, size=2)
    least = gt.Min(int)
    greatest = gt.Max(int)
    last = gt.Global(gt.Max(int))

    def initialize(self, v):
        for k in range(2):
            v.ends[k] = -1

    def traverse(self, u):
        for w in u.neighbours:
            u.least(w.id)
            u.greatest(w.id)
            self.last(w.id)

    def update(self, v):
        v.ends[0] = v.least
        v.ends[1] = v.greatest


@gt.dataflow.program("least", gt.Vertex, missing=-1)
def LeastSource(edges: Any) -> Any:
    """From which first vertex edges lead to each."""
    return edges.map(node=gt.dataflow.col.dst, least=gt.dataflow.col.src).min(by="node")


def graph_of(ids: list[Any]) -> gt.Graph:
    """first -> second -> first, third -> second, fourth -> fifth."""
    a, b, c, d, e = ids
    return gt.Graph([a, b, c, d], [b, a, b, e], vertices=ids)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_every_kind_on_a_graph(kind: str) -> None:
    ids = KINDS[kind]
    graph = graph_of(ids)
    shown = graph.vertices().column("id")
    for live in (graph.maintain(WCC), graph.run(WCC)):
        named = [ids[at] for at in (0, 0, 0, 3, 3)]
        table = live.table()
        assert table.column("component").type == shown.type
        assert table.column("component") == shown.take(pa.array([0, 0, 0, 3, 3]))
        assert list(live["component"]) == named
        assert live.at(ids[2]) == {"component": ids[0]}
        assert graph.number(live.at(ids[4])["component"]) == 3
    if kind in ("numbers", "large"):
        assert live["component"].dtype == (np.int64 if kind == "numbers" else np.uint64)
    walk = graph.run(Ends)
    assert (
        walk.table().column("ends").combine_chunks().flatten().to_pylist()
        == shown.take(pa.array([1, 1, 0, 2, 1, 1, 4, 4, 3, 3])).to_pylist()
    )
    assert [list(pair) for pair in walk["ends"]] == [
        [ids[at] for at in pair] for pair in ((1, 1), (0, 2), (1, 1), (4, 4), (3, 3))
    ]
    assert walk["last"] == ids[4]


def test_nobody_is_null() -> None:
    ids = KINDS["texts"]
    graph = graph_of(ids)
    live = graph.maintain(Parents(source="cem"))
    assert live.table().column("parent").to_pylist() == ["bob", "cem", None, None, None]
    assert live["parent"].tolist() == ["bob", "cem", None, None, None]
    assert live.at("dan") == {"hops": 1000, "parent": None}
    changes = live.advance(insert=[("ann", "new"), ("ann", "dan")], delete=[("cem", "bob")])
    rows = {row["id"]: (row["old_parent"], row["new_parent"]) for row in changes.to_pylist()}
    assert rows == {"ann": ("bob", None), "bob": ("cem", None), "new": (None, None)}
    live.verify()
    whole = graph_of([1, 2, 3, 4, 5]).run(Parents(source=3))
    assert whole["parent"].tolist() == [2, 3, None, None, None]
    assert whole.table().schema.field("parent").type == pa.int64()
    assert gt.Graph([], []).run(WCC).table().num_rows == 0


def test_dataflows_say_so() -> None:
    graph = graph_of(KINDS["texts"])
    assert graph.run(LeastSource).table().column("least").to_pylist() == [
        *("bob", "ann", None, None, "dan")
    ]
    assert graph.run(SCC)["component"].tolist() == ["ann", "ann", "cem", "dan", "eve"]
    with pytest.raises(InputError, match="cannot be of type"):
        gt.dataflow.program("least", str)


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_every_table_of_a_run_over_versions(kind: str, tmp_path: Path) -> None:
    ids = KINDS[kind]
    run = graph_of(ids).run(WCC, {"all": [0, 1, 2, 3], "few": [2, 3], "none": []})
    a, b, c, d, _ = ids
    assert run.values("few").tolist() == [a, b, b, d, d]
    assert run.table("few").column("component").to_pylist() == [a, b, b, d, d]
    assert run.changes("all", "few").to_pylist() == [
        {"id": b, "old": a, "new": b},
        {"id": c, "old": a, "new": b},
    ]
    assert run.history(c).column("component").to_pylist() == [a, b, c]
    told = [row for row in run.differences().to_pylist() if row["id"] == c]
    assert {(row["old"], row["new"]) for row in told} <= {
        (one, other) for one in ids for other in ids
    }
    tidy = run.to_arrow()
    assert tidy.column("component").type == tidy.column("id").type
    assert tidy.column("component").to_pylist() == [a, a, a, d, d, a, b, b, d, d, *ids]
    assert run.to_pandas()["component"].tolist() == tidy.column("component").to_pylist()
    rows = list(csv.DictReader(run.to_csv(tmp_path / "all.csv").open()))
    assert [row["component"] for row in rows] == [
        str(item) for item in tidy.column("component").to_pylist()
    ]
    assert run.summary().column("components").to_pylist() == [2, 3, 5]
    assert run.components("all").to_pylist() == [{"id": a, "size": 3}, {"id": d, "size": 2}]
    assert run.losses("all").column("cut_off").to_pylist() == [3, 1]
    with pytest.raises(InputError, match="names components"):
        run.top()


def test_runs_whose_results_name_other_vertices(tmp_path: Path) -> None:
    graph = graph_of(KINDS["texts"])
    run = graph.run(Parents(source="cem"), {"all": [0, 1, 2, 3], "few": [2, 3]})
    assert run.summary().column("parent_named").to_pylist() == [2, 1]
    assert run.losses("all", field="parent").to_pylist() == [
        {"view": "few", "edges_lost": 2, "changed": 1}
    ]
    with pytest.raises(InputError, match="names vertices, which have no order"):
        run.top(field="parent")
    assert run.to_arrow().column("parent").to_pylist() == [
        *("bob", "cem", None, None, None),
        *(None, "cem", None, None, None),
    ]
    run.picture(tmp_path / "parents.png", field="parent")
    whole = graph.run(Ends, {"all": [0, 1, 2, 3], "few": [2], "none": []})
    assert whole.globals().column("last").to_pylist() == ["eve", "cem", None]
    assert whole.summary().column("last").to_pylist() == ["eve", "cem", None]
    assert whole.to_arrow().column("ends")[0].as_py() == ["bob", "bob"]
    whole.picture(tmp_path / "ends.png")
    with pytest.raises(InputError, match="names a vertex in each view"):
        whole.picture(field="last")


def test_changes_that_are_held_keep_their_ids_when_numbers_go_to_others() -> None:
    graph = graph_of(KINDS["texts"])
    live = graph.maintain(WCC)
    first = live.advance(insert=[("new", "cem")])
    second = live.advance(insert=[("newer", "new")])
    third = live.advance(delete=[("cem", "bob")])
    for _ in range(3):
        graph.rollback()
    live.advance(insert=[("other", "another"), ("others", "another")])
    assert first.to_pylist() == [{"id": "new", "old": None, "new": "ann"}]
    assert second.to_pylist() == [{"id": "newer", "old": None, "new": "ann"}]
    assert third.to_pylist() == [
        {"id": name, "old": "ann", "new": "cem"} for name in ("cem", "new", "newer")
    ]


def test_a_number_beside_others_stays_a_number_and_is_told() -> None:
    @gt.program
    class Places:
        place: int
        mixed: int
        found = gt.Min(int)

        def initialize(self, v):
            v.place = v.id + 0
            v.mixed = v.id if v.degree > 0 else 0

        def traverse(self, u, e, v):
            v.found(u.id)

        def update(self, v):
            v.mixed = min(v.mixed, v.found)

    live = graph_of(KINDS["texts"]).maintain(Places)
    assert live["place"].tolist() == [0, 1, 2, 3, 4]
    assert live.table().schema.field("mixed").type == pa.int64()
    assert "mixed holds other numbers beside those of vertices" in live.explain()


def test_changes_of_the_whole_graph_keep_their_ids() -> None:
    graph = graph_of(KINDS["texts"])
    live = graph.maintain(Ends)
    changes = live.advance(insert=[("eve", "new")])
    assert changes.globals == {"last": ("eve", "new")}
    held = live.advance(delete=[("eve", "new")])
    graph.rollback()
    graph.rollback()
    graph.advance(insert=[("other", "another")])
    assert held.globals == {"last": ("new", "eve")}
