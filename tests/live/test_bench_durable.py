"""The benchmark of live graphs on disk measures all that it promises, and compares the edges."""

from __future__ import annotations

import pytest

from bench import live_durable
from graphtide.run.durable import live_store


@pytest.mark.compiled
def test_the_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_durable, "VERTICES", 1 << 12)
    before = live_store.LOG_BYTES
    figures = live_durable.run(quick=True)
    assert [item.bar for item in figures] == [100_000.0, None, 3.0]
    assert all(item.measured for item in figures)
    assert before == live_store.LOG_BYTES
