"""The benchmark of the page: what it says of sizes, and without a browser."""

from __future__ import annotations

import pytest

from bench import page


def test_sizes_are_held() -> None:
    figures = {item.name: item for item in page.sizes()}
    assert figures["growth of the wheel"].held
    assert figures["libraries but the editor, gzipped"].held


def test_without_a_browser_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "installed", lambda: None)
    figures = page.run(quick=True)
    assert any("no browser" in item.note for item in figures)
    assert not any(item.missed for item in figures)
