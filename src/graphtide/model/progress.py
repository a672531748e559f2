"""How long work reports its progress, and whether anybody reads what we write.

`run.progress` shows the reports: to a person at a terminal or in a notebook, and to nobody in the
Python processes that Spark starts for its tasks.
"""

from __future__ import annotations

import sys
from typing import Protocol, TypeAlias


class ProgressReport(Protocol):
    """Called with the stage that work has reached, and the share that is done if that is known."""

    def __call__(self, stage: str, done: float | None = None) -> None: ...


Progress: TypeAlias = bool | ProgressReport | None
"""Who hears of progress: True and False force a line on or off, None is for whoever looks, and a
function is called instead of showing a line. It may be called in another thread than the one that
asked for the work, but never by two at once; what it raises ends the work as Ctrl-C does.
"""


def silent(stage: str, done: float | None = None) -> None:
    """The report that does nothing."""


QUIET = "GRAPHTIDE_QUIET"
"""The variable of the environment that silences what is written while programs are compiled."""


def somebody_looks() -> bool:
    """True if a person can see our messages: in a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def is_worker() -> bool:
    """True in a Python process that Spark has started for its tasks."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return str(getattr(main, "name", "")).startswith("pyspark.")


def told_file(file: str) -> str:
    """A file as errors name it; a cell of a notebook has a made-up name: "this cell"."""
    is_cell = "ipykernel_" in file or file.startswith("<ipython-input")
    return "this cell" if is_cell else file
