"""What an advance of fixpoint mode changed, kept for the way back.

A repair is undone by its log. Where a component was renamed, or everything was run from scratch,
the values that came out otherwise are listed beside what else is to be put back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.fixpoint_state import Roots, VertexState
from graphtide.kernels.fixpoint_records import ChangeLog

Int32 = NDArray[np.int32]


class Rerun(NamedTuple):
    """What a run from scratch replaced: values that came out otherwise, and the roots of all."""

    vertices: Int32
    values: NDArray[Any]
    roots: Roots | None


class Renamed(NamedTuple):
    """What a repair replaced that renamed a component: values, and the roots in its log."""

    vertices: Int32
    values: NDArray[Any]
    log: ChangeLog


class Done(NamedTuple):
    """A repair, or a run in its place, that can be undone; `what` is None if it changed nothing."""

    what: ChangeLog | Renamed | Rerun | None
    vertices: int
    inserted: Int32
    deleted: Int32


def renamed(state: VertexState, log: ChangeLog, before: int, after: int) -> tuple[Renamed, Change]:
    """A repair after which the component of one label has another one; and what it changed.

    Who has the label then had the other one before, but for those in the log.
    """
    values = state.values
    old = np.where(values == after, before, values)
    old[log.vertex] = log.value
    moved = np.flatnonzero(values != old).astype(np.int32)
    were = old[moved]
    return Renamed(moved, were, log), Change(moved.copy(), were.copy(), values[moved])


def undo(state: VertexState, what: ChangeLog | Renamed | Rerun | None) -> None:
    """Put back what an advance changed. O(what it changed)."""
    if isinstance(what, Renamed | Rerun):
        state.values[what.vertices] = what.values
    if isinstance(what, Renamed):
        state.put_back(what.log)
    elif isinstance(what, Rerun):
        state.put_roots(what.roots)
    elif what is not None:
        state.put_back(what)
