"""Rows brought into a graph in memory, as tests give them: by vertex numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.batches import Batch
from graphtide.kernels.graph.flips import Delta

Rows = Sequence[tuple]
_NO_TABLE = np.empty(0, np.int64)


def bring_in(
    graph: ResidentGraph, inserted: Rows, deleted: Rows = (), names: Sequence[str] = ()
) -> tuple[int, Delta]:
    """How a batch of rows `(src, dst, properties...)` ends; `names` are those of deleted rows."""
    dtypes = graph.dtypes
    batch = Batch(
        _lines(inserted, list(dtypes.values())),
        _lines(deleted, [dtypes[name] for name in names]),
        np.array([list(dtypes).index(name) for name in names], np.int64),
    )
    sizes = len(inserted), len(deleted), *[len(inserted) + len(deleted)] * 2
    delta = Delta(*(np.empty(size, np.int32) for size in sizes))
    return graph.bring_in(_NO_TABLE, batch, delta), delta


def append(graph: ResidentGraph, rows: Rows) -> np.ndarray:
    """More edges, which are live; returns their numbers."""
    _, delta = bring_in(graph, rows)
    return delta.inserted


def _lines(rows: Rows, dtypes: Sequence[np.dtype]) -> np.ndarray:
    """A line a column: both ends, then a word for each property."""
    lines = np.empty((2 + len(dtypes), len(rows)), np.int64)
    for at, dtype in enumerate([np.dtype(np.int64), np.dtype(np.int64), *dtypes]):
        column = np.array([row[at] for row in rows], dtype)
        lines[at] = column if dtype.kind == "b" else column.view(np.int64)
    return lines
