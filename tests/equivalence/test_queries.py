"""Queries of all kinds on graphs that change, after every step what the oracle says."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtide.kernels.queries import rows
from graphtide.lang.paths import unparse_path
from graphtide.plan.regular_paths import RegularPath
from tests.equivalence.query_cases import EXAMPLES, Beside, Watched, ask
from tests.property.path_trees import oracle_node, paths


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.lists(paths, min_size=3, max_size=3))
def test_queries_follow_come_go_and_roll_back(seed: int, several: list[RegularPath]) -> None:
    pick = random.Random(seed)
    beside = Beside(pick, pick.randrange(2, 8), pick.randrange(14))
    regular = [(unparse_path(path), oracle_node(path)) for path in several]
    watched: dict[str, Watched] = {}
    for step in range(10):
        advanced = step_once(beside, watched, regular, step)
        for item in watched.values():
            item.check(advanced=advanced)
            item.query.verify()


def step_once(
    beside: Beside, watched: dict[str, Watched], regular: list[tuple[str, object]], step: int
) -> bool:
    """One random act; whether it was an advance."""
    pick = beside.pick
    act = pick.random()
    if len(watched) < 3 or act < 0.15:
        watched[f"q{step}"] = ask(beside, f"q{step}", pick.choice(regular))
        for item in watched.values():
            item.told = item.wanted()
        beside.advance(pick.randrange(3), pick.randrange(3))
        return True
    if act < 0.25:
        name = pick.choice(list(watched))
        beside.graph.drop_query(name)
        del watched[name]
    if act < 0.4 and beside.versions:
        beside.rollback()
        return False
    # Heavy deletion: graphs shrink more often than they grow.
    beside.advance(pick.randrange(5), pick.randrange(6))
    return True


@pytest.mark.interpreted
@pytest.mark.parametrize("signs", [0, 1, 3])
def test_edges_that_have_the_same_sign(signs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may have come by an edge is asked in vain, and nothing else happens."""
    monkeypatch.setattr(rows, "SIGNS", signs)
    for seed in range(3):
        test_a_graph_that_loses_all_its_edges(seed)


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_that_loses_all_its_edges(seed: int) -> None:
    pick = random.Random(seed)
    beside = Beside(pick, 7, 30)
    watched = [ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)) for at in range(12)]
    while beside.edges:
        beside.advance(0, 3)
        for item in watched:
            item.check(advanced=True)
    while beside.versions:
        beside.rollback()
        for item in watched:
            item.check(advanced=False)


NODE = (
    "sequence",
    [
        ("repeat", ("alternative", [("step", "a"), ("inverse", ("step", "b"))]), 0, None),
        ("repeat", ("except", ("c",), None), 0, 1),
    ],
)
