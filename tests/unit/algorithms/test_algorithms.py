"""Each algorithm, run by the book on small graphs, computes what its naive twin does."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest

from graphtide import algorithms
from graphtide.plan.program_analysis import selection
from tests.equivalence.algorithm_cases import CASES, DATAFLOWS, WALKS, Case
from tests.equivalence.campaigns import SHAPES, make_campaign
from tests.oracle.programs import run, run_pairs


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_program_means_what_its_twin_computes(case: Case) -> None:
    for shape in SHAPES:
        pick = random.Random(f"{case.name} {shape}")
        campaign = make_campaign(pick, shape)
        parameters = case.parameters(pick, campaign.vertices)
        given = (case.program.plan, parameters, campaign.vertices, campaign.edges())
        state = run(*given)[0] if case.program.plan.pairs is None else run_pairs(*given)
        edges = [(src, dst, data["weight"]) for src, dst, data in campaign.edges()]
        wanted = case.twin_results(parameters, campaign.vertices, edges)
        for name, values in wanted.items():
            np.testing.assert_allclose(
                np.array(state[name], float), np.array(values, float), rtol=case.within, atol=1e-12
            )


def test_every_algorithm_has_a_case_and_says_what_it_costs() -> None:
    cases = (*CASES, *DATAFLOWS, *WALKS)
    assert sorted({case.name for case in cases}) == sorted(algorithms.__all__)
    for case in cases:
        told = case.program.__doc__
        assert "mode" in told.lower() or "as PageRank" in told or "backwards" in told, case.name


def test_fixpoint_mode_is_proved_where_the_documentation_says_so() -> None:
    settling = {
        case.name
        for case in CASES
        if (found := selection(case.program.plan)) is not None
        and found.settles
        and case.program.plan.iterations is None
    }
    assert settling == {
        "BFS",
        "ShortestPaths",
        "NearestSource",
        "PairDistances",
        "PairHops",
        "WCC",
        "Reachability",
        "Ancestors",
        "WidestPath",
    }


def test_ranks_are_those_of_networkx_where_every_vertex_has_out_edges() -> None:
    graph = nx.MultiDiGraph(nx.gnp_random_graph(12, 0.3, seed=5, directed=True))
    graph.add_edges_from((v, (v + 1) % 12) for v in range(12))
    edges = [(src, dst, {}) for src, dst in graph.edges()]
    state, _ = run(algorithms.ConvergedPageRank.plan, {"tolerance": 1e-12}, 12, edges)
    walk = np.linalg.matrix_power(np.asarray(nx.google_matrix(graph, alpha=0.85)), 200)
    np.testing.assert_allclose(np.array(state["rank"]) / 12, walk[0], 1e-6)


def test_cores_and_components_are_those_of_networkx() -> None:
    graph = nx.gnp_random_graph(20, 0.15, seed=3)
    edges = [(src, dst, {}) for src, dst in graph.edges()]
    core = run(algorithms.KCore.plan, {"k": 2}, 20, edges)[0]["inside"]
    assert {v for v in range(20) if core[v]} == set(nx.k_core(graph, 2))
    label = run(algorithms.WCC.plan, {}, 20, edges)[0]["component"]
    assert label == [min(nx.node_connected_component(graph, v)) for v in range(20)]


def test_factors_come_near_the_ratings() -> None:
    """A matrix of rank two is found again, but for the penalty."""
    pick = np.random.default_rng(1)
    ratings = pick.random((6, 2)) @ pick.random((2, 5))
    edges = [(u, 6 + i, {"weight": ratings[u, i]}) for u in range(6) for i in range(5)]
    given = {"regularisation": 1e-6, "iterations": 20}
    factors = np.array(run(algorithms.CollaborativeFiltering.plan, given, 11, edges)[0]["factors"])
    np.testing.assert_allclose(factors[:6] @ factors[6:].T, ratings, atol=1e-2)


def test_all_that_read_a_property_take_the_name_that_the_data_have() -> None:
    reads = {
        case.name: columns
        for case in (*CASES, *WALKS)
        if (columns := getattr(case.program, "columns", ()))
    }
    assert reads == {
        "ShortestPaths": ("weight",),
        "NearestSource": ("weight",),
        "PairDistances": ("weight",),
        "WidestPath": ("weight",),
        "CoTrainingEM": ("weight",),
        "CollaborativeFiltering": ("weight",),
        "Rings": ("time",),
    }
