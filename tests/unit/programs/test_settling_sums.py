"""Which programs settle by proof, and why others have none: one part taken away at a time."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import ConvergedPageRank, PageRank, PersonalisedPageRank
from graphtide.model.errors import InputError
from graphtide.plan.program_values import bind
from graphtide.plan.settling_sums import settling_sum, why_not_settling_sum
from graphtide.run.live.computation import choose_mode
from tests.equivalence.settling_programs import SETTLING, Settling
from tests.unit.programs.sources import read


def written(
    message: str = "u.s / u.out_degree",
    update: str = "0.1 + self.factor * v.total",
    settings: str = "",
    start: str = "1.0",
) -> Any:
    text = f"""
@gt.program
class Written:
    factor: float = 0.5
    members: gt.Vertices
    tolerance: float = 1e-3
    s: float
    total = gt.Sum(float)
    {settings or "direction = 'out'"}

    def initialize(self, v):
        v.s = {start} if v in self.members else self.factor

    def traverse(self, u, e, v):
        v.total({message})

    def update(self, v):
        v.s = {update}
"""
    return read(text).plan


def reason(program: Any, **values: Any) -> str:
    bound = bind(program, {"members": [1], **values})
    told = why_not_settling_sum(bound)
    assert (settling_sum(bound) is None) == (told is not None)
    return told or ""


@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_these_settle(case: Settling) -> None:
    bound = case.program(**case.parameters)
    assert why_not_settling_sum(bound) is None
    assert choose_mode(bound, "fixpoint").mode == "fixpoint"


@pytest.mark.parametrize(
    "message",
    [
        "u.s / u.out_degree",
        "0.5 * u.s / u.out_degree",
        "u.s * (1.0 / max(1, u.out_degree))",
        "u.s / u.degree",
        "u.s / (u.out_degree + 3)",
        "u.s / u.out_degree / 2",
    ],
)
def test_shares_that_add_up_to_at_most_one(message: str) -> None:
    assert reason(written(message)) == ""


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("u.s", "not divided"),
        ("u.s / u.in_degree", "not divided"),
        ("u.s * u.out_degree", "weighed by"),
        ("1.0 / u.out_degree", "not in proportion"),
        ("u.s * u.s / u.out_degree", "not in proportion"),
        ("u.s * e.weight / u.out_degree", "e.weight"),
        ("u.s / u.out_degree + v.s", "v"),
        ("u.s / u.out_degree / 0.5", "may be below 1"),
        ("u.s / (u.out_degree - 1)", "not divided"),
        ("u.s / min(u.out_degree, 5)", "not divided"),
        ("(u.s + 1.0) / u.out_degree", "not in proportion"),
        ("-u.s / u.out_degree", "not in proportion"),
        ("4.0 * u.s / u.out_degree", "not below 1"),
    ],
)
def test_messages_that_take_the_proof_away(message: str, why: str) -> None:
    assert why in reason(written(message))


@pytest.mark.parametrize(
    ("update", "why"),
    [
        ("self.factor * v.total", "0 everywhere"),
        ("(0.1 if v in self.members else -0.1) + self.factor * v.total", "may be below 0"),
        ("0.1 - self.factor * v.total", "not above 0"),
        ("-0.1 + self.factor * v.total", "may be below 0"),
        ("0.1 + v.total", "not below 1"),
        ("0.1 + 0.5 * v.s + self.factor * v.total", "state that it replaces"),
        ("0.1 / v.in_degree + self.factor * v.total", "how many edges"),
        ("0.1 + self.factor * v.total * v.total", "not in proportion"),
        ("0.1 + min(self.factor * v.total, 1.0)", "not in proportion"),
        ("0.1 + (0.5 if v in self.members else 0.4) * v.total", "not in proportion"),
        ("0.1 + 0.5 * v.total if v.total > 1.0 else 0.1", "depends on the sum"),
        ("0.1 + 0.5 * v.total if v in self.members else 0.1 + 0.4 * v.total", "otherwise"),
    ],
)
def test_updates_that_take_the_proof_away(update: str, why: str) -> None:
    assert why in reason(written(update=update))


def test_bases_that_may_be_0_have_a_floor_besides() -> None:
    program = written(update="(0.25 if v in self.members else 0.0) + self.factor * v.total")
    assert reason(program) == ""
    found = settling_sum(bind(program, {"members": [1]}))
    assert found is not None
    assert (found.least, found.greatest, found.floor) == (0.0, 0.25, 0.25 / 1024)
    assert "below 1e-09" in reason(program, tolerance=1e-10)
    assert reason(written(), tolerance=1e-10) == ""
    found = settling_sum(bind(written(), {"members": [1]}))
    assert found is not None
    assert found.floor == 0.0


def test_parameters_are_part_of_the_proof() -> None:
    program = written()
    assert reason(program, factor=0.99) == ""
    assert "not below 1" in reason(program, factor=1.0)
    assert "not above 0" in reason(program, factor=0.0)
    assert "not above 0" in reason(program, factor=-0.5)
    assert "no tolerance" in reason(program, tolerance=0.0)
    assert "not below 1" in reason(program, tolerance=1.0)
    assert "rounding" in reason(program, tolerance=1e-15)


def test_the_end_and_the_start_are_part_of_the_proof() -> None:
    assert "iterations" in reason(written(settings="iterations = 5"))
    assert "may be infinite" in reason(written(start="1.0 / v.out_degree"))


def test_what_does_not_settle_runs_in_exact_mode_and_says_why() -> None:
    ranks = PersonalisedPageRank(sources=[1])
    assert "it ends after 10 iterations" in choose_mode(ranks, "auto").reason
    assert choose_mode(PageRank(), "auto").mode == "exact"
    diverging = choose_mode(ConvergedPageRank(damping=1.5), "auto")
    assert diverging.mode == "exact"
    assert "1.0 - self.damping may be below 0" in diverging.reason
    with pytest.raises(InputError, match="no fixpoint mode"):
        choose_mode(PageRank(), "fixpoint")


def test_knobs_of_exact_mode_are_refused() -> None:
    graph = gt.Graph([1, 2], [2, 1])
    with pytest.raises(InputError, match="tolerance of its own"):
        graph.maintain(ConvergedPageRank, tolerance=0.1)
    assert graph.maintain(ConvergedPageRank, tolerance=0.1, mode="exact").mode == "exact"
