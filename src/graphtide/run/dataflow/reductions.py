"""Reductions of collections: one result a key, kept current.

count and sum keep running totals; min, max, first and last read their records in order and stop
at the last one that matters; distinct and threshold keep multiplicities; a function of Python
gets all records of a key whenever one has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Reduce, ReducerName, Weigh
from graphtide.plan.dataflow_expressions import FLOAT, INT, TEXT, ColumnType, constant
from graphtide.plan.dataflow_terms import Term, col
from graphtide.run.dataflow.growing import schema_of
from graphtide.run.dataflow.operators import concatenated
from graphtide.run.dataflow.stages import (
    Indexed,
    Names,
    One,
    Operating,
    Stage,
    added,
    arranged,
    checked_names,
    mapped,
    selected,
)

_TAG, _WEIGHT = " tag", " weight"


class Reducing(Operating[One, Indexed]):
    """The reductions of `Collection`. All give arrangements by their key."""

    def reduce(self, function: Callable[..., Any], *, by: Names, types: dict[str, type]) -> Indexed:
        """What `function(key, records)` returns for each key: a list of records.

        `records` is a list of pairs of a record, without its key, and its multiplicity, in order.
        It is called for every key whose records have changed, which is slow.
        """
        source = arranged(self, by)
        schema = source.schema[: len(checked_names(self, by))] + schema_of(types)
        number = self.flow.add_function(function)
        node = Reduce(source.number, "function", number)
        return self._arrangement(added(source, node, schema))

    def count(self, by: Names | None = None, name: str = "count") -> Indexed:
        """How many records each key has; each distinct record, where no key is named.

        `by=()` counts all records together.
        """
        return self.aggregate(self.names if by is None else by, **{name: count()})

    def sum(self, column: str, *, by: Names, name: str | None = None) -> Indexed:
        """The sum of a column for each key.

        Ints are added up as they change, modulo 2^64. Floats are added in ascending order each
        time, with the rounding errors carried along: the result does not depend on the past.
        """
        return self.aggregate(by, **{name or column: total(column)})

    def aggregate(self, by: Names, **parts: Aggregate) -> Indexed:
        """Several counts and sums of ints for each key, or one sum of floats."""
        keys = checked_names(self, by)
        if len(parts) == 1 and _is_float(self, next(iter(parts.values()))):
            return self._arrangement(_float_sum(self, keys, *parts.items()))
        return self._arrangement(_sums(self, keys, parts))

    def distinct(self) -> Indexed:
        """Each record that is there, once."""
        return self.threshold(1)

    def threshold(self, least: int) -> Indexed:
        """Each record that is there at least so many times, once."""
        if least < 1:
            raise InputError(
                f"A threshold of {least} would hold for all records there could be",
                hint="give 1 or more",
            )
        return self._arrangement(distinct(self, least))

    def min(self, *, by: Names, of: Names | None = None) -> Indexed:
        """The least record of each key: by the first column of `of`, then the next."""
        return self._arrangement(_ends(self, "min", 1, by, of))

    def max(self, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest record of each key."""
        return self._arrangement(_ends(self, "max", 1, by, of))

    def first(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The least records of each key, so many, counted with their multiplicities."""
        return self._arrangement(_ends(self, "first", count, by, of))

    def top(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest records of each key, so many, counted with their multiplicities."""
        return self._arrangement(_ends(self, "last", count, by, of))


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


def distinct(source: Stage, least: int = 1) -> Stage:
    """Each record that is there at least so many times, once."""
    ordered = arranged(source, source.names)
    return added(ordered, Reduce(ordered.number, "threshold", least))


def _ends(source: Stage, reducer: ReducerName, count: int, by: Names, of: Names | None) -> Stage:
    keys = checked_names(source, by)
    rest = [name for name in source.names if name not in keys]
    values = rest if of is None else checked_names(source, of)
    for name in values:
        if dict(source.schema)[name] is TEXT:
            raise InputError(
                f"Column {name!r} is text, which has no order in a dataflow",
                hint="map it to a number, or use reduce with a function",
            )
    if count < 1 or not values:
        raise InputError(
            f"{reducer} of {count} records by {', '.join(values) or 'no column'}",
            hint="ask for at least one record, by at least one column that is not in the key",
        )
    chosen = selected(source, {name: name for name in (*keys, *values)})
    ordered = arranged(chosen, keys)
    return added(ordered, Reduce(ordered.number, reducer, count))


def _is_float(source: Stage, part: Aggregate) -> bool:
    return part.column is not None and _summed_type(source, part.column) is FLOAT


def _summed_type(source: Stage, column: str) -> ColumnType:
    checked_names(source, column)
    found = dict(source.schema)[column]
    if found not in (INT, FLOAT):
        raise InputError(f"Column {column!r} is {found}, which cannot be added up")
    return found


def _float_sum(source: Stage, keys: list[str], part: tuple[str, Aggregate]) -> Stage:
    name, aggregate = part
    chosen: dict[str, Any] = {key: col[key] for key in keys} | {
        _WEIGHT: col[aggregate.column or ""]
    }
    ordered = arranged(mapped(source, chosen), keys)
    schema = (*ordered.schema[: len(keys)], (name, FLOAT))
    return added(ordered, Reduce(ordered.number, "float sum"), schema)


def _sums(source: Stage, keys: list[str], parts: dict[str, Aggregate]) -> Stage:
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
    tagged = mapped(source, chosen | {_TAG: Term(constant(0))})
    weighted = [
        _weighted(mapped(source, chosen | {_TAG: Term(constant(1 + tag)), _WEIGHT: col[column]}))
        for tag, column in enumerate(columns)
    ]
    ordered = arranged(concatenated(tagged, weighted) if weighted else tagged, keys)
    schema = (*ordered.schema[: len(keys)], *((name, INT) for name in parts))
    node = Reduce(ordered.number, "sums", 1 + len(columns), tuple(outputs))
    return added(ordered, node, schema)


def _weighted(source: Stage) -> Stage:
    return added(source, Weigh(source.number, _WEIGHT), source.schema[:-1])
