"""The shards of a collection on disk, and what the tasks of a run on shards have kept.

A generation of shards holds a file for each shard that has edges, for each of the two ways along
them:

    into-00012-ID.arrays   edges by destination: start, ends, table, classes, a column a property
    out-00012-ID.arrays    the same edges by source

Tasks of Spark write them, each its own, under names that nobody else can have; the driver lists
those that it was told of in one manifest and removes all others. A collection that was made anew
since needs other shards: the manifest names the collection that these are of.

What tasks keep is in `parts/shards` of the run, in a folder for each attempt: all tasks that
Spark began together. A task writes a file with the states of its own vertices, or one for each
field with their results, and then a note that lists them with their checksums, in one rename. A
superstep, or a view, counts where the notes of one attempt cover all shards. So a task may be
killed at any moment, and no two processes have to agree: whoever comes next finds the last
superstep that all tasks have kept, with any number of tasks, because states are looked up by
shard. What is damaged counts as not kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.disk import checksums_by_threads, disk_errors, sync_path, write_synced
from graphtide.model.errors import DamagedError, NotFoundError, StoreError
from graphtide.store.arrays import map_arrays, write_arrays
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin, is_committed, open_committed, remove
from graphtide.store.files import (
    Damage,
    FileFacts,
    find_damage,
    find_missing,
    inventory_from,
    seal,
    take_inventory,
    unreadable,
    unseal,
    well_formed,
)
from graphtide.store.generation import MANIFEST, Generation, damaged_error, files_below
from graphtide.store.parts import PARTS, PartsOnDisk, write_differences

SUFFIX = ".arrays"


@dataclass(frozen=True)
class StoredShards:
    """One generation of shards: so many, of so many vertices."""

    generation: Generation
    collection: str
    shards: int
    vertices: int

    def file(self, way: str, shard: int) -> Path | None:
        """The checked file of a shard; None if the shard has no edges."""
        name = self._names.get((way, shard))
        return None if name is None else self.generation.file(name)

    @cached_property
    def _names(self) -> dict[tuple[str, int], str]:
        parted = ((name.split("-"), name) for name in self.generation.files)
        return {(parts[0], int(parts[1])): name for parts, name in parted if len(parts) == 3}

    @property
    def bytes(self) -> int:
        return sum(facts.size for facts in self.generation.files.values())


def open_shards(catalog: Catalog, collection: str, identity: str) -> StoredShards | None:
    """The shards of a collection in its present state; None if there are none."""
    what = f"the shards of '{collection}'"
    try:
        generation = open_committed(catalog.shards_folder(collection), what)
    except NotFoundError:
        return None
    generation = generation.with_remedy("run it again: the shards are made again then")
    manifest = generation.manifest
    if manifest.get("kind") != "shards" or manifest.get("collection") != identity:
        return None
    shards, vertices = (manifest.get(name) for name in ("shards", "vertices"))
    if not type(shards) is type(vertices) is int or not 1 <= shards <= max(1, vertices) <= 1 << 31:
        raise generation.damaged(
            Damage(generation.path / MANIFEST, f"has {shards!r:.40} shards of {vertices!r:.40}")
        )
    return StoredShards(generation, identity, shards, vertices)


def last_count(catalog: Catalog, collection: str) -> int | None:
    """How many shards a collection had last, in any state; None if unknown."""
    try:
        manifest = open_committed(catalog.shards_folder(collection)).manifest
    except StoreError:
        return None
    shards = manifest.get("shards")
    return shards if manifest.get("kind") == "shards" and type(shards) is int else None


def discard_damaged(catalog: Catalog, collection: str, error: DamagedError) -> bool:
    """Remove the shards that an error is about; False if it is about something else."""
    folder = catalog.shards_folder(collection)
    if error.where is None or not Path(error.where).is_relative_to(folder):
        return False
    if is_committed(folder):
        remove(folder, f"the shards of '{collection}'")
    return True


def write_shards(
    catalog: Catalog,
    collection: str,
    identity: str,
    sizes: tuple[int, int],
    fill: Callable[[Path], Mapping[str, FileFacts]],
) -> StoredShards:
    """Shards of a collection: `sizes` are their number and that of vertices.

    `fill` has the files written into a folder, and returns those that count.
    """
    folder = catalog.shards_folder(collection)
    with begin(folder, replace=True, what=f"the shards of '{collection}'") as commit:
        written = fill(commit.path)
        for name in files_below(commit.path):
            if name not in written:
                disk.remove(commit.path / name)
        facts = {"collection": identity, "shards": sizes[0], "vertices": sizes[1]}
        manifest = {"kind": "shards", **facts}
        commit.finish(manifest, checksums=checksums_by_threads, carried=written)
    opened = open_shards(catalog, collection, identity)
    if opened is None:
        raise StoreError(f"somebody else has made the shards of '{collection}' anew")
    return opened


Int64 = NDArray[np.int64]
FOLDER = "shards"
_NOTE, _DONE, _STOP = ".note", -1, "STOP"
STATES, STATES_SUFFIX = "states", ".arrays"
EMPTY = -1
"""The step that the results of the empty version are kept as."""


@dataclass(frozen=True)
class Note:
    """A task's note: a superstep of a step of the plan, -1 for its results, and whose they are.

    The task has the shards from `first` to `behind`; `told` is what it says of its work.
    """

    path: Path
    step: int
    superstep: int
    first: int
    behind: int
    files: Mapping[str, FileFacts]
    told: dict[str, Any]


class KeptSupersteps:
    """All that attempts at a run have kept; `bounds` are where each shard's rows begin and end."""

    def __init__(self, parts: PartsOnDisk, bounds: Int64) -> None:
        self._folder = parts.folder / FOLDER
        self._bounds = bounds
        self._notes: dict[Path, Note] = {}

    def attempt(self, name: str, first: int, behind: int) -> TaskFiles:
        """The writer of a task that has the shards from `first` to before `behind`."""
        return TaskFiles(self._folder / name, first, behind)

    def results(self) -> dict[int, list[Note]]:
        """The notes of every view that is finished, by step, and of the empty version.

        Files count by their sizes: whoever reads the results compares what is in them.
        """
        results: dict[int, list[Note]] = {}
        for (_, step, superstep), notes in self._covered():
            if superstep == _DONE and step not in results and not any(map(_incomplete, notes)):
                results[step] = notes
        return results

    def latest(self, step: int) -> tuple[str, int] | None:
        """The last superstep of a step that all shards have kept, with its attempt."""
        there = [item for item in self._covered() if item[0][1] == step and item[0][2] > 0]
        for (attempt, _, superstep), notes in sorted(there, key=lambda item: -item[0][2]):
            if not any(find_damage(note.path.parent, note.files) for note in notes):
                return attempt, superstep
        return None

    def followed(self, attempt: str, step: int, superstep: int) -> bool:
        """Whether the view of a kept superstep followed the view before it."""
        notes = dict(self._covered()).get((attempt, step, superstep), [])
        return any(note.told.get("follows") for note in notes)

    def rows(self, attempt: str, step: int, superstep: int, first: int, behind: int) -> Int64:
        """The states of some shards at a kept superstep."""
        for key, notes in self._covered():
            if key == (attempt, step, superstep):
                return self._rows(notes, first, behind)
        raise StoreError(
            f"the superstep {superstep} that all tasks have kept cannot be read here",
            where=str(self._folder),
            hint="let all executors see the same files, and resume the run",
        )

    def reached(self) -> tuple[int, int]:
        """How many views are finished, and the last kept superstep of the others."""
        covered = [key for key, _ in self._covered()]
        done = {step for _, step, superstep in covered if superstep == _DONE and step != EMPTY}
        left = (key[2] for key in covered if key[1] not in {EMPTY, *done})
        return len(done), max(left, default=0)

    def _rows(self, notes: Sequence[Note], first: int, behind: int) -> Int64:
        parts = []
        for note in notes:
            low, high = max(first, note.first), min(behind, note.behind)
            if low < high:
                (name,) = note.files
                _check_whole(note)
                rows, begin = read_rows(note.path.parent / name), self._bounds[note.first]
                if len(rows) != self._bounds[note.behind] - begin:
                    raise _hurt(Damage(note.path.parent / name, "has rows of other shards"))
                parts.append(rows[self._bounds[low] - begin : self._bounds[high] - begin])
        return np.concatenate(parts) if parts else np.empty((0, 0), np.int64)

    def _covered(self) -> Iterator[tuple[tuple[str, int, int], list[Note]]]:
        """The notes that cover all shards together, by attempt, step and superstep."""
        groups: dict[tuple[str, int, int], list[Note]] = {}
        for path, note in self._there().items():
            groups.setdefault((path.parent.name, note.step, note.superstep), []).append(note)
        for key, notes in sorted(groups.items()):
            notes.sort(key=lambda note: (note.first, note.behind))
            ends = [0, *(note.behind for note in notes)]
            if ends[-1] == len(self._bounds) - 1 and ends[:-1] == [n.first for n in notes]:
                yield key, notes

    def _there(self) -> dict[Path, Note]:
        """All notes. Each is read once: notes never change, and watchers look often."""
        notes: dict[Path, Note] = {}
        for path in self._folder.glob(f"*/*{_NOTE}"):
            # A note that cannot be read any more is one that is lacking.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                notes[path] = self._notes.get(path) or _read(path)
        self._notes = notes
        return notes

    def stop(self) -> None:
        """Ask all tasks to end."""
        with contextlib.suppress(OSError):
            disk.touch(self._folder / _STOP)

    @property
    def stopped(self) -> bool:
        """True if tasks are to end, or their folder was removed."""
        return not self._folder.exists() or (self._folder / _STOP).exists()

    def begin(self) -> None:
        """Allow tasks to begin, or to go on after a stop."""
        disk.make_folder(self._folder, there=True)
        disk.remove(self._folder / _STOP)

    def sweep(self) -> None:
        disk.remove_tree(self._folder)


class TaskFiles:
    """What one task of an attempt writes."""

    def __init__(self, folder: Path, first: int, behind: int) -> None:
        self._folder = folder
        self._shards = first, behind
        self._kept: list[tuple[int, int]] = []

    def keep(self, step: int, superstep: int, rows: Int64, *, follows: bool = False) -> None:
        """Keep the states of own vertices at a superstep; `follows` if the view follows another."""
        stem = self._stem(step, f"{superstep:06d}")
        with self._errors():
            disk.make_folder(self._folder, there=True)
            facts = self._write_rows(f"{stem}.arrays", rows)
            self._note(stem, step, superstep, {f"{stem}.arrays": facts}, {"follows": follows})
        self._kept.append((step, superstep))

    def forget(self, step: int, superstep: int) -> None:
        """Remove what this task kept before a superstep of a step."""
        for item in [item for item in self._kept if item < (step, superstep)]:
            self._kept.remove(item)
            stem = self._stem(item[0], f"{item[1]:06d}")
            for end in (_NOTE, ".arrays"):
                disk.remove(self._folder / (stem + end))

    def finish(
        self,
        step: int,
        tables: Mapping[str, pa.Table],
        told: dict[str, Any],
        states: Int64 | None = None,
    ) -> None:
        """Keep the results of a view, or of the empty version: a table a field.

        And the states of own vertices that it ends with, if they are given.
        """
        stem = self._stem(step, "results")
        names = {field: f"{stem}-{at}.parquet" for at, field in enumerate(tables)}
        with self._errors():
            disk.make_folder(self._folder, there=True)
            for field, table in tables.items():
                write_differences(table, self._folder / names[field])
                sync_path(self._folder / names[field])
            facts = take_inventory(self._folder, names.values())
            if states is not None:
                told = {**told, STATES: f"{stem}{STATES_SUFFIX}"}
                facts[told[STATES]] = self._write_rows(told[STATES], states)
            self._note(stem, step, _DONE, facts, {**told, "fields": names})

    def _write_rows(self, name: str, rows: Int64) -> FileFacts:
        arrays = {"width": np.array([rows.shape[1]]), "rows": rows.reshape(-1)}
        return write_arrays(self._folder / name, arrays)

    def _note(
        self, stem: str, step: int, superstep: int, files: Mapping[str, FileFacts], told: Any
    ) -> None:
        content = {"step": step, "superstep": superstep, "shards": self._shards, "told": told}
        listed = {name: facts.to_json() for name, facts in files.items()}
        data, _ = seal({**content, "files": listed})
        path = self._folder / (stem + _NOTE)
        write_synced(path.with_suffix(".partial"), data)
        disk.rename(path.with_suffix(".partial"), path)
        sync_path(self._folder)

    def _stem(self, step: int, what: str) -> str:
        return f"{step:06d}-{what}-{self._shards[0]:05d}-{self._shards[1]:05d}"

    def _errors(self) -> Any:
        return disk_errors("what a task keeps of a run", self._folder, "make room, and resume")


def read_rows(path: Path) -> Int64:
    """The states that a task has written, one row for each vertex; mapped."""
    arrays = map_arrays(path)
    with well_formed("what tasks have kept of a run", path):
        rows: Int64 = arrays["rows"].reshape(-1, int(arrays["width"][0]))
        if rows.dtype != np.int64:
            raise TypeError(f"states of type {rows.dtype}")
    return rows


def damaged_supersteps(run: Path) -> list[Damage]:
    """The files in the folder of a run, kept by tasks, that are not as they were written.

    A note that is gone is one that no task has written. Tasks may be at work meanwhile: they remove
    a note before its files.
    """
    damaged: list[Damage] = []
    for path in sorted((run / PARTS / FOLDER).glob(f"*/*{_NOTE}")):
        try:
            damages = find_damage(path.parent, _read(path).files, again=True)
        except OSError as error:
            damages = [unreadable(path, error)]
        except (ValueError, KeyError, TypeError) as error:
            damages = [Damage(path, f"has changed: {error}")]
        damaged += damages if path.exists() else []
    return damaged


def _incomplete(note: Note) -> bool:
    return bool(find_missing(note.path.parent, note.files))


def _check_whole(note: Note) -> None:
    damages = find_damage(note.path.parent, note.files)
    if damages:
        raise _hurt(damages[0])


def _hurt(damage: Damage) -> StoreError:
    return damaged_error(
        "what tasks have kept of a run",
        damage,
        "resume the run: it goes on from what was kept before, or begins the view again",
    )


def _read(path: Path) -> Note:
    content, _ = unseal(disk.read_file(path))
    first, behind = content["shards"]
    files, facts = inventory_from(content["files"]), content["told"]
    numbers = content["step"], content["superstep"], first, behind
    if any(type(item) is not int for item in numbers) or not isinstance(facts, dict):
        raise TypeError(f"it is of {numbers!r:.80}")
    if not 0 <= first <= behind:
        raise ValueError(f"it is of the shards from {first} to {behind}")
    return Note(path, *numbers, files, facts)
