"""The views of a collection as a user named them: which stay, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.classes import EdgeClasses
from graphtide.plan.predicates import NamedPredicate
from graphtide.store.collection import StoredView


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


def listed_views(
    views: Sequence[NamedPredicate], kept: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[StoredView]:
    """What is kept of the views that stay."""
    chosen = [views[at] for at in kept]
    return [
        StoredView(view.name, str(view.predicate), int(size), view.removed, view.window)
        for view, size in zip(chosen, sizes, strict=True)
    ]
