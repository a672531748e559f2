"""The benchmark of rules runs in small, and its answers agree."""

from __future__ import annotations

import pytest

from bench import rules

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


def test_quick_run() -> None:
    figures = rules.run(quick=True, part="datalog")
    assert len(figures) == 16
    assert all(item.measured is not None for item in figures)


@pytest.mark.compiled
def test_questions_are_replayed_in_small() -> None:
    figures = rules.run(quick=True, part="interactive")
    assert len(figures) == 7
    assert all(item.measured is not None for item in figures)


def test_program_analysis_in_small() -> None:
    """All but what needs a peer, which a quick run does not build."""
    *figures, ascent = rules.run(quick=True, part="analysis")
    assert len(figures) == 7
    assert all(item.measured is not None for item in figures)
    assert ascent.measured is not None or "not built" in ascent.note


def test_peers_that_are_not_built_are_said_to_be() -> None:
    figures = rules.run(quick=True, part="peers")
    assert all(item.measured is not None or "not built" in item.note for item in figures)
