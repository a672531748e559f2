"""The results of the version that a run is at, apart from any maintainer's state.

They follow the run down the plan and back up. What a run from scratch finds is compared with
them, and so becomes differences from the parent like those of a maintainer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, change_between, differs

Values = Mapping[str, NDArray[Any]]
Changes = Mapping[str, Change]


class CurrentResults:
    """A value of every field for every vertex; owns its arrays."""

    def __init__(self, values: Values) -> None:
        self.values = {name: np.array(column) for name, column in values.items()}

    def differences(self, values: Values) -> dict[str, Change]:
        """What differs in `values`, field by field. O(vertices)."""
        return {name: change_between(item, values[name]) for name, item in self.values.items()}

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


def first_difference(one: Values, other: Values, share: float) -> tuple[str, int] | None:
    """The first field and row whose values differ by more than a share of themselves."""
    for name, column in one.items():
        wrong = differs(column, other[name])
        if share and column.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                near = np.isclose(column, other[name], rtol=share, atol=0.0)
            wrong &= ~(near.all(axis=1) if near.ndim == 2 else near)
        if wrong.any():
            return name, int(np.argmax(wrong))
    return None
