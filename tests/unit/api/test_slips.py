"""What people try first, and get wrong, is told in our words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx
import pandas
import pyarrow
import pytest

import graphtide as gt
from graphtide.model.errors import InputError


def graph() -> gt.Graph:
    return gt.Graph(["a", "b"], ["b", "c"])


FRAME = pandas.DataFrame({"von": [1], "nach": [2]})
SLIPS: dict[str, tuple[Callable[[], Any], str]] = {
    "a frame": (lambda: gt.Graph(FRAME), "gt.Graph.from_frame(table, src="),
    "a table of Arrow": (lambda: gt.Graph(pyarrow.table(FRAME)), "gt.Graph.from_frame(table"),
    "a NetworkX graph": (lambda: gt.Graph(networkx.path_graph(3)), "from_networkx(graph)"),
    "a list of pairs": (lambda: gt.Graph([(1, 2), (2, 3)]), "for a list of pairs"),
    "a file": (lambda: gt.Graph("edges.csv"), "load(name, edges=...)"),
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
    "no versions": (lambda: graph().run(gt.algorithms.WCC, None), "versions cannot be None"),
    "a text as tolerance": (
        lambda: graph().maintain(gt.algorithms.PageRank(), tolerance="1e-3"),
        "the tolerance cannot be '1e-3'",
    ),
    "a text as keep": (
        lambda: graph().maintain(gt.algorithms.PageRank(), keep="3"),
        "keep cannot be '3'",
    ),
    "numbers of no vertices": (lambda: graph().ids([0, 3]), "from 0 to 2"),
    "no folder": (lambda: gt.session(None), "None cannot be a path"),
}


@pytest.mark.parametrize(("slip", "told"), SLIPS.values(), ids=SLIPS)
def test_slips_are_told(slip: Callable[[], Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        slip()
    assert told in str(refused.value)


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
