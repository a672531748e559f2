"""How fast a graph in memory advances: rows a second, and how long advances take.

An advance costs one entry: two looks at the clock and an append, 0.2 microseconds. The last
thousand advances stay as they are. Those before are added up by the second, thousand by thousand,
and the last minute of these seconds stays.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from operator import itemgetter
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

KEPT = 1_000
"""Advances that are kept one by one."""

SECONDS = 60
"""Seconds that are kept added up."""

_RECENT = 10.0

Entry = tuple[float, int, float]
"""How many seconds an advance took, how many rows it brought and took, and when it was done."""


class Second(NamedTuple):
    """All advances that were done within one second of the clock."""

    at: int
    rows: int
    longest: float


class Pace:
    """The last advances of a graph. `entries` are appended to; call `fold` at `2 * KEPT` of them.

    Whoever calls has the graph's turn.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._folded = 0
        self._seconds: deque[Second] = deque(maxlen=SECONDS + 1)

    def note(self, began: float, rows: int) -> None:
        """An advance that began then has just been done."""
        now = perf_counter()
        self.entries.append((now - began, rows, now))
        if len(self.entries) >= 2 * KEPT:
            self.fold()

    def promised(self, count: int) -> None:
        """The last so many advances are on the disk only now: so long did they take."""
        now, entries = perf_counter(), self.entries
        for at in range(max(0, len(entries) - count), len(entries)):
            seconds, rows, done = entries[at]
            entries[at] = seconds + now - done, rows, now

    def fold(self) -> None:
        """Add up all but the last advances that are kept."""
        count = max(0, len(self.entries) - KEPT)
        for second in _by_second(self.entries[:count]):
            self._add(second)
        del self.entries[:count]
        self._folded += count

    def told(self, *, latencies: bool = True) -> dict[str, Any]:
        """The pace as a page shows it; without latencies where this process only follows.

        Rows a second are those of the last ten seconds.
        """
        now = perf_counter()
        took = 1e3 * np.array([seconds for seconds, _, _ in self.entries[-KEPT:]])
        percentiles: list[float | None] = [None, None, None]
        if latencies and len(took):
            percentiles = [round(float(item), 4) for item in np.percentile(took, (50, 90, 99))]
        rows, longest = self._last_minute(int(now))
        return {
            "advances": self._folded + len(self.entries),
            "rows_a_second": round(self._recent_rate(now), 1),
            **dict(zip(("p50", "p90", "p99"), percentiles, strict=True)),
            "rows": rows,
            "longest": longest if latencies else [],
        }

    def _last_minute(self, now: int) -> tuple[list[int], list[float]]:
        """The rows of each of the last seconds, and the longest advance in milliseconds."""
        rows, longest = [0] * SECONDS, [0.0] * SECONDS
        for second in (*self._seconds, *_by_second(self.entries)):
            at = second.at - now + SECONDS - 1
            if 0 <= at < SECONDS:
                rows[at] += second.rows
                longest[at] = max(longest[at], round(1e3 * second.longest, 4))
        return rows, longest

    def _recent_rate(self, now: float) -> float:
        """Rows a second, over the last ten seconds, or as long as there have been any."""
        entries, since = self.entries, now - _RECENT
        rows = sum(rows for _, rows, done in entries if done >= since)
        first = entries[0][2] - entries[0][0] if entries else now
        for second in islice(reversed(self._seconds), int(_RECENT) + 1):
            if second.at >= since:
                rows, first = rows + second.rows, min(first, float(second.at))
        return rows / max(now - max(first, since), 1.0)

    def _add(self, second: Second) -> None:
        seconds = self._seconds
        if seconds and seconds[-1].at == second.at:
            last = seconds.pop()
            second = Second(last.at, last.rows + second.rows, max(last.longest, second.longest))
        seconds.append(second)


def _by_second(entries: list[Entry]) -> list[Second]:
    """Advances added up by the second in which they were done, in their order."""
    if not entries:
        return []
    first, last = int(entries[0][2]), int(entries[-1][2])
    if first == last:  # As it is where advances take microseconds: all of it in C.
        rows, longest = sum(map(itemgetter(1), entries)), max(map(itemgetter(0), entries))
        return [Second(first, rows, longest)]
    found: dict[int, Second] = {}
    for seconds, rows, done in entries:
        at = int(done)
        known = found.get(at, Second(at, 0, 0.0))
        found[at] = Second(at, known.rows + rows, max(known.longest, seconds))
    return [*found.values()]
