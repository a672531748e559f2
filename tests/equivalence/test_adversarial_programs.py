"""Programs that engines get wrong, in all their modes, against the oracle that runs the class.

Compiling forty programs takes minutes: `make test` runs one of them compiled, and all of them
interpreted. The campaign runs all compiled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from tests.compiled import few_compiled
from tests.equivalence.adversarial import numbers, rounds, selecting
from tests.equivalence.adversarial.cases import STYLES, make_case, program_texts, single_edges
from tests.equivalence.random_programs.cases import Case, Step, pasteable
from tests.equivalence.random_programs.checking import failures
from tests.equivalence.random_programs.judging import Judge, Tally
from tests.equivalence.random_programs.settings import make_ready
from tests.examples import repeats

TEXTS = program_texts()
COMPILED: tuple[str, ...] = ()  # `make campaign` compiles all of them.
"""What a processor computes, where Python would do otherwise."""
SEEDS = range(repeats(1))


@pytest.fixture(autouse=True)
def _as_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    make_ready(monkeypatch.setattr)


@pytest.mark.parametrize("name", few_compiled(TEXTS, COMPILED, str))
def test_every_step_equals_the_class_itself(name: str) -> None:
    text = TEXTS[name]
    journeys = [make_case(name, text, style, seed) for seed in SEEDS for style in STYLES]
    for case in (single_edges(name, text), *journeys):
        for mode, wrong in failures(case, Tally()):
            raise AssertionError(f"{case.seed}: {wrong}\n\n{pasteable(case, mode)}")


@pytest.mark.interpreted
def test_a_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that says something else stands for an engine that is wrong."""
    rows = tuple((0, at, 1.0, 1, True) for at in range(1, 4))
    steps = (Step("advance", rows[:1]), Step("advance", rows[1:]))
    case = Case(TEXTS["Shed"], {}, (0, 1, 2, 3), (), steps)
    assert list(failures(case, Tally())) == []
    true = Judge.answer

    def lie(self: Judge, version: Any) -> Any:
        found: Any = true(self, version)
        state = {
            name: [value + (len(version.edges) > 2) for value in column]
            for name, column in found.state.items()
        }
        return replace(found, state=state)

    monkeypatch.setattr(Judge, "answer", lie)
    wrong = dict(failures(case, Tally()))
    assert wrong["auto"].sort.startswith("the advance gave")


def paths(*rows: tuple[int, int, float]) -> gt.Graph:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return gt.Graph(columns[0], columns[1], weight=columns[2])


@pytest.mark.interpreted
def test_an_edge_into_a_vertex_that_reads_itself() -> None:
    graph = gt.Graph([], [], vertices=2)
    live = graph.maintain(rounds.Shed)
    graph.advance(insert=[(0, 1)])
    assert live["load"].tolist() == [0.0, 1.0]
    live.verify()


@pytest.mark.interpreted
@pytest.mark.parametrize("strategy", ["differential", "scratch", "adaptive"])
def test_a_run_over_versions_of_such_a_program(strategy: Any) -> None:
    graph = gt.Graph([0, 1], [1, 0])
    versions = {"none": [], "one": [0], "both": [0, 1]}
    run = graph.run(rounds.Shed, versions, order="manual", strategy=strategy)
    found = {name: run.values(name).tolist() for name in versions}
    assert found == {"none": [0.0, 0.0], "one": [0.0, 1.0], "both": [1.0, 1.0]}


@pytest.mark.interpreted
def test_negative_weights_within_a_bound() -> None:
    graph = paths((0, 1, 5.0), (1, 2, -4.0), (0, 2, 3.0))
    live = graph.maintain(selecting.BoundedPaths(source=0))
    assert live["x"].tolist() == [0.0, 5.0, 1.0]
    live.verify()


@pytest.mark.interpreted
def test_a_negative_step_that_is_a_parameter() -> None:
    graph = gt.Graph([0, 1, 0], [1, 2, 2])
    live = graph.maintain(selecting.BoundedByParameter(source=0, step=-1, rounds=5))
    assert live["x"].tolist() == [0, -1, -2]


@pytest.mark.interpreted
def test_a_start_that_is_a_degree_follows_the_edges() -> None:
    graph = gt.Graph([0, 0, 1], [1, 2, 2])
    live = graph.maintain(selecting.LeastDegree)
    assert live["least"].tolist() == [2, 2, 2]
    graph.advance(delete=[(1, 2)])
    assert live["least"].tolist() == [1, 1, 1]


@pytest.mark.interpreted
def test_a_vertex_that_would_never_settle_alone_comes_with_its_edge() -> None:
    graph = gt.Graph([0], [1], vertices=2)
    live = graph.maintain(rounds.RestlessAlone)
    graph.advance(insert=[(0, 2)])
    assert live["n"].tolist() == [0, 0, 0]
    with pytest.raises(gt.GraphtideError, match="still changes"):
        graph.advance(insert=[(3, 0)])
    assert live["n"].tolist() == [0, 0, 0]
    assert graph.num_vertices == 3


@pytest.mark.interpreted
def test_the_least_int_divided_by_minus_one_wraps() -> None:
    graph = gt.Graph([0], [1], toll=np.array([-1]))
    live = graph.maintain(numbers.LastInts)
    least = -(2**63)
    assert live["n"].tolist()[0] == least
    live.verify()


@pytest.mark.interpreted
def test_who_differed_in_between_takes_back_what_it_told() -> None:
    """Vertex 2 reaches its ceiling an iteration sooner by the new edge, and is then as before."""
    before = tuple((one, other, 1.0, 1, True) for one, other in ((0, 2), (2, 2), (1, 2), (2, 3)))
    steps = (Step("advance", before), Step("advance", ((0, 1, 1.0, 1, True),)))
    case = Case(TEXTS["Ceilings"], {}, (0, 1, 2, 3), (), steps)
    assert list(failures(case, Tally())) == []


LABELS = """@gt.program
class Labels:
    x: int
    least = gt.Min(int)

    def initialize(self, v):
        v.x = v.id

    def traverse(self, u, e, v):
        v.least(u.x)

    def update(self, v):
        v.x = min(v.x, v.least)
"""


@pytest.mark.interpreted
def test_levels_are_rolled_back_with_the_values() -> None:
    """A level that stayed would let 3 hang on 4, which hangs on 3."""
    rows = {ends: (*ends, 1.0, 1, True) for ends in ((1, 2), (2, 3), (3, 4), (4, 3), (0, 4))}
    first = tuple(row for ends, row in rows.items() if ends != (0, 4))
    steps = (
        Step("advance", first),
        Step("advance", (rows[0, 4],)),
        Step("rollback"),
        Step("advance", (), (rows[2, 3],)),
    )
    assert list(failures(Case(LABELS, {}, (0, 1, 2, 3, 4), (), steps), Tally())) == []


def _zero_below() -> Any:
    @gt.program
    class Zero:
        x: float = 1.0
        got = gt.Sum(float)
        iterations = 1

        def traverse(self, u, e, v):
            v.got(1.0)

        def update(self, v):
            v.x = -0.0 if v.got > 0.5 else 3.0

    return Zero


def _zero_above() -> Any:
    @gt.program
    class Zero:
        x: float = 1.0
        got = gt.Sum(float)
        iterations = 1

        def traverse(self, u, e, v):
            v.got(1.0)

        def update(self, v):
            v.x = 0.0 if v.got > 0.5 else 3.0

    return Zero


@pytest.mark.interpreted
def test_programs_that_differ_in_the_sign_of_a_zero_are_not_taken_for_each_other() -> None:
    found = [
        gt.Graph([0], [1]).maintain(made()).table()["x"].to_pylist()
        for made in (_zero_above, _zero_below, _zero_above)
    ]
    assert [list(map(str, values)) for values in found] == [
        ["3.0", "0.0"],
        ["3.0", "-0.0"],
        ["3.0", "0.0"],
    ]
