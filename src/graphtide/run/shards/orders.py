"""What the driver sends to the tasks of a run on shards."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.catalog.spark_tasks import this_code
from graphtide.run.collection.facts import Strategy
from graphtide.run.live.programs import Bound

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


@dataclass(frozen=True)
class ShardOrder:
    """A run on shards as its tasks are told of it.

    `views` are the classes that are live at each step of its plan; `secret` is known to its tasks
    alone. Steps before `first` are finished. Where a program can, a view follows the one before it
    if that is worth it, never or always, as the strategy says; the first one goes on from what was
    `before`, if anything was. Where `states` are asked for, the last view keeps those it ends with.
    """

    folder: Path
    run: str
    checksum: str
    collection: str
    shards: str
    program: Bound
    parameters: tuple[Any, ...]
    views: tuple[NDArray[np.bool_], ...]
    first: int
    strategy: Strategy
    keep_every: float
    secret: bytes = field(repr=False)
    before: StatesBefore | None = None
    states: bool = False
    made_by: str = field(default_factory=lambda: this_code())
