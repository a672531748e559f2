"""What holds one graph or dataflow together: one call at a time, and no copy in another process.

Kernels run without Python's own lock, and an advance is many of them: two at once would each undo
what the other relies on. So a call waits until the one before it is done, and sees one version,
whole. Two kinds of calls come from the thread that is already inside and cannot wait: functions of
Python that a program calls, and handlers of signals. These are refused while a version is made.

A change that is stopped where nobody knows how far it has come, as by memory that ends, and cannot
be undone, leaves the object unusable: every call from then on is refused, so that a wrong state is
neither shown nor stored.

`StaysHere` is for objects that hold compiled code, its memory or a connection: they cannot be
pickled.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from signal import SIGINT
from types import FrameType
from typing import Any, ClassVar, Concatenate, NoReturn, ParamSpec, SupportsIndex, TypeVar

from graphtide.model.errors import (
    MEMORY_ENDED,
    GraphtideError,
    InputError,
    SetupError,
    UnusableError,
)

try:  # The functions behind those of `signal`, which look every handler up among names: 10 us.
    from _signal import getsignal as get_handler  # type: ignore[import-not-found]
    from _signal import signal as set_handler
except ImportError:
    from signal import getsignal as get_handler
    from signal import signal as set_handler

Inputs = ParamSpec("Inputs")
Output = TypeVar("Output")


class CallLock:
    """Lets one thread at a time call an object; errors call the object `what`.

    `lock` is held during a call, and `moving` as well while a version is made. Both are locks of
    Python's own, which no interrupt leaves locked behind: neither has a line that it could stop at.

    Whoever changes the object sets `unusable` first, and takes it back when all is done or undone:
    setting it takes no memory.
    """

    def __init__(self, what: str) -> None:
        self.lock = threading.RLock()
        self.moving = threading.Lock()
        self.unusable = False
        self.called = False
        """Whether a call is under way, which may make others."""
        self._what = what

    def check(self) -> None:
        """Refuse a call from within the advance that is under way, which would wait for itself;
        and every call where a change was stopped and not undone.
        """
        if self.moving.locked():
            raise InputError(
                f"{self._what} is between two versions",
                hint="a function that it calls, or the handler of a signal, cannot use it: "
                "note what there is to do, and do it after the advance",
            )
        if self.unusable:
            raise UnusableError(
                f"{self._what} is unusable: a change was stopped in the middle, most likely "
                "because memory ran out, and could not be undone",
                hint="make it again; a live graph has lost nothing: close it, and open it again",
            )

    def no_memory(self) -> SetupError:
        """The error for a call that memory ended in."""
        return SetupError(
            "there is no memory for this call",
            where=self._what,
            hint="free memory, or work on fewer rows at a time; a change is done as a whole or "
            "not at all, or the next call says that the graph is unusable",
        )


def in_turn(
    method: Callable[Concatenate[Any, Inputs], Output],
) -> Callable[Concatenate[Any, Inputs], Output]:
    """Make a method wait until its object's `_turns` let it run.

    Where memory ends in it, a SetupError says so. Calls within calls raise what Python does: there
    an error of ours would mean that nothing has been done.
    """

    @functools.wraps(method)
    def waiting(self: Any, /, *given: Inputs.args, **named: Inputs.kwargs) -> Output:
        turns: CallLock = self._turns
        with turns.lock:
            if turns.unusable or turns.moving.locked():
                turns.check()
            if turns.called:
                return method(self, *given, **named)
            try:
                turns.called = True
                return method(self, *given, **named)
            except MEMORY_ENDED as error:
                raise turns.no_memory() from error
            finally:
                turns.called = False

    return waiting


class changing:  # noqa: N801 (reads as a word of the language)
    """A change that is done as a whole, or refused by a GraphtideError with nothing done.

    What else stops it leaves the object unusable.
    """

    def __init__(self, turns: CallLock) -> None:
        self._turns = turns
        self._before = turns.unusable

    def __enter__(self) -> None:
        self._turns.unusable = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, GraphtideError):
            self._turns.unusable = self._before


class uninterrupted(ContextDecorator):  # noqa: N801 (reads as a word of the language)
    """Let an interrupt from the keyboard wait until the block is done.

    For what is short and leaves things in disorder where it stops in the middle. Interrupts reach
    the main thread only, so that all others have nothing to do.
    """

    def __enter__(self) -> None:
        self._before: Any = None
        self._came: list[tuple[int, FrameType | None]] = []
        before = get_handler(SIGINT)
        if callable(before):
            try:
                set_handler(SIGINT, self._wait)
            except ValueError:  # Python says so in every thread but the main one.
                return
            self._before = before

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        set_handler(SIGINT, self._before)
        if self._came:
            self._before(*self._came[0])

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._came.append((number, frame))


class StaysHere:
    """Refuses to be pickled, copied or sent to another process; `_instead` says what to do."""

    _instead: ClassVar[str]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        what = type(self).__name__
        raise InputError(
            f"{what} objects stay in their process: they cannot be pickled or copied",
            hint=self._instead,
        )


class StaysInDataflow(StaysHere):
    """A dataflow, or what reads from it."""

    _instead = "send what it puts out, such as output.records(), or build another dataflow there"
