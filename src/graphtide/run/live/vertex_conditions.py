"""What the vertices of a graph must have so that a program can read their properties."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import closest, name_hint
from graphtide.plan.expressions import ValueType, VertexProperty
from graphtide.plan.program_bounds import Obligation
from graphtide.run.live.vertex_columns import VertexColumns, takes
from graphtide.run.views.typed_columns import property_type

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_TOLD = 5
_SPELLED = {ValueType.DATE: "gt.Date", ValueType.TIMESTAMP: "gt.Timestamp"}
_EXAMPLES = {
    ValueType.INT: "0",
    ValueType.FLOAT: "0.0",
    ValueType.BOOL: "False",
    ValueType.DATE: "'1970-01-01'",
    ValueType.TIMESTAMP: "'1970-01-01'",
}
ANY_VALUES = "a program of your own takes any if it ends by itself: `iterations = 10` in its class"


class Checked(Protocol):
    """Vertices that are looked at, all of a graph or those of a task."""

    @property
    def vertex_columns(self) -> VertexColumns:
        """What they have."""

    @property
    def vertices(self) -> int:
        """How many there are."""

    @property
    def whose(self) -> str:
        """What errors say behind their number, where they are not all."""

    def name(self, number: int) -> Any:
        """The id of one of them."""


@dataclass(frozen=True)
class VertexConditions:
    """Of one program: the properties that it reads, and what its proof asks of them."""

    program: str
    properties: Mapping[str, VertexProperty]
    obligations: tuple[Obligation, ...]
    given_by: Mapping[str, str] = field(default_factory=dict)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse vertices that have properties of these names, and lack another."""
        for name in self.properties:
            if name not in names:
                there = ", ".join(names) or "none"
                if name in self.given_by and names:
                    one = closest(name, names) or names[0]
                    there += f"; give the one to read: {self.program}"
                    there += f"({self.given_by[name]}={one!r})"
                raise InputError(
                    f"{self.program} reads the vertex property '{name}', "
                    "which the vertices do not have",
                    hint=name_hint(name, names, f"they have: {there}"),
                )

    def check(self, known: Checked, first: int) -> None:
        """Refuse vertices, from a number on, that the program cannot take."""
        self.check_names(known.vertex_columns.table.column_names)
        for item in self.properties.values():
            self._check_column(known, item)
            if item.missing is None and item.type is not ValueType.TEXT:
                self._check_missing(known, item, first)
        for obligation in self.obligations:
            if isinstance(obligation.subject, VertexProperty):
                self._check_obligation(known, obligation, obligation.subject, first)

    def refuses_bare(self) -> str | None:
        """Why the program takes no vertex that has no properties at all; None where it does."""
        for item in self.properties.values():
            if item.missing is None and item.type is not ValueType.TEXT:
                return f"{self.program} reads '{item.name}' of vertices, and a new one has none"
        for obligation in self.obligations:
            if isinstance(obligation.subject, VertexProperty):
                stands_in = self.properties[obligation.subject.name].missing
                if isinstance(stands_in, int | float) and not obligation.holds_for(stands_in):
                    return f"{self.program} settles only where {obligation}, of new vertices too"
        return None

    def _check_column(self, known: Checked, item: VertexProperty) -> None:
        column = known.vertex_columns.table.column(item.name)
        if not takes(item, column):
            raise InputError(
                f"{self.program} reads the vertex property '{item.name}' as {item.type}, "
                f"and it holds values of type {property_type(column)}",
                hint="convert the column, or declare the property otherwise in the program",
            )

    def _check_missing(self, known: Checked, item: VertexProperty, first: int) -> None:
        missing = known.vertex_columns.missing(item.name, first)
        if not len(missing):
            return
        count, all_of = len(missing), known.vertices - first
        entering = " that enter" if first else ""
        lack = "lacks" if count == 1 else "lack"
        spelled = _SPELLED.get(item.type, item.type.value)
        raise InputError(
            f"{self.program} reads the vertex property '{item.name}', "
            f"which {count:,} of {all_of:,} vertices{known.whose}{entering} {lack}",
            where=_named(known, missing),
            hint="give every vertex a value, or say in the program what stands in for it: "
            f"{item.name} = gt.VertexProperty({spelled}, missing={_EXAMPLES[item.type]})",
        )

    def _check_obligation(
        self, known: Checked, obligation: Obligation, subject: VertexProperty, first: int
    ) -> None:
        values = known.vertex_columns.array(self.properties[subject.name])[first:]
        bad = first + np.flatnonzero(~_OPERATORS[obligation.operator](values, obligation.bound))
        if len(bad):
            raise InputError(
                f"{self.program} settles only where {obligation}",
                where=_named(known, bad),
                hint=f"give these vertices other values; {ANY_VALUES}",
            )


def _named(known: Checked, numbers: NDArray[np.int64]) -> str:
    """The first few vertices by their ids."""
    named = [f"vertex {known.name(int(at))!r}" for at in numbers[:_TOLD]]
    if len(numbers) > _TOLD:
        named.append(f"and {len(numbers) - _TOLD:,} more")
    return ", ".join(named)
