"""Every system call on files of a store, their checksums, and errors of the disk as ours.

A folder that holds a store may have been made by somebody else, and any call may fail. So all
files of stores are opened, written, renamed and removed here, and here alone:

- no link is followed, and nothing but a regular file is read: a pipe does not hang, a device does
  not answer, and a link does not lead out of the store;
- nothing that was there before is truncated: a file is made anew under a name that nobody has,
  brought to the disk, and renamed into its place;
- files and folders are the owner's alone (0600 and 0700), unless GRAPHTIDE_SHARED says otherwise;
- a name that comes out of a file becomes a path in `below`.

Functions raise OSError, as the system does. Every function that writes does so inside
`disk_errors`, which turns it into an error that names what was being written and what to do.
Tests set `hook` to see every call, and to make it fail before or after its effect.

A checksum is a CRC-32: it finds every single flipped bit and every torn block, costs a third of a
second a gigabyte, and comes with Python and with Spark. It guards against accidents, not against
forgery.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from graphtide.model.errors import DamagedError, FullDiskError, InputError, StoreError

SHARED_SETTING = "GRAPHTIDE_SHARED"
"""The environment variable that says who else may use stores: `group` or `all`."""

# Of files and folders. Who shares with a group lets it write; everybody else reads at most.
_PRIVATE = (0o600, 0o700)
_SHARED = {"group": (0o660, 0o770), "all": (0o664, 0o775)}

_SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_LONGEST = 255
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_ROOM_TEXTS = tuple(os.strerror(number) for number in sorted(_NO_ROOM))
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class SystemCall(NamedTuple):
    """One system call: what it does to which file, and with what."""

    operation: str
    path: Path
    given: tuple[Any, ...]


Hook = Callable[[SystemCall, Callable[[], Any]], Any]
"""Gets a call and what makes it; returns what the call returns, or raises."""

hook: Hook | None = None
"""None but in tests."""


class NotAFileError(OSError):
    """In place of a file of a store stands something else: a link, a pipe, a folder."""


def _call(operation: str, path: Path, function: Callable[..., Any], *given: Any) -> Any:
    if hook is None:
        return function(*given)
    return hook(SystemCall(operation, path, given), lambda: function(*given))


class StoreFile:
    """An open file of a store, which is closed when nobody has it any more.

    Also what Arrow needs of a file that it writes to: `write`, `tell`, `flush` and `closed`.
    """

    __slots__ = ("_at", "_descriptor", "path")

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._at = 0

    def fileno(self) -> int:
        """The descriptor, for calls that change nothing."""
        return self._descriptor

    def status(self) -> os.stat_result:
        """What the system knows of the file (fstat)."""
        return os.fstat(self._descriptor)

    def read(self, at: int = 0) -> bytes:
        """All bytes of the file from an offset on."""
        size = os.fstat(self._descriptor).st_size
        pieces = []
        while at < size:
            piece = _call("read", self.path, os.pread, self._descriptor, size - at, at)
            if not piece:
                break
            pieces.append(piece)
            at += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_into(self, buffer: memoryview) -> int:
        """Read the next bytes into a buffer; returns how many there were."""
        count: int = _call("read", self.path, os.preadv, self._descriptor, [buffer], self._at)
        self._at += count
        return count

    def write(self, data: Any) -> int:
        """Append bytes to what was written through this object."""
        size = self.write_at(data, self._at)
        self._at += size
        return size

    def write_at(self, data: Any, at: int) -> int:
        """Write all bytes at an offset."""
        view = memoryview(data)
        size = left = view.nbytes
        if size and (view.ndim != 1 or view.itemsize != 1):
            view = view.cast("B")
        while left:
            done = _call("write", self.path, os.pwrite, self._descriptor, view, at)
            view, at, left = view[done:], at + done, left - done
        return size

    def tell(self) -> int:
        """How many bytes were written through this object."""
        return self._at

    def flush(self) -> None:
        """Does nothing: bytes are written at once, and `sync` brings them to the disk."""

    def truncate(self, size: int) -> None:
        """Cut the file off at a size."""
        _call("truncate", self.path, os.ftruncate, self._descriptor, size)

    def lock(self) -> None:
        """Take the lock of the file; BlockingIOError if another process has it."""
        _call("lock", self.path, fcntl.flock, self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def sync(self) -> None:
        """Bring contents and length to the disk. Times are not synced, which halves the wait."""
        _call("sync", self.path, _sync_data, self._descriptor)

    @property
    def closed(self) -> bool:
        return self._descriptor < 0

    def close(self) -> None:
        """Close the file; it is closed even if that raises."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            _call("close", self.path, os.close, descriptor)

    def __enter__(self) -> StoreFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", -1)
        if descriptor >= 0:
            self._descriptor = -1
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _sync_data(descriptor: int) -> None:
    if hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def open_file(path: Path, *, write: bool = False) -> StoreFile:
    """Open a regular file that is there; NotAFileError where something else has its name."""
    try:
        file = _opened(path, os.O_RDWR if write else os.O_RDONLY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR) or _is_folder(path):
            raise _not_a_file(path, os.lstat(path).st_mode) from None
        raise
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        raise _not_a_file(path, mode)
    return file


def open_new(path: Path, *, exported: bool = False) -> StoreFile:
    """Make a file; what has its name, such as what a dead writer left, is removed first.

    One that is `exported` to other programs has the mode that the user's umask says.
    """
    mode = 0o666 if exported else _modes()[0]
    try:
        file = _opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        remove(path)
        file = _opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    _share(file.fileno(), mode, exported=exported)
    return file


def open_to_append(path: Path) -> StoreFile:
    """Open a file to write at its end; it is made if it is missing."""
    try:
        file = open_file(path, write=True)
    except FileNotFoundError:
        return open_new(path)
    file._at = file.status().st_size
    return file


def open_lock(path: Path) -> StoreFile:
    """Open a file that names who holds a lock, made where it is missing; nothing in it changes.

    Whoever writes into it has the lock, and has seen that it `is_ours`.
    """
    mode = _modes()[0]
    try:
        file = _opened(path, os.O_RDWR | os.O_CREAT, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise _not_a_file(path, os.lstat(path).st_mode) from None
        raise
    status = file.status()
    if not stat.S_ISREG(status.st_mode):
        file.close()
        raise _not_a_file(path, status.st_mode)
    if status.st_nlink > 1:
        file.close()
        raise NotAFileError(f"'{path.name}' has a second name elsewhere, and stores have no links")
    if status.st_size == 0 and status.st_uid == os.getuid():
        _share(file.fileno(), mode)
    return file


def read_file(path: Path) -> bytes:
    with open_file(path) as file:
        return file.read()


def write_synced(path: Path, data: bytes) -> None:
    """Make a file and sync it. Its name is on the disk once its folder is synced."""
    with open_new(path) as file:
        file.write(data)
        file.sync()


@contextlib.contextmanager
def whole_new_file(path: Path, *, exported: bool = False) -> Iterator[StoreFile]:
    """A file to write to. After the block it takes its name, synced together with the name."""
    beside = path.with_name(f".{path.name}.new")
    with open_new(beside, exported=exported) as file:
        yield file
        file.sync()
    rename(beside, path)
    sync_path(path.parent)


def make_folder(path: Path, *, there: bool = False, exported: bool = False) -> bool:
    """Make a folder. With `there`, one that exists is fine and gives False. A link is no folder."""
    mode = 0o777 if exported else _modes()[1]
    try:
        _call("mkdir", path, os.mkdir, path, mode)
    except FileExistsError:
        if not there:
            raise
        found = os.lstat(path).st_mode
        if not stat.S_ISDIR(found):
            raise _not_a_file(path, found, "folder") from None
        return False
    if mode != _PRIVATE[1] and not exported:
        os.chmod(path, mode)
    return True


def make_folders_below(root: Path, path: Path) -> None:
    """Make the missing folders between `root` and a path, and sync their names."""
    for folder in reversed([path, *path.parents][: len(path.parts) - len(root.parts)]):
        if make_folder(folder, there=True):
            sync_path(folder.parent)


def make_folders(path: Path, *, exported: bool = False) -> None:
    """Make a folder that a user names, with those above it; a link to a folder is as good.

    One that is `exported` to other programs has the mode that the user's umask says.
    """
    if path.is_dir():
        return
    if not os.path.lexists(path.parent):
        make_folders(path.parent, exported=exported)
    try:
        make_folder(path, exported=exported)
        sync_path(path.parent)
    except FileExistsError:
        if not path.is_dir():
            raise


def rename(source: Path, target: Path) -> None:
    """Rename a file or folder; it replaces a file of that name."""
    _call("rename", source, os.replace, source, target)


def link(source: Path, target: Path) -> None:
    """Make a hard link to a file."""
    _call("link", source, _link, source, target)


def _link(source: Path, target: Path) -> None:
    os.link(source, target, follow_symlinks=False)


def link_or_copy(source: Path, target: Path) -> None:
    """Make a hard link to a file, or a copy where the file system has no hard links."""
    try:
        link(source, target)
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError:
        copy_file(source, target)


def copy_file(source: Path, target: Path) -> None:
    buffer = memoryview(bytearray(1 << 20))
    with open_file(source) as old, open_new(target) as new:
        while count := old.read_into(buffer):
            new.write(buffer[:count])


def touch(path: Path) -> None:
    """Make an empty file, unless the name is taken."""
    with contextlib.suppress(FileExistsError):
        _opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _modes()[0]).close()


def remove(path: Path) -> None:
    """Remove a file, or the link in its place, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        _call("remove", path, os.unlink, path)


def remove_folder(path: Path) -> None:
    _call("rmdir", path, os.rmdir, path)


def remove_tree(path: Path, *, must: bool = False) -> None:
    """Remove a folder with all that is in it. Links are removed, not followed."""
    with contextlib.nullcontext() if must else contextlib.suppress(OSError):
        _call("rmtree", path, shutil.rmtree, path, not must)


def names_in(folder: Path) -> list[str]:
    """The names of all that is in a folder, sorted."""
    return sorted(_call("list", folder, os.listdir, folder))


def status_of(path: Path) -> os.stat_result:
    """What the system knows of a name (lstat: links are not followed)."""
    status: os.stat_result = _call("stat", path, os.lstat, path)
    return status


def sync_path(path: Path) -> None:
    """Sync the names in a folder, or the contents of a file."""
    with _opened(path, os.O_RDONLY) as file:
        _call("sync", path, os.fsync, file.fileno())


def sync_tree(path: Path) -> None:
    """Bring a folder, and everything in it, to the disk, with modes as those of other files.

    Spark makes files with modes of its own.
    """
    file_mode, folder_mode = _modes()
    for parent, _, names in os.walk(path):
        for name in names:
            _sync_with_mode(Path(parent, name), file_mode)
        _sync_with_mode(Path(parent), folder_mode)


def _sync_with_mode(path: Path, mode: int) -> None:
    with _opened(path, os.O_RDONLY) as file:
        status = file.status()
        if status.st_mode & 0o777 != mode and status.st_uid == os.getuid():
            os.fchmod(file.fileno(), mode)
        _call("sync", path, os.fsync, file.fileno())


def below(root: Path, name: object) -> Path:
    """The path of a file that another file names: below `root`, and no link on the way.

    Names are relative, with "/" between folders. DamagedError for any other: nobody of ours has
    written it, and following it would lead out of the store.
    """
    problem = name_problem(name) or link_on_the_way(root, str(name))
    if problem is None:
        return root / str(name)
    shown = ascii(name) if len(str(name)) <= 60 else f"{str(name)[:57]!a}..."
    raise DamagedError(
        f"{shown} cannot be a file of a store: {problem}",
        where=str(root),
        hint="somebody has changed what names it: restore the folder from a copy that you trust",
    )


def name_problem(name: object) -> str | None:
    """Why a name cannot be that of a file below a store; None if it can."""
    if not isinstance(name, str):
        return "it is no text"
    if not name.isprintable() or "\\" in name:
        return "it holds a character that no file of a store has in its name"
    try:
        parts = name.encode().split(b"/")
    except UnicodeEncodeError:
        return "it holds a character that no file of a store has in its name"
    if name.startswith("/"):
        return "it does not begin within the store"
    if b".." in parts:
        return "it leads out of the store"
    if b"" in parts or b"." in parts:
        return "a part of it is empty"
    if max(map(len, parts)) > _LONGEST:
        return f"a part of it is longer than {_LONGEST} bytes"
    return None


def link_on_the_way(root: Path, name: str) -> str | None:
    """Which part of a path below a store is a link; None if there is none."""
    path = root
    for part in name.split("/"):
        path = path / part
        with read_errors(f"'{name}'", path):
            try:
                if stat.S_ISLNK(status_of(path).st_mode):
                    return f"'{path.name}' is a link, and stores have none"
            except FileNotFoundError:
                return None
            except NotADirectoryError:
                # Where the store itself is no folder, whoever reads or writes in it says so.
                return None if path.parent == root else f"'{path.parent.name}' is no folder"
    return None


def _opened(path: Path, flags: int, mode: int = 0) -> StoreFile:
    operation = "create" if flags & os.O_EXCL else "open"
    descriptor = _call(operation, path, os.open, path, flags | _SAFELY, mode)
    return StoreFile(path, descriptor)


def _modes() -> tuple[int, int]:
    setting = os.environ.get(SHARED_SETTING)
    if not setting:
        return _PRIVATE
    modes = _SHARED.get(setting)
    if modes is None:
        raise InputError(
            f"{SHARED_SETTING} cannot be '{setting}'",
            hint="'group' lets the group read and write, 'all' lets everybody else read as well",
        )
    return modes


def _share(descriptor: int, mode: int, *, exported: bool = False) -> None:
    """Give a shared file its mode whatever the umask is; private files need no call."""
    if mode != _PRIVATE[0] and not exported:
        os.fchmod(descriptor, mode)


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(os.lstat(path).st_mode)
    return False


def _not_a_file(path: Path, mode: int, wanted: str = "file") -> NotAFileError:
    kind = _KINDS.get(stat.S_IFMT(mode), "something else")
    return NotAFileError(f"'{path.name}' is {kind}, and has to be a {wanted}")


@contextlib.contextmanager
def disk_errors(what: str, where: Path, hint: str | None = None) -> Iterator[None]:
    """Turn errors of the system into errors which say that `what` cannot be written, and why."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, what, where, hint) from None


@contextlib.contextmanager
def read_errors(what: str, where: Path) -> Iterator[None]:
    """Turn errors of the system into errors which say that `what` cannot be read, and why."""
    try:
        yield
    except OSError as error:
        raise read_error(error, what, where) from None


def disk_error(error: OSError, what: str, where: Path, hint: str | None = None) -> StoreError:
    """The error of ours for an error of the system while `what` was written."""
    reason = reason_of(error)
    if is_full(error):
        return FullDiskError(
            f"{what} cannot be written: {reason}",
            where=str(where),
            hint=hint or "make room and try again; what was stored before is as it was",
        )
    if isinstance(error, NotAFileError):
        return _replaced(reason, what, where)
    return StoreError(
        f"{what} cannot be written: {reason}",
        where=str(where),
        hint=hint or _remedy_of(error) or "name a folder that you may write to",
    )


def read_error(error: OSError, what: str, where: Path) -> StoreError:
    """The error of ours for one that the system raised while `what` was being read.

    It is no damage unless something else stands in place of a file: a process without handles or
    memory, or a disk that does not answer, says nothing of what is stored.
    """
    reason = reason_of(error)
    if isinstance(error, NotAFileError):
        return _replaced(reason, what, where)
    return StoreError(
        f"{what} cannot be read: {reason}",
        where=str(where),
        hint=_remedy_of(error) or "look at the disk and at who may read the file, and try again",
    )


def _replaced(reason: str, what: str, where: Path) -> DamagedError:
    return DamagedError(
        f"{what} is damaged: {reason}",
        where=str(where),
        hint="find out who put it there; then restore the folder from a copy that you trust",
    )


def _remedy_of(error: OSError) -> str | None:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "nothing is damaged: close files, or allow more (ulimit -n), and try again"
    if error.errno == errno.ENOMEM:
        return "nothing is damaged: let other processes end, and try again"
    if error.errno == errno.EIO:
        return "look at the disk (its cable, its network) and try again; keep a copy of the folder"
    return None


def is_full(error: OSError) -> bool:
    """True if there was no room: on the disk, within a quota or a limit on file sizes."""
    return error.errno in _NO_ROOM


def tells_of_full_disk(text: str) -> str | None:
    """The words of the system about a full disk, if the text of a foreign error has them."""
    return next((sign for sign in _NO_ROOM_TEXTS if sign in text), None)


def reason_of(error: OSError) -> str:
    """What the system says in its own words, without those that libraries put round them."""
    return os.strerror(error.errno) if error.errno else str(error)


_READ_SIZE = 1 << 20
_THREADS = min(8, os.cpu_count() or 1)

Checksums = Callable[[Sequence[Path]], list[str]]
"""The checksums of files, in their order; an empty text for one that cannot be read."""


def checksum(data: bytes | memoryview, before: int = 0) -> int:
    """The checksum of bytes; `before` is the checksum of the bytes in front of them."""
    return zlib.crc32(data, before)


def checksum_text(number: int) -> str:
    """A checksum in the form in which it is stored."""
    return f"{number:08x}"


def checksums_by_threads(paths: Sequence[Path]) -> list[str]:
    """The checksums of files that this process reads, several at a time.

    Reading and checksums leave Python's lock to other threads.
    """
    if len(paths) < 2:
        return [_checksum_if_read(path) for path in paths]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(_checksum_if_read, paths))


def file_checksum(path: Path) -> str:
    """The checksum of one file; OSError where it cannot be read."""
    buffer, checksum_so_far = memoryview(bytearray(_READ_SIZE)), 0
    with open_file(path) as file:
        while size := file.read_into(buffer):
            checksum_so_far = checksum(buffer[:size], checksum_so_far)
    return checksum_text(checksum_so_far)


def _checksum_if_read(path: Path) -> str:
    try:
        return file_checksum(path)
    except OSError:
        return ""
