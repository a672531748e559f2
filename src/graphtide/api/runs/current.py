"""The results of the version that a run is at, apart from any maintainer's state.

They follow the run down the plan and back up. What a run from scratch finds is compared with
them, and so becomes differences from the parent like those of a maintainer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change

Values = Mapping[str, NDArray[Any]]
Changes = Mapping[str, Change]


class CurrentResults:
    """A value of every field for every vertex; owns its arrays."""

    def __init__(self, values: Values) -> None:
        self.values = {name: np.array(column) for name, column in values.items()}

    def differences(self, values: Values) -> dict[str, Change]:
        """What differs in `values`, field by field. O(vertices)."""
        found = {}
        for name, before in self.values.items():
            after = values[name]
            vertices = np.flatnonzero(_differs(before, after)).astype(np.int32)
            found[name] = Change(vertices, before[vertices], after[vertices])
        return found

    def no_differences(self) -> dict[str, Change]:
        """What there is to tell where nothing changed."""
        none = np.empty(0, np.int32)
        return {name: Change(none, item[:0], item[:0]) for name, item in self.values.items()}

    def apply(self, changes: Changes) -> None:
        """Go to the version that the changes lead to. O(changes)."""
        for name, change in changes.items():
            self.values[name][change.vertices] = change.new

    def undo(self, changes: Changes) -> None:
        """Go back to the version before. O(changes)."""
        for name, change in changes.items():
            self.values[name][change.vertices] = change.old


def _differs(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where rows differ; NaN is the same as NaN."""
    found: NDArray[np.bool_] = np.asarray(one != other)
    if one.dtype.kind == "f":
        found &= (one == one) | (other == other)
    return _rows(found, np.any)


def first_difference(one: Values, other: Values, share: float) -> tuple[str, int] | None:
    """The first field and vertex whose values differ by more than a share of themselves."""
    for name, column in one.items():
        wrong = _differs(column, other[name])
        if share and column.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                near = np.isclose(column, other[name], rtol=share, atol=0.0)
            wrong &= ~_rows(near, np.all)
        if wrong.any():
            return name, int(np.argmax(wrong))
    return None


def _rows(cells: NDArray[np.bool_], told: Callable[..., Any]) -> NDArray[np.bool_]:
    """A truth value a vertex, where a result may be an array."""
    return np.asarray(told(cells, axis=1)) if cells.ndim == 2 else cells
