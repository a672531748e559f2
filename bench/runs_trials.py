"""A program over a collection, under each strategy in turns, as users call it.

What is timed is the whole call of `collection.run`, with the program compiled: making the graph of
the run, the walk along the plan, and keeping the results of every view in memory. Planning is not
part of it. Times are those that the process had a processor, so that other work on the machine does
not count. A run that takes too long is broken off: its ratio is then a bound, and its note says
so. Results of a few views are compared with plain loops over the edges of those views alone.
"""

from __future__ import annotations

import signal
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import graphtide as gt
from bench.runs_collections import Views
from bench.runs_programs import Task, plain_version
from bench.timing import clock, without_collector

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
    whole: bool = True
    wrong: int = 0

    @property
    def median(self) -> float:
        """Median seconds; a bound from below where the run was broken off."""
        return statistics.median(self.seconds)


def time_strategies(
    views: Views, task: Task, strategies: Iterable[str], quick: bool = False
) -> dict[str, Took]:
    """Each strategy in turns, again and again where it is over soon; a first round compiles.

    A quick run has neither that round nor a second one.
    """
    found = {strategy: Took() for strategy in strategies}
    for strategy in () if quick else found:
        _run(views, task, strategy)
    for turn in range(1 if quick else MOST_ROUNDS):
        for strategy, took in found.items():
            if took.whole and (not turn or sum(took.seconds) < WORTH_REPEATING):
                _time(views, task, strategy, took)
    return found


def _time(views: Views, task: Task, strategy: str, took: Took) -> None:
    with without_collector():
        began = clock()
        run = _run(views, task, strategy)
        took.seconds.append(clock() - began)
    took.whole = run is not None
    if run is not None:
        took.moves = Counter(run.record()["strategy"].to_pylist())
        if len(took.seconds) == 1:
            took.wrong = _wrong_values(views, task, run)


def _run(views: Views, task: Task, strategy: str) -> gt.Run | None:
    """The run, or None where it took longer than it may."""
    try:
        with _limited(LIMIT):
            run: gt.Run = views.collection.run(task.program, strategy=strategy, progress=False)
            return run
    except BrokenOffError:
        return None


def _wrong_values(views: Views, task: Task, run: gt.Run) -> int:
    """Values of a few views that differ from those of a plain loop."""
    wrong = 0
    for view in np.unique(np.linspace(0, len(views) - 1, CHECKED_VIEWS).astype(int)).tolist():
        right = task.check(plain_version(views.graph, views.held(view)))
        wrong += int((~_close(run.values(view, task.field), right)).sum())
    return wrong


def _close(found: Any, right: Any) -> Any:
    if found.dtype.kind != "f":
        return found == right
    return (found == right) | np.isclose(found, right, rtol=ROUNDING, atol=0.0)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Break off what has had the processor for so many seconds."""

    def end(*_: object) -> None:
        raise BrokenOffError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
