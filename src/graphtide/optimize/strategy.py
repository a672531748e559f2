"""The ways to reach the next version of a run, and what decides between them.

A version is reached from scratch, or differentially from its parent. The runner
asks a chooser step by step, or for many steps at once, and reports what each took, perhaps a few
steps later; nothing here runs anything. The two choosers that always do the same are here; the one
that learns is in `adaptive`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Move(IntEnum):
    """The ways to reach a step.

    FOLLOW the delta from a state at the parent; RESTART: make that state first, then follow;
    SPLIT: from scratch, with a state to go on from; PASS: from scratch, leaving no state.
    """

    FOLLOW = 0
    RESTART = 1
    SPLIT = 2
    PASS = 3

    @property
    def strategy(self) -> str:
        """`differential` or `scratch`."""
        return "differential" if self <= Move.RESTART else "scratch"

    @property
    def state(self) -> str:
        """What became of the state: `kept`, `rebuilt`, `fresh` or `none`."""
        return ("kept", "rebuilt", "fresh", "none")[self]


class Prices(NamedTuple):
    """What is known, before anything runs, of a program whose states are dear.

    In units of what a run from scratch takes a vertex and edge: to begin a state, for each vertex
    and edge; to follow a delta, for each step and for each edge of it.
    """

    state: float
    step: float
    edge: float


@dataclass(frozen=True)
class StepSizes:
    """What is known of all steps of a plan before anything runs.

    `version` is the size of each version (vertices and edges), `delta` that of its delta, `end`
    the first step behind its subtree; `start` is the size of the empty version. `free` marks
    the stepping stones that a run from scratch passes without computing anything. `spreads` tells
    that the program adds up: what changes in one place changes nearly everything, a few rounds on.
    `prices` are given where a state costs many times what a run from scratch does.
    """

    version: NDArray[np.int64]
    delta: NDArray[np.int64]
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    start: int
    free: NDArray[np.bool_] | None = None
    spreads: bool = False
    prices: Prices | None = None


class Observation(NamedTuple):
    """What a step took, its flips included: starting a state or running from scratch; following."""

    move: Move
    started: float
    followed: float


class Chooser(ABC):
    """Decides how steps are reached, one after the other. Unless it says so, it learns nothing."""

    @abstractmethod
    def choose(self, step: int, ready: bool) -> Move:
        """The way to take; `ready` tells that there is a state at the parent.

        Of steps that run from scratch together, all are asked for before `observe` hears of one.
        """

    def predict(self, step: int) -> tuple[float, float]:
        """Seconds differentially and from scratch as expected now; NaN where nothing is known."""
        return np.nan, np.nan

    def observe(self, step: int, seen: Observation) -> None:  # noqa: B027
        """Learn how a step went; the runner calls this after every step."""

    def certain(self, step: int, behind: int) -> int:
        """How many steps, from this one on and before `behind`, are followed without asking.

        There is a state at the parent of the first one.
        """
        return 0

    def observe_stretch(self, step: int, seconds: NDArray[np.float64]) -> None:  # noqa: B027
        """Learn what each of the steps took that the runner followed without asking."""

    def observe_stuck(self, step: int) -> None:  # noqa: B027
        """Learn that a stretch ended before this step: following it would look at too much."""


class AlwaysScratch(Chooser):
    """Every step from scratch, and no state anywhere."""

    def choose(self, step: int, ready: bool) -> Move:
        return Move.PASS


class AlwaysDifferential(Chooser):
    """The first step from scratch, every other one from its parent."""

    def choose(self, step: int, ready: bool) -> Move:
        """FOLLOW where there is a state."""
        if ready:
            return Move.FOLLOW
        return Move.SPLIT if step == 0 else Move.RESTART


class AlwaysTogether(AlwaysDifferential):
    """The same for stretches: the runner asks it only where there is no state."""

    def certain(self, step: int, behind: int) -> int:
        return behind - step
