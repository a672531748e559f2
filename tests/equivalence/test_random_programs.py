"""Random programs of users, against the oracle that runs their class: wrong answers, none.

Compiling takes ten seconds a program and interpreting none, so `make test` interprets, in a process
of its own, since Numba reads its settings when it is imported. The campaign compiles.
"""

from __future__ import annotations

import math
import os
from collections import Counter

import pytest

import graphtide.lang.python as gt
from graphtide.run.live.computation import choose_mode
from tests.equivalence.random_programs.cases import Case, Step, pasteable
from tests.equivalence.random_programs.making import SHARES, make_case
from tests.equivalence.random_programs.shrinking import shrink
from tests.equivalence.test_kernel_settings import run_module
from tests.unit.programs.sources import read

CAMPAIGN = "GRAPHTIDE_CAMPAIGN" in os.environ
RANDOM = "tests.equivalence.random_programs"
INTERPRETED = {"NUMBA_DISABLE_JIT": "1"}


@pytest.mark.interpreted
def test_random_programs_hold_interpreted() -> None:
    run_module(INTERPRETED, RANDOM, "--seed", "1", "--count", "30")


@pytest.mark.skipif(not CAMPAIGN, reason="compiling takes ten seconds a program")
def test_random_programs_hold_compiled() -> None:
    run_module({}, RANDOM, "--minutes", "60", "--steps", "60")


def test_the_generator_writes_all_that_the_language_has() -> None:
    texts = [make_case(f"all {seed}").text for seed in range(400)]
    words = [f"gt.{word}(" for word in ("Min", "Max", "Sum", "Product", "Count", "Or", "And")]
    words += ["gt.Vertex\n", "gt.Vertices", "gt.Pairs", "size=", "'both'", "'in'", "tolerance"]
    words += ["iterations = ", "iterations: int", "'rounds'", "self.iteration", "for k in range"]
    words += ["elif", "else:", "+=", "**", "//", "%", "abs(", "sqrt(", "inf", "int(", "float("]
    words += ["v.degree", "v.in_degree", "u.out_degree", "e.weight", "e.toll", "e.open", "len("]
    words += ["u.rank", "v.level", "u.worth", "v.worth", "u.active", "u.kind ==", "kind !="]
    words += ["v.town", "v.born", " in (", "word: str", "day: gt.Date", ".born) %"]
    counts = Counter(word for text in texts for word in words if word in text)
    assert [word for word in words if counts[word] < 2] == []


def test_every_text_is_a_legal_program_and_every_way_of_the_engine_gets_its_share() -> None:
    modes: Counter[str] = Counter()
    for seed in range(400):
        case = make_case(f"legal {seed}")
        bound = read(case.text, math=math)(**case.parameters)
        modes[f"{choose_mode(bound, 'auto').mode} {bound.iterations is None}"] += 1
        modes[case.family] += 1
    assert modes["fixpoint True"] > 20
    assert min(modes["exact True"], modes["exact False"]) > 60
    assert all(modes[family] for family in SHARES)


def test_every_plan_is_written_as_a_class_that_reads_as_it() -> None:
    for seed in range(300):
        plan = read(make_case(f"written {seed}").text, math=math).plan
        text = gt.unparse(plan)
        assert read(text).plan == plan, text


def test_the_same_seed_makes_the_same_case() -> None:
    assert make_case(7) == make_case(7)
    assert make_case(7) != make_case(8)


SMALL = """@gt.program
class Long:
    x: int
    got = gt.Sum(int)

    def traverse(self, u, e, v):
        if e.weight > 0.0:
            v.got(u.x + 1)

    def update(self, v):
        v.x = v.got
        if v.x > 3:
            v.x = v.x + 0
"""


def test_a_case_is_made_small() -> None:
    rows = tuple((0, at, 1.0, 1, True) for at in range(4))
    steps = (Step("advance", rows[:1]), Step("advance", rows[1:]), Step("rollback"))
    case = Case(SMALL, {}, (0, 1, 2, 3), rows[:3], steps)

    def fails(smaller: Case) -> bool:
        read(smaller.text)
        return "v.x = v.got" in smaller.text and any(len(step.insert) > 1 for step in smaller.steps)

    small = shrink(case, fails)
    assert (len(small.edges), len(small.vertices)) == (0, 0)
    assert [len(step.insert) for step in small.steps] == [2]
    assert small.text.splitlines()[-5:] == [
        "    def traverse(self, u, e, v):",
        "        v.got(u.x)",
        "",
        "    def update(self, v):",
        "        v.x = v.got",
    ]
    compile(pasteable(small, "auto"), "<pasted>", "exec")
