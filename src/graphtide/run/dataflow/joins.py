"""Joins of collections: by equal keys, with or without what the other side holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Join, Schema

if TYPE_CHECKING:
    from graphtide.run.dataflow.arrangement import Arrangement
    from graphtide.run.dataflow.collection import Collection

On = str | Sequence[str] | Mapping[str, str]
"""Columns with the same name on both sides, or left names with their right names."""


class Joining:
    """The joins of `Collection`. Each costs work in proportion to the smaller side's changes."""

    def join(self: Collection, other: Collection, on: On) -> Collection:  # type: ignore[misc]
        """Every pair of records with equal keys: the key, the rest of this, the rest of the other.

        Multiplicities multiply. A column of the other side whose name is taken gets `_right`
        behind it. Both sides are arranged by the key, which is shared with all who need the same.
        """
        left, right = _sides(self, other, on)
        scope, _ = left._together(right)
        for side in (left, right):
            side._check_enclosed(scope)
        number = self.flow.add(Join(left.number, right.number), scope, _joined(left, right))
        from graphtide.run.dataflow.collection import Collection

        return Collection(self.flow, number)

    def join_map(  # type: ignore[misc]
        self: Collection, other: Collection, /, on: On, **columns: Any
    ) -> Collection:
        """A join whose pairs are mapped: `join_map(edges, on="node", node=col.dst, hops=...)`."""
        return self.join(other, on).map(**columns)

    def semijoin(self: Collection, other: Collection, on: On) -> Collection:  # type: ignore[misc]
        """The records whose key the other side has, with their own multiplicities."""
        lefts, rights = _names(on)
        keys = other.map(**{left: _col(right) for left, right in zip(lefts, rights, strict=True)})
        return self.join(keys.distinct(), lefts).select(*self.names)

    def antijoin(self: Collection, other: Collection, on: On) -> Collection:  # type: ignore[misc]
        """The records whose key the other side does not have."""
        return self.minus(self.semijoin(other, on))


def _col(name: str) -> Any:
    from graphtide.plan.dataflow_terms import col

    return col[name]


def _names(on: On) -> tuple[list[str], list[str]]:
    """The key columns of the left and of the right side."""
    if isinstance(on, str):
        return [on], [on]
    if isinstance(on, Mapping):
        return list(on), list(on.values())
    return list(on), list(on)


def _sides(left: Collection, right: Collection, on: On) -> tuple[Arrangement, Arrangement]:
    """Both sides arranged by the key."""
    lefts, rights = _names(on)
    right._check_flow(left.flow)
    types = [dict(left.schema).get(name) for name in lefts]
    others = [dict(right.schema).get(name) for name in rights]
    if None not in types and None not in others and types != others:
        raise InputError(
            f"The keys of {left!r} and {right!r} have different types",
            hint="map one of them to the type of the other",
        )
    return left.arrange(lefts), right.arrange(rights)


def _joined(left: Arrangement, right: Arrangement) -> Schema:
    taken = set(left.names)
    found = list(left.schema)
    for name, column_type in right.schema[right.key :]:
        free = name
        while free in taken:
            free += "_right"
        taken.add(free)
        found.append((free, column_type))
    return tuple(found)
