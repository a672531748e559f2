"""The benchmark of queries runs through on a small graph."""

from __future__ import annotations

import pytest

from bench import live
from bench.live_landmarks import WAYS
from bench.live_pairs import OURS
from bench.live_settings import RANDOM, SETTINGS

pytestmark = pytest.mark.interpreted


def test_all_kinds_are_measured() -> None:
    figures = live.run(quick=True, part="many")
    assert {item.name.split(",")[0] for item in figures} == {"pairs", "5 hops", "Q1", "Q2", "Q3"}
    assert all(item.measured is not None for item in figures)


def test_all_settings_of_histories_are_measured() -> None:
    figures = live.run(quick=True, part="pairs")
    assert {item.name.split(":")[0] for item in figures} == {
        "from scratch",
        OURS,
        *SETTINGS,
        *RANDOM,
    }
    assert {item.section for item in figures} == {"pairs on random", "weighted pairs on random"}
    assert all(item.measured is not None for item in figures)


def test_what_fits_is_told_of_all_settings() -> None:
    figures = live.run(quick=True, part="fit")
    assert {item.name.split(",")[0] for item in figures} >= {*SETTINGS, "fixpoints"}
    assert all(item.measured is not None and item.measured > 0 for item in figures)


def test_what_fits_a_budget_is_measured() -> None:
    figures = live.run(quick=True, part="budget")
    names = {item.name.split(",")[0].split(":")[0] for item in figures}
    kinds = {"20 of 5 hops", "20 of reach", "20 of a/b*"}
    assert names == {"everything kept", "self-tuned", "fixed", *kinds}
    assert all(item.measured is not None for item in figures)


def test_what_landmarks_save_is_measured_each_way() -> None:
    figures = live.run(quick=True, part="landmarks")
    assert {item.name.split(":")[0] for item in figures} == set(WAYS)
    assert all(item.measured is not None for item in figures)
