"""What the driver sends to the tasks of a run on shards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.catalog.spark_tasks import RunOrder

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Sources and destinations of some edges, each vertex once."""


@dataclass(frozen=True)
class StatesBefore:
    """The states that an earlier run ended with, in files of the run, and what has changed since.

    There were so many vertices and shards; each file has the shards of a span, one of them behind
    the other. `lost` and `gained` are the ends of edges that went or came, and of those that have
    changed.
    """

    vertices: int
    shards: int
    spans: tuple[tuple[int, int], ...]
    lost: Ends
    gained: Ends


@dataclass(frozen=True, kw_only=True)
class ShardOrder(RunOrder):
    """What the driver sends to tasks that run views together.

    `views` are the classes that are live at each step of its plan; `secret` is known to its tasks
    alone. Steps before `first` are finished. Where a program can, a view follows the one before it
    if that is worth it, never or always, as the strategy says; the first one goes on from what was
    `before`, if anything was. Where `states` are asked for, the last view keeps those it ends with.
    `removed` are the vertices that each step is without.
    """

    shards: str
    parameters: tuple[Any, ...]
    views: tuple[NDArray[np.bool_], ...]
    first: int
    secret: bytes = field(repr=False)
    before: StatesBefore | None = None
    states: bool = False
    removed: tuple[tuple[int, ...], ...] = ()
