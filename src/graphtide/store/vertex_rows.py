"""Some of the vertices of a stored graph, by number or by id: only their rows are kept.

Files and row groups that have none of the numbers are not read, nor those whose statistics tell
that an id is not in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.store.edge_batches import BATCH_ROWS
from graphtide.store.files import unreadable
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import changed_rows, put_changed, table_schema, without_marks
from graphtide.store.read_edges import READ_VERTICES

Wanted = Callable[[int, int], bool]
"""Whether rows from one number to before another are to be read."""


def vertices_at(
    stored: StoredGraph, columns: Sequence[str], numbers: NDArray[Any], rows: int | None = None
) -> pa.Table:
    """The rows of some vertices, in the order of the numbers given."""
    order, changed = np.argsort(numbers, kind="stable"), changed_rows(stored, "vertices", columns)
    wanted = numbers[order]
    pages = [table_schema(stored, "vertices").empty_table().select(list(columns))]

    def among(first: int, behind: int) -> bool:
        low, high = np.searchsorted(wanted, [first, behind])
        return bool(low < high)

    for first, page in _pages(stored, columns, among, rows or BATCH_ROWS):
        low, high = np.searchsorted(wanted, [first, first + page.num_rows])
        if low < high:
            table = put_changed(page, changed, first)
            pages.append(table.take(pa.array(wanted[low:high] - first)).cast(pages[0].schema))
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_tables(pages).take(pa.array(places))


def vertices_with_id(
    stored: StoredGraph, columns: Sequence[str], id_: pa.Scalar, rows: int | None = None
) -> tuple[NDArray[np.int64], pa.Table]:
    """The numbers of the vertices that have an id, and their rows. Ids never change."""
    numbers, pages = [np.empty(0, np.int64)], []
    wanted = list(dict.fromkeys(["_id", *columns]))
    changed = changed_rows(stored, "vertices", wanted)
    every: Wanted = lambda first, behind: first < stored.vertices  # noqa: E731
    for first, page in _pages(stored, wanted, every, rows or BATCH_ROWS, id_.as_py()):
        there = pc.equal(page.column("_id"), id_).to_numpy()
        places = np.flatnonzero(there[: max(0, stored.vertices - first)])
        if len(places):
            numbers.append(first + places)
            pages.append(put_changed(page, changed, first).take(pa.array(places)))
    schema = table_schema(stored, "vertices").empty_table().select(wanted)
    whole = pa.concat_tables([schema, *(item.cast(schema.schema) for item in pages)])
    return np.concatenate(numbers), whole.select(list(columns))


def _pages(
    stored: StoredGraph, columns: Sequence[str], wanted: Wanted, rows: int, id_: Any = None
) -> Iterator[tuple[int, pa.Table]]:
    """Rows of the table as they were written, each page with the number of its first."""
    generation, first = stored.generation, 0
    for name, count in generation.parts("vertices"):
        if wanted(first, first + count):
            path = generation.file(name)
            try:
                with pq.ParquetFile(path) as file:
                    for begin, page in _pages_of(file, columns, first, wanted, rows, id_):
                        READ_VERTICES.add(page.num_rows)
                        yield begin, without_marks(stored, "vertices", page, columns)
            except (OSError, pa.ArrowException, KeyError) as error:
                raise generation.damaged(unreadable(path, error)) from None
        first += count


def _pages_of(
    file: pq.ParquetFile, columns: Sequence[str], first: int, wanted: Wanted, rows: int, id_: Any
) -> Iterator[tuple[int, pa.Table]]:
    for at in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(at)
        behind = first + group.num_rows
        if wanted(first, behind) and _may_have(group, id_):
            begin = first
            for batch in file.iter_batches(rows, row_groups=[at], columns=list(columns)):
                yield begin, pa.Table.from_batches([batch])
                begin += batch.num_rows
        first = behind


def _may_have(group: Any, id_: Any) -> bool:
    """False where the statistics of a row group tell that an id is not in it."""
    if id_ is None:
        return True
    for at in range(group.num_columns):
        column = group.column(at)
        statistics = column.statistics if column.path_in_schema == "_id" else None
        if statistics is not None and statistics.has_min_max:
            return bool(statistics.min <= id_ <= statistics.max)
    return True
