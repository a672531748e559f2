"""What an advance of fixpoint mode changed, kept for the way back.

A repair is undone by its log. Where a component was renamed, its members are listed beside it;
where everything was run from scratch, the values that came out otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.engine.fixpoint.state import Roots, VertexState
from graphtide.kernels.fixpoint.records import LABEL, NEW_LABEL, NOW, ChangeLog

Int32 = NDArray[np.int32]


class Rerun(NamedTuple):
    """What a run from scratch replaced: values that came out otherwise, and the roots of all."""

    vertices: Int32
    values: NDArray[Any]
    roots: Roots | None


class Renamed(NamedTuple):
    """What a repair replaced that renamed a component: a label, and the others by its log."""

    members: Int32
    label: int
    log: ChangeLog


class Done(NamedTuple):
    """A repair, or a run in its place, that can be undone; `what` is None if it changed nothing."""

    what: ChangeLog | Renamed | Rerun | None
    vertices: int


def renamed(
    state: VertexState, log: ChangeLog, changed: int, orders: NDArray[np.int64]
) -> tuple[Renamed, Change]:
    """A repair that renamed a component; and what it changed.

    Who has the new label and was not logged had the old one; so many first entries of the log
    tell of all others whose value changed.
    """
    values, old, new = state.values, int(orders[LABEL]), int(orders[NEW_LABEL])
    unlogged = state.record.stamp != orders[NOW]
    members = np.flatnonzero(unlogged & (values == new)).astype(np.int32)
    vertices, same = log.vertex[:changed], np.full(len(members), old, values.dtype)
    change = Change(
        np.concatenate([members, vertices]),
        np.concatenate([same, log.value[:changed]]),
        np.concatenate([np.full_like(same, new), values[vertices]]),
    )
    return Renamed(members, old, log), change


def undo(state: VertexState, what: ChangeLog | Renamed | Rerun | None) -> None:
    """Put back what an advance changed. O(what it changed)."""
    if isinstance(what, Renamed):
        state.values[what.members] = what.label
        state.put_back(what.log)
    elif isinstance(what, Rerun):
        state.values[what.vertices] = what.values
        state.put_roots(what.roots)
    elif what is not None:
        state.put_back(what)
