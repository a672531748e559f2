"""Rows of words as the fields of a program: values, changes, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, differs
from graphtide.engine.synchronous.row_layout import Column, RowLayout
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import ParameterKind, VertexProgram

Words = NDArray[np.int64]


class Columns:
    """The state fields of a program whose parameters are known, in rows of words."""

    def __init__(self, layout: RowLayout, parameters: dict[str, Any]) -> None:
        self._columns = {column.item.name: column for column in layout.state}
        self._parameters = parameters

    def names(self) -> list[str]:
        """All fields."""
        return list(self._columns)

    def values(self, rows: Words, name: str) -> NDArray[Any]:
        """A field of every row; a view except for truth values."""
        if name not in self._columns:
            raise InputError(
                f"there is no state field '{name}'", hint=f"there are {', '.join(self._columns)}"
            )
        column = self._columns[name]
        words: NDArray[Any] = rows[:, self._words(column)]
        match column.item.type:
            case ValueType.FLOAT:
                words = words.view(np.float64)
            case ValueType.BOOL:
                words = words != 0
        return words

    def _words(self, column: Column) -> int | slice:
        first, size = column.offset.value(self._parameters), column.item.size
        if size is None:
            return first
        return slice(first, first + (self._parameters[size] if isinstance(size, str) else size))


def field_changes(
    columns: Columns, vertices: NDArray[np.int32], old: Words, new: Words
) -> dict[str, Change]:
    """What changed, field by field."""
    by_field = {}
    for name in columns.names():
        before, after = columns.values(old, name), columns.values(new, name)
        moved = differs(before, after)
        by_field[name] = Change(vertices[moved], before[moved], after[moved])
    return by_field


def typed_parameters(program: VertexProgram, values: tuple[Any, ...]) -> dict[str, Any]:
    """Numbers as the types that kernels are compiled for, by name; sets as they are."""
    types = {
        ParameterKind.FLOAT: float,
        ParameterKind.INT: int,
        ParameterKind.VERTEX: int,
        ParameterKind.PAIRS: int,
        ParameterKind.BOOL: bool,
    }
    return {
        item.name: types[item.kind](value) if item.kind in types else value
        for item, value in zip(program.parameters, values, strict=True)
    }
