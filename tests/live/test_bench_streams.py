"""The benchmark of streams measures what it promises, and compares the edges."""

from __future__ import annotations

import pytest

from bench import live_streams


@pytest.mark.spark
def test_the_benchmark_runs(spark: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_streams, "FILES", 2)
    monkeypatch.setattr(live_streams, "VERTICES", 1 << 10)
    figures = live_streams.run(quick=True)
    assert [item.bar for item in figures] == [0.5, 0.5]
    assert all(item.measured for item in figures)
