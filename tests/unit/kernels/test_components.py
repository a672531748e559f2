"""Union-find labels equal those that a plain flood gives, on live edges only."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.components import label_components


def flood(vertices: int, edges: list[tuple[int, int]], greatest: bool) -> list[int]:
    """The least (greatest) vertex that each can be reached from, by going round until it stands."""
    label = list(range(vertices))
    choose = max if greatest else min
    while True:
        before = list(label)
        for one, other in edges:
            label[one] = label[other] = choose(label[one], label[other])
        if label == before:
            return label


@pytest.mark.parametrize("greatest", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_labels_equal_a_flood(seed: int, greatest: bool) -> None:
    pick = random.Random(f"components {seed}")
    vertices = pick.randrange(1, 30)
    count = pick.randrange(2 * vertices)
    ends = [(pick.randrange(vertices), pick.randrange(vertices)) for _ in range(count)]
    src, dst = (np.array([pair[at] for pair in ends], np.int32) for at in (0, 1))
    graph = ResidentGraph(vertices, src, dst)
    dead = [at for at in range(count) if pick.random() < 0.4]
    graph.flip(np.empty(0, np.int32), graph.numbers[dead].astype(np.int32))
    label, work = np.empty(vertices, np.int64), np.empty(vertices, np.int32)
    label_components(graph.adjacency, work, label, -1 if greatest else 1)
    live = [pair for at, pair in enumerate(ends) if at not in dead]
    assert label.tolist() == flood(vertices, live, greatest)
