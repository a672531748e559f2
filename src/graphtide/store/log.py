"""The log of a live graph: what has been promised since the last checkpoint, and some of before.

A folder of files (`log_segments`), each beginning where the one before ends. The writer appends to
the last of them. He begins a new one at a checkpoint, so that the files before it can go.

Kept true: `append` returns once its records are on the disk, or raises, and then they are in
nobody's log; records have numbers without gaps, whatever happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import disk_error, reason_of
from graphtide.model.errors import DamagedError, StoreError
from graphtide.store.files import Damage
from graphtide.store.generation import damaged_error
from graphtide.store.live_folders import LOG, NEW_LOG
from graphtide.store.log_segments import (
    Segment,
    create_segment,
    frame_of,
    promise,
    read_segment,
    segment_name,
)

_REMEDY = (
    "nothing was cut off or left out. Restore the folder from a copy; or delete the folder of the "
    "log, and what is left is the graph of the last checkpoint: session.graph(...)"
)


@dataclass(frozen=True)
class LoggedRecord:
    """A record with its number, and what the file that it is in says of its records."""

    sequence: int
    description: bytes
    data: memoryview


def first_logged(folder: Path) -> int:
    """The number of the first record that the log still has."""
    return min((int(path.name[4:]) for path in _paths(folder)), default=0)


def read_log(folder: Path, what: str, since: int, *, promised: bool = False) -> list[LoggedRecord]:
    """The records behind a number; only acknowledged ones, if `promised`.

    DamagedError where one of them is lost or has changed.
    """
    return _behind(_segments(folder, what, since), since, promised=promised)


class Log:
    """A log that is written to. Whoever has it holds the lock of the graph."""

    def __init__(self, folder: Path, what: str, last: Segment) -> None:
        self._folder = folder
        self._what = what
        self._path = last.path
        self._file = disk.open_file(last.path, write=True)
        self._broken = False
        self.next = last.next
        """The number of the next record."""
        self.end = self._first_frame = last.end
        """How long the file is that is being written."""
        self.cut = last.size - last.end
        """How many bytes of a frame that was never finished were cut off."""
        if self.cut:
            self._file.truncate(last.end)
        self._file.sync()
        promise(self._file, last.end)

    @property
    def grown(self) -> int:
        """How many bytes the file has taken since it was opened or begun."""
        return self.end - self._first_frame

    def append(self, records: Sequence[bytes]) -> None:
        """Bring records to the disk, at once; where that fails, there is nothing of them."""
        self._check_whole()
        frame = frame_of(self.next, records)
        try:
            self._file.write_at(frame, self.end)
            self._file.sync()
        except OSError as error:
            self._take_back()
            raise disk_error(error, f"the log of {self._what}", self._path) from None
        except BaseException:
            self._take_back()
            raise
        self.end += len(frame)
        self.next += len(records)
        promise(self._file, self.end)

    def roll(self, description: bytes) -> None:
        """Go on in a new file."""
        self._check_whole()
        path = self._folder / LOG / segment_name(self.next)
        try:
            start = create_segment(path, description)
            file = disk.open_file(path, write=True)
        except OSError as error:
            raise disk_error(error, f"the log of {self._what}", path) from None
        if path != self._path:
            self._close_file()
        self._file.close()
        self._path, self._file, self.end, self._first_frame = path, file, start, start

    def _close_file(self) -> None:
        """Say that there is another file behind this one; a file without room goes without."""
        try:
            self._file.write_at(frame_of(self.next, ()), self.end)
            self._file.sync()
        except OSError:
            self._take_back()
            self._broken = False

    def remove_before(self, sequence: int) -> None:
        """Remove the files all of whose records have lower numbers."""
        paths = _paths(self._folder)
        for path, following in pairwise(paths):
            if int(following.name[4:]) <= sequence:
                disk.remove(path)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def _take_back(self) -> None:
        """Forget a frame that was not finished; a log that cannot is not written to any more."""
        self._broken = True
        try:
            self._file.truncate(self.end)
            self._file.sync()
            self._broken = False
        except OSError:
            pass

    def _check_whole(self) -> None:
        if self._broken:
            raise StoreError(
                f"the log of {self._what} could not be brought back to its last whole record",
                where=str(self._path),
                hint="mend the disk, and open the live graph again",
            )


def create_log(folder: Path, what: str, description: bytes, first: int = 1) -> None:
    """A log without records."""
    path = folder / NEW_LOG
    try:
        disk.make_folder(path, there=True)
        create_segment(path / segment_name(first), description)
        disk.rename(path, folder / LOG)
        disk.sync_path(folder)
    except OSError as error:
        raise disk_error(error, f"the log of {what}", path) from None


def open_log(folder: Path, what: str, since: int) -> tuple[Log, list[LoggedRecord]]:
    """The log for its writer, and all records behind a number; a torn tail is cut off."""
    segments = list(_segments(folder, what, since))
    records = _behind(segments, since, promised=False)
    try:
        return Log(folder, what, segments[-1]), records
    except OSError as error:
        raise disk_error(error, f"the log of {what}", segments[-1].path) from None


def _behind(segments: Iterable[Segment], since: int, *, promised: bool) -> list[LoggedRecord]:
    logged = []
    for segment in segments:
        records = segment.committed() if promised else segment.records
        for number, data in enumerate(records, segment.first):
            if number > since:
                logged.append(LoggedRecord(number, segment.description, data))
    return logged


def _segments(folder: Path, what: str, since: int) -> Iterator[Segment]:
    """The files that have records behind a number, each going on where the one before ends."""
    paths = _paths(folder)
    firsts = [int(path.name[4:]) for path in paths]
    if not paths or firsts[0] > since + 1:
        raise _damaged(what, Damage(folder / LOG, f"has lost the records from {since + 1:,} on"))
    start = max(at for at, first in enumerate(firsts) if first <= since + 1)
    for at, path in enumerate(paths[start:], start):
        segment = read_segment(path)
        if isinstance(segment, Damage):
            raise _damaged(what, segment)
        is_last = at + 1 == len(paths)
        if not is_last and segment.next != firsts[at + 1]:
            lost = Damage(path, f"has lost the records from {segment.next:,} on")
            raise _damaged(what, lost)
        if is_last and segment.closed:
            raise _damaged(what, Damage(path, "is not the last file: what follows it is gone"))
        yield segment


def _paths(folder: Path) -> list[Path]:
    try:
        names = [name for name in disk.names_in(disk.below(folder, LOG)) if name[4:].isdigit()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"the log cannot be read: {reason_of(error)}", where=str(folder)) from None
    return [folder / LOG / name for name in names]


def _damaged(what: str, damage: Damage) -> DamagedError:
    return damaged_error(f"the log of {what}", damage, _REMEDY)
