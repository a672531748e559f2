"""The six types of values that a column may have: how Arrow and NumPy hold each, and its name.

Whatever a user gives (lists, NumPy arrays, columns of frames, files) is brought to one Arrow type
for each property type, in a load as well as in memory. So every stored column and every column of
a batch has a type of this table. Texts are `string` on disk and `large_string` in memory, where a
column may be made of many pieces.

Left to others: values of several types in one column (`mixed_values`), and Spark's types
(`spark.frames`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.model.schema import PropertyType

Test = Callable[[pa.DataType], bool]


def is_text(arrow: pa.DataType) -> bool:
    """True for texts of any layout."""
    return bool(
        pa.types.is_string(arrow)
        or pa.types.is_large_string(arrow)
        or pa.types.is_string_view(arrow)
    )


def is_number(arrow: pa.DataType) -> bool:
    """True for whole numbers, floats and decimals."""
    return bool(
        pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow)
    )


class TypeRow(NamedTuple):
    """One type: its Arrow type on disk, the array that programs read, what it accepts, its name."""

    arrow: pa.DataType
    dtype: Any
    """None where programs read codes of texts, or numbers of moments."""
    accepts: Test
    """True for Arrow types all of whose values are of this type."""
    article: str


_ROWS = {
    PropertyType.STRING: TypeRow(pa.string(), None, is_text, "a text"),
    PropertyType.INT: TypeRow(
        pa.int64(),
        np.int64,
        lambda arrow: pa.types.is_integer(arrow) and not pa.types.is_uint64(arrow),
        "a whole number of 64 bits",
    ),
    PropertyType.FLOAT: TypeRow(pa.float64(), np.float64, is_number, "a number"),
    PropertyType.BOOL: TypeRow(pa.bool_(), np.bool_, pa.types.is_boolean, "a truth value"),
    PropertyType.DATE: TypeRow(pa.date32(), None, pa.types.is_date, "a date"),
    PropertyType.TIMESTAMP: TypeRow(
        pa.timestamp("us", tz="UTC"), None, pa.types.is_timestamp, "a timestamp"
    ),
}
COLUMN_TYPES: Mapping[str, TypeRow] = {kind.value: row for kind, row in _ROWS.items()}
"""The rows by type; a type is equal to its word."""
ARROW_TYPES: Mapping[str, pa.DataType] = {kind: row.arrow for kind, row in COLUMN_TYPES.items()}
"""The type of each column on disk."""
MEMORY_TYPES: Mapping[str, pa.DataType] = {**ARROW_TYPES, PropertyType.STRING: pa.large_string()}
"""The type of each column in memory."""
NUMPY_TYPES = {kind: row.dtype for kind, row in _ROWS.items() if row.dtype is not None}
"""The arrays of the types that programs read as they are."""
_OF_KIND = {np.dtype(dtype).kind: kind for kind, dtype in NUMPY_TYPES.items()}
_OF_ARROW = {row.arrow: kind for kind, row in _ROWS.items()}
_OF_ARROW |= {pa.large_string(): PropertyType.STRING, pa.timestamp("us"): PropertyType.TIMESTAMP}


def type_of_array(dtype: np.dtype[Any]) -> PropertyType:
    """The property type of an array that programs read."""
    return _OF_KIND[dtype.kind]


def property_type(column: pa.Array | pa.ChunkedArray) -> PropertyType:
    """The property type of a column that is of a type of this table."""
    return _OF_ARROW[column.type]


def is_stored_as(kind: PropertyType, arrow: pa.DataType) -> bool:
    """True if a stored column of that Arrow type holds values of this property type."""
    if kind is PropertyType.STRING:
        return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))
    if kind is PropertyType.TIMESTAMP:
        return bool(pa.types.is_timestamp(arrow))
    return bool(arrow == ARROW_TYPES[kind])


_TAKEN_AS: tuple[tuple[Test, PropertyType], ...] = (
    (pa.types.is_boolean, PropertyType.BOOL),
    (pa.types.is_integer, PropertyType.INT),
    (pa.types.is_floating, PropertyType.FLOAT),
    (pa.types.is_decimal, PropertyType.FLOAT),
    (is_text, PropertyType.STRING),
    (pa.types.is_date, PropertyType.DATE),
    (pa.types.is_timestamp, PropertyType.TIMESTAMP),
    (pa.types.is_null, PropertyType.STRING),
)


def taken_as(arrow: pa.DataType) -> PropertyType | None:
    """The property type that values of any Arrow type become; None if no property can hold them.

    Dictionaries and extension types count as what they hold.
    """
    # A loop: an interrupt that meets a generator as it is closed would be lost.
    for accepts, kind in _TAKEN_AS:
        if accepts(arrow):
            return kind
    return None
