"""What people try first, and get wrong, is told in our words."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import pandas
import pyarrow
import pytest

import graphtide as gt
from graphtide.model.elsewhere import ABSENT, ALGORITHMS
from graphtide.model.errors import GraphtideError, InputError, LanguageError, SetupError
from graphtide.plan.programs import ParameterKind


def graph() -> gt.Graph:
    return gt.Graph(["a", "b"], ["b", "c"])


def views() -> Any:
    return graph().collection("without each vertex")


NAMED = (ParameterKind.VERTEX, ParameterKind.VERTICES, ParameterKind.PAIRS)
FRAME = pandas.DataFrame({"von": [1], "nach": [2]})
SLIPS: dict[str, tuple[Callable[[], Any], str]] = {
    "a frame": (lambda: gt.Graph(FRAME), "gt.Graph.from_frame(table, src="),
    "a table of Arrow": (lambda: gt.Graph(pyarrow.table(FRAME)), "gt.Graph.from_frame(table"),
    "a NetworkX graph and more": (
        lambda: gt.Graph(networkx.path_graph(3), directed=False),
        "from_networkx(graph)",
    ),
    "a list of pairs": (lambda: gt.Graph([(1, 2), (2, 3)]), "for a list of pairs"),
    "a file": (lambda: gt.Graph("edges.csv"), "gt.read_csv(path)"),
    "one column": (lambda: gt.Graph([1, 2]), "gt.Graph(src, dst)"),
    "missing id of pandas": (
        lambda: gt.Graph(pandas.array([1, None], dtype="Int64"), [2, 3]),
        "row 1: <NA>",
    ),
    "missing date": (lambda: gt.Graph([pandas.NaT], [1]), "row 0: NaT"),
    "infinite id": (lambda: gt.Graph([float("inf")], [1]), "row 0: inf"),
    "half a character": (lambda: gt.Graph(["a\ud800"], ["b"]), "half of a character"),
    "numbers beyond int64": (lambda: graph().advance(delete=[2**70]), f"row 0: {2**70}"),
    "a number of no edge": (lambda: graph().advance(delete=[0, 7]), "row 1: 7"),
    "a mask as numbers": (lambda: graph().advance(delete=[True, False]), "truth values"),
    "one version": (lambda: graph().run(gt.algorithms.WCC, 3), "versions cannot be 3"),
    "a list of no versions": (lambda: graph().run(gt.algorithms.WCC, []), "graph.run(program)"),
    "no weights": (
        lambda: graph().maintain(gt.algorithms.ShortestPaths(source="a")),
        "they have: none; call one 'weight' where the graph is made",
    ),
    "weights of another name": (
        lambda: gt.Graph(["a"], ["b"], km=[1.0]).maintain(gt.algorithms.ShortestPaths(source="a")),
        "they have: km; give the one to read: ShortestPaths(weight='km')",
    ),
    "a misspelt name of weights": (
        lambda: gt.Graph(["a"], ["b"], km=[1.0]).maintain(
            gt.algorithms.ShortestPaths(source="a", weight="kms")
        ),
        "did you mean `km`? they have: km; give the one to read: ShortestPaths(weight='km')",
    ),
    "columns of other names": (
        lambda: gt.Graph.from_frame(FRAME),
        "say which it is: src='...'; it has: von, nach",
    ),
    "a text among numbers": (
        lambda: gt.Graph([1], [2], cost=[3.0]).advance(insert=[(1, 2, 1.0), (1, 2, "x")]),
        "row 1: 'x'",
    ),
    "a live graph without a name": (lambda: gt.live(""), "it is empty"),
    "negation by a word": (
        lambda: gt.datalog(".decl e(x: number)\n.decl f(x: number)\nf(x) :- e(x), not f(x)."),
        "write `!` before the atom",
    ),
    "an aggregate by its name": (
        lambda: gt.Dataflow().input("e", x=int).aggregate("x", n="count"),
        "n=gt.dataflow.count()",
    ),
    "a file for records": (
        lambda: gt.Dataflow().input("e", x=int).insert("e.csv"),
        "'e.csv' is no list of records",
    ),
    "a number for records": (lambda: gt.Dataflow().input("e", x=int).insert(5), "5 is no list"),
    "a step that is none": (
        lambda: gt.Dataflow().input("e", x=int).iterate(5),
        "A step cannot be 5",
    ),
    "a text as tolerance": (
        lambda: graph().maintain(gt.algorithms.PageRank(), tolerance="1e-3"),
        "the tolerance cannot be '1e-3'",
    ),
    "a text as keep": (
        lambda: graph().maintain(gt.algorithms.PageRank(), keep="3"),
        "keep cannot be '3'",
    ),
    "numbers of no vertices": (lambda: graph().ids([0, 3]), "from 0 to 2"),
    "a file for a folder": (lambda: gt.session(__file__), "is a file"),
    "windows without their word": (
        lambda: graph().collection("c", "expanding year width 1"),
        "expected `windows`",
    ),
    "no folder": (lambda: gt.session(None), "None cannot be a path"),
}


@pytest.mark.parametrize(("slip", "told"), SLIPS.values(), ids=SLIPS)
def test_slips_are_told(slip: Callable[[], Any], told: str) -> None:
    with pytest.raises(GraphtideError) as refused:
        slip()
    assert told in str(refused.value)


def test_a_live_graph_that_is_opened_twice_says_who_has_it(tmp_path: Path) -> None:
    with gt.live(tmp_path / "calls", graph()) as held:
        with pytest.raises(GraphtideError, match="this process itself has it open"):
            gt.live(tmp_path / "calls")
        assert gt.live(tmp_path / "calls", readonly=True).num_edges == held.num_edges


def test_a_graph_of_networkx_is_taken_as_it_is(tmp_path: Path) -> None:
    made = gt.Graph(networkx.path_graph(4))
    assert (made.directed, made.num_vertices, made.num_edges) == (False, 4, 3)
    assert "all edges" in made.draw(tmp_path / "path.svg").title
    assert (tmp_path / "path.svg").exists()


def test_names_that_are_elsewhere_say_where() -> None:
    kept = graph()
    view = kept.view("true")
    for held, name, told in (
        (kept, "append", "graph.advance(insert=[(src, dst), ...])"),
        (view, "run", "view.to_graph().maintain(program)"),
        (gt.Dataflow().input("e", x=int), "records", "flow.advance()"),
        (view, "rum", "'MemoryView' object has no attribute 'rum'"),
    ):
        with pytest.raises(AttributeError) as missing:
            getattr(held, name)
        assert told in str(missing.value)
    assert not hasattr(kept, "schema")


GUESSES: list[tuple[Callable[[], Any], str, str]] = [
    (graph, "add_edge", "graph.advance(insert=[(src, dst), ...])"),
    (graph, "add_edges_from", "graph.advance(insert="),
    (graph, "remove_node", "graphs in memory keep their vertices"),
    (graph, "nodes", "graph.vertices()"),
    (graph, "number_of_nodes", "graph.num_vertices"),
    (graph, "vcount", "graph.num_vertices"),
    (graph, "degree", "graph.run(gt.algorithms.DegreeStatistics())"),
    (graph, "inDegrees", "graph.run(gt.algorithms.DegreeStatistics())"),
    (graph, "pagerank", "graph.run(gt.algorithms.PageRank())"),
    (graph, "pageRank", "graph.run(gt.algorithms.PageRank())"),
    (graph, "connectedComponents", "graph.run(gt.algorithms.WCC())"),
    (graph, "shortest_paths", "graph.run(gt.algorithms.ShortestPaths(source=...))"),
    (graph, "to_pandas", "graph.edges().to_pandas()"),
    (graph, "subgraph", "graph.view('PREDICATE')"),
    (graph, "is_directed", "graph.directed"),
    (graph, "betweenness_centrality", "networkx.betweenness_centrality(graph.to_networkx())"),
    (graph, "louvain_communities", "networkx.community.louvain_communities("),
    (views, "views", "collection[VIEW] is one view"),
    (views, "view", "collection[VIEW] is one view"),
    (views, "summary", "collection.run(PROGRAM) has results"),
    (views, "draw", "collection[VIEW].draw(path)"),
    (views, "pagerank", "collection.run(gt.algorithms.PageRank())"),
    (lambda: views()[0], "edges", "view.to_arrow(), or view.to_pandas()"),
    (lambda: views().run(gt.algorithms.WCC), "chart", "run.picture(path)"),
    (lambda: views().run(gt.algorithms.WCC), "groupby", "run.to_pandas() has all views"),
    (lambda: gt.session("none"), "refresh", "session.collection(name).refresh()"),
    (lambda: gt, "load", "gt.read_csv(path)"),
    (lambda: gt, "DiGraph", "gt.Graph(src, dst)"),
    (lambda: gt, "from_pandas", "gt.Graph.from_pandas(...)"),
    (lambda: gt, "pagerank", "graph.run(gt.algorithms.PageRank("),
    (lambda: gt, "weakly_connected_components", "graph.run(gt.algorithms.WCC())"),
    (lambda: gt, "SCC", "graph.run(gt.algorithms.SCC("),
    (lambda: gt.algorithms, "Clustering", "gt.algorithms.ClusteringCoefficients()"),
    (lambda: gt.algorithms, "connected_components", "gt.algorithms.WCC()"),
    (lambda: gt.algorithms, "PageRanks", "did you mean `PageRank`?"),
    (lambda: gt.algorithms, "Betweenness", "there are BFS, SCC, WCC"),
    (lambda: gt.Graph, "from_pandas_edgelist", "gt.Graph.from_frame(frame, src=..., dst=...)"),
    (lambda: gt.Graph, "TupleList", "[src for src, dst in pairs]"),
    (lambda: gt.Graph, "Read_Edgelist", "gt.read_csv(path)"),
    (lambda: graph().run(gt.algorithms.PageRank()), "rank", "run['rank']"),
    (lambda: graph().run(gt.algorithms.PageRank()), "top", "run.table().sort_by("),
    (lambda: graph().maintain(gt.algorithms.WCC()), "component", "live['component']"),
    (lambda: graph().maintain(gt.algorithms.WCC()), "to_csv", "live.table().to_csv(path)"),
    (lambda: graph().edges(), "iloc", "table.to_pandas().iloc"),
    (lambda: graph().edges(), "groupby", "table.to_pandas().groupby"),
    (lambda: graph().edges(), "sort_values", "table.to_pandas().sort_values"),
    (lambda: gt.session("none"), "read_csv", "session.load(name, edges=...)"),
    (lambda: gt.session("none"), "sql", "session.execute(text)"),
]


@pytest.mark.parametrize(("held", "name", "told"), GUESSES, ids=[name for _, name, _ in GUESSES])
def test_guesses_of_people_from_elsewhere(held: Callable[[], Any], name: str, told: str) -> None:
    with pytest.raises(AttributeError) as missing:
        getattr(held(), name)
    assert told in str(missing.value)


@pytest.mark.parametrize("told", sorted(set(ALGORITHMS.values())))
def test_programs_that_are_told_are_there(told: str) -> None:
    name, given = re.fullmatch(r"(\w+)\((.*)\)", told).groups()  # type: ignore[union-attr]
    parameters = {item.name for item in getattr(gt.algorithms, name).parameters}
    assert set(re.findall(r"(\w+)=", given)) <= parameters
    assert given or not any(item.kind in NAMED for item in getattr(gt.algorithms, name).parameters)


def test_what_is_not_here_is_in_networkx() -> None:
    for name in ABSENT:
        assert hasattr(networkx, name)
    assert hasattr(networkx.community, "louvain_communities")


def test_names_of_ours_are_not_suggested_beside_what_to_write() -> None:
    with pytest.raises(AttributeError) as missing:
        views().view  # noqa: B018
    shown = "".join(traceback.format_exception(missing.value))
    assert "Did you mean" not in shown


def test_names_are_told_only_where_there_is_no_such_thing() -> None:
    run = graph().run(gt.algorithms.WCC())
    made = views()
    for held in (
        graph(),
        gt.session("none"),
        run,
        graph().edges(),
        made,
        made[0],
        made.run(gt.algorithms.WCC),
    ):
        for name in type(held)._elsewhere:
            assert not hasattr(held, name)
            assert name == name.replace("_", "").lower()


def test_results_are_frames_and_sessions_are_made_by_their_class(tmp_path: Path) -> None:
    run, live = graph().run(gt.algorithms.WCC()), graph().maintain(gt.algorithms.WCC())
    for held in (run, live):
        assert held.to_arrow() == held.table()
        assert held.to_pandas()["component"].tolist() == ["a", "a", "a"]
        assert held.to_polars().rows() == list(held.to_pandas().itertuples(index=False, name=None))
        assert pyarrow.table(held) == held.table()
    assert repr(gt.Session(tmp_path)) == repr(gt.session(tmp_path))
    assert gt.Graph.from_pandas(FRAME, "von", "nach").edges() == (
        gt.Graph.from_arrow(pyarrow.table(FRAME), "von", "nach").edges()
    )


def test_ids_are_asked_for_by_lists_too() -> None:
    assert graph().ids([2, 0]).to_pylist() == ["c", "a"]
    assert graph().ids([]).to_pylist() == []


@pytest.mark.parametrize("program", [gt.algorithms.SCC, gt.algorithms.SCC(), gt.algorithms.WCC()])
def test_programs_are_shown_as_they_are_written(program: Any) -> None:
    assert repr(program) in ("<program SCC()>", "SCC()", "WCC()")
    assert str(program) == repr(program)


def test_a_notebook_shows_a_graph_in_memory() -> None:
    shown = gt.Graph(["<b>", "b"], ["b", "c"], weight=[1.5, 2.5])._repr_html_()
    assert "3 vertices, 2 edges, version 0" in shown
    assert "&lt;b&gt;" in shown
    assert "<th>weight</th>" in shown


@pytest.mark.parametrize("kind", [1, True])
def test_a_missing_value_is_not_called_a_number_with_a_fraction(kind: int | bool) -> None:
    graph = gt.Graph(["a"], ["b"], kind=[kind])
    with pytest.raises(InputError, match="the rows give a missing value"):
        graph.advance(insert=[("a", "b", None)])
    assert graph.num_edges == 1


def test_names_that_would_colour_a_terminal_are_shown_with_their_escapes() -> None:
    views = graph().collection("red\x1b[31m", {"bell\x07": "true"})
    run = views.run(gt.algorithms.WCC, progress=False)
    for shown in (views, views[0], run):
        assert repr(shown).isprintable()
        assert "\\x" in repr(shown)


@pytest.mark.parametrize("ends", [("from", "to"), ("Source", "Target"), ("u", "v"), ("src", "dst")])
def test_frames_have_ends_by_the_names_that_a_load_knows(ends: tuple[str, str]) -> None:
    src, dst = ends
    made = gt.Graph.from_frame(pandas.DataFrame({"amount": [1.0], src: ["a"], dst: ["b"]}))
    assert made.edges().column_names == ["edge", src, dst, "amount"]


def test_frames_do_not_guess_between_two_pairs_of_ends() -> None:
    frame = pandas.DataFrame({"from": ["a"], "to": ["b"], "u": ["c"], "v": ["d"]})
    with pytest.raises(GraphtideError, match="no column 'src'"):
        gt.Graph.from_frame(frame)
    assert gt.Graph.from_frame(frame, "u", "v").ids([0, 1]).to_pylist() == ["c", "d"]


def test_missing_ends_are_told_by_the_name_of_their_column() -> None:
    with pytest.raises(GraphtideError, match="`to` of the frame has values that cannot be ids"):
        gt.Graph.from_frame(pandas.DataFrame({"from": ["a", "b"], "to": ["b", None]}))


def test_files_take_source_and_target_too(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"n": [1], "one": ["a"], "other": ["b"]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    frame.to_parquet(tmp_path / "e.parquet")
    for read, path in ((gt.read_csv, "e.csv"), (gt.read_parquet, "e.parquet")):
        made = read(tmp_path / path, source="one", target="other")
        assert made.ids([0, 1]).to_pylist() == ["a", "b"]
        with pytest.raises(GraphtideError, match="say the same thing"):
            read(tmp_path / path, src="one", source="one")


def test_an_attribute_of_several_types_is_not_left_out_in_silence() -> None:
    network = networkx.Graph()
    network.add_edge("a", "b", km=1)
    network.add_edge("b", "c", km="x")
    with pytest.warns(UserWarning, match="the attribute 'km' of edges is left out.* int and str"):
        graph = gt.Graph.from_networkx(network)
    assert graph.num_edges == 2


def test_weights_of_a_program_that_has_none() -> None:
    with pytest.raises(InputError, match="no parameter 'weight'") as error:
        gt.algorithms.PageRank(weight="km")
    assert "a program of your own can read weights" in str(error.value)


def test_the_top_of_one_view() -> None:
    graph = gt.Graph([1, 2, 3], [2, 3, 1], year=[1, 2, 3])
    run = graph.collection("c", "for y in 1..3 [v-{y}: year <= y]").run(gt.algorithms.PageRank)
    whole = run.top(2).to_pylist()
    assert run.top(2, view="v-2").to_pylist() == [row for row in whole if row["view"] == "v-2"]
    assert run.top(2, view=1).to_pylist() == run.top(2, view="v-2").to_pylist()
    with pytest.raises(GraphtideError, match="has no view 'v-9'"):
        run.top(2, view="v-9")
    with pytest.raises(InputError, match="count cannot be 'v-2'") as error:
        run.top("v-2")  # type: ignore[arg-type]
    assert "top(10, view='...')" in str(error.value)


def test_windows_over_texts_say_what_to_write() -> None:
    graph = gt.Graph([1, 2], [2, 3], channel=["wire", "card"])
    with pytest.raises(LanguageError, match="windows go over numbers") as error:
        graph.collection("c", gt.tumbling("channel", width=1))
    assert "for v in ('a', 'b') [{v}: channel = v]" in str(error.value)


def test_polars_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SetupError, match="Polars is not installed") as error:
        gt.Graph([1], [2]).edges().to_polars()
    assert "graphtide[polars]" in str(error.value)
