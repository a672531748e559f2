"""The log of a live graph: what has been promised since the last checkpoint, and some of before.

A folder of files (`log_segments`), each beginning where the one before ends. The writer appends to
the last of them. He begins a new one at a checkpoint, so that the files before it can go.

Kept true: `append` returns once its records are on the disk, or raises, and then they are in
nobody's log; records have numbers without gaps, whatever happens. What a failing disk leaves
unfinished, the writer mends before he writes on: he cuts off a frame that was refused, and removes
a file that he did not come to use. If he dies before, such a file stays: it is empty, and the one
before it runs past its number. Whoever reads steps over it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import disk_error, disk_errors, read_errors
from graphtide.model.errors import StoreError
from graphtide.store.files import Damage
from graphtide.store.generation import damaged_error
from graphtide.store.live_folders import LOG, NEW_LOG
from graphtide.store.log_segments import (
    Segment,
    create_segment,
    frame_of,
    is_closed,
    promise,
    read_segment,
    segment_name,
)

_REMEDY = (
    "nothing was cut off or left out. Restore the folder from a copy; or delete the folder of the "
    "log, and what is left is the graph of the last checkpoint: session.graph(...)"
)
_LOST = "has lost the records from {:,} on"
_UNKNOWN = (
    "mend the disk: what was given last is refused, but may be in the log, and is there after the "
    "next start if this process ends before the disk is mended"
)


@dataclass(frozen=True)
class LoggedRecord:
    """A record with its number, and what the file that it is in says of its records."""

    sequence: int
    description: bytes
    data: memoryview


def first_logged(folder: Path) -> int:
    """The number of the first record that the log still has."""
    return min(map(_first, _paths(folder)), default=0)


def log_bytes(folder: Path) -> int:
    """How many bytes the files of the log have; those that go meanwhile do not count."""
    total = 0
    for path in _paths(folder):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def read_log(
    folder: Path, what: str, since: int, graph: str, *, promised: bool = False
) -> list[LoggedRecord]:
    """The records behind a number, of the graph with that identity; only acknowledged ones, if
    `promised`.

    DamagedError where one of them is lost or has changed.
    """
    return _behind(_segments(folder, what, since, graph)[0], since, promised=promised)


class Log:
    """A log that is written to. Whoever has it holds the lock of the graph."""

    def __init__(self, folder: Path, what: str, last: Segment) -> None:
        self._folder = folder
        self._what = what
        self._path = last.path
        self._description = last.description
        self._file = disk.open_file(last.path, write=True)
        self._mend: Callable[[], None] | None = None
        """What has to succeed before anything else is written."""
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
        """Bring records to the disk, at once; where that fails, there is nothing of them.

        Where the disk does not let go of them either, the error says that this is not known.
        """
        self._mend_first()
        frame = frame_of(self.next, records)
        try:
            self._file.write_at(frame, self.end)
            self._file.sync()
        except BaseException as error:
            self._later(self._cut_off)
            if isinstance(error, OSError):
                hint = _UNKNOWN if self._mend else None
                raise disk_error(error, f"the log of {self._what}", self._path, hint) from None
            raise
        self.end += len(frame)
        self.next += len(records)
        promise(self._file, self.end)

    def roll(self, description: bytes) -> None:
        """Go on in a new file, once it is there with its name; else in the one before."""
        self._mend_first()
        path = self._folder / LOG / segment_name(self.next)
        if (path, description) == (self._path, self._description):
            return
        before = self._path, self._file, self.end
        try:
            self._begin(path, description)
        except BaseException as error:
            self._later(lambda: self._take_back(path))
            if isinstance(error, OSError):
                raise disk_error(error, f"the log of {self._what}", path) from None
            raise
        if path != before[0]:
            # A file without room for its last frame goes without.
            with contextlib.suppress(OSError):
                before[1].write_at(frame_of(self.next, ()), before[2])
                before[1].sync()
        with contextlib.suppress(OSError):
            before[1].close()

    def _begin(self, path: Path, description: bytes) -> None:
        file = create_segment(path, description)
        self._path, self._file, self._description = path, file, description
        self.end = self._first_frame = file.tell()

    def _take_back(self, path: Path) -> None:
        """Have no file that was not come to be used; the one in its place is made again."""
        if path == self._path:
            self._begin(path, self._description)
        else:
            disk.remove(path)
            disk.sync_path(path.parent)

    def _cut_off(self) -> None:
        """Have nothing of a frame that was refused."""
        self._file.truncate(self.end)
        self._file.sync()
        promise(self._file, self.end)

    def _later(self, mend: Callable[[], None]) -> None:
        """Mend now if that can be, or else before anything else is written."""
        self._mend = mend
        with contextlib.suppress(OSError):
            mend()
            self._mend = None

    def _mend_first(self) -> None:
        if self._mend is None:
            return
        with disk_errors(f"the log of {self._what}", self._path, _UNKNOWN):
            self._mend()
        self._mend = None

    def remove_before(self, sequence: int) -> None:
        """Remove the files all of whose records have lower numbers; at the next checkpoint, if not
        now.
        """
        with contextlib.suppress(OSError, StoreError):
            for path, following in pairwise(_paths(self._folder)):
                if int(following.name[4:]) <= sequence:
                    disk.remove(path)

    def close(self) -> None:
        """Let the file go, all of which is on the disk."""
        with contextlib.suppress(StoreError):
            self._mend_first()
        promise(self._file, self.end)
        with contextlib.suppress(OSError):
            self._file.close()


def create_log(folder: Path, what: str, description: bytes, first: int = 1) -> None:
    """A log without records."""
    path = folder / NEW_LOG
    with disk_errors(f"the log of {what}", path):
        disk.make_folder(path, there=True)
        create_segment(path / segment_name(first), description).close()
        disk.rename(path, folder / LOG)
        disk.sync_path(folder)


def open_log(folder: Path, what: str, since: int, graph: str) -> tuple[Log, list[LoggedRecord]]:
    """The log for its writer, and all records behind a number; a torn tail is cut off."""
    segments, unused = _segments(folder, what, since, graph)
    records = _behind(segments, since, promised=False)
    with disk_errors(f"the log of {what}", segments[-1].path):
        for path in unused:
            disk.remove(path)
            disk.sync_path(path.parent)
        return Log(folder, what, segments[-1]), records


def _behind(segments: Sequence[Segment], since: int, *, promised: bool) -> list[LoggedRecord]:
    """The records behind a number. A file that another one follows has acknowledged ones alone,
    also where this could not be noted in it.
    """
    logged = []
    for segment in segments:
        is_last = segment is segments[-1]
        records = segment.committed() if promised and is_last else segment.records
        for number, data in enumerate(records, segment.first):
            if number > since:
                logged.append(LoggedRecord(number, segment.description, data))
    return logged


def _segments(folder: Path, what: str, since: int, graph: str) -> tuple[list[Segment], list[Path]]:
    """The files that have records behind a number, each going on where the one before ends.

    And those that nobody came to use.
    """
    paths = _paths(folder)
    if not paths or _first(paths[0]) > since + 1:
        raise _damaged(what, Damage(folder / LOG, _LOST.format(since + 1)))
    start = max(at for at, path in enumerate(paths) if _first(path) <= since + 1)
    read = [_read(paths[start], what, graph)]
    while start and not read[0].records and not is_closed(paths[start - 1], read[0].first):
        # It may be one that nobody came to use.
        start -= 1
        read.insert(0, _read(paths[start], what, graph))
    read += [_read(path, what, graph) for path in paths[start + len(read) :]]
    segments, unused = read[:1], []
    for segment in read[1:]:
        ended = segments[-1].next
        if segment.first < ended and not (segment.records or segments[-1].closed):
            unused.append(segment.path)
        elif segment.first != ended:
            raise _damaged(what, Damage(segments[-1].path, _LOST.format(ended)))
        else:
            segments.append(segment)
    last = segments[-1]
    if last.closed:
        raise _damaged(what, Damage(last.path, "is not the last file: what follows it is gone"))
    if last.next <= since:
        raise _damaged(what, Damage(last.path, _LOST.format(last.next)))
    return segments, unused


def _read(path: Path, what: str, graph: str) -> Segment:
    """A file of the log of a graph with that identity; those of earlier versions have none."""
    segment = read_segment(path)
    if isinstance(segment, Damage):
        raise _damaged(what, segment)
    if graph and json.loads(segment.description).get("graph", graph) != graph:
        raise _damaged(what, Damage(path, "is of the log of another graph"))
    return segment


def _first(path: Path) -> int:
    return int(path.name[4:])


def _paths(folder: Path) -> list[Path]:
    with read_errors("the log", folder / LOG):
        try:
            names = disk.names_in(disk.below(folder, LOG))
        except FileNotFoundError:
            return []
    return [folder / LOG / name for name in names if name[4:].isdigit()]


def _damaged(what: str, damage: Damage) -> StoreError:
    return damaged_error(f"the log of {what}", damage, _REMEDY)
