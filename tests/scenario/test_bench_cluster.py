"""The benchmark of several workers runs through on small graphs."""

from __future__ import annotations

import pytest

from bench import cluster


@pytest.mark.interpreted
def test_two_threads_are_measured_beside_one() -> None:
    figures = cluster.run(quick=True, part="threads")
    assert len(figures) == 4
    assert all(item.measured is not None for item in figures)
