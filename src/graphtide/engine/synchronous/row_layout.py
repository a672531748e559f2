"""Where the state and the accumulators of a program stand in a row of words.

Everything takes words of eight bytes: a state field one, or one for each element of an array; an
accumulator as many as it takes to take contributions back (`kernels.reversible`). The length of
an array may be a parameter, so that an offset is a number plus some multiples of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphtide.plan.expressions import INT, ValueType
from graphtide.plan.programs import Accumulator, AccumulatorKind, Size, StateField, VertexProgram


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
        """As text of a kernel."""
        terms = [f"{factor} * {parameter(name)}" for name, factor in self.times]
        return " + ".join([str(self.constant), *terms])

    def value(self, parameters: dict[str, Any]) -> int:
        """As a number."""
        return self.constant + sum(factor * int(parameters[name]) for name, factor in self.times)


@dataclass(frozen=True)
class Column:
    """A state field or an accumulator in its row."""

    item: StateField | Accumulator
    offset: Extent
    words: int

    @property
    def real(self) -> bool:
        """True where its first word is a float."""
        return self.item.type is ValueType.FLOAT


@dataclass(frozen=True)
class RowLayout:
    """The two halves of a row: state and accumulators, each with offsets of its own."""

    state: tuple[Column, ...]
    sums: tuple[Column, ...]
    state_width: Extent
    sums_width: Extent


def row_layout(program: VertexProgram, *, plain: bool = False) -> RowLayout:
    """Columns in the order in which the program declares them; plain sums have no errors."""
    state, state_width = columns_of([(item, 1) for item in program.state])
    sums, sums_width = columns_of([(item, words_of(item, plain)) for item in program.accumulators])
    return RowLayout(state, sums, state_width, sums_width)


def words_of(item: Accumulator, plain: bool = False) -> int:
    """How many words one element of an accumulator takes."""
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
) -> tuple[tuple[Column, ...], Extent]:
    """Items with so many words an element, one behind the other, and where they end."""
    columns, offset = [], Extent()
    for item, words in items:
        columns.append(Column(item, offset, words))
        offset = offset.plus(words, item.size)
    return tuple(columns), offset
