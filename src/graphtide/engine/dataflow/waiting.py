"""What was inserted and waits: each row for its version to be closed.

Rows wait in the parts that they came in. A part has one version, or a version a row; then some of
its rows may be due while others go on waiting. What is due is handed out in few parts a port, so
that a batch of very many versions is fed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.feeding import Unread, as_rows
from graphtide.kernels.dataflow.times import not_after

Int64 = NDArray[np.int64]
_LARGE = 4096


class Part(NamedTuple):
    """Rows for a port: of one version, or each of its own, which stands in the last word but one.

    `version` is None where rows have versions of their own.
    """

    port: int
    version: int | None
    rows: Int64 | Unread


class Waiting:
    """The rows that wait, for one host whose versions have this shape."""

    def __init__(self, shape: int) -> None:
        self._shape = shape
        self._parts: list[Part] = []

    def put(self, part: Part) -> None:
        """Let rows wait until their version is closed."""
        if len(part.rows) > 0:
            self._parts.append(part)

    def forget(self, ports: Iterable[int]) -> None:
        """Drop what waits for some ports."""
        gone = set(ports)
        self._parts = [part for part in self._parts if part.port not in gone]

    def clear(self) -> None:
        """Drop all that waits."""
        self._parts.clear()

    def take(self, frontier: Sequence[int]) -> tuple[list[tuple[int, Int64 | Unread]], set[int]]:
        """The rows of versions that a new frontier closes, by port, and these versions."""
        if self._shape == 0:
            plain = self._take_plain(frontier[0])
            if plain is not None:
                return plain
        due: dict[int, list[Int64 | Unread]] = {}
        versions: set[int] = set()
        staying: list[Part] = []
        for part in self._parts:
            port, version, rows = part
            if version is None:
                self._divide(part, frontier, due, versions, staying)
            elif self._stays_open(version, frontier):
                staying.append(part)
            else:
                due.setdefault(port, []).append(rows)
                versions.add(version)
        self._parts = staying
        listed = [(port, rows) for port, parts in due.items() for rows in _joined(parts)]
        return listed, versions

    def _take_plain(self, first: int) -> tuple[list[tuple[int, Int64 | Unread]], set[int]] | None:
        """The same where all that waits is due, in one part of one version a port; or None."""
        due: dict[int, Int64 | Unread] = {}
        versions: set[int] = set()
        for port, version, rows in self._parts:
            if version is None or version >= first or port in due:
                return None
            due[port] = rows
            versions.add(version)
        self._parts = []
        return list(due.items()), versions

    def _divide(
        self,
        part: Part,
        frontier: Sequence[int],
        due: dict[int, list[Int64 | Unread]],
        versions: set[int],
        staying: list[Part],
    ) -> None:
        """Part rows that are due from those that are not."""
        rows = as_rows(part.rows)
        distinct, which = np.unique(rows[:, -2], return_inverse=True)
        is_open = np.array([self._stays_open(int(word), frontier) for word in distinct], np.bool_)
        versions.update(distinct[~is_open].tolist())
        waits = is_open[which]
        if waits.any():
            staying.append(Part(part.port, None, rows[waits]))
        if not waits.all():
            due.setdefault(part.port, []).append(rows[~waits])

    def _stays_open(self, version: int, frontier: Sequence[int]) -> bool:
        if self._shape == 0:
            return version >= frontier[0]
        return any(not_after(bound, version, self._shape) for bound in frontier)


def _joined(parts: list[Int64 | Unread]) -> list[Int64 | Unread]:
    """Parts that are large as they are, all others as one, which costs a copy."""
    if len(parts) == 1:
        return parts
    large = [rows for rows in parts if len(rows) >= _LARGE]
    small = [as_rows(rows) for rows in parts if len(rows) < _LARGE]
    return large if not small else [*large, small[0] if len(small) == 1 else np.concatenate(small)]
