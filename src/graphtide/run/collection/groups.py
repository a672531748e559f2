"""Steps that are passed together: several versions in one run from scratch, a lane each.

A group begins at a step that is passed and never goes back above that step's parent. The graph is
walked over all its versions first, then the program runs once; the runner then takes up the results
step by step. Inside of a group nothing leaves a state, so that there is none to bring back on the
way. The chooser is asked for every step, before it was told what those before it took; what it
wants of the step that ends the group is kept for that step.

A run that is interrupted inside of a group has finished none of its steps: at most `LANES` views
are lost, which together took little more than one or two alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.kernels.lanes.values import LANES
from graphtide.optimize.strategy import Chooser, Move, Observation
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.states import States
from graphtide.run.collection.steps import Deltas, Int32, RunSteps

_LOOKS = 32


@dataclass
class Passed:
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
class Group:
    """Steps that were passed, in order, and what the chooser wants of the step behind them."""

    passed: list[Passed]
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

    def run(self, step: int, chooser: Chooser, due: Callable[[int], bool]) -> Group:
        """Pass as many steps as are to be passed, and fit; the graph is then at the last one.

        `due` says, once for each step in turn, whether to run its version alone as well.
        """
        group = Group([])
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

    def _walk(self, step: int, chooser: Chooser, due: Callable[[int], bool], group: Group) -> float:
        """Take the graph from version to version, the first of which is to be passed.

        Returns the seconds of runs beside.
        """
        lanes, graph = self._prepared.lanes, self._prepared.graph
        path: list[Passed] = []
        beside, behind, move = 0.0, self._behind(step), Move.PASS
        while move == Move.PASS:
            while path and path[-1].step != self._parent[step]:
                last = path.pop()
                graph.flip(inserted=last.deleted, deleted=last.inserted)
                lanes.flip(last.deleted, last.inserted)
            item = Passed(step, *self._deltas.of(step), chooser.predict(step))
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

    def _choose(self, step: int, chooser: Chooser, group: Group) -> Move:
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
