"""Seconds of the processor, without the garbage collector in between.

Everything that is measured runs on one thread and waits for nothing, so that on a quiet machine
the processor is busy for as long as the user waits; on a busy one, only the processor's time says
what the work costs. All threads of the process are counted. A process started from here is timed
by the wall clock instead.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect now, and not until the end."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


clock = time.process_time
"""The clock that everything here is measured by."""


def seconds_of(work: Callable[[], object]) -> float:
    """How long one call takes."""
    began = clock()
    work()
    return clock() - began


def wall_seconds_of(work: Callable[[], object]) -> float:
    """How long one waits for a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_of(work: Callable[[], object], rounds: int) -> float:
    """Median seconds of a call; one more before them warms up, and compiles."""
    work()
    with without_collector():
        return statistics.median(seconds_of(work) for _ in range(rounds))


def medians_in_turns(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The same of several, taken in turns, so that a busy machine is busy for all of them."""
    for work in works.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in works}
    with without_collector():
        for _ in range(rounds):
            for name, work in works.items():
                found[name].append(seconds_of(work))
    return {name: statistics.median(times) for name, times in found.items()}
