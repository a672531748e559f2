"""Says once that machine code is being made, so that nobody wonders what takes so long.

A kernel is compiled at its first use and then found on disk. That takes seconds, in places where
users do not expect them: the first line that asks for a result. So once our kernels have been
compiling for a second, a line says so, and in the log `graphtide`. Where nobody looks, in a pipe or
a job, it takes two, and workers of Spark say nothing, since there are many. Nothing is said of what
is found on disk, nor of kernels that are not ours, nor where GRAPHTIDE_QUIET is set.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from graphtide.model.progress import QUIET, is_worker, somebody_looks

_PATIENCE = 1.0
_PATIENCE_UNSEEN = 2.0
_log = logging.getLogger("graphtide")


class FirstUse:
    """Adds up the time that our kernels take to compile, and speaks once that is long."""

    def __init__(self, folder: Path, ours: str = "graphtide") -> None:
        self._folder = folder
        self._ours = ours
        self._depth = 0
        self._spent = self._began = 0.0
        self._timer: threading.Timer | None = None
        self.said = False

    def begin(self, module: str) -> None:
        """A function of a module is being compiled; those that it calls come within."""
        if self.said or not (self._depth or module.startswith(self._ours)):
            return
        self._depth += 1
        if self._depth == 1:
            self._began = time.monotonic()
            patience = _PATIENCE if somebody_looks() else _PATIENCE_UNSEEN
            self._timer = threading.Timer(max(0.0, patience - self._spent), self._say)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """The function that was begun last is compiled."""
        if not self._depth:
            return
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._began
            assert self._timer is not None
            self._timer.cancel()

    def _say(self) -> None:
        self.said = True
        _log.info("compiling, which takes some seconds at the first use; kept in %s", self._folder)
        if not os.environ.get(QUIET) and not is_worker():
            print(
                "graphtide: compiling, which takes some seconds at the first use; "
                f"kept in {self._folder}",
                file=sys.stderr,
                flush=True,
            )


def tell_of_first_use(folder: Path) -> None:
    """Watch Numba compile, from now on; a version that tells nothing of it is not watched."""
    try:
        from numba.core import event
    except ImportError:
        return
    first_use = FirstUse(folder)

    class Listener(event.Listener):
        """Hands on what Numba tells of compiling."""

        def on_start(self, event: Any) -> None:
            first_use.begin(event.data["dispatcher"].py_func.__module__)

        def on_end(self, event: Any) -> None:
            first_use.end()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
