"""The log of a live graph: the records since the last checkpoint, and some of before.

A log is a folder of files, each beginning where the one before ends. The writer appends to the
last of them and begins a new one at a checkpoint, so that the files before it can go. A file
holds

    magic | acknowledged end, checksum | description, length and checksum | frame | frame | ...

A frame is what is written and brought to the disk at once: one record or many. After that the
writer notes in the head of the file where the frame ends: all before that end has been promised
to somebody. So a frame that is not whole tells what happened. Before that end, or with whole
frames behind it, bytes have changed, and that is damage; behind it, the writer died while he
wrote, and the rest can be cut off. Records are numbered in sequence over all files; a frame knows
the number of its first record. A frame without records is the last of its file: the next file was
there before it was written.

Kept true: `append` returns once its records are on the disk, or raises, and then they are in
nobody's log; records have numbers without gaps, whatever happens. Where a failing disk leaves
something unfinished, the writer mends it before he writes on: he cuts off a frame that was
refused, and removes a file that he did not come to use. If he dies before, such a file stays: it
is empty, and the one before it runs past its number. Whoever reads steps over it.
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from graphtide.model import disk
from graphtide.model.disk import StoreFile, checksum, disk_error, disk_errors, read_errors
from graphtide.model.errors import StoreError
from graphtide.store.files import Damage, unreadable, well_formed
from graphtide.store.generation import damaged_error

LOG = "log"
"""The folder of its log."""

NEW_LOG = "log.new"
"""The same while it is being made: there is a log, or none."""

CONSUMERS = "consumers"
"""The folder in which consumers of its changes have noted how far they are."""

STREAMS = "streams"
"""The folder with a folder for each stream that it follows."""

LIVE_FOLDERS = (LOG, NEW_LOG, CONSUMERS, STREAMS)


def has_log(folder: Path) -> bool:
    return (folder / LOG).is_dir()


_MAGIC = b"gt-log-1"
_HEAD = struct.Struct("<8sQIII")
_END = struct.Struct("<Q")
_END_PLACE, _ENDED = 8, struct.Struct("<QI")
_FRAME = struct.Struct("<4sQQI")
_FRAME_MAGIC = b"\xf5frm"
_CHECK = struct.Struct("<I")
_COUNT, _LENGTH = struct.Struct("<I"), struct.Struct("<Q")
_FRAME_HEAD = _FRAME.size + _CHECK.size


@dataclass(frozen=True)
class Segment:
    """A file of a log as it was read: its records, and how far it is whole.

    `first` is the number of its first record, `end` where its last whole frame ends, `promised`
    where the last one ends that somebody was told of, and `size` how long the file is.
    """

    path: Path
    first: int
    description: bytes
    records: tuple[memoryview, ...]
    ends: tuple[int, ...]
    """Behind which byte of the file the frame of each record ends."""
    end: int
    promised: int
    size: int
    closed: bool

    @property
    def next(self) -> int:
        return self.first + len(self.records)

    def committed(self) -> tuple[memoryview, ...]:
        """The records that somebody was told of."""
        count = sum(end <= self.promised for end in self.ends)
        return self.records[:count]


def segment_name(first: int) -> str:
    """The name of the file whose first record has that number."""
    return f"log-{first:012d}"


def create_segment(path: Path, description: bytes) -> StoreFile:
    """Make a file without records, synced with its name; returned open for its first frame."""
    new = path.with_name(path.name + ".new")
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(disk.open_new(new))
        file.write(_head(_HEAD.size + len(description), description) + description)
        file.sync()
        disk.rename(new, path)
        disk.sync_path(path.parent)
        opened.pop_all()
    return file


def frame_of(sequence: int, records: Sequence[bytes]) -> bytes:
    """Records as a frame. A frame without records is the last one of a file."""
    lengths = b"".join(_LENGTH.pack(len(record)) for record in records)
    payload = b"".join([_COUNT.pack(len(records)), lengths, *records])
    head = _FRAME.pack(_FRAME_MAGIC, len(payload), sequence, checksum(payload))
    return head + _CHECK.pack(checksum(head)) + payload


def promise(file: StoreFile, end: int) -> None:
    """Note that everything up to a place has been brought to the disk.

    A note that cannot be made is left to the next one: what it is about is on the disk.
    """
    with contextlib.suppress(OSError):
        file.write_at(_ended(end), _END_PLACE)


def is_closed(path: Path, behind: int) -> bool:
    """Whether a file ends with the frame that says that the file from a number on is the next.

    False too where it cannot be read: whoever then reads all of it is told why.
    """
    end = frame_of(behind, ())
    try:
        with disk.open_file(path) as file:
            return file.read(max(0, file.status().st_size - len(end))) == end
    except OSError:
        return False


def read_segment(path: Path) -> Segment | Damage:
    """The contents of a file of the log; Damage if it is not as it was written."""
    try:
        data = memoryview(disk.read_file(path))
    except OSError as error:
        return unreadable(path, error)
    if len(data) < _HEAD.size:
        return Damage(path, "is cut short")
    magic, promised, check, length, head = _HEAD.unpack_from(data)
    start = _HEAD.size + length
    if magic != _MAGIC or check != checksum(data[_END_PLACE : _END_PLACE + _END.size]):
        return Damage(path, "has changed at its head")
    if start > len(data) or head != checksum(data[_HEAD.size : start]):
        return Damage(path, "has changed in what it says of itself")
    if len(data) < promised:
        return Damage(path, f"is cut short: it has {len(data):,} bytes, and had {promised:,}")
    with well_formed("the log", path):
        return _read_frames(path, data, start, promised)


def _read_frames(path: Path, data: memoryview, start: int, promised: int) -> Segment | Damage:
    first, at = int(path.name.rpartition("-")[2]), start
    records: list[memoryview] = []
    ends: list[int] = []
    closed = False
    while at < len(data) and not closed:
        frame = _read_frame(data, at, first + len(records))
        if frame is None:
            if at < promised or _whole_frame_behind(data, at):
                return Damage(path, f"has changed: record {first + len(records):,} is not whole")
            break
        more, at = frame
        records += more
        ends += [at] * len(more)
        closed = not more
    if closed and at < len(data):
        return Damage(path, "has changed: there are bytes behind its last frame")
    description = bytes(data[_HEAD.size : start])
    return Segment(
        path, first, description, tuple(records), tuple(ends), at, promised, len(data), closed
    )


def _read_frame(
    data: memoryview, at: int, sequence: int | None
) -> tuple[list[memoryview], int] | None:
    """The records of a frame and its end; None if it is not whole, or not the next one."""
    if at + _FRAME_HEAD > len(data):
        return None
    magic, length, number, check = _FRAME.unpack_from(data, at)
    (head,) = _CHECK.unpack_from(data, at + _FRAME.size)
    first, end = at + _FRAME_HEAD, at + _FRAME_HEAD + length
    if magic != _FRAME_MAGIC or head != checksum(data[at : at + _FRAME.size]):
        return None
    if end > len(data) or sequence not in (None, number) or check != checksum(data[first:end]):
        return None
    return _split(data[first:end]), end


def _split(payload: memoryview) -> list[memoryview]:
    (count,) = _COUNT.unpack_from(payload)
    at = _COUNT.size + count * _LENGTH.size
    records = []
    for (length,) in _LENGTH.iter_unpack(payload[_COUNT.size : at]):
        records.append(payload[at : at + length])
        at += length
    if at != len(payload):
        raise ValueError(f"its records have {at:,} bytes, and its frame {len(payload):,}")
    return records


def _whole_frame_behind(data: memoryview, at: int) -> bool:
    """Whether a whole frame begins anywhere behind a place."""
    text = bytes(data[at + 1 :])
    place = text.find(_FRAME_MAGIC)
    while place >= 0:
        if _read_frame(data, at + 1 + place, None) is not None:
            return True
        place = text.find(_FRAME_MAGIC, place + 1)
    return False


def _head(promised: int, description: bytes) -> bytes:
    check = checksum(_END.pack(promised))
    return _HEAD.pack(_MAGIC, promised, check, len(description), checksum(description))


def _ended(end: int) -> bytes:
    return _ENDED.pack(end, checksum(_END.pack(end)))


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
    return min(map(_first, _paths(folder)), default=0)


def log_bytes(folder: Path) -> int:
    """The size of all files of the log; files that go meanwhile do not count."""
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


class LogWriter:
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
        """Begin a new file, and use it once it is on the disk with its name."""
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
        """Remove a file that did not come to be used, or make the present one again."""
        if path == self._path:
            self._begin(path, self._description)
        else:
            disk.remove(path)
            disk.sync_path(path.parent)

    def _cut_off(self) -> None:
        """Cut off a frame that was refused."""
        self._file.truncate(self.end)
        self._file.sync()
        promise(self._file, self.end)

    def _later(self, mend: Callable[[], None]) -> None:
        """Mend now if possible, or else before anything else is written."""
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
        """Close the file; all records are on the disk."""
        with contextlib.suppress(StoreError):
            self._mend_first()
        promise(self._file, self.end)
        with contextlib.suppress(OSError):
            self._file.close()


def create_log(folder: Path, what: str, description: bytes, first: int = 1) -> None:
    """Make a log without records."""
    path = folder / NEW_LOG
    with disk_errors(f"the log of {what}", path):
        disk.make_folder(path, there=True)
        create_segment(path / segment_name(first), description).close()
        disk.rename(path, folder / LOG)
        disk.sync_path(folder)


def open_log(
    folder: Path, what: str, since: int, graph: str
) -> tuple[LogWriter, list[LoggedRecord]]:
    """The log for its writer, and all records behind a number. A torn tail is cut off."""
    segments, unused = _segments(folder, what, since, graph)
    records = _behind(segments, since, promised=False)
    with disk_errors(f"the log of {what}", segments[-1].path):
        for path in unused:
            disk.remove(path)
            disk.sync_path(path.parent)
        return LogWriter(folder, what, segments[-1]), records


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
    """A file of the log; DamagedError if it is of the log of another graph."""
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
