"""Rows as named columns, and the one reader of the forms in which users give them.

Rows come as a list of tuples or of dicts, as a mapping of names to columns, or as anything that
hands out Arrow: tables, frames of pandas and Polars. `read_columns` makes a `ColumnBatch` of any of
them. A column is then still in the form in which it was given; whoever knows what it holds brings
it to one type: ids (`run.live.ids`), numbers for programs (`run.live.edge_rows`), or one Arrow type
for each property type (`run.views.typed_columns`).

The caller's `BatchLayout` says which names there may be, and what errors call a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import mixed_columns_error
from graphtide.model.schema import name_hint

_MOST_NAMED = 5
_FEW = 1000
"""From this many rows on, an iterator for each row costs more than a loop for each column."""


class BatchLayout(NamedTuple):
    """The columns that rows may have, in the order in which tuples give them."""

    names: tuple[str, ...]
    least: int = 2
    """A tuple gives at least this many of them."""
    rows: str = "edges"
    """What rows are, for errors."""
    gaps: bool = False
    """Whether a tuple may be shorter than others, and a dict lack a key: the rest is missing."""

    def __str__(self) -> str:
        return f"({', '.join(self.names)})"


@dataclass(slots=True)
class ColumnBatch:
    """Columns of equal length by name; `what` says where they came from, for errors."""

    what: str
    values: dict[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def row(self, at: int) -> str:
        """One row as a user would write it."""
        cells = (column[at] for column in self.values.values())
        return f"({', '.join(repr(_plain(cell)) for cell in cells)})"

    def check_lengths(self) -> None:
        """InputError unless all columns are equally long."""
        if len(set(map(len, self.values.values()))) > 1:
            listed = ", ".join(f"{name} {len(item):,}" for name, item in self.values.items())
            raise InputError(f"the columns of {self.what} differ in length: {listed}")

    def check_there(self, names: Iterable[str]) -> None:
        """InputError where a column is not given."""
        for name in names:
            if name not in self.values:
                listed = ", ".join(map(str, self.values)) or "none"
                raise InputError(f"{self.what} has no column '{name}'", hint=f"it has: {listed}")

    def take(self, places: NDArray[np.int64]) -> ColumnBatch:
        """Some of the rows."""
        return ColumnBatch(
            self.what, {name: _taken(column, places) for name, column in self.values.items()}
        )

    def followed_by(self, other: Mapping[str, Any]) -> ColumnBatch:
        """These rows and others behind them, in the columns of the others."""
        missing = [None] * len(self)
        return ColumnBatch(
            self.what,
            {
                name: [*_listed(self.values.get(name, missing)), *_listed(column)]
                for name, column in other.items()
            },
        )


def read_columns(what: str, given: Any, layout: BatchLayout) -> ColumnBatch:
    """Rows in any form as columns; InputError for rows that differ, and for unknown columns."""
    if isinstance(given, Mapping):
        columns = {
            name: column
            if hasattr(column, "__len__") or not isinstance(column, Iterable)
            else list(column)
            for name, column in given.items()
        }
    elif hasattr(given, "__arrow_c_stream__") and not isinstance(given, pa.ChunkedArray):
        columns = frame_columns(what, given)
    else:
        columns = row_columns(what, _rows(what, given, layout), layout)
    for name in columns:
        if name not in layout.names:
            listed = ", ".join(layout.names)
            raise InputError(
                f"{what} has a column '{name}', which {layout.rows} do not have",
                hint=name_hint(name, layout.names, f"the columns are {listed}"),
            )
    return ColumnBatch(what, columns)


def row_columns(what: str, rows: Sequence[Any], layout: BatchLayout) -> dict[str, Any]:
    """Tuples or dicts, one for each row, as columns."""
    if rows and isinstance(rows[0], Mapping):
        return _dict_columns(what, rows, layout)
    kinds = set(map(type, rows))
    if kinds <= {tuple, list}:
        widths = set(map(len, rows)) or {layout.least if layout.gaps else len(layout.names)}
        if len(widths) == 1 or layout.gaps:
            width = max(widths)
            if layout.least <= min(widths) and width <= len(layout.names):
                return dict(zip(layout.names, _turned(rows, widths), strict=False))
    elif not any(isinstance(row, str | bytes) or not isinstance(row, Sequence) for row in rows):
        return row_columns(what, [tuple(row) for row in rows], layout)
    most = len(rows[0]) if kinds <= {tuple, list} else 0
    bad = [at for at, row in enumerate(rows) if not _is_row(row, layout, most)]
    raise InputError(
        f"{what}: there are rows that are no {layout.rows}",
        where=named_rows(bad or [0], lambda at: repr(rows[at])),
        hint=f"a row is {layout}",
    )


def _is_row(row: Any, layout: BatchLayout, width: int) -> bool:
    if not isinstance(row, tuple | list) or not layout.least <= len(row) <= len(layout.names):
        return False
    return layout.gaps or len(row) == width


def _turned(rows: Sequence[Sequence[Any]], widths: set[int]) -> Iterable[Sequence[Any]]:
    """Rows turned into columns; short rows are filled up with None."""
    width = max(widths)
    if len(widths) > 1:
        return [[row[at] if at < len(row) else None for row in rows] for at in range(width)]
    if 0 < len(rows) < _FEW:
        return zip(*rows, strict=True)
    return [[row[at] for row in rows] for at in range(width)]


def _dict_columns(what: str, rows: Sequence[Any], layout: BatchLayout) -> dict[str, Any]:
    names = list(rows[0])
    bad = [
        at
        for at, row in enumerate(rows)
        if not isinstance(row, Mapping) or (not layout.gaps and row.keys() != rows[0].keys())
    ]
    if bad:
        raise InputError(
            f"the rows of {what} differ in their keys",
            where=named_rows(bad, lambda at: repr(rows[at])),
            hint=f"the first has {', '.join(map(str, names))}",
        )
    if layout.gaps:
        names = list(dict.fromkeys(name for row in rows for name in row))
    return {str(name): [row.get(name) for row in rows] for name in names}


def _rows(what: str, given: Any, layout: BatchLayout) -> Sequence[Any]:
    if isinstance(given, list):
        return given
    if isinstance(given, np.ndarray):
        return list(given.tolist())
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"{what} cannot be {given!r}",
            hint=f"give a list of rows {layout}, a frame, or a list of edge numbers",
        )
    return list(given)


def frame_columns(what: str, frame: Any, *, mixed: bool = False) -> dict[str, Any]:
    """The columns of anything that hands out Arrow; an index of pandas is none.

    InputError where two have one name: a dict would keep the last and lose the others. So is a
    column with values of several types, unless `mixed` takes it as it is.
    """
    if (arrays := _number_arrays(frame)) is not None:
        return arrays
    try:
        table = frame if type(frame) is pa.Table else pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        if mixed and hasattr(frame, "columns") and len(set(frame.columns)) == len(frame.columns):
            return {str(name): list(frame[name]) for name in frame.columns}
        raise mixed_columns_error(what, frame, error) from None
    check_names(what, table.column_names)
    return {
        name: table.column(at)
        for at, name in enumerate(table.column_names)
        if not name.startswith("__index_level_")
    }


def _number_arrays(frame: Any) -> dict[str, Any] | None:
    """The arrays of a frame of pandas that has nothing but numbers; None for anything else.

    A frame of one row takes 10 microseconds so, and 140 by Arrow.
    """
    kind = type(frame)
    if kind.__name__ != "DataFrame" or not kind.__module__.startswith("pandas."):
        return None
    if any(name is not None for name in frame.index.names):
        return None  # An index with a name is a column.
    names, arrays = list(frame.columns), {}
    if len(set(names)) < len(names):
        return None
    for name in names:
        column = frame[name].to_numpy()
        if column.dtype.kind not in "if" or type(name) is not str:
            return None
        arrays[name] = column
    return arrays


def check_names(what: str, names: Sequence[str], where: str | None = None) -> None:
    """InputError where a name stands for several columns."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"{what}: the column '{twice}' is there more than once",
            where=where or f"columns found: {', '.join(names)}",
            hint="give each a name of its own, or leave all but one out",
        )


def named_rows(rows: Iterable[int], text: Callable[[int], str]) -> str:
    """The first few of the rows that an error is about, by their position from 0."""
    listed = list(rows)
    named = [f"row {at}: {text(at)}" for at in listed[:_MOST_NAMED]]
    if len(listed) > _MOST_NAMED:
        named.append(f"and {len(listed) - _MOST_NAMED:,} more")
    return ", ".join(named)


def _plain(cell: Any) -> Any:
    """A cell of NumPy or Arrow as Python has it."""
    if isinstance(cell, pa.Scalar):
        return cell.as_py()
    return cell.item() if isinstance(cell, np.generic) else cell


def _listed(values: Any) -> list[Any]:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _taken(values: Any, places: NDArray[np.int64]) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.take(pa.array(places))
    if isinstance(values, np.ndarray):
        return values[places]
    listed = list(values)
    return [listed[at] for at in places.tolist()]
