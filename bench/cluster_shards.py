"""Supersteps on shards as users ask for them: the part `shards` of `python -m bench cluster`.

Called by `bench.cluster` in a process of its own: `graph.run(..., on="shards")` on a cluster of two
processes of this machine, one task and two on the same shards of an RMAT graph. What is compared is
processor time that `run.workers()` tells of the busier task: a superstep is what runs of many
iterations take beyond those of one, so that beginning, results and keeping them are left out. The
quiet superstep is by the clock, as `run.supersteps()` tells it. DuckDB computes a superstep as one
SQL statement, on one thread.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from bench.cluster_spark import MASTER
from bench.figures import Figure
from bench.rmat import rmat
from graphtide.algorithms import BFS, WCC, PageRank

SHARE, SQL, QUIET, SENT = 0.65, 10.0, 1.0, 0.1
FEW, MANY, TURNS, TAIL, VIEWS, LOST = 1, 41, 3, 2_000, 6, 100
SECTION = "on shards, graph.run(..., on='shards')"


def measure(quick: bool) -> list[Figure]:
    """A superstep by one task and by two, beside SQL, one of silence, and views that lose edges."""
    scale, turns, tail = (8, 1, 50) if quick else (18, TURNS, TAIL)
    src, dst = rmat(scale)
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        session = gt.session(folder, master=MASTER, memory="2g", progress=False)
        graph = session.load("net", edges=_edges(1 << scale, src, dst, tail))
        try:
            one, two = (superstep(graph, workers, turns) for workers in (1, 2))
            note = f"{1e3 * one:.3g} and {1e3 * two:.3g} ms of processor time, {len(src):,} edges"
            found = [
                Figure("two tasks over one", two / one, "at most", SHARE, "x", note),
                _beside_sql(src, dst, one),
                _quiet(graph, 1 << scale),
                *_repaired(graph),
            ]
        finally:
            session.spark.stop()
    return [Figure(**{**vars(item), "section": SECTION}) for item in found]


def superstep(graph: gt.CatalogGraph, workers: int, turns: int) -> float:
    """Processor time of the busiest task for a superstep of PageRank.

    The least of some long runs without the least of some short ones: a difference of two runs side
    by side would be least where the short one was disturbed.
    """
    _rank(graph, FEW, workers)
    took = [(_rank(graph, FEW, workers), _rank(graph, MANY, workers)) for _ in range(turns)]
    few, many = min(few for few, _ in took), min(many for _, many in took)
    return (many - few) / (MANY - FEW)


def _rank(graph: gt.CatalogGraph, iterations: int, workers: int) -> float:
    run = graph.run(PageRank(iterations=iterations), on="shards", workers=workers)
    return float(max(run.workers()["processor"].to_pylist()))


def _edges(vertices: int, src: NDArray[Any], dst: NDArray[Any], tail: int) -> pa.Table:
    """The edges with a path beside them; a few of them go with each of some views."""
    path = np.arange(vertices, vertices + tail, dtype=np.int32)
    goes, pick = np.zeros(len(src) + tail - 1, np.int32), np.random.default_rng(7)
    for at in range(1, VIEWS):
        goes[pick.choice(len(src), min(LOST, len(src) // 100), replace=False)] = at
    ends = np.concatenate([src, path[:-1]]), np.concatenate([dst, path[1:]])
    return pa.table({"src": ends[0], "dst": ends[1], "goes": goes})


def _beside_sql(src: NDArray[Any], dst: NDArray[Any], ours: float) -> Figure:
    name = "a superstep of PageRank beside DuckDB's SQL"
    if importlib.util.find_spec("duckdb") is None:
        return Figure(name, None, "at least", SQL, "x", "duckdb is not installed")
    duckdb: Any = importlib.import_module("duckdb")
    base = duckdb.connect(config={"threads": 1})
    base.register("given", pa.table({"src": src, "dst": dst}))
    base.execute("create table edges as select * from given")
    base.execute(
        "create table ranks as select src as id, 1.0 / count(*) as share from edges group by src"
    )
    took = []
    for _ in range(7):
        began = time.process_time()
        base.execute(
            "create or replace table sums as select dst, 0.15 + 0.85 * sum(share) as rank "
            "from edges join ranks on edges.src = ranks.id group by dst"
        )
        took.append(time.process_time() - began)
    low = sorted(took)[1]
    note = f"{1e3 * low:.3g} ms there, {1e3 * ours:.3g} here, processor time, one thread"
    return Figure(name, low / ours, "at least", SQL, "x", note)


def _quiet(graph: gt.CatalogGraph, first: int) -> Figure:
    """Hops along a path that hangs beside the graph: one vertex changes in each superstep."""
    run = graph.run(BFS(source=first), on="shards", workers=2)
    rows = [row for row in run.supersteps().to_pylist() if row["worker"] == _busiest(run)]
    count = sum(row["supersteps"] for row in rows)
    clock = sum(row["computed"] + row["waited"] + row["transferred"] for row in rows)
    worked = max(run.workers()["processor"].to_pylist())
    note = f"{count:,} supersteps of two tasks; {1e3 * worked / count:.2g} ms of processor time"
    return Figure("a quiet superstep", 1e3 * clock / count, "at most", QUIET, "ms", note)


def _busiest(run: gt.Run) -> Any:
    return max(run.workers().to_pylist(), key=lambda row: row["processor"])["worker"]


def _repaired(graph: gt.CatalogGraph) -> list[Figure]:
    """Views that lose a few edges and get others back: following the last one, and from scratch."""
    named = [("all", "goes >= 0")]
    named += [(f"without-{at}", f"goes <> {at}") for at in range(1, VIEWS)]
    views = graph.collection("losing", dict(named), order="manual")
    hub = int(graph.head(1)["src"][0].as_py())
    found = []
    programs: tuple[tuple[str, Any], ...] = ("components", WCC), ("hops", BFS(source=hub))
    for what, program in programs:
        after = _by_view(views.run(program, name="after", on="shards", workers=2))
        anew = _by_view(views.run(program, name="anew", on="shards", workers=2, strategy="scratch"))
        sent, whole = (statistics.median(item["sent"] for item in of) for of in (after, anew))
        took = [statistics.median(item["processor"] for item in of) for of in (after, anew)]
        note = (
            f"{sent / 1e3:.3g} and {whole / 1e3:.3g} KB of states a task, "
            f"{1e3 * took[0]:.3g} and {1e3 * took[1]:.3g} ms of processor time, results included"
        )
        name = f"{what}: states sent after edges went, of from scratch"
        found.append(Figure(name, sent / max(1, whole), "at most", SENT, "x", note))
    return found


def _by_view(run: gt.Run) -> list[dict[str, float]]:
    """What the busier task took and sent for each view behind the first."""
    rows: dict[str, dict[str, float]] = {}
    for row in run.workers().to_pylist():
        most = rows.setdefault(row["view"], {"sent": 0, "processor": 0.0})
        for name in most:
            most[name] = max(most[name], row[name])
    return list(rows.values())[1:]


if __name__ == "__main__":
    figures = measure(len(sys.argv) > 2)
    Path(sys.argv[1]).write_text(json.dumps([asdict(item) for item in figures]))
