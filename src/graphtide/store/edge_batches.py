"""The edges of a stored graph, some at a time: what is read of them never fills the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.store.files import unreadable
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import (
    TableName,
    changed_rows,
    check_ends,
    deleted_edges,
    put_changed,
    without_marks,
)
from graphtide.store.read_edges import READ_EDGES

BATCH_ROWS = 1 << 22
"""About this many rows are read at once: 100 MB with their ends and two columns."""


def edge_batches(
    stored: StoredGraph, columns: Sequence[str], rows: int | None = None
) -> Iterator[pa.Table]:
    """The edges that are there, in the order of their numbers, as they are in this state."""
    deleted, changed = deleted_edges(stored), changed_rows(stored, "edges", columns)
    first = 0
    for batch in written_batches(stored, "edges", columns, rows or BATCH_ROWS):
        table = batch.slice(0, max(0, stored.numbers - first))
        READ_EDGES.add(table.num_rows)
        check_ends(stored, table)
        table = put_changed(table, changed, first)
        low, high = np.searchsorted(deleted, [first, first + table.num_rows])
        first += table.num_rows
        if low < high:
            there = np.ones(table.num_rows, np.bool_)
            there[deleted[low:high] - (first - table.num_rows)] = False
            table = table.filter(pa.array(there))
        yield table


def end_batches(stored: StoredGraph) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """The ends of all edges, deleted ones included: the first number, sources and destinations."""
    first = 0
    for batch in written_batches(stored, "edges", ["_src", "_dst"], BATCH_ROWS):
        table = batch.slice(0, max(0, stored.numbers - first))
        READ_EDGES.add(table.num_rows)
        check_ends(stored, table)
        src, dst = (table.column(name).to_numpy() for name in ("_src", "_dst"))
        yield first, src, dst
        first += table.num_rows


def written_batches(
    stored: StoredGraph, table: TableName, columns: Sequence[str], rows: int
) -> Iterator[pa.Table]:
    """All rows of the files of a table, in their order."""
    generation = stored.generation
    for name, _ in generation.parts(table):
        path = generation.file(name)
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(rows, columns=list(columns)):
                    yield without_marks(stored, table, pa.Table.from_batches([batch]), columns)
        except (OSError, pa.ArrowException, KeyError) as error:
            raise generation.damaged(unreadable(path, error)) from None
