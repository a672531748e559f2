"""A few random live graphs with queries; more by `python -m tests.live.query_campaign`."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

import graphtide as gt
from graphtide.engine.queries import states
from graphtide.model.errors import LimitError
from graphtide.run.durable.records import SET
from tests.examples import repeats
from tests.live.graphs import graph_of, leave
from tests.live.query_campaign import play
from tests.oracle.live_graph import KINDS

SEEDS = repeats(3)


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_happens_answers_are_those_of_the_oracle(tmp_path: Path, seed: int) -> None:
    play(tmp_path / "g", 77_000 + seed, 30)


def asked(folder: Path) -> gt.LiveGraph:
    """A live graph with queries that fit their budget because they came one after the other."""
    pick = random.Random(4)
    rows = [
        (pick.randrange(40), pick.randrange(40), *pick.choice(list(KINDS.items())))
        for _ in range(120)
    ]
    graph = gt.live(folder, graph_of(rows))
    for at in range(12):
        graph.query(f"q{at}", gt.queries.Reach(at))
    return graph


def test_a_compaction_within_a_budget_that_is_too_small_from_scratch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is done, whatever queries lack: answers can be read, and advances wait for more room."""
    monkeypatch.setattr(states, "OBJECTS", 8)
    graph = asked(tmp_path / "g")
    edges, answers = graph.edges().num_rows, [len(query) for query in graph.queries.values()]
    kept = graph._queries()
    most = int(kept.engine.budget.used * 0.8)  # Less than it takes, as no `set_budget` allows.
    kept.engine.budget.most = most
    kept._kept_by = kept._kept_by._replace(most=most)
    graph.compact()
    assert [len(query) for query in graph.queries.values()] == answers
    with pytest.raises(LimitError, match="more than their budget"):
        graph.advance(insert=[(1, 2, 1.0, "b")])
    assert graph.edges().num_rows == edges
    graph.set_budget(None)
    assert [len(query) for query in graph.queries.values()] == answers
    graph.advance(insert=[(1, 2, 1.0, "b")])


def test_what_does_not_fit_at_a_start_begins_when_the_budget_allows_for_it(tmp_path: Path) -> None:
    graph = asked(tmp_path / "g")
    answers = [len(query) for query in graph.queries.values()]
    assert graph._writer is not None
    settings = {"budget": graph.query_bytes // 3, "patience": 1.0}
    graph._writer.remember(SET, settings=settings)
    leave(graph)
    with pytest.warns(RuntimeWarning, match="could not begin"):
        graph = gt.live(tmp_path / "g")
    assert len(graph.queries) < len(answers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph.set_budget("10 MB")
    assert [len(query) for query in graph.queries.values()] == answers
