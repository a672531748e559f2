"""What a task of Spark does for a run on shards: open its shards, join the others, run the views.

All tasks of a run are there at the same time. Each opens the shards that fall to it, and then all
go from view to view and from superstep to superstep together. A task keeps the states of its own
vertices now and then, and their results where a view is finished. When a task is lost, the others
notice and end as well; Spark begins all of them again, perhaps elsewhere, and they go on from the
last superstep that all have kept.

An error of ours is handed back as a report, because trying again would not help.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.shards.exchange import MirrorExchange
from graphtide.engine.shards.following import Before, Following
from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.engine.shards.placement import Placement
from graphtide.engine.shards.supersteps import Supersteps
from graphtide.model.errors import GraphtideError, StoreError
from graphtide.run.catalog.spark_tasks import StoppedError, open_ordered, reported
from graphtide.run.live.arrow_columns import arrow_column
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards.joining import Door, join
from graphtide.run.shards.mesh import PeerFailedError, Sockets
from graphtide.run.shards.opening import OpenedShards
from graphtide.run.shards.orders import Ends, ShardOrder
from graphtide.run.shards.summing import Summing
from graphtide.run.shards.task_view import TaskView
from graphtide.store.behind import graph_behind
from graphtide.store.shards import open_shards
from graphtide.store.supersteps import EMPTY, KeptSupersteps, read_rows


class _Task:
    """One of the tasks of a run."""

    def __init__(self, order: ShardOrder, rank: int, tasks: int) -> None:
        catalog, run, stored = open_ordered(order)
        shards = open_shards(catalog, order.collection, order.shards)
        if shards is None:
            raise StoreError(f"the shards of '{order.collection}' are gone", hint="run it again")
        self.order, self.rank = order, rank
        self._compiled: Any = compiled_program(order.program, "exact", directed=True)
        graph = graph_behind(catalog, stored)
        needed, classes = self._compiled.needed, len(order.views[0])
        self._opened = OpenedShards(shards, graph, needed, tasks, rank, classes)
        self._run = run
        self.kept = KeptSupersteps(run.parts, row_bounds(self._opened.placement))

    @property
    def _shards(self) -> tuple[int, int]:
        own = self._opened.placement.shards_of(self.rank)
        return (int(own[0]), int(own[-1]) + 1) if len(own) else (0, 0)

    def plan(self) -> dict[str, Any]:
        """Where all are to begin: which steps are finished, and what is kept of the next one."""
        results = self.kept.results()
        done = set(results) | set(range(self.order.first))
        left = [step for step in range(len(self.order.views)) if step not in done]
        kept = self.kept.latest(left[0]) if left else None
        base = EMPTY not in results and not self.order.first
        plan = {"left": left, "kept": kept, "base": base, "attempt": uuid.uuid4().hex}
        followed = kept is not None and self.kept.followed(kept[0], left[0], kept[1])
        return {**plan, "followed": followed}

    def run(self, mesh: Sockets, plan: dict[str, Any]) -> None:
        """All views that are left."""
        program: Any = self.order.program.program
        graph, data = self._opened.local(program)
        exchange = MirrorExchange(graph, mesh)
        steps = Supersteps(program, self.order.parameters, graph, exchange, data)
        files = self.kept.attempt(plan["attempt"], *self._shards)
        nothing = np.zeros(len(self.order.views[0]), np.bool_)
        base = steps.values(steps.run(graph.version(nothing)))
        if plan["base"]:
            own = graph.own.astype(np.int32)
            columns = {name: arrow_column(values) for name, values in base.items()}
            tables = {n: pa.table({"vertex": own, "value": item}) for n, item in columns.items()}
            files.finish(EMPTY, tables, {})
        labels, naming = self._compiled.labels, self._compiled.naming
        summing = Summing(graph, mesh, base, labels, naming)
        strategy = self.order.strategy
        follows, always = strategy != "scratch", strategy == "differential"
        following = Following(steps, graph, follows=follows, always=always)
        for step in plan["left"]:
            start, followed = None, False
            if step == plan["left"][0] and plan["kept"] is not None:
                (attempt, superstep), followed = plan["kept"], plan["followed"]
                start = superstep, self.kept.rows(attempt, step, superstep, *self._shards)
            view = TaskView(self.order, self.kept, graph, steps, files, step, mesh)
            before = self._before(graph) if step == 0 and start is None else None
            view.run(following, base, (start, followed, before), summing)

    def _before(self, graph: LocalGraph) -> Before | None:
        """What an earlier run ended with, of the own vertices that were there."""
        given = self.order.before
        if given is None:
            return None
        bounds = row_bounds(Placement(given.vertices, given.shards, 1))
        first, behind = self._shards
        states = []
        for at, span in enumerate(given.spans):
            low, high = max(first, span[0]), min(behind, span[1])
            if low < high:
                rows = read_rows(self._run.generation.file(f"before-{at:05d}.arrays"))
                states.append(rows[slice(*(bounds[[low, high]] - bounds[span[0]]))])
        known = graph.own < given.vertices
        lost, gained = (_own_ends(ends, graph) for ends in (given.lost, given.gained))
        rows = np.concatenate(states) if states else np.empty((0, 0), np.int64)
        return Before(rows, known, lost, gained, bool(len(given.lost[0])))


def _own_ends(ends: Ends, graph: LocalGraph) -> NDArray[np.int32]:
    """The own vertices that gather along edges with these sources and destinations."""
    src, dst = ends
    touched = [np.isin(graph.own, src if way == "out" else dst) for way in graph.gathered]
    return np.flatnonzero(np.logical_or.reduce(touched)).astype(np.int32)


def row_bounds(placement: Placement) -> NDArray[np.int64]:
    """Where the rows of each shard begin, shards one after the other, and how many there are."""
    return np.concatenate([[0], np.cumsum(placement.sizes)]).astype(np.int64)


def carry_out(
    order: bytes, rank: int, hosts: list[str], gather: Callable[[str], list[str]]
) -> bytes:
    """Run the views of a run on the shards of one task; the entry of a task."""
    return reported(rank, lambda: _together(pickle.loads(order), rank, hosts, gather))


def _together(
    order: ShardOrder, rank: int, hosts: list[str], gather: Callable[[str], list[str]]
) -> str:
    """Open, join and run; tasks make no attempts one by one, so that the name is empty.

    A task that fails before all are joined says so to all, in the one call.
    """
    said: dict[str, Any] = {}
    failed: GraphtideError | None = None
    try:
        task = _Task(order, rank, len(hosts))
        door = Door(hosts[rank])
        said = {"port": door.port, **(task.plan() if rank == 0 else {})}
    except GraphtideError as error:
        failed = error
    heard = [json.loads(item) for item in gather(json.dumps(said))]
    if failed is not None:
        raise failed
    if not all(heard):
        door.close()
        raise PeerFailedError("another task has failed")
    addresses = [(host, item["port"]) for host, item in zip(hosts, heard, strict=True)]
    mesh = Sockets(rank, join(door, rank, addresses, order.secret))
    try:
        task.run(mesh, heard[0])
    except (GraphtideError, StoppedError):
        mesh.fail()
        raise
    finally:
        mesh.close()
    return ""
