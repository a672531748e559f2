"""What an advance changed of a walk program: state, accumulators of the whole graph, and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphtide.engine.changes import Change
from graphtide.engine.walks.matches import RowChange


@dataclass(frozen=True)
class GlobalChange:
    """The value of an accumulator of the whole graph before and after."""

    old: Any
    new: Any


class WalkChanges(Mapping[str, Change]):
    """Changes by state field, as those of any maintainer; `globals` has those accumulators of the
    whole graph whose value changed, `matches` those matches that rows came to or left.

    Fields are told when somebody looks: most changes are dropped unseen, and telling takes longer
    than an advance by one edge.
    """

    def __init__(
        self,
        tell: Callable[[], Mapping[str, Change]],
        globals_: Mapping[str, GlobalChange],
        matches: Mapping[str, RowChange],
    ) -> None:
        self._tell: Callable[[], Mapping[str, Change]] | None = tell
        self._told: Mapping[str, Change] = {}
        self.globals = globals_
        self.matches = matches

    def __getitem__(self, name: str) -> Change:
        return self.told()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.told())

    def __len__(self) -> int:
        return len(self.told())

    def told(self) -> Mapping[str, Change]:
        """The changes by state field, as a dict: for those who look at them again and again."""
        if self._tell is not None:
            self._told, self._tell = self._tell(), None
        return self._told


def global_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, GlobalChange]:
    """The accumulators whose values differ; NaN is the same as NaN."""
    return {
        name: GlobalChange(old, after[name])
        for name, old in before.items()
        if not same_value(old, after[name])
    }


def same_value(one: Any, other: Any) -> bool:
    """Whether two numbers, or arrays of them, are the same."""
    if one is other:
        return True
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    return bool(one == other or (one != one and other != other))
