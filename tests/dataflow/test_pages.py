"""Pages of free blocks: given back behind a load, kept while batches of one size come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphtide.engine.dataflow import machine as machines
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY

pytestmark = pytest.mark.compiled


def test_a_load_keeps_no_pages_and_equal_batches_keep_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    returned: list[int] = []
    real = machines.give_back_pages
    monkeypatch.setattr(
        machines,
        "give_back_pages",
        lambda words, mapped: (returned.append(len(counts)), real(words, mapped)),
    )
    counts: list[int] = []
    flow = Dataflow(memory=16 * MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    output = edges.count("src").output()
    rng = np.random.default_rng(5)

    def insert(number: int) -> None:
        src: Any = rng.integers(0, number // 4, number)
        edges.insert({"src": src, "dst": np.arange(number)})
        flow.advance()
        counts.append(number)

    insert(1_000_000)
    assert returned == [0]  # Its working set goes back at once.
    for _ in range(8):
        insert(400_000)
    assert len(returned) < 8  # Not each of them.
    for _ in range(20):
        insert(100)
    calm = len(returned)
    insert(100)
    assert len(returned) == calm
    assert sum(output.columns()["count"]) == sum(counts)
