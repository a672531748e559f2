"""What is kept of every round of a run whose walks read state.

Rows of state and accumulators are written down while the run goes on, where they differ from the
round before, and put together by vertex at its end: histories, as those of vertex programs that add
up. Of the whole graph, each round has a row of words.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.synchronous.arrays import StoredRows, Widths
from graphtide.kernels.synchronous.records import CAPACITY, COUNT, LINE_WIDTH, PLACE, START

Int64 = NDArray[np.int64]
_SHARE_OF_MEMORY = 4


@dataclass(frozen=True)
class Course:
    """How a run went, round by round: how many vertices moved in each, how many of these or others
    had other words than before, and the words of the whole graph. Round 0 moves nobody.
    """

    moves: tuple[int, ...]
    shifts: tuple[int, ...]
    words: tuple[Int64, ...]

    @property
    def reached(self) -> int:
        """The last round."""
        return len(self.moves) - 1

    @property
    def stands_still(self) -> bool:
        """Whether further rounds would say the same as the last, to the bit.

        Zero and minus zero do not move, and may still be told apart by the next round.
        """
        return self.shifts[-1] == 0

    def words_in(self, iteration: int) -> Int64:
        """What the whole graph was sent in a round; behind the last, the same as in the last."""
        return self.words[min(iteration, self.reached)]

    def moves_in(self, iteration: int) -> int:
        """How many vertices moved in a round."""
        return self.moves[iteration] if iteration <= self.reached else 0

    def shifts_in(self, iteration: int) -> int:
        """How many had other words."""
        return self.shifts[iteration] if iteration <= self.reached else 0


class RoundLog:
    """The rounds of a run from scratch, as they go by."""

    def __init__(self, widths: Widths) -> None:
        self.widths = widths
        self._before: Int64 | None = None
        self._vertices: list[Int64] = []
        self._rows: list[Int64] = []
        self._moves: list[int] = []
        self._shifts: list[int] = []
        self._words: list[Int64] = []
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether it takes more of the machine's memory than it may: then nothing is kept."""
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return self._bytes * _SHARE_OF_MEMORY > there

    def take(self, states: Int64, sums: Int64, words: Int64, moves: int) -> None:
        """Write a round down; the first is round 0. O(vertices)."""
        state_width, sums_width = self.widths
        count = len(states) // state_width
        rows = np.hstack([states.reshape(count, state_width), sums.reshape(count, sums_width)])
        if self._before is None:
            changed, shifts = np.arange(count), 0
        else:
            differs = rows != self._before
            changed = np.flatnonzero(differs.any(axis=1))
            shifts = int(differs[:, :state_width].any(axis=1).sum())
        self._before = rows
        self._vertices.append(changed)
        self._rows.append(rows[changed])
        self._moves.append(moves)
        self._shifts.append(shifts)
        self._words.append(words.copy())
        self._bytes += 8 * len(changed) * (rows.shape[1] + 2)

    def course(self) -> Course:
        """How the run went."""
        return Course(tuple(self._moves), tuple(self._shifts), tuple(self._words))

    def histories(self) -> StoredRows:
        """The rows by vertex, in the order of rounds."""
        vertices, rows = np.concatenate(self._vertices), np.concatenate(self._rows)
        rounds = np.repeat(np.arange(len(self._rows)), [len(part) for part in self._rows])
        order = np.argsort(vertices, kind="stable")
        count, total = len(self._rows[0]), len(rows)
        stored = StoredRows(count, 0, self.widths)
        stored.make_room(total)
        histories, lengths = stored.histories, np.bincount(vertices, minlength=count)
        histories.iteration[1 : 1 + total] = rounds[order]
        width = sum(self.widths)
        histories.whole[width : (1 + total) * width] = rows[order].ravel()
        lines = np.empty((count, LINE_WIDTH), np.int64)
        lines[:, START] = 1 + np.cumsum(lengths) - lengths
        lines[:, COUNT] = lines[:, CAPACITY] = lengths
        lines[:, PLACE] = -1
        histories.line[:] = lines
        histories.used[0] = 1 + total
        return stored


def states_after(stored: StoredRows, iteration: int) -> Int64:
    """The state of every vertex after a round, as words. O(vertices) for each round behind it."""
    histories, (state_width, _) = stored.histories, stored.widths
    start, count = histories.line[:, START], histories.line[:, COUNT]
    at = start + np.minimum(iteration, count - 1)
    while (late := histories.iteration[at] > iteration).any():
        at -= late
    used, width = int(histories.used[0]), sum(stored.widths)
    rows = histories.whole[: used * width].reshape(used, width)
    return rows[at, :state_width].ravel()
