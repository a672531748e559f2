"""The benchmark command runs, prints a verdict a figure, and never counts what it skipped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import graphtide as gt
from bench import data, many_views, views
from bench.figures import Figure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="half a minute of Spark")
def test_views_are_measured(tmp_path: Path, spark: SparkSession) -> None:
    session = gt.session(tmp_path, spark=spark, progress=False)
    with data.stand_ins():
        figures = views.on_spark(session, quick=True)
    assert all(item.measured is not None for item in figures)
    assert all(item.held for item in figures if "differences" in item.name)


def test_plans_are_measured() -> None:
    figures = views.worked_example() + many_views.run(quick=True)
    assert {"worked example, differences, chain"} <= {item.name for item in figures}
    assert all(item.held for item in figures if "lower bound" not in item.name)


def test_a_skipped_figure_is_not_held() -> None:
    figure = Figure("x", None, "at most", 1, "s", "no data")
    assert not figure.held
    assert figure.verdict == "skipped"
    assert Figure("x", 1, "at most", 1, "").held
    assert not Figure("x", 1, "below", 1, "").held
    assert Figure("x", 2, "at least", 1, "").held
