"""Differences and records of finished steps, until they become a part.

The buffer only lists arrays as they come; `take` concatenates them, once a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Changes
from graphtide.optimize.strategy import Move
from graphtide.plan.walks import Matches
from graphtide.run.collection.row_sets import rows_table
from graphtide.run.live.arrow_columns import arrow_column
from graphtide.store.parts import Made, Part

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

    def __init__(self, fields: tuple[str, ...], matches: tuple[Matches, ...] = ()) -> None:
        self._fields = fields
        self._matches = {item.name: [kind for _, kind in item.columns] for item in matches}
        self._clear()

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, row: Row, changes: Changes) -> None:
        """Add a finished step. An interrupt leaves what was added before whole."""
        self.rows += row[-1]
        self._pieces.append(_Piece(row, None, changes))

    def add_stretch(
        self, columns: Sequence[NDArray[Any]], counts: NDArray[np.int64], changes: Changes
    ) -> None:
        """Add the steps of a stretch: columns of the record, changes, and how many each has."""
        self.rows += int(counts.sum())
        self._pieces.append(_Piece(columns, counts, changes))

    def take(self, made: Made | None = None) -> Part:
        """All finished steps as a part with the facts of `made`; empties the buffer."""
        pieces = self._pieces
        record = _record(pieces)
        steps = record.column("step").to_numpy()
        differences = {name: _differences(steps, pieces, name) for name in self._fields}
        for name, kinds in self._matches.items():
            rows: list[Any] = [piece.changes[name] for piece in pieces]
            differences[name] = rows_table(kinds, steps, rows)
        self._clear()
        return Part(record, differences, made)

    def _clear(self) -> None:
        self._pieces: list[_Piece] = []
        self.rows = 0


class _Piece(NamedTuple):
    """A step, or a stretch of them: what the record says, and the changes."""

    told: Row | Sequence[NDArray[Any]]
    counts: NDArray[np.int64] | None
    changes: Changes


def _runs(pieces: list[_Piece]) -> Iterator[tuple[bool, list[_Piece]]]:
    """Steps that came one by one, taken together; every stretch alone."""
    for alone, run in groupby(pieces, lambda piece: piece.counts is None):
        if alone:
            yield alone, list(run)
        else:
            yield from ((alone, [piece]) for piece in run)


def _record(pieces: list[_Piece]) -> pa.Table:
    columns = zip(*(_columns(alone, run) for alone, run in _runs(pieces)), strict=True)
    filled = zip(RECORD_SCHEMA, map(np.concatenate, columns), strict=True)
    return pa.table([pa.array(column, field.type) for field, column in filled], RECORD_SCHEMA)


def _columns(alone: bool, run: list[_Piece]) -> Sequence[Any]:
    """Arrays in the order of the record. A table of each would take longer than its steps."""
    if not alone:
        return run[0].told
    return [np.array(column) for column in zip(*(piece.told for piece in run), strict=True)]


def _differences(steps: NDArray[np.int32], pieces: list[_Piece], name: str) -> pa.Table:
    """The rows of one field: step, vertex, old, new."""
    changes = [piece.changes[name] for piece in pieces]
    counts = np.concatenate(
        [
            [len(change)] if piece.counts is None else piece.counts
            for piece, change in zip(pieces, changes, strict=True)
        ]
    )
    joined: dict[str, Any] = {"step": pa.array(np.repeat(steps, counts))}
    joined["vertex"] = pa.array(np.concatenate([change.vertices for change in changes]))
    joined["old"] = arrow_column(np.concatenate([change.old for change in changes]))
    joined["new"] = arrow_column(np.concatenate([change.new for change in changes]))
    return pa.table(joined)
