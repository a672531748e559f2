"""Programs kept current: `python -m bench engine`.

RMAT graphs with nine tenths of the edges loaded first. A batch inserts edges that were held back
and deletes loaded ones; it is undone after it is timed, so that every batch meets the same graph.
Times are medians of single-threaded runs, over the median time of the same program from scratch
on the same graph in the same run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from bench.rmat import rmat
from bench.selecting import BFS, WCC, ShortestPaths, plan_of
from graphtide.engine.exact import ExactMaintainer
from graphtide.engine.fixpoint import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
BATCHES = ((1, 0, 300), (25, 25, 100), (500, 500, 30), (50_000, 50_000, 5))
AT_LEAST = {1: 500.0, 25: 200.0, 500: 15.0, 50_000: 1 / 1.3}


@dataclass(frozen=True)
class Input:
    """A graph with a tenth of its edges held back."""

    graph: ResidentGraph
    held: Int32
    loaded: Int32
    source: int


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    scale = 10 if quick else 18
    given = prepare(scale)
    figures: list[Figure] = []
    for program in (BFS, ShortestPaths, WCC):
        for mode in ("fixpoint", "exact"):
            figures += batches(given, plan_of(program), mode, quick)
    figures += flatness(10 if quick else 16, 11 if quick else 20)
    figures += memory(given)
    figures += start_up()
    return figures


def prepare(scale: int) -> Input:
    """An RMAT graph in memory, with random weights of 1 to 10, its tenth taken out."""
    src, dst = rmat(scale)
    random = np.random.default_rng(2)
    weights = random.integers(1, 11, len(src)).astype(np.float64)
    graph = ResidentGraph(1 << scale, src, dst, {"weight": weights})
    shuffled = random.permutation(len(src)).astype(np.int32)
    held, loaded = shuffled[: len(src) // 10], shuffled[len(src) // 10 :]
    graph.flip(np.empty(0, np.int32), held)
    return Input(graph, held, loaded, int(np.bincount(src).argmax()))


def maintainer_for(given: Input, program: VertexProgram, mode: str) -> Any:
    """A started maintainer of the program, from the vertex with the most out-edges."""
    parameters = (given.source,) if program.parameters else ()
    kind: Any = FixpointMaintainer if mode == "fixpoint" else ExactMaintainer
    found = kind(given.graph, program, parameters)
    found.start()
    return found


def batches(given: Input, program: VertexProgram, mode: str, quick: bool) -> list[Figure]:
    """Time a batch of each size against a run from scratch."""
    scratch = from_scratch(given, program)
    maintainer = maintainer_for(given, program, mode)
    figures = []
    for insert, delete, rounds in BATCHES:
        if quick and insert > 25:
            continue
        seconds = time_batches(given, maintainer, insert, delete, 5 if quick else rounds)
        name = f"{program.name}, {mode}, {insert:,}+{delete:,}"
        note = f"{seconds * 1e3:.3f} ms; from scratch {scratch * 1e3:.1f} ms"
        bar = AT_LEAST[insert]
        figures.append(
            Figure(f"{name}, over scratch", scratch / seconds, "at least", bar, "x", note)
        )
        if insert == 1:
            figures.append(Figure(f"{name}, time", seconds * 1e3, "below", 0.1, "ms"))
    return figures


def from_scratch(given: Input, program: VertexProgram) -> float:
    """Median seconds of a run from scratch."""
    maintainer = maintainer_for(given, program, "fixpoint")
    return statistics.median(_seconds(maintainer.start) for _ in range(5))


def time_batches(given: Input, maintainer: Any, insert: int, delete: int, rounds: int) -> float:
    """Median seconds of an advance, undone each time; the first two warm up."""
    random = np.random.default_rng(insert)
    insert, delete = min(insert, len(given.held)), min(delete, len(given.loaded))
    seconds = []
    for _ in range(rounds + 2):
        inserted = random.choice(given.held, insert, replace=False).astype(np.int32)
        deleted = random.choice(given.loaded, delete, replace=False).astype(np.int32)
        began = time.perf_counter()
        maintainer.advance(inserted, deleted)
        seconds.append(time.perf_counter() - began)
        maintainer.rollback()
    return statistics.median(seconds[2:])


def flatness(small: int, large: int) -> list[Figure]:
    """The cost of a small batch must not grow with the graph."""
    times = {}
    for scale in (small, large):
        given = prepare(scale)
        maintainer = maintainer_for(given, plan_of(BFS), "fixpoint")
        times[scale] = time_batches(given, maintainer, 25, 25, 100)
    ratio = times[large] / times[small]
    note = f"{times[large] * 1e3:.3f} ms over {times[small] * 1e3:.3f} ms"
    return [Figure(f"25+25 at scale {large} over scale {small}", ratio, "at most", 2, "x", note)]


def memory(given: Input) -> list[Figure]:
    """Bytes of the graph an edge, and of the state a vertex or an entry."""
    slabs = [array for side in given.graph.adjacency for array in side]
    weights = given.graph.properties["weight"]
    graph_bytes = sum(array.nbytes for array in slabs) + weights.nbytes
    fixpoint = maintainer_for(given, plan_of(BFS), "fixpoint")
    state = sum(array.nbytes for array in fixpoint._state)
    per_vertex = sum(array.nbytes for side in given.graph.adjacency for array in side[:4])
    edges = (graph_bytes - per_vertex) / given.graph.edges
    entry = sum(getattr(exact_histories(given), name).itemsize for name in ENTRY)
    return [
        Figure("graph with weights, both directions", edges, "at most", 32, "bytes an edge"),
        Figure("fixpoint state", state / given.graph.vertices, "at most", 40, "bytes a vertex"),
        Figure("histories", entry, "at most", 16, "bytes an entry"),
    ]


ENTRY = ("time", "value", "following")


def exact_histories(given: Input) -> Any:
    """The histories of an exact run."""
    return maintainer_for(given, plan_of(BFS), "exact")._histories


def start_up() -> list[Figure]:
    """Seconds from the shell to a first answer, with a warm cache."""
    command = [sys.executable, "-m", "bench.first_answer"]
    subprocess.run(command, check=True, capture_output=True)
    seconds = statistics.median(
        _seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(3)
    )
    return [Figure("from the shell to a first answer", seconds, "below", 2, "s")]


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
