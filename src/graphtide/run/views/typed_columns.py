"""Columns as views read them: Arrow arrays of the six types that a property can have.

Whatever a user gives (lists, NumPy arrays, columns of frames) is brought to one Arrow type a
property type, as a load into the catalog does it: NaN is a missing number, a timestamp without an
offset is in UTC, and what is finer than a microsecond is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.column_types import MEMORY_TYPES, property_type, taken_as
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType

_MICROS, _MICROS_UTC = pa.timestamp("us"), pa.timestamp("us", tz="UTC")

PROGRAM_TYPES = (PropertyType.INT, PropertyType.BOOL)
"""Columns of these types are for programs, too, where views need them."""


def typed_column(values: Any) -> pa.Array | None:
    """A column in the Arrow type of its property type; None where no property can hold it."""
    try:
        return _converted(_arrow_array(values))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def as_type(values: Any, wanted: PropertyType, name: str, what: str) -> pa.Array:
    """A column in a property's type; InputError where it holds something else.

    Whole numbers and floats stand for each other where no value changes by it.
    """
    column, target = typed_column(values), MEMORY_TYPES[wanted]
    if column is not None and column.null_count == len(column):
        return pa.nulls(len(column), target)
    if column is not None and column.type != target:
        both = {property_type(column), wanted} == {PropertyType.INT, PropertyType.FLOAT}
        column = column.cast(target, safe=False) if both and is_exact(column, wanted) else None
    if column is None:
        raise InputError(
            f"{what}: '{name}' holds values of type {wanted}, and the rows give others",
            hint="give values of the same type",
        )
    return column


def is_exact(column: pa.Array, wanted: PropertyType) -> bool:
    """True unless a number would change as it becomes a whole number."""
    if wanted is PropertyType.FLOAT:
        return True
    values = column.drop_null().to_numpy(zero_copy_only=False)
    return bool((np.floor(values) == values).all() and (np.abs(values) < 2.0**53).all())


def views_only(values: Any) -> pa.Array | None:
    """The column where views need it beside, or in place of, what programs read; else None.

    Programs read numbers and truth values. Texts, dates and timestamps are for views alone; whole
    numbers and truth values of which some are missing become floats for programs, and keep their
    type for views.
    """
    if _plainly_numbers(values):
        return None
    column = typed_column(values)
    if column is None:
        return None
    match property_type(column):
        case PropertyType.FLOAT:
            return None
        case PropertyType.INT | PropertyType.BOOL:
            return column if column.null_count else None
        case _:
            return column


def for_programs(column: pa.Array) -> NDArray[np.float64] | None:
    """A column that views need as programs read it, NaN where it is missing; None if they cannot.

    Whole numbers beyond 2**53 are rounded here, and only here.
    """
    if property_type(column) not in PROGRAM_TYPES:
        return None
    floats: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return floats


def _plainly_numbers(values: Any) -> bool:
    """A quick look at what is there most often, so that no column is converted for nothing."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "iufb"
    if not isinstance(values, list):
        return False
    first = next((item for item in values if item is not None), None)
    if first is None or type(first) is float:
        return True
    return type(first) in (int, bool) and None not in values


def _arrow_array(values: Any) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if not isinstance(values, pa.ChunkedArray) and hasattr(values, "__arrow_c_stream__"):
        values = pa.chunked_array(values)
    if isinstance(values, pa.ChunkedArray):
        return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if hasattr(values, "__array__"):
        return _arrow_array(_of_one_kind(pa.array(values, from_pandas=True), values))
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(values)
    listed = list(values)
    return _of_one_kind(pa.array(listed, from_pandas=True), listed)


def _of_one_kind(array: pa.Array, values: Iterable[Any]) -> pa.Array:
    """The array, unless Arrow has cut timestamps behind a date to their dates."""
    if pa.types.is_date(array.type):
        moments = (item for item in values if isinstance(item, datetime))
        if any(item == item for item in moments):  # pandas' NaT is one, and equals nothing.
            raise TypeError(values)
    return array


def _converted(array: pa.Array) -> pa.Array | None:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = array.cast(pa.float64())
        return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_timestamp(array.type):
        if array.type.tz is not None:
            return array.cast(_MICROS_UTC, safe=False)
        return array.cast(_MICROS, safe=False).cast(pa.int64()).cast(_MICROS_UTC)
    kind = taken_as(array.type)
    return None if kind is None else array.cast(MEMORY_TYPES[kind])
