"""Reductions of collections: one result a key, kept current.

count and sum keep running totals; min, max, first and last read their records in order and stop
at the last one that matters; distinct and threshold keep multiplicities; a function of Python
gets all records of a key whenever one has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Reduce, ReducerName, Schema, Weigh
from graphtide.plan.dataflow_expressions import FLOAT, INT, TEXT, ColumnType, constant
from graphtide.plan.dataflow_terms import Term, col

if TYPE_CHECKING:
    from graphtide.run.dataflow.arrangement import Arrangement
    from graphtide.run.dataflow.collection import Collection

Names = str | Sequence[str]
_TAG, _WEIGHT = " tag", " weight"


class Reducing:
    """The reductions of `Collection`. All give arrangements by their key."""

    def reduce(  # type: ignore[misc]
        self: Collection, function: Callable[..., Any], *, by: Names, types: dict[str, type]
    ) -> Arrangement:
        """What `function(key, records)` returns for each key: a list of records.

        `records` is a list of pairs of a record, without its key, and its multiplicity, in order.
        It is called for every key whose records have changed, which is slow.
        """
        from graphtide.run.dataflow.flow import schema_of

        arranged = self.arrange(by)
        schema = arranged.schema[: arranged.key] + schema_of(types)
        number = self.flow.add_function(function)
        return _reduced(arranged, Reduce(arranged.number, "function", number), schema)

    def count(  # type: ignore[misc]
        self: Collection, by: Names | None = None, name: str = "count"
    ) -> Arrangement:
        """How many records each key has; each distinct record, where no key is named.

        `by=()` counts all records together.
        """
        return self.aggregate(self.names if by is None else by, **{name: count()})

    def sum(  # type: ignore[misc]
        self: Collection, column: str, *, by: Names, name: str | None = None
    ) -> Arrangement:
        """The sum of a column for each key.

        Ints are added up as they change, modulo 2^64. Floats are added in ascending order each
        time, with the rounding errors carried along: the result does not depend on the past.
        """
        return self.aggregate(by, **{name or column: total(column)})

    def aggregate(  # type: ignore[misc]
        self: Collection, by: Names, **parts: Aggregate
    ) -> Arrangement:
        """Several counts and sums of ints for each key, or one sum of floats."""
        keys = self._names(by)
        if len(parts) == 1 and _is_float(self, next(iter(parts.values()))):
            return _float_sum(self, keys, *parts.items())
        return _sums(self, keys, parts)

    def distinct(self: Collection) -> Arrangement:  # type: ignore[misc]
        """Each record that is there, once."""
        return self.threshold(1)

    def threshold(self: Collection, least: int) -> Arrangement:  # type: ignore[misc]
        """Each record that is there at least so many times, once."""
        if least < 1:
            raise InputError(
                f"A threshold of {least} would hold for all records there could be",
                hint="give 1 or more",
            )
        arranged = self.arrange(self.names)
        return _reduced(arranged, Reduce(arranged.number, "threshold", least), self.schema)

    def min(self: Collection, *, by: Names, of: Names | None = None) -> Arrangement:  # type: ignore[misc]
        """The least record of each key: by the first column of `of`, then the next."""
        return _ends(self, "min", 1, by, of)

    def max(self: Collection, *, by: Names, of: Names | None = None) -> Arrangement:  # type: ignore[misc]
        """The greatest record of each key."""
        return _ends(self, "max", 1, by, of)

    def first(  # type: ignore[misc]
        self: Collection, count: int, *, by: Names, of: Names | None = None
    ) -> Arrangement:
        """The least records of each key, so many, counted with their multiplicities."""
        return _ends(self, "first", count, by, of)

    def top(  # type: ignore[misc]
        self: Collection, count: int, *, by: Names, of: Names | None = None
    ) -> Arrangement:
        """The greatest records of each key, so many, counted with their multiplicities."""
        return _ends(self, "last", count, by, of)


class Aggregate:
    """A count, or the sum of a column: see `count` and `total`."""

    def __init__(self, column: str | None) -> None:
        self.column = column


def count() -> Aggregate:
    """The number of records, for `aggregate`."""
    return Aggregate(None)


def total(column: str) -> Aggregate:
    """The sum of a column, for `aggregate`."""
    return Aggregate(column)


def _ends(
    source: Collection, reducer: ReducerName, count: int, by: Names, of: Names | None
) -> Arrangement:
    keys = source._names(by)
    values = (
        [name for name in source.names if name not in keys] if of is None else source._names(of)
    )
    for name in values:
        if source._type(name) is TEXT:
            raise InputError(
                f"Column {name!r} is text, which has no order in a dataflow",
                hint="map it to a number, or use reduce with a function",
            )
    if count < 1 or not values:
        raise InputError(
            f"{reducer} of {count} records by {', '.join(values) or 'no column'}",
            hint="ask for at least one record, by at least one column that is not in the key",
        )
    arranged = source.select(*keys, *values).arrange(keys)
    return _reduced(arranged, Reduce(arranged.number, reducer, count), arranged.schema)


def _reduced(arranged: Arrangement, node: Reduce, schema: Schema) -> Arrangement:
    from graphtide.run.dataflow.arrangement import Arrangement

    number = arranged.flow.add(node, arranged.scope, schema)
    return Arrangement(arranged.flow, number)


def _is_float(source: Collection, part: Aggregate) -> bool:
    return part.column is not None and _summed_type(source, part.column) is FLOAT


def _summed_type(source: Collection, column: str) -> ColumnType:
    source._names(column)
    found = source._type(column)
    if found not in (INT, FLOAT):
        raise InputError(f"Column {column!r} is {found}, which cannot be added up")
    return found


def _float_sum(source: Collection, keys: list[str], part: tuple[str, Aggregate]) -> Arrangement:
    name, aggregate = part
    chosen: dict[str, Any] = {key: col[key] for key in keys} | {
        _WEIGHT: col[aggregate.column or ""]
    }
    arranged = source.map(**chosen).arrange(keys)
    schema = (*arranged.schema[: len(keys)], (name, FLOAT))
    return _reduced(arranged, Reduce(arranged.number, "float sum"), schema)


def _sums(source: Collection, keys: list[str], parts: dict[str, Aggregate]) -> Arrangement:
    """Records become weights: tag 0 counts, each further tag adds up one column."""
    columns: list[str] = []
    outputs: list[int] = []
    for part in parts.values():
        if part.column is None:
            outputs.append(0)
            continue
        if _summed_type(source, part.column) is FLOAT:
            raise InputError(
                f"Column {part.column!r} is float, and is not alone",
                hint="sum floats on their own, and join what belongs together",
            )
        if part.column not in columns:
            columns.append(part.column)
        outputs.append(1 + columns.index(part.column))
    chosen: dict[str, Any] = {key: col[key] for key in keys}
    tagged = source.map(**(chosen | {_TAG: Term(constant(0))}))
    weighted = [
        _weighted(source.map(**(chosen | {_TAG: Term(constant(1 + tag)), _WEIGHT: col[column]})))
        for tag, column in enumerate(columns)
    ]
    arranged = (tagged.concat(*weighted) if weighted else tagged).arrange(keys)
    schema = (*arranged.schema[: len(keys)], *((name, INT) for name in parts))
    node = Reduce(arranged.number, "sums", 1 + len(columns), tuple(outputs))
    return _reduced(arranged, node, schema)


def _weighted(source: Collection) -> Collection:
    return source._linear(Weigh(source.number, _WEIGHT), source.schema[:-1])
