"""A lean graph on disk: compressed rows of both directions, in files that are mapped into memory.

It is a store like others: one generation, whose manifest lists every file with size and checksum,
made current in one step. What is in it follows from the edges alone, whoever gives them:
`write_lean_graph` takes them in blocks and never holds all of them, `read_lean_graph` maps the
files.

    out-offsets  out-targets  in-offsets  in-sources  in-edges  column-0 ...

Edges are sorted by way of the disk, a part of them in memory at a time:

    blocks, in the order given  --by source-->  buckets of a range of sources each
    each bucket, sorted         -->  rows by source;  --by destination-->  buckets of destinations
    each bucket, sorted         -->  rows by destination

Everything is read and written from beginning to end: a file that is mapped and written to in no
order takes a hundred times as long once it does not fit memory. A bucket is sorted in memory. All
sorting is stable, so that rows do not depend on how edges came in blocks, or on how many buckets
there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import CompressedRows, LeanGraph, offset_type, sorted_by_key
from graphtide.model import disk
from graphtide.model.delta import number_type
from graphtide.model.disk import disk_errors
from graphtide.model.errors import DamagedError, InputError
from graphtide.store.arrays import mapped_array
from graphtide.store.commit import begin, find_pointer, open_committed
from graphtide.store.files import Damage, are_offsets, well_formed, within
from graphtide.store.generation import MANIFEST, Generation

Int32 = NDArray[np.int32]
BUCKET_EDGES = 1 << 24
"""At most about this many edges are sorted in memory at a time: a gigabyte with all that is beside
them. Where a few vertices that are neighbours by number have most edges, there are more."""
MOST_BUCKETS = 256
"""A block is cut into at most twice as many pieces, which are written one by one; buckets are
larger beyond."""


class EdgeBlock(NamedTuple):
    """Some edges, in the order of their numbers; `columns` are properties that go with them."""

    src: Int32
    dst: Int32
    columns: Mapping[str, NDArray[Any]]


class Buckets:
    """Files of records, a range of vertices each; a record is one item of every column."""

    def __init__(self, folder: Path, vertices: int, edges: int, types: Mapping[str, Any]) -> None:
        wanted = min(MOST_BUCKETS, max(1, edges // BUCKET_EDGES))
        span = max(1, -(-vertices // wanted))
        self.shift = (span - 1).bit_length() if wanted == 1 else span.bit_length() - 1
        self.count = max(1, -(-vertices >> self.shift))
        self._vertices = vertices
        self._types = dict(types)
        self._folder = folder
        disk.make_folder(folder)

    def add(self, keys: Int32, records: Mapping[str, NDArray[Any]]) -> None:
        """Append records to the buckets of their keys, in order."""
        if self.count == 1:
            self._append(0, records, slice(None))
            return
        order, starts = sorted_by_key(keys, 0, self.count, self.shift)
        sorted_records = {name: column[order] for name, column in records.items()}
        for bucket in np.flatnonzero(np.diff(starts)).tolist():
            self._append(bucket, sorted_records, slice(starts[bucket], starts[bucket + 1]))

    def _append(self, bucket: int, records: Mapping[str, Any], part: slice) -> None:
        for path, (name, type_) in zip(self._paths(bucket), self._types.items(), strict=True):
            with disk.open_to_append(path) as file:
                file.write(np.ascontiguousarray(records[name][part], type_))

    def vertices_of(self, bucket: int) -> tuple[int, int]:
        """The first vertex of a bucket, and how many vertices it has."""
        first = bucket << self.shift
        return first, min(self._vertices, first + (1 << self.shift)) - first

    def take(self, bucket: int) -> dict[str, NDArray[Any]]:
        """Read the records of a bucket, and remove it from the disk."""
        columns = {}
        for path, (name, type_) in zip(self._paths(bucket), self._types.items(), strict=True):
            columns[name] = _column(path, type_)
            disk.remove(path)
        return columns

    def _paths(self, bucket: int) -> list[Path]:
        return [self._folder / f"{bucket:04d}-{at}" for at in range(len(self._types))]


def column_name(number: int) -> str:
    """The name of the file of a column."""
    return f"column-{number}"


def sort_edges(
    folder: Path,
    vertices: int,
    edges: int,
    types: Mapping[str, Any],
    blocks: Iterable[EdgeBlock],
    *,
    directed: bool,
) -> int:
    """Write the rows of both directions, and columns by edge number, into a folder.

    `edges` is how many the blocks hold in all. What is on the way lies there too, and goes. Returns
    how many are in the rows by destination: all, but for loops that are not `directed`.
    """
    ends = {"src": np.int32, "dst": np.int32}
    named = {column_name(at): type_ for at, type_ in enumerate(types.values())}
    by_source = Buckets(folder / "by-source", vertices, edges, {**ends, **named})
    for block in blocks:
        columns = {column_name(at): block.columns[name] for at, name in enumerate(types)}
        by_source.add(block.src, {"src": block.src, "dst": block.dst, **columns})
    numbered = {**ends, "edge": number_type(edges)}
    by_destination = Buckets(folder / "by-destination", vertices, edges, numbered)
    back = _write_by_source(folder, (by_source, by_destination), edges, list(named), directed)
    _write_by_destination(folder, by_destination, edges)
    disk.remove_folder(folder / "by-source")
    disk.remove_folder(folder / "by-destination")
    return back


def _write_by_source(
    folder: Path, buckets: tuple[Buckets, Buckets], edges: int, named: list[str], directed: bool
) -> int:
    """Rows by source and columns, from buckets; hands every edge on with its number, and says how
    many these are.
    """
    (given, into), back = buckets, 0
    with ExitStack() as stack:

        def opened(name: str) -> disk.StoreFile:
            return stack.enter_context(disk.open_new(folder / f"{name}.bin"))

        offsets, targets = opened("out-offsets"), opened("out-targets")
        columns = {name: opened(name) for name in named}
        done = 0
        for bucket in range(given.count):
            records, (first, count) = given.take(bucket), given.vertices_of(bucket)
            order, starts = sorted_by_key(records["src"], first, count)
            offsets.write(_offsets(starts[:-1] + done, edges))
            src, dst = records["src"][order], records["dst"][order]
            targets.write(dst)
            for name, file in columns.items():
                file.write(records[name][order])
            numbers = np.arange(done, done + len(src), dtype=number_type(edges))
            there = slice(None) if directed else src != dst
            handed = {"src": src[there], "dst": dst[there], "edge": numbers[there]}
            into.add(handed["dst"], handed)
            back += len(handed["dst"])
            done += len(src)
        offsets.write(_offsets(np.array([done]), edges))
    return back


def _write_by_destination(folder: Path, given: Buckets, edges: int) -> None:
    """Write rows by destination; one bucket is sorted while the one before is written."""
    names = "in-offsets", "in-sources", "in-edges"
    with ExitStack() as stack:
        files = [stack.enter_context(disk.open_new(folder / f"{name}.bin")) for name in names]
        pool = stack.enter_context(ThreadPoolExecutor(1))
        done, coming = 0, pool.submit(_sorted_bucket, given, 0)
        for bucket in range(given.count):
            starts, sources, numbers = coming.result()
            if bucket + 1 < given.count:
                coming = pool.submit(_sorted_bucket, given, bucket + 1)
            for file, column in zip(
                files, (_offsets(starts[:-1] + done, edges), sources, numbers), strict=True
            ):
                file.write(np.ascontiguousarray(column))
            done += len(sources)
        files[0].write(_offsets(np.array([done]), edges))


def _sorted_bucket(given: Buckets, bucket: int) -> tuple[NDArray[Any], ...]:
    records, (first, count) = given.take(bucket), given.vertices_of(bucket)
    order, starts = sorted_by_key(records["dst"], first, count)
    return starts, records["src"][order], records["edge"][order]


def _column(path: Path, type_: Any) -> NDArray[Any]:
    try:
        return np.frombuffer(disk.read_file(path), type_)
    except FileNotFoundError:
        return np.empty(0, type_)


def _offsets(values: NDArray[np.int64], edges: int) -> NDArray[Any]:
    return values.astype(offset_type(edges))


MOST_VERTICES = 1 << 31
_REMEDY = "run a program on the graph: its lean graph is made again then"


def write_lean_graph(
    folder: Path,
    vertices: int,
    edges: int,
    blocks: Iterable[EdgeBlock],
    types: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    *,
    directed: bool = True,
) -> None:
    """Sort edges into a lean graph, in place of one that may be there; all of it or nothing.

    `types` are those of the columns that blocks have, `facts` what the manifest is to say besides.
    Loops that are not `directed` are in the rows by source alone. Needs room on disk for about 32
    bytes an edge meanwhile, and for 13 in the end.
    """
    if vertices > MOST_VERTICES:
        raise InputError(f"{vertices:,} vertices are too many", hint=f"at most {MOST_VERTICES:,}")
    named = {name: np.dtype(type_) for name, type_ in (types or {}).items()}
    with begin(folder, replace=True, what="the lean graph") as commit:
        with disk_errors(commit.what, folder):
            back = sort_edges(commit.path, vertices, edges, named, blocks, directed=directed)
        _check_count(commit.path, edges)
        columns = {name: type_.str for name, type_ in named.items()}
        sizes = {"vertices": vertices, "edges": edges, "back": back, "columns": columns}
        commit.finish({"kind": "lean graph", **sizes, **(facts or {})})


def lean_facts(folder: Path) -> Mapping[str, Any] | None:
    """The manifest of a lean graph; None if there is none."""
    return None if find_pointer(folder) is None else _opened(folder).manifest


def read_lean_graph(folder: Path) -> LeanGraph:
    """Map a lean graph into memory, after its files have been compared with what was written.

    Kernels look at no bounds, so all numbers in it are looked at first: O(edges), a third of the
    time that their checksums take.
    """
    generation = _opened(folder)
    with well_formed("the lean graph", generation.path):
        lean = _mapped(generation)
        for rows in (lean.out, lean.into):
            if not (
                are_offsets(rows.offsets, len(rows.neighbour))
                and within(rows.neighbour, lean.vertices)
                and within(rows.edge, lean.edges)
            ):
                raise ValueError("an edge of what is not there")
        truths = (item for item in lean.columns.values() if item.dtype == np.bool_)
        if not all(within(item.view(np.uint8), 2) for item in truths):
            raise ValueError("a value that is neither true nor false")
    return lean


def _mapped(generation: Generation) -> LeanGraph:
    manifest = generation.manifest
    vertices, edges, types = (manifest[name] for name in ("vertices", "edges", "columns"))
    back = manifest.get("back", edges)
    if not type(vertices) is type(edges) is type(back) is int:
        raise TypeError(f"{vertices!r:.40} vertices, {edges!r:.40} edges")

    def mapped(name: str, type_: Any, count: int) -> NDArray[Any]:
        items = mapped_array(generation.file(f"{name}.bin"), type_)
        if len(items) != count:
            path = generation.path / f"{name}.bin"
            raise generation.damaged(Damage(path, f"has {len(items):,} items, not {count:,}"))
        return items

    offsets, numbers = offset_type(edges), number_type(edges)
    out = CompressedRows(
        mapped("out-offsets", offsets, vertices + 1),
        mapped("out-targets", np.int32, edges),
        np.empty(0, numbers),
    )
    into = CompressedRows(
        mapped("in-offsets", offsets, vertices + 1),
        mapped("in-sources", np.int32, back),
        mapped("in-edges", numbers, back),
    )
    columns = {
        name: mapped(column_name(at), type_, edges)
        for at, (name, type_) in enumerate(types.items())
    }
    return LeanGraph(vertices, out, into, columns)


def _opened(folder: Path) -> Generation:
    generation = open_committed(folder, "the lean graph").with_remedy(_REMEDY)
    if generation.manifest.get("kind") != "lean graph":
        raise DamagedError(
            "this is no lean graph", where=str(generation.path / MANIFEST), hint=_REMEDY
        )
    return generation


def _check_count(path: Path, edges: int) -> None:
    count = (path / "out-targets.bin").stat().st_size // 4
    if count != edges:
        raise InputError(f"there are {count:,} edges in blocks, and {edges:,} were announced")
