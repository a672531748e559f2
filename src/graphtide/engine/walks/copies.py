"""Make the compact copy of a graph that a run from scratch wants."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.compact import CompactForm
from graphtide.engine.walks.state import rows_of
from graphtide.kernels.walks.compact import (
    Compact,
    Neighbours,
    leave_each_once,
    list_neighbours,
    list_upward,
    number_by_degree,
    sort_neighbours,
)

_WAYS = {"out": 1, "in": 2, "both": 3}


def compact_copy(
    graph: ResidentGraph, words: NDArray[np.int64], form: CompactForm, width: int, parallel: bool
) -> Compact:
    """The neighbours of the version that the graph is at. O(vertices + edges).

    Where there is nothing parallel, every neighbour is listed once from the beginning. `width` is
    that of a row of accumulators.
    """
    count = graph.vertices
    number, vertex = np.empty(0, np.int32), np.empty(0, np.int32)
    if form.ranked:
        number, vertex = np.empty(count, np.int32), np.empty(count, np.int32)
        out, into = graph.adjacency
        most = int(out.live.max(initial=0)) + int(into.live.max(initial=0))
        number_by_degree(words, number, vertex, np.zeros(most + 2, np.int64))
    stamps = np.full(max(form.lines, 1) * count, -1, np.int32)
    lists: list[Neighbours] = []
    for way, bits in _WAYS.items():
        room = 0
        if way in form.ways:
            room = graph.live + 1 if form.upward else graph.live * (2 if way == "both" else 1)
        start, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        found = Neighbours(start, end, np.empty(room, np.int32))
        if room:
            if form.upward:
                list_upward(words, number, vertex, found)
            else:
                list_neighbours(words, bits, number, found)
            if parallel:
                leave_each_once(found, stamps[:count])
            if form.sorted:
                sort_neighbours(found)
        lists.append(found)
    out_list, into_list, both = lists
    sent = np.zeros(count * width if form.apart else 0, np.int64)
    return Compact(out_list, into_list, both, vertex, stamps, rows_of(sent))
