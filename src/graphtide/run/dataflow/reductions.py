"""Reductions of collections: one result a key, kept current.

min, max, first and last read their records in order and stop at the last one that matters; distinct
and threshold keep multiplicities; a function of Python gets all records of a key whenever one has
changed. Counts, sums and several results at once are in `aggregates`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Reduce, ReducerName
from graphtide.plan.dataflow_terms import col, operation
from graphtide.run.dataflow.growing import is_whole, schema_of
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
        return self._arrangement(ends(self, "min", 1, by, of))

    def max(self, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest record of each key."""
        return self._arrangement(ends(self, "max", 1, by, of))

    def first(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The least records of each key, so many, counted with their multiplicities."""
        return self._arrangement(ends(self, "first", count, by, of))

    def top(self, count: int, *, by: Names, of: Names | None = None) -> Indexed:
        """The greatest records of each key, so many, counted with their multiplicities."""
        return self._arrangement(ends(self, "last", count, by, of))


def distinct(source: Stage, least: int = 1) -> Stage:
    """Each record that is there at least so many times, once."""
    ordered = arranged(source, source.names)
    return added(ordered, Reduce(ordered.number, "threshold", least))


def ends(source: Stage, reducer: ReducerName, count: int, by: Names, of: Names | None) -> Stage:
    """The first or last records of each key, by some columns.

    A text among them gets a column of its first bytes before it, which is dropped behind.
    """
    keys = checked_names(source, by)
    rest = [name for name in source.names if name not in keys]
    values = rest if of is None else checked_names(source, of)
    if not is_whole(count) or count < 1 or not values:
        raise InputError(
            f"{reducer} of {count} records by {', '.join(values) or 'no column'}",
            hint="ask for at least one record, by at least one column that is not in the key",
        )
    kinds = dict(source.schema)
    columns: dict[str, Any] = {name: col[name] for name in keys}
    texts: list[int] = []
    for name in values:
        if kinds[name].kind == "str":
            columns[f" first bytes of {name}"] = operation("prefix", col[name])
            texts.append(len(columns) - len(keys))
        columns[name] = col[name]
    ordered = arranged(mapped(source, columns), keys)
    reduced = added(ordered, Reduce(ordered.number, reducer, count, texts=tuple(texts)))
    if not texts:
        return reduced
    return arranged(selected(reduced, {name: name for name in (*keys, *values)}), keys)
