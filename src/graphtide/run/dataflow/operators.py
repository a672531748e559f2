"""Operators without state: each record that comes makes records of its own, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Concat, Consolidate, Filter, Foreign, Negate, Schema
from graphtide.plan.dataflow_expressions import Expression, expression_type
from graphtide.plan.dataflow_terms import Term, expression_of
from graphtide.run.dataflow.computed import computed
from graphtide.run.dataflow.growing import schema_of
from graphtide.run.dataflow.stages import (
    Indexed,
    One,
    Operating,
    Stage,
    added,
    check_name,
    check_stage,
    like,
    mapped,
    selected,
    together,
    with_nulls,
)


class Transforming(Operating[One, Indexed]):
    """The operators of `Collection` that keep nothing."""

    def map(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        types: dict[str, type] | None = None,
        vectorised: bool = False,
        **columns: Any,
    ) -> One:
        """One new record for each: `map(src=col.dst, dst=col.src, hops=col.hops + 1)`.

        Or by a function of the columns, with the `types` of what it returns: one call a record,
        which is slow, or with `vectorised` (for NumPy and compiled functions) one call for many,
        with arrays. A function must give the same for the same record, always.
        """
        if function is None:
            return self._collection(mapped(self, columns))
        kind = "columns" if vectorised else "map"
        return self._foreign(kind, function, _typed(types, "map"))

    def select(self, *names: str, **renamed: str) -> One:
        """Some columns, in the order given; `new="old"` renames."""
        for name in names:
            check_name(self, name)
        return self._collection(selected(self, {**{name: name for name in names}, **renamed}))

    def filter(self, condition: Any) -> One:
        """The records for which a condition is true: `filter(col.age > 3)`.

        Where a null leaves it unknown, it is not. A function of the columns works too, one call a
        record, which is slow.
        """
        if callable(condition) and not isinstance(condition, Term):
            return self._foreign("filter", condition, self.schema)
        predicate = expression_of(condition)
        if expression_type(predicate, dict(self.schema)).kind != "bool":
            raise InputError(f"`{predicate}` is neither true nor false", hint="compare it")
        return self._collection(filtered(self, predicate))

    def flat_map(self, function: Callable[..., Any], *, types: dict[str, type]) -> One:
        """Any number of new records for each: what a function of the columns returns. Slow."""
        return self._foreign("flat_map", function, _typed(types, "flat_map"))

    def negate(self) -> One:
        """The same records with opposite multiplicities."""
        return self._collection(negated(self))

    def concat(self, *others: One) -> One:
        """The records of all, multiplicities added. Columns are matched by name."""
        return self._collection(concatenated(self, others))

    def minus(self, other: One) -> One:
        """The records of this less those of another, multiplicities subtracted."""
        return self._collection(concatenated(self, [negated(other)]))

    def consolidate(self) -> One:
        """The same collection, equal records added up. Costs a sort; saves work behind it."""
        return self._collection(added(self, Consolidate(self.number)))

    def inspect(self, function: Callable[..., Any]) -> One:
        """The same collection; calls `function(record, time, diff)` for all that passes.

        The time is the version; in a loop, a tuple of the version and the rounds.
        """
        return self._foreign("inspect", function, self.schema)

    def _foreign(self, kind: Any, function: Callable[..., Any], schema: Schema) -> One:
        node = Foreign(self.number, self.flow.add_function(function), kind)
        return self._collection(added(self, node, schema))


def filtered(source: Stage, predicate: Expression) -> Stage:
    """The records for which a predicate is true."""
    stage, expressions = computed(source, {"": predicate})
    passed = added(stage, Filter(stage.number, expressions[""]))
    return passed if stage is source else selected(passed, {name: name for name in source.names})


def negated(source: Stage) -> Stage:
    """The same records with opposite multiplicities."""
    return added(source, Negate(source.number))


def concatenated(first: Stage, others: Sequence[Stage]) -> Stage:
    """The records of all, with the columns of the first."""
    for other in others:
        check_stage(other)
    widest = with_nulls(first, others)
    scope, sources = together(widest, *(like(other, widest) for other in others))
    node = Concat(tuple(source.number for source in sources))
    return added(widest, node, scope=scope)


def _typed(types: dict[str, type] | None, what: str) -> Schema:
    if not types:
        raise InputError(
            f"{what} with a function has to know the columns it makes",
            hint=f"{what}(function, types={{'name': int}})",
        )
    return schema_of(types)
