"""The real graphs that benchmarks use, and where they are.

GRAPHTIDE_BENCH_DATA names the folder; by default it is `../shared/data` beside the repository.
A quick run makes small stand-ins of the same shape instead.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "GRAPHTIDE_BENCH_DATA"


def data_folder() -> Path:
    """Where the files are looked for."""
    return Path(os.environ.get(VARIABLE, ROOT.parent / "shared" / "data"))


def find(name: str) -> Path | None:
    """The file of that name, or None."""
    path = data_folder() / name
    return path if path.is_file() else None


def missing(name: str) -> str:
    """The note of a figure that is skipped for want of a file."""
    return f"skipped: no {name} in {data_folder()} (set {VARIABLE})"


def largest_communities(path: Path, count: int) -> list[list[int]]:
    """The largest communities of a file with one a line; ties in the order of the file."""
    with gzip.open(path, "rt") as file:
        found = [[int(word) for word in line.split()] for line in file]
    return sorted(found, key=len, reverse=True)[:count]


def community_vertices(edges: Path, communities: list[list[int]]) -> pa.Table:
    """All vertices of an edge file with a boolean property `c0`, `c1`, ... a community."""
    ids = np.unique(np.loadtxt(edges, dtype=np.int64, comments="#"))
    columns: dict[str, pa.Array] = {"id": pa.array(ids)}
    for number, members in enumerate(communities):
        columns[f"c{number}"] = pa.array(np.isin(ids, members))
    return pa.table(columns)


@contextlib.contextmanager
def stand_ins() -> Iterator[Path]:
    """Small graphs of the same shape take the place of the real ones inside the block."""
    before = os.environ.get(VARIABLE)
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        write_stand_ins(Path(folder))
        os.environ[VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[VARIABLE]
            if before is not None:
                os.environ[VARIABLE] = before


def write_stand_ins(folder: Path) -> None:
    """Small random files with the names and columns of the real ones, for quick runs."""
    random = np.random.default_rng(1)
    pairs = random.integers(80, size=(300, 2))
    _write(folder / "com-dblp.txt.gz", [f"{one}\t{other}" for one, other in pairs])
    _write(folder / "soc-Epinions1.txt.gz", ["# from to", *(f"{u}\t{v}" for u, v in pairs[::-1])])
    _write(folder / "road-NY.txt.gz", [f"{n} {n + 1}" for n in range(80)])
    groups = [sorted(random.choice(80, 30 - 2 * size, replace=False)) for size in range(12)]
    _write(
        folder / "com-dblp-communities.txt.gz",
        ["\t".join(str(member) for member in group) for group in groups],
    )
    times = np.sort(random.integers(1_250_000_000, 1_300_000_000, size=400))
    ends = random.integers(80, size=(400, 2))
    _write(
        folder / "sx-mathoverflow.txt.gz",
        [f"{one} {other} {at}" for (one, other), at in zip(ends, times, strict=True)],
    )
    _write(folder / "grid-2869pegase-bus.csv.gz", ["bus,baseKV", *(f"{n},220" for n in range(50))])
    lines = [f"{n},{(n + 1) % 50},{100 * (n % 7)}" for n in range(50)]
    _write(folder / "grid-2869pegase-branch.csv.gz", ["fbus,tbus,rateA", *lines])


def _write(path: Path, lines: list[str]) -> None:
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
