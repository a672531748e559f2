"""Ways to carry out the steps of several workers: by turns, by threads, in an order by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

from graphtide.engine.dataflow import worker_pool
from graphtide.engine.dataflow.machine import Machine
from graphtide.kernels.dataflow import layout
from tests.compiled import interpreted
from tests.dataflow.scenarios import Scenario

WAYS = ("turns", "threads", "chance")


class ByChance:
    """Carries out steps in one thread, from pause to pause, whoever's turn it is by chance."""

    def __init__(self, step: Callable[[int], int], machines: Sequence[Machine]) -> None:
        self._step = step
        self._machines = machines
        self._random = Random(len(machines))

    def step(self, workers: Sequence[int]) -> dict[int, int]:
        """Let some machines run on, and say how each ended."""
        waiting, found = list(workers), {}
        while waiting:
            worker = self._random.choice(waiting)
            self._machines[worker].stopping = True
            found[worker] = self._step(worker)
            if found[worker] != layout.PAUSED:
                waiting.remove(worker)
        return found

    def end(self) -> None:
        """There is nobody to stop."""


@contextmanager
def carried_out(way: str) -> Iterator[None]:
    """Let all crews carry out their steps in one way.

    By chance, a pause follows every operator, as far as kernels are interpreted.
    """
    changed: list[tuple[Any, str, Any]] = [
        (worker_pool, "MANY_ROWS", 1 << 60 if way == "turns" else 0),
        (worker_pool, "PATIENCE", 1e9 if way == "turns" else -1.0),
    ]
    if way == "chance":
        changed += [(worker_pool, "THREADS", ByChance)]
        changed += [(layout, "RUN_LENGTH", 1)] if interpreted() else []
    before = [(module, name, getattr(module, name)) for module, name, _ in changed]
    for module, name, value in changed:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def shared_by(scenario: Scenario, workers: int) -> Scenario:
    """The same scenario with so many workers."""
    return replace(scenario, settings=(*scenario.settings, ("workers", workers)))
