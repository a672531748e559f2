"""Changes of a stored graph, beside loading it again and making a collection of it again.

3.4 million edges, as `loading` has them. An append brings 1,000 edges and deletes 100; a refresh
then brings a collection of 30 windows up to date. Either is taken in turns with the long way: a
load of all edges, and the statement of the collection.

    python -m bench.appending        # these figures alone
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import graphtide as gt
from bench.figures import Figure
from bench.loading import EDGES, VERTICES, write_input

ADDED, DELETED = 1_000, 100
WARM_UP, ROUNDS = 2, 5
SECTION = "appending"


def run(session: gt.Session, *, quick: bool) -> list[Figure]:
    """All figures of appending."""
    with tempfile.TemporaryDirectory(prefix="graphtide-appending-") as name:
        folder = Path(name)
        write_input(folder, EDGES // 100 if quick else EDGES)
        return _measured(session, folder, quick)


def _measured(session: gt.Session, folder: Path, quick: bool) -> list[Figure]:
    edges = str(folder / "edges.parquet")
    graph = session.load("changing", edges=edges)
    windows = {f"upto-{year}": f"year <= {year}" for year in range(1990, 2020)}
    collection = graph.collection("windows", windows)
    random = np.random.default_rng(20261117)
    times: dict[str, list[float]] = {"append": [], "load": [], "refresh": [], "make": []}
    for _ in range(1 if quick else WARM_UP + ROUNDS):
        # The edges that the last round has brought: there are enough of them.
        gone = graph.edges().slice(graph.num_edges - DELETED)
        times["append"].append(_seconds(lambda: graph.append(_rows(random), gone)))  # noqa: B023
        times["refresh"].append(_seconds(collection.refresh))
        times["load"].append(_seconds(lambda: session.load("again", edges=edges, replace=True)))
        times["make"].append(_seconds(lambda: graph.collection("others", windows, replace=True)))
        assert collection.stale == 0
        assert [len(view) for view in collection] == [len(v) for v in session.collection("others")]
    warm = 0 if quick else WARM_UP
    found = {name: statistics.median(seconds[warm:]) for name, seconds in times.items()}
    name = f"append of {ADDED:,} edges, {DELETED} deleted, to {EDGES:,}"
    return [
        _figure(name, found, "append", "load"),
        _figure("refresh of 30 windows after it", found, "refresh", "make"),
    ]


def _figure(name: str, found: dict[str, float], ours: str, other: str) -> Figure:
    note = f"{found[ours]:.2f} s over {found[other]:.2f} s"
    told = {"load": "a load of everything", "make": "making them again"}[other]
    share = found[ours] / found[other]
    return Figure(f"{name}, times {told}", share, "at most", 0.5, "x", note, SECTION)


def _rows(random: np.random.Generator) -> pa.Table:
    ends = [(VERTICES * random.random(ADDED) ** 2).astype(np.int64) * 7 for _ in range(2)]
    years, weights = random.integers(1990, 2020, ADDED), random.random(ADDED)
    return pa.table({"src": ends[0], "dst": ends[1], "year": years, "weight": weights})


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """These figures alone."""
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        session = gt.session(Path(folder, "store"), master="local[2]", memory="4g", progress=False)
        for figure in run(session, quick=False):
            print(f"{figure.name}: {figure.measured:.3f} ({figure.note})")
        session.spark.stop()


if __name__ == "__main__":
    main()
