"""The results of the version that a run is at, apart from any maintainer's state.

They follow the run down the plan and back up. What a run from scratch finds is compared with
them, and so becomes differences from the parent like those of a maintainer.
"""

from __future__ import annotations

import numpy as np

from graphtide.engine.changes import Change, Changes, Values, change_between


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
