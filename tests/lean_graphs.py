"""Lean graphs of what tests have at hand, cut into parts of a few edges.

Where kernels are interpreted, parts are run one after the other, however many threads there are:
there, cutting otherwise takes the place of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from graphtide.engine.graph_data import VertexData
from graphtide.engine.lean import runs
from graphtide.engine.lean import workers as parts
from graphtide.engine.lean.runs import LeanRun
from graphtide.engine.lean.workers import Workers
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.adjacency import LeanGraph, compress
from graphtide.plan.programs import VertexProgram
from tests.compiled import interpreted

WORKERS = (1,) if interpreted() else (1, 2, 7)


@contextmanager
def small_parts(work: int = 3, few: int = 1) -> Iterator[None]:
    """Parts of so few edges, and queues of so few vertices, that small graphs have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "LEAST_WORK", work)
        patch.setattr(runs, "FEW", few)
        patch.setattr(runs, "NEAREST", 2 * few)
        yield


def lean_values(
    lean: LeanGraph,
    program: VertexProgram,
    parameters: tuple[Any, ...],
    *,
    workers: int = 1,
    vertex_data: VertexData | None = None,
    settles: bool = False,
) -> dict[str, Any]:
    """The result of every vertex of a lean graph, by so many threads."""
    with Workers(workers) as threads:
        return LeanRun(lean, program, parameters, vertex_data, settles=settles).values(threads)


def lean_of(resident: ResidentGraph) -> LeanGraph:
    """The edges of the version that a graph in memory is at."""
    edges = resident.live_edges()
    src, dst = resident.ends(edges)
    columns = {name: column[edges] for name, column in resident.properties.items()}
    return compress(resident.vertices, src, dst, columns, directed=resident.directed)


def values_by_all(
    lean: LeanGraph, program: VertexProgram, given: tuple[Any, ...], **more: Any
) -> dict[str, Any]:
    """The values by one thread in one part; those by more must have the same bits."""
    with small_parts(1 << 40, 1 << 12):
        first = lean_values(lean, program, given, **more)
    for found in [lean_values(lean, program, given, workers=n, **more) for n in WORKERS]:
        assert list(found) == list(first)
        for name, values in found.items():
            assert values.dtype == first[name].dtype
            assert same_bits(values, first[name]), (program.name, name)
    return first


def same_bits(one: Any, other: Any) -> bool:
    """Equal to the last bit."""
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
