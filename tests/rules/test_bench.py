"""The benchmark of rules runs in small, and its answers agree."""

from __future__ import annotations

import pytest

from bench import rules


@pytest.mark.slow
@pytest.mark.compiled
def test_quick_run() -> None:
    figures = rules.run(quick=True, part="datalog")
    assert len(figures) == 16
    assert all(item.measured is not None for item in figures)


@pytest.mark.compiled
def test_questions_are_replayed_in_small() -> None:
    figures = rules.run(quick=True, part="interactive")
    assert len(figures) == 7
    assert all(item.measured is not None for item in figures)
