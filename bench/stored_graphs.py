"""RMAT graphs in a catalog, written as a load leaves them: loading is not what is measured here.

Vertices are named by numbers. Edges come in blocks, so that they need not fit memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import graphtide as gt
from bench.rmat import rmat
from graphtide.model.schema import GraphSchema, GraphSummary, Property, PropertyType
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import graph_manifest

Columns = dict[str, NDArray[Any]]
"""`src` and `dst`, and perhaps `weight`."""

PARTS, ROWS = 8, 1 << 22


@contextmanager
def stored_rmat(scale: int) -> Iterator[tuple[gt.CatalogGraph, NDArray[np.int32]]]:
    """An RMAT graph with weights in a catalog of its own, and the sources of its edges."""
    src, dst = rmat(scale)
    columns: Columns = {"src": src, "dst": dst, "weight": np.random.default_rng(1).random(len(src))}
    size = -(-len(src) // PARTS)
    blocks = (
        {name: column[first : first + size] for name, column in columns.items()}
        for first in range(0, len(src), size)
    )
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        yield write_stored(Path(folder), 1 << scale, len(src), blocks, weights=True), src


def write_stored(
    root: Path, vertices: int, edges: int, blocks: Iterable[Columns], *, weights: bool = False
) -> gt.CatalogGraph:
    """The graph `net` of a catalog with so many edges, a file a block."""
    edge = (Property("weight", PropertyType.FLOAT),) if weights else ()
    schema = GraphSchema(id_type=PropertyType.INT, vertex=(), edge=edge)
    with begin(Catalog(root).graph_folder("net"), replace=False, what="net") as commit:
        for folder in ("vertices", "edges"):
            (commit.path / folder).mkdir()
        for first in range(0, vertices, ROWS):
            ids = np.arange(first, min(vertices, first + ROWS))
            _write(commit.path / "vertices", first, {"_vertex": ids.astype(np.int32), "_id": ids})
        first = 0
        for block in blocks:
            numbers = np.arange(first, first + len(block["src"]), dtype=np.int32)
            ends = {"_edge": numbers, "_src": block["src"], "_dst": block["dst"]}
            more = {"weight": block["weight"]} if weights else {}
            _write(commit.path / "edges", first, {**ends, **more})
            first += len(numbers)
        commit.finish(graph_manifest(GraphSummary(schema, vertices, edges, 0, "RMAT")))
    return gt.session(root, progress=False).graph("net")


def _write(folder: Path, first: int, columns: Columns) -> None:
    arrays: dict[str, Any] = dict(columns)
    rows = len(next(iter(columns.values())))
    place = [name.startswith("_") for name in arrays].count(True)
    table = pa.table(arrays).add_column(place, "_label", pa.nulls(rows, pa.string()))
    pq.write_table(table, folder / f"part-{first:012d}.parquet")
