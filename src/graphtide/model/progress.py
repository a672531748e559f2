"""How work that takes long reports what it does; `run.progress` shows the reports."""

from __future__ import annotations

from typing import Protocol, TypeAlias


class Report(Protocol):
    """Called with the stage that work has reached, and the share that is done if that is known."""

    def __call__(self, stage: str, done: float | None = None) -> None:
        """Called at the start of each stage."""


Progress: TypeAlias = bool | Report | None
"""Who hears of progress: True and False force a line on or off, None is for whoever looks, and a
function is called instead of showing a line. It may be called in another thread than the one that
asked for the work, but never by two at once; what it raises ends the work as Ctrl-C does.
"""


def silent(stage: str, done: float | None = None) -> None:
    """A report that nobody reads."""
