"""Who reads what is written: a person at a terminal or a notebook, or nobody."""

from __future__ import annotations

import sys

QUIET = "GRAPHTIDE_QUIET"
"""The variable of the environment that silences what is written while programs are compiled."""


def somebody_looks() -> bool:
    """True in a terminal and in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def is_worker() -> bool:
    """True in a Python process that Spark has started for its tasks."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return str(getattr(main, "name", "")).startswith("pyspark.")


def told_file(file: str) -> str:
    """A file as errors name it; a cell of a notebook has a made-up name, which tells nobody."""
    is_cell = "ipykernel_" in file or file.startswith("<ipython-input")
    return "this cell" if is_cell else file
