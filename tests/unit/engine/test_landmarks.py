"""Landmarks as users set them: what is refused, what they take, and what is told of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.queries.engine import QueryEngine
from graphtide.kernels.queries.pairs import TOO_FAR, beyond, rounding
from graphtide.model.errors import InputError

Q = gt.queries


def random_graph(vertices: int, edges: int, **given: object) -> gt.Graph:
    src, dst = np.random.default_rng(3).integers(vertices, size=(2, edges))
    return gt.Graph(src, dst, vertices=vertices, **given)


def engine_of(graph: gt.Graph) -> QueryEngine:
    engine = graph._queries().engine
    assert isinstance(engine, QueryEngine)
    return engine


def told(graph: gt.Graph) -> str:
    """What is told of landmarks."""
    return next(line for line in graph.explain().splitlines() if line.startswith("landmarks"))


@pytest.mark.parametrize("given", [0, -1, 257, 1.5, True, "ten", Q.Histories()])
def test_what_are_no_landmarks_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="landmarks"):
        random_graph(4, 4, landmarks=given)
    with pytest.raises(InputError, match="landmarks"):
        random_graph(4, 4).set_landmarks(given)  # type: ignore[arg-type]


def test_a_choice_that_is_not_there_and_histories_are_refused() -> None:
    with pytest.raises(InputError, match="cannot be chosen by 'near'"):
        Q.Landmarks(3, "near")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="kept by histories have no landmarks"):
        random_graph(4, 4, queries=Q.Histories(), landmarks=3)


def test_an_index_begins_with_the_first_pair_that_has_no_state_and_ends_with_the_last() -> None:
    graph = random_graph(60, 240, landmarks=Q.Landmarks(3))
    query = graph.query("q", Q.Path(0, 30))
    assert told(graph).endswith("there is no pair without its state")
    graph.set_budget("5 MB", patience=0)
    graph.advance([(0, 7)])
    assert told(graph).startswith("landmarks: 3 by degree (")
    budget = engine_of(graph).budget
    used = budget.used
    assert budget.used == graph.query_bytes
    query.verify()
    graph.drop_query("q")
    assert budget.used < used
    assert budget.used == graph.query_bytes


def test_landmarks_that_would_take_half_of_the_budget_are_left_out() -> None:
    graph = random_graph(300, 1_200, budget=700_000, landmarks=64)
    queries = [graph.query(f"q{at}", Q.Path(at, at + 100)) for at in range(4)]
    assert told(graph) == "landmarks: none, the budget has no room for them"
    graph.set_budget("20 MB")
    graph.advance([(0, 7)])
    assert told(graph).startswith("landmarks: 64 by degree")
    for query in queries:
        query.verify()
    graph.set_landmarks(None)
    assert "landmarks" not in graph.explain()
    assert engine_of(graph).budget.used == graph.query_bytes


def test_a_batch_that_takes_longer_than_to_begin_anew_begins_anew() -> None:
    graph = random_graph(80, 320, landmarks=4)
    graph.set_budget("5 MB", patience=0)
    query = graph.query("q", Q.Path(0, 30))
    indexes = engine_of(graph).states.landmarks
    before = indexes.begun
    edges = graph.edges().column("edge").to_pylist()
    graph.advance(delete=random.Random(2).sample(edges, 200))
    assert indexes.begun > before
    query.verify()
    graph.rollback()
    query.verify()


@pytest.mark.interpreted
def test_bounds_of_what_is_not_known_are_none() -> None:
    assert beyond(np.inf, 3.0, 0.0) == 0.0
    assert beyond(2.0 * TOO_FAR, np.inf, 0.0) == 0.0
    assert beyond(2.0, np.inf, 0.0) == np.inf
    assert beyond(2.0, 5.0, 0.0) == 3.0
    assert beyond(1.0, 2.0**53, 0.0) < 2.0**53 - 1.0
    assert rounding(0.0, 2.0**53) > 0.0
