"""The rows that walks report, as multisets that are kept current.

Without a limit all rows are kept. With one, the first so many in the order of their columns are,
and as many again so that a few may leave; how many there are in all is always known. Where too many
have left, the rows are found anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.expressions import FLOAT
from graphtide.plan.walks import Matches

Row = tuple[Any, ...]


@dataclass(frozen=True)
class RowChange:
    """Rows that came and rows that left with an advance, each as often as it did."""

    appeared: tuple[Row, ...] = ()
    disappeared: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.appeared) + len(self.disappeared)


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
        """Whether there are more rows than the limit lets through."""
        return self.limit is not None and self.total > self.limit

    @property
    def is_short(self) -> bool:
        """Whether rows that should be shown are not kept, and must be found anew."""
        return self.limit is not None and self.size < min(self.limit, self.total)

    def rows(self) -> list[Row]:
        """The rows in the order of their columns, as many as the limit lets through."""
        ordered = sorted(self.kept.elements())
        return ordered if self.limit is None else ordered[: self.limit]

    def take(self, changes: Iterable[tuple[Row, int]]) -> None:
        """Let rows come or leave, so many of each."""
        for row, count in changes:
            self.total += count
            if self.bar is None or row <= self.bar:
                self.size += count
                self.kept[row] += count
                if not self.kept[row]:
                    del self.kept[row]

    @property
    def is_full(self) -> bool:
        """Whether it keeps more than it needs to."""
        return self.limit is not None and self.size > 2 * self.limit + 64

    def trimmed(self) -> MatchRows:
        """The same with no more rows than are needed."""
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
    """What came and what left, in the order of columns."""
    appeared: list[Row] = []
    disappeared: list[Row] = []
    for row, count in sorted(changes):
        (appeared if count > 0 else disappeared).extend([row] * abs(count))
    return RowChange(tuple(appeared), tuple(disappeared))


def _column(words: NDArray[np.int64], type_: Any) -> list[Any]:
    if type_ is FLOAT:
        return list(np.ascontiguousarray(words).view(np.float64).tolist())
    if type_ == "bool":
        return list((words != 0).tolist())
    return list(words.tolist())
