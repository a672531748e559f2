"""Rows that walks report, as tables with the users' ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.walks import Matches
from graphtide.run.live.arrow_columns import result_columns
from graphtide.run.live.result_rows import ResultRows

Row = tuple[Any, ...]
VERTEX = "vertex"
_TYPES = {
    ValueType.INT: pa.int64(),
    ValueType.FLOAT: pa.float64(),
    ValueType.BOOL: pa.bool_(),
    ValueType.TEXT: pa.string(),
}


def named_matches(program: str, known: Sequence[str], name: str | None) -> str:
    """The name of a kind of rows that a program has: the first one where none is given."""
    if not known or (name is not None and name not in known):
        wanted = "matches" if name is None else f"matches '{name}'"
        hint = f"it has {', '.join(known)}" if known else "declare some: gt.Matches(...)"
        raise InputError(f"{program} has no {wanted}", hint=hint)
    return known[0] if name is None else name


def column_type(kind: ValueType | str) -> pa.DataType:
    """The type of a column of rows; vertices are numbers."""
    return pa.int64() if kind == VERTEX else _TYPES[ValueType(kind)]


def match_table(matches: Matches, rows: Iterable[Row], results: ResultRows) -> pa.Table:
    """Rows as Arrow; a vertex by its id, and by its label where ids need one."""
    listed = list(rows)
    columns: dict[str, pa.Array] = {}
    for at, (name, kind) in enumerate(matches.columns):
        values = [row[at] for row in listed]
        if kind != VERTEX:
            columns[name] = pa.array(values, column_type(kind))
        else:
            columns |= result_columns(name, np.array(values, np.int64), results.vertices)
    return pa.table(columns)
