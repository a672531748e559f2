"""The states that a run grows its results from, and when each of them is given up.

Where the plan is a chain, one state follows it, or is replaced at a split. In a tree the runner
comes back to a parent after its subtree: the state that was there must be there again. Within one
state the undo log does that. Where a subtree was split off, it has a state of its own, and the
parent's stays as it is beneath until the runner is back: that costs the memory of one state and no
time. More than `MOST_STATES` are never held: the one furthest up is given up, and made again by a
run from scratch if the runner comes back to it and that pays.

A state that the runner will not come back to is given up at once, and so is what could be undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphtide.engine.changes import Changes, Values
from graphtide.engine.maintainer import Maintainer
from graphtide.kernels.graph.flips import Delta
from graphtide.run.collection.steps import RunSteps
from graphtide.run.live.maintained import Maintained

MOST_STATES = 4
_UNDO_STEPS = 32


@dataclass
class _State:
    """A maintainer that was started at the step `root` and has followed the plan to `at`."""

    kept: Maintained
    root: int
    at: int


class States:
    """A stack of states along the path from the empty version to the current step."""

    def __init__(self, steps: RunSteps, make: Callable[[], Maintained], vertices: int) -> None:
        self._steps = steps
        self._make = make
        self._vertices = vertices
        self._stack: list[_State] = []
        self._first: Maintained | None = make()
        self._undoable = 0

    def __len__(self) -> int:
        return len(self._stack)

    @property
    def maintainer(self) -> Maintainer:
        """What keeps the state that results are grown from."""
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
        """Bring the state at the parent along to this step; the graph is there already."""
        state = self._stack[-1]
        state.kept.follow(delta, self._vertices)
        state.at = step
        return state.kept.changes

    def followed(self, step: int, final: bool) -> None:
        """Note that a stretch has brought the state to this step."""
        self._stack[-1].at = step
        if final:
            del self._stack[:-1]
            self._undoable = 0

    def leave(self, step: int) -> None:
        """Go back from a step to its parent."""
        while self.ready(step):
            state = self._stack[-1]
            if state.root == step:
                self._stack.pop()
            else:
                state.kept.undo(self._vertices)
                state.at = int(self._steps.parent[step])

    def release(self, step: int) -> Maintained | None:
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
