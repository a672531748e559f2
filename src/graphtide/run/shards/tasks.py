"""What a task of Spark does for a run on shards: open its shards, join the others, run the views.

All tasks of a run are there at the same time. Each opens the shards that fall to it, and then all
go from view to view and from superstep to superstep together. A task keeps the states of its own
vertices now and then, and their results where a view is finished. When a task is lost, the others
notice and end as well; Spark begins all of them again, perhaps elsewhere, and they go on from the
last superstep that all have kept. An error of ours is handed back as a report, because trying again
would not help.

Beside results a task tells figures of its own vertices, who leads, and when it did what: each
superstep as computing, waiting and transfer. All tasks tell together what the driver would
otherwise have to read results for. Labels of components are counted by the owners of the vertices
that they name: everybody sends its counts.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import uuid
from collections.abc import Callable, Collection, Sequence
from time import monotonic, process_time, time
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Values, change_between
from graphtide.engine.shards.following import Before, Following
from graphtide.engine.shards.local_graph import LocalGraph, Mesh, MirrorExchange, Placement
from graphtide.engine.shards.supersteps import Keeping, Supersteps
from graphtide.model.errors import GraphtideError, StoreError
from graphtide.run.catalog.spark_runs import StoppedError, open_ordered, reported
from graphtide.run.collection.figures import (
    Partial,
    missing_end,
    partial_components,
    partial_figure,
    partial_names,
)
from graphtide.run.collection.ranking import partial_leaders
from graphtide.run.live.programs import compiled_program
from graphtide.run.live.results import arrow_column
from graphtide.run.shards.mesh import Door, PeerFailedError, Sockets, join
from graphtide.run.shards.orders import Ends, ShardOrder
from graphtide.run.shards.shard_files import OpenedShards
from graphtide.store.collection import graph_behind
from graphtide.store.parts import SuperstepSpan
from graphtide.store.shards import EMPTY, KeptSupersteps, TaskFiles, open_shards, read_rows

MOST_SPANS = 256
_MICRO = 1e6


class Timeline:
    """The supersteps of one view in one task; begins when it is made.

    `waited` tells the seconds that the task has waited for others so far.
    """

    def __init__(self, waited: Callable[[], float], clock: Callable[[], float] = monotonic) -> None:
        self._waits, self._clock = waited, clock
        self._first = self._began = self._computed = clock()
        self._waited = self._waited_before = waited()
        self._spans: list[SuperstepSpan] = []
        self._each = 1
        self._held: SuperstepSpan | None = None

    def computed(self) -> None:
        """The own vertices of a superstep are done."""
        self._computed, self._waited_before = self._clock(), self._waits()

    def exchanged(self, superstep: int) -> None:
        """All tasks have told each other: the superstep of this number is at its end."""
        now, waits = self._clock(), self._waits()
        early, late = self._waited_before - self._waited, waits - self._waited_before
        took = self._computed - self._began - early, early + late, now - self._computed - late
        parts = [max(0, round(_MICRO * part)) for part in took]
        self._add(SuperstepSpan(superstep, 1, round(_MICRO * (self._began - self._first)), *parts))
        self._began, self._waited = now, waits

    def skip(self) -> None:
        """What went by since the last superstep belongs to none."""
        self._began, self._waited = self._clock(), self._waits()

    def spans(self) -> list[SuperstepSpan]:
        """All supersteps so far, in order."""
        return self._spans if self._held is None else [*self._spans, self._held]

    def _add(self, span: SuperstepSpan) -> None:
        held = span if self._held is None else joined(self._held, span)
        self._held = held if held.supersteps < self._each else None
        if self._held is None:
            self._spans.append(held)
        if len(self._spans) == MOST_SPANS:
            pairs = zip(self._spans[::2], self._spans[1::2], strict=True)
            self._spans = [joined(one, other) for one, other in pairs]
            self._each *= 2


def joined(one: SuperstepSpan, other: SuperstepSpan) -> SuperstepSpan:
    """Two spans in a row as one."""
    sums = (left + right for left, right in zip(one[3:], other[3:], strict=True))
    return SuperstepSpan(one.superstep, one.supersteps + other.supersteps, one.began, *sums)


Int64 = NDArray[np.int64]


class Summing:
    """The sums of a run by one task, in each view.

    `labels` is the result with components, and `naming` are all that name a vertex.
    """

    def __init__(
        self,
        graph: LocalGraph,
        mesh: Mesh,
        base: Values,
        labels: str | None,
        naming: Collection[str] = (),
    ) -> None:
        self._placement, self._own = graph.placement, graph.own
        self._mesh, self._base = mesh, base
        self._labels, self._naming = labels, {labels, *naming}
        ordered = {name: values for name, values in base.items() if name not in self._naming}
        self._far = {name: self._is_far(values) for name, values in ordered.items()}

    def told(self, values: Values, removed: Sequence[int] = ()) -> dict[str, dict[str, Partial]]:
        """Figures of each result, and leaders of those that have an order. All tasks call it.

        Vertices that are `removed` from the view count for no figure. They are among the leaders:
        whoever ranks leaves them out.
        """
        there = slice(None) if not removed else ~np.isin(self._own, removed)
        figures = {name: self._figure(name, column[there]) for name, column in values.items()}
        leaders = {
            name: partial_leaders(column, self._own, far=self._far[name])
            for name, column in values.items()
            if name in self._far and column.ndim == 1
        }
        return {"figures": figures, "leaders": leaders}

    def _figure(self, name: str, values: NDArray[Any]) -> Partial:
        if name == self._labels:
            return self._components(values)
        if name in self._naming:
            return partial_names(values)
        return partial_figure(values, self._base[name])

    def _is_far(self, base: NDArray[Any]) -> bool:
        """Whether the greatest value stands for no way, by the vertices of all tasks."""
        own = np.array(partial_figure(base, base).get("without", [0, 0, 0]), np.int64)
        told = self._mesh.exchange({task: [own] for task in self._others})
        sums = np.sum([own, *(item.view(np.int64) for item in told.values())], axis=0)
        return missing_end({"without": sums.tolist()}) == 0

    def _components(self, values: NDArray[Any]) -> Partial:
        """Of the components whose labels this task owns."""
        labels, counts = np.unique(values.astype(np.int64), return_counts=True)
        owners = self._placement.owners(labels)
        parts = {task: (labels[owners == task], counts[owners == task]) for task in self._others}
        told = self._mesh.exchange({task: list(part) for task, part in parts.items()})
        mine = owners == self._mesh.rank
        pairs = [(labels[mine], counts[mine])]
        pairs += [_halves(item.view(np.int64)) for item in told.values()]
        sizes = _sizes(*(np.concatenate(column) for column in zip(*pairs, strict=True)))
        return partial_components(sizes)

    @property
    def _others(self) -> list[int]:
        return [task for task in range(self._mesh.size) if task != self._mesh.rank]


def _halves(words: Int64) -> tuple[Int64, Int64]:
    return words[: len(words) // 2], words[len(words) // 2 :]


def _sizes(labels: Int64, counts: Int64) -> Int64:
    distinct, places = np.unique(labels, return_inverse=True)
    sizes = np.zeros(len(distinct), np.int64)
    np.add.at(sizes, places.reshape(-1), counts)
    return sizes


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
