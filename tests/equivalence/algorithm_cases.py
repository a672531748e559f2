"""Every algorithm of the library with parameters for a small graph, and its naive twin."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphtide import algorithms
from graphtide.plan.programs import ParameterKind
from tests.oracle import algorithms as naive
from tests.oracle import walk_algorithms as walks
from tests.oracle.dataflow import strong_components

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`within` is the relative difference that floating sums and solved systems may show.

    `reads` is what the property of edges is called that programs read, and `names` is the result
    that names vertices.
    """

    program: Any
    twin: Callable[..., naive.Found]
    given: Parameters
    within: float = 0.0
    reads: str = "weight"
    names: str = ""

    @property
    def name(self) -> str:
        return self.program.name

    def parameters(self, pick: random.Random, vertices: int) -> Parameters:
        """Vertices by number, drawn at random; sets never overlap; the rest as given."""
        order = pick.sample(range(vertices), vertices)
        found: Parameters = {}
        for item in self.program.parameters:
            if item.kind is ParameterKind.VERTEX:
                found[item.name] = order.pop()
            elif item.kind is ParameterKind.VERTICES:
                found[item.name] = tuple(order.pop() for _ in range(min(len(order) // 2, 2)))
            elif item.kind is ParameterKind.PAIRS:
                ends = [pick.choices(range(vertices), k=2) for _ in range(5)]
                found[item.name] = tuple(dict.fromkeys((one, other) for one, other in ends))
            else:
                found[item.name] = self.given.get(item.name, item.default)
        return found

    def twin_results(
        self, parameters: Parameters, vertices: int, edges: naive.Edges
    ) -> naive.Found:
        """What the naive twin finds."""
        return self.twin(vertices, edges, **parameters)

    def shown(self, name: str, values: Any, ids: list[str]) -> Any:
        """A result as users see it: vertices that it names by their ids."""
        return [ids[vertex] for vertex in values] if name == self.names else values


def _source(twin: Callable[..., Any]) -> Callable[..., Any]:
    return lambda n, edges, source: twin(n, edges, [source])


def _pairs(twin: Callable[..., Any]) -> Callable[..., Any]:
    """Each pair alone."""
    return lambda n, edges, pairs: {
        "distance": [
            next(iter(twin(n, edges, source).values()))[target] for source, target in pairs
        ]
    }


DATAFLOWS = (Case(algorithms.SCC, strong_components, {}, names="component"),)

WALKS = (
    Case(algorithms.Triangles, walks.triangles, {}),
    Case(algorithms.ClusteringCoefficients, walks.clustering, {}, 1e-12),
    Case(algorithms.Transitivity, walks.transitivity, {}),
    Case(algorithms.CommonNeighbours, walks.common_neighbours, {}),
    Case(algorithms.AdamicAdar, walks.adamic_adar, {}, 1e-9),
    Case(algorithms.Rings, walks.ring_count, {"within": 1.5}, reads="time"),
    *(Case(algorithms.Cliques, walks.cliques, {"size": size}) for size in (1, 2, 3, 4, 5, 6)),
    Case(algorithms.TriadCensus, walks.triad_census, {}),
)

CASES = (
    Case(algorithms.BFS, naive.bfs, {}),
    Case(algorithms.ShortestPaths, _source(naive.bellman_ford), {}),
    Case(algorithms.NearestSource, naive.bellman_ford, {}),
    Case(algorithms.PairDistances, _pairs(_source(naive.bellman_ford)), {}),
    Case(algorithms.PairHops, _pairs(naive.bfs), {}),
    Case(algorithms.WCC, naive.components, {}, names="component"),
    Case(algorithms.Reachability, naive.reachability, {}),
    Case(algorithms.Ancestors, naive.ancestors, {}),
    Case(algorithms.WidestPath, naive.widest_path, {}),
    Case(algorithms.KHops, naive.k_hops, {"k": 2}),
    Case(algorithms.PageRank, naive.page_rank, {"iterations": 5}, 1e-9),
    Case(algorithms.ConvergedPageRank, naive.converged_page_rank, {"tolerance": 1e-9}, 1e-7),
    Case(algorithms.PersonalisedPageRank, naive.personalised_page_rank, {"iterations": 4}, 1e-9),
    Case(
        algorithms.ConvergedPersonalisedPageRank,
        naive.converged_personalised_page_rank,
        {"tolerance": 1e-9},
        1e-7,
    ),
    Case(algorithms.DegreeStatistics, naive.degree_statistics, {}, 1e-12),
    Case(algorithms.LabelPropagation, naive.label_propagation, {"iterations": 4}, 1e-9),
    Case(algorithms.CoTrainingEM, naive.co_training, {"iterations": 4}, 1e-9),
    Case(algorithms.BeliefPropagation, naive.belief_propagation, {"iterations": 3}, 1e-6),
    Case(algorithms.KCore, naive.k_core, {"k": 3}),
    Case(algorithms.CollaborativeFiltering, naive.collaborative_filtering, {"iterations": 3}, 1e-6),
)
