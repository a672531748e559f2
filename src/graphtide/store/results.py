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

A run that is done in pieces, some results of all steps at a time, has parts of each piece in
`parts/pieces-N/piece-000000` until they become its own. One whose plan is cut has attempts in
`parts/sub-plans/000000-ID`, one for each worker who began with a sub-plan: several may do so at
once, none of them changes what another wrote, and all that is left of them is removed in the end.
Where tasks made a part together, its files are `FIELD.base` (the results of the empty version),
`FIELD.field` (the differences from it) and perhaps `states`, which a later run goes on from.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from graphtide.model import disk
from graphtide.model.checksums import Checksums
from graphtide.model.disk import disk_errors, sync_path
from graphtide.model.errors import GraphtideError
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, hold, open_committed
from graphtide.store.files import READ_VERTICES, Damage, FileFacts, write_table
from graphtide.store.generation import MANIFEST, Generation, Manifest, read_manifest
from graphtide.store.parts import (
    BEHIND,
    KEPT,
    LAST,
    NONE,
    PARTIAL,
    PARTS,
    TOLD,
    PartChain,
    Parts,
    read_last,
    start_parts,
)

_PIECES, _SUB_PLANS, _STOP = "pieces", "sub-plans", "STOP"


class PartsOnDisk(PartChain):
    """The parts of a run, and its pieces and attempts."""

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece, in folders of their own: as many as were begun, if any.

        One piece that nobody has begun is the whole.
        """
        begun = [path for path in self._folder.glob(f"{_PIECES}-*") if path.suffix != PARTIAL]
        if not begun and wanted == 1:
            return [self]
        folder = begun[0] if begun else self._begin_pieces(wanted)
        count = int(folder.name.rpartition("-")[2])
        return [PartsOnDisk(self._run, folder / _piece_name(at)) for at in range(count)]

    def end_pieces(self) -> None:
        for folder in self._folder.glob(f"{_PIECES}-*"):
            disk.remove_tree(folder)

    def attempt(self, number: int) -> PartsOnDisk:
        """A new attempt at a sub-plan, in its own folder, with the parts of the furthest one."""
        folder = self._folder / _SUB_PLANS / f"{number:06d}-{uuid.uuid4().hex}"
        before = self.furthest_attempt(number)
        with disk_errors(f"the results of {self._run.what}", folder, KEPT):
            start_parts(folder)
        made = PartsOnDisk(self._run, folder)
        if before is not None:
            for part in range(len(before)):
                made.take_over(before, part)
        return made

    def furthest_attempt(self, number: int) -> PartsOnDisk | None:
        """The undamaged attempt at a sub-plan that has the most parts; None if there is none."""
        attempts = []
        for folder in sorted((self._folder / _SUB_PLANS).glob(f"{number:06d}-*")):
            # Whatever is wrong with an attempt, its steps can be made again.
            with contextlib.suppress(GraphtideError):
                attempt = PartsOnDisk(self._run, folder)
                attempts.append((len(attempt.generations), folder.name, attempt))
        return max(attempts)[2] if attempts else None

    def named_attempt(self, name: str) -> PartsOnDisk:
        return PartsOnDisk(self._run, self._folder / _SUB_PLANS / name)

    @property
    def name(self) -> str:
        return self._folder.name

    def attempted(self) -> dict[int, int]:
        """How far each sub-plan is: the first step that no attempt has. Reads a manifest each."""
        furthest: dict[int, int] = {}
        for last in (self._folder / _SUB_PLANS).glob(f"*/{LAST}"):
            last_part = read_last(last)
            if isinstance(last_part, Damage) or last_part == NONE:
                continue
            read = read_manifest(last.parent / last_part.name, last_part.checksum)
            if not isinstance(read, Damage):
                number = int(last.parent.name.partition("-")[0])
                furthest[number] = max(furthest.get(number, 0), int(read[0][BEHIND]))
        return furthest

    def stop_attempts(self) -> None:
        """Ask all workers to end their attempts; finished parts are kept."""
        with contextlib.suppress(OSError):
            disk.touch(self._folder / _SUB_PLANS / _STOP)

    def attempts_stopped(self) -> bool:
        """True if attempts are to end, or were removed."""
        folder = self._folder / _SUB_PLANS
        return not folder.exists() or (folder / _STOP).exists()

    def begin_attempts(self) -> None:
        """Allow attempts to begin, or to go on after a stop."""
        folder = self._folder / _SUB_PLANS
        disk.make_folder(folder, there=True)
        disk.remove(folder / _STOP)

    def end_attempts(self) -> None:
        disk.remove_tree(self._folder / _SUB_PLANS)

    def _begin_pieces(self, count: int) -> Path:
        """Make the folders of all pieces, or none."""
        folder = self._folder / f"{_PIECES}-{count}"
        partial = folder.with_name(folder.name + PARTIAL)
        with disk_errors(f"the results of {self._run.what}", partial, KEPT):
            disk.remove_tree(partial)
            for number in range(count):
                start_parts(partial / _piece_name(number))
            disk.rename(partial, folder)
            sync_path(self._folder)
        return folder


def _piece_name(number: int) -> str:
    return f"piece-{number:06d}"


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
