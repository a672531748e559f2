"""A task at one view of a run on shards: it runs it with all others, and keeps what it found."""

from __future__ import annotations

import os
import socket
from time import monotonic, process_time, time
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import change_between
from graphtide.engine.shards.following import Before, Following
from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.engine.shards.supersteps import Keeping, Supersteps
from graphtide.run.catalog.spark_tasks import StoppedError
from graphtide.run.live.arrow_columns import arrow_column
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.orders import ShardOrder
from graphtide.run.shards.summing import Summing
from graphtide.run.shards.timeline import Timeline
from graphtide.store.supersteps import KeptSupersteps, TaskFiles

_LOOK_EVERY = 1.0
_SHARE = 20
"""A task keeps a superstep at most once in this many times what keeping the last one took."""


class TaskView:
    """A task at one view."""

    def __init__(
        self,
        order: ShardOrder,
        kept: KeptSupersteps,
        graph: LocalGraph,
        steps: Supersteps,
        files: TaskFiles,
        step: int,
        mesh: Sockets,
    ) -> None:
        self._order, self._kept = order, kept
        self._graph, self._steps = graph, steps
        self._files, self._step, self._mesh = files, step, mesh
        self._looked = self._last = monotonic()
        self._took = 0.0
        self._superstep = 0
        self._follows = False
        self._timeline = Timeline(lambda: mesh.waited)

    def run(
        self,
        following: Following,
        base: dict[str, Any],
        begun: tuple[tuple[int, NDArray[np.int64]] | None, bool, Before | None],
        summing: Summing,
    ) -> None:
        """Run the program, and keep its results.

        `begun` is what was kept of the view, whether it followed then, and an earlier run's end.
        """
        start, followed, before = begun
        self._timeline = Timeline(lambda: self._mesh.waited)
        began, worked = time(), process_time()
        self._superstep = 0 if start is None else start[0]
        keeping = Keeping(self._due, self._keep, self._forget, self._begin)
        live = self._order.views[self._step]
        ran = following.run(live, keeping, start, followed=followed, before=before)
        values = self._steps.values(ran.rows)
        changes = {name: change_between(base[name], values[name]) for name in values}
        own = self._graph.own.astype(np.int32)
        tables = {
            name: pa.table(
                {
                    "step": np.full(len(change), self._step, np.int32),
                    "vertex": own[change.vertices],
                    "old": arrow_column(change.old),
                    "new": arrow_column(change.new),
                }
            )
            for name, change in changes.items()
        }
        facts = {
            "worker": f"{socket.gethostname()} {os.getpid()}",
            "began": began,
            "ended": time(),
            "processor": process_time() - worked,
            "edges": ran.edges,
            "changed": max(map(len, changes.values()), default=0),
            "follows": ran.followed,
            "sent": ran.sent,
            "spans": self._timeline.spans(),
            **summing.told(values, self._order.removed[self._step]),
        }
        last = self._order.states and self._step == len(self._order.views) - 1
        self._files.finish(self._step, tables, facts, following.ended() if last else None)
        self._files.forget(self._step + 1, 0)

    def _begin(self, follows: bool) -> None:
        """Before the first superstep, when it is known whether the view follows."""
        self._follows = follows
        self._timeline.skip()

    def _due(self) -> bool:
        """Whether a superstep is to be kept; also ends the task where the run has ended.

        It is asked when a superstep is computed, and what is to be forgotten is told when all tasks
        have heard of it.
        """
        self._timeline.computed()
        now = monotonic()
        if now - self._looked > _LOOK_EVERY:
            self._looked = now
            if self._kept.stopped:
                raise StoppedError
        return now - self._last >= max(self._order.keep_every, _SHARE * self._took)

    def _keep(self, superstep: int, rows: NDArray[np.int64]) -> None:
        began = monotonic()
        self._files.keep(self._step, superstep, rows, follows=self._follows)
        self._last = monotonic()
        self._took = self._last - began
        self._timeline.skip()

    def _forget(self, superstep: int) -> None:
        self._superstep += 1
        self._timeline.exchanged(self._superstep)
        self._files.forget(self._step, superstep)
