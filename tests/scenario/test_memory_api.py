"""A graph in memory as users meet it: made from anything, moved, rolled back, and refusing well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import (
    BFS,
    WCC,
    DegreeStatistics,
    KHops,
    NearestSource,
    PageRank,
    ShortestPaths,
    WidestPath,
)
from graphtide.api.catalog_graph import CatalogGraph
from graphtide.model.errors import InputError
from graphtide.store.catalog import Catalog
from graphtide.store.graph import open_graph
from tests.scenario.stored import write_catalog

inf = float("inf")


def roads(**options: Any) -> gt.Graph:
    return gt.Graph(
        ["a", "b", "c", "a"], ["b", "c", "d", "d"], weight=[1.0, 2.0, 3.0, 9.0], **options
    )


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


class TestMaking:
    def test_whole_numbers_stand_in_ascending_order(self) -> None:
        graph = gt.Graph([30, 10], [10, 20])
        assert graph.vertices()["id"].to_pylist() == [10, 20, 30]
        assert graph.maintain(BFS(source=30))["hops"].tolist() == [1.0, 2.0, 0.0]

    def test_other_ids_stand_as_they_appear(self) -> None:
        graph = gt.Graph(["z", ("a", 1)], ["y", "z"])
        assert graph.number(("a", 1)) == 2
        assert graph.vertices()["id"].to_pylist() == ["z", "y", "('a', 1)"]

    def test_vertices_without_edges_by_number_or_by_name(self) -> None:
        assert gt.Graph([0], [1], vertices=4).num_vertices == 4
        assert gt.Graph([], [], vertices=["x", "y"]).num_vertices == 2
        assert gt.Graph([], []).num_vertices == 0

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_from_any_frame(self, kind: Any) -> None:
        frame = kind({"from": ["a", "b"], "to": ["b", "c"], "weight": [1, 2], "name": ["x", "y"]})
        graph = gt.Graph.from_frame(frame, "from", "to")
        live = graph.maintain(ShortestPaths(source="a"))
        assert rows(live.table()) == [("a", 0.0), ("b", 1.0), ("c", 3.0)]
        assert graph.edges().column_names == ["edge", "from", "to", "weight", "name"]
        live.advance(insert=kind({"from": ["a"], "to": ["c"], "weight": [1]}))
        assert live.at("c") == {"dist": 1.0}

    def test_ends_keep_the_names_that_they_were_given(self) -> None:
        frame = pd.DataFrame({"from": ["a"], "to": ["b"], "source": ["web"], "w": [1]})
        graph = gt.Graph.from_frame(frame, source="from", target="to")
        assert graph.edges().column_names == ["edge", "from", "to", "w", "source"]
        graph.advance([{"from": "b", "to": "c", "w": 2, "source": "app"}])
        (other,) = graph.view("source = 'app'").to_arrow().to_pylist()
        assert (other["from"], other["to"]) == ("b", "c")
        with pytest.raises(InputError, match="target='to' and dst='to' say the same thing"):
            gt.Graph.from_frame(frame, "from", "to", target="to")
        with pytest.raises(gt.GraphtideError, match=r"write `src\.id`"):
            graph.view("`from` = 'a'")

    def test_a_column_of_objects_names_the_rows_that_do_not_fit(self) -> None:
        amounts = pd.Series([1.5, 2, None, "abc", 4, True], dtype=object)
        frame = pd.DataFrame({"src": 1, "dst": 2, "amount": amounts})
        with pytest.raises(InputError) as refused:
            gt.Graph.from_frame(frame)
        text = str(refused.value)
        assert "the column 'amount' holds values of several types" in text
        assert "3 values are of type number, but not row 3: 'abc'; row 5: True" in text
        assert "pandas.to_numeric(frame['amount'], errors='coerce')" in text

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_texts_that_nearly_all_are_numbers_are_reported(self, library: Any) -> None:
        columns = {
            "src": ["1"] * 40,
            "dst": ["2"] * 40,
            "amount": ["1.5"] * 37 + ["", None, "abc"],
            "day": ["2025-02-28"] * 39 + ["2025-02-30"],
            "zip": ["12345"] * 30 + ["01234"] * 10,
            "name": ["7 hills"] * 40,
        }
        with pytest.warns(UserWarning, match="is text") as told:
            graph = gt.Graph.from_frame(library(columns))
        assert [str(item.message).split(". ")[0] for item in told] == [
            "'amount' is text: 37 of 38 texts are numbers, but not row 39: 'abc'",
            "'day' is text: 39 of 40 texts are dates, but not row 39: '2025-02-30'",
        ]
        assert told[0].filename == __file__
        assert graph.num_edges == 40

    def test_an_index_of_pandas_is_no_property(self) -> None:
        frame = pd.DataFrame({"src": [1], "dst": [2]}, index=pd.Index([7], name="row"))
        assert gt.Graph.from_frame(frame).edges().column_names in (
            ["edge", "src", "dst"],
            ["edge", "src", "dst", "row"],
        )

    def test_from_networkx_undirected_edges_go_both_ways(self) -> None:
        network = nx.Graph()
        network.add_edge("a", "b", weight=2.0)
        network.add_node("alone")
        graph = gt.Graph.from_networkx(network)
        assert graph.num_edges == 1
        live = graph.maintain(ShortestPaths(source="b"))
        assert rows(live.table()) == [("a", 2.0), ("b", 0.0), ("alone", inf)]

    def test_attributes_of_networkx_leave_the_ends_and_ids_their_names(self) -> None:
        network = nx.MultiDiGraph()
        network.add_edge(1, 2, src=5, dst="x", src_=6, edge=7)
        network.add_node(1, id=9)
        graph = gt.Graph.from_networkx(network)
        [edge] = graph.edges().to_pylist()
        assert edge == {
            "edge": 0,
            "src": 1,
            "dst": 2,
            "src__": 5,
            "src_": 6,
            "edge_": 7,
            "dst_": "x",
        }
        assert graph.vertices().to_pydict() == {"id": [1, 2], "id_": [9, None]}
        assert graph.view(
            "edge = 7 and src__ = 5 and dst_ = 'x' and src.id_ = 9"
        ).edge_ids.tolist() == [0]

    def test_the_ids_of_all_tables_have_one_type(self) -> None:
        graph = gt.Graph([1, "a"], [2, 3])
        assert graph.edges().to_pydict() == {"edge": [0, 1], "src": ["1", "a"], "dst": ["2", "3"]}
        live = graph.maintain(WCC)
        assert live.changes().to_arrow().schema.field("id").type == pa.string()
        assert live.advance(insert=[(2, 3)])["id"].to_pylist() == ["a", "3"]
        assert live.advance(delete=[(2, 3)], insert=[("b", 2)])["id"].to_pylist() == ["a", "3", "b"]

    def test_ids_are_numbers_again_behind_a_rollback(self) -> None:
        graph = gt.Graph([1], [2])
        graph.advance(insert=[("a", 1)])
        assert graph.edges()["dst"].to_pylist() == ["2", "1"]
        graph.rollback()
        assert graph.edges()["dst"].to_pylist() == [2]
        large = gt.Graph([1], [2**63])
        assert large.edges()["src"].type == pa.uint64() == large.edges()["dst"].type

    def test_from_the_catalog_without_spark(self, tmp_path: Path) -> None:
        stored = open_graph(Catalog(write_catalog(tmp_path / "data").root), "Calls")
        graph = gt.Graph.from_stored(stored)
        assert (graph.num_vertices, graph.num_edges) == (3, 60)
        assert graph.edges().column_names == ["edge", "src", "dst", "year", "note"]
        assert CatalogGraph(None, stored).to_memory().num_edges == 60  # type: ignore[arg-type]

    def test_a_simple_graph_has_no_parallel_edges(self) -> None:
        with pytest.raises(InputError, match=r"parallel(.|\n)*row 1: \(1, 2\)"):
            gt.Graph([1, 1], [2, 2], simple=True)


class TestMoving:
    def test_an_advance_tells_what_changed(self) -> None:
        live = roads().maintain(ShortestPaths(source="a"))
        told = live.advance(insert=[("d", "e", 1.0)], delete=[("b", "c")])
        assert rows(told) == [("c", 3.0, inf), ("d", 6.0, 9.0), ("e", None, 10.0)]
        assert told.column_names == ["id", "old", "new"]
        assert live["dist"].tolist() == [0.0, 1.0, inf, 9.0, 10.0]
        live.verify()

    def test_a_rollback_takes_new_vertices_away(self) -> None:
        graph = roads()
        live = graph.maintain(ShortestPaths(source="a"))
        before, edges = live.table(), graph.edges()
        live.advance(insert=[("d", "e", 1.0), ("e", "f", 1.0)])
        assert (graph.num_vertices, graph.version) == (6, 1)
        live.rollback()
        assert (live.table(), graph.edges(), graph.version) == (before, edges, 0)
        assert rows(live.advance(insert=[("d", "g", 1.0)])) == [("g", None, 7.0)]

    @pytest.mark.parametrize(
        "insert",
        [
            [("a", "c", 1.0)],
            [["a", "c", 1]],
            [{"dst": "c", "src": "a", "weight": 1}],
            {"src": ["a"], "dst": ["c"], "weight": np.array([1.0])},
            pa.table({"src": ["a"], "dst": ["c"], "weight": [1.0]}),
            (("a", "c", 1.0),),
            iter([("a", "c", 1.0)]),
        ],
    )
    def test_edges_come_in_many_forms(self, insert: Any) -> None:
        live = roads().maintain(ShortestPaths(source="a"))
        assert rows(live.advance(insert=insert)) == [("c", 3.0, 1.0), ("d", 6.0, 4.0)]

    def test_edges_by_number(self) -> None:
        graph = roads()
        live = graph.maintain(ShortestPaths(source="a"))
        graph.advance(delete=[1])
        assert live.at("c") == {"dist": inf}
        assert graph.edges()["edge"].to_pylist() == [0, 2, 3]
        live.advance(insert=np.array([1]), delete=[0])
        assert live["dist"].tolist() == [0.0, inf, inf, 9.0]

    def test_rows_of_parallel_edges_take_one_each(self) -> None:
        graph = gt.Graph([1, 1, 1], [2, 2, 2], weight=[5.0, 6.0, 5.0])
        graph.advance(delete=[(1, 2, 5.0), (1, 2, 5.0)])
        assert graph.edges()["weight"].to_pylist() == [6.0]
        graph.advance(delete=[(1, 2)], insert=[(1, 2, 6.0)])
        assert graph.edges()["weight"].to_pylist() == [6.0]

    def test_an_edge_that_comes_back_is_the_same_one(self) -> None:
        graph = roads()
        for _ in range(5):
            graph.advance(delete=[("a", "b")])
            graph.advance(insert=[("a", "b", 1.0)])
        assert graph.edges()["edge"].to_pylist() == [0, 1, 2, 3]

    @pytest.mark.interpreted
    def test_an_edge_comes_with_the_sign_of_its_zero(self) -> None:
        graph = gt.Graph([1], [2], weight=[-0.0])
        graph.advance(delete=[(1, 2, 0.0)])
        graph.advance(insert=[(1, 2, 0.0)])
        assert str(graph.edges()["weight"][0].as_py()) == "0.0"
        assert graph.edges()["edge"].to_pylist() == [1]

    def test_a_weight_changes_by_delete_and_insert(self) -> None:
        graph = roads(simple=True)
        live = graph.maintain(WidestPath(source="a"))
        live.advance(delete=[("a", "d")], insert=[("a", "d", 0.5)])
        assert live.at("d") == {"width": 1.0}

    def test_programs_of_one_graph_move_together(self) -> None:
        graph = roads()
        near, whole = graph.maintain(ShortestPaths(source="a")), graph.maintain(WCC)
        assert rows(near.advance(insert=[("x", "y", 1.0)])) == [("x", None, inf), ("y", None, inf)]
        assert rows(whole.changes()) == [("x", None, "x"), ("y", None, "x")]
        whole.rollback()
        assert len(near["dist"]) == 4

    def test_a_program_that_comes_later_is_rolled_back_past_its_start(self) -> None:
        graph = roads()
        graph.advance(delete=[("b", "c")])
        late = graph.maintain(ShortestPaths(source="a"))
        graph.advance(insert=[("c", "z", 1.0)])
        graph.rollback()
        graph.rollback()
        assert late["dist"].tolist() == [0.0, 1.0, 3.0, 6.0]
        late.verify()

    def test_what_is_closed_or_let_go_costs_nothing_more(self) -> None:
        graph = roads()
        live, other = graph.maintain(BFS(source="a")), graph.maintain(BFS(source="b"))
        other.close()
        graph.maintain(WCC)
        assert len(graph._followers) == 1
        with pytest.raises(InputError, match="closed"):
            other.advance(delete=[0])
        assert "closed" in repr(other)
        live.advance(delete=[0])

    def test_what_is_forgotten_cannot_be_rolled_back(self) -> None:
        graph = roads()
        live = graph.maintain(BFS(source="a"))
        live.advance(delete=[0])
        graph.forget()
        with pytest.raises(InputError, match="no advance"):
            live.rollback()
        live.advance(insert=[0])
        live.rollback()
        assert (graph.version, live.at("b")) == (1, {"hops": inf})

    @pytest.mark.interpreted
    def test_a_set_of_vertices_and_a_number_of_iterations(self) -> None:
        graph = gt.Graph([1, 2, 3, 4], [2, 3, 4, 5])
        live = graph.maintain(KHops(sources=[1], k=2))
        assert live.mode == "exact"
        assert live["hops"].tolist() == [0.0, 1.0, 2.0, inf, inf]
        assert rows(live.advance(insert=[(1, 3)])) == [(3, 2.0, 1.0), (4, inf, 2.0)]


@pytest.mark.slow
class TestSums:
    """Programs that add up, in exact mode."""

    @pytest.mark.interpreted
    def test_several_results_have_several_columns(self) -> None:
        live = gt.Graph([1], [2]).maintain(DegreeStatistics)
        told = live.advance(insert=[(3, 2)]).to_pylist()
        assert [row["id"] for row in told] == [1, 2, 3]
        assert (told[0]["old_neighbour_most"], told[0]["new_neighbour_most"]) == (1, 2)
        assert (told[1]["old_incoming"], told[1]["new_incoming"]) == (1, 2)
        assert (told[2]["old_incoming"], told[2]["new_incoming"]) == (None, 0)

    @pytest.mark.compiled
    def test_a_tolerance_saves_work_and_stays_within_its_bound(self) -> None:
        pick = np.random.default_rng(7)
        src, dst = pick.integers(0, 5000, (2, 20000))
        graph = gt.Graph(src, dst, vertices=5000)
        exact, rough = graph.maintain(PageRank()), graph.maintain(PageRank(), tolerance=0.01)
        brief = graph.maintain(PageRank(), keep=3)
        graph.advance(insert=[(0, 1)], delete=[(int(src[5]), int(dst[5]))])
        assert rough.touched < exact.touched
        np.testing.assert_allclose(rough["rank"], exact["rank"], rtol=1.01**10 - 1)
        np.testing.assert_allclose(brief["rank"], exact["rank"], rtol=1e-12)
        for live in (exact, rough, brief):
            live.verify()


@gt.program
class WrittenOut:
    """Ints that are written out, beyond the last one."""

    x: float = 0.0
    n: int
    got = gt.Count()
    iterations = 1

    def traverse(self, u: Any, e: Any, v: Any) -> None:
        v.got()

    def update(self, v: Any) -> None:
        v.x = (2 + 9223372036854775807) * 0.5
        v.n = min(3, 9223372036854775807 * 9223372036854775807) + v.got


@pytest.mark.interpreted
def test_ints_that_are_written_out_wrap() -> None:
    """Python's own have no last one, and Numba refuses them, or takes them for unsigned."""
    live = gt.Graph([0], [1]).maintain(WrittenOut)
    assert live["x"].tolist() == [-(2.0**62)] * 2
    assert live["n"].tolist() == [1, 2]
    live.verify()


class TestRefusing:
    """Every refusal names its rows and leaves everything as it was."""

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (
                {"delete": [("a", "b"), ("a", "c")]},
                r"edges that are not there\n.*row 1: \('a', 'c'",
            ),
            ({"delete": [("a", "b", 7.0)]}, r"not there\n.*row 0: \('a', 'b', 7.0\)"),
            ({"delete": [("a", "b"), ("a", "b")]}, r"not there\n.*row 1"),
            ({"delete": [("a", "nowhere")]}, r"vertices that are not there\n.*'nowhere'"),
            ({"delete": [0, 9]}, r"of no edge\n.*row 1: 9"),
            ({"delete": [0, 0]}, r"listed twice\n.*row 1: 0"),
            ({"insert": [1]}, r"already there\n.*edge 1 \('b', 'c', 2.0\)"),
            ({"insert": [("a", "c", float("nan"))]}, r"NaN or missing\n.*row 0: \('a', 'c', nan"),
            ({"insert": [("a", "c", None)]}, r"NaN or missing\n.*row 0"),
            ({"insert": [("a", "c", -2.0)]}, r"e.weight >= 0\n.*row 0: \('a', 'c', -2.0"),
            ({"insert": [("a", "c")]}, r"no value for the property 'weight'"),
            ({"insert": [("a", "c", 1.0, 2.0)]}, r"no edges\n.*row 0"),
            ({"insert": [("a", "c", "near")]}, r"'weight' of insert does not hold numbers"),
            ({"insert": [{"src": "a", "dst": "c", "weigth": 1.0}]}, r"'weigth'(.|\n)*`weight`"),
            (
                {"insert": [{"src": "a", "dst": "c"}, {"src": "a"}]},
                r"differ in their keys\n.*row 1",
            ),
            ({"insert": {"src": ["a"], "weight": [1.0]}}, r"no column 'dst'"),
            ({"insert": {"src": ["a"], "dst": [], "weight": [1.0]}}, r"differ in length"),
            ({"insert": [(None, "c", 1.0)]}, r"cannot be ids\n.*row 0: None"),
            ({"insert": [([], "c", 1.0)]}, r"cannot be ids\n.*row 0"),
            ({"insert": ("a", "c", 1.0)}, r"tuple(.|\n)*insert=\[\('a', 'c', 1.0\)\]"),
            ({"insert": "a"}, r"insert cannot be 'a'"),
            ({"insert": 5}, r"insert cannot be 5"),
        ],
    )
    def test_bad_rows(self, change: dict[str, Any], told: str) -> None:
        graph = roads()
        live = graph.maintain(ShortestPaths(source="a"))
        before = live.table(), graph.edges(), graph.vertices(), graph.version
        with pytest.raises(InputError, match=told):
            live.advance(**change)
        assert (live.table(), graph.edges(), graph.vertices(), graph.version) == before
        live.verify()

    @pytest.mark.parametrize(
        "change", [{"insert": [("a", "b", 5.0)]}, {"insert": [("x", "y", 1.0), ("x", "y", 2.0)]}]
    )
    def test_parallel_edges_of_a_simple_graph(self, change: dict[str, Any]) -> None:
        graph = roads(simple=True)
        with pytest.raises(InputError, match=r"already there|parallel"):
            graph.advance(**change)
        assert (graph.num_edges, graph.num_vertices) == (4, 4)

    def test_a_dead_edge_cannot_come_back_beside_its_parallel(self) -> None:
        graph = roads(simple=True)
        graph.advance(delete=[0], insert=[("a", "b", 4.0)])
        with pytest.raises(InputError, match="already there"):
            graph.advance(insert=[0])

    def test_what_the_data_lacks_is_told_when_a_program_is_begun(self) -> None:
        with pytest.raises(InputError, match=r"'weight'(.|\n)*wieght"):
            gt.Graph([1], [2], wieght=[1.0]).maintain(ShortestPaths(source=1))
        with pytest.raises(InputError, match=r"weight >= 0\n.*row 0: \(1, 2, -1\)"):
            gt.Graph([1], [2], weight=[-1]).maintain(ShortestPaths(source=1))
        with pytest.raises(InputError, match="not there: 5"):
            gt.Graph([1], [2]).maintain(BFS(source=5))
        with pytest.raises(InputError, match="not there: 'x'"):
            gt.Graph([1], [2], weight=[1.0]).maintain(NearestSource(sources=[1, "x"]))

    @pytest.mark.interpreted
    def test_a_program_or_query_that_cannot_begin_names_rows_as_they_were_given(self) -> None:
        graph = gt.Graph(["c", "a", "b", "a"], ["b", "b", "c", "a"], weight=[1.0, 2.0, -1.0, 3.0])
        told = r"row 2: \('b', 'c', -1.0\)"
        with pytest.raises(InputError, match=told):
            graph.maintain(ShortestPaths(source="a"))
        with pytest.raises(InputError, match=told):
            graph.query("way", gt.queries.Path("a", "c", weight="weight"))
        graph.advance(insert=[("a", "c", 1.0), ("a", "c", -7.0)], delete=[0])
        with pytest.raises(InputError, match=r"row 1: .*-1.0\), row 4: \('a', 'c', -7.0\)"):
            graph.maintain(ShortestPaths(source="a"))

    def test_knobs_are_for_programs_that_add_up(self) -> None:
        graph = gt.Graph([1], [2])
        for knob in ({"tolerance": 0.1}, {"keep": 3}):
            with pytest.raises(InputError, match="leave out `tolerance`"):
                graph.maintain(BFS(source=1), **knob)  # type: ignore[arg-type]

    @pytest.mark.interpreted
    def test_an_advance_that_a_program_refuses_is_undone_and_undoing_goes_on(self) -> None:
        """An index that data leads out of its array is found in the middle of a repair."""

        @gt.program
        class Votes:
            kinds: int
            most: int
            votes = gt.Count(size="kinds")
            kind = gt.Property(int)
            iterations = 1

            def traverse(self, u, e, v):
                v.votes[e.kind]()

            def update(self, v):
                for k in range(len(v.votes)):
                    if v.votes[k] > v.votes[v.most]:
                        v.most = k

        graph = gt.Graph([1, 2], [2, 1], kind=[0, 1])
        first, live = graph.maintain(WCC), graph.maintain(Votes(kinds=2))
        live.advance(insert=[(1, 3, 1), (1, 2, 1), (1, 2, 1)])
        before = live.table(), first.table(), graph.edges()
        with pytest.raises(InputError, match="index 7 is outside"):
            live.advance(insert=[(1, 4, 7)])
        assert (live.table(), first.table(), graph.edges()) == before
        live.verify()
        live.rollback()
        assert live["most"].tolist() == [1, 0]

    @pytest.mark.interpreted
    def test_modes_that_cannot_be(self) -> None:
        graph = gt.Graph([1], [2])
        with pytest.raises(InputError, match="ends after 2 iterations"):
            graph.maintain(KHops(sources=[1]), mode="fixpoint")
        with pytest.raises(InputError, match="mode cannot be 'fast'"):
            graph.maintain(WCC, mode="fast")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="is no program"):
            graph.maintain(dict)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda: gt.Graph([1], [2, 3]), "differ in length"),
            (lambda: gt.Graph([1, None], [2, 2]), r"cannot be ids\n.*row 1: None"),
            (lambda: gt.Graph([1], [5], vertices=3), r"not among the vertices\n.*\(1, 5\)"),
            (lambda: gt.Graph([], [], vertices=[1, 1]), r"twice\n.*row 1: 1"),
            (lambda: gt.Graph([1], [2], name=[["x"]]), "does not hold numbers"),
            (lambda: gt.Graph([1], [2], k=[2**63]), r"64 bits or .*\n.*row 0: 9223372036854775808"),
            (lambda: gt.Graph("ab", "bc"), "no column of ids"),
            (lambda: gt.Graph.from_frame([1, 2]), "list is no frame"),
            (lambda: gt.Graph.from_frame(pd.DataFrame({"scr": [1], "dst": [2]})), "`scr`"),
            (lambda: gt.Graph.from_networkx([]), "no NetworkX graph"),
        ],
    )
    def test_graphs_that_cannot_be(self, make: Any, told: str) -> None:
        with pytest.raises(InputError, match=told):
            make()

    def test_unknown_results_and_vertices(self) -> None:
        live = roads().maintain(ShortestPaths(source="a"))
        with pytest.raises(InputError, match=r"'dits'(.|\n)*`dist`"):
            live["dits"]
        with pytest.raises(InputError, match="no vertex 'q'"):
            live.at("q")

    def test_an_advance_that_fails_inside_is_undone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = roads()
        first, second = graph.maintain(ShortestPaths(source="a")), graph.maintain(WCC)
        before = first.table(), second.table(), graph.edges()

        def fail(*_: Any) -> None:
            raise MemoryError

        monkeypatch.setattr(second._kept.maintainer, "follow", fail)
        with pytest.raises(gt.SetupError, match="no memory for this call"):
            graph.advance(insert=[("d", "new", 1.0)], delete=[0])
        monkeypatch.undo()
        assert (first.table(), second.table(), graph.edges()) == before
        graph.advance(insert=[("d", "new", 1.0)], delete=[0])
        for live in (first, second):
            live.verify()
        graph.rollback()
        assert (first.table(), second.table(), graph.edges()) == before


@pytest.mark.interpreted
def test_explain_tells_the_mode_and_why() -> None:
    told = roads().maintain(ShortestPaths(source="a")).explain()
    assert "maintained in fixpoint mode: it selects" in told
    assert "where e.weight >= 0" in told
    source = told.splitlines()[-1].removeprefix("compiled from ")
    assert "def message" in Path(source).read_text(encoding="utf-8")
    exact = gt.Graph([1], [2]).maintain(KHops(sources=[1])).explain()
    assert "maintained in exact mode: it ends after 2 iterations" in exact


@pytest.mark.interpreted
def test_a_program_of_the_users_own() -> None:
    @gt.program
    class MostReliable:
        source: gt.Vertex
        chance: float
        best = gt.Max(float)

        def initialize(self, v):
            v.chance = 1.0 if v == self.source else 0.0

        def traverse(self, u, e, v):
            v.best(u.chance * e.chance)

        def update(self, v):
            v.chance = max(v.chance, v.best)

    graph = gt.Graph([1, 2], [2, 3], chance=[0.5, 0.5])
    live = graph.maintain(MostReliable(source=1))
    assert live["chance"].tolist() == [1.0, 0.5, 0.25]
    assert rows(live.advance(insert=[(1, 3, 0.9)])) == [(3, 0.25, 0.9)]


def test_neither_spark_nor_networkx_is_imported() -> None:
    code = """
import sys
import graphtide as gt
live = gt.Graph([1, 2], [2, 3]).maintain(gt.algorithms.BFS(source=1))
live.advance(insert=[(3, 4)])
live.table()
print([name for name in ("pyspark", "networkx") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stdout
