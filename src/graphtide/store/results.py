"""The results of a run on disk: a base and differences, growing part by part.

A generation of a run holds

    base.parquet         the values of every vertex on the empty version, a column a field
    globals.parquet      those of the whole graph, one row, where there are any
    NAME.rows.parquet    the rows that walks report there, a row each
    steps.parquet        the plan as it was run: view or stone, parent, sizes
    parts/part-000000/   some finished steps in their order: record.parquet, a row a step, and
                         a file a field, a row a difference: step, vertex, old, new
    parts/LAST           names the last part that counts

and is committed before the first step is run. The writer holds the lock of the store for as long
as it runs. Those who run programs know what the columns mean; here they are tables.

Where tasks made a part together, its files are `FIELD.base` (the results of the empty version),
`FIELD.field` (the differences from it) and perhaps `states`, which a later run goes on from.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from graphtide.model import disk
from graphtide.model.disk import Checksums, disk_errors
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, hold, open_committed
from graphtide.store.files import READ_VERTICES, Damage, FileFacts, write_table
from graphtide.store.generation import MANIFEST, Generation, Manifest
from graphtide.store.parts import (
    PARTS,
    TOLD,
    PartsOnDisk,
    start_parts,
)

PAGE = 1 << 20
"""A reader that only looks through rows reads this many at a time."""


def base_table(parts: PartsOnDisk, field: str) -> pa.Table:
    """The results of the empty version: `vertex` and `value`."""
    return parts.tables(0, parts.several(0, f"{field}.base-"))


def pages(parts: PartsOnDisk, part: int, stem: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The rows of some files of a part, page by page."""
    for name in parts.several(part, f"{stem}-"):
        for page in parts.generations[part].pages(name, columns, PAGE):
            READ_VERTICES.add(page.num_rows)
            yield page


def paths(parts: PartsOnDisk, part: int, stem: str, checksums: Checksums) -> list[Path]:
    """The paths of some files of a part, after comparing them with the manifest."""
    names = parts.several(part, f"{stem}-")
    parts.generations[part].compare(names, checksums)
    return [parts.generations[part].path / name for name in names]


def listed(parts: PartsOnDisk, part: int, stem: str) -> list[tuple[Path, FileFacts]]:
    """Some files of a part with their facts, to be linked."""
    generation = parts.generations[part]
    return [
        (generation.path / name, generation.files[name]) for name in parts.several(part, f"{stem}-")
    ]


def told(parts: PartsOnDisk, part: int) -> Manifest:
    """The facts that the tasks which made a part noted in its manifest."""
    manifest: Manifest = parts.generations[part].manifest.get(TOLD) or {}
    return manifest


_BASE, _STEPS = "base.parquet", "steps.parquet"
_GLOBALS, _ROWS = "globals.parquet", ".rows.parquet"


class EmptyVersionTables(NamedTuple):
    """Values on the empty version: a row a vertex or pair, one for the whole graph, and matches."""

    rows: pa.Table
    graph: pa.Table | None
    matches: Mapping[str, pa.Table]


@dataclass(frozen=True)
class StoredRun:
    """One generation of a run, finished or not."""

    name: str
    generation: Generation
    parts: PartsOnDisk

    @property
    def path(self) -> Path:
        return self.generation.path

    @property
    def manifest(self) -> Manifest:
        return self.generation.manifest

    def base(self) -> EmptyVersionTables:
        """The values on the empty version, one column for each field."""
        whole = _GLOBALS in self.generation.files
        graph = self.generation.table(_GLOBALS) if whole else None
        matches = {
            name.removesuffix(_ROWS): self.generation.table(name)
            for name in self.generation.files
            if name.endswith(_ROWS) and "/" not in name
        }
        return EmptyVersionTables(self.generation.table(_BASE), graph, matches)

    def steps(self) -> pa.Table:
        return self.generation.table(_STEPS)


@contextlib.contextmanager
def begin_run(
    catalog: Catalog,
    name: str,
    manifest: Manifest,
    base: EmptyVersionTables,
    steps: pa.Table,
    *,
    replace: bool = True,
    linked: Mapping[str, tuple[Path, FileFacts]] = MappingProxyType({}),
) -> Iterator[StoredRun]:
    """A run without a finished step, in place of one of the same name; locked until left.

    Files that are `linked` may be of the run that it takes the place of.
    """
    folder = catalog.run_folder(name)
    with begin(folder, replace=replace, what=f"the run '{name}'") as commit:
        with disk_errors(commit.what, commit.path):
            write_table(base.rows, commit.path / _BASE)
            if base.graph is not None:
                write_table(base.graph, commit.path / _GLOBALS)
            for matches, table in base.matches.items():
                write_table(table, commit.path / f"{matches}{_ROWS}")
            write_table(steps, commit.path / _STEPS)
            for file, (path, _) in linked.items():
                disk.link_or_copy(path, commit.path / file)
            start_parts(commit.path / PARTS)
        carried = {file: facts for file, (_, facts) in linked.items()}
        commit.finish({"kind": "run", **manifest}, growing=PARTS, carried=carried)
        yield open_run(catalog, name)


@contextlib.contextmanager
def continue_run(catalog: Catalog, name: str) -> Iterator[StoredRun]:
    """Open a run to append parts; locked until the block ends."""
    with hold(catalog.existing_run(name), f"the run '{name}'"):
        yield open_run(catalog, name)


def open_run(catalog: Catalog, name: str) -> StoredRun:
    """The run of that name, with the parts that it has now."""
    return stored_run(name, open_committed(catalog.existing_run(name), f"the run '{name}'"))


def stored_run(name: str, generation: Generation) -> StoredRun:
    generation = generation.with_remedy(
        "run it again; views whose results are in other files can still be read"
    )
    if generation.manifest.get("kind") != "run":
        raise generation.damaged(Damage(generation.path / MANIFEST, "is not that of a run"))
    return StoredRun(name, generation, PartsOnDisk(generation))
