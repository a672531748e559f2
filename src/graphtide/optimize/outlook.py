"""The best ways through the steps to come, at the prices that are expected now.

The strategy works them out anew whenever it has learned something, for as many steps as matter: a
microsecond or two for a hundred steps. It keeps what it worked out last until somebody asks for
more.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.runs.best_ways import best_ways
from graphtide.kernels.runs.ways_records import PlanSizes, WayLines, Ways
from graphtide.optimize.strategy import Move, StepSizes

_MOVES = tuple(Move)


class Outlook:
    """Moves and seconds by step. Compiles when it is made."""

    def __init__(self, sizes: StepSizes) -> None:
        count = len(sizes.end)
        free = np.zeros(count, np.bool_) if sizes.free is None else sizes.free
        self._plan = PlanSizes(
            np.ascontiguousarray(sizes.version, np.int64),
            np.ascontiguousarray(sizes.delta, np.int64),
            np.ascontiguousarray(sizes.parent, np.int32),
            np.ascontiguousarray(sizes.end, np.int32),
            free,
            sizes.start,
        )
        seconds = np.full((5, count), np.nan)
        moves = np.zeros((2, count), np.int8)
        self._ways = Ways(*seconds, *moves)
        self._first = self._behind = 0
        best_ways(0, 0, self._plan, WayLines(*[0.0] * len(WayLines._fields)), self._ways)

    def look(self, first: int, behind: int, lines: WayLines) -> None:
        """Work out the best ways through these steps."""
        self._first, self._behind = first, min(behind, len(self._plan.end))
        best_ways(self._first, self._behind, self._plan, lines, self._ways)

    def covers(self, step: int) -> bool:
        """True for a step that was looked at last."""
        return self._first <= step < self._behind

    def move(self, step: int, ready: bool) -> Move:
        """The best way, with a state at the parent or without."""
        ways = self._ways
        return _MOVES[int(ways.with_state[step] if ready else ways.without[step])]

    def seconds(self, step: int) -> tuple[float, float]:
        """What following a step takes, and what a run from scratch without a state does."""
        return float(self._ways.follow[step]), float(self._ways.scratch[step])

    def split(self, step: int) -> float:
        """What a run from scratch takes that leaves a state."""
        return float(self._ways.split[step])

    def followed(self, step: int, behind: int) -> int:
        """How many steps, from this one on, are best followed one after the other."""
        last = min(behind, self._behind)
        moves = self._ways.with_state[step:last]
        places = moves.nonzero()[0]  # FOLLOW is 0.
        return int(places[0]) if len(places) else len(moves)

    def sums(self, step: int, count: int) -> tuple[float, float]:
        """Seconds of `count` steps: if all are followed, and if all run from scratch."""
        part = slice(step, step + count)
        return float(self._ways.follow[part].sum()), float(self._ways.scratch[part].sum())
