"""Planning says what it needs before it takes it, and refuses what would not fit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphtide.model import machine
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import PropertyType
from graphtide.optimize import plan_collection
from graphtide.plan import predicates as p
from graphtide.plan.classes import classify_signatures
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.signatures import layout_signatures
from graphtide.plan.view_runs import Lists, ViewRuns


def windows(views: int) -> list[p.Predicate]:
    year = p.PropertyRef("edge", "year", PropertyType.INT)
    constants = [p.Constant(at, PropertyType.INT) for at in range(views)]
    return [p.Comparison(p.Operator.LT, year, constant) for constant in constants]


def classified_windows() -> None:
    views = windows(6_000)
    layout = layout_signatures(views)
    codes = np.arange(1, 6_002)[:, None]
    classify_signatures(layout, codes, np.ones(len(codes), np.int64), views)


def planned_matrix() -> None:
    plan_collection(ViewMatrix(np.tri(2_000, dtype=bool), np.ones(2_000, np.int64)))


def planned_runs() -> None:
    bounds = np.stack([np.zeros(6_000, np.int64), np.arange(1, 6_001)], axis=1).ravel()
    lists = Lists(np.arange(6_001) * 2, bounds)
    plan_collection(ViewRuns(lists, np.ones(6_000, np.int64)))


@pytest.mark.parametrize(
    ("work", "views", "needed"),
    [
        (classified_windows, "6,000 views over 6,001 classes", "26.2 MB"),
        (planned_matrix, "2,000 views over 2,000 classes", "92.0 MB"),
        (planned_runs, "6,000 views over 6,000 classes", "26.2 MB"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_tried(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], None], views: str, needed: str
) -> None:
    monkeypatch.setenv("GRAPHTIDE_MEMORY", "10M")
    tracemalloc.start()
    try:
        with pytest.raises(LimitError) as refused:
            work()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = str(refused.value)
    assert views in said
    assert f"about {needed} of memory, and 10.0 MB are available" in said
    assert "several collections" in said
    assert "GRAPHTIDE_MEMORY=16G" in said
    assert peak < 20e6


def test_what_fits_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTIDE_MEMORY", "30M")
    planned_runs()
    classified_windows()


@pytest.mark.parametrize(
    ("setting", "size"),
    [
        ("123", 123),
        ("2K", 2_000),
        ("1.5M", 1_500_000),
        ("2G", 2 * 10**9),
        ("4.1 MB", 4_100_000),
        ("2GiB", 2**31),
        ("1 kib", 2**10),
        ("1t", 10**12),
    ],
)
def test_the_setting_counts_in_units(
    monkeypatch: pytest.MonkeyPatch, setting: str, size: int
) -> None:
    monkeypatch.setenv("GRAPHTIDE_MEMORY", setting)
    assert machine.available_bytes() == size


@pytest.mark.parametrize(
    "setting", ["much", "-1G", "nan", "G", "2X", "inf", "1e6", "2iB", "1.2.3M", "2 G B"]
)
def test_a_setting_that_is_no_size_is_refused(
    monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv("GRAPHTIDE_MEMORY", setting)
    with pytest.raises(InputError, match=f"GRAPHTIDE_MEMORY cannot be '{setting}'"):
        machine.available_bytes()


def test_a_container_counts_what_it_can_give_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in (
        ("memory.max", "1000\n"),
        ("memory.current", "900\n"),
        ("memory.stat", "anon 500\ninactive_file 300\n"),
    ):
        (tmp_path / name).write_text(text)
    names = (str(tmp_path), "memory.max", "memory.current", "inactive_file")
    monkeypatch.delenv("GRAPHTIDE_MEMORY", raising=False)
    monkeypatch.setattr(machine, "_GROUPS", (names,))
    assert machine.available_bytes() == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.available_bytes() > 10**6
