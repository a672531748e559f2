"""Queries within budgets that change all the time: the same answers, and never a byte too many."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.engine.queries import pair_answers, pool, states
from graphtide.lang.paths import unparse_path
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.regular_paths import RegularPath
from graphtide.run.queries.standing_queries import StandingQueries
from tests.equivalence.query_cases import EXAMPLES, Beside, Watched, ask
from tests.equivalence.test_queries import NODE
from tests.property.path_trees import oracle_node, paths


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what everything begins with be small beside the entries of a few queries."""
    monkeypatch.setattr(pool, "_LEAST_ROOM", 4)
    monkeypatch.setattr(pool, "_LEAST_POOL", 4)
    monkeypatch.setattr(states, "OBJECTS", 8)
    monkeypatch.setattr(states, "TARGET", 8)
    for module in (pair_answers, pair_answers):
        monkeypatch.setattr(module, "MOST_LISTED", 3)


def kept_of(beside: Beside) -> StandingQueries:
    return beside.graph._queries()


def check_budget(beside: Beside, *, beyond: bool = False) -> None:
    """What is in use is what all parts take, and no more than is allowed, unless it may be."""
    kept = kept_of(beside)
    budget = kept.engine.budget
    assert budget.used == kept.nbytes
    assert beyond or budget.most is None or budget.used <= budget.most


MODES = (None, None, None, gt.queries.Histories(), gt.queries.Histories(drop=0.5))
"""How queries are kept: within budgets more often than not."""


class Squeezed:
    """Queries on a graph, whose settings are changed again and again.

    An advance may be refused for lack of room, a query too. What is never refused is to read what
    is there, and to go back: that takes what it needs beyond the budget.
    """

    def __init__(self, beside: Beside, regular: list[tuple[str, object]], mode: object) -> None:
        self.beside, self.regular, self.mode = beside, regular, mode
        self.watched: dict[str, Watched] = {}
        self.refused = 0
        self.beyond = False

    def set(self) -> None:
        """Another setting of how queries are kept."""
        self.beside.pick.choice([self.squeeze, self.squeeze, self.squeeze, self.mark])()

    def squeeze(self) -> None:
        """Another budget: none, or around what is in use."""
        graph, pick = self.beside.graph, self.beside.pick
        share = pick.choice([None, 0.5, 0.7, 0.9, 1.0, 1.2, 2.0])
        most = None if share is None else int(share * graph.query_bytes) + 1
        try:
            graph.set_budget(most, patience=pick.choice([0.0, 0.3, 9.0]))
        except LimitError:
            self.refused += 1
        except InputError:
            assert self.mode is not None
            assert most is not None
        else:
            self.beyond = False

    def mark(self) -> None:
        """Other landmarks, or none."""
        landmarks = self.beside.pick.choice([None, 1, gt.queries.Landmarks(2, "far")])
        try:
            self.beside.graph.set_landmarks(landmarks)
        except InputError:
            assert self.mode is not None
            assert landmarks is not None

    def ask(self, name: str) -> None:
        try:
            found = ask(self.beside, name, self.beside.pick.choice(self.regular))
        except LimitError:
            self.refused += 1
            assert name not in self.beside.graph.queries
        else:
            self.watched[name] = found

    def advance(self) -> bool:
        """Whether there was room for it; if not, all is as it was."""
        pick, version = self.beside.pick, self.beside.graph.version
        try:
            self.beside.advance(pick.randrange(5), pick.choice([0, pick.randrange(12)]))
        except LimitError:
            self.refused += 1
            self.beyond = True
            assert self.mode is None
            assert self.beside.graph.version == version
            return False
        return True

    def rollback(self) -> None:
        self.beside.rollback()
        self.beyond = True

    def check(self, *, advanced: bool) -> None:
        self._check_budget()
        self.beside.graph.explain()
        for item in self.watched.values():
            item.check(advanced=advanced)
            item.query.verify()
            item.query.explain()
            for vertex in self.beside.ids if item.kind.pairs is None else ():
                assert (item.query.path(vertex) is None) == (vertex not in item.told)
        self._check_budget()

    def _check_budget(self) -> None:
        if self.mode is None:
            check_budget(self.beside, beyond=self.beyond)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.integers(0, 2**32),
    st.lists(paths, min_size=3, max_size=3),
    st.sampled_from(MODES),
)
def test_settings_change_no_answer(seed: int, several: list[RegularPath], mode: object) -> None:
    """Whichever are set, in whatever order, between advances, rollbacks and refusals."""
    pick = random.Random(seed)
    beside = Beside(pick, pick.randrange(2, 8), pick.randrange(14), queries=mode)
    regular = [(unparse_path(path), oracle_node(path)) for path in several]
    squeezed = Squeezed(beside, regular, mode)
    for step in range(14):
        squeezed.check(advanced=act(squeezed, step))


def act(squeezed: Squeezed, step: int) -> bool:
    """One random act; whether it was an advance."""
    beside, watched = squeezed.beside, squeezed.watched
    pick, chosen = beside.pick, beside.pick.random()
    if pick.random() < 0.6:
        squeezed.set()
    if len(watched) < 4 or chosen < 0.15:
        squeezed.ask(f"q{step}")
        for item in watched.values():
            item.told = item.wanted()
    elif chosen < 0.22:
        name = pick.choice(list(watched))
        beside.graph.drop_query(name)
        del watched[name]
    elif chosen < 0.4 and beside.versions:
        squeezed.rollback()
        return False
    return squeezed.advance()


def drop_states(beside: Beside) -> None:
    """Let all queries keep their answers alone."""
    kept_of(beside).engine.states.give_up(1 << 40)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("costs", [(0.0, 1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.7, 1e-17)])
def test_answers_alone_follow_a_graph_that_shrinks_and_comes_back(
    seed: int, costs: tuple[float, ...]
) -> None:
    """With costs whose sums depend on their order, by the definition that adds up along walks."""
    pick = random.Random(seed)
    beside = Beside(pick, 8, 30, costs)
    watched = [ask(beside, f"q{at}", ("(a|^b)*/!c?", NODE)) for at in range(14)]
    exact = 0.1 not in costs
    while beside.edges:
        drop_states(beside)
        beside.advance(pick.randrange(2), 4)
        for item in watched:
            item.query.verify()
            if exact:
                item.check(advanced=True)
    while beside.versions:
        beside.rollback()
        for item in watched:
            item.query.verify()
            if exact:
                item.check(advanced=False)
    check_budget(beside)


def least_budget(graph: gt.Graph) -> int:
    """The fewest bytes in which the queries fit."""
    low, high = 0, 1 << 20
    while high - low > 1:
        middle = (low + high) // 2
        try:
            graph.set_budget(middle, patience=0.0)
            high = middle
        except LimitError:
            low = middle
    return high


@pytest.mark.parametrize("seed", range(4))
def test_a_refused_advance_leaves_answers_that_can_be_read(seed: int) -> None:
    """It had let go of the answers that it could not replace: each look at them was refused."""
    pick, refused = random.Random(seed), 0
    ends = [(pick.randrange(12), pick.randrange(12)) for _ in range(30)]
    graph = gt.Graph(*map(list, zip(*ends, strict=True)), vertices=12)
    queries = [graph.query(f"from {at}", gt.queries.Hops(at, 3)) for at in range(3)]
    least = least_budget(graph)
    for beyond in range(0, 300, 10):
        graph.set_budget(least + beyond, patience=0.0)
        before = [query.table().to_pylist() for query in queries]
        batch = [(pick.randrange(12), pick.randrange(12)) for _ in range(6)]
        try:
            graph.advance(batch)
        except LimitError:
            refused += 1
            assert [query.table().to_pylist() for query in queries] == before
        else:
            graph.rollback()
    assert refused
