"""One file of a log: what it is about, and frames of records that check themselves.

    magic | acknowledged end, checksum | description, length and checksum | frame | frame | ...

A frame is what is written and brought to the disk at once: one record or many. After that the
writer notes in the head of the file where the frame ends: what lies before that end has been
promised to somebody. So a frame that is not whole tells what happened. Before that end, or with
whole frames behind it, bytes have changed, and that is damage; behind it, the writer died while
he wrote, and the rest can be cut off.

Records are numbered in sequence over all files; a frame knows the number of its first record. A
frame without records is the last of its file: the next file was there before it was written.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphtide.model import disk
from graphtide.model.checksums import checksum
from graphtide.model.disk import StoreFile
from graphtide.store.files import Damage, unreadable
from graphtide.store.seal import well_formed

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
        """The number of the record that would follow."""
        return self.first + len(self.records)

    def committed(self) -> tuple[memoryview, ...]:
        """The records that have been acknowledged."""
        count = sum(end <= self.promised for end in self.ends)
        return self.records[:count]


def segment_name(first: int) -> str:
    """What the file is called whose first record has that number."""
    return f"log-{first:012d}"


def create_segment(path: Path, description: bytes) -> StoreFile:
    """A file without records, which is there with its name; open to write its first frame."""
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
    """Records as a frame; none make the last frame of a file."""
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
    """What a file of a log holds; Damage where it is not as it was written."""
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
    """The records of a frame and where it ends; None if it is not whole, or not the next one."""
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
    """Whether a whole frame lies behind a place, wherever it begins."""
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
