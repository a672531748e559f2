"""The benchmark of several workers runs through on small graphs."""

from __future__ import annotations

import pytest

from bench import cluster


@pytest.mark.interpreted
def test_two_threads_are_measured_beside_one() -> None:
    figures = cluster.run(quick=True, part="threads")
    assert len(figures) == 4
    assert all(item.measured is not None for item in figures)


@pytest.mark.interpreted
def test_tasks_on_shards_are_measured() -> None:
    figures = cluster.run(quick=True, part="shards")
    assert [item.name for item in figures][::2] == ["two tasks over one", "a quiet superstep"]
    assert all(item.measured is not None for item in figures[::2])
