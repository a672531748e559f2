"""Some of the vertices of a stored graph: only their rows are kept while the table is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.store.edge_batches import BATCH_ROWS, written_batches
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import changed_rows, put_changed, table_schema


def vertices_at(
    stored: StoredGraph, columns: Sequence[str], numbers: NDArray[Any], rows: int | None = None
) -> pa.Table:
    """The rows of some vertices, in the order of the numbers given; the others are read past."""
    order, changed = np.argsort(numbers, kind="stable"), changed_rows(stored, "vertices", columns)
    wanted, first, found = numbers[order], 0, []
    for batch in written_batches(stored, "vertices", columns, rows or BATCH_ROWS):
        low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
        table = put_changed(batch, changed, first)
        found.append(table.take(pa.array(wanted[low:high] - first)))
        first += batch.num_rows
    if not found:
        found = [table_schema(stored, "vertices").empty_table().select(list(columns))]
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_tables(found).take(pa.array(places))
