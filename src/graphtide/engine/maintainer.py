"""What every maintainer offers to the owner of its graph.

The owner flips edges and lets the graph grow; maintainers follow. One graph can so have any
number of them. Alone with a graph, a maintainer's own `advance` and `rollback` do both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change

Int32 = NDArray[np.int32]


class Maintainer(Protocol):
    """A program on a graph in memory, with its state."""

    touched: int
    """Edges that the last repair looked at."""

    @property
    def kernels(self) -> Any:
        """The compiled module of the program."""

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""

    def scratch(self) -> Mapping[str, NDArray[Any]]:
        """The values of the graph's present version by state field, at full speed.

        Keeps nothing for maintenance, needs no `start` and leaves the maintainer's state alone.
        The arrays are the caller's: later calls do not write to them.
        """

    def repair(self, inserted: Int32, deleted: Int32) -> Change | Mapping[str, Change]:
        """Follow a graph that has been flipped, and may have got vertices; says what changed.

        After a GraphtideError the state is as it was before.
        """

    def restore(self) -> object:
        """Undo the last repair; the graph is brought back by its owner."""

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""

    def verify(self) -> None:
        """Compare with a run from scratch; AssertionError at the first difference."""


def field_values(maintainer: Any, name: str) -> NDArray[Any]:
    """A state field of every vertex; a view of the state, not a copy."""
    values = maintainer.values
    found: NDArray[Any] = values(name) if callable(values) else values
    return found
