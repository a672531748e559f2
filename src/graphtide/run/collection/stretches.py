"""Steps that are followed together: found in the plan, handed to the maintainer, taken up again.

A stretch begins at a step whose parent has a state and never goes back above that parent; so it
ends at the latest with the parent's subtree. Steps with many edges stay out of it: there is nothing
to gain, and they may be better run from scratch. After a stretch everything is as if its steps had
been made one by one: the way back, the current results, the rows and the record.
"""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes
from graphtide.engine.stretches import Followed, Patience
from graphtide.kernels.runs.stretch_records import Stretch
from graphtide.optimize.strategy import Chooser, Move
from graphtide.run.collection.buffer import PartBuffer
from graphtide.run.collection.current import CurrentResults
from graphtide.run.collection.states import States
from graphtide.run.collection.steps import Deltas, RunSteps

MOST_EDGES = 4096
"""The largest delta that is part of a stretch."""

FEWEST, MOST = 4, 1 << 16
"""The least and the greatest number of steps of a stretch."""

LONGEST = 0.05
"""The seconds of a stretch, so that progress is shown and the chooser is asked again."""

_COLUMNS = ("vertices", "old", "new")
_CYCLES_A_SECOND = 2e9
"""Until it has been measured."""


class RunParts(NamedTuple):
    """What a stretch reads and brings up to date."""

    steps: RunSteps
    deltas: Deltas
    states: States
    current: CurrentResults
    buffer: PartBuffer


class Made(NamedTuple):
    """How many steps were made, and those on the way from the parent to the last, with changes.

    `stuck` tells that the next step would have looked at too much.
    """

    steps: int
    path: list[tuple[int, Changes]]
    stuck: bool


class Stretches:
    """The stretches of a run, one after the other; `field` is the one result of its program."""

    def __init__(self, parts: RunParts, field: str) -> None:
        self._parts = parts
        self._field = field
        steps = parts.steps
        self._wide = _next_wide(steps.inserted + steps.deleted)
        self._final = steps.end == len(steps)
        self._rate = _CYCLES_A_SECOND

    def length(self, step: int, chooser: Chooser) -> int:
        """How many steps from this one on can be followed together; 0 where it does not pay."""
        steps, states = self._parts.steps, self._parts.states
        parent = int(steps.parent[step])
        if self._wide[step] - step < FEWEST or not states.ready(parent):
            return 0
        if not states.maintainer.follows_stretches:
            return 0
        behind = len(steps) if parent < 0 else int(steps.end[parent])
        behind = min(behind, int(self._wide[step]), step + MOST)
        count = chooser.certain(step, self._parts.deltas.within_block(step, behind))
        return count if count >= FEWEST else 0

    def follow(self, step: int, count: int, chooser: Chooser) -> Made:
        """Follow `count` steps in one call, or fewer if they take too long or look at too much."""
        parts = self._parts
        maintainer: Any = parts.states.maintainer
        began, worked = perf_counter(), thread_time()
        stretch = self._stretch(step, count)
        patience = Patience(int(self._rate * LONGEST))
        followed: Followed = maintainer.follow_stretch(stretch, patience)
        seconds, worked = perf_counter() - began, thread_time() - worked
        if followed.steps:
            self._take_up(step, followed, (seconds, worked), chooser)
        spent = followed.cycles.sum() > patience.cycles or len(followed.changes) > patience.rows
        stuck = followed.steps < count and not spent
        return Made(followed.steps, self._path(step, followed), stuck)

    def _stretch(self, step: int, count: int) -> Stretch:
        steps, behind = self._parts.steps, step + count
        edges, places = self._parts.deltas.span(step, behind)
        start = steps.parent[step]
        parents = steps.parent[step:behind]
        inside = np.where(parents == start, -1, parents - step).astype(np.int32)
        return Stretch(edges, places, inside, self._final[step:behind])

    def _path(self, step: int, found: Followed) -> list[tuple[int, Changes]]:
        bounds = np.concatenate([[0], np.cumsum(found.counts)])
        path: list[tuple[int, Changes]] = []
        for at in found.path:
            rows = slice(bounds[at], bounds[at + 1])
            vertices, old, new = (getattr(found.changes, name)[rows] for name in _COLUMNS)
            path.append((step + at, {self._field: Change(vertices, old, new)}))
        return path

    def _take_up(
        self, step: int, made: Followed, seconds: tuple[float, float], chooser: Chooser
    ) -> None:
        """Bring states, current results, models and record to the last step that was made.

        `seconds` are those on the clock, for the record, and those of the processor, for models.
        """
        parts, field = self._parts, self._field
        maintainer: Any = parts.states.maintainer
        behind = step + made.steps
        # Where it was broken off, it may have gone back from its last step already.
        reached = step + made.path[-1] if made.path else int(parts.steps.parent[step])
        parts.states.followed(reached, bool(self._final[step:behind].any()))
        vertices = made.changes.vertices
        parts.current.values[field][vertices] = maintainer.values(field)[vertices]
        shares = made.cycles / max(int(made.cycles.sum()), 1)
        self._rate = max(int(made.cycles.sum()) / max(seconds[1], 1e-6), 1e6)
        expected = chooser.predict(step)
        chooser.observe_stretch(step, shares * seconds[1])
        columns = (
            np.arange(step, behind, dtype=np.int32),
            np.full(made.steps, Move.FOLLOW, np.int8),
            shares * seconds[0],
            np.full(made.steps, expected[0]),
            np.full(made.steps, expected[1]),
            made.touched,
            made.counts,
        )
        parts.buffer.add_stretch(columns, made.counts, {field: made.changes})


def _next_wide(deltas: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each step the first from it on whose delta is too large for a stretch."""
    places = np.flatnonzero(deltas > MOST_EDGES)
    following = np.searchsorted(places, np.arange(len(deltas)))
    return np.append(places, len(deltas))[following]
