"""`explain` and `unparse`, as texts."""

from __future__ import annotations

import pytest

import graphtide.lang.python as gt
from graphtide.plan.program_analysis import explain_analysis
from graphtide.plan.program_text import explain
from tests.unit.programs import library
from tests.unit.programs.sources import read

HOPS = """\
program Hops
    Number of edges from the nearest of some sources, up to a limit.
parameters
    sources: vertices
    limit: int = 1000000
state
    level: int = 1000000000
accumulators
    best: min of int, 9223372036854775807 if nothing is sent
direction out: u is the src of an edge, v its dst
iterations until nothing changes
initialize(v)
    if v in self.sources:
        v.level = 0
traverse(u, e, v)
    if u.level < self.limit:
        v.best(u.level + 1)
update(v)
    if v.best < v.level:
        v.level = v.best"""

MOMENTS = """\
program Moments
    Count, mean and spread of the weights that come in; the rest of the language, too.
parameters
    rounds: int = 2
state
    turn: int = -1
    spread: float = 0.0
    mean: float = 0.0
    light: bool = False
    shape: float[3] = 0.0
accumulators
    moments: sum of float[3], 0.0 if nothing is sent
    scale: product of float, 1.0 if nothing is sent
    all_light: and of bool, True if nothing is sent
edge properties
    e.kind: int
    e.weight: float
direction out: u is the src of an edge, v its dst
iterations rounds, or until nothing changes
traverse(u, e, v)
    weight = 0.0
    weight = weight + e.weight ** 2.0 / max(e.weight, 1.0)
    v.moments[0](1.0)
    v.moments[1](weight)
    v.moments[2](weight ** 2.0)
    v.scale(1.0 + abs(u.mean) if e.kind % 2 == 0 else 1.0)
    v.all_light(not (0.0 <= weight and weight > 10.0))
update(v)
    count = v.moments[0]
    v.turn = self.iteration
    if count > 0.0:
        v.mean = v.moments[1] / count
        v.spread = sqrt(max(0.0, v.moments[2] / count - v.mean ** 2.0))
    elif v.degree == 0:
        v.mean = -inf
    v.light = v.all_light and v.scale < 1000000000.0
    for k in range(2, -1, -1):
        v.shape[k] = v.shape[k] + (v.moments[k] if k != 1 else float(int(v.scale) // 2))"""

VOTES = '''\
@gt.program
class Votes:
    """The label that most in-neighbours have, the least such label on a tie."""
    labels: int
    label = gt.State(int, default=0)
    votes = gt.Count(size='labels')
    iterations = 5

    def initialize(self, v):
        v.label = v.id % self.labels

    def traverse(self, u, e, v):
        v.votes[u.label]()

    def update(self, v):
        most = 0
        for k in range(self.labels):
            if v.votes[k] > most:
                most = v.votes[k]
                v.label = k
'''

ANALYSES = {
    "ShortestPaths": [
        "selecting: dist keeps the least of its start and of all u.dist + e.weight",
        "monotone: yes, a greater u.dist never gives a lesser message",
        "never overtakes: yes, a message is never less than u.dist where e.weight >= 0",
        "not invertible: the min 'best' cannot take a contribution back",
    ],
    "Components": [
        "selecting: label keeps the least of its start and of all u.label",
        "monotone: yes, a greater u.label never gives a lesser message",
        "never overtakes: yes, a message is never less than u.label",
        "plain components: labels spread unchanged both ways, starting at v.id",
        "not invertible: the min 'best' cannot take a contribution back",
    ],
    "PageRank": [
        "not selecting: its accumulator is a sum, which does not select",
        "invertible: sum can take a contribution back; "
        "a change of u's degree changes all messages of u",
    ],
    "Core": [
        "not selecting: its accumulator is a count, which does not select",
        "invertible: count can take a contribution back",
    ],
}


def test_explain() -> None:
    assert library.Hops.explain() == HOPS
    assert explain(library.Moments.plan) == MOMENTS
    assert "tolerance tolerance, relative" in library.PageRank.explain()


def test_unparse() -> None:
    assert gt.unparse(library.Votes.plan) == VOTES


@pytest.mark.parametrize("program", library.ALL, ids=lambda item: item.__name__)
def test_what_unparse_writes_reads_as_the_same_plan(program: gt.Program) -> None:
    assert read(gt.unparse(program.plan)).plan == program.plan


@pytest.mark.parametrize("name", ANALYSES)
def test_reasons_in_words(name: str) -> None:
    assert explain_analysis(getattr(library, name).plan) == ANALYSES[name]
