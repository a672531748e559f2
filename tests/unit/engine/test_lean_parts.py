"""Parts cover what there is once, and workers do every part once, whoever has it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from graphtide.engine.lean.workers import MOST_PARTS, Room, Workers, listed_parts, vertex_parts
from graphtide.kernels.graph.adjacency import compress
from tests.lean_graphs import small_parts


@pytest.mark.interpreted
@pytest.mark.parametrize(("vertices", "edges"), [(0, 0), (1, 5), (40, 0), (40, 300), (300, 40)])
def test_parts_cover_all_vertices_once(vertices: int, edges: int) -> None:
    pick = np.random.default_rng(vertices)
    ends = np.minimum(pick.geometric(0.2, (2, edges)) - 1, vertices - 1).astype(np.int32)
    lean = compress(vertices, *ends)
    with small_parts(work=4):
        for ways in ((True, False), (False, True), (True, True)):
            room = Room(100, 8)
            parts = vertex_parts(lean, forward=ways[0], backward=ways[1], room=room)
            assert [at for part in parts for at in range(part.first, part.stop)] == [
                *range(vertices)
            ]
            assert [part.place for part in parts] == [100 + 8 * at for at in range(len(parts))]
            assert len(parts) <= MOST_PARTS
        parts = listed_parts(vertices, edges)
        assert [at for part in parts for at in range(part.first, part.stop)] == [*range(vertices)]


@pytest.mark.interpreted
def test_the_edges_of_a_part_are_about_as_many_as_those_of_others() -> None:
    pick = np.random.default_rng(1)
    lean = compress(2000, *pick.integers(0, 2000, (2, 20_000)).astype(np.int32))
    with small_parts(work=100):
        parts = vertex_parts(lean, forward=True, backward=False)
    offsets = lean.into.offsets.astype(np.int64)
    work = [offsets[part.stop] - offsets[part.first] for part in parts]
    assert max(work) < 2 * 20_000 / len(parts)


def test_every_part_is_done_once_and_told_in_order() -> None:
    with Workers(3) as workers:
        for count in (0, 1, 2, 50):
            assert workers.each(lambda part: 2 * part, range(count)) == [*range(0, 2 * count, 2)]
        assert len(workers.seconds) == 3


def test_an_error_of_a_part_is_raised_when_all_threads_have_stopped() -> None:
    def work(part: int) -> int:
        if part == 7:
            raise ValueError("seven")
        return part

    before = threading.active_count()
    with Workers(4) as workers:
        for _ in range(5):
            with pytest.raises(ValueError, match="seven"):
                workers.each(work, range(20))
    assert threading.active_count() == before
