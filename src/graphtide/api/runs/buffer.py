"""Differences and records of finished steps, until they become a part.

Nothing is made a row of here: arrays are listed as they come, and put together once a part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.live import arrow_column
from graphtide.api.runs.current import Changes
from graphtide.engine.changes import Change
from graphtide.optimize.strategy import Move
from graphtide.store.results import Part

RECORD_SCHEMA = pa.schema(
    [
        ("step", pa.int32()),
        ("move", pa.int8()),
        ("seconds", pa.float64()),
        ("predicted_differential", pa.float64()),
        ("predicted_scratch", pa.float64()),
        ("touched", pa.int64()),
        ("changed", pa.int64()),
    ]
)

Row = tuple[int, Move, float, float, float, int, int]
"""A step in the order of the columns of the record."""


class PartBuffer:
    """Finished steps that are not kept yet. `rows` counts their differences."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._fields = fields
        self._clear()

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, row: Row, changes: Changes) -> None:
        """A finished step. What was added before is whole even if this is interrupted."""
        self.rows += row[-1]
        self._pieces.append(([row], None, changes))

    def add_stretch(self, rows: list[Row], counts: NDArray[np.int64], changes: Changes) -> None:
        """Finished steps with the changes of all of them, so many of each step."""
        self.rows += int(counts.sum())
        self._pieces.append((rows, counts, changes))

    def take(self) -> Part:
        """All finished steps as a part; the buffer is empty afterwards."""
        pieces = self._pieces
        records = [row for rows, _, _ in pieces for row in rows]
        columns = zip(RECORD_SCHEMA, zip(*records, strict=True), strict=True)
        record = pa.table(
            [pa.array(column, field.type) for field, column in columns], RECORD_SCHEMA
        )
        steps = np.array([row[0] for row in records], np.int32)
        differences = {
            name: _differences(steps, [(counts, item[name]) for _, counts, item in pieces])
            for name in self._fields
        }
        self._clear()
        return Part(record, differences)

    def _clear(self) -> None:
        self._pieces: list[tuple[list[Row], NDArray[np.int64] | None, Changes]] = []
        self.rows = 0


def _differences(
    steps: NDArray[np.int32], pieces: list[tuple[NDArray[np.int64] | None, Change]]
) -> pa.Table:
    """The rows of one field: step, vertex, old, new."""
    counts = np.concatenate([[len(one)] if many is None else many for many, one in pieces])
    changes = [change for _, change in pieces]
    joined: dict[str, Any] = {"step": pa.array(np.repeat(steps, counts))}
    joined["vertex"] = pa.array(np.concatenate([change.vertices for change in changes]))
    joined["old"] = arrow_column(np.concatenate([change.old for change in changes]))
    joined["new"] = arrow_column(np.concatenate([change.new for change in changes]))
    return pa.table(joined)
