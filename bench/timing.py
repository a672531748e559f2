"""Seconds by the clock, single-threaded, without the garbage collector in between."""

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


def seconds_of(work: Callable[[], object]) -> float:
    """How long one call takes."""
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
