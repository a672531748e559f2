"""Rows that walks report, as runs hold them: a set in which each row may be several times.

A row has no number, so that what a step changes is told by the rows themselves: those that appeared
and those that disappeared. In tables their columns are called by their places, `0`, `1` and so on,
beside `step` and `count`, which is how often a row came, or, below 0, left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.walks.matches import Row, RowChange, row_change
from graphtide.engine.walks.row_numbers import comparable
from graphtide.run.live.match_tables import column_type

RowSet = Counter[Row]
Kinds = Sequence[Any]
"""The types of the columns."""


def rows_between(before: RowSet, after: RowSet) -> RowChange:
    """What appears and disappears on the way from one set to another. O(rows)."""
    counts = Counter(after)
    counts.subtract(before)
    return row_change((row, count) for row, count in counts.items() if count)


def apply_rows(rows: RowSet, change: RowChange) -> None:
    """Go to the version that a change leads to."""
    _move(rows, change.appeared, change.disappeared)


def undo_rows(rows: RowSet, change: RowChange) -> None:
    """Go back to the version before."""
    _move(rows, change.disappeared, change.appeared)


def _move(rows: RowSet, come: Iterable[Row], gone: Iterable[Row]) -> None:
    rows.update(come)
    for row in gone:
        rows[row] -= 1
        if not rows[row]:
            del rows[row]


def rows_table(kinds: Kinds, steps: NDArray[np.int32], changes: Sequence[RowChange]) -> pa.Table:
    """What so many steps changed."""
    counted: list[tuple[int, int, Row]] = []
    for step, change in zip(steps.tolist(), changes, strict=True):
        counted += [(step, 1, row) for row in change.appeared]
        counted += [(step, -1, row) for row in change.disappeared]
    columns = {
        "step": pa.array([step for step, _, _ in counted], pa.int32()),
        "count": pa.array([count for _, count, _ in counted], pa.int64()),
    }
    for at, kind in enumerate(kinds):
        columns[str(at)] = pa.array([row[at] for _, _, row in counted], column_type(kind))
    return pa.table(columns)


class RowsField:
    """The differences of one kind of rows in one part."""

    def __init__(self, table: pa.Table) -> None:
        self._step = table.column("step").to_numpy()
        self._table = table

    def of(self, step: int) -> RowChange:
        """What a step changed."""
        start, stop = np.searchsorted(self._step, [step, step + 1])
        own = self._table.slice(int(start), int(stop - start))
        return row_change(counted_rows(own).items())


def counted_rows(table: pa.Table) -> RowSet:
    """The rows of a table, each as often as it says in all."""
    columns = [comparable(table.column(name).to_pylist()) for name in table.column_names[2:]]
    counts: RowSet = Counter()
    rows = zip(*columns, strict=True)
    for count, row in zip(table.column("count").to_pylist(), rows, strict=True):
        counts[row] += count
    return counts
