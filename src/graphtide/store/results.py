"""The results of a run on disk: a base and differences, growing part by part.

A generation of a run holds

    base.parquet         the values of every vertex on the empty version, a column a field
    globals.parquet      those of the whole graph, one row, where there are any
    NAME.rows.parquet    the rows that walks report there, a row each
    steps.parquet        the plan as it was run: view or stone, parent, sizes
    parts/part-000000/   some finished steps in their order: record.parquet, a row a step, and
                         a file a field, a row a difference: step, vertex, old, new
    parts/LAST           names the last part that counts

and is committed before the first step is run. A part is written beside, renamed into place, and
counts when LAST names it: a process killed at any moment loses the steps since the last part and
nothing else. A part has a manifest of its own, which names the checksum of the one before it, and
the first that of the run; so LAST vouches for all parts, and none of them can be lost, exchanged or
changed unnoticed. A run that is done in pieces, some results of all steps at a time, has parts of
each piece in `parts/pieces-N/piece-000000` until they become its own.

The writer holds the lock of the store for as long as it runs. Those who run programs know what the
columns mean; here they are tables.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.checksums import checksums_by_threads
from graphtide.model.disk import disk_errors
from graphtide.model.errors import InputError
from graphtide.store import pointer as pointers
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, hold, open_committed
from graphtide.store.files import Damage, inventory_from
from graphtide.store.generation import (
    MANIFEST,
    Generation,
    Manifest,
    read_manifest,
    write_manifest,
)
from graphtide.store.pointer import Pointer, read_pointer, sync_path, sync_tree

_BASE, _STEPS, _RECORD = "base.parquet", "steps.parquet", "record.parquet"
_GLOBALS, _ROWS = "globals.parquet", ".rows.parquet"
PARTS = "parts"
_LAST, _NONE = "LAST", Pointer("none", "00000000")
_PARTIAL = ".partial"
_PIECES = "pieces"
_KEPT = "make room; what is finished is kept, and the run can be resumed"


@dataclass(frozen=True)
class Part:
    """Finished steps: their record, and the differences of each field."""

    record: pa.Table
    differences: Mapping[str, pa.Table]


class Parts(Protocol):
    """The finished steps of a run, part by part."""

    def __len__(self) -> int: ...

    def append(self, part: Part) -> None:
        """Keep a part, for good."""

    def record(self) -> pa.Table | None:
        """The records of all finished steps; None where there are none."""

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece of a run that is done in pieces: as many as were begun, if any."""

    def end_pieces(self) -> None:
        """Give up the pieces, which have become parts."""


class PartsInMemory:
    """Parts that last as long as the process."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._pieces: list[PartsInMemory] = []

    def __len__(self) -> int:
        return len(self._parts)

    def append(self, part: Part) -> None:
        """Keep a part."""
        self._parts.append(part)

    def record(self) -> pa.Table | None:
        """The records of all finished steps."""
        return pa.concat_tables([part.record for part in self._parts]) if self._parts else None

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""
        return int(self._parts[part].record.column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""
        return self._parts[part].differences[field]

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece: as many as were begun, if any."""
        self._pieces = self._pieces or [PartsInMemory() for _ in range(wanted)]
        return self._pieces

    def end_pieces(self) -> None:
        """Give up the pieces."""
        self._pieces = []


class RecordOnly(PartsInMemory):
    """The records of finished steps, and none of their results."""

    def append(self, part: Part) -> None:
        """Keep the record of the steps, and drop their differences."""
        super().append(Part(part.record, {}))

    def differences(self, part: int, field: str) -> pa.Table:
        """InputError: there are none."""
        raise InputError(
            "the results of this run were not kept",
            hint="its record is there; run it again with results to read them",
        )


class PartsOnDisk:
    """Parts in the folder of a run: those that there were when it was opened, and one's own."""

    def __init__(self, run: Generation, piece: Path | None = None) -> None:
        self._run = run
        self._folder = run.path / PARTS if piece is None else piece
        self._root = run.checksum if piece is None else f"{run.checksum} {piece.name}"
        self._last = self._read_last()

    def __len__(self) -> int:
        return _count(self._last)

    def append(self, part: Part) -> None:
        """Write a part; it is on disk when this returns."""
        final = self._folder / f"part-{len(self):06d}"
        partial = final.with_name(final.name + _PARTIAL)
        with disk_errors(f"the results of {self._run.what}", partial, _KEPT):
            checksum = self._write(part, partial)
            shutil.rmtree(final, ignore_errors=True)
            partial.rename(final)
            sync_path(self._folder)
            self._put_last(Pointer(final.name, checksum))

    def record(self) -> pa.Table | None:
        """The records of all finished steps."""
        found = [part.table(_RECORD) for part in self.generations]
        return pa.concat_tables(found) if found else None

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""
        return int(self.generations[part].table(_RECORD).column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""
        return self.generations[part].table(f"{field}.field.parquet")

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece, in folders of their own: as many as were begun, if any.

        One piece that nobody has begun is the whole.
        """
        begun = [path for path in self._folder.glob(f"{_PIECES}-*") if path.suffix != _PARTIAL]
        if not begun and wanted == 1:
            return [self]
        folder = begun[0] if begun else self._begin_pieces(wanted)
        count = int(folder.name.rpartition("-")[2])
        return [PartsOnDisk(self._run, folder / _piece_name(at)) for at in range(count)]

    def end_pieces(self) -> None:
        """Remove the pieces from the disk."""
        for folder in self._folder.glob(f"{_PIECES}-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _begin_pieces(self, count: int) -> Path:
        """Folders for so many pieces, all there or none."""
        folder = self._folder / f"{_PIECES}-{count}"
        partial = folder.with_name(folder.name + _PARTIAL)
        with disk_errors(f"the results of {self._run.what}", partial, _KEPT):
            shutil.rmtree(partial, ignore_errors=True)
            for number in range(count):
                start_parts(partial / _piece_name(number))
            partial.rename(folder)
            sync_path(self._folder)
        return folder

    @cached_property
    def generations(self) -> list[Generation]:
        """Every part with its manifest, each of which vouches for the one before it."""
        found: list[Generation] = []
        checksum = self._last.checksum
        for number in reversed(range(len(self))):
            part = self._open(number, checksum)
            found.append(part)
            checksum = part.manifest["follows"]
        if found and checksum != self._root:
            raise self._run.damaged(Damage(found[-1].path / MANIFEST, "is that of another run"))
        return found[::-1]

    def _write(self, part: Part, partial: Path) -> str:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        pq.write_table(part.record, partial / _RECORD)
        for field, table in part.differences.items():
            write_differences(table, partial / f"{field}.field.parquet")
        before = self._last.checksum if len(self) else self._root
        content = {"part": len(self), "follows": before}
        checksum = write_manifest(partial, content, checksums_by_threads)
        sync_tree(partial)
        return checksum

    def _put_last(self, last: Pointer) -> None:
        pointers.prepare(self._folder / _LAST, last)
        pointers.commit(self._folder / _LAST)
        sync_path(self._folder)
        self._last = last
        # What was opened before has one part fewer.
        self.__dict__.pop("generations", None)

    def _read_last(self) -> Pointer:
        file = self._folder / _LAST
        found = _read_last(file)
        while isinstance(found, Pointer) and self._is_behind(found):
            # Whoever writes has gone on since, or else somebody has put an older LAST here.
            again = _read_last(file)
            found = Damage(file, "names a part before the last") if again == found else again
        if isinstance(found, Pointer):
            return found
        self._run.check_in_force()
        raise self._run.damaged(found)

    def _is_behind(self, last: Pointer) -> bool:
        """True if there are more parts than the one that a killed writer may have left."""
        return (self._folder / f"part-{_count(last) + 1:06d}").exists()

    def _open(self, number: int, checksum: str) -> Generation:
        path = self._folder / f"part-{number:06d}"
        read = read_manifest(path, checksum)
        if not isinstance(read, Damage) and read[0].get("part") != number:
            read = Damage(path / MANIFEST, "is that of another part")
        run = self._run
        if isinstance(read, Damage):
            run.check_in_force()
            raise run.damaged(read)
        files = inventory_from(read[0]["files"])
        return Generation(path, *read, files, run.what, run.remedy, within=run.path)


def _piece_name(number: int) -> str:
    return f"piece-{number:06d}"


def _read_last(file: Path) -> Pointer | Damage:
    found = read_pointer(file) or Damage(file, "is gone")
    if isinstance(found, Pointer) and found != _NONE and not found.name.startswith("part-"):
        return Damage(file, "is not as it was written")
    return found


def _count(last: Pointer) -> int:
    """The parts up to the last one."""
    return 0 if last == _NONE else int(last.name.removeprefix("part-")) + 1


def start_parts(folder: Path) -> None:
    """Begin with no part at all. Only before somebody else can see the folder."""
    folder.mkdir(parents=True)
    pointers.prepare(folder / _LAST, _NONE)
    pointers.commit(folder / _LAST)


def write_differences(table: pa.Table, path: Path) -> None:
    """Write a table and encode `step` alone, which has long runs: twice as fast as all columns."""
    pq.write_table(table, path, use_dictionary=["step"], compression="lz4", write_statistics=False)


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
) -> Iterator[StoredRun]:
    """A run without a finished step, in place of one of the same name; locked until left."""
    folder = catalog.run_folder(name)
    with begin(folder, replace=replace, what=f"the run '{name}'") as commit:
        with disk_errors(commit.what, commit.path):
            pq.write_table(base.rows, commit.path / _BASE)
            if base.graph is not None:
                pq.write_table(base.graph, commit.path / _GLOBALS)
            for matches, table in base.matches.items():
                pq.write_table(table, commit.path / f"{matches}{_ROWS}")
            pq.write_table(steps, commit.path / _STEPS)
            start_parts(commit.path / PARTS)
        commit.finish({"kind": "run", **manifest}, growing=PARTS)
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
