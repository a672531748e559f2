"""Views that follow each other on shards, edges coming and going: what the naive run gives."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide.lang.python as gt
from graphtide.algorithms import BFS, WCC
from graphtide.engine.code import program_code
from graphtide.engine.shards.supersteps import Keeping
from graphtide.run.live.named_graph import VertexColumns
from tests.compiled import few_compiled
from tests.equivalence.campaigns import SHAPES, Campaign, make_campaign
from tests.equivalence.programs import SELECTING
from tests.equivalence.sharded import Sharded
from tests.equivalence.test_synchronous import parameters_for
from tests.examples import repeats
from tests.oracle.programs import run
from tests.unit.engine.test_shards import Kept

ROUNDS = repeats(1)
SEED = os.environ.get("GRAPHTIDE_CAMPAIGN_SEED", "0")
WAYS = [(1, 1), (2, 2), (3, 2), (3, 3), (7, 3), (16, 7)]
"""Numbers of shards and tasks; some shards have no vertex."""


@gt.program
class Queues:
    """A program without a form in lanes: the longest queue on the way, at its shortest."""

    source: gt.Vertex
    longest: int = 1000
    best = gt.Min(int)

    def initialize(self, v):
        v.longest = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(max(u.longest, u.id // 3))

    def update(self, v):
        v.longest = min(v.longest, v.best)


PLANS = [item.plan for item in (*SELECTING, Queues)]


def toggled(pick: random.Random, campaign: Campaign, count: int) -> np.ndarray:
    """Views of single edges, each with some edges of the last one in or out."""
    found = []
    for _ in range(count):
        found.append(list(campaign.live))
        share = pick.choice([0.1, 0.3, 0.3, 0.8])
        campaign.live = [live ^ (pick.random() < share) for live in campaign.live]
    return np.array(found)


def check(campaign: Campaign, program: Any, given: dict[str, Any], pick: random.Random) -> None:
    """Follow views of a campaign, and compare each with the oracle."""
    views = toggled(pick, campaign, 7)
    classes = range(len(campaign.ends))
    weights = {"weight": campaign.weights}
    shards, tasks = pick.choice(WAYS)
    parts = Sharded(campaign.vertices, shards, campaign.src, campaign.dst, classes, weights)
    words = {"follow": True, "always": pick.random() < 0.7}
    found = parts.run(program, tuple(given.values()), tasks, views, **words)  # type: ignore[arg-type]
    for at, (live, values) in enumerate(zip(views, found, strict=True)):
        campaign.live = live.tolist()
        expected, _ = run(program, given, campaign.vertices, campaign.edges())
        for name, column in expected.items():
            assert values[name].tolist() == column, (at, name, shards, tasks, words)


@pytest.mark.parametrize("program", few_compiled(PLANS, ("WCC",)))
@pytest.mark.parametrize("shape", SHAPES)
def test_views_follow_each_other(program: Any, shape: Any) -> None:
    for turn in range(ROUNDS):
        pick = random.Random(f"{SEED} {turn} {program.name} {shape}")
        campaign = make_campaign(pick, shape)
        given = parameters_for(program, pick, campaign.vertices)
        check(campaign, program, given, pick)


@pytest.mark.interpreted
@pytest.mark.parametrize("program", PLANS, ids=lambda item: item.name)
def test_long_cycles_hold_nobody_up(program: Any) -> None:
    """Rings that hang on the rest by few edges: values must not go round when these leave."""
    for turn in range(2 * ROUNDS):
        pick = random.Random(f"{SEED} {turn} rings {program.name}")
        rings, length = 3, pick.randrange(3, 9)
        ends = [
            (ring * length + at, ring * length + (at + 1) % length)
            for ring in range(rings)
            for at in range(length)
        ]
        vertices = rings * length
        ends += [tuple(pick.sample(range(vertices), 2)) for _ in range(6)]
        pick.shuffle(ends)
        weights = [pick.choice([0.0, 0.0, 1.0]) for _ in ends]
        campaign = Campaign(vertices, ends, weights, [True] * len(ends))
        given = parameters_for(program, pick, vertices)
        check(campaign, program, given, pick)


@gt.program
class Fares:
    """Messages read where they go to; both ways, from any of some vertices."""

    stations: gt.Vertices
    fare = gt.VertexProperty(int)
    line = gt.VertexProperty(str)
    spent: int = 10_000
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        if v in self.stations:
            v.spent = 0

    def traverse(self, u, e, v):
        if v.line != "closed":
            v.best(u.spent + v.fare)

    def update(self, v):
        v.spent = min(v.spent, v.best)


@gt.program
class OneWayFares:
    """The same along edges alone."""

    stations: gt.Vertices
    fare = gt.VertexProperty(int)
    line = gt.VertexProperty(str)
    spent: int = 10_000
    best = gt.Min(int)

    def initialize(self, v):
        if v in self.stations:
            v.spent = 0

    def traverse(self, u, e, v):
        if v.line != "closed" and u.line != v.line:
            v.best(u.spent + u.fare + v.fare)

    def update(self, v):
        v.spent = min(v.spent, v.best)


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [Fares, OneWayFares])
def test_messages_that_read_both_ends(program: Any) -> None:
    for turn in range(3 * ROUNDS):
        pick = random.Random(f"{SEED} {turn} {program.plan.name}")
        campaign = make_campaign(pick, "random")
        table = {
            "fare": [pick.randrange(3) for _ in range(campaign.vertices)],
            "line": [pick.choice(["a", "b", "closed", None]) for _ in range(campaign.vertices)],
        }
        views, classes = toggled(pick, campaign, 8), range(len(campaign.ends))
        shards, tasks = pick.choice(WAYS)
        parts = Sharded(campaign.vertices, shards, campaign.src, campaign.dst, classes)

        def data(rows: np.ndarray, table: pa.Table = pa.table(table)) -> VertexColumns:  # noqa: B008
            return VertexColumns(table.take(pa.array(rows)), len(rows))

        words: dict[str, Any] = {"data": data, "follow": True, "always": True}
        found = parts.run(program.plan, ((0, 1),), tasks, views, **words)
        given = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        for live, values in zip(views, found, strict=True):
            campaign.live = live.tolist()
            edges = campaign.edges()
            expected, _ = run(
                program.plan, {"stations": (0, 1)}, campaign.vertices, edges, given=given
            )
            assert values["spent"].tolist() == expected["spent"], (turn, shards, tasks)


def grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges to the right and down, in a square."""
    at = np.arange(side * side).reshape(side, side)
    right, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return tuple(np.concatenate([way[end].ravel() for way in (right, down)]) for end in (0, 1))  # type: ignore[return-value]


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [WCC, BFS])
def test_what_leaves_far_away_costs_little(program: Any) -> None:
    """Work is in proportion to who falls: states that are sent, and supersteps."""
    src, dst = grid(12)
    views = np.ones((3, len(src)), np.bool_)
    views[1, np.flatnonzero(dst == 143)] = False
    views[2, np.flatnonzero(dst == 143)[1:]] = False
    parts = Sharded(144, 7, src, dst, range(len(src)))
    parts.run(program.plan, () if program is WCC else (0,), 2, views, follow=True)
    first, less, more = parts.ran[0]
    assert (first.followed, less.followed, more.followed) == (False, True, True)
    assert (less.fallen, more.fallen) == (1, 0)
    assert max(less.supersteps, more.supersteps) <= 2
    assert first.supersteps >= 22
    assert 20 * (less.sent + more.sent) < first.sent


@pytest.mark.interpreted
def test_programs_of_both_forms_follow() -> None:
    codes = [program_code(plan) for plan in PLANS]
    assert all(item.selection is not None and item.selection.settles for item in codes)
    assert {item.why_not_lanes is None for item in codes} == {True, False}


@pytest.mark.interpreted
def test_where_most_would_fall_a_view_is_run_anew() -> None:
    ends = np.arange(20)
    parts = Sharded(20, 3, ends[:-1], ends[1:], range(19))
    views = np.ones((3, 19), np.bool_)
    views[1, 2] = False
    views[2, [2, 16]] = False
    for always in (False, True):
        found = parts.run(BFS.plan, (0,), 2, views, follow=True, always=always)
        assert found[1]["hops"].tolist() == [0, 1, 2, *[np.inf] * 17]
        assert [item.followed for item in parts.ran[1]] == [False, always, True]
        assert parts.ran[1][2].fallen == 0, "nobody had anything there"


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [WCC, BFS])
def test_a_repair_that_was_begun_goes_on_elsewhere(program: Any, tmp_path: Path) -> None:
    """Kept in the middle of a view that follows; what comes behind it follows again."""
    pick = random.Random(f"resumed elsewhere {program.plan.name}")
    src, dst = grid(6)
    campaign = Campaign(36, list(zip(src.tolist(), dst.tolist(), strict=True)), [1.0] * 60, [])
    campaign.live = [pick.random() < 0.9 for _ in campaign.ends]
    views = []
    for _ in range(5):
        views.append(list(campaign.live))
        campaign.live = [live ^ (pick.random() < 0.15) for live in campaign.live]
    named = {} if program is WCC else {"source": 0}
    given = tuple(named.values())
    parts, kept = Sharded(36, 7, src, dst, range(60)), Kept(tmp_path, 36, 7)
    turns = [0] * 3

    def keeping(task: int) -> Keeping:
        files, turn = kept.task("first", 3, task), turns[task]
        turns[task] += 1
        follows: list[bool] = []
        keep = lambda at, rows: files.keep(turn, at, rows, follows=follows[-1])  # noqa: E731
        return Keeping(lambda: turn == 2, keep, lambda at: None, follows.append)

    words: dict[str, Any] = {"follow": True, "always": True}
    whole = parts.run(program.plan, given, 3, views, keeping=keeping, **words)
    for live, values in zip(views, whole, strict=True):
        campaign.live = live
        expected, _ = run(program.plan, named, 36, campaign.edges())
        assert {name: column.tolist() for name, column in values.items()} == expected
    last = kept.files.latest(2)
    assert last is not None
    assert kept.files.followed("first", 2, last[1])
    for superstep in {1, last[1]}:
        for tasks in (1, 2, 7):
            there = superstep, kept.read("first", 2, superstep)
            rest = parts.run(
                program.plan, given, tasks, views[2:], kept=there, followed=True, **words
            )
            for one, other in zip(rest, whole[2:], strict=True):
                for name in one:
                    assert one[name].tobytes() == other[name].tobytes(), (superstep, tasks)
            assert [item.followed for item in parts.ran[0]] == [True, True, True]
