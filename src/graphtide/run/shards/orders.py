"""A run on shards as its tasks are told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.catalog.spark_tasks import this_code
from graphtide.run.collection.facts import Strategy
from graphtide.run.live.programs import Bound


@dataclass(frozen=True)
class ShardOrder:
    """A run on shards as its tasks are told of it.

    `views` are the classes that are live at each step of its plan; `secret` is known to its tasks
    alone. Steps before `first` are finished. Where a program can, a view follows the one before it
    if that is worth it, never or always, as the strategy says.
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
    made_by: str = field(default_factory=lambda: this_code())
