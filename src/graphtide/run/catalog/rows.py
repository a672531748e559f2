"""Rows as tables, for lists that people read."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def table_of(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Rows as an Arrow table; without rows, columns of no type but the right names."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})
