"""Where planning switches from one way to another, and how much memory each may take.

Up to `EXACT_VIEWS` views over a matrix of `MATRIX_CELLS` a collection is planned over all distances
between views, which takes memory in proportion to the square of the views. Beyond, views are runs
of classes, and the planner works out distances for candidates only. Before it begins, either way
estimates the memory that it will take, and refuses if there is less.
"""

from __future__ import annotations

from graphtide.model.errors import LimitError
from graphtide.model.memory import MEMORY_SETTING, available_bytes, in_words

EXACT_VIEWS = 5_000
"""All distances of 5,000 views take 100 MB, the tour beside them as much again; seconds in all.
Of 18,804 views they took 5.3 GB and 101 s."""

MATRIX_CELLS = 2**28
"""Planning holds three boolean copies of the matrix: 800 MB at this size."""

PACKED_BYTES = 2**29
"""Answers to all views on all signatures, packed; comparing rows needs them twice."""

ROWS_TIMES_VIEWS = 2**38
"""Views are evaluated on all signatures at a few GB/s: minutes at this size, hours beyond."""

SAMPLED_VIEWS = 64
"""Views whose runs are counted before those of all others are made."""

BYTES_A_VIEW, BYTES_A_CLASS, BYTES_A_BOUND = 4_000, 200, 80
"""What planning by runs takes, measured at 100,000 views of windows and outages, rounded up: the
steps of the plan and the candidates a view has, the tables over classes, and bounds sorted."""


def matrix_bytes(views: int, classes: int) -> int:
    """What planning over all distances takes: three matrices, and 20 bytes a pair of views."""
    return 3 * views * classes + 20 * views * views


def runs_bytes(views: int, classes: int, bounds: int) -> int:
    """What planning by runs takes."""
    return BYTES_A_VIEW * views + BYTES_A_CLASS * classes + BYTES_A_BOUND * bounds


def check_memory(needed: int, views: int, classes: int) -> None:
    """LimitError if planning would need more memory than there is; before it takes any."""
    there = available_bytes()
    if needed <= there:
        return
    raise LimitError(
        f"planning {views:,} views over {classes:,} classes of edges needs about "
        f"{in_words(needed)} of memory, and {in_words(there)} are available",
        hint="make several collections of fewer views, use coarser views, "
        f"or allow more with {MEMORY_SETTING}, such as {MEMORY_SETTING}=16G",
    )
