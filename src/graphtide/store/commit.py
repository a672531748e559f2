"""Commits: how a store is complete, absent, or known to be damaged, with at most one writer.

A store is a folder of generations and a file CURRENT that names the one in force. A writer holds
LOCK, fills a `.partial` generation, writes its manifest, and makes it current by two renames.
Whoever opens the store follows CURRENT, so at any moment, kill -9 included, he sees the last
committed generation whole or no store at all.

Kept true: at most one writer a store; CURRENT only ever names a generation whose manifest is on
disk; the generation before the current one stays for readers that have just followed CURRENT.
Generations without a CURRENT are leftovers only while CURRENT.new or CURRENT.deleted stands
beside them, which a writer that dies leaves behind; without these, CURRENT was lost, and that is
damage.

The lock is the kernel's (flock), so it is free the moment its holder dies. The file LOCK names
the holder, for those who find the store locked. On a full disk the name may be missing, and the
lock holds all the same: a full disk must not keep anybody from deleting.

Left to others: what a generation holds. The manifest is theirs, but for the entries written here:
`format`, `generation`, `files` and `checksum`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from graphtide.model import disk
from graphtide.model.disk import (
    Checksums,
    StoreFile,
    checksums_by_threads,
    disk_error,
    disk_errors,
    is_full,
    reason_of,
    sync_path,
    sync_tree,
)
from graphtide.model.errors import ExistsError, LockedError, NotFoundError, StoreError
from graphtide.store import files as pointers
from graphtide.store.files import (
    CURRENT,
    Damage,
    FileFacts,
    Pointer,
    find_missing,
    inventory_from,
    read_pointer,
)
from graphtide.store.generation import (
    FORMAT,
    MANIFEST,
    PARTIAL,
    Generation,
    Manifest,
    complete,
    damaged_error,
    discard,
    generations,
    next_generation,
    outdated,
    read_manifest,
    remove_all_but,
    remove_tree,
    write_manifest,
)
from graphtide.store.log import LIVE_FOLDERS, has_log

LOCK = "LOCK"

# Times that a folder which somebody sweeps away under our hands is made again.
_TRIES = 1000

Sweep = Callable[[Path], None]


@contextlib.contextmanager
def locked(folder: Path, what: str, sweep: Sweep) -> Iterator[None]:
    """Hold the lock of a store. `sweep` removes its folder if nothing is in it at the end."""
    try:
        file = _take(folder, what)
    except KeyboardInterrupt as interrupt:
        # What was interrupted may hold the lock, as long as its frames hold the open file.
        traceback.clear_frames(interrupt.__traceback__)
        _sweep_interrupted(folder, sweep)
        raise
    try:
        _tell(file, f"process {os.getpid()} on {socket.gethostname()} since {_now()}")
        yield
    finally:
        _tell(file, "")
        sweep(folder)
        _let_go(file)


def holder(folder: Path) -> str | None:
    """Who writes a store now, as the lock names its holder; None where nobody does.

    The name alone is read, unless there is one: then the lock is tried, since the holder may have
    died. So nobody who takes the lock of a store that is free meets this look.
    """
    try:
        with disk.open_file(folder / LOCK) as file:
            name = file.read().decode(errors="replace").strip()
            if not name:
                return None
            try:
                file.lock()
            except BlockingIOError:
                return name
    except OSError:
        return None
    return None


def _sweep_interrupted(folder: Path, sweep: Sweep) -> None:
    """Remove the bare folder of a lock whose taking was interrupted, if nobody holds it."""
    try:
        with disk.open_file(folder / LOCK) as file:
            file.lock()
            sweep(folder)
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            disk.remove_folder(folder)  # Whoever has made it for a lock of his own makes it again.
    except OSError:
        pass


def _take(folder: Path, what: str) -> StoreFile:
    """Open and lock the lock file; again if its last holder removed the folder meanwhile."""
    for _ in range(_TRIES):
        _make(folder)
        try:
            file = disk.open_lock(folder / LOCK)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _cannot_write(folder, error) from None
        if _holds(file, folder, what):
            return file
        _let_go(file)
    raise StoreError(
        "nothing can be stored here: the lock file vanishes as often as it is made",
        where=str(folder / LOCK),
        hint="look at what removes it, or name another folder",
    )


def _make(folder: Path) -> None:
    try:
        disk.make_folders(folder)
    except OSError as error:
        if isinstance(error, FileExistsError) and _is_free(folder):
            return  # It was there and was swept away, or made again: the caller looks.
        raise _cannot_write(folder, error) from None


def _is_free(folder: Path) -> bool:
    return folder.is_dir() or not os.path.lexists(folder)


def _holds(file: StoreFile, folder: Path, what: str) -> bool:
    """Lock the file; False if it was removed before we had the lock."""
    try:
        file.lock()
    except BlockingIOError:
        holder = file.read().decode(errors="replace").strip()
        _let_go(file)
        raise _locked(folder, holder, what) from None
    except OSError as error:
        _let_go(file)
        raise _cannot_lock(folder, error) from None
    return file.status().st_nlink == 1


def _let_go(file: StoreFile) -> None:
    with contextlib.suppress(OSError):
        file.close()


def _tell(file: StoreFile, holder: str) -> None:
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write_at(holder.encode(), 0)


def _locked(folder: Path, holder: str, what: str) -> LockedError:
    ours = holder.startswith(f"process {os.getpid()} on {socket.gethostname()} ")
    return LockedError(
        f"{what} is being written by {holder or 'another process'}",
        where=str(folder / LOCK),
        hint="this process itself has it open: use what you opened, or close() it first"
        if ours
        else "wait until it is done, or give another name; a live graph can be read meanwhile: "
        "readonly=True",
    )


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    if is_full(error):
        return disk_error(error, "the folder of the store", folder)
    if isinstance(error, disk.NotAFileError):
        return disk_error(error, "the store", folder / LOCK)
    return StoreError(
        f"nothing can be stored here: {reason_of(error)}",
        where=str(folder),
        hint="name a folder that you may write to; it is made if it is not there",
    )


def _cannot_lock(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the file system cannot lock files: {reason_of(error)}",
        where=str(folder),
        hint="keep the catalog on a file system with flock (local disk, NFS version 4)",
    )


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_DELETED = "CURRENT.deleted"
_LOOKS_AFTER_INTERRUPT = 30

# Times that CURRENT is followed again because it was replaced meanwhile.
_FOLLOWED = 5


@dataclass
class Commit:
    """A generation being written: fill `path`, then call `finish` once."""

    folder: Path
    generation: str
    what: str
    finished: bool = field(default=False, init=False)

    @property
    def path(self) -> Path:
        """The folder of the unfinished generation; `finish` renames it."""
        return self.folder / (self.generation + PARTIAL)

    def finish(
        self,
        manifest: Manifest,
        *,
        growing: str = "",
        checksums: Checksums = checksums_by_threads,
        carried: Mapping[str, FileFacts] = MappingProxyType({}),
    ) -> Path:
        """Make the generation current and return its final path. Not to be called twice.

        Every file in it is listed with its checksum, but for what is below the folder `growing`.
        Those that are `carried` over from the generation before are not read again.
        """
        if self.finished:
            raise StoreError(f"the {self.what} has already been committed", where=str(self.folder))
        content = {"generation": self.generation, **manifest}
        final, current = self.folder / self.generation, self.folder / CURRENT
        with disk_errors(self.what, self.folder):
            checksum = write_manifest(self.path, content, checksums, growing, carried)
            sync_tree(self.path)
            previous = find_pointer(self.folder)
            if isinstance(previous, Damage) and previous.error is not None:
                raise previous.error
            pointers.prepare(current, Pointer(self.generation, checksum))
            disk.rename(self.path, final)
            pointers.commit(current)
            self.finished = True
            sync_path(self.folder)
        remove_all_but(self.folder, {self.generation, _named(previous)})
        return final


@contextlib.contextmanager
def begin(folder: Path, *, replace: bool, what: str) -> Iterator[Commit]:
    """Lock a store and open a partial generation in it; leaving without `finish` removes it.

    Raises ExistsError if the store is there and is not to be replaced, LockedError if another
    writer has it, StoreError if it is a live graph, which only its own writer changes. What dead
    writers left behind is removed first.
    """
    with locked(folder, what, _remove_if_bare):
        if has_log(folder):
            raise _is_live(what, folder)
        current = find_pointer(folder)
        if current is not None and not replace:
            raise _exists(what, folder, current)
        with begin_held(folder, what) as commit:
            yield commit


@contextlib.contextmanager
def begin_held(folder: Path, what: str) -> Iterator[Commit]:
    """Open an unfinished generation in a store whose lock the caller has (`hold`)."""
    _remove_leftovers(folder, find_pointer(folder))
    commit = Commit(folder, next_generation(folder), what)
    with disk_errors(what, folder):
        disk.make_folder(commit.path)
    looks = 1
    try:
        yield commit
    except KeyboardInterrupt:
        looks = _LOOKS_AFTER_INTERRUPT
        raise
    finally:
        if not commit.finished:
            _abandon(commit, looks)


def _abandon(commit: Commit, looks: int) -> None:
    """Remove what is not in force: an interrupt may come before anybody notes that it is.

    Where that is not known, the next writer sweeps.
    """
    with contextlib.suppress(StoreError):
        current = find_pointer(commit.folder)
        unknown = isinstance(current, Damage) and current.error is not None
        if not unknown and _named(current) != commit.generation:
            remove_tree(commit.path, looks)
            discard(commit.folder / commit.generation)


def open_committed(folder: Path, what: str = "the store") -> Generation:
    """The generation in force. DamagedError if it, or what points to it, cannot be trusted."""
    pointer = find_pointer(folder)
    committed = _follow(folder, pointer, what)
    while not isinstance(committed, Generation) and pointer != (pointer := find_pointer(folder)):
        # A writer was faster twice, and removed what CURRENT named.
        committed = _follow(folder, pointer, what)
    if isinstance(committed, Generation):
        return committed
    raise damaged_error(what, committed, saved_generations(folder) or _NOTHING_SAVED)


def find_pointer(folder: Path) -> Pointer | Damage | None:
    """What is in force: None if there is no store, Damage if that is not known any more."""
    for _ in range(_FOLLOWED):
        pointer = read_pointer(folder / CURRENT)
        if pointer is not None:
            return pointer
        if not _lost_its_pointer(folder):
            return None
        # A writer may have committed between the two looks: then CURRENT is there now.
    there = ", ".join(complete(folder))
    return Damage(folder / CURRENT, f"is gone, while what it may have named is there: {there}")


def is_committed(folder: Path) -> bool:
    """True if a generation is in force, or was until it was damaged."""
    return find_pointer(folder) is not None


def remove(folder: Path, what: str) -> None:
    """Delete a store, damaged or not, its pointer first: it is there or gone, never half of it."""
    if not is_committed(folder):
        raise NotFoundError(f"there is no {what}", where=str(folder))
    with locked(folder, what, _remove_if_bare):
        try:
            _retire_pointer(folder)
            for item in generations(folder):
                discard(folder / item, must=True)
            for item in LIVE_FOLDERS:
                discard(folder / item, must=True)
        except OSError as error:
            # Listed as damaged from now on, so that what is left can be deleted.
            with contextlib.suppress(OSError):
                disk.rename(folder / _DELETED, folder / CURRENT)
            raise StoreError(
                f"{what} cannot be deleted: {reason_of(error)}",
                where=str(error.filename or folder),
                hint="delete it again when that is mended, or as somebody who may",
            ) from None
        with contextlib.suppress(OSError):  # Whoever makes it again removes the mark.
            disk.remove(folder / _DELETED)


@contextlib.contextmanager
def hold(folder: Path, what: str) -> Iterator[None]:
    """Hold the lock of a store, to add to the generation in force."""
    with locked(folder, what, _remove_if_bare):
        yield


def saved_generations(folder: Path, but: str | None = None) -> str:
    """How to go back to an older generation that looks whole; empty if there is none."""
    for name in reversed(complete(folder)):
        read = read_manifest(folder / name, None)
        if name == but or isinstance(read, Damage) or read[0].get("generation") != name:
            continue
        manifest, checksum = read
        if find_missing(folder / name, inventory_from(manifest["files"])):
            continue
        created = str(manifest.get("created", "an unknown time"))[:16]
        return (
            f"the generation {name} of {created} is there: to go back to it, put the line "
            f"'{Pointer(name, checksum).line}' into {folder / CURRENT}"
        )
    return ""


_NOTHING_SAVED = "restore the folder from a copy, or delete it and make it again"


def _follow(folder: Path, pointer: Pointer | Damage | None, what: str) -> Generation | Damage:
    if pointer is None:
        raise NotFoundError("there is no such store", where=str(folder))
    if isinstance(pointer, Damage):
        return pointer
    path = disk.below(folder, pointer.name)
    if not pointer.checksum:
        raise outdated(path, what)
    read = read_manifest(path, pointer.checksum)
    if isinstance(read, Damage):
        return read
    manifest, checksum = read
    version = manifest.get("format", 0)
    if type(version) is not int:
        return Damage(path / MANIFEST, f"is of no format: {version!r:.60}")
    if version > FORMAT:
        raise StoreError(
            f"the store was written by a newer Graphtide (format {version}, this one reads "
            f"up to {FORMAT})",
            where=str(path),
            hint="upgrade Graphtide",
        )
    return Generation(path, manifest, checksum, inventory_from(manifest["files"]), what)


def _is_live(what: str, folder: Path) -> StoreError:
    return StoreError(
        f"{what} is a live graph, which changes by its own advances alone",
        where=str(folder),
        hint="advance it: session.live(name).advance(...); or delete it first",
    )


def _exists(what: str, folder: Path, current: Pointer | Damage) -> ExistsError:
    damaged = isinstance(current, Damage)
    return ExistsError(
        f"{what} is already there" + (", but damaged" if damaged else ""),
        where=str(folder),
        hint="give another name, or replace it: replace=True in Python, "
        "'create or replace' in GVDL, --replace for 'graphtide load'",
    )


def _lost_its_pointer(folder: Path) -> bool:
    """True if there are finished generations but no CURRENT, and no writer explains that."""
    there = complete(folder)
    if not there or (folder / _DELETED).exists():
        return False
    return there != [_named(read_pointer(pointers.prepared(folder / CURRENT)))]


def _retire_pointer(folder: Path) -> None:
    """Take CURRENT away in one step, and leave a mark that this was intended."""
    current = folder / CURRENT
    if current.is_dir() and not current.is_symlink():
        disk.remove_tree(current, must=True)
    try:
        disk.rename(current, folder / _DELETED)
    except FileNotFoundError:
        # Nothing is in force. The mark is for those who look while files go: not worth failing.
        with contextlib.suppress(OSError):
            disk.touch(folder / _DELETED)
    sync_path(folder)


def _named(pointer: Pointer | Damage | None) -> str | None:
    return pointer.name if isinstance(pointer, Pointer) else None


def _remove_leftovers(folder: Path, current: Pointer | Damage | None) -> None:
    """Remove what dead writers left. With a damaged pointer, whole generations are kept."""
    if isinstance(current, Damage):
        whole = set(complete(folder))
    else:
        older = [name for name in complete(folder) if current and name < current.name]
        whole = {current.name, *older[-1:]} if current else set()
    remove_all_but(folder, whole)
    for mark in (folder / _DELETED, pointers.prepared(folder / CURRENT)):
        with contextlib.suppress(OSError):
            disk.remove(mark)


def _remove_if_bare(folder: Path) -> None:
    """Remove the folder of a store that was never committed. Only for the lock holder."""
    marks = (CURRENT + ".new", _DELETED, LOCK)
    with contextlib.suppress(OSError):
        if set(disk.names_in(folder)) <= set(marks):
            for name in marks:
                disk.remove(folder / name)
            disk.remove_folder(folder)
