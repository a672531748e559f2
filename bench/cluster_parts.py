"""Supersteps on shards: the part `shards` of `python -m bench cluster`.

One task and two, threads of this process that speak over sockets of this machine, on the same
shards of an RMAT graph. What is compared is processor time a task and superstep: other work loads
most machines. DuckDB computes the same superstep as one SQL statement, on one thread.
"""

from __future__ import annotations

import importlib.util
import socket
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from bench.rmat import rmat
from graphtide.algorithms import BFS, WCC, PageRank
from graphtide.engine.shards.exchange import MirrorExchange
from graphtide.engine.shards.following import Following
from graphtide.engine.shards.live_edges import ShardEdges
from graphtide.engine.shards.local_graph import LocalGraph, Way
from graphtide.engine.shards.placement import Placement
from graphtide.engine.shards.reading import ways_needed
from graphtide.engine.shards.supersteps import Supersteps
from graphtide.engine.vertex_data import NoData
from graphtide.run.shards.joining import Door, join
from graphtide.run.shards.mesh import Sockets
from graphtide.run.shards.packing import pack_shard

SHARE, SQL, QUIET, SENT = 0.65, 10.0, 1.0, 0.1
SHARDS, ROUNDS, TAIL = 64, 7, 2_000
SECTION = "on shards"


def shards(quick: bool) -> list[Figure]:
    """A superstep by one task and by two, beside SQL, and one in which nothing happens."""
    scale = 8 if quick else 18
    src, dst = rmat(scale)
    graph = _Graph(1 << scale, src, dst, None)
    rank = PageRank(iterations=5 if quick else 10)
    one, two = (graph.measured(rank, tasks, 1 if quick else ROUNDS) for tasks in (1, 2))
    note = (
        f"{1e3 * one.superstep:.3g} and {1e3 * two.superstep:.3g} ms of processor time, "
        f"{len(src):,} edges, {two.mirrors:,} mirrors a task, "
        f"{two.sent / 1e6:.2g} MB a superstep"
    )
    found = [
        Figure("two tasks over one", two.superstep / one.superstep, "at most", SHARE, "x", note)
    ]
    found.append(_beside_sql(src, dst, one.superstep))
    found.append(_quiet(1 << scale, src, dst, quick))
    found += _repaired(1 << scale, src, dst, quick)
    return [Figure(**{**vars(item), "section": SECTION}) for item in found]


class _Taken:
    """What the busier of some tasks took a superstep, and what it sent."""

    def __init__(self, superstep: float, clock: float, mirrors: int, sent: float) -> None:
        self.superstep, self.clock, self.mirrors, self.sent = superstep, clock, mirrors, sent


class _Followed(NamedTuple):
    """What the busier of two tasks took for a view: seconds, bytes sent, supersteps and rounds."""

    seconds: float
    sent: int
    steps: int
    fallen: int


class _Graph:
    """A graph in shards, in memory."""

    def __init__(
        self, vertices: int, src: NDArray[Any], dst: NDArray[Any], classes: NDArray[Any] | None
    ) -> None:
        self._vertices = vertices
        classes = np.zeros(len(src), np.int32) if classes is None else classes
        self._shards: dict[Way, list[ShardEdges]] = {
            "into": _packed(vertices, dst, src, classes),
            "out": _packed(vertices, src, dst, classes),
        }

    def measured(self, program: Any, tasks: int, rounds: int) -> _Taken:
        """The lower quartile of some runs, behind one that compiles."""
        found = [self._run(program, tasks) for _ in range(rounds + 1)][1:]
        low = [sorted(column)[len(found) // 4] for column in zip(*found, strict=True)]
        return _Taken(low[0], low[1], int(low[2]), low[3])

    def _run(self, program: Any, tasks: int) -> tuple[float, float, int, float]:
        def go(task: int, mesh: Sockets) -> tuple[float, float, int, float]:
            graph = self._local(program, tasks, task)
            exchange = MirrorExchange(graph, mesh)
            parameters = tuple(value for _, value in program.values)
            steps = Supersteps(program.program, parameters, graph, exchange, NoData())
            version = graph.version(np.ones(1, np.bool_))
            exchange.sent, worked, began = 0, time.thread_time(), time.perf_counter()
            steps.run(version)
            took, clock = time.thread_time() - worked, time.perf_counter() - began
            count = max(1, steps.supersteps)
            return took / count, clock / count, len(graph.mirrors), exchange.sent / count

        found: list[tuple[float, float, int, float]] = together(tasks, go)
        return max(found)

    def followed(self, program: Any, views: NDArray[Any], *, follows: bool) -> list[_Followed]:
        """What two tasks took for each view, one after the other."""

        def go(task: int, mesh: Sockets) -> list[_Followed]:
            graph = self._local(program, 2, task)
            parameters = tuple(value for _, value in program.values)
            exchange = MirrorExchange(graph, mesh)
            steps = Supersteps(program.program, parameters, graph, exchange, NoData())
            following, found = Following(steps, graph, follows=follows), []
            for live in views:
                worked = time.thread_time()
                ran = following.run(live)
                took = time.thread_time() - worked
                found.append(_Followed(took, ran.sent, ran.supersteps + ran.rounds, ran.fallen))
            return found

        both: list[list[_Followed]] = together(2, go)
        return [_Followed(*map(max, *pair)) for pair in zip(*both, strict=True)]

    def _local(self, program: Any, tasks: int, task: int) -> LocalGraph:
        placement = Placement(self._vertices, SHARDS, tasks)
        own = placement.shards_of(task)
        gathered, counted = (
            {way: [self._shards[way][at] for at in own] for way in ways}
            for ways in ways_needed(program.program)
        )
        return LocalGraph(placement, task, gathered, counted)


def _packed(
    vertices: int, own: NDArray[Any], other: NDArray[Any], classes: NDArray[Any]
) -> list[ShardEdges]:
    order = np.lexsort((other, own // SHARDS, own % SHARDS))
    own, other, classes = own[order], other[order], classes[order]
    bounds = np.searchsorted(own % SHARDS, np.arange(SHARDS + 1))
    sizes = Placement(vertices, SHARDS, 1).sizes
    found = []
    for shard in range(SHARDS):
        rows = slice(bounds[shard], bounds[shard + 1])
        ends = own[rows] // SHARDS, other[rows]
        found.append(pack_shard(int(sizes[shard]), *ends, classes[rows], {}))
    return found


def together(tasks: int, go: Callable[[int, Sockets], Any]) -> list[Any]:
    """Call a function in so many threads that reach each other by sockets of this machine."""
    doors = [Door(socket.gethostbyname("localhost")) for _ in range(tasks)]
    addresses = [(door.host, door.port) for door in doors]

    def work(task: int) -> Any:
        mesh = Sockets(task, join(doors[task], task, addresses, b"bench"))
        try:
            return go(task, mesh)
        finally:
            mesh.close()

    with ThreadPoolExecutor(tasks) as pool:
        return list(pool.map(work, range(tasks)))


def _beside_sql(src: NDArray[Any], dst: NDArray[Any], superstep: float) -> Figure:
    name = "a superstep of PageRank beside DuckDB's SQL"
    if importlib.util.find_spec("duckdb") is None:
        return Figure(name, None, "at least", SQL, "x", "duckdb is not installed")
    duckdb: Any = importlib.import_module("duckdb")
    import pyarrow as pa

    base = duckdb.connect(config={"threads": 1})
    base.register("given", pa.table({"src": src, "dst": dst}))
    base.execute("create table edges as select * from given")
    base.execute(
        "create table ranks as select src as id, 1.0 / count(*) as share from edges group by src"
    )
    took = []
    for _ in range(ROUNDS):
        began = time.process_time()
        base.execute(
            "create or replace table sums as select dst, 0.15 + 0.85 * sum(share) as rank "
            "from edges join ranks on edges.src = ranks.id group by dst"
        )
        took.append(time.process_time() - began)
    low = sorted(took)[len(took) // 4]
    note = f"{1e3 * low:.3g} ms there, {1e3 * superstep:.3g} here, processor time, one thread"
    return Figure(name, low / superstep, "at least", SQL, "x", note)


def _quiet(vertices: int, src: NDArray[Any], dst: NDArray[Any], quick: bool) -> Figure:
    """Hops along a path that hangs beside the graph: one vertex changes in each superstep."""
    length = 50 if quick else TAIL
    path = np.arange(vertices, vertices + length, dtype=np.int32)
    ends = np.concatenate([src, path[:-1]]), np.concatenate([dst, path[1:]])
    graph = _Graph(vertices + length, *ends, None)
    program = BFS(source=int(path[0]))
    found = graph.measured(program, 2, 1 if quick else 3)
    note = f"{length:,} supersteps of two tasks; {1e3 * found.superstep:.2g} ms of processor time"
    return Figure("a quiet superstep", 1e3 * found.clock, "at most", QUIET, "ms", note)


def _repaired(vertices: int, src: NDArray[Any], dst: NDArray[Any], quick: bool) -> list[Figure]:
    """Views that lose a few edges and get others back: following the last one, and from scratch."""
    lost, views = 5 if quick else 100, 6
    pick = np.random.default_rng(7)
    classes = np.zeros(len(src), np.int32)
    for at in range(1, views):
        classes[pick.choice(len(src), lost, replace=False)] = at
    live = ~np.eye(views, dtype=np.bool_)
    live[0, 0] = live[1:, 0] = True
    graph, found = _Graph(vertices, src, dst, classes), []
    programs: tuple[Any, ...] = WCC(), BFS(source=int(src[0]))  # type: ignore[call-arg]
    for program in programs:
        graph.followed(program, live[:2], follows=True)
        after = graph.followed(program, live, follows=True)[1:]
        anew = graph.followed(program, live, follows=False)[1:]
        one, other = (_Followed(*map(statistics.median, zip(*item))) for item in (after, anew))  # noqa: B905
        note = (
            f"{one.sent / 1e3:.3g} and {other.sent / 1e3:.3g} KB of states a task, "
            f"{one.steps:.3g} and {other.steps:.3g} supersteps, {one.fallen:,.0f} vertices fall, "
            f"{1e3 * one.seconds:.3g} and {1e3 * other.seconds:.3g} ms of processor time"
        )
        name = f"{program.program.name}: states sent after {lost:,} edges went, of from scratch"
        found.append(Figure(name, one.sent / max(1, other.sent), "at most", SENT, "x", note))
    return found


def by_one_task(
    vertices: int, src: NDArray[Any], dst: NDArray[Any], program: Any, rounds: int
) -> tuple[float, dict[str, NDArray[Any]]]:
    """What one task takes a superstep of a program, and its results by vertex."""
    whole = _Graph(vertices, src, dst, None)

    def go(task: int, mesh: Sockets) -> dict[str, NDArray[Any]]:
        graph = whole._local(program, 1, task)
        parameters = tuple(value for _, value in program.values)
        exchange = MirrorExchange(graph, mesh)
        steps = Supersteps(program.program, parameters, graph, exchange, NoData())
        found = steps.values(steps.run(graph.version(np.ones(1, np.bool_))))
        order = np.argsort(graph.own)
        return {name: column[order] for name, column in found.items()}

    (values,) = together(1, go)
    return whole.measured(program, 1, rounds).superstep, values
