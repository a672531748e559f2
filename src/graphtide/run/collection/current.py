"""The results of the version that a run is at, apart from any maintainer's state.

They follow the run down the plan and back up. What a run from scratch finds is compared with
them, and so becomes differences from the parent like those of a maintainer. Rows that walks report
are among them, as sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphtide.engine.changes import Change, Changes, Values, change_between
from graphtide.engine.walks.changes import WalkChanges
from graphtide.engine.walks.matches import RowChange
from graphtide.run.collection.row_sets import apply_rows, rows_between, undo_rows


class CurrentResults:
    """A value of every field for every vertex, and rows; owns its arrays and sets."""

    def __init__(self, values: Values) -> None:
        given: Mapping[str, Any] = values
        self.values: dict[str, Any] = {
            name: Counter(item) if isinstance(item, Counter) else np.array(item)
            for name, item in given.items()
        }

    def differences(self, values: Values) -> dict[str, Any]:
        """What differs in `values`, field by field. O(vertices)."""
        return {name: _difference(item, values[name]) for name, item in self.values.items()}

    def completed(self, changes: Changes, values: Callable[[], Values]) -> Changes:
        """The changes, with those of rows that the maintainer did not report."""
        if isinstance(changes, WalkChanges):
            changes = changes.told()
        missing = self.values.keys() - changes.keys()
        if not missing:
            return changes
        now = values()
        complete: dict[str, Any] = dict(changes)
        return complete | {name: _difference(self.values[name], now[name]) for name in missing}

    def no_differences(self) -> dict[str, Any]:
        """Changes that hold nothing, for every field."""
        none = np.empty(0, np.int32)
        return {
            name: RowChange() if isinstance(item, Counter) else Change(none, item[:0], item[:0])
            for name, item in self.values.items()
        }

    def apply(self, changes: Changes) -> None:
        """Go to the version that the changes lead to. O(changes)."""
        by_name: Mapping[str, Any] = changes
        for name, change in by_name.items():
            if isinstance(change, RowChange):
                apply_rows(self.values[name], change)
            else:
                self.values[name][change.vertices] = change.new

    def undo(self, changes: Changes) -> None:
        """Go back to the version before. O(changes)."""
        by_name: Mapping[str, Any] = changes
        for name, change in by_name.items():
            if isinstance(change, RowChange):
                undo_rows(self.values[name], change)
            else:
                self.values[name][change.vertices] = change.old


def _difference(before: Any, after: Any) -> Any:
    if isinstance(before, Counter):
        return rows_between(before, after)
    return change_between(before, after)
