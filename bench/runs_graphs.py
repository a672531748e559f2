"""The graphs that collections are made of: arrays of edges, vertices numbered from 0.

Edges keep the order of their file. Weights are whole numbers from 1 to 10 drawn at random, and so
are the numbers of authors of papers, which cit-HepPh does not tell. Where a graph is not directed,
every pair is one edge, and programs go along it both ways.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
from numpy.typing import NDArray

from bench import data
from bench.rmat import rmat

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
HEAVIEST = 10
MOST_AUTHORS = 25


@dataclass(frozen=True)
class EdgeTable:
    """A graph. `time` has a second of the epoch for every edge, or nothing."""

    name: str
    vertices: int
    src: Int32
    dst: Int32
    weight: NDArray[np.float64]
    time: Int64
    directed: bool
    ids: Int64

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.src)

    @property
    def sources(self) -> list[int]:
        """Five vertices to start from: those of the highest degrees, the highest first."""
        ends = self.src if self.directed else np.concatenate([self.src, self.dst])
        degrees = np.bincount(ends, minlength=self.vertices)
        found: list[int] = np.argsort(-degrees, kind="stable")[:5].tolist()
        return found

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Each of the five vertices to start from, with one of five spread over all vertices."""
        targets = [(2 * at + 1) * self.vertices // 10 for at in range(5)]
        return list(zip(self.sources, targets, strict=False))


def read_edges(file: str, *, directed: bool) -> EdgeTable | None:
    """A graph by the name of its file; None where the file is not there."""
    path = data.find(file)
    if path is None:
        return None
    columns = _columns(path)
    ids, numbers = np.unique(np.concatenate(columns[:2]), return_inverse=True)
    src, dst = numbers.reshape(2, -1).astype(np.int32)
    time = columns[2] if len(columns) > 2 else np.zeros(0, np.int64)
    name = file.partition(".")[0]
    return EdgeTable(name, len(ids), src, dst, weights(len(src)), time, directed, ids)


def read_grid() -> EdgeTable | None:
    """The European grid: buses and branches."""
    bus, branch = (data.find(f"grid-2869pegase-{part}.csv.gz") for part in ("bus", "branch"))
    if bus is None or branch is None:
        return None
    ids = np.sort(csv.read_csv(bus).column("bus").to_numpy())
    rows = csv.read_csv(branch)
    src, dst = (np.searchsorted(ids, rows.column(end).to_numpy()) for end in ("fbus", "tbus"))
    ends = src.astype(np.int32), dst.astype(np.int32)
    none = np.zeros(0, np.int64)
    return EdgeTable("grid-2869pegase", len(ids), *ends, weights(len(src)), none, False, ids)


def weights(edges: int) -> NDArray[np.float64]:
    """Weights of so many edges."""
    return np.random.default_rng(2).integers(1, HEAVIEST + 1, edges).astype(np.float64)


def authors(graph: EdgeTable) -> Int64:
    """How many authors the citing paper of each edge has: few, sometimes many."""
    drawn = np.random.default_rng(4).geometric(0.18, graph.vertices)
    return np.minimum(drawn, MOST_AUTHORS)[graph.src]


def rmat_edges(scale: int, edges: int) -> EdgeTable:
    """An RMAT graph whose edges have arrived one after the other."""
    src, dst = (end[:edges] for end in rmat(scale))
    ids = np.arange(1 << scale)
    time = np.arange(edges)
    return EdgeTable(f"RMAT {scale}", 1 << scale, src, dst, weights(edges), time, True, ids)


def _columns(path: Path) -> list[Int64]:
    with gzip.open(path, "rt") as file:
        delimiter = "\t" if "\t" in file.readline() else " "
    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(autogenerate_column_names=True),
        parse_options=csv.ParseOptions(delimiter=delimiter),
    )
    return [column.to_numpy().astype(np.int64) for column in table.columns]
