"""The walk along a plan: advance to a step, its whole subtree, and back.

At every step the graph is flipped, and the results follow in one of the ways of
`optimize.strategy`: from a state at the parent, or from scratch. Either way they end as differences
from the parent, which go into the parts of the run. `run` begins at the first step that the parts
do not have yet. The plan is that of a collection, or a sub-plan of it: nothing here knows which.

Kept true: steps are finished in the order of the plan; a finished step is written within a second
or so, and whatever ends the walk, an interruption included, writes the finished ones first; the
graph, the current results and every state are those of the step that the path ends with.

Models learn from the time that this thread had the processor, so that other work on the machine
does not mislead them; the record has what passed on the clock.

What a step costs beside flipping, computing and its differences is a handful of Python statements:
no table, no file, no dictionary of vertices.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, thread_time, time
from typing import Any, NamedTuple

from graphtide.engine.changes import Changes, Values
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError
from graphtide.optimize.adaptive import Adaptive
from graphtide.optimize.strategy import (
    AlwaysScratch,
    AlwaysTogether,
    Chooser,
    Move,
    Observation,
    StepSizes,
)
from graphtide.run.collection.differences import CurrentResults, PartBuffer, RunDifferences
from graphtide.run.collection.facts import RunSettings, Strategy
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.step_batches import Groups, PassedStep, States, Stretches
from graphtide.run.collection.steps import Deltas, Int32, RunSteps
from graphtide.store.parts import FinishedParts, PartMaker

_MOST_ROWS = 1 << 22
_TELL_EVERY = 0.1


class PathStep(NamedTuple):
    """A step on the way to the current version: all that it takes to go back from it."""

    step: int
    inserted: Int32
    deleted: Int32
    changes: Changes


class Runner:
    """A program on its way along a plan; `base` are its results before the first step."""

    def __init__(
        self,
        steps: RunSteps,
        deltas: Deltas,
        prepared: PreparedProgram,
        base: Values,
        parts: FinishedParts,
    ) -> None:
        current = CurrentResults(base)
        self._steps = steps
        self._parent: list[int] = steps.parent.tolist()
        self._end: list[int] = steps.end.tolist()
        self._view: list[int] = steps.view.tolist()
        self._edges: list[int] = steps.edges.tolist()
        self._skipped: list[bool] = steps.skipped.tolist()
        self._deltas = deltas
        self._prepared = prepared
        self._graph = prepared.graph
        self._current = current
        self._parts = parts
        self._states = States(steps, prepared.maintained, prepared.graph.vertices)
        self._buffer = PartBuffer(prepared.compiled.arrays, prepared.compiled.match_plans)
        self._stretches = Stretches(steps, deltas, self._states, current, self._buffer)
        self._groups = Groups(steps, deltas, prepared, self._states)
        self._decided: tuple[int, Move] | None = None
        self._broken_off = -1
        self._path: list[PathStep] = []
        self._unknown: set[int] = set()
        self._nothing = current.no_differences()
        self._views = 0
        self._since = _now()

    def run(self, chooser: Chooser, settings: RunSettings) -> None:
        """All steps that the parts do not have yet."""
        finished = RunDifferences(self._parts, self._prepared.compiled.results)
        first, record = finished.finished, finished.record
        if record is not None:
            _recall(record, chooser)
        if first < len(self._steps):
            moves = [] if record is None else record.column("move").to_pylist()
            for step in self._steps.path(int(self._steps.parent[first])):
                self._descend(step, finished.of(step), moves[step] == Move.PASS)
            self._run_from(first, chooser, settings)

    def _descend(self, step: int, changes: Changes, passed: bool) -> None:
        """Go to a child of the current step whose differences are known.

        `passed` where it was reached from scratch, leaving no state.
        """
        if passed and self._skipped[step]:
            self._unknown.add(step)
        inserted, deleted = self._deltas.of(step)
        self._graph.flip(inserted, deleted)
        self._current.apply(changes)
        self._path.append(PathStep(step, inserted, deleted, changes))

    def _run_from(self, first: int, chooser: Chooser, settings: RunSettings) -> None:
        """All steps from `first` on, whose parent is on the path."""
        began = last_kept = last_told = perf_counter()
        step = first
        self._views = settings.seen
        self._since = settings.since or _now()
        try:
            while step < len(self._steps):
                settings.go_on()
                self._return_to(self._parent[step])
                worked = thread_time()
                move, made = self._stretch(step, chooser, settings)
                if not made:
                    move, made = self._group(step, chooser, settings)
                if not made:
                    move, made = self._reach(step, chooser, settings, worked), 1
                step += made
                now = perf_counter()
                if now - last_kept > settings.keep_every or self._buffer.rows > _MOST_ROWS:
                    self._keep(step, settings)
                    last_kept = perf_counter()
                if now - last_told > _TELL_EVERY:
                    settings.report(*_progress(self._steps, (first, step - 1), move, now - began))
                    last_told = now
        except BaseException:
            with contextlib.suppress(GraphtideError):
                self._keep(-1, settings)
            raise
        self._keep(len(self._steps), settings)

    def _stretch(self, step: int, chooser: Chooser, settings: RunSettings) -> tuple[Move, int]:
        """As many steps further as are followed together: none, where that is not to be."""
        alone = step == self._broken_off or self._parent[step] in self._unknown
        if settings.verify is not None or alone:
            return Move.FOLLOW, 0
        count = self._stretches.length(step, chooser)
        if not count:
            return Move.FOLLOW, 0
        made = self._stretches.follow(step, count, chooser)
        if made.stuck:
            self._broken_off = step + made.steps
            chooser.observe_stuck(self._broken_off)
        for at, changes in made.path:
            inserted, deleted = self._deltas.of(at)
            if self._end[at] == len(self._end):
                self._path.clear()
            self._path.append(PathStep(at, inserted, deleted, changes))
        return Move.FOLLOW, made.steps

    def _group(self, step: int, chooser: Chooser, settings: RunSettings) -> tuple[Move, int]:
        """As many steps further as are passed together: none, where that is not to be."""
        if self._decided is not None or not self._groups.possible(step):
            return Move.PASS, 0
        group = self._groups.run(step, chooser, lambda at: self._due(at, settings))
        self._decided = group.decided
        for item in group.passed:
            self._take_up(item)
        return Move.PASS, len(group.passed)

    def _take_up(self, item: PassedStep) -> None:
        """Record a step of a group; the graph is already at the group's last step."""
        while self._path and self._path[-1].step != self._parent[item.step]:
            self._current.undo(self._path.pop().changes)
        changes: Changes = self._nothing
        if item.values is None:
            self._unknown.add(item.step)
        else:
            changes = self._current.differences(item.values)
            self._current.apply(changes)
        if item.alone is not None:
            self._compare(item.step, item.alone)
        self._go_on(PathStep(item.step, item.inserted, item.deleted, changes))
        changed = sum(map(len, changes.values()))
        row = (item.step, Move.PASS, item.seconds, *item.expected, self._edges[item.step], changed)
        self._buffer.add(row, changes)

    def _choose(self, step: int, chooser: Chooser) -> Move:
        """How to reach a step; a group that ended before it may have asked already."""
        decided, self._decided = self._decided, None
        if decided is not None and decided[0] == step:
            return decided[1]
        return chooser.choose(step, self._states.ready(self._parent[step]))

    def _reach(self, step: int, chooser: Chooser, settings: RunSettings, worked: float) -> Move:
        """One step further down. The chooser is told all that it took since `worked`.

        Going back to the parent is no part of it: that depends on the steps before, and is done
        whichever way is taken.
        """
        states, parent, began = self._states, self._parent[step], perf_counter()
        inserted, deleted = self._deltas.of(step)
        move = self._choose(step, chooser)
        expected, started = chooser.predict(step), 0.0
        if move == Move.RESTART:
            started = -thread_time()
            states.start(parent)
            started += thread_time()
        changes = self._changes(step, move, self._flip(inserted, deleted))
        self._current.apply(changes)
        self._go_on(PathStep(step, inserted, deleted, changes))
        touched = states.touched if move <= Move.RESTART else self._edges[step]
        changed = sum(map(len, changes.values()))
        row = (step, move, perf_counter() - began, *expected, touched, changed)
        chooser.observe(step, _seen(move, thread_time() - worked, started))
        if self._due(step, settings):
            self._compare(step, self._prepared.plainly())
        self._buffer.add(row, changes)
        return move

    def _flip(self, inserted: Int32, deleted: Int32) -> Delta:
        """To the next version; one that has nothing of the last begins with an empty graph."""
        graph = self._graph
        if len(deleted) and len(deleted) == graph.live:
            return graph.replace(inserted, deleted)
        return graph.flip(inserted, deleted)

    def _changes(self, step: int, move: Move, delta: Delta) -> Changes:
        """The results of a step that the graph is at, as differences from its parent."""
        try:
            return self._found(step, move, delta)
        except GraphtideError as error:
            error.where = error.where or f"the view '{self._steps.label(step)}'"
            raise

    def _found(self, step: int, move: Move, delta: Delta) -> Changes:
        if move <= Move.RESTART:
            changes = self._states.follow(step, delta)
            if self._parent[step] not in self._unknown:
                return self._current.completed(changes, self._states.values)
            # The parent's results were left out, so that differences are those from before it.
            return self._current.differences(self._states.values())
        if move == Move.SPLIT:
            return self._current.differences(self._states.start(step))
        self._states.release(step)
        if self._skipped[step]:
            self._unknown.add(step)
            return self._nothing
        return self._current.differences(self._prepared.scratch())

    def _go_on(self, reached: PathStep) -> None:
        """Append a step to the path; forget the path where no later step returns along it."""
        if self._end[reached.step] == len(self._end):
            self._path.clear()
            self._states.forget()
        self._path.append(reached)

    def _return_to(self, parent: int) -> None:
        """Up the path to a step, undoing everything on the way."""
        path, emptied = self._path, parent < 0
        if path and emptied:
            self._graph.clear()
        while path and path[-1].step != parent:
            last = path.pop()
            self._states.leave(last.step)
            if not emptied:
                self._flip(inserted=last.deleted, deleted=last.inserted)
            self._current.undo(last.changes)

    def _due(self, step: int, settings: RunSettings) -> bool:
        """True where a step is one of those to be compared. Asked once a step."""
        is_view = self._view[step] >= 0
        self._views += is_view
        return settings.verify is not None and is_view and self._views % settings.verify == 0

    def _compare(self, step: int, values: Values) -> None:
        """Refuse current results that differ from those of a run from scratch."""
        told = self._steps.label(step), 'strategy="scratch"'
        self._prepared.check_same(self._current.values, values, *told)

    def _keep(self, finished: int, settings: RunSettings) -> None:
        if len(self._buffer):
            (began, worked), now = self._since, _now()
            made = PartMaker(settings.worker, settings.sub_plan, began, now[0], now[1] - worked)
            self._since = now
            self._parts.append(self._buffer.take(made))
        if finished >= 0:
            settings.kept(finished)


def _now() -> tuple[float, float]:
    """The time of day, and the processor time of this thread."""
    return time(), thread_time()


def _seen(move: Move, seconds: float, started: float) -> Observation:
    """The time of a step, split into the parts that the models learn."""
    if move <= Move.RESTART:
        return Observation(move, started, seconds - started)
    return Observation(move, seconds, 0.0)


def _progress(
    steps: RunSteps, reached: tuple[int, int], move: Move, seconds: float
) -> tuple[str, float]:
    first, step = reached
    left = seconds / (step + 1 - first) * (len(steps) - step - 1)
    stage = f"{steps.label(step)}, {move.strategy}, about {left:,.0f} s left"
    return stage, (step + 1) / len(steps)


CHOOSERS: dict[str, Callable[[StepSizes], Chooser]] = {
    "adaptive": Adaptive,
    "differential": lambda sizes: AlwaysTogether(),
    "scratch": lambda sizes: AlwaysScratch(),
}


def chooser_of(strategy: Strategy, steps: RunSteps, prepared: PreparedProgram) -> Chooser:
    return CHOOSERS[strategy](program_sizes(steps, prepared))


def program_sizes(steps: RunSteps, prepared: PreparedProgram) -> StepSizes:
    sizes = steps.sizes(prepared.graph.vertices)
    return replace(sizes, spreads=prepared.adds_up, prices=prepared.prices)


def _recall(record: Any, chooser: Chooser) -> None:
    """Teach the models what the steps took that were finished before."""
    columns = [record.column(name).to_pylist() for name in ("step", "move", "seconds")]
    for step, code, seconds in zip(*columns, strict=True):
        move = Move(code)
        if move == Move.FOLLOW:
            chooser.observe(step, Observation(move, 0.0, seconds))
        elif move != Move.RESTART:
            chooser.observe(step, Observation(move, seconds, 0.0))
