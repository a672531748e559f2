"""Batches of a live graph that do everything at once, beside plain lists of edges and vertices."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import property_column

pytestmark = pytest.mark.interpreted

Edge = tuple[str, str, float, str | None, int]
NAMES = ("src", "dst", "cost", "kind", "at")
TYPES = (pa.string(), pa.string(), pa.float64(), pa.string(), pa.int64())
IDS = ["a", "b", "1", "01", "é", "e\u0301", "-0", "0"]
KEEP = 9


def table(edges: list[Edge], names: tuple[str, ...] = NAMES) -> pa.Table:
    """Edges as a graph takes them."""
    columns = {
        name: pa.array([edge[at] for edge in edges], TYPES[at]) for at, name in enumerate(NAMES)
    }
    return pa.table({name: columns[name] for name in names})


class Plain:
    """What the graph must be: edges, vertices with their values, and who leaves with the next
    compaction."""

    def __init__(self, pick: random.Random) -> None:
        self.pick, self.latest = pick, 0
        self.vertices: dict[str, int | None] = dict.fromkeys(IDS[:4])
        self.edges: list[Edge] = [("a", "b", 1.0, "x", 0)]
        self.leaving: set[str] = set()
        self.undoable: list[tuple[list[Edge], dict[str, int | None], set[str]]] = []

    def edge(self) -> Edge:
        pick = self.pick
        at = max(0, self.latest + pick.randrange(-KEEP - 2, 4))
        kind = pick.choice(["x", "y", None])
        return pick.choice(IDS), pick.choice(IDS), float(pick.randrange(4)), kind, at

    def batch(self, keep: int | None) -> dict[str, Any]:
        """A random batch; from now on the graph has taken it."""
        pick = self.pick
        self.undoable.append((self.edges, dict(self.vertices), set(self.leaving)))
        removed = pick.sample(sorted(self.vertices), pick.random() < 0.3)
        rest = pick.sample(self.edges, len(self.edges))
        deleted = [rest.pop() for _ in range(min(len(rest), pick.randrange(3)))]
        rest = [edge for edge in rest if not {*edge[:2]} & {*removed}]
        before, after = self._updates(rest)
        come = [self.edge() for _ in range(pick.randrange(4))]
        values = {pick.choice(IDS): pick.randrange(9) for _ in range(pick.randrange(2))}
        given = {
            "delete": table(deleted) if deleted else None,
            "update": table(after) if after else None,
            "match": ("kind", "at") if after else (),
            "remove": removed or None,
            "vertices": {"id": [*values], "limit": [*values.values()]} if values else None,
        }
        if come and keep is None and pick.random() < 0.5:
            come = [(*edge[:3], None, edge[4]) for edge in come]
            given["insert"] = table(come, ("src", "dst", "cost", "at"))
        elif come:
            given["insert"] = table(come)
        rest = [edge for edge in rest if edge not in before]
        self._take(rest, [*after, *come], keep)
        self.leaving |= {*removed}
        self._name(values)
        return given

    def _updates(self, rest: list[Edge]) -> tuple[list[Edge], list[Edge]]:
        """Edges that what names them tells from all others, and what becomes of them."""
        known = Counter((*edge[:2], *edge[3:]) for edge in self.edges)
        alone = [edge for edge in rest if known[(*edge[:2], *edge[3:])] == 1]
        before = alone[: self.pick.randrange(3)]
        return before, [(*edge[:2], self.pick.randrange(4) + 10.0, *edge[3:]) for edge in before]

    def _take(self, rest: list[Edge], come: list[Edge], keep: int | None) -> None:
        if keep is not None:
            self.latest = max([self.latest, *(edge[4] for edge in come)])
            border = self.latest - keep
            rest, come = ([edge for edge in some if edge[4] >= border] for some in (rest, come))
        self.edges, self.come = rest + come, come

    def _name(self, values: dict[str, int]) -> None:
        """Vertices that rows name come, or come back."""
        named = {end for edge in self.come for end in edge[:2]}
        self.vertices = {**dict.fromkeys(named), **self.vertices, **values}
        self.leaving -= named | {*values}

    def rollback(self) -> None:
        """Vertices that had come are to leave."""
        now = self.vertices
        self.edges, self.vertices, self.leaving = self.undoable.pop()
        self.leaving = self.leaving | {*now} - {*self.vertices}
        self.vertices = {**now, **self.vertices}

    def compact(self) -> None:
        self.undoable.clear()
        for vertex in self.leaving:
            del self.vertices[vertex]
        self.leaving = set()


def check(graph: gt.LiveGraph, plain: Plain) -> None:
    """The edges and the vertices with their values."""
    found = Counter(tuple(row[name] for name in NAMES) for row in graph.edges().to_pylist())
    assert found == Counter(plain.edges)
    limits = {row["id"]: row["limit"] for row in graph.vertices().to_pylist()}
    assert limits == plain.vertices


@pytest.mark.parametrize("seed", range(4))
def test_one_batch_does_everything(tmp_path: Path, seed: int) -> None:
    """Rows come, go, change and expire, vertices leave, return and get other values."""
    pick = random.Random(seed)
    plain, keep = Plain(pick), pick.choice([None, KEEP])
    vertices = {"id": IDS[:4], "limit": pa.array([None] * 4, pa.int64())}
    start = gt.Graph.from_frame(table(plain.edges), vertices=vertices)
    graph = gt.live(tmp_path / "g", start, keep=keep, time=keep and "at")
    for _ in range(30):
        act = pick.choices(["advance", "rollback", "compact", "start"], [20, 5, 3, 1])[0]
        if act == "advance":
            graph.advance(**plain.batch(keep))
        elif act == "rollback" and plain.undoable:
            plain.rollback()
            graph.rollback()
        elif act == "compact":
            plain.compact()
            graph.compact()
        elif act == "start":
            plain.undoable.clear()
            graph.close()
            graph = gt.live(tmp_path / "g")
        check(graph, plain)
    check(gt.live(tmp_path / "g", readonly=True), plain)
    graph.close()


def small(folder: Path) -> gt.LiveGraph:
    """Two ways from a to b, and one on to c."""
    limits = {"id": ["a", "b", "c"], "limit": [1, 2, 3]}
    kinds = ["x", "y", "z"]
    return gt.live(
        folder, gt.Graph([*"aab"], [*"bbc"], vertices=limits, cost=[0.0, 2.0, 3.0], kind=kinds)
    )


def test_an_update_beside_rows_without_texts_keeps_those_of_its_edges(tmp_path: Path) -> None:
    graph = small(tmp_path / "g")
    graph.advance(insert=[("c", "a", 1.0)], update=[{"src": "b", "dst": "c", "cost": 5.0}])
    assert [row["kind"] for row in graph.edges().to_pylist()] == ["x", "y", None, "z"]
    with pytest.raises(InputError, match="no value for the property 'cost'"):
        graph.advance(insert=[("c", "a")], update=[{"src": "b", "dst": "c", "cost": 5.0}])


def test_no_edge_gets_other_values_and_is_taken_out(tmp_path: Path) -> None:
    graph = small(tmp_path / "g")
    changed = {"src": "b", "dst": "c", "cost": 5.0}
    for other in ({"delete": [("b", "c")]}, {"delete": [2]}, {"remove": ["c"]}):
        with pytest.raises(InputError, match="rows of `update` are edges"):
            graph.advance(update=[changed], **other)
    graph.advance(update=[changed], delete=[0], remove=["a"])
    assert graph.edges().to_pylist() == [
        {"edge": 3, "src": "b", "dst": "c", "cost": 5.0, "kind": "z"}
    ]


def test_vertices_that_a_rollback_takes_away_leave(tmp_path: Path) -> None:
    """One that had left leaves again, and so does one that was new; one that comes back stays."""
    graph = small(tmp_path / "g")
    graph.advance(remove=["c"])
    graph.advance(insert=[("a", "c", 1.0), ("a", "new", 1.0)])
    graph.rollback()
    graph.advance(remove=["b"], vertices={"id": ["b"], "limit": [7]})
    graph.compact()
    assert graph.vertices().to_pydict() == {"id": ["a", "b"], "limit": [1, 7]}


def test_rows_find_edges_by_equal_numbers_alone(tmp_path: Path) -> None:
    graph = small(tmp_path / "g")
    row = {"src": "a", "dst": "b", "cost": -0.0, "kind": "x"}
    graph.advance(delete=[row])
    assert len(graph.edges()) == 2
    large = gt.Graph([0, 0], [1, 1], count=pa.array([2**60 + 1, None]), cost=[2.0**53, 1.0])
    with pytest.raises(InputError, match="not there"):
        large.advance(delete={"src": [0], "dst": [1], "count": [2**60]})
    with pytest.raises(InputError, match="not there"):
        large.advance(delete={"src": [0], "dst": [1], "cost": [2**53 + 1]})
    live = gt.live(tmp_path / "large", large)
    with pytest.raises(InputError, match="not there"):
        live.advance(delete={"src": [0], "dst": [1], "count": [2**60]})
    live.advance(delete={"src": [0], "dst": [1], "count": [2**60 + 1]})
    assert live.edges()["count"].to_pylist() == [None]


def test_large_times_expire_to_the_last_digit(tmp_path: Path) -> None:
    """Nanoseconds are beyond what floats tell apart."""
    times = [2**60 - 1001, 2**60 - 1000, -(2**63) + 1]
    start = gt.Graph([0, 1, 2], [1, 2, 3], at=times[2:] * 3)
    graph = gt.live(tmp_path / "g", start, keep=1000.5, time="at")
    assert len(graph.edges()) == 3
    graph.advance(insert=[(0, 1, times[0]), (0, 1, times[1])])
    graph.advance(insert=[(2, 3, 2**60)])
    assert graph.edges()["at"].to_pylist() == [times[1], 2**60]


def test_a_vertex_that_cannot_be_removed_is_named_as_it_was_given(tmp_path: Path) -> None:
    graph = gt.live(tmp_path / "g", gt.Graph([1], [2]))
    with pytest.raises(InputError, match="not there") as told:
        graph.advance(remove=[19])
    assert "row 0: 19\n" in str(told.value)


@pytest.mark.parametrize("large", [2**53 + 1, -(2**63), 2**63 - 1])
def test_large_numbers_beside_missing_ones_raise_nothing_foreign(large: int) -> None:
    """Arrow refuses to make floats of them; programs read floats, and shards hold all columns."""
    column = pa.array([large, None], pa.int64())
    assert property_column(column, "count", "the graph").tolist()[0] == float(large)
    assert np.isnan(property_column(pa.chunked_array([column]), "count", "the graph")[1])
    graph = gt.Graph(["a"], ["b"], count=[1])
    with pytest.raises(InputError, match="the rows give a missing value"):
        graph.advance(insert=pa.table({"src": ["a", "b"], "dst": ["b", "c"], "count": column}))
    assert graph.num_edges == 1
