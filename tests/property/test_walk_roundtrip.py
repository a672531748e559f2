"""Random walk plans, written as classes and read again."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

import graphtide.lang.python as gt
from graphtide.plan import walks as w
from tests.examples import examples
from tests.property.walk_language_plans import walk_programs
from tests.unit.programs.sources import read

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@given(walk_programs())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
def test_what_unparse_writes_reads_as_the_same_plan(plan: w.WalkProgram) -> None:
    text = gt.unparse(plan)
    again = read(text).plan
    assert again == plan, text
    assert gt.unparse(again) == text
