"""The rows that walks report, as multisets, and what an advance changed of a walk program.

Without a limit all rows are there. With one, the first so many in the order of their columns are,
and as many again so that a few may leave; how many there are in all is always known. Where too many
have left, the rows are found anew.

Rows are counted and sorted, so all NaN are one object here that equals itself and comes behind all
numbers: a row with any other NaN would never be found again when it leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.plan.expressions import FLOAT
from graphtide.plan.walks import Matches


class _NotANumber(float):
    """NaN, but for how it compares."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return 0

    def __lt__(self, other: Any) -> bool:
        return False

    def __le__(self, other: Any) -> bool:
        return self is other

    def __gt__(self, other: Any) -> bool:
        return self is not other

    def __ge__(self, other: Any) -> bool:
        return True


NOT_A_NUMBER = _NotANumber("nan")


def comparable(values: list[Any]) -> list[Any]:
    """A column of rows, any NaN in which is the one that equals itself."""
    if any(value != value for value in values):
        return [NOT_A_NUMBER if value != value else value for value in values]
    return values


Row = tuple[Any, ...]


@dataclass(frozen=True)
class RowChange:
    """Rows that came and rows that left with an advance, each as often as it did."""

    appeared: tuple[Row, ...] = ()
    disappeared: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.appeared) + len(self.disappeared)


class CutChange(RowChange):
    """The same where a limit cuts rows, before or after: a row that is not shown may push another
    one out, so what is shown is compared.

    That sorts all rows that are kept, and is done when somebody looks: while rows are still those
    of the version that the advance led to.
    """

    def __init__(self, rows: MatchRows, changes: list[tuple[Row, int]], was: MatchRows | None):
        object.__setattr__(self, "_given", (rows, changes, was))

    @cached_property
    def _told(self) -> RowChange:
        rows, changes, was = self.__dict__.pop("_given")
        return shown_change(was or rows.without(changes), rows)

    @property
    def appeared(self) -> tuple[Row, ...]:
        """Rows that are shown now and were not."""
        return self._told.appeared

    @property
    def disappeared(self) -> tuple[Row, ...]:
        """Rows that were shown and are not now."""
        return self._told.disappeared


@dataclass
class MatchRows:
    """The rows of one kind of matches.

    `bar` is the greatest row that is kept for certain; None while all are.
    """

    matches: Matches
    limit: int | None
    kept: Counter[Row] = field(default_factory=Counter)
    total: int = 0
    size: int = 0
    bar: Row | None = None

    @property
    def cut(self) -> bool:
        return self.limit is not None and self.total > self.limit

    @property
    def is_short(self) -> bool:
        """Whether rows that should be shown are not kept, and must be found anew."""
        return self.limit is not None and self.size < min(self.limit, self.total)

    def rows(self) -> list[Row]:
        """The rows in the order of their columns, as many as the limit lets through."""
        ordered = sorted(self.kept.elements())
        return ordered if self.limit is None else ordered[: self.limit]

    def shown(self) -> Counter[Row]:
        """The rows that the limit lets through, each as often as it is there; a copy."""
        return Counter(self.rows()) if self.cut else Counter(self.kept)

    def take(self, changes: Iterable[tuple[Row, int]]) -> None:
        """Add rows, or remove them where the count is negative."""
        for row, count in changes:
            self.total += count
            if self.bar is None or row <= self.bar:
                self.size += count
                self.kept[row] += count
                if not self.kept[row]:
                    del self.kept[row]

    def without(self, changes: Iterable[tuple[Row, int]]) -> MatchRows:
        """A copy of the rows as they were before some changes."""
        found = MatchRows(
            self.matches, self.limit, self.kept.copy(), self.total, self.size, self.bar
        )
        found.take((row, -count) for row, count in changes)
        return found

    @property
    def is_full(self) -> bool:
        return self.limit is not None and self.size > 2 * self.limit + 64

    def trimmed(self) -> MatchRows:
        """The same rows without those that a limit does not need."""
        assert self.limit is not None
        keep = self.limit + self.limit // 2 + 32
        kept: Counter[Row] = Counter()
        size, bar = 0, self.bar
        for row in sorted(self.kept):
            if size >= keep:
                break
            kept[row], bar = self.kept[row], row
            size += self.kept[row]
        return MatchRows(self.matches, self.limit, kept, self.total, size, bar)


def reported_rows(
    words: NDArray[np.int64], count: int, width: int, matches: tuple[Matches, ...]
) -> list[list[tuple[Row, int]]]:
    """Reported words as rows with how often each came, less how often it left; by matches."""
    table = words[: count * width].reshape(count, width)
    found = []
    for number, item in enumerate(matches):
        own = table[table[:, 0] == number]
        columns = [_column(own[:, 2 + at], type_) for at, (_, type_) in enumerate(item.columns)]
        net: dict[Row, int] = {}
        for row, sign in zip(zip(*columns, strict=True), own[:, 1].tolist(), strict=True):
            net[row] = net.get(row, 0) + sign
        found.append([(row, times) for row, times in net.items() if times])
    return found


def row_change(changes: Iterable[tuple[Row, int]]) -> RowChange:
    """The rows that came and the rows that left, each in the order of columns."""
    appeared: list[Row] = []
    disappeared: list[Row] = []
    for row, count in sorted(changes):
        (appeared if count > 0 else disappeared).extend([row] * abs(count))
    return RowChange(tuple(appeared), tuple(disappeared))


def told_change(
    rows: MatchRows, changes: list[tuple[Row, int]], was: MatchRows | None
) -> RowChange:
    """What an advance changed of the rows that are shown; `was` are the old ones, if they are not
    the new ones without the changes.
    """
    before = rows.total - sum(count for _, count in changes)
    if rows.limit is None or max(before, rows.total) <= rows.limit:
        return row_change(changes)
    return CutChange(rows, changes, was)


def shown_change(before: MatchRows, after: MatchRows) -> RowChange:
    """The difference between the rows that two versions show."""
    counts = dict(after.shown())
    for row, times in before.shown().items():
        counts[row] = counts.get(row, 0) - times
    return row_change((row, times) for row, times in counts.items() if times)


def shown_changes(
    before: Mapping[str, MatchRows], after: Mapping[str, MatchRows]
) -> dict[str, RowChange]:
    """The differences of all matches whose rows differ."""
    found = {name: shown_change(rows, after[name]) for name, rows in before.items()}
    return {name: change for name, change in found.items() if len(change)}


def _column(words: NDArray[np.int64], type_: Any) -> list[Any]:
    if type_ is FLOAT:
        return comparable(np.ascontiguousarray(words).view(np.float64).tolist())
    if type_ == "bool":
        return list((words != 0).tolist())
    return list(words.tolist())


@dataclass(frozen=True)
class GlobalChange:
    """The value of an accumulator of the whole graph before and after."""

    old: Any
    new: Any


class WalkChanges(dict[str, Change]):
    """Changes by result, as those of any maintainer; `globals` has those accumulators of the whole
    graph whose value changed, `matches` those matches that rows came to or left.
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
