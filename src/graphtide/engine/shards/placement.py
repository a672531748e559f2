"""Which shard a vertex is in, which task has the shard, and what number the vertex has there.

The shard of a vertex is the remainder of its number by the number of shards: vertices of many edges
often have numbers near each other, and are spread so. The number of shards is fixed when they are
made; tasks take consecutive ones, as many as there are tasks at the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """So many vertices in so many shards, which so many tasks hold."""

    vertices: int
    shards: int
    tasks: int

    @cached_property
    def task_of(self) -> Int32:
        """The task of each shard."""
        return (np.arange(self.shards, dtype=np.int64) * self.tasks // self.shards).astype(np.int32)

    @cached_property
    def sizes(self) -> Int64:
        """How many vertices each shard has."""
        shard = np.arange(self.shards, dtype=np.int64)
        return np.maximum(0, (self.vertices - shard + self.shards - 1) // self.shards)

    @cached_property
    def first(self) -> Int64:
        """The number that the first vertex of each shard has in its task."""
        behind = np.cumsum(self.sizes)
        begins = behind - self.sizes
        tasks = self.task_of
        first_of_task = np.searchsorted(tasks, np.arange(self.tasks))
        offset = begins[np.minimum(first_of_task, self.shards - 1)]
        return np.asarray(begins - offset[tasks], np.int64)

    def shards_of(self, task: int) -> NDArray[np.intp]:
        """The shards of a task, none where there are more tasks than shards."""
        return np.flatnonzero(self.task_of == task)

    def owners(self, vertices: NDArray[Any]) -> Int32:
        """The tasks of some vertices."""
        owners: Int32 = self.task_of[vertices % self.shards]
        return owners

    def local(self, vertices: NDArray[Any]) -> Int64:
        """The numbers of some vertices in the tasks that own them."""
        numbers: Int64 = self.first[vertices % self.shards] + vertices // self.shards
        return numbers

    def owned(self, task: int) -> Int64:
        """The vertices of a task in the order of its own numbers."""
        shards = self.shards_of(task).tolist()
        made = [s + self.shards * np.arange(self.sizes[s], dtype=np.int64) for s in shards]
        return np.concatenate([np.empty(0, np.int64), *made])
