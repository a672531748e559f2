"""Two workers of a dataflow beside one: first runs, and small batches.

What counts is the wall clock, which says something on a quiet machine with two cores alone. Beside
it stands what a busy machine tells as well: processor time of the *longest way*, in which every
step takes as long as the worker that takes longest in it, and of all workers together.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.figures import Figure
from bench.rmat import rmat
from bench.rules_engine import Pairs, grid, random_graph
from graphtide.algorithms import dataflow as library
from graphtide.dataflow import Dataflow, col
from graphtide.engine.dataflow import worker_pool
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.outputs import Output

Build = Callable[[Dataflow, InputCollection, Pairs], Collection]


@dataclass(frozen=True)
class Case:
    """A computation on a graph, for a first run."""

    name: str
    build: Build
    graph: Pairs
    once: bool = False


class Timed:
    """Carries out steps one after the other, and notes what they would take at the same time."""

    longest_way = 0.0
    together = 0.0

    def __init__(self, step: Callable[[int], int], _machines: Sequence[Any]) -> None:
        self._step = step

    def step(self, workers: Sequence[int]) -> dict[int, int]:
        """Let some machines run on, and say how each ended."""
        found, taken = {}, []
        for worker in workers:
            began = time.thread_time()
            found[worker] = self._step(worker)
            taken.append(time.thread_time() - began)
        Timed.longest_way += max(taken)
        Timed.together += sum(taken)
        return found

    def end(self) -> None:
        """There is nobody to stop."""


def worker_figures(*, quick: bool) -> Iterator[Figure]:
    """First runs of several computations, and small batches of one."""
    small = random_graph(12)
    for workers in (1, 2):
        first_run(Case("", closure, small), workers)
    for case in cases(quick):
        yield sped_up(case, rounds=1 if quick else 3)
    yield small_batches(5 if quick else 14, rounds=3 if quick else 200)


def cases(quick: bool) -> Iterator[Case]:
    """What is run first."""
    some = random_graph(12 if quick else 1_500)
    yield Case("transitive closure of a random graph", closure, some)
    yield Case("transitive closure of a random graph, run once", closure, some, once=True)
    yield Case("transitive closure of a grid", closure, grid(4 if quick else 60))
    for scale in (4,) if quick else (16, 18):
        graph = rmat(scale)
        yield Case(f"BFS, RMAT {scale}", hops, graph)
        yield Case(f"components, RMAT {scale}", components, graph)
    yield Case("strong components, RMAT 16", strong, rmat(4 if quick else 16))


def sped_up(case: Case, rounds: int) -> Figure:
    """How many times faster two workers are than one."""
    one, two, longest, together, processor = [], [], [], [], []
    for _ in range(rounds):
        alone, processor_alone, expected = first_run(case, 1)
        shared, _, found = first_run(case, 2)
        _, all_of_it, also_found = first_run(case, 2, Timed)
        assert expected == found == also_found, "the answers differ"
        one.append(alone)
        two.append(shared)
        processor.append(processor_alone)
        longest.append(all_of_it - Timed.together + Timed.longest_way)
        together.append(all_of_it)
    alone, shared = statistics.median(one), statistics.median(two)
    work = statistics.median(processor)
    note = (
        f"{alone:.2f} s, {shared:.2f} s; of the processor {work:.2f} s alone, longest way "
        f"{work / statistics.median(longest):.2f}x faster, "
        f"{statistics.median(together) / work:.2f}x the work"
    )
    return Figure(f"{case.name}: two workers over one", alone / shared, "at least", 1.6, "x", note)


def first_run(case: Case, workers: int, hands: Any = None) -> tuple[float, float, int]:
    """Seconds by the wall clock, of the processor, and a checksum of the answer."""
    flow = Dataflow(once=case.once, workers=workers)
    edges = flow.input("edges", src=int, dst=int)
    output = case.build(flow, edges, case.graph).output()
    edges.insert({"src": case.graph[0], "dst": case.graph[1]})
    before = worker_pool.THREADS, worker_pool.MANY_ROWS
    Timed.longest_way = Timed.together = 0.0
    if hands is not None:
        worker_pool.THREADS, worker_pool.MANY_ROWS = hands, 0
    try:
        began, processor = time.perf_counter(), time.process_time()
        flow.advance()
        taken = time.perf_counter() - began, time.process_time() - processor
    finally:
        worker_pool.THREADS, worker_pool.MANY_ROWS = before
    found = checksum(output)
    flow.host.end()
    return *taken, found


def checksum(output: Output) -> int:
    """A number that differs where records do, as a rule, in whichever order they come."""
    found = np.zeros(1, np.int64)
    for column in output.columns().values():
        found = (found ^ column.astype(np.int64)) * -7046029254386353131
        found ^= found >> 29
    return int(found.sum())


def small_batches(scale: int, rounds: int) -> Figure:
    """A batch of one edge more or less in BFS: two workers over one."""
    src, dst = rmat(scale)
    seconds: dict[int, float] = {}
    for workers in (1, 2):
        flow = Dataflow(workers=workers)
        edges = flow.input("edges", src=int, dst=int)
        hops(flow, edges, (src, dst)).output()
        edges.insert({"src": src, "dst": dst})
        flow.advance()
        taken = []
        for turn in range(rounds):
            (edges.remove if turn % 2 == 0 else edges.insert)([(src[turn // 2], dst[turn // 2])])
            began = time.process_time()
            flow.advance()
            taken.append(time.process_time() - began)
        seconds[workers] = statistics.median(taken)
        flow.host.end()
    name = f"one edge of BFS, RMAT {scale}: two workers over one"
    note = f"{1e6 * seconds[1]:.0f} us, {1e6 * seconds[2]:.0f} us of the processor"
    return Figure(name, seconds[2] / seconds[1], "at most", None, "x", note)


def closure(flow: Dataflow, edges: InputCollection, _graph: Pairs) -> Collection:
    """How many pairs of vertices have a way from one to the other."""
    with flow.loop() as loop:
        ways = loop.variable(src=int, dst=int)
        further = ways.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        found = further.concat(edges).distinct()
        ways.set(found)
    return found.leave().count(by=())


def hops(flow: Dataflow, edges: InputCollection, graph: Pairs) -> Collection:
    """How far vertices are from the one with most edges."""
    roots = flow.input("roots", node=int)
    roots.insert([(int(np.bincount(graph[0]).argmax()),)])
    return library.distances(edges, roots)


def components(_flow: Dataflow, edges: InputCollection, _graph: Pairs) -> Collection:
    """The least vertex of the component of each."""
    return library.components(edges)


def strong(_flow: Dataflow, edges: InputCollection, _graph: Pairs) -> Collection:
    """The edges within strong components."""
    return library.strong_edges(edges)
