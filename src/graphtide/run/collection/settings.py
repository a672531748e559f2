"""How a run is kept and watched, whoever makes its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphtide.model.progress import Report, silent

ALONE = "this process"
"""Who makes the steps of a run that has one worker."""

KEEP_EVERY = 1.0


@dataclass(frozen=True)
class RunSettings:
    """How a run is kept and watched.

    `verify`: every so many views, compare with a plain run from scratch; `seen` views before the
    first one count. `keep_every`: seconds between parts. `kept` is told the number of finished
    steps whenever they have been kept. `go_on` is called between steps, and raises to end the run.
    `worker` is who makes them, of which `sub_plan`, and `since` when it began with that (seconds of
    the epoch, and of its processor time).
    """

    verify: int | None = None
    seen: int = 0
    keep_every: float = KEEP_EVERY
    report: Report = silent
    kept: Callable[[int], None] = lambda finished: None
    go_on: Callable[[], None] = lambda: None
    worker: str = ALONE
    sub_plan: int = 0
    since: tuple[float, float] | None = None
