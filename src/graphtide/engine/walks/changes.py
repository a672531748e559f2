"""What an advance changed of a walk program: state, accumulators of the whole graph, and rows."""

from __future__ import annotations

from collections.abc import Mapping
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


class WalkChanges(dict[str, Change]):
    """Changes by state field, as those of any maintainer; `globals` has those accumulators of the
    whole graph whose value changed, `matches` those matches that rows came to or left.
    """

    def __init__(
        self,
        fields: Mapping[str, Change],
        globals_: Mapping[str, GlobalChange],
        matches: Mapping[str, RowChange],
    ) -> None:
        super().__init__(fields)
        self.globals = globals_
        self.matches = matches


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
