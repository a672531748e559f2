"""One call at a time on what several threads hold: a graph in memory, or dataflows of one clock.

Kernels run without Python's own lock, and an advance is many of them: two at once would each undo
what the other relies on. So a call waits until the one before it is done, and sees one version,
whole. Two kinds of calls come from the thread that is already inside and cannot wait: functions of
Python that a program calls, and handlers of signals. These are refused while a version is made.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Concatenate, ParamSpec, TypeVar

from graphtide.model.errors import InputError

Inputs = ParamSpec("Inputs")
Output = TypeVar("Output")


class Turns:
    """Whose turn it is. `what` is the thing that is taken turns at, for errors."""

    def __init__(self, what: str) -> None:
        self.lock = threading.RLock()
        self._what = what
        self._moving = False

    def __enter__(self) -> None:
        self.lock.acquire()
        if self._moving:
            self.lock.release()
            raise InputError(
                f"{self._what} is between two versions",
                hint="a function that it calls, or the handler of a signal, cannot use it: "
                "note what there is to do, and do it after the advance",
            )

    def __exit__(self, *_: object) -> None:
        self.lock.release()

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Make a version: nobody sees what is there until then."""
        with self:
            self._moving = True
            try:
                yield
            finally:
                self._moving = False


def in_turn(
    method: Callable[Concatenate[Any, Inputs], Output],
) -> Callable[Concatenate[Any, Inputs], Output]:
    """A method that waits for its turn, at the `_turns` of its object."""

    @functools.wraps(method)
    def waiting(self: Any, /, *given: Inputs.args, **named: Inputs.kwargs) -> Output:
        with self._turns:
            return method(self, *given, **named)

    return waiting


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt from the keyboard wait until the block is done.

    For what is short and leaves things in disorder where it stops in the middle. Interrupts reach
    the main thread only, so that all others have nothing to do.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[0])
