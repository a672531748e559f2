"""A graph can be copied and sent to another process; what cannot says what to do instead."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.model.errors import InputError

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def moved_graph() -> gt.Graph:
    """One whose vertices and edges have come and gone."""
    graph = gt.Graph(["b", "a", "a"], ["c", "b", "c"], weight=[1.0, 2.0, 3.0], simple=True)
    graph.advance(insert=[("d", "a", 4.0)], delete=[1])
    graph.advance(insert=[("d", "b", 5.0)], delete=[0])
    return graph


@way
def test_a_copy_has_the_same_vertices_and_edges(way: Callable[[Any], Any]) -> None:
    graph = moved_graph()
    live = graph.maintain(gt.algorithms.WCC)
    made = way(graph)
    assert made.edges() == graph.edges()
    assert made.vertices() == graph.vertices()
    assert (made.version, made.num_edges) == (0, 3)
    with pytest.raises(InputError, match="no advance to roll back"):
        made.rollback()
    again = made.maintain(gt.algorithms.WCC)
    assert again.table() == live.table()


@way
def test_a_copy_goes_its_own_way(way: Callable[[Any], Any]) -> None:
    graph = moved_graph()
    before = graph.edges()
    made = way(graph)
    made.advance(insert=[1, 0], delete=[("d", "b")])
    made.advance(insert=[("new", "a", 1.0)])
    assert made.num_edges == 5
    assert (graph.edges(), graph.version) == (before, 2)
    graph.advance(delete=[("d", "a")])
    assert made.num_edges == 5
    with pytest.raises(InputError, match="already there"):
        made.advance(insert=[("new", "a", 2.0)])
    made.maintain(gt.algorithms.WCC).verify()


def _components(graph: gt.Graph) -> list[int]:
    found: list[int] = graph.maintain(gt.algorithms.WCC)["component"].tolist()
    return found


def test_a_graph_reaches_another_process() -> None:
    graph = moved_graph()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_components, (graph,)) == _components(graph)


def staying(folder: Path) -> dict[str, Any]:
    graph = gt.Graph([0], [1])
    flow = gt.Dataflow()
    rows = flow.input("rows", key=int)
    arranged = rows.arrange("key")
    return {
        "Live": graph.maintain(gt.algorithms.WCC),
        "Session": gt.session(folder),
        "Dataflow": flow,
        "Output": rows.output(),
        "Handle": arranged.hold(),
    }


@way
def test_what_stays_says_what_to_do(way: Callable[[Any], Any], tmp_path: Path) -> None:
    for name, thing in staying(tmp_path).items():
        with pytest.raises(InputError, match=f"{name} objects stay") as refused:
            way(thing)
        assert refused.value.hint


def test_what_holds_a_dataflow_is_not_pickled() -> None:
    flow = gt.Dataflow()
    with pytest.raises(InputError, match="Dataflow objects stay"):
        pickle.dumps(flow.input("rows", key=int))


@way
def test_programs_runs_and_errors_are_copied(way: Callable[[Any], Any]) -> None:
    graph = gt.Graph(["a"], ["b"])
    bound = way(gt.algorithms.BFS(source="a"))
    assert graph.maintain(bound)["hops"].tolist() == [0.0, 1.0]
    run = way(graph.run(way(gt.algorithms.WCC), {"all": [0]}))
    assert run.table("all")["id"].to_pylist() == ["a", "b"]
    error = way(InputError("what", where="there", hint="this"))
    assert str(error) == str(InputError("what", where="there", hint="this"))
