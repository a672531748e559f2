"""The lock of a store: at most one writer, and none that outlives its process.

The lock is the kernel's (flock), so it is free the moment its holder dies. The file LOCK names the
holder, for those who find the store locked. On a full disk the name may be missing, and the lock
holds all the same: a full disk must not keep anybody from deleting.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import StoreFile, disk_error, is_full, reason_of
from graphtide.model.errors import LockedError, StoreError

LOCK = "LOCK"

# Times that a folder which somebody sweeps away under our hands is made again.
_TRIES = 1000

Sweep = Callable[[Path], None]


@contextlib.contextmanager
def locked(folder: Path, what: str, sweep: Sweep) -> Iterator[None]:
    """Be the only writer of a store. `sweep` removes its folder if nothing is in it at the end."""
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
    """Remove the bare folder of a lock that was interrupted while being taken, if nobody has it."""
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
    """The open lock file, locked. Whoever held it before may have swept it away: then again."""
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
    """Lock the file; False if it was swept away before we had it."""
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
    """Close the file, which ends the lock even where the system has something to say of it."""
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
