"""Programs on shards give what the naive run gives, whatever the number of shards and tasks."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide.lang.python as gt
from graphtide.engine.code import program_code
from graphtide.model.errors import GraphtideError
from graphtide.run.live.named_graph import VertexColumns
from graphtide.run.live.programs import checked_parameters, compiled_program
from tests.compiled import few_compiled
from tests.equivalence.campaigns import SHAPES, make_campaign
from tests.equivalence.programs import SELECTING
from tests.equivalence.random_programs.cases import TYPES
from tests.equivalence.random_programs.given_vertices import vertex_columns
from tests.equivalence.random_programs.judging import Judge, Tally
from tests.equivalence.random_programs.making import make_case
from tests.equivalence.random_programs.running import VersionRun, graph_of
from tests.equivalence.random_programs.settings import make_ready
from tests.equivalence.sharded import Sharded
from tests.equivalence.summing_programs import SUMMING
from tests.equivalence.test_synchronous import agree, parameters_for
from tests.examples import repeats
from tests.oracle.programs import run

EXAMPLES = repeats(3)
SEED = os.environ.get("GRAPHTIDE_CAMPAIGN_SEED", "0")
WAYS = [(1, 1), (3, 2), (7, 3), (16, 7), (2, 3)]
"""Numbers of shards and tasks; some shards have no vertex, and some tasks no shard."""
PLANS = few_compiled([item.plan for item in (*SUMMING, *SELECTING)], ("PageRank",))


@pytest.mark.parametrize("program", PLANS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shards_give_what_the_oracle_gives(program: Any, shape: Any) -> None:
    pick = random.Random(f"{program.name} {shape}")
    campaign = make_campaign(pick, shape)
    given = parameters_for(program, pick, campaign.vertices)
    live = np.array(campaign.live, np.int32)
    expected, _ = run(program, given, campaign.vertices, campaign.edges())
    before = None
    for shards, tasks in pick.sample(WAYS, 3):
        weights = {"weight": campaign.weights}
        parts = Sharded(campaign.vertices, shards, campaign.src, campaign.dst, live, weights)
        (found,) = parts.run(program, tuple(given.values()), tasks, [(False, True)])
        for name, values in expected.items():
            assert agree(found[name].tolist(), values), (name, shards, tasks)
        assert before is None or same_bits(before, found), (shards, tasks)
        before = found


@pytest.mark.parametrize("program", few_compiled([item.plan for item in SELECTING], ()))
@pytest.mark.parametrize("shape", SHAPES)
def test_views_that_grow_follow_each_other(program: Any, shape: Any) -> None:
    pick = random.Random(f"growing {program.name} {shape}")
    campaign = make_campaign(pick, shape)
    given = parameters_for(program, pick, campaign.vertices)
    classes = [pick.randrange(4) for _ in campaign.ends]
    views = np.tri(4, dtype=np.bool_)
    weights = {"weight": campaign.weights}
    shards, tasks = pick.choice(WAYS)
    parts = Sharded(campaign.vertices, shards, campaign.src, campaign.dst, classes, weights)
    found = parts.run(program, tuple(given.values()), tasks, views, follow=True)
    for at, values in enumerate(found):
        campaign.live = [item <= at for item in classes]
        expected, _ = run(program, given, campaign.vertices, campaign.edges())
        for name, column in expected.items():
            assert values[name].tolist() == column, (at, name, shards, tasks)


def same_bits(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.interpreted
def test_random_programs_on_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever users can write, on views that follow, with vertices that have properties."""
    make_ready(monkeypatch.setattr)
    judged = sum(check_random_program(f"shards {SEED} {at}") for at in range(EXAMPLES))
    assert judged > EXAMPLES // 4


def check_random_program(seed: str) -> int:
    """How many views of a random case were compared with the oracle."""
    case, tally = make_case(seed), Tally()
    judge = Judge(case, tally)
    whole = VersionRun(case, judge)
    if judge.program.plan.pairs is not None or not whole.versions or not whole.whole.edges:
        return 0
    bound, pick = judge.program(**case.parameters), random.Random(seed)
    known = graph_of(whole.whole, case)._known
    try:
        compiled = compiled_program(bound, "exact", directed=case.directed)
        parameters = checked_parameters(compiled, known)
    except GraphtideError as error:
        judge.check_refusal(error, None, whole.whole)
        return 0
    number = {name: at for at, name in enumerate(whole.whole.vertices)}
    columns = list(zip(*whole.whole.edges, strict=True)) or [()] * 5
    src, dst = ([number[end] for end in columns[at]] for at in (0, 1))
    properties = {
        name: np.array(column, kind)
        for (name, kind), column in zip(TYPES.items(), columns[2:], strict=True)
    }
    table = pa.table(vertex_columns(case.seed, whole.whole.vertices)).drop_columns(["id"])
    held = np.array(list(whole.versions.values())).T.reshape(len(src), -1)
    kinds, classes = np.unique(held, axis=0, return_inverse=True)
    before: list[Any] | None = None
    for shards, tasks in pick.sample(WAYS, 2):
        given = src, dst, classes.reshape(-1), properties
        parts = Sharded(len(number), shards, *given, directed=case.directed)
        data = lambda rows: VertexColumns(table.take(pa.array(rows)), len(rows))  # noqa: E731
        words: dict[str, Any] = {"data": data, "follow": True, "always": pick.random() < 0.5}
        found = parts.run(compiled.bound.program, parameters, tasks, kinds.T, **words)
        for name, values in zip(whole.versions, found, strict=True):
            right = judge.answer(whole._version(whole.versions[name]))
            told = {field: values[field].tolist() for field in judge.loaded.state}
            judge.compare(right, told, f"{name} on {shards} shards by {tasks} tasks")
        assert before is None or all(map(same_bits, before, found)), seed
        before = found
    return len(whole.versions)


@gt.program
class Countdown:
    """A vertex goes on changing by itself, whatever its neighbours do."""

    start: gt.Vertex
    left: int
    got = gt.Max(int)

    def initialize(self, v):
        if v == self.start:
            v.left = 9

    def traverse(self, u, e, v):
        if u.left == 3:
            v.got(u.left)

    def update(self, v):
        if v.left > 0:
            v.left = v.left - 1
        elif v.got == 3:
            v.left = 5


@gt.program
class HalvedCountdown:
    """The same without a form in lanes."""

    start: gt.Vertex
    left: int
    got = gt.Max(int)

    def initialize(self, v):
        if v == self.start:
            v.left = 9

    def traverse(self, u, e, v):
        if u.left == 3:
            v.got(u.left)

    def update(self, v):
        if v.left > 0:
            v.left = 2 * (v.left - 1) // 2
        elif v.got == 3:
            v.left = 5


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [Countdown, HalvedCountdown])
def test_a_vertex_changes_while_all_others_stand_still(program: Any) -> None:
    plan, ends = program.plan, np.arange(40)
    assert (program_code(plan).why_not_lanes is None) == (program is Countdown)
    src, dst = ends[:-1], ends[1:]
    edges = [(int(one), int(other), {}) for one, other in zip(src, dst, strict=True)]
    expected, history = run(plan, {"start": 0}, 40, edges)
    assert len(history) > 100
    for shards, tasks in WAYS[1:3]:
        (found,) = Sharded(40, shards, src, dst).run(plan, (0,), tasks)
        assert found["left"].tolist() == expected["left"]
