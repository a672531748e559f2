"""Dataflows as programs: kept current on a graph, run over versions, refused where wrong."""

from __future__ import annotations

import gc
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.algorithms.dataflow import distances, reachable
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.components import label_strong_components, new_search
from graphtide.run.collection.facts import run_identity
from graphtide.run.dataflow import maintainer as maintainers
from graphtide.run.dataflow.maintainer import dataflow_identity
from graphtide.run.live.programs import compiled_program
from tests.oracle.algorithms import breadth_first
from tests.oracle.dataflow import strong_components

col = gt.dataflow.col
Pair = tuple[int, int]


@gt.dataflow.program("followers", int, missing=0)
def followers(edges: Any) -> Any:
    """How many edges lead to each vertex."""
    return edges.count(by="dst")


@gt.dataflow.program("load", float, missing=0.0, properties={"weight": float})
def load(edges: Any) -> Any:
    """The greatest weight of an edge to each vertex."""
    return edges.map(node=col.dst, load=col.weight).max(by="node")


@gt.dataflow.program("hops", int, missing=-1)
def hops(edges: Any, vertices: Any, *, source: gt.Vertex, most: int = 99) -> Any:
    """Edges on a shortest way from the source, no more than so many."""
    found = distances(edges, vertices.filter(col.node == source))
    return found.filter(col.hops <= most)


@gt.dataflow.program("reached", bool, missing=False)
def reached(edges: Any, vertices: Any, *, sources: gt.Vertices) -> Any:
    roots = [vertices.filter(col.node == source) for source in sources]
    found = reachable(edges, roots[0].concat(*roots[1:]).distinct())
    return found.map(node=col.node, reached=col.node == col.node)


def strongly(vertices: int, edges: Any) -> list[int]:
    return strong_components(vertices, list(edges))["component"]


@pytest.mark.parametrize("seed", range(12))
def test_a_search_labels_as_the_oracle_does(seed: int) -> None:
    pick = random.Random(seed)
    vertices = pick.randrange(1, 16)
    pairs = [
        (pick.randrange(vertices), pick.randrange(vertices)) for _ in range(pick.randrange(40))
    ]
    src, dst = (np.array([pair[at] for pair in pairs], np.int32) for at in (0, 1))
    graph = ResidentGraph(vertices, src, dst)
    found = np.empty(vertices, np.int64)
    label_strong_components(graph.adjacency, new_search(vertices), found)
    assert found.tolist() == strongly(vertices, pairs)


@pytest.mark.compiled
def test_a_search_goes_as_deep_as_the_graph() -> None:
    many = 300_000
    src = np.arange(many, dtype=np.int32)
    ring = ResidentGraph(many, src, np.roll(src, -1))
    assert not gt.algorithms.SCC.scratch(ring).any()  # type: ignore[misc]
    path = ResidentGraph(many, src[:-1], src[1:])
    assert (gt.algorithms.SCC.scratch(path) == src).all()  # type: ignore[misc]


class Model:
    """A graph as a list of edges, and everything that has been done to it."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.vertices = 8
        self.edges: list[Pair] = [self._pair() for _ in range(14)]
        self.past: list[tuple[int, list[Pair]]] = []

    def _pair(self) -> Pair:
        return self.pick.randrange(self.vertices), self.pick.randrange(self.vertices)

    def advance(self) -> tuple[list[Pair], list[Pair]]:
        """Edges in and out, at times many out, and at times new vertices."""
        self.past.append((self.vertices, list(self.edges)))
        gone = self.pick.sample(self.edges, self.pick.randrange(len(self.edges) + 1))
        come = [self._pair() for _ in range(self.pick.randrange(9))]
        if self.pick.random() < 0.4:
            come.append((self.pick.randrange(self.vertices), self.vertices))
            self.vertices += 1
        left = Counter(self.edges) - Counter(gone)
        self.edges = [*left.elements(), *come]
        return come, gone

    def rollback(self) -> None:
        self.vertices, self.edges = self.past.pop()


@pytest.mark.parametrize("seed", range(6))
def test_kept_current_through_advances_and_rollbacks(seed: int) -> None:
    pick = random.Random(f"dataflow live {seed}")
    model = Model(pick)
    graph = gt.Graph(*zip(*model.edges, strict=True), vertices=range(model.vertices))
    live, counted = graph.maintain(gt.algorithms.SCC), graph.maintain(followers)
    for _ in range(25):
        before = dict(zip(graph.vertices()["id"].to_pylist(), live["component"], strict=True))
        if model.past and pick.random() < 0.4:
            model.rollback()
            live.rollback()
        else:
            come, gone = model.advance()
            changed = live.advance(insert=come, delete=gone).to_pylist()
            after = dict(zip(graph.vertices()["id"].to_pylist(), live["component"], strict=True))
            told = {row["id"]: (row["old"], row["new"]) for row in changed}
            assert told == {
                vertex: (before.get(vertex), after[vertex])
                for vertex in after
                if before.get(vertex) != after[vertex]
            }
        assert live["component"].tolist() == strongly(model.vertices, model.edges)
        degrees = Counter(dst for _, dst in model.edges)
        assert counted["followers"].tolist() == [degrees[at] for at in range(model.vertices)]
        live.verify()
    graph.forget()


@pytest.mark.parametrize("order", ["chain", "tree"])
@pytest.mark.parametrize("strategy", ["differential", "adaptive", "scratch"])
def test_programs_of_users_run_over_versions(order: Any, strategy: Any) -> None:
    pick = np.random.default_rng(7)
    ends, weights = pick.integers(0, 9, (2, 40)), pick.random(40)
    ids = [f"v{at}" for at in range(9)]
    graph = gt.Graph(
        [ids[at] for at in ends[0]], [ids[at] for at in ends[1]], vertices=ids, weight=weights
    )
    versions = [pick.random(40) < share for share in (0.3, 0.35, 0.1, 0.0, 0.9, 0.85)]
    how: dict[str, Any] = {"order": order, "strategy": strategy, "verify": 2}
    by_load = graph.run(load, versions, **how)
    by_hops = graph.run(hops(source="v2", most=3), versions, **how)
    by_reach = graph.run(reached(sources=["v1", "v5"]), versions, **how)
    for at, held in enumerate(versions):
        edges = [(int(src), int(dst), 1.0) for src, dst in ends.T[held]]
        most = [max(weights[held & (ends[1] == node)], default=0.0) for node in range(9)]
        assert by_load.values(at).tolist() == most
        ways = breadth_first(9, edges, [2])
        assert by_hops.values(at).tolist() == [int(way) if way <= 3 else -1 for way in ways]
        both = breadth_first(9, edges, [1, 5])
        assert by_reach.values(at).tolist() == [way < 99 for way in both]
    assert by_reach.values(0).dtype == np.bool_
    assert by_reach.summary().column_names == ["view", "edges", "true"]


def test_a_property_may_have_another_name_in_the_data() -> None:
    graph = gt.Graph([0, 0], [1, 1], km=[2.0, 5.0], weight=[9.0, 9.0])
    live = graph.maintain(load(weight="km"))
    assert live.table().column("load").to_pylist() == [0.0, 5.0]
    graph.advance(insert=[(1, 0, 7.0, 9.0)], delete=[1])
    assert live.table().column("load").to_pylist() == [7.0, 2.0]
    assert str(load(weight="km")) == "load(weight='km')"
    assert dataflow_identity(load(weight="km")) != dataflow_identity(load())
    with pytest.raises(gt.InputError) as caught:
        gt.Graph([0], [1], km=[1.0]).maintain(load)
    assert "load(weight='km')" in (caught.value.hint or "")
    with pytest.raises(gt.InputError, match="'weight' cannot be 3"):
        load(weight=3)


def test_summaries_count_components_as_those_of_wcc() -> None:
    graph = gt.Graph([0, 1, 2, 3], [1, 0, 3, 4])
    run = graph.run(gt.algorithms.SCC(), {"all": [0, 1, 2, 3], "less": [0, 2]})
    assert run.summary().to_pylist() == [
        {"view": "all", "edges": 4, "components": 4, "largest": 2, "single": 3},
        {"view": "less", "edges": 2, "components": 5, "largest": 1, "single": 5},
    ]
    assert run.components("all").to_pylist()[0] == {"id": 0, "size": 2}
    assert (run.mode, run.fields) == ("dataflow", ("component",))


@pytest.mark.compiled
def test_a_state_that_is_given_up_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    begun = maintainers.DataflowMaintainer._begun

    def watched(self: Any) -> Any:
        held.append(begun(self))
        return held[-1]

    monkeypatch.setattr(maintainers.DataflowMaintainer, "_begun", watched)
    graph = gt.Graph(range(50), [(at + 1) % 50 for at in range(50)])
    gc.disable()
    try:
        live = graph.maintain(gt.algorithms.SCC)
        for _ in range(3):
            live._kept.start(0, 50)
    finally:
        gc.enable()
    sizes = [len(item.flow.host.machine.words) for item in held]
    assert sizes[:3] == [0, 0, 0]
    assert sizes[3] > 0


def test_what_a_program_must_return_is_checked() -> None:
    graph = gt.Graph([0, 1], [1, 2])

    @gt.dataflow.program("wide", int)
    def wide(edges: Any) -> Any:
        return edges.map(a=col.src, b=col.dst, c=col.dst)

    @gt.dataflow.program("nothing", int)
    def nothing(edges: Any) -> Any:
        return 3

    @gt.dataflow.program("outside", int, missing=0)
    def outside(edges: Any) -> Any:
        return edges.map(node=col.src + 7, value=col.dst).distinct()

    @gt.dataflow.program("some", int)
    def some(edges: Any) -> Any:
        return edges.count(by="src")

    for program, told in (
        (wide, "a int, b int, c int"),
        (nothing, "returns int"),
        (outside, "gives a value to 7"),
        (some, "gives no some to vertex 2"),
    ):
        with pytest.raises(gt.GraphtideError, match=told):
            graph.maintain(program)


def test_a_batch_that_is_refused_changes_nothing() -> None:
    @gt.dataflow.program("follower", int, missing=-1)
    def follower(edges: Any) -> Any:
        return edges.map(node=col.dst, follower=col.src)

    graph = gt.Graph([0, 1], [1, 2], vertices=range(4))
    live = graph.maintain(follower)
    for _ in range(2):
        with pytest.raises(gt.GraphtideError, match="vertex 1 several values"):
            live.advance(insert=[(3, 1)])
        assert live["follower"].tolist() == [-1, 0, 1, -1]
        assert graph.num_edges == 2
    live.advance(insert=[(2, 3)], delete=[(0, 1)])
    assert live["follower"].tolist() == [-1, -1, 1, 2]
    live.rollback()
    live.verify()
    assert live["follower"].tolist() == [-1, 0, 1, -1]
    live.advance(insert=[(2, 0)])
    assert live["follower"].tolist() == [2, 0, 1, -1]


def test_mistakes_in_declarations_are_told() -> None:
    with pytest.raises(gt.GraphtideError, match="cannot be of type"):
        gt.dataflow.program("name", str)
    with pytest.raises(gt.GraphtideError, match="cannot be called with collections"):
        gt.dataflow.program("value", int)(lambda: None)
    with pytest.raises(gt.GraphtideError, match="'most' has no type"):

        @gt.dataflow.program("value", int)
        def untyped(edges: Any, *, most=3) -> Any: ...  # type: ignore[no-untyped-def]

    with pytest.raises(gt.GraphtideError, match="given by name"):
        hops(3)
    with pytest.raises(gt.GraphtideError, match="needs a value for 'source'"):
        hops()
    with pytest.raises(gt.GraphtideError, match="no mode 'exact'"):
        compiled_program(followers, "exact")
    graph = gt.Graph([0, 1], [1, 2])
    with pytest.raises(gt.GraphtideError, match="names a vertex that is not there: 9"):
        graph.maintain(hops(source=9))
    with pytest.raises(gt.GraphtideError, match="'weight', which the edges do not have"):
        graph.maintain(load)
    with pytest.raises(gt.GraphtideError, match="neither a tolerance"):
        graph.maintain(followers, tolerance=0.1)


def test_a_program_is_known_by_what_it_does() -> None:
    def made(by: str) -> Any:
        @gt.dataflow.program("degree", int, missing=0)
        def degree(edges: Any) -> Any:
            return edges.count(by=by)

        return degree()

    assert dataflow_identity(made("src")) == dataflow_identity(made("src"))
    assert dataflow_identity(made("src")) != dataflow_identity(made("dst"))
    one, other = (
        run_identity(compiled_program(hops(source=1, most=most), "auto"), "") for most in (2, 3)
    )
    assert one != other


def test_explain_shows_the_dataflow() -> None:
    graph = gt.Graph([0, 1, 1], [1, 0, 2])
    live = graph.maintain(gt.algorithms.SCC)
    told = live.explain()
    assert told.startswith("dataflow SCC")
    assert "loop strong components" in told
    assert "dataflow mode" in told
    assert "SCC()" in repr(live)
