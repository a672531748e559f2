"""A live graph of constant size for some compactions; more by `python -m tests.failures.days`."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtide.run.durable import live_store
from tests.failures.days import Days, programs


@pytest.mark.interpreted
def test_memory_is_bounded_from_compaction_to_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_store, "LOG_BYTES", 2_000)
    monkeypatch.setattr(live_store, "_FEW_GONE", 0)
    days = Days(tmp_path / "graph", vertices=20, edges=60, seed=1)
    days.begin(programs(slow=False)[:2])
    for _ in range(30):
        days.step(40)
        days.count()
    days.check()
