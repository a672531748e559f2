"""Random stratified programs over random changes, against rules applied by their definition."""

from __future__ import annotations

import os

import pytest

from tests.rules.checking import check_demand, check_program

EACH = 400 if "GRAPHTIDE_CAMPAIGN" in os.environ else 12


@pytest.mark.parametrize("part", range(4))
def test_every_version_holds_what_follows(part: int) -> None:
    derived = [check_program(part * 1_000_000 + seed) for seed in range(EACH)]
    assert sum(map(bool, derived)) > EACH // 3, "most programs should derive something"


@pytest.mark.parametrize("part", range(4))
def test_what_is_asked_for_is_what_a_full_run_holds(part: int) -> None:
    answered = [check_demand(part * 1_000_000 + seed) for seed in range(EACH)]
    assert sum(map(bool, answered)) > EACH // 3, "most queries should find something"
