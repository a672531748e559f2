"""What ids look like in tables, where no two vertices may look the same.

An Arrow column has one type. Ids of several types are shown as texts, in which 1 and '1' are the
same; and no type of 64 bits holds both numbers below 0 and numbers of 2**63 and more. Such graphs
are refused. Nearly always one source has given its ids in another type than the other source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntFlag
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError


class Looks(IntFlag):
    """The kinds of ids that a graph has had."""

    NONE = 0
    TEXT = 1
    OTHER = 2
    NEGATIVE = 4
    LARGE = 8


def plain_id(item: Any) -> Any:
    """The Python value of a scalar of NumPy, Arrow or tensors; anything else as it is.

    Who goes through a column of Arrow or a tensor in a loop holds such scalars. They equal no value
    of Python, some not even each other, so that each would be a vertex of its own.
    """
    if isinstance(item, pa.Scalar):
        return item.as_py()
    is_scalar = hasattr(item, "item") and getattr(item, "shape", None) == ()
    return item.item() if is_scalar else item


def looks_of(ids: Iterable[Any]) -> Looks:
    """The kinds of some ids."""
    if isinstance(ids, np.ndarray) and ids.dtype != object:
        if not len(ids):
            return Looks.NONE
        return Looks.OTHER | (Looks.NEGATIVE if ids.min() < 0 else Looks.NONE)
    listed = list(ids)
    kinds = set(map(type, listed))
    found = Looks.TEXT if any(issubclass(kind, str) for kind in kinds) else Looks.NONE
    if not all(issubclass(kind, str) for kind in kinds):
        found |= Looks.OTHER
    if any(issubclass(kind, int) for kind in kinds):
        whole = [item for item in listed if isinstance(item, int)]
        found |= Looks.NEGATIVE if min(whole) < 0 else Looks.NONE
        found |= Looks.LARGE if max(whole) >= 2**63 else Looks.NONE
    return found


def check_looks(seen: Looks, ids: Callable[[], list[Any]]) -> None:
    """Refuse ids that look the same; they are asked for only where kinds that can are together."""
    if Looks.NEGATIVE | Looks.LARGE in seen:
        _check_range([item for item in map(plain_id, ids()) if isinstance(item, int)])
    if Looks.TEXT | Looks.OTHER in seen:
        _check_texts([plain_id(item) for item in ids()])


def _check_range(whole: list[int]) -> None:
    if whole and min(whole) < 0 and max(whole) >= 2**63:
        raise InputError(
            "ids below 0 and ids of 2**63 and more cannot be in one graph: "
            f"{min(whole)} and {max(whole)}",
            hint="no type of 64 bits holds both: give all ids as texts",
        )


def _check_texts(ids: list[Any]) -> None:
    texts = {item for item in ids if isinstance(item, str)}
    twin = next((item for item in ids if not isinstance(item, str) and str(item) in texts), None)
    if twin is not None:
        raise InputError(
            f"{twin!r} and {str(twin)!r} are ids of two vertices that look the same",
            hint="give all ids the same type: whole numbers, or texts",
        )
