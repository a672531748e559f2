"""What one waits for of a run by several threads: processor time of those who come last."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Waited:
    """Processor time that somebody waits for, and the clock."""

    def __init__(self) -> None:
        self.threads: list[float] = []
        self.asking = self.clock = 0.0

    @property
    def seconds(self) -> float:
        """Who asked, and the busiest of the threads."""
        return self.asking + max(self.threads, default=0.0)


@contextmanager
def waiting() -> Iterator[Waited]:
    """Watch this thread, and all that are begun in the block."""
    found, plain = Waited(), threading.Thread.run

    def watched(thread: threading.Thread) -> None:
        try:
            plain(thread)
        finally:
            found.threads.append(time.thread_time())

    threading.Thread.run = watched  # type: ignore[assignment,method-assign]
    asked, began = time.thread_time(), time.perf_counter()
    try:
        yield found
    finally:
        threading.Thread.run = plain  # type: ignore[method-assign]
        found.asking = time.thread_time() - asked
        found.clock = time.perf_counter() - began
