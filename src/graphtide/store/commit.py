"""Generations and the pointer: how a store is complete or absent.

A store is a folder of generations and a file CURRENT that names the one in force. A writer
holds LOCK, fills a `.partial` generation, writes its manifest, and makes it current by two
renames. Whoever opens the store follows CURRENT, so at any moment, kill -9 included, he sees
the last committed generation whole or no store at all.

Kept true: at most one writer a store (flock, which the kernel frees when the writer dies);
CURRENT only ever names a generation whose manifest is on disk; the generation before the
current one stays for readers that have just followed CURRENT.

Left to others: what a generation holds. The manifest is theirs, but for the two entries
written here: `format` and `generation`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from graphtide.model.errors import ExistsError, LockedError, NotFoundError, StoreError

FORMAT = 1
_CURRENT, _LOCK, _MANIFEST, _PARTIAL = "CURRENT", "LOCK", "manifest.json", ".partial"

# Times that a folder in use is removed again, a twentieth of a second apart.
_PATIENCE = 100
_LOOKS_AFTER_INTERRUPT = 30

Manifest = dict[str, Any]


@dataclass
class Commit:
    """A generation being written: fill `path`, then call `finish` once."""

    folder: Path
    generation: str
    what: str
    finished: bool = field(default=False, init=False)

    @property
    def path(self) -> Path:
        """The partial generation; it changes its name when it is finished."""
        return self.folder / (self.generation + _PARTIAL)

    def finish(self, manifest: Manifest) -> Path:
        """Make the generation current and return its final path. Not to be called twice."""
        if self.finished:
            raise StoreError(f"the {self.what} has already been committed", where=str(self.folder))
        content = {"format": FORMAT, "generation": self.generation, **manifest}
        _write_synced(self.path / _MANIFEST, json.dumps(content, indent=1, ensure_ascii=False))
        sync_tree(self.path)
        final = self.folder / self.generation
        self.path.rename(final)
        previous = _read_pointer(self.folder)
        _replace_pointer(self.folder, self.generation)
        self.finished = True
        _remove_all_but(self.folder, {self.generation, previous})
        return final


@contextlib.contextmanager
def begin(folder: Path, *, replace: bool, what: str) -> Iterator[Commit]:
    """Lock a store and open a partial generation in it; leaving without `finish` removes it.

    Raises ExistsError if the store is there and is not to be replaced, LockedError if another
    writer has it. What dead writers left behind is removed first.
    """
    with _lock(folder, what):
        current = _read_pointer(folder)
        if current is not None and not replace:
            raise ExistsError(
                f"{what} is already there",
                where=str(folder),
                hint="give another name, or replace it: replace=True in Python, "
                "'create or replace' in GVDL, --replace for 'graphtide load'",
            )
        _remove_all_but(folder, {current, _previous(folder, current)})
        commit = Commit(folder, _next_generation(folder), what)
        commit.path.mkdir()
        looks = 1
        try:
            yield commit
        except KeyboardInterrupt:
            looks = _LOOKS_AFTER_INTERRUPT
            raise
        finally:
            if not commit.finished:
                _remove_tree(commit.path, looks)


def open_committed(folder: Path) -> tuple[Path, Manifest]:
    """The path and manifest of the generation in force."""
    generation = _read_pointer(folder)
    if generation is None:
        raise NotFoundError("there is no such store", where=str(folder))
    path = folder / generation
    try:
        manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
        version = manifest["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"the store is damaged: {_one_line(error)}",
            where=str(path / _MANIFEST),
            hint="restore the folder from a copy, or delete it and load again",
        ) from None
    if version > FORMAT:
        raise StoreError(
            f"the store was written by a newer Graphtide (format {version}, this one reads "
            f"up to {FORMAT})",
            where=str(path),
            hint="upgrade Graphtide",
        )
    return path, manifest


def is_committed(folder: Path) -> bool:
    """True if a generation is in force. Says nothing of its health."""
    return _read_pointer(folder) is not None


def remove(folder: Path, what: str) -> None:
    """Delete a store, pointer first: it is there or gone, never half of it."""
    if not is_committed(folder):
        raise NotFoundError(f"there is no {what}", where=str(folder))
    with _lock(folder, what):
        (folder / _CURRENT).unlink(missing_ok=True)
        sync_path(folder)
        _remove_all_but(folder, set())


@contextlib.contextmanager
def hold(folder: Path, what: str) -> Iterator[None]:
    """Be the only writer of a store that is there, to add to its generation in force."""
    with _lock(folder, what):
        yield


@contextlib.contextmanager
def _lock(folder: Path, what: str) -> Iterator[None]:
    try:
        file = _take_lock(folder, what)
    except KeyboardInterrupt:
        _sweep(folder)
        raise
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()} since {_now()}")
        file.flush()
        yield
        file.truncate(0)
    finally:
        _remove_if_bare(folder)
        file.close()


def _sweep(folder: Path) -> None:
    """Remove the bare folder of a lock that was interrupted while being taken, if nobody has it."""
    with contextlib.suppress(OSError), open(folder / _LOCK, encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_if_bare(folder)


def _take_lock(folder: Path, what: str) -> TextIO:
    """The open lock file, locked. Whoever held it before may have swept it away: then again."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = open(folder / _LOCK, "a+", encoding="utf-8")  # noqa: SIM115
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _cannot_write(folder, error) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_nlink:
                return file
        except BlockingIOError:
            file.seek(0)
            raise _locked(folder, file.read().strip(), what) from None
        except OSError as error:
            raise _cannot_lock(folder, error) from None
        file.close()


def _locked(folder: Path, holder: str, what: str) -> LockedError:
    return LockedError(
        f"{what} is being written by {holder or 'another process'}",
        where=str(folder / _LOCK),
        hint="wait until it is done, or give another name",
    )


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"nothing can be stored here: {error.strerror}",
        where=str(folder),
        hint="name a folder that you may write to; it is made if it is not there",
    )


def _cannot_lock(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the file system cannot lock files: {error.strerror}",
        where=str(folder),
        hint="keep the catalog on a file system with flock (local disk, NFS version 4)",
    )


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _generations(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.glob("g-*") if item.is_dir())


def _next_generation(folder: Path) -> str:
    numbers = [int(name[2:8]) for name in _generations(folder)]
    return f"g-{max(numbers, default=0) + 1:06d}"


def _previous(folder: Path, current: str | None) -> str | None:
    older = [
        name
        for name in _generations(folder)
        if current and name < current and not name.endswith(_PARTIAL)
    ]
    return older[-1] if older else None


def _remove_all_but(folder: Path, kept: set[str | None]) -> None:
    for name in _generations(folder):
        if name not in kept:
            shutil.rmtree(folder / name, ignore_errors=True)


def _remove_tree(path: Path, looks: int = 1) -> None:
    """Remove a folder into which tasks that have been told to stop may still write for a moment.

    It has to be gone for so many looks in turn: what Spark had begun to plan when it was
    interrupted is not yet a job that can be stopped, and makes its folders later.
    """
    gone = 0
    for _ in range(_PATIENCE):
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(0.05)
        gone = 0 if path.exists() else gone + 1
        if gone == looks:
            return


def _remove_if_bare(folder: Path) -> None:
    """Sweep up the folder of a store that never came to be. Only for the holder of the lock."""
    with contextlib.suppress(OSError):
        if {item.name for item in folder.iterdir()} <= {_LOCK, _CURRENT + ".new"}:
            (folder / (_CURRENT + ".new")).unlink(missing_ok=True)
            (folder / _LOCK).unlink(missing_ok=True)
            folder.rmdir()


def _read_pointer(folder: Path) -> str | None:
    try:
        return (folder / _CURRENT).read_text(encoding="utf-8").strip() or None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _replace_pointer(folder: Path, generation: str) -> None:
    fresh = folder / (_CURRENT + ".new")
    _write_synced(fresh, generation + "\n")
    sync_path(folder)
    fresh.replace(folder / _CURRENT)
    sync_path(folder)


def _write_synced(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sync_tree(path: Path) -> None:
    """Bring a folder, and everything in it, to the disk."""
    for parent, _, files in os.walk(path):
        for name in files:
            sync_path(Path(parent) / name)
        sync_path(Path(parent))


def sync_path(path: Path) -> None:
    """Bring the names in a folder, or the contents of a file, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
