# mypy: ignore-errors
"""Programs that fail on made-up data and not on the user's: a run compiles on two vertices."""

from __future__ import annotations

from collections import Counter

import pytest

import graphtide as gt
from graphtide.engine.synchronous import facts

EDGES = [(0, 1), (1, 2), (2, 0), (0, 2), (0, 1)]
VIEWS = {"all": [0, 1, 2, 3, 4], "ring": [0, 1, 2], "one": [3], "none": []}
STRATEGIES = ["scratch", "differential", "adaptive"]


@gt.program
class Ballots:
    """An array of one, which every kind of the data is an index of; a kind of 1 is none."""

    total: int
    votes = gt.Count(size=1)
    kind = gt.Property(int)

    def traverse(self, u, e, v):
        v.votes[e.kind]()

    def update(self, v):
        v.total = v.votes[0]


@gt.program
class Tides:
    """Ends at once where all kinds are 0, and never where one on a ring is 1."""

    level: int = 1
    got = gt.Sum(int)
    kind = gt.Property(int)

    def traverse(self, u, e, v):
        v.got(e.kind * u.level)

    def update(self, v):
        v.level = v.level + v.got


def graph() -> gt.Graph:
    return gt.Graph(*zip(*EDGES, strict=True), kind=[0] * len(EDGES))


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("mode", ["auto", "exact"])
def test_an_index_that_only_the_data_have(strategy: str, mode: str) -> None:
    run = graph().run(Ballots, VIEWS, strategy=strategy, mode=mode, verify=1)
    for view, edges in VIEWS.items():
        came = Counter(EDGES[edge][1] for edge in edges)
        assert run.table(view)["total"].to_pylist() == [came[vertex] for vertex in range(3)]


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_that_ends_on_the_data_alone(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MOST_ITERATIONS", 50)
    run = graph().run(Tides, VIEWS, strategy=strategy, verify=1)
    assert [run.table(view)["level"].to_pylist() for view in VIEWS] == [[1, 1, 1]] * 4


@pytest.mark.interpreted
def test_the_data_are_refused_as_before() -> None:
    bad = gt.Graph([0, 1, 2], [1, 2, 0], kind=[0, 1, 0])
    with pytest.raises(gt.GraphtideError, match="index 1 is outside of an array of 1"):
        bad.run(Ballots, {"all": [0, 1, 2]})
    assert bad.run(Ballots, {"some": [0, 2]}).table("some")["total"].to_pylist() == [1, 1, 0]
