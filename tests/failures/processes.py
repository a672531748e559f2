"""A process of its own for what may end it."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

SECONDS = 120
"""Nothing takes so long; what does hangs."""


def forked(work: Callable[[Callable[[str], None]], None]) -> tuple[int, str]:
    """Do something in a process of its own; how it ended, and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        ended = 1
        try:
            os.close(reading)
            signal.alarm(SECONDS)
            work(lambda text: (os.write(writing, text.encode()), None)[1])
            ended = 0
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(ended)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        text = said.read().decode()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), text
