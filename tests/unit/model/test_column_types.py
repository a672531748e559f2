"""The table of types: what Arrow holds of each type comes back as that type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.model.column_types import (
    ARROW_TYPES,
    COLUMN_TYPES,
    MEMORY_TYPES,
    NUMPY_TYPES,
    is_stored_as,
    property_type,
    taken_as,
    type_of_array,
)
from graphtide.model.schema import PropertyType


@pytest.mark.parametrize("kind", PropertyType)
def test_a_type_has_a_row_and_comes_back(kind: PropertyType) -> None:
    for types in (ARROW_TYPES, MEMORY_TYPES):
        assert property_type(pa.array([None], types[kind])) is kind
        assert taken_as(types[kind]) is kind
        assert is_stored_as(kind, types[kind])
        assert COLUMN_TYPES[kind].accepts(types[kind])
    others = set(PropertyType) - {kind}
    assert not any(is_stored_as(other, ARROW_TYPES[kind]) for other in others)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True], "bool"),
        (np.array([1], np.uint8), "int"),
        (np.array([1.5], np.float32), "float"),
        (pa.array([1], pa.decimal128(5, 2)), "float"),
        (pa.array(["a"], pa.string_view()), "string"),
        ([dt.date(2026, 1, 2)], "date"),
        (pa.array([1], pa.timestamp("ns")), "timestamp"),
        ([None], "string"),
    ],
)
def test_other_types_of_arrow_are_taken_as_one_of_ours(values: Any, kind: str) -> None:
    assert taken_as(pa.array(values).type) == kind


def test_what_no_property_can_hold() -> None:
    assert taken_as(pa.list_(pa.int64())) is None
    assert not COLUMN_TYPES["int"].accepts(pa.uint64())


def test_arrays_of_programs() -> None:
    assert {type_of_array(np.dtype(dtype)) for dtype in NUMPY_TYPES.values()} == set(NUMPY_TYPES)
