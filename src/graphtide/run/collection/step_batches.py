"""States along the plan, and several steps in one kernel call: stretches and groups.

**States** are what a run grows its results from. Where the plan is a chain, one state follows it,
or is replaced at a split. In a tree the runner comes back to a parent after its subtree: the state
that was there must be there again. Within one state the undo log does that. Where a subtree was
split off, it has a state of its own, and the parent's stays as it is beneath until the runner is
back: that costs the memory of one state and no time. More than `MOST_STATES` are never held: the
one furthest up is given up, and made again by a run from scratch if the runner comes back to it and
that pays. A state that the runner will not come back to is given up at once, and so is what could
be undone.

A **stretch** is followed together. It begins at a step whose parent has a state and never goes back
above that parent; so it ends at the latest with the parent's subtree. Steps with many edges stay
out of it: there is nothing to gain, and they may be better run from scratch. After a stretch
everything is as if its steps had been made one by one: the way back, the current results, the rows
and the record.

A **group** is run from scratch together: several versions in one run, a lane each. It begins at a
step that is passed and never goes back above that step's parent. The graph is walked over all its
versions first, then the program runs once; the runner then takes up the results step by step.
Inside of a group nothing leaves a state, so that there is none to bring back on the way. The
chooser is asked for every step, before it was told what those before it took; what it wants of the
step that ends the group is kept for that step. A run that is interrupted inside of a group has
finished none of its steps: at most `LANES` views are lost, which together took little more than one
or two alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.stretches import Followed, Patience
from graphtide.kernels.fixpoint.records import Stretch
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.lanes.values import LANES
from graphtide.optimize.strategy import Chooser, Move, Observation
from graphtide.run.collection.differences import CurrentResults, PartBuffer
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.steps import Deltas, Int32, RunSteps
from graphtide.run.live.versions import MaintainedProgram

MOST_STATES = 4
_UNDO_STEPS = 32


@dataclass
class _State:
    """A maintainer that was started at the step `root` and has followed the plan to `at`."""

    kept: MaintainedProgram
    root: int
    at: int


class States:
    """A stack of states along the path from the empty version to the current step."""

    def __init__(
        self, steps: RunSteps, make: Callable[[], MaintainedProgram], vertices: int
    ) -> None:
        self._steps = steps
        self._make = make
        self._vertices = vertices
        self._stack: list[_State] = []
        self._first: MaintainedProgram | None = make()
        self._undoable = 0

    def __len__(self) -> int:
        return len(self._stack)

    @property
    def maintainer(self) -> Maintainer:
        return self._stack[-1].kept.maintainer

    @property
    def touched(self) -> int:
        """The edges that the last step which was followed looked at."""
        return self._stack[-1].kept.maintainer.touched

    def ready(self, step: int) -> bool:
        """True if there is a state at this step."""
        return bool(self._stack) and self._stack[-1].at == step

    def start(self, step: int) -> Values:
        """A state at this step, which the graph is at; returns its results, not to be kept."""
        kept = self.release(step) or self._first or self._make()
        self._first = None
        self._stack.append(_State(kept, step, step))
        del self._stack[:-MOST_STATES]
        kept.start(0, self._vertices)
        return self.values()

    def values(self) -> Values:
        """The results of the last state, not to be kept."""
        kept = self._stack[-1].kept
        return {name: kept.maintainer.values(name) for name in kept.results}

    def follow(self, step: int, delta: Delta) -> Changes:
        """Take the state from the parent to this step, where the graph is already."""
        state = self._stack[-1]
        state.kept.follow(delta, self._vertices)
        state.at = step
        return state.kept.changes

    def followed(self, step: int, final: bool) -> None:
        """Note that a stretch has taken the state to this step."""
        self._stack[-1].at = step
        if final:
            del self._stack[:-1]
            self._undoable = 0

    def leave(self, step: int) -> None:
        while self.ready(step):
            state = self._stack[-1]
            if state.root == step:
                self._stack.pop()
            else:
                state.kept.undo(self._vertices)
                state.at = int(self._steps.parent[step])

    def release(self, step: int) -> MaintainedProgram | None:
        """Give up states that the runner never comes back to, now that it is at this step.

        Returns one of them, to be started anew.
        """
        given_up = None
        while self._stack and not self._useful(step):
            given_up = self._stack.pop().kept
        return given_up

    def forget(self) -> None:
        """The runner goes back no more: give up all but the last state, and what it can undo."""
        del self._stack[:-1]
        self._undoable += 1
        if self._stack and self._undoable >= _UNDO_STEPS:
            self._stack[-1].kept.maintainer.forget()
            self._undoable = 0

    def _useful(self, step: int) -> bool:
        """True if the runner comes back into the last state after the subtree of a step."""
        back, steps = self._steps.returns_to(step), self._steps
        if back is None:
            return False
        root = self._stack[-1].root
        return back >= 0 and steps.depth[root] <= steps.depth[back] if root >= 0 else True


MOST_EDGES = 4096
"""The largest delta that is part of a stretch."""

FEWEST, MOST = 4, 1 << 16
"""The least and the greatest number of steps of a stretch."""

LONGEST = 0.05
"""The seconds of a stretch, so that progress is shown and the chooser is asked again."""

_COLUMNS = ("vertices", "old", "new")
_CYCLES_A_SECOND = 2e9
"""Until it has been measured."""


class FollowedStretch(NamedTuple):
    """How many steps were made, and those on the way from the parent to the last, with changes.

    `stuck` tells that the next step would have looked at too much.
    """

    steps: int
    path: list[tuple[int, Changes]]
    stuck: bool


class Stretches:
    """The stretches of a run, one after the other; its program has one result."""

    def __init__(
        self,
        steps: RunSteps,
        deltas: Deltas,
        states: States,
        current: CurrentResults,
        buffer: PartBuffer,
    ) -> None:
        self._steps, self._deltas, self._states = steps, deltas, states
        self._current, self._buffer = current, buffer
        self._field = next(iter(current.values))
        self._wide = _next_wide(steps.inserted + steps.deleted)
        self._final = steps.end == len(steps)
        self._rate = _CYCLES_A_SECOND

    def length(self, step: int, chooser: Chooser) -> int:
        """How many steps from this one on can be followed together; 0 where it does not pay."""
        steps, states = self._steps, self._states
        parent = int(steps.parent[step])
        if self._wide[step] - step < FEWEST or not states.ready(parent):
            return 0
        if not states.maintainer.follows_stretches:
            return 0
        behind = len(steps) if parent < 0 else int(steps.end[parent])
        behind = min(behind, int(self._wide[step]), step + MOST)
        count = chooser.certain(step, self._deltas.within_block(step, behind))
        return count if count >= FEWEST else 0

    def follow(self, step: int, count: int, chooser: Chooser) -> FollowedStretch:
        """Follow `count` steps in one call, or fewer if they take too long or look at too much."""
        maintainer: Any = self._states.maintainer
        began, worked = perf_counter(), thread_time()
        stretch = self._stretch(step, count)
        patience = Patience(int(self._rate * LONGEST))
        followed: Followed = maintainer.follow_stretch(stretch, patience)
        seconds, worked = perf_counter() - began, thread_time() - worked
        if followed.steps:
            self._take_up(step, followed, (seconds, worked), chooser)
        spent = followed.cycles.sum() > patience.cycles or len(followed.changes) > patience.rows
        stuck = followed.steps < count and not spent
        return FollowedStretch(followed.steps, self._path(step, followed), stuck)

    def _stretch(self, step: int, count: int) -> Stretch:
        steps, behind = self._steps, step + count
        edges, places = self._deltas.span(step, behind)
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
        field = self._field
        maintainer: Any = self._states.maintainer
        behind = step + made.steps
        # Where it was broken off, it may have gone back from its last step already.
        reached = step + made.path[-1] if made.path else int(self._steps.parent[step])
        self._states.followed(reached, bool(self._final[step:behind].any()))
        vertices = made.changes.vertices
        self._current.values[field][vertices] = maintainer.values(field)[vertices]
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
        self._buffer.add_stretch(columns, made.counts, {field: made.changes})


def _next_wide(deltas: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each step the first from it on whose delta is too large for a stretch."""
    places = np.flatnonzero(deltas > MOST_EDGES)
    following = np.searchsorted(places, np.arange(len(deltas)))
    return np.append(places, len(deltas))[following]


_LOOKS = 32


@dataclass
class PassedStep:
    """A step of a group: its edges, and what the chooser expected it to take.

    `lane` is None for a stone that needs no results. `alone` is what a run of its version alone
    gives, where that was asked for. Values and seconds are known when the group has run.
    """

    step: int
    inserted: Int32
    deleted: Int32
    expected: tuple[float, float]
    lane: int | None = None
    alone: Values | None = None
    values: Values | None = None
    seconds: float = 0.0


@dataclass
class PassedSteps:
    """Steps that were passed, in order, and what the chooser wants of the step behind them."""

    passed: list[PassedStep]
    decided: tuple[int, Move] | None = None


class Groups:
    """The groups of a run, one after the other."""

    def __init__(
        self, steps: RunSteps, deltas: Deltas, prepared: PreparedProgram, states: States
    ) -> None:
        self._parent: list[int] = steps.parent.tolist()
        self._end: list[int] = steps.end.tolist()
        self._skipped: list[bool] = steps.skipped.tolist()
        self._shares: list[bool] = _shares(steps, prepared.graph.edges).tolist()
        self._deltas = deltas
        self._prepared = prepared
        self._states = states

    def possible(self, step: int) -> bool:
        """True where a step gains by those before or behind it that are passed from scratch, too.

        That depends on the plan alone: what a view is run with, and so the bits of its sums, is
        the same wherever a run was left off and resumed.
        """
        last = step + 1 == self._behind(step)
        several = self._shares[step] or (not last and self._shares[step + 1])
        return several and self._prepared.has_lanes

    def run(self, step: int, chooser: Chooser, due: Callable[[int], bool]) -> PassedSteps:
        """Pass as many steps as are to be passed, and fit; the graph is then at the last one.

        `due` says, once for each step in turn, whether to run its version alone as well.
        """
        group = PassedSteps([])
        move = self._choose(step, chooser, group)
        if move != Move.PASS:
            return group
        lanes = self._prepared.lanes
        began, worked = perf_counter(), thread_time()
        lanes.begin()
        beside = self._walk(step, chooser, due, group)
        answers = lanes.run() if lanes.size else []
        seconds, worked = perf_counter() - began, thread_time() - worked
        count = max(1, lanes.size)
        for item in group.passed:
            share = 0.0
            if item.lane is not None:
                item.values, item.seconds = answers[item.lane], (seconds - beside) / count
                share = (worked - beside) / count
            chooser.observe(item.step, Observation(Move.PASS, max(0.0, share), 0.0))
        return group

    def _walk(
        self, step: int, chooser: Chooser, due: Callable[[int], bool], group: PassedSteps
    ) -> float:
        """Take the graph from version to version, the first of which is to be passed.

        Returns the seconds of runs beside.
        """
        lanes, graph = self._prepared.lanes, self._prepared.graph
        path: list[PassedStep] = []
        beside, behind, move = 0.0, self._behind(step), Move.PASS
        while move == Move.PASS:
            while path and path[-1].step != self._parent[step]:
                last = path.pop()
                graph.flip(inserted=last.deleted, deleted=last.inserted)
                lanes.flip(last.deleted, last.inserted)
            item = PassedStep(step, *self._deltas.of(step), chooser.predict(step))
            self._states.release(step)
            graph.flip(item.inserted, item.deleted)
            lanes.flip(item.inserted, item.deleted)
            item.lane = None if self._skipped[step] else lanes.take()
            if due(step):
                began = thread_time()
                item.alone = self._prepared.plainly()
                beside += thread_time() - began
            path.append(item)
            group.passed.append(item)
            step += 1
            if step == behind or lanes.size == LANES or not self._shares[step]:
                break
            move = self._choose(step, chooser, group)
        return beside

    def _choose(self, step: int, chooser: Chooser, group: PassedSteps) -> Move:
        move = chooser.choose(step, self._states.ready(self._parent[step]))
        if move != Move.PASS:
            group.decided = step, move
        return move

    def _behind(self, step: int) -> int:
        parent = self._parent[step]
        return len(self._end) if parent < 0 else self._end[parent]


def _shares(steps: RunSteps, known: int) -> NDArray[np.bool_]:
    """The steps that have so much of their parent's edges, and of all, that a group gains by them.

    An edge that one lane has takes as long as one that all have: twice a run alone. A group looks
    at all known edges once; a run alone at those of the version, a few dozen times at most.
    """
    shares_half: NDArray[np.bool_] = 2 * steps.inserted <= steps.edges
    return shares_half & (_LOOKS * steps.edges >= known)
