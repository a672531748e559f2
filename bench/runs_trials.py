"""A program over a collection, under each strategy in turns, computation alone.

Times are those that the process had a processor, so that other work on the machine does not count.
What is timed begins with a graph in memory of which nothing is live and ends with the differences
of all views in memory: neither planning, loading nor storing are part of it. A run that takes
too long is broken off: its ratio is then a bound, and its note says so. Results of a
few views are compared with plain loops over the edges of those views alone.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.runs_collections import Views
from bench.runs_programs import Task, plain_version
from graphtide.optimize.strategy import Move
from graphtide.run.collection.reading import Cursor, Differences
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.start import RunInHand
from graphtide.run.collection.versions import Versions
from graphtide.run.live.chosen_program import chosen_program
from graphtide.store.results import PartsInMemory

STRATEGIES = ("scratch", "differential", "adaptive")
CHECKED_VIEWS = 4
WORTH_REPEATING = 0.8
MOST_ROUNDS = 5
LIMIT = 12.0
ROUNDING = 1e-9


class BrokenOffError(Exception):
    """The run took longer than it may."""


@dataclass
class Took:
    """What a strategy took: seconds of each round, and how steps were reached in the last."""

    seconds: list[float] = field(default_factory=list)
    moves: Counter[str] = field(default_factory=Counter)
    finished: float = 1.0
    wrong: int = 0

    @property
    def median(self) -> float:
        """Median seconds; a bound from below where the run was broken off."""
        return statistics.median(self.seconds)

    @property
    def whole(self) -> bool:
        """False if the run was broken off."""
        return self.finished == 1.0


class Trial:
    """A task over versions. Compiles when it is made."""

    def __init__(self, views: Views, versions: Versions, task: Task) -> None:
        self.views = views
        self.task = task
        self.hands = [RunInHand(chosen_program(item, "auto"), versions) for item in task.programs]
        self._graph = versions.known.resident
        self._bases = [hand.base() for hand in self.hands]

    def times(self, strategies: Iterable[str], check: bool = True) -> dict[str, Took]:
        """Each strategy in turns, again and again where it is over soon."""
        found = {strategy: Took() for strategy in strategies}
        for turn in range(MOST_ROUNDS):
            for strategy, took in found.items():
                if not turn or sum(took.seconds) < WORTH_REPEATING:
                    self._run(strategy, took, check=check and not turn)
        return found

    def _run(self, strategy: str, took: Took, check: bool) -> None:
        took.seconds.append(0.0)
        took.moves.clear()
        for at, hand in enumerate(self.hands):
            parts, settings = PartsInMemory(), _limited(LIMIT / len(self.hands))
            chooser: Any = hand.chooser(strategy)  # type: ignore[arg-type]
            gc.collect()
            began = time.process_time()
            with contextlib.suppress(BrokenOffError):
                hand.run(self._bases[at], parts, chooser, settings)
            took.seconds[-1] += time.process_time() - began
            differences = Differences(parts, hand.chosen.fields)
            took.finished = min(took.finished, differences.finished / len(hand.steps))
            codes = differences.record.column("move").to_pylist() if differences.record else []
            took.moves.update(Move(code).strategy for code in codes)
            if check:
                took.wrong += self._wrong_values(at, differences)
            self.rewind()

    def time(self, at: int, chooser: Any) -> float:
        """Seconds of one of the task's runs as a chooser wants it."""
        gc.collect()
        began = time.process_time()
        self.hands[at].run(self._bases[at], PartsInMemory(), chooser, RunSettings())
        seconds = time.process_time() - began
        self.rewind()
        return seconds

    def rewind(self) -> None:
        """Make no edge live again, in place: taking them out one by one would mix the slabs up."""
        self._graph.clear()

    def _wrong_values(self, at: int, differences: Differences) -> int:
        """Values of a few views that differ from those of a plain loop."""
        hand, wrong = self.hands[at], 0
        cursor = Cursor(hand.steps, differences, self._bases[at])
        finished = np.flatnonzero(hand.steps.view[: differences.finished] >= 0)
        places = np.linspace(0, len(finished) - 1, CHECKED_VIEWS).astype(np.int64)
        for step in np.unique(finished[places]).tolist() if len(finished) else ():
            view = int(hand.steps.names[hand.steps.view[step]])
            right = self.task.checks[at](plain_version(self.views.graph, self.views.held(view)))
            found = cursor.values(step)[hand.chosen.fields[0]]
            wrong += int((~_close(found, right)).sum())
        return wrong


def _close(found: Any, right: Any) -> Any:
    if found.dtype.kind != "f":
        return found == right
    return (found == right) | np.isclose(found, right, rtol=ROUNDING, atol=0.0)


def _limited(seconds: float) -> RunSettings:
    """A run that ends soon after so many seconds."""
    ends = time.process_time() + seconds

    def report(stage: str, done: float | None = None) -> None:
        if time.process_time() > ends:
            raise BrokenOffError

    return RunSettings(report=report)
