"""Routes: edges of the version, whose costs add up, and of several the one that is promised.

The oracle goes all ways without a loop that a small graph has. It knows no program, and no value.
"""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.store.catalog import Catalog
from tests.examples import repeats
from tests.graphs import write_graph
from tests.scenario.stored import write_views

pytestmark = pytest.mark.interpreted

IDS = ["c", "a", "e", "b", "d", "f"]
WEIGHTS = (0.0, 0.5, 1.0, 1.0, 2.5)
A = gt.algorithms


@gt.program
class Upstream:
    """Against the edges, and slower by night."""

    depot: gt.Vertex
    hours: float = inf
    best = gt.Min(float)
    night = gt.Property(bool)

    def initialize(self, v):
        v.hours = 0.0 if v == self.depot else inf

    def traverse(self, u, e, v):
        v.best(u.hours + (2.0 * e.weight if e.night else e.weight))

    def update(self, v):
        v.hours = min(v.hours, v.best)

    direction = "in"


class Edge(NamedTuple):
    number: int
    src: str
    dst: str
    weight: float
    night: bool


class Case(NamedTuple):
    """A program, and what its routes are: from where, along which edges, at what cost."""

    program: Any
    sources: list[str]
    steps: Callable[[Edge], list[tuple[str, str]]]
    cost: Callable[[list[Edge]], float]
    better: Callable[[float, float], bool] = lambda one, other: one < other


def along(edge: Edge) -> list[tuple[str, str]]:
    return [(edge.src, edge.dst)]


def against(edge: Edge) -> list[tuple[str, str]]:
    return [(edge.dst, edge.src)]


CASES = {
    "bfs": Case(A.BFS(source="a"), ["a"], along, len),
    "shortest": Case(
        A.ShortestPaths(source="a"), ["a"], along, lambda way: sum(edge.weight for edge in way)
    ),
    "nearest": Case(
        A.NearestSource(sources=["a", "d"]), ["a", "d"], along,
        lambda way: sum(edge.weight for edge in way),
    ),
    "widest": Case(
        A.WidestPath(source="a"), ["a"], along,
        lambda way: min([inf, *(edge.weight for edge in way)]), lambda one, other: one > other,
    ),
    "upstream": Case(
        Upstream(depot="a"), ["a"], against,
        lambda way: sum(edge.weight * (2 if edge.night else 1) for edge in way),
    ),
}  # fmt: skip


def ways(case: Case, edges: list[Edge], target: str) -> Iterator[tuple[str, list[Edge]]]:
    """All ways to a target that meet no vertex twice, with where they begin."""

    def on(at: str, seen: set[str], way: list[Edge]) -> Iterator[list[Edge]]:
        if at == target:
            yield list(way)
        for edge in edges:
            for one, other in case.steps(edge):
                if one == at and other not in seen:
                    yield from on(other, seen | {other}, [*way, edge])

    for source in case.sources:
        for way in on(source, {source}, []):
            yield source, way


def best_costs(case: Case, edges: list[Edge]) -> dict[str, float]:
    best: dict[str, float] = {}
    for target in IDS:
        for _, way in ways(case, edges, target):
            cost = case.cost(way)
            if target not in best or case.better(cost, best[target]):
                best[target] = cost
    return best


def best_way(case: Case, edges: list[Edge], target: str) -> tuple[str, list[Edge]] | None:
    """Of those whose beginnings are best ways as well, the one with the fewest edges; then by the
    source, then by the numbers of edges.
    """
    best = best_costs(case, edges)

    def is_best(source: str, way: list[Edge]) -> bool:
        at, costs = source, [case.cost(way[:end]) for end in range(len(way) + 1)]
        for edge, cost in zip([None, *way], costs, strict=True):
            if edge is not None:
                at = next(other for one, other in case.steps(edge) if one == at)
            if cost != best[at]:
                return False
        return True

    found = [item for item in ways(case, edges, target) if is_best(*item)]
    if not found:
        assert target not in best
        return None
    return min(
        found,
        key=lambda item: (
            len(item[1]), IDS.index(item[0]), [edge.number for edge in item[1]],
        ),
    )  # fmt: skip


def check_route(case: Case, edges: list[Edge], target: str, found: Any) -> None:
    wanted = best_way(case, edges, target)
    if wanted is None:
        assert found is None
        return
    source, way = wanted
    assert [Edge(*row.values()) for row in found.edges.to_pylist()] == way
    assert found.cost == case.cost(way)
    assert (found[0], found[-1], len(found)) == (source, target, len(way) + 1)
    for (one, other), edge in zip(itertools.pairwise(found), way, strict=True):
        assert (one, other) in case.steps(edge)


def some_edges(pick: random.Random, count: int) -> dict[str, list[Any]]:
    """Parallel edges, loops and edges that cost nothing are among them."""
    return {
        "src": [pick.choice(IDS[:5]) for _ in range(count)],
        "dst": [pick.choice(IDS[:5]) for _ in range(count)],
        "weight": [pick.choice(WEIGHTS) for _ in range(count)],
        "night": [pick.random() < 0.3 for _ in range(count)],
    }


def edges_of(table: pa.Table) -> list[Edge]:
    return [Edge(*row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(repeats(2)))
def test_routes_of_programs_that_are_kept_current(name: str, seed: int, tmp_path: Path) -> None:
    pick, case = random.Random(f"{name}{seed}"), CASES[name]
    start = gt.Graph.from_frame(pa.table(some_edges(pick, 8)), vertices=pa.table({"id": IDS}))
    graph = gt.live(tmp_path / "g", start) if seed % 2 else start
    live = graph.maintain(case.program)
    for step in range(5):
        edges = edges_of(graph.edges())
        for target in IDS:
            check_route(case, edges, target, live.path(target))
        gone = pick.sample(graph.edges()["edge"].to_pylist(), min(3, len(edges)))
        graph.advance(some_edges(pick, 3), gone)
        if step == 2:
            graph.rollback()
        if step == 3:
            graph.compact()


@pytest.mark.parametrize("name", CASES)
def test_routes_in_views_in_memory_and_stored(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick, case = random.Random(name), CASES[name]
    columns = some_edges(pick, 14)
    graph = gt.Graph.from_frame(pa.table(columns), vertices=pa.table({"id": IDS}))
    bounds = {f"upto-{bound}": bound for bound in (0.4, 0.7, 1.5, 9.0)}
    wheres = {view: f"weight < {bound}" for view, bound in bounds.items()}
    views = graph.collection(wheres)
    versions = {view: graph.edges()["weight"].to_numpy() < at for view, at in bounds.items()}
    rows = [
        {**row, "src": IDS.index(row["src"]), "dst": IDS.index(row["dst"])}
        for row in pa.table(columns).to_pylist()
    ]
    kinds = {"weight": PropertyType.FLOAT, "night": PropertyType.BOOL}
    edge = tuple(Property(name, kind) for name, kind in kinds.items())
    schema = GraphSchema(id_type=PropertyType.STRING, vertex=(), edge=edge)
    catalog = Catalog(tmp_path)
    stored = write_graph(catalog, "net", schema, [{"id": item} for item in IDS], rows)
    holds = {view: lambda row, at=at: row["weight"] < at for view, at in bounds.items()}
    write_views(catalog, stored, "collection", "some", holds, rows)
    session = gt.session(tmp_path)
    session.collection("some").run(case.program, name="kept")
    monkeypatch.setattr("graphtide.optimize.cutting.STEP", 1e7)
    runs = [
        views.run(case.program),
        graph.run(case.program, versions),
        graph.run(case.program, versions, workers=2),
        session.results("kept"),
        gt.session(tmp_path).collection("some").run(case.program, name="cut", workers=2),
    ]
    for run in runs:
        for view, bound in bounds.items():
            edges = [item for item in edges_of(graph.edges()) if item.weight < bound]
            for target in IDS:
                check_route(case, edges, target, run.path(view, target))
    for target in IDS:  # An advance of the graph changes nothing of runs that were made.
        graph.advance(delete=graph.edges()["edge"].to_pylist()[:1])
        check_route(case, edges_of(views["upto-9.0"].to_arrow()), target, runs[0].path(3, target))


def test_a_copy_of_a_run_has_its_results_and_no_routes() -> None:
    graph = gt.Graph(["a"], ["b"], weight=[1.0])
    run = graph.run(A.BFS(source="a"), [[True]])
    assert run.path(0, "b") == ["a", "b"]
    copied = pickle.loads(pickle.dumps(run))
    assert copied.table(0).equals(run.table(0))
    with pytest.raises(InputError, match="does not know the edges of its views"):
        copied.path(0, "b")


def test_a_run_on_one_version_has_routes_until_the_graph_goes_on() -> None:
    graph = gt.Graph(["a", "a", "b", "c"], ["b", "c", "d", "d"], km=[1.0, 5.0, 2.0, 1.0])
    run = graph.run(A.ShortestPaths(source="a", weight="km"))
    route = run.path("d")
    assert (route, route.cost, run.path("a", "d").edges["edge"].to_pylist()) == (
        ["a", "b", "d"],
        3.0,
        [0, 2],
    )
    copied = pickle.loads(pickle.dumps(run))
    assert copied.table().equals(run.table())
    with pytest.raises(InputError, match="does not know the edges"):
        copied.path("d")
    graph.advance(insert=[("a", "d", 1.0)])
    graph.rollback()
    graph.advance(delete=[("b", "d", 2.0)])
    with pytest.raises(InputError, match="gone on since"):
        run.path("d")
    assert graph.run(A.ShortestPaths(source="a", weight="km")).path("d") == ["a", "c", "d"]


def test_what_has_no_route_says_so() -> None:
    graph = gt.Graph(["a", "b", "x"], ["b", "c", "y"], weight=[1.0, 2.0, 1.0])
    live = graph.maintain(A.ShortestPaths(source="a"))
    assert live.path("y") is None
    assert live.path("a", "x") is None
    assert (live.path("a"), live.path("a").cost, live.path("a").edges.num_rows) == (["a"], 0.0, 0)
    assert live.path("a", "c") == ["a", "b", "c"]
    with pytest.raises(InputError, match="no routes from 'b': it does not begin there"):
        live.path("b", "c")
    with pytest.raises(InputError, match="there is no vertex 'z'"):
        live.path("z")
    with pytest.raises(InputError, match=r"path\(target\), or path\(source, target\)"):
        live.path()
    near = graph.maintain(A.NearestSource(sources=["a", "b"]))
    with pytest.raises(InputError, match=r"has for 'c' is not from 'a'(.|\n)*the target alone"):
        near.path("a", "c")
    for program in (A.PageRank, A.WCC, A.PairDistances(pairs=[("a", "c")]), A.Triangles()):
        with pytest.raises(InputError, match=r"no routes behind its results(.|\n)*gt.queries"):
            graph.maintain(program).path("c")
    with pytest.raises(InputError, match="no routes behind its results"):
        graph.run(A.WCC, [[True] * 3]).path(0, "c")
