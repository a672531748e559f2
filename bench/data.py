"""The real graphs that benchmarks use, where they are, and what stands in for them if they are not.

GRAPHTIDE_BENCH_DATA names the folder; by default it is `../shared/data` beside the repository.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    """Where the files are looked for."""
    return Path(os.environ.get("GRAPHTIDE_BENCH_DATA", ROOT.parent / "shared" / "data"))


def find(name: str) -> Path | None:
    """The file of that name, or None."""
    path = data_folder() / name
    return path if path.is_file() else None


def missing(name: str) -> str:
    """The note of a figure that is skipped for want of a file."""
    return f"skipped: no {name} in {data_folder()} (set GRAPHTIDE_BENCH_DATA)"


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
