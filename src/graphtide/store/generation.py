"""Generations: folders with a manifest that lists every file, and how they are named and removed.

All reading of generations goes through this module. It compares the files of a table with the
manifest before it hands out the table or its folder; where they differ, it raises an error that
names the file. So readers get what was written, and never a file that somebody added later.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model import disk
from graphtide.model.disk import (
    Checksums,
    checksums_by_threads,
    read_error,
    read_file,
    write_synced,
)
from graphtide.model.errors import DamagedError, StoreError
from graphtide.store.files import (
    CURRENT,
    Damage,
    FileFacts,
    Pointer,
    find_damage,
    find_strays,
    inventory_from,
    read_pointer,
    seal,
    take_inventory,
    unreadable,
    unseal,
)

FORMAT = 3
"""Format 3 has graphs with states; whatever has format 2 can be read as it is."""

MANIFEST = "manifest.json"

Manifest = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Generation:
    """A folder as its manifest describes it. `what` it is, and a `remedy`, are told in errors.

    `within` is the generation that a part of a run is in.
    """

    path: Path
    manifest: Manifest
    checksum: str
    files: Mapping[str, FileFacts]
    what: str
    remedy: str = "restore the folder from a copy, or delete it and make it again"
    within: Path | None = None

    def with_remedy(self, remedy: str) -> Generation:
        """The same generation, with a better hint for errors about damage."""
        return replace(self, remedy=remedy)

    def parts(self, folder: str) -> list[tuple[str, int]]:
        """The files of a table with their rows, in the order of their rows."""
        prefix = folder + "/"
        return sorted(
            (name, facts.rows or 0)
            for name, facts in self.files.items()
            if name.startswith(prefix) and "/" not in name.removeprefix(prefix)
        )

    def folder(self, name: str, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of a table for readers of whole folders: it holds the listed files only."""
        parts = [part for part, _ in self.parts(name)]
        self.compare(parts, checksums)
        strays = find_strays(self.path / name, [Path(part).name for part in parts])
        if strays:
            raise self.damaged(strays[0], "remove that file")
        return self.path / name

    def file(self, name: str) -> Path:
        """The path of a file, after comparing it."""
        self.compare([name])
        return self.path / name

    def table(
        self, name: str, columns: Sequence[str] | None = None, schema: pa.Schema | None = None
    ) -> pa.Table:
        """A file, or all files of a folder, as one table."""
        names = [name] if name in self.files else [part for part, _ in self.parts(name)] or [name]
        self.compare(names)
        paths = [str(self.path / item) for item in names]
        try:
            # Without `partitioning`, a folder `a=1` on the way would become a column.
            return pq.read_table(
                paths,
                columns=None if columns is None else list(columns),
                schema=schema,
                partitioning=None,
            )
        except (OSError, pa.ArrowException, KeyError) as error:
            raise self.damaged(unreadable(self.path / names[0], error)) from None

    def pages(self, name: str, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
        """A file in pages of at most `rows` rows."""
        path = self.file(name)
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(rows, columns=list(columns)):
                    yield pa.Table.from_batches([batch])
        except (OSError, pa.ArrowException, KeyError) as error:
            raise self.damaged(unreadable(path, error)) from None

    def compare(self, names: Iterable[str], checksums: Checksums = checksums_by_threads) -> None:
        """DamagedError unless these files are as they were written."""
        try:
            expected = {name: self.files[name] for name in names}
        except KeyError as error:
            raise self.damaged(Damage(self.path / MANIFEST, f"does not list {error}")) from None
        damages = find_damage(self.path, expected, checksums)
        if damages:
            self.check_in_force()
            raise self.damaged(damages[0], others=len(damages) - 1)

    def damaged(self, damage: Damage, remedy: str = "", others: int = 0) -> StoreError:
        """The error for a file of this generation."""
        return damaged_error(self.what, damage, remedy or self.remedy, others)

    def check_in_force(self) -> None:
        """StoreError if files are missing because a writer has replaced this generation."""
        top = self.within or self.path
        named = read_pointer(top.parent / CURRENT)
        if top.is_dir() and not (isinstance(named, Pointer) and named.name != top.name):
            return
        raise StoreError(
            f"{self.what} was deleted, or written anew, after it was opened",
            where=str(self.path),
            hint="open it again by its name",
        )


def damaged_error(what: str, damage: Damage, remedy: str, others: int = 0) -> StoreError:
    """An error that says which file is damaged and how, or that it cannot be read now."""
    if damage.error is not None:
        return read_error(damage.error, what, damage.file)
    more = f", and {others:,} more of its files are damaged too" if others else ""
    return DamagedError(
        f"{what} is damaged: {damage.file.name} {damage.problem}{more}",
        where=str(damage.file),
        hint=remedy,
    )


def write_manifest(
    path: Path,
    content: Manifest,
    checksums: Checksums,
    growing: str = "",
    carried: Mapping[str, FileFacts] = MappingProxyType({}),
) -> str:
    """List all files below a folder in a manifest, write it there, and return its checksum.

    What is below the folder `growing` is left out: it is written later, and has lists of its own.
    Files that are `carried` over from another generation are listed as they were there, unread.
    """
    written = [name for name in files_below(path, growing) if name not in carried]
    inventory = {**carried, **take_inventory(path, written, checksums)}
    files = {name: facts.to_json() for name, facts in sorted(inventory.items())}
    data, checksum = seal({"format": FORMAT, **content, "files": files})
    write_synced(path / MANIFEST, data)
    return checksum


def read_manifest(path: Path, checksum: str | None) -> tuple[Manifest, str] | Damage:
    """The manifest of a folder, if it is whole and has that checksum (None: any)."""
    file = path / MANIFEST
    try:
        content, actual = unseal(read_file(file))
        if checksum not in (None, actual):
            return Damage(file, f"is not the one that was put in force: {actual}, not {checksum}")
        inventory_from(content["files"])
    except OSError as error:
        return unreadable(file, error)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Damage(file, f"has changed: {error}")
    return content, actual


def own_entries(manifest: Manifest) -> Manifest:
    """A manifest without the entries that belong to its own generation."""
    theirs = ("format", "generation", "files")
    return {key: value for key, value in manifest.items() if key not in theirs}


def outdated(path: Path, what: str) -> StoreError:
    """The error for format 1, which kept no checksums: damage could not be told from data."""
    return StoreError(
        f"{what} was written by an earlier Graphtide, whose files cannot be checked (format 1; "
        f"this one reads format {FORMAT})",
        where=str(path),
        hint="delete it, or replace it: load the graph, create the collection or run the program "
        "again",
    )


def files_below(path: Path, growing: str = "") -> list[str]:
    """The names of all files below a folder, without its manifest and `growing`."""
    names_below = []
    for parent, folders, names in os.walk(path):
        if Path(parent) == path and growing:
            folders[:] = [name for name in folders if name != growing]
        names_below += [(Path(parent) / name).relative_to(path).as_posix() for name in names]
    return [name for name in names_below if name != MANIFEST]


PARTIAL = ".partial"
_GENERATION = re.compile(r"g-(\d{6,})(\.partial)?")

# Times that a folder in use is removed again, a twentieth of a second apart.
_PATIENCE = 100


def generations(folder: Path) -> list[str]:
    """The names of all generations, finished or not, the oldest first."""
    with disk.read_errors("the store", folder):
        try:
            names = [name for name in disk.names_in(folder) if _GENERATION.fullmatch(name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
    return sorted(names, key=lambda name: (_number(name), name))


def complete(folder: Path) -> list[str]:
    """The names of the finished generations, the oldest first."""
    return [name for name in generations(folder) if not name.endswith(PARTIAL)]


def _number(name: str) -> int:
    matched = _GENERATION.fullmatch(name)
    return int(matched[1]) if matched else 0


def next_generation(folder: Path) -> str:
    """A name that no generation has yet."""
    return f"g-{max(map(_number, generations(folder)), default=0) + 1:06d}"


def remove_all_but(folder: Path, kept: set[str] | set[str | None]) -> None:
    """Remove all generations but those to keep."""
    for name in generations(folder):
        if name not in kept:
            discard(folder / name)


def discard(path: Path, *, must: bool = False) -> None:
    """Remove a folder, or whatever has its name."""
    if path.is_dir() and not path.is_symlink():
        disk.remove_tree(path, must=must)
        return
    with contextlib.nullcontext() if must else contextlib.suppress(OSError):
        disk.remove(path)


def remove_tree(path: Path, looks: int = 1) -> None:
    """Remove a folder into which tasks that have been told to stop may still write for a moment.

    It has to be gone for so many looks in turn: what Spark had begun to plan when it was
    interrupted is not yet a job that can be stopped, and makes its folders later.
    """
    gone = 0
    for _ in range(_PATIENCE):
        disk.remove_tree(path)
        time.sleep(0.05)
        gone = 0 if path.exists() else gone + 1
        if gone == looks:
            return
