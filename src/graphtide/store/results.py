"""The results of a run on disk: a base and differences, growing part by part.

A generation of a run holds

    base.parquet         the values of every vertex on the empty version, a column a field
    globals.parquet      those of the whole graph, one row, where there are any
    NAME.rows.parquet    the rows that walks report there, a row each
    steps.parquet        the plan as it was run: view or stone, parent, sizes
    parts/part-000000/   some finished steps in their order: record.parquet, a row a step, and
                         a file a field, a row a difference: step, vertex, old, new
    parts/LAST           names the last part that counts

and is committed before the first step is run; `parts_on_disk` says how parts are added.

The writer holds the lock of the store for as long as it runs. Those who run programs know what the
columns mean; here they are tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, hold, open_committed
from graphtide.store.files import Damage, FileFacts, write_table
from graphtide.store.generation import MANIFEST, Generation, Manifest
from graphtide.store.part_chain import PARTS, start_parts
from graphtide.store.parts_on_disk import PartsOnDisk

_BASE, _STEPS = "base.parquet", "steps.parquet"
_GLOBALS, _ROWS = "globals.parquet", ".rows.parquet"


class BaseTables(NamedTuple):
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
        """The folder of the generation."""
        return self.generation.path

    @property
    def manifest(self) -> Manifest:
        """What is known of the run beside its tables."""
        return self.generation.manifest

    def base(self) -> BaseTables:
        """The values on the empty version, a column a field."""
        whole = _GLOBALS in self.generation.files
        graph = self.generation.table(_GLOBALS) if whole else None
        matches = {
            name.removesuffix(_ROWS): self.generation.table(name)
            for name in self.generation.files
            if name.endswith(_ROWS) and "/" not in name
        }
        return BaseTables(self.generation.table(_BASE), graph, matches)

    def steps(self) -> pa.Table:
        """The plan as it is run, a row a step."""
        return self.generation.table(_STEPS)


@contextlib.contextmanager
def begin_run(
    catalog: Catalog,
    name: str,
    manifest: Manifest,
    base: BaseTables,
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
    """The run of that name, to have more parts appended; locked until left."""
    with hold(catalog.existing_run(name), f"the run '{name}'"):
        yield open_run(catalog, name)


def open_run(catalog: Catalog, name: str) -> StoredRun:
    """The run of that name, with the parts that there are now."""
    return stored_run(name, open_committed(catalog.existing_run(name), f"the run '{name}'"))


def stored_run(name: str, generation: Generation) -> StoredRun:
    """A generation as a StoredRun."""
    generation = generation.with_remedy(
        "run it again; views whose results are in other files can still be read"
    )
    if generation.manifest.get("kind") != "run":
        raise generation.damaged(Damage(generation.path / MANIFEST, "is not that of a run"))
    return StoredRun(name, generation, PartsOnDisk(generation))
