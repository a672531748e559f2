"""Runs from scratch as users ask for them: `graph.run(program, workers=, lean=)`.

The part `door` of `python -m bench cluster`. The graph is one of a catalog. Each call opens what is
stored, reads the vertices, looks at the files of the lean graph and maps them, runs, and returns
results by vertex: the figures beside those of the part `lean`, which is the run alone. The graph is
written as a load would leave it, since Spark is not what is measured here. Figures are processor
time that one waits for, of calls by one thread and by two in turns, behind the call that makes the
lean graph and those that compile.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import graphtide as gt
from bench.cluster_lean import FASTER, LIBRARY, ROUNDS, SCALE, TURNS, lower_quartile
from bench.figures import Figure
from bench.rmat import rmat
from graphtide.engine.lean.workers import Workers
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.model.summary import GraphSummary
from graphtide.run.catalog import graph_runs
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import graph_manifest

SCHEMA = GraphSchema(
    id_type=PropertyType.INT, vertex=(), edge=(Property("weight", PropertyType.FLOAT),)
)
PARTS = 8


def door(quick: bool) -> list[Figure]:
    """The programs of the part `lean`, from the call to the results."""
    scale, turns = (5, 1) if quick else (SCALE, TURNS)
    src, dst = rmat(scale)
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        write_stored(Path(folder), 1 << scale, src, dst)
        graph = gt.session(folder, progress=False).graph("net")
        section = f"graph.run on a stored graph, RMAT {scale}: {len(src) / 1e6:.3g}M edges"
        hub = int(np.bincount(src).argmax())
        found = [_made(graph, section)]
        found += [_beside(graph, *item, turns, section) for item in _programs(hub)]
        return [*found, _in_memory(graph, section)]


def _programs(hub: int) -> list[tuple[str, Any, float | None]]:
    return [
        ("ten rounds of PageRank", LIBRARY.PageRank(iterations=ROUNDS), FASTER),
        ("breadth-first search", LIBRARY.BFS(source=hub), None),
        ("components", LIBRARY.WCC(), None),
        ("shortest paths", LIBRARY.ShortestPaths(source=hub), None),
    ]


def _made(graph: gt.CatalogGraph, section: str) -> Figure:
    """The first call makes the lean graph, with weights."""
    program = LIBRARY.ShortestPaths(source=0)
    took, clock = waited(graph, program, 1)
    note = f"{clock:.3g} s by the clock, with compiling if nothing is in the cache"
    name = "the first call, which makes the lean graph"
    return Figure(name, took, "at most", None, "s", note, section)


def _beside(
    graph: gt.CatalogGraph, name: str, program: Any, bar: float | None, turns: int, section: str
) -> Figure:
    took: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(turns + 1):
        for count, found in took.items():
            seconds, _ = waited(graph, program, count)
            if turn:
                found.append(seconds)
    one, two = (lower_quartile(found) for found in took.values())
    note = f"{1e3 * one:.3g} and {1e3 * two:.3g} ms, all of the call"
    return Figure(f"{name}, two threads over one", one / two, "at least", bar, "x", note, section)


def _in_memory(graph: gt.CatalogGraph, section: str) -> Figure:
    """The same call without a lean graph: the graph is read and put into memory."""
    program = LIBRARY.PageRank(iterations=ROUNDS)
    over, _ = waited(graph, program, 1)
    began = time.thread_time()
    plain = graph.run(program, lean=False)
    read = time.thread_time() - began
    ranks = graph.run(program, lean=True)["rank"]
    if not np.allclose(ranks, plain["rank"], rtol=1e-9):
        raise AssertionError("the two forms of the graph give different ranks")
    note = f"{read:.3g} and {over:.3g} s, all of the call by one thread"
    name = "ten rounds of PageRank, lean=False over lean=True"
    return Figure(name, read / over, "at least", None, "x", note, section)


def waited(graph: gt.CatalogGraph, program: Any, count: int) -> tuple[float, float]:
    """Processor time of the call besides its parts, and of the busiest worker; and the clock."""
    with _watched() as seen:
        began, clock = time.thread_time(), time.perf_counter()
        graph.run(program, workers=count, lean=True)
        took, clock = time.thread_time() - began, time.perf_counter() - clock
    (workers,) = seen
    return took - workers.seconds[0] + max(workers.seconds), clock


@contextmanager
def _watched() -> Iterator[list[Workers]]:
    """All workers that runs of graphs have in the block."""
    seen: list[Workers] = []

    def made(count: int) -> Workers:
        seen.append(Workers(count))
        return seen[-1]

    with mock.patch.object(graph_runs, "Workers", made):
        yield seen


def write_stored(root: Path, vertices: int, src: NDArray[Any], dst: NDArray[Any]) -> None:
    """The graph `net` in a catalog: ids are numbers, edges have a weight."""
    with begin(Catalog(root).graph_folder("net"), replace=False, what="net") as commit:
        ids, label = np.arange(vertices), pa.nulls(vertices, pa.string())
        columns = {"_vertex": ids.astype(np.int32), "_id": ids, "_label": label}
        _write(commit.path / "vertices", pa.table(columns), 1)
        weight, edges = np.random.default_rng(1).random(len(src)), len(src)
        numbers = np.arange(edges, dtype=np.int32)
        ends = {"_edge": numbers, "_src": src, "_dst": dst, "_label": pa.nulls(edges, pa.string())}
        _write(commit.path / "edges", pa.table({**ends, "weight": weight}), PARTS)
        commit.finish(graph_manifest(GraphSummary(SCHEMA, vertices, edges, 0, "RMAT")))


def _write(folder: Path, table: pa.Table, parts: int) -> None:
    folder.mkdir()
    size = -(-table.num_rows // parts)
    for first in range(0, table.num_rows, size):
        pq.write_table(table.slice(first, size), folder / f"part-{first:012d}.parquet")
