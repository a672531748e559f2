"""How work that takes long reports what it does; `api.progress` shows the reports."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """Called with the stage that work has reached, and the share that is done if that is known."""

    def __call__(self, stage: str, done: float | None = None) -> None:
        """Called at the start of each stage."""


def silent(stage: str, done: float | None = None) -> None:
    """A report that nobody reads."""
