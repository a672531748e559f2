"""Making the shards of a collection: by tasks of Spark, each of which writes files of its own.

The driver plans, and lists the files that it is told of in one manifest. It reads no edges.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.edge_data import NO_MOMENT
from graphtide.engine.shards.local_graph import WAYS
from graphtide.engine.shards.placement import Placement
from graphtide.engine.vertex_data import NO_TEXT
from graphtide.model.cache import cache_root
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.live.edge_rows import property_column
from graphtide.run.live.vertex_columns import moment_numbers
from graphtide.run.shards.packing import pack_shard
from graphtide.store.array_files import write_arrays
from graphtide.store.behind import graph_behind
from graphtide.store.collection import StoredCollection
from graphtide.store.files import FileFacts
from graphtide.store.shards import SUFFIX, StoredShards, last_count, open_shards, write_shards

ENTRY = "graphtide.run.shards.making:write_files"
MOST_SHARDS, LEAST_SHARDS = 1024, 8
EDGES_A_SHARD = 16_384
"""Fewer edges than this are not worth a file of their own."""

PARTS_A_SLOT = 4
_FIXED = ("_shard", "_place", "_end", "_edge", "_class")


@dataclass(frozen=True)
class _Order:
    folder: Path
    way: str
    vertices: int
    shards: int


def shards_of(space: Workspace, stored: StoredCollection, count: int | None = None) -> StoredShards:
    """The shards of a collection as it is now, made if need be; `count` is for those."""
    identity = collection_identity(stored)
    graph = graph_behind(space.catalog, stored)
    there = open_shards(space.catalog, stored.name, identity)
    if there is not None and there.vertices == graph.vertices:
        return there
    slots = space.gateway.slots()
    shards = _shards(space, stored, graph.vertices) if count is None else count
    parts = min(shards, PARTS_A_SLOT * slots)

    def fill(folder: Path) -> dict[str, FileFacts]:
        files: dict[str, FileFacts] = {}
        for way in WAYS:
            order = pickle.dumps(_Order(folder, way, graph.vertices, shards))
            given = graph, stored, way, (shards, parts), ENTRY, order, str(cache_root())
            files |= dict(map(pickle.loads, space.gateway.write_shards(*given)))
        return files

    sizes = shards, graph.vertices
    return write_shards(space.catalog, stored.name, identity, sizes, fill)


def _shards(space: Workspace, stored: StoredCollection, vertices: int) -> int:
    """As many as before, if that is about right: what tasks have kept is kept by shard."""
    wanted = chosen_shards(vertices, int(stored.weights.sum()))
    before = last_count(space.catalog, stored.name)
    if before is not None and before <= max(1, vertices) and wanted <= 2 * before <= 4 * wanted:
        return before
    return wanted


def collection_identity(stored: StoredCollection) -> str:
    """A collection as of now, as text."""
    return f"{stored.created.isoformat()}|{stored.facts.graph_identity}"


def chosen_shards(vertices: int, edges: int) -> int:
    """How many shards a graph of this size gets."""
    wanted = max(LEAST_SHARDS, edges // EDGES_A_SHARD)
    return max(1, min(MOST_SHARDS, wanted, vertices))


def write_files(order: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Write a file for each shard among sorted rows, and tell of it; the entry of a task."""
    given: _Order = pickle.loads(order)
    held: list[pa.RecordBatch] = []
    for piece in _one_shard_each(batches):
        if held and _shard(held[0]) != _shard(piece):
            yield _write(given, held)
            held = []
        held.append(piece)
    if held:
        yield _write(given, held)


def _one_shard_each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = batch.column("_shard").to_numpy()
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        for first, behind in pairwise([0, *cuts.tolist(), len(numbers)]):
            if behind > first:
                yield batch.slice(first, behind - first)


def _shard(rows: pa.RecordBatch) -> int:
    return int(rows.column("_shard")[0].as_py())


def _write(given: _Order, held: list[pa.RecordBatch]) -> bytes:
    table, shard = pa.Table.from_batches(held), _shard(held[0])
    places, ends, classes = (table.column(name).to_numpy() for name in ("_place", "_end", "_class"))
    size = int(Placement(given.vertices, given.shards, 1).sizes[shard])
    packed = pack_shard(size, places, ends, classes, {})
    arrays: dict[str, NDArray[Any]] = {
        "start": packed.start,
        "ends": packed.ends,
        "table": packed.table,
        "classes": packed.classes,
    }
    for name in table.column_names:
        if name not in _FIXED:
            arrays |= _property_arrays(name, table.column(name))
    name = f"{given.way}-{shard:05d}-{uuid.uuid4().hex}{SUFFIX}"
    return pickle.dumps((name, write_arrays(given.folder / name, arrays)))


def _property_arrays(name: str, column: pa.ChunkedArray) -> dict[str, NDArray[Any]]:
    """A property as arrays: numbers as they are, moments as numbers, texts as codes and texts."""
    whole, kind = column.combine_chunks(), column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        encoded = whole.dictionary_encode()
        codes = encoded.indices.fill_null(NO_TEXT).to_numpy(zero_copy_only=False)
        texts = json.dumps(encoded.dictionary.to_pylist()).encode()
        return {
            f"property {name}": codes.astype(np.int32),
            f"texts {name}": np.frombuffer(texts, np.uint8),
        }
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        numbers = moment_numbers(whole).cast(pa.int64()).fill_null(NO_MOMENT)
        return {f"property {name}": numbers.to_numpy(zero_copy_only=False)}
    return {f"property {name}": property_column(column, name, "the graph")}
