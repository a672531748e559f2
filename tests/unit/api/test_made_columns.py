"""Graphsurge's numbers of vertices: those of tables by their place, then as edges speak of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphtide.algorithms.paths import CappedPaths
from graphtide.run.collection.stored_graph import ENDS, numbers_by_appearance
from graphtide.run.live.programs import compiled_program

edge_lists = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


@given(edge_lists, st.integers(0, 10))
def test_vertices_are_numbered_as_they_appear(edges: list[tuple[int, int]], listed: int) -> None:
    counted: dict[int, int] = {vertex: vertex for vertex in range(listed)}
    for edge in edges:
        for end in edge:
            counted.setdefault(end, len(counted))
    # A vertex that no table lists is known from an edge, so that there are no others.
    ours = {vertex: at for at, vertex in enumerate(sorted(counted))}
    src, dst = (np.array([ours[edge[side]] for edge in edges], np.int32) for side in (0, 1))
    found = numbers_by_appearance(src, dst, len(counted), listed)
    assert found.tolist() == [counted[vertex] for vertex in sorted(counted)]


def test_shortest_paths_by_made_up_weights_settle() -> None:
    chosen = compiled_program(CappedPaths(source=0, weight_cap=3), "auto")  # type: ignore[call-arg]
    assert chosen.choice.mode == "fixpoint"
    assert list(chosen.needed.properties) == [ENDS]
