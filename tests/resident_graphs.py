"""Rows brought into a graph in memory, as tests give them: by vertex numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.batches import REAL, TRUTH, WHOLE, Batch
from graphtide.kernels.graph.flips import Delta

Rows = Sequence[tuple]
_TYPES = {"i": WHOLE, "f": REAL, "b": TRUTH}
_NO_TABLE = np.empty(0, np.int64)


def bring_in(
    graph: ResidentGraph, inserted: Rows, deleted: Rows = (), names: Sequence[str] = ()
) -> tuple[int, Delta]:
    """How a batch of rows `(src, dst, properties...)` ends; `names` are those of deleted rows."""
    dtypes = graph.dtypes
    batch = Batch(
        *_ends(inserted),
        *_ends(deleted),
        _words(inserted, list(dtypes.values())),
        _words(deleted, [dtypes[name] for name in names]),
        np.array([list(dtypes).index(name) for name in names], np.int64),
        np.array([_TYPES[item.kind] for item in dtypes.values()], np.int64),
    )
    sizes = len(inserted), len(deleted), *[len(inserted) + len(deleted)] * 2
    delta = Delta(*(np.empty(size, np.int32) for size in sizes))
    return graph.bring_in(_NO_TABLE, batch, delta), delta


def append(graph: ResidentGraph, rows: Rows) -> np.ndarray:
    """More edges, which are live; returns their numbers."""
    _, delta = bring_in(graph, rows)
    return delta.inserted


def _ends(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([row[0] for row in rows], np.int64), np.array(
        [row[1] for row in rows], np.int64
    )


def _words(rows: Rows, dtypes: Sequence[np.dtype]) -> np.ndarray:
    found = np.empty((len(dtypes), len(rows)), np.int64)
    for at, dtype in enumerate(dtypes):
        column = np.array([row[2 + at] for row in rows], dtype)
        found[at] = column if dtype.kind == "b" else column.view(np.int64)
    return found
