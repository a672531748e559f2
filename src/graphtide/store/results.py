"""The results of a run on disk: a base and differences, growing part by part.

A generation of a run holds

    base.parquet         the values of every vertex on the empty version, a column a field
    steps.parquet        the plan as it was run: view or stone, parent, sizes
    parts/part-000000/   some finished steps in their order: record.parquet, a row a step, and
                         a file a field, a row a difference: step, vertex, old, new

and is committed before the first step is run. A part is written beside and renamed into place, so
that it is there as a whole or not at all: a process killed at any moment loses the steps since the
last part and nothing else. Parts follow each other in the order of their steps without a gap.
A run that is done in pieces, some results of all steps at a time, has parts of each piece in
`pieces-N/piece-000000/parts` until they become its own.

The writer holds the lock of the store for as long as it runs. What the columns mean is left to
those who run programs; here they are tables.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.errors import InputError, StoreError
from graphtide.store.catalog import Catalog
from graphtide.store.commit import Manifest, begin, hold, open_committed, sync_path, sync_tree

_BASE, _STEPS, _PARTS, _RECORD = "base.parquet", "steps.parquet", "parts", "record.parquet"
_PARTIAL = ".partial"
_PIECES = "pieces"


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
        """Keep what is said of the steps; their differences are let go."""
        super().append(Part(part.record, {}))

    def differences(self, part: int, field: str) -> pa.Table:
        """InputError: there are none."""
        raise InputError(
            "the results of this run were not kept",
            hint="its record is there; run it again with results to read them",
        )


class PartsOnDisk:
    """Parts in the folder of a run."""

    def __init__(self, folder: Path) -> None:
        self._run = folder
        self._folder = folder / _PARTS
        self._count = sum(1 for _ in self._folder.glob("part-??????"))

    def __len__(self) -> int:
        return self._count

    def append(self, part: Part) -> None:
        """Write a part; it is on disk when this returns."""
        final = self._path(self._count)
        partial = final.with_name(final.name + _PARTIAL)
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            pq.write_table(part.record, partial / _RECORD)
            for field, table in part.differences.items():
                write_differences(table, partial / f"{field}.field.parquet")
            sync_tree(partial)
            partial.rename(final)
            sync_path(self._folder)
        except OSError as error:
            raise StoreError(
                f"the results cannot be written: {error.strerror or error}",
                where=str(partial),
                hint="make room; what is finished is kept, and the run can be resumed",
            ) from None
        self._count += 1

    def record(self) -> pa.Table | None:
        """The records of all finished steps."""
        found = [_read(self._path(at) / _RECORD) for at in range(self._count)]
        return pa.concat_tables(found) if found else None

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""
        record = _read(self._path(part) / _RECORD)
        return int(record.column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""
        return _read(self._path(part) / f"{field}.field.parquet")

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece, in folders of their own: as many as were begun, if any."""
        begun = [int(path.name.rpartition("-")[2]) for path in self._run.glob(f"{_PIECES}-*")]
        count = begun[0] if begun else wanted
        folder = self._run / f"{_PIECES}-{count}"
        return [PartsOnDisk(folder / f"piece-{number:06d}") for number in range(count)]

    def end_pieces(self) -> None:
        """Remove the pieces from the disk."""
        for folder in self._run.glob(f"{_PIECES}-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _path(self, part: int) -> Path:
        return self._folder / f"part-{part:06d}"


def write_differences(table: pa.Table, path: Path) -> None:
    """Steps come in runs, and so cost nothing; the rest is as it is: twice as fast to write."""
    pq.write_table(table, path, use_dictionary=["step"], compression="lz4", write_statistics=False)


@dataclass(frozen=True)
class StoredRun:
    """One generation of a run, finished or not."""

    name: str
    path: Path
    manifest: Manifest
    parts: PartsOnDisk

    def base(self) -> pa.Table:
        """The values on the empty version, a column a field, a row a vertex."""
        return self._table(_BASE)

    def steps(self) -> pa.Table:
        """The plan as it is run, a row a step."""
        return self._table(_STEPS)

    def _table(self, name: str) -> pa.Table:
        return _read(self.path / name)


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise StoreError(
            "the results of a run are gone: it was deleted, or run anew, after it was opened",
            where=str(path),
            hint="open it again with session.results(NAME); if that fails, run it again",
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"the results of a run are damaged: {error}", where=str(path), hint="run it again"
        ) from None


@contextlib.contextmanager
def begin_run(
    catalog: Catalog, name: str, manifest: Manifest, base: pa.Table, steps: pa.Table
) -> Iterator[StoredRun]:
    """A run without a finished step, in place of one of the same name; locked until left."""
    folder = catalog.run_folder(name)
    with begin(folder, replace=True, what=f"the run '{name}'") as commit:
        pq.write_table(base, commit.path / _BASE)
        pq.write_table(steps, commit.path / _STEPS)
        (commit.path / _PARTS).mkdir()
        path = commit.finish({"kind": "run", **manifest})
        yield StoredRun(name, path, manifest, PartsOnDisk(path))


@contextlib.contextmanager
def continue_run(catalog: Catalog, name: str) -> Iterator[StoredRun]:
    """The run of that name, to have more parts appended; locked until left."""
    with hold(catalog.existing_run(name), f"the run '{name}'"):
        yield open_run(catalog, name)


def open_run(catalog: Catalog, name: str) -> StoredRun:
    """The run of that name, with the parts that there are now."""
    path, manifest = open_committed(catalog.existing_run(name))
    return StoredRun(name, path, manifest, PartsOnDisk(path))
