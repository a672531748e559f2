"""The benchmark of queries runs through on a small graph."""

from __future__ import annotations

from bench import live


def test_all_kinds_are_measured() -> None:
    figures = live.run(quick=True)
    assert {item.name.split(",")[0] for item in figures} == {"pairs", "5 hops", "Q1", "Q2", "Q3"}
    assert all(item.measured is not None for item in figures)
