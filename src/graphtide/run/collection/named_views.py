"""The views of a collection as a user named them: which stay, and how large they are."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.plan.classes import EdgeClasses
from graphtide.plan.predicates import OTHERWISE, IsNull, NamedPredicate, Unviewed
from graphtide.store.collection import StoredView

_log = logging.getLogger("graphtide")


def kept_views(
    name: str,
    views: Sequence[NamedPredicate],
    drop_empty: frozenset[str],
    classes: EdgeClasses,
) -> NDArray[np.int64]:
    """The views that stay: all but the empty ones among those that are to be dropped if empty."""
    used = classes.views.sizes() > 0
    droppable = np.array([view.name in drop_empty for view in views])
    chosen = np.flatnonzero(used | ~droppable)
    if not len(chosen):
        raise InputError(
            f"every view of '{name}' is empty and was to be dropped",
            hint="leave 'drop empty' out, or look at the bounds of the property",
        )
    return chosen


def unviewed_text(unviewed: Mapping[str, int]) -> str | None:
    """How many edges are in no view, and why; None where all are in one."""
    if not unviewed:
        return None
    total = sum(unviewed.values())
    verb = "is" if total == 1 else "are"
    text = f"{counted(total, 'edge')} {verb} in no view"
    told = [f"{reason}: {number:,}" for reason, number in unviewed.items()]
    return text if list(unviewed) == [OTHERWISE] else f"{text} ({'; '.join(told)})"


def note_missing(name: str, unviewed: Mapping[str, int], why: Unviewed) -> None:
    """Say in the log that windows leave out edges because these have no value to go by."""
    without = [item.name for item in why.reasons if isinstance(item.predicate, IsNull)]
    if any(reason in unviewed for reason in without):
        _log.warning("collection '%s': %s", name, unviewed_text(unviewed))


def listed_views(
    views: Sequence[NamedPredicate], kept: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[StoredView]:
    """What is kept of the views that stay."""
    chosen = [views[at] for at in kept]
    return [
        StoredView(view.name, str(view.predicate), int(size), view.removed, view.window)
        for view, size in zip(chosen, sizes, strict=True)
    ]
