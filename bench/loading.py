"""Loading edges, beside what Spark alone takes for the heart of it.

3.4 million edges from Parquet, two ids and two properties. Spark alone reads them, replaces both
ends by joins with a table of ids that is there already, and writes them; a load also finds and
numbers the ids, checks every row, names its parts by their positions, and commits with checksums.
Both are taken in turns, warm in one process and fresh in processes of their own, start included.

    python -m bench.loading ours FOLDER     # one fresh load of FOLDER/edges.parquet, in seconds
    python -m bench.loading spark FOLDER    # what Spark alone takes for the same
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from bench.figures import Figure

EDGES, VERTICES = 3_400_000, 260_000
WARM_UP, ROUNDS, FRESH_ROUNDS = 4, 7, 3
SECTION = "loading"


def run(session: gt.Session, *, quick: bool) -> list[Figure]:
    """All figures of loading; fresh processes only where they are meant."""
    with tempfile.TemporaryDirectory(prefix="graphtide-loading-") as name:
        folder = Path(name)
        write_input(folder, EDGES // 100 if quick else EDGES)
        return [
            *_warm(session, folder, quick),
            _two_edges(session, quick),
            *([] if quick else [_fresh(folder)]),
        ]


def write_input(folder: Path, edges: int) -> None:
    """`edges.parquet`, with ends as skewed as those of most graphs, and the table of ids."""
    random = np.random.default_rng(20261116)
    ends = [(VERTICES * random.random(edges) ** 2).astype(np.int64) * 7 for _ in range(2)]
    columns = {
        "src": ends[0],
        "dst": ends[1],
        "year": random.integers(1990, 2020, edges),
        "weight": random.random(edges),
    }
    pq.write_table(pa.table(columns), folder / "edges.parquet", row_group_size=500_000)
    ids = np.unique(np.concatenate(ends))
    numbers = pa.table({"id": ids, "number": np.arange(len(ids), dtype=np.int32)})
    pq.write_table(numbers, folder / "ids.parquet")


def spark_alone(session: gt.Session, folder: Path) -> None:
    """Read, replace both ends by joins, write: what no load on Spark does without."""
    from pyspark.sql import functions as F

    read = session.spark.read
    edges, ids = (read.parquet(str(folder / f"{name}.parquet")) for name in ("edges", "ids"))
    for end in ("src", "dst"):
        numbers = ids.select(F.col("id").alias(end), F.col("number").alias(f"_{end}"))
        edges = edges.join(F.broadcast(numbers), end)
    wanted = edges.select("_src", "_dst", "year", "weight")
    wanted.write.mode("overwrite").parquet(str(folder / "alone"))


def _warm(session: gt.Session, folder: Path, quick: bool) -> list[Figure]:
    def load() -> None:
        session.load("measured", edges=str(folder / "edges.parquet"), replace=True)

    ours, alone = _in_turns(load, lambda: spark_alone(session, folder), quick)
    note = f"{ours:.2f} s over {alone:.2f} s"
    name = f"{EDGES:,} edges from Parquet, warm, times Spark alone"
    return [Figure(name, ours / alone, "at most", 2, "x", note, SECTION)]


def _two_edges(session: gt.Session, quick: bool) -> Figure:
    def load() -> None:
        session.load("two", edges=[(1, 2), (2, 3)], edge_columns=["src", "dst"], replace=True)

    seconds = [_seconds(load) for _ in range(2 if quick else 2 * (WARM_UP + ROUNDS))]
    middle = statistics.median(seconds[len(seconds) // 2 :])
    return Figure("two edges, warm", middle, "at most", 0.5, "s", "", SECTION)


def _in_turns(
    ours: Callable[[], None], other: Callable[[], None], quick: bool
) -> tuple[float, float]:
    """The median times of two pieces of work, after some rounds of warming up."""
    pairs = [(_seconds(ours), _seconds(other)) for _ in range(1 if quick else WARM_UP + ROUNDS)]
    measured = pairs[0 if quick else WARM_UP :]
    return statistics.median(a for a, _ in measured), statistics.median(b for _, b in measured)


def _fresh(folder: Path) -> Figure:
    found: dict[str, list[float]] = {"ours": [], "spark": []}
    for _ in range(FRESH_ROUNDS):
        for kind, seconds in found.items():
            command = [sys.executable, "-m", "bench.loading", kind, str(folder)]
            seconds.append(_seconds(lambda: subprocess.run(command, check=True)))  # noqa: B023
    ours, alone = (statistics.median(seconds) for seconds in found.values())
    note = f"{ours:.1f} s over {alone:.1f} s, start of Python and Spark included"
    name = "the same, fresh, times Spark's own fresh run"
    return Figure(name, ours / alone, "at most", 4, "x", note, SECTION)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main(kind: str, folder: Path) -> None:
    """One fresh run."""
    store = folder / "fresh"
    session = gt.session(store, master="local[2]", memory="4g", progress=False)
    if kind == "ours":
        session.load("measured", edges=str(folder / "edges.parquet"))
    else:
        spark_alone(session, folder)
    session.spark.stop()
    shutil.rmtree(store, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
