"""Edges as users give them: rows in any form, or numbers of edges, as columns that kernels take.

Rows end as `ColumnBatch` whose first two are the ids of both ends, and whose others are properties.
Programs read numbers and truth values, so a property becomes int64, float64 (NaN where a value is
missing) or bool. Reading needs no graph: whether an edge is there, and of which type the graph has
a property, is for `batches`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.columns import BatchLayout, ColumnBatch, named_rows, read_columns
from graphtide.model.errors import InputError
from graphtide.run.live.ids import plain_id
from graphtide.run.live.vertex_ids import id_column

Column = NDArray[Any]
Int64 = NDArray[np.int64]
_NUMBERS = {int, float, type(None)}
NO_SUCH_EDGES = "name edges that are not there", "look them up in graph.edges()"


@dataclass(frozen=True)
class ColumnNames:
    """How the columns of a graph's edges are called."""

    src: str
    dst: str
    properties: tuple[str, ...] = ()

    @cached_property
    def all(self) -> tuple[str, ...]:
        return (self.src, self.dst, *self.properties)

    @cached_property
    def layout(self) -> BatchLayout:
        return BatchLayout(self.all)


def read_edges(what: str, given: Any, names: ColumnNames) -> ColumnBatch:
    """Edges in any form but numbers: a frame, a dict of columns, tuples, dicts.

    Rows give both ends and any number of the properties, in the order of `names`.
    """
    return typed_edges(read_columns(what, given, names.layout), names)


def typed_edges(rows: ColumnBatch, names: ColumnNames) -> ColumnBatch:
    """Ends become ids, given properties become arrays for programs; ends come first."""
    what = rows.what
    rows.check_there((names.src, names.dst))
    values: dict[str, Any] = {
        names.src: id_column(rows[names.src], f"`{names.src}` of {what}"),
        names.dst: id_column(rows[names.dst], f"`{names.dst}` of {what}"),
    }
    for name in names.properties:
        if name in rows:
            values[name] = property_column(rows[name], name, what)
    typed = ColumnBatch(what, values)
    typed.check_lengths()
    return typed


def property_column(values: Any, name: str, what: str) -> Column:
    """A property as int64, float64 or bool; InputError if it holds anything else.

    Decimals become floats.
    """
    column = _property_array(values)
    if column is None:
        raise InputError(
            f"the property '{name}' of {what} does not hold numbers of 64 bits or truth values",
            where=_first_other(values),
            hint="give numbers, truth values, texts, dates or timestamps, all of one type, "
            "or leave it out where the graph is made",
        )
    return column


def _first_other(values: Any) -> str | None:
    """The first value that is no number, or none of 64 bits, with its row."""
    if not isinstance(values, Iterable):
        return None
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    others = (
        at
        for at, item in enumerate(plain)
        if not isinstance(item, int | float | None)
        or (isinstance(item, int) and not -(2**63) <= item < 2**63)
    )
    return next((f"row {at}: {plain[at]!r}" for at in others), None)


def holds_numbers(values: Any) -> bool:
    return _property_array(values) is not None


def _property_array(values: Any) -> Column | None:
    if isinstance(values, list | tuple):
        return _list_numbers(values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = _arrow_numbers(values)
    elif not isinstance(values, np.ndarray) and hasattr(values, "__array__"):
        values = np.asarray(values)
    elif not isinstance(values, np.ndarray):
        values = _list_numbers(values)
    if values is None or values.ndim != 1:
        return None
    match values.dtype.kind:
        case "b":
            return np.array(values, np.bool_)
        case "i" | "u":
            fits = values.dtype != np.uint64 or not len(values) or values.max() < 2**63
            return np.array(values, np.int64) if fits else None
        case "f":
            return np.array(values, np.float64)
        case "O":
            return _list_numbers(values.tolist())
        case _:
            return None


def _arrow_numbers(values: pa.Array | pa.ChunkedArray) -> Column | None:
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        if values.null_count:
            # As a list of such numbers is read: those beyond 2**53 are rounded.
            values = values.cast(pa.float64(), safe=False)
        chunked = isinstance(values, pa.ChunkedArray)
        column: Column = np.array(values.to_numpy() if chunked else values.to_numpy(False))
        return column
    return None


def _list_numbers(values: Any) -> Column | None:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        return None
    plain = values if isinstance(values, list | tuple) else list(values)
    kinds = set(map(type, plain))
    if not kinds <= _NUMBERS:
        plain = [_plain_number(item) for item in plain]
        kinds = set(map(type, plain))
    if kinds == {bool}:
        return np.array(plain, np.bool_)
    if kinds == {int}:
        try:
            return np.array(plain, np.int64)
        except OverflowError:
            return None  # As a float it would be another number.
    if not kinds <= _NUMBERS:
        return None
    if type(None) in kinds:
        plain = [np.nan if item is None else item for item in plain]
    return np.array(plain, np.float64)


def _plain_number(item: Any) -> Any:
    """A number of NumPy or Arrow, or a decimal, as one of Python; anything else as it is."""
    item = plain_id(item)
    return float(item) if isinstance(item, Decimal) else item


def edge_numbers(what: str, given: Any) -> Int64 | None:
    """The edge numbers, if the user gave a list of numbers; None if these are rows."""
    if isinstance(given, np.ndarray):
        whole = given.ndim == 1 and given.dtype.kind in "iu"
        return given.astype(np.int64) if whole else None
    if not isinstance(given, list | tuple) or not given:
        return None
    if isinstance(given, list) and isinstance(given[0], tuple):
        return None
    if all(isinstance(item, bool | np.bool_) for item in given):
        raise InputError(
            f"{what} cannot be a list of truth values",
            hint="give the numbers of the edges: np.flatnonzero(mask) of graph.edges()['edge']",
        )
    if all(isinstance(item, int | np.integer) for item in given):
        if isinstance(given, tuple):
            raise InputError(
                f"{what} cannot be the tuple {given!r}",
                hint=f"write {what}=[{given!r}] for one edge, a list for edge numbers",
            )
        check_edge_numbers(what, given, [abs(item) >= 2**63 for item in given], "of no edge")
        return np.array(given, np.int64)
    if isinstance(given, tuple) and not isinstance(given[0], tuple | list | dict):
        raise InputError(f"{what} cannot be the tuple {given!r}", hint=f"write {what}=[{given!r}]")
    return None


def check_edge_numbers(what: str, given: Any, wrong: Any, problem: str) -> None:
    bad = np.flatnonzero(wrong).tolist()
    if bad:
        raise InputError(
            f"{what} has edge numbers that are {problem}",
            where=named_rows(bad, lambda at: str(given[at])),
            hint="take them from the column `edge` of graph.edges()",
        )


def refuse(rows: ColumnBatch, wrong: NDArray[np.bool_], problem: str, hint: str) -> None:
    if wrong.any():
        bad = np.flatnonzero(wrong).tolist()
        count = f"{len(bad):,} rows of {rows.what}" if len(bad) > 1 else f"a row of {rows.what}"
        if len(bad) == 1:
            problem = problem.replace("name ", "names ", 1).replace("are parallel", "is parallel")
        raise InputError(f"{count} {problem}", where=named_rows(bad, rows.row), hint=hint)
