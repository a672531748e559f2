"""Joins of collections: by equal keys, with or without what the other side holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Join, Schema
from graphtide.plan.dataflow_expressions import Column, Constant, Operation
from graphtide.run.dataflow.operators import concatenated, filtered, negated
from graphtide.run.dataflow.reductions import distinct
from graphtide.run.dataflow.stages import (
    Indexed,
    One,
    Operating,
    Stage,
    added,
    arranged,
    check_flow,
    like,
    mapped,
    mapped_plainly,
    selected,
    together,
)

On = str | Sequence[str] | Mapping[str, str]
"""Columns with the same name on both sides, or left names with their right names."""


class Joining(Operating[One, Indexed]):
    """The joins of `Collection`. Each costs work in proportion to the smaller side's changes."""

    def join(self, other: One, on: On) -> One:
        """Every pair of records with equal keys: the key, the rest of this, the rest of the other.

        Multiplicities multiply. A column of the other side whose name is taken gets `_right`
        behind it. Both sides are arranged by the key, which is shared with all who need the same.
        """
        return self._collection(joined(self, other, on))

    def join_map(self, other: One, /, on: On, **columns: Any) -> One:
        """A join whose pairs are mapped: `join_map(edges, on="node", node=col.dst, hops=...)`."""
        return self._collection(mapped(joined(self, other, on), columns))

    def semijoin(self, other: One, on: On) -> One:
        """The records whose key the other side has, with their own multiplicities."""
        return self._collection(semijoined(self, other, on))

    def antijoin(self, other: One, on: On) -> One:
        """The records whose key the other side does not have."""
        return self._collection(antijoined(self, other, on))

    def left_join(self, other: One, on: On) -> One:
        """A join that keeps the records without a partner: what the other side has is null there.

        The columns of the other side may be null then. Costs an antijoin more than a join.
        """
        return self._collection(left_joined(self, other, on))

    def join_where(self, other: One, condition: Any) -> One:
        """Every pair of records for which a condition is true, such as `col.low <= col.price`.

        A column of the other side whose name is taken gets `_right` behind it. All pairs are made
        and looked at: that takes the product of both sides, and is for a small one.
        """
        return self.join(other, on=()).filter(condition)  # type: ignore[attr-defined, no-any-return]


def antijoined(left: Stage, right: Stage, on: On) -> Stage:
    """The records of the left side whose key the right side does not have."""
    return concatenated(left, [negated(semijoined(left, right, on))])


def left_joined(left: Stage, right: Stage, on: On) -> Stage:
    """Every pair of records with equal keys, and the records of the left side without one."""
    pairs = joined(left, right, on)
    alone = antijoined(left, right, on)
    columns: dict[str, Any] = {name: Operation("or null", (Column(name),)) for name in pairs.names}
    columns |= {name: Column(name) for name in left.names}
    nulls: dict[str, Any] = {
        name: Constant(None, kind.or_null()) for name, kind in pairs.schema
    } | {name: Column(name) for name in left.names}
    return concatenated(mapped_plainly(pairs, columns), [mapped_plainly(alone, nulls)])


def joined(left: Stage, right: Stage, on: On) -> Stage:
    """Every pair of records with equal keys. A null equals nothing."""
    return paired(*_sides(left, right, on))


def paired(one: Stage, other: Stage) -> Stage:
    """Every pair of records of two arrangements with the same key, nulls included."""
    scope, _ = together(one, other)
    return added(one, Join(one.number, other.number), _joined_schema(one, other), scope)


def semijoined(left: Stage, right: Stage, on: On) -> Stage:
    """The records of the left side whose key the right side has."""
    lefts, rights = _names(on)
    keys = selected(right, dict(zip(lefts, rights, strict=True)))
    rows = selected(joined(left, distinct(keys), lefts), {name: name for name in left.names})
    return like(rows, left)


def _names(on: On) -> tuple[list[str], list[str]]:
    """The key columns of the left and of the right side."""
    if isinstance(on, str):
        return [on], [on]
    if isinstance(on, Mapping):
        return list(on), list(on.values())
    return list(on), list(on)


def _sides(left: Stage, right: Stage, on: On) -> tuple[Stage, Stage]:
    """Both sides arranged by the key."""
    lefts, rights = _names(on)
    check_flow(right, left.flow)
    types = [dict(left.schema).get(name) for name in lefts]
    others = [dict(right.schema).get(name) for name in rights]
    if not all(
        one is None or other is None or one.plain == other.plain
        for one, other in zip(types, others, strict=True)
    ):
        raise InputError(
            f"The keys of {left!r} and {right!r} have different types",
            hint="map one of them to the type of the other",
        )
    return arranged(_there(left, lefts), lefts), arranged(_there(right, rights), rights)


def _there(source: Stage, keys: list[str]) -> Stage:
    """The records without a null in their key, each column of which then has no nulls."""
    kinds = dict(source.schema)
    nullable = [name for name in keys if name in kinds and kinds[name].nullable]
    if not nullable:
        return source
    tests = [Operation("not", (Operation("is null", (Column(name),)),)) for name in nullable]
    stage = source
    for test in tests:
        stage = filtered(stage, test)
    known: dict[str, Any] = {name: Column(name) for name in source.names}
    known |= {name: Operation("there", (Column(name),)) for name in nullable}
    return mapped_plainly(stage, known)


def _joined_schema(left: Stage, right: Stage) -> Schema:
    taken = set(left.names)
    columns = list(left.schema)
    for name, column_type in right.schema[right.flow.plan.key_of(right.number) :]:
        free = name
        while free in taken:
            free += "_right"
        taken.add(free)
        columns.append((free, column_type))
    return tuple(columns)
