"""Threads that share the parts of a phase among them.

Kernels run without the interpreter's lock, so that threads of Python compute at the same time. The
thread that asks works too. A part is taken by whoever is free: which thread has it makes no
difference to what is computed. Where kernels are interpreted, threads would gain nothing, and the
parts are run one after the other.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from graphtide.kernels.jit import INTERPRETED

Part = TypeVar("Part")
Result = TypeVar("Result")


class Workers:
    """So many threads, until the block that holds them is left."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seconds = [0.0] * count
        """What each has taken of a processor for parts so far."""
        others = 0 if INTERPRETED else count - 1
        self._pool = ThreadPoolExecutor(others) if others else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def each(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """Do something with every part; results in the order of the parts.

        When this returns, everything is done: phases do not overlap. The first error is raised.
        """
        results: list[Any] = [None] * len(parts)
        places = itertools.count()

        def share(worker: int) -> None:
            began = time.thread_time()
            while (at := next(places)) < len(parts):
                results[at] = work(parts[at])
            self.seconds[worker] += time.thread_time() - began

        others = min(self.count, len(parts)) - 1
        if self._pool is None or others < 1:
            share(0)
            return results
        waiting = [self._pool.submit(share, worker) for worker in range(1, others + 1)]
        try:
            share(0)
        finally:
            errors = [item.exception() for item in waiting]
        for error in filter(None, errors):
            raise error
        return results
