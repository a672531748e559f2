"""Programs on shards within this process: a thread a task, pairs of sockets between them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from graphtide.engine.graph_data import NoData, VertexData
from graphtide.engine.shards.following import Following, Ran
from graphtide.engine.shards.local_graph import LocalGraph, MirrorExchange, Placement, ShardEdges
from graphtide.engine.shards.supersteps import NEVER, Keeping, Supersteps, ways_needed
from graphtide.plan.programs import VertexProgram
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.shard_files import pack_shard

NO_DATA: Callable[[np.ndarray], VertexData] = lambda known: NoData()  # noqa: E731


class Sharded:
    """Edges in so many shards, by both ends, for any number of tasks."""

    def __init__(
        self,
        vertices: int,
        shards: int,
        src: Sequence[int],
        dst: Sequence[int],
        classes: Sequence[int] | None = None,
        properties: Mapping[str, Any] | None = None,
        *,
        directed: bool = True,
    ) -> None:
        self.directed = directed
        self.vertices, self.shards = vertices, shards
        self.ran: list[list[Ran]] = []
        """What each task told of each view of the last run."""
        self._ends = {"into": (dst, src), "out": (src, dst)}
        self._classes = np.zeros(len(src), np.int32) if classes is None else np.array(classes)
        self._properties = {name: np.array(values) for name, values in (properties or {}).items()}

    def shard(self, way: str, shard: int) -> ShardEdges:
        own, others = (np.array(ends, np.int64) for ends in self._ends[way])
        order = np.lexsort((np.arange(len(own)), others, own))
        order = order[own[order] % self.shards == shard]
        if way == "out" and not self.directed:
            order = order[own[order] != others[order]]
        size = int(Placement(self.vertices, self.shards, 1).sizes[shard])
        properties = {name: values[order] for name, values in self._properties.items()}
        places = own[order] // self.shards
        return pack_shard(size, places, others[order], self._classes[order], properties)

    def local(self, program: VertexProgram, tasks: int, task: int) -> LocalGraph:
        placement = Placement(self.vertices, self.shards, tasks)
        gathered, counted = (
            {way: [self.shard(way, at) for at in placement.shards_of(task)] for way in ways}
            for ways in ways_needed(program)
        )
        return LocalGraph(placement, task, gathered, counted)

    def run(
        self,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        tasks: int,
        views: Sequence[Any] = ((True,),),
        *,
        data: Callable[[np.ndarray], VertexData] = NO_DATA,
        keeping: Callable[[int], Keeping] = lambda task: NEVER,
        kept: tuple[int, np.ndarray] | None = None,
        follow: bool = False,
        always: bool = False,
        followed: bool = False,
    ) -> list[dict[str, np.ndarray]]:
        """The results on each view, whose live classes are given, by so many tasks."""
        connections = pairs_of_sockets(tasks)
        self.ran = [[] for _ in range(tasks)]

        def go(task: int) -> list[dict[str, np.ndarray]]:
            graph, mesh = self.local(program, tasks, task), Sockets(task, connections[task])
            try:
                steps = Supersteps(
                    program, parameters, graph, MirrorExchange(graph, mesh), data(graph.known)
                )
                own = None if kept is None else (kept[0], kept[1][graph.own])
                following = Following(steps, graph, follows=follow, always=always)
                found = []
                for live in views:
                    before = followed and own is not None
                    there = np.array(live, np.bool_)
                    ran = following.run(there, keeping(task), own, followed=before)
                    found.append(steps.values(ran.rows))
                    self.ran[task].append(ran)
                    own = None
                return found
            except BaseException:
                mesh.fail()
                raise
            finally:
                mesh.close()

        with ThreadPoolExecutor(tasks) as pool:
            all_ = [future.result() for future in [pool.submit(go, task) for task in range(tasks)]]
        return [self._joined(tasks, [found[at] for found in all_]) for at in range(len(views))]

    def _joined(self, tasks: int, found: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        placement, whole = Placement(self.vertices, self.shards, tasks), {}
        for name in found[0]:
            values = np.concatenate([item[name] for item in found])
            whole[name] = np.empty_like(values)
            owned = np.concatenate([placement.owned(task) for task in range(tasks)])
            whole[name][owned] = values
        return whole


def pairs_of_sockets(tasks: int) -> list[dict[int, socket.socket]]:
    """Every task connected to every other."""
    found: list[dict[int, socket.socket]] = [{} for _ in range(tasks)]
    for one in range(tasks):
        for other in range(one):
            found[one][other], found[other][one] = socket.socketpair()
    return found
