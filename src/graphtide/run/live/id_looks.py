"""What ids look like in tables, where no two vertices may look the same.

An Arrow column has one type. Ids of several types are shown as texts, in which 1 and '1' are the
same; and no type of 64 bits holds both numbers below 0 and numbers of 2**63 and more. Such graphs
are refused. Nearly always one source has given its ids in another type than the other source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError

_NUMBERS = (int, float)
_TEXTS, _WHOLE = frozenset({str}), frozenset({int})
_PLAIN = {str, int, float, tuple}
"""Types of nearly all ids, so that most are looked at once."""


@dataclass(frozen=True)
class Looks:
    """The kinds of ids that a graph has had: their types, those of what tuples hold, and whether
    there are numbers below 0, of 2**63 and more, and ints that no float is.
    """

    types: frozenset[type] = frozenset()
    within: frozenset[type] = frozenset()
    negative: bool = False
    large: bool = False
    wide: bool = False

    def __or__(self, other: Looks) -> Looks:
        return Looks(
            self.types | other.types,
            self.within | other.within,
            self.negative or other.negative,
            self.large or other.large,
            self.wide or other.wide,
        )

    @property
    def are_plain(self) -> bool:
        """Whether all are texts, or small ints: whoever leaves, the rest is of the same kinds."""
        whole = self.types <= _WHOLE and not (self.negative or self.wide)
        return whole or self.types == _TEXTS

    @property
    def are_mixed(self) -> bool:
        """Whether two could look the same as texts: they are of several kinds."""
        return len(_kinds(self.types)) > 1

    @property
    def are_told_as_texts(self) -> bool:
        """Whether tables show them as texts: they are texts, or no type of Arrow holds all."""
        if self.types == _TEXTS or (self.wide and float in self.types):
            return True
        kinds = _kinds(self.types)
        return str in kinds or len(kinds) > 1 or len(_kinds(self.within)) > 1


def _kinds(types: Iterable[type]) -> set[type]:
    """Types that stand apart in a column: numbers are one kind, and so are texts."""
    kinds = ((str, str), (bool, bool), (_NUMBERS, float))
    return {
        next((kind for base, kind in kinds if issubclass(item, base)), item)
        for item in types
        if item is not type(None)
    }


def text_of(item: Any) -> str:
    """An id as a text."""
    return item if isinstance(item, str) else str(item)


def plain_id(item: Any) -> Any:
    """The Python value of a scalar of NumPy, Arrow or tensors; anything else as it is.

    Who goes through a column of Arrow or a tensor in a loop holds such scalars. They equal no value
    of Python, some not even each other, so that each would be a vertex of its own.
    """
    if type(item) in _PLAIN:
        return item
    if isinstance(item, pa.Scalar):
        return item.as_py()
    is_scalar = hasattr(item, "item") and getattr(item, "shape", None) == ()
    return item.item() if is_scalar else item


def looks_of(ids: Iterable[Any]) -> Looks:
    """The kinds of some ids."""
    if isinstance(ids, np.ndarray) and ids.dtype != object:
        if not len(ids):
            return Looks()
        least, most = int(ids.min()), int(ids.max())
        return Looks(frozenset({int}), negative=least < 0, wide=max(-least, most) > 2**53)
    listed = list(ids)
    types = frozenset(map(type, listed))
    if types <= {str}:
        return Looks(types)
    if not types <= {int, str}:
        types = frozenset(type(plain_id(item)) for item in listed)
    whole = [item for item in listed if isinstance(item, int)]
    least, most = (min(whole), max(whole)) if whole else (0, 0)
    within = (type(part) for item in listed if isinstance(item, tuple) for part in item)
    return Looks(
        types,
        frozenset(within),
        negative=least < 0,
        large=most >= 2**63,
        wide=max(-least, most) > 2**53,
    )


def check_looks(seen: Looks, ids: Callable[[], list[Any]]) -> None:
    """Refuse ids that look the same; they are asked for only where kinds that can are together."""
    if seen.negative and seen.large:
        _check_range([item for item in map(plain_id, ids()) if isinstance(item, int)])
    if seen.are_mixed:
        _check_texts([plain_id(item) for item in ids()])


def _check_range(whole: list[int]) -> None:
    if whole and min(whole) < 0 and max(whole) >= 2**63:
        raise InputError(
            "ids below 0 and ids of 2**63 and more cannot be in one graph: "
            f"{min(whole)} and {max(whole)}",
            hint="no type of 64 bits holds both: give all ids as texts",
        )


def _check_texts(ids: list[Any]) -> None:
    seen: dict[str, Any] = {}
    for item in ids:
        twin = seen.setdefault(text_of(item), item)
        if twin is not item and twin != item:
            one, other = (twin, item) if isinstance(item, str) else (item, twin)
            raise InputError(
                f"{one!r} and {other!r} are ids of two vertices that look the same",
                hint="give all ids the same type: whole numbers, or texts",
            )
