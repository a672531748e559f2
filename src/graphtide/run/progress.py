"""Progress on long work: one line in a terminal or notebook, nothing where nobody looks.

Work reports `(stage, share done or None)`. What lasts less than a second shows nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graphtide.model.errors import InputError
from graphtide.model.progress import Progress, ProgressReport, silent, somebody_looks
from graphtide.model.text import visible

_PATIENCE = 1.0


@contextmanager
def shown(title: str, *, enabled: Progress = None) -> Iterator[ProgressReport]:
    """A progress line under the title, from the second second on.

    `enabled=None` shows it where standard error is a terminal or a notebook. A function hears all
    reports at once, and nothing is shown.
    """
    if callable(enabled):
        yield enabled
        return
    if enabled not in (True, False, None):
        raise InputError(
            f"progress cannot be {enabled!r}",
            hint="give True, False, or a function of two: the stage, and the share done or None",
        )
    if enabled is False or (enabled is None and not somebody_looks()):
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(visible(title), total=None)
    starter = threading.Timer(_PATIENCE, bar.start)
    starter.daemon = True

    def report(stage: str, done: float | None = None) -> None:
        total = None if done is None else 1.0
        described = visible(f"{title}: {stage}")
        bar.update(task, description=described, total=total, completed=done or 0.0)

    starter.start()
    try:
        yield report
    finally:
        starter.cancel()
        bar.stop()
