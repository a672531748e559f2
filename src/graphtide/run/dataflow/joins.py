"""Joins of collections: by equal keys, with or without what the other side holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Join, Schema
from graphtide.run.dataflow.operators import concatenated, negated
from graphtide.run.dataflow.reductions import distinct
from graphtide.run.dataflow.stages import (
    Indexed,
    One,
    Operating,
    Stage,
    added,
    arranged,
    check_flow,
    mapped,
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
        return self._collection(concatenated(self, [negated(semijoined(self, other, on))]))


def joined(left: Stage, right: Stage, on: On) -> Stage:
    """Every pair of records with equal keys."""
    one, other = _sides(left, right, on)
    scope, _ = together(one, other)
    return added(one, Join(one.number, other.number), _joined_schema(one, other), scope)


def semijoined(left: Stage, right: Stage, on: On) -> Stage:
    """The records of the left side whose key the right side has."""
    lefts, rights = _names(on)
    keys = selected(right, dict(zip(lefts, rights, strict=True)))
    return selected(joined(left, distinct(keys), lefts), {name: name for name in left.names})


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
    if None not in types and None not in others and types != others:
        raise InputError(
            f"The keys of {left!r} and {right!r} have different types",
            hint="map one of them to the type of the other",
        )
    return arranged(left, lefts), arranged(right, rights)


def _joined_schema(left: Stage, right: Stage) -> Schema:
    taken = set(left.names)
    found = list(left.schema)
    for name, column_type in right.schema[right.flow.plan.key_of(right.number) :]:
        free = name
        while free in taken:
            free += "_right"
        taken.add(free)
        found.append((free, column_type))
    return tuple(found)
