"""Figures of the README and beside the papers can be measured, and say what they should."""

from __future__ import annotations

import pytest

from bench import headlines, papers_reuse
from bench.streams import Size, rmat_input


@pytest.mark.interpreted
def test_quick_run() -> None:
    found = headlines.run(quick=True)
    measured = {item.name: item.measured for item in found}
    differing = [name for name in measured if "differ" in name]
    assert len(differing) == 4
    assert all(measured[name] == 0 for name in differing)
    assert None not in measured.values()


@pytest.mark.interpreted
def test_old_values_reused_are_off_where_followed_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(papers_reuse, "BATCH", Size(20, 20, 2))
    monkeypatch.setattr(papers_reuse, "KNOWN", 2)
    off = {(item.section, item.name): item.measured for item in papers_reuse.reuse(rmat_input(7))}
    assert len(off) == 4
    for (_, name), vertices in off.items():
        assert vertices is not None
        assert (vertices > 0) == (name == "old values reused")
