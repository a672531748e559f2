"""Tables, values and errors as JSON, in the form of `types.d.ts`: some rows, sorted and searched.

JSON has no infinities, and JavaScript no whole numbers beyond 2^53: both go as texts. An error of
ours goes as it is, any other as a short sentence without what led to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import (
    MEMORY_ENDED,
    ExistsError,
    GraphtideError,
    InputError,
    LimitError,
    LockedError,
    NotFoundError,
    StoreError,
)

Options = Mapping[str, str]
MOST_ROWS, USUAL_ROWS = 10_000, 100
_EXACT = 1 << 53
_ALL_DIGITS = 17
_NOTE, _ENTIRE = b"note", b"entire"

# Below this share of the rows, selecting them is faster than sorting all: measured.
_FEW = 32


def table_page(table: pa.Table, options: Options = {}) -> dict[str, Any]:  # noqa: B006
    """The rows that `search`, `sort`, `down`, `start` and `count` ask for.

    Of a table that is `entire` these are all, where no `count` is given for the page. `digits`
    leaves numbers that are not whole with so many significant digits, for pictures.
    """
    facts = table.schema.metadata or {}
    found = searched(table, options.get("search", ""))
    start = whole_number(options, "start", 0, len(found))
    usual = MOST_ROWS if _ENTIRE in facts else USUAL_ROWS
    count = whole_number({} if facts.get(_ENTIRE) else options, "count", usual, MOST_ROWS)
    chosen = ordered(found, options, start + count).slice(start, count)
    digits = whole_number(options, "digits", 0, _ALL_DIGITS)
    page = json_table(rounded(chosen, digits), rows=len(found), start=start)
    return page if _NOTE not in facts else page | {"note": facts[_NOTE].decode()}


def noted(table: pa.Table, note: str) -> pa.Table:
    """The table with a note of what it leaves out."""
    return _with_fact(table, _NOTE, note)


def note_of(table: pa.Table) -> str:
    """The note of a table; empty if it has none."""
    return (table.schema.metadata or {}).get(_NOTE, b"").decode()  # type: ignore[no-any-return]


def entire(table: pa.Table, *, counted: bool = False) -> pa.Table:
    """A table of which the page wants all rows: one for each view or step.

    Where it is `counted`, the option `count` has said something else than how many rows are shown.
    """
    return _with_fact(table, _ENTIRE, "counted" if counted else "")


def _with_fact(table: pa.Table, name: bytes, value: str) -> pa.Table:
    return table.replace_schema_metadata({**(table.schema.metadata or {}), name: value.encode()})


def rounded(table: pa.Table, digits: int) -> pa.Table:
    """The table with floats rounded to `digits` significant digits; 0 leaves them as they are."""
    for at, column in enumerate(table.columns):
        if digits and pa.types.is_floating(column.type):
            texts = [
                None if value is None else f"{value:.{digits}g}" for value in column.to_pylist()
            ]
            short = pa.array(
                [None if text is None else float(text) for text in texts], pa.float64()
            )
            table = table.set_column(at, table.column_names[at], short)
    return table


def json_table(table: pa.Table, *, rows: int | None = None, start: int = 0) -> dict[str, Any]:
    """All rows of a table, which may be a part of one with more `rows`."""
    columns = [json_column(name, table.column(name)) for name in table.column_names]
    return {"columns": columns, "rows": len(table) if rows is None else rows, "start": start}


def json_column(name: str, column: pa.ChunkedArray) -> dict[str, Any]:
    """A column with its name, its kind and its values."""
    return {"name": name, "kind": _kind(column.type), "values": json_cells(column)}


def json_cells(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column as JSON."""
    values = column.to_pylist()
    if pa.types.is_boolean(column.type) or pa.types.is_string(column.type):
        return values  # type: ignore[no-any-return]
    return [json_cell(value) for value in values]


def json_cell(value: Any) -> Any:
    """A value as JSON."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_EXACT <= value <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case list() | tuple():
            return [json_cell(item) for item in value]
    return str(value)


def searched(table: pa.Table, text: str) -> pa.Table:
    """The rows that contain a text in any column, in any case."""
    if not text:
        return table
    found = [
        pc.match_substring(_as_text(column), text, ignore_case=True) for column in table.columns
    ]
    keep = pa.chunked_array([pa.array(np.zeros(len(table), np.bool_))])
    for one in found:
        keep = pc.or_(keep, pc.fill_null(one, False))
    return table.filter(keep)


def ordered(table: pa.Table, options: Options, wanted: int | None = None) -> pa.Table:
    """The first rows by the column that `sort` names, as many as wanted; missing ones come last.

    Rows with the same value stay in their order. Few of many rows are selected without sorting
    the others, and nothing of the others is copied.
    """
    name = options.get("sort")
    if not name:
        return table
    if name not in table.column_names:
        raise InputError(f"there is no column '{name[:80]}'", hint=", ".join(table.column_names))
    column = table.column(name)
    if pa.types.is_nested(column.type):
        column = _as_text(column)
    order = "descending" if options.get("down") == "1" else "ascending"
    by = pa.table({"by": column, "row": pa.array(np.arange(len(table)))})
    keys = [("by", order), ("row", "ascending")]
    if wanted is not None and _FEW * wanted < len(table):
        return table.take(pc.select_k_unstable(by, wanted, sort_keys=keys))
    return table.take(pc.sort_indices(by, sort_keys=keys).slice(0, wanted))


def asked(options: Options, name: str) -> str:
    """A required option."""
    text = options.get(name)
    if text is None:
        raise InputError(f"it is not said which {name}", hint=f"{name}=... says it")
    return text


def whole_number(options: Options, name: str, usual: int, most: int) -> int:
    """An option as a whole number from 0 to `most`; larger ones are cut to `most`."""
    text = options.get(name)
    if text is None:
        return min(usual, most)
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InputError(f"{name} cannot be '{text[:40]}'", hint="give a whole number")
    return min(int(text), most)


def text_lists(table: pa.Table) -> pa.Table:
    """The table with lists of varying length as texts, as CSV needs it."""
    for at, column in enumerate(table.columns):
        nested = pa.types.is_nested(column.type)
        if nested and not pa.types.is_fixed_size_list(column.type):
            table = table.set_column(at, table.column_names[at], _as_text(column))
    return table


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return pc.cast(column, pa.string())


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_temporal(kind):
        return "time"
    return "list" if pa.types.is_nested(kind) else "text"


class NotAllowedError(GraphtideError):
    """A change that the page was not opened for."""


def problem_of(error: BaseException) -> dict[str, Any]:
    """An error as a Problem. A foreign one says what happened, without its traceback."""
    shown = _as_ours(error)
    return {"what": shown.what, "where": shown.where, "hint": shown.hint}


def status_of(error: BaseException) -> int:
    """The HTTP status for an error."""
    match error:
        case NotFoundError():
            return 404
        case NotAllowedError():
            return 403
        case ExistsError() | LockedError():
            return 409
        case GraphtideError() if not isinstance(error, StoreError):
            return 400
    return 500


def _as_ours(error: BaseException) -> GraphtideError:
    if isinstance(error, GraphtideError):
        return error
    if isinstance(error, MEMORY_ENDED):
        return LimitError("there is not enough memory for this", hint="ask for less at once")
    if isinstance(error, OSError) and error.strerror:
        return GraphtideError(error.strerror, where=error.filename and str(error.filename))
    return GraphtideError(
        f"something went wrong here: {type(error).__name__}",
        hint="please report it with what you did; graphtide open --debug prints more",
    )
