"""What one declaration of a program says of its types, sizes and defaults, as the plan has it.

Whatever cannot be is refused at the line of the declaration. Which names there are, and what they
mean together, is up to `fields`.
"""

from __future__ import annotations

import ast
import datetime as dt

from graphtide.lang.python.declarations import (
    UNSET,
    AccumulatorDeclaration,
    Columns,
    Date,
    Matches,
    Timestamp,
    Vertex,
)
from graphtide.lang.python.source import ClassSource
from graphtide.lang.python.values import constant
from graphtide.plan import expressions as x
from graphtide.plan import walks as plan
from graphtide.plan.expressions import BOOL, DATE, FLOAT, INT, TEXT, TIMESTAMP, Number, ValueType
from graphtide.plan.parameter_values import date_value, timestamp_value
from graphtide.plan.programs import Accumulator, AccumulatorKind, Size

TYPES: dict[object, ValueType] = {int: INT, float: FLOAT, bool: BOOL}
_DATA_TYPES: dict[object, ValueType] = {
    **TYPES,
    str: TEXT,
    Date: DATE,
    dt.date: DATE,
    Timestamp: TIMESTAMP,
    dt.datetime: TIMESTAMP,
}
_ARTICLE = {
    INT: "an int",
    FLOAT: "a float",
    BOOL: "a bool",
    TEXT: "a text",
    DATE: "a date",
    TIMESTAMP: "a timestamp",
}


class DeclaredTypes:
    """Reads declarations of one class; errors stand at their places in its source."""

    def __init__(self, source: ClassSource) -> None:
        self._source = source

    def vertex_property(
        self, name: str, node: ast.stmt, declared: object, missing: object
    ) -> x.VertexProperty:
        """A property that programs read of vertices, with what stands in where it is missing."""
        value_type = self.data_type(node, declared, "vertices")
        default = None if missing is UNSET else self.given(node, value_type, missing)
        return x.VertexProperty("v", name, value_type, default)

    def data_type(self, node: ast.stmt, declared: object, owners: str) -> ValueType:
        """The type of a property of edges or vertices."""
        value_type = _DATA_TYPES.get(declared) if isinstance(declared, type) else None
        if value_type is None:
            raise self._source.error(
                node,
                f"properties of {owners} have no such type",
                "use int, float, bool, str, gt.Date or gt.Timestamp",
            )
        return value_type

    def accumulator(self, name: str, node: ast.stmt, item: AccumulatorDeclaration) -> Accumulator:
        """An accumulator, or a result of the whole graph."""
        value_type = self.value_type(node, item.type)
        word = type(item).__name__
        logic = item.kind in (AccumulatorKind.OR, AccumulatorKind.AND)
        if logic and value_type is not BOOL:
            raise self._source.error(node, f"{word} holds truth values", f"write gt.{word}()")
        if item.kind is AccumulatorKind.COUNT and value_type is not INT:
            raise self._source.error(node, "Count holds ints", "write gt.Count()")
        if not logic and value_type is BOOL:
            raise self._source.error(
                node, f"{word} holds numbers", "use int or float, or gt.Or() and gt.And()"
            )
        return Accumulator(name, item.kind, value_type, self.size(node, item.size))

    def matches(self, name: str, node: ast.stmt, rows: Matches) -> plan.Matches:
        """Rows that walks report."""
        if not rows.columns:
            raise self._source.error(
                node, f"'{name}' has no columns", f"write `{name} = gt.Matches(first=gt.Vertex)`"
            )
        columns: list[tuple[str, ValueType | str]] = []
        sizes: list[tuple[str, Size]] = []
        for column, kind in rows.columns.items():
            size = self.size(node, kind.size) if isinstance(kind, Columns) else None
            kind = kind.type if isinstance(kind, Columns) else kind
            columns.append((column, "vertex" if kind is Vertex else self._column(node, kind)))
            sizes += [] if size is None else [(column, size)]
        return plan.Matches(name, tuple(columns), self._limit(node, rows.limit), tuple(sizes))

    def value_type(self, node: ast.stmt, declared: object) -> ValueType:
        """The type of a number or truth value that a program keeps."""
        if isinstance(declared, type) and declared in TYPES:
            return TYPES[declared]
        raise self._source.error(node, "values have no such type", "use int, float or bool")

    def given(self, node: ast.stmt, value_type: ValueType, value: object) -> x.Constant:
        """A constant of any type that data have; moments in ISO form."""
        if value_type is TEXT and isinstance(value, str):
            return str(value)
        if value_type.is_moment:
            moment = date_value(value) if value_type is DATE else timestamp_value(value)
            if moment is not None:
                return moment.isoformat()
        return self.default(node, value_type, value)

    def default(self, node: ast.stmt, value_type: ValueType, value: object) -> Number:
        """A constant that state begins with, or that a parameter has if none is given."""
        number = constant(0 if value is UNSET else value)
        if value is UNSET:
            return {INT: 0, FLOAT: 0.0, BOOL: False}[value_type]
        if number is not None and number.type is value_type:
            return number.value
        if number is not None and number.type is INT and value_type is FLOAT:
            return float(number.value)
        hint = f"give a constant of type {value_type}"
        if value_type is INT and isinstance(value, float):
            hint = "ints have no infinity and no fractions: declare it as float"
        raise self._source.error(node, f"{value!r} is no default for {_ARTICLE[value_type]}", hint)

    def size(self, node: ast.stmt, size: object) -> Size | None:
        """How long an array is: a number, the name of a parameter, or None where it is no array."""
        if size is None or isinstance(size, str):
            return size
        if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
            return size
        raise self._source.error(
            node, f"an array cannot have size {size!r}", "use 1 or more, or the name of a parameter"
        )

    def _column(self, node: ast.stmt, kind: object) -> ValueType:
        if isinstance(kind, type) and kind in TYPES:
            return TYPES[kind]
        raise self._source.error(
            node,
            "columns of matches have no such kind",
            "use gt.Vertex, int, float, bool, or gt.Columns(gt.Vertex, size=...) for several",
        )

    def _limit(self, node: ast.stmt, limit: object) -> Size | None:
        if limit is None or isinstance(limit, str):
            return limit
        if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0:
            return limit
        raise self._source.error(
            node,
            f"{limit!r} is no number of rows",
            "`limit` is a number, the name of an int parameter, or None to keep all rows",
        )
