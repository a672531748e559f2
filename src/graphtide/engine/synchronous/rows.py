"""Where state and accumulators of a program stand in a row of words; rows as values and changes.

Everything takes words of eight bytes: a state field one, or one for each element of an array; an
accumulator as many as it takes to take contributions back (`kernels.synchronous.sums`). The length
of an array may be a parameter, so that an offset is a number plus some multiples of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, differs
from graphtide.model.errors import InputError
from graphtide.plan.expressions import INT, ValueType
from graphtide.plan.programs import (
    Accumulator,
    AccumulatorKind,
    ParameterKind,
    Size,
    StateField,
    VertexProgram,
)


@dataclass(frozen=True)
class Extent:
    """A number of words: a constant, and how often it holds the value of each parameter."""

    constant: int = 0
    times: tuple[tuple[str, int], ...] = ()

    def plus(self, words: int, size: Size | None) -> Extent:
        """The extent behind an item of so many words an element."""
        if not isinstance(size, str):
            return Extent(self.constant + words * (1 if size is None else size), self.times)
        times = dict(self.times)
        times[size] = times.get(size, 0) + words
        return Extent(self.constant, tuple(times.items()))

    def source(self, parameter: Callable[[str], str]) -> str:
        terms = [f"{factor} * {parameter(name)}" for name, factor in self.times]
        return " + ".join([str(self.constant), *terms])

    def value(self, parameters: dict[str, Any]) -> int:
        return self.constant + sum(factor * int(parameters[name]) for name, factor in self.times)


@dataclass(frozen=True)
class RowColumn:
    """A state field or an accumulator in its row."""

    item: StateField | Accumulator
    offset: Extent
    words: int

    @property
    def real(self) -> bool:
        """True where its first word is a float."""
        return self.item.type is ValueType.FLOAT

    @property
    def memory(self) -> str:
        """Which view of a row, as ints or as floats, has its first word."""
        return "real" if self.real else "whole"


@dataclass(frozen=True)
class RowLayout:
    """The two halves of a row: state and accumulators, each with offsets of its own."""

    state: tuple[RowColumn, ...]
    sums: tuple[RowColumn, ...]
    state_width: Extent
    sums_width: Extent


def row_layout(program: VertexProgram, *, plain: bool = False) -> RowLayout:
    """Columns in the order in which the program declares them; plain sums have no errors."""
    state, state_width = columns_of([(item, 1) for item in program.state])
    sums, sums_width = columns_of([(item, words_of(item, plain)) for item in program.accumulators])
    return RowLayout(state, sums, state_width, sums_width)


def words_of(item: Accumulator, plain: bool = False) -> int:
    whole = item.type is INT
    match item.kind:
        case AccumulatorKind.SUM:
            return 1 if whole or plain else 2
        case AccumulatorKind.PRODUCT:
            return 3 if whole else 4
        case _:
            return 1


def columns_of(
    items: Sequence[tuple[StateField | Accumulator, int]],
) -> tuple[tuple[RowColumn, ...], Extent]:
    """Items with so many words an element, one behind the other, and where they end."""
    columns, offset = [], Extent()
    for item, words in items:
        columns.append(RowColumn(item, offset, words))
        offset = offset.plus(words, item.size)
    return tuple(columns), offset


Words = NDArray[np.int64]


class StateColumns:
    """The state fields of a program whose parameters are known, in rows of words."""

    def __init__(self, layout: RowLayout, parameters: dict[str, Any]) -> None:
        self._columns = {column.item.name: column for column in layout.state}
        self._parameters = parameters

    def names(self) -> list[str]:
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

    def _words(self, column: RowColumn) -> int | slice:
        first, size = column.offset.value(self._parameters), column.item.size
        if size is None:
            return first
        return slice(first, first + (self._parameters[size] if isinstance(size, str) else size))


def field_changes(
    columns: StateColumns, vertices: NDArray[np.int32], old: Words, new: Words
) -> dict[str, Change]:
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
