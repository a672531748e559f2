"""A look at what tasks have written, twice a second, while they are at work.

What is seen is reported in a thread of its own. If the report raises, as one does that cancels the
work, the tasks are told to stop, and the error is raised where the caller waits for them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from graphtide.model.errors import GraphtideError
from graphtide.model.progress import Report

_LOOK_EVERY = 0.5


@contextlib.contextmanager
def watched(
    look: Callable[[], tuple[str, float]], report: Report, stop: Callable[[], object]
) -> Iterator[None]:
    """Look and report, as long as this lasts; what cannot be read yet is left to the next look.

    `stop` has the tasks end, within a second or so.
    """
    ended = threading.Event()
    raised: list[BaseException] = []

    def look_on() -> None:
        while not ended.wait(_LOOK_EVERY):
            try:
                stage, done = look()
            except (OSError, GraphtideError):
                continue
            try:
                report(stage, done)
            except BaseException as error:
                raised.append(error)
                with contextlib.suppress(OSError, GraphtideError):
                    stop()
                return

    watcher = threading.Thread(target=look_on, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if not raised:  # Tasks that are stopped may fail over it.
            raise
    finally:
        ended.set()
        watcher.join()
    if raised:
        raise raised[0]
