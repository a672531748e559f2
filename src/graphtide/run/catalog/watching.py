"""A look at what tasks have written, twice a second, while they are at work."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from graphtide.model.errors import GraphtideError

_LOOK_EVERY = 0.5


@contextlib.contextmanager
def watched(look: Callable[[], None]) -> Iterator[None]:
    """Look, as long as this lasts; what cannot be read yet is left to the next look."""
    ended = threading.Event()

    def look_on() -> None:
        while not ended.wait(_LOOK_EVERY):
            with contextlib.suppress(OSError, GraphtideError):
                look()

    watcher = threading.Thread(target=look_on, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
