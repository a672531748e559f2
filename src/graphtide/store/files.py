"""Files that check themselves: their facts and damage, sealed texts, pointers, and rows read.

A manifest lists the size, rows and checksum of every file. A process reads a file whole and
compares it with its checksum when it first uses the file; from then on it remembers the file by
place, size and times, so that using it again costs a look at the folder.

A sealed text is JSON that ends with the checksum of all that stands before it. A checksum finds
damage and no malice: whoever can write a store can seal anything, so what a text says is parsed
inside `well_formed`.

A pointer is a small file that names what is in force, with the checksum of its manifest. A writer
replaces it in two steps: `prepare` writes the new pointer beside the old one, `commit` renames
it.
"""

from __future__ import annotations

import json
import re
import stat
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, TypeGuard, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.disk import (
    Checksums,
    checksum,
    checksum_text,
    checksums_by_threads,
    file_checksum,
    reason_of,
)
from graphtide.model.errors import DamagedError

# A clock of the file system may stand still so long: a file that is younger may change once more
# without a change of its times, and is not remembered. In nanoseconds.
_SETTLED = 100_000_000


_BLOCK = 1 << 20
"""Numbers that are looked at together, where there may be more than fit into memory."""


class _Seen(NamedTuple):
    """A file that has been compared: its place, number, size and times, and its checksum."""

    path: str
    number: int
    size: int
    changed: int
    renamed: int
    checksum: str


_compared: set[_Seen] = set()


@dataclass(frozen=True)
class FileFacts:
    """A file as it was written; `rows` only of Parquet."""

    size: int
    rows: int | None
    checksum: str

    def to_json(self) -> list[int | str | None]:
        return [self.size, self.rows, self.checksum]


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was written, by its path, and what is wrong with it.

    With an `error` of the system, it is not known how the file is: it could not be read.
    """

    file: Path
    problem: str
    error: OSError | None = field(default=None, compare=False)


def unreadable(file: Path, error: Exception) -> Damage:
    """The damage that an error of reading shows, of the system or of a library."""
    if isinstance(error, FileNotFoundError):
        return Damage(file, "is gone")
    if isinstance(error, disk.NotAFileError) or (isinstance(error, OSError) and error.errno):
        return Damage(file, f"cannot be read: {reason_of(error)}", error)
    return Damage(file, f"cannot be read: {error}")


def write_table(table: pa.Table, path: Path, **options: Any) -> None:
    """Write a table as a Parquet file; whoever commits it brings it to the disk.

    Arrow writes into a file that we have opened, which takes as long as if Arrow opened it.
    """
    with disk.open_new(path) as file:
        pq.write_table(table, file, **options)


def take_inventory(
    root: Path, names: Iterable[str], checksums: Checksums = checksums_by_threads
) -> dict[str, FileFacts]:
    """Size, rows and checksum of files that have just been written, by name below `root`."""
    names = sorted(names)
    paths = [root / name for name in names]
    checked = zip(paths, checksums(paths), strict=True)
    return dict(zip(names, (_facts(path, value) for path, value in checked), strict=True))


def inventory_from(entries: Mapping[str, Sequence[object]]) -> dict[str, FileFacts]:
    """The inventory that a manifest holds; ValueError for files that no store of ours can have.

    Whoever opens, copies, links or removes a file of a store takes its name from here.
    """
    inventory = {}
    for name, entry in entries.items():
        problem = disk.name_problem(name)
        if problem is not None:
            raise ValueError(f"it lists the file {name[:60]!a}, and {problem}")
        size, rows, checksum = entry
        if not (
            _is_count(size) and (rows is None or _is_count(rows)) and isinstance(checksum, str)
        ):
            raise ValueError(f"it says of the file {name[:60]!a} what can be said of none")
        inventory[name] = FileFacts(size, rows, checksum)
    return inventory


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < 1 << 63


def find_damage(
    root: Path,
    expected: Mapping[str, FileFacts],
    checksums: Checksums = checksums_by_threads,
    *,
    again: bool = False,
) -> list[Damage]:
    """The files that are not as they were written.

    Reads those that this process has not compared before, or all of them `again`.
    """
    damages, unread, began = _linked_folders(root, expected), [], time.time_ns()
    if damages:
        return damages
    for name, facts in expected.items():
        state = _look(root / name, facts)
        if isinstance(state, Damage):
            damages.append(state)
        elif again or state not in _compared:
            unread.append((root / name, facts, state))
    values = checksums([path for path, _, _ in unread]) if unread else []
    for (path, facts, seen), value in zip(unread, values, strict=True):
        try:
            value = value or file_checksum(path)
        except OSError as error:
            damages.append(unreadable(path, error))
            continue
        if value != facts.checksum:
            changed = f"has changed: its checksum is {value}, and was {facts.checksum}"
            damages.append(Damage(path, changed))
        elif began - max(seen.changed, seen.renamed) > _SETTLED:
            _compared.add(seen)
    return damages


def within(numbers: NDArray[Any], count: int) -> bool:
    """Whether all numbers are in [0, count)."""
    return not len(numbers) or bool(0 <= numbers.min() <= numbers.max() < count)


def are_offsets(numbers: NDArray[Any], count: int) -> bool:
    """Whether numbers begin with 0, never fall, and end with `count`."""
    if not len(numbers) or numbers[0] != 0 or numbers[-1] != count:
        return False
    blocks = (numbers[at : at + _BLOCK + 1] for at in range(0, len(numbers) - 1, _BLOCK))
    return all(bool((block[:-1] <= block[1:]).all()) for block in blocks)


def _linked_folders(root: Path, names: Iterable[str]) -> list[Damage]:
    """Folders of these files that are links, or lie behind one."""
    folders = sorted({name.rpartition("/")[0] for name in names} - {""})
    problems = ((name, disk.link_on_the_way(root, name)) for name in folders)
    return [Damage(root / name, f"cannot be used: {item}") for name, item in problems if item]


def find_missing(root: Path, expected: Mapping[str, FileFacts]) -> list[Damage]:
    """Files that are gone or have another size, without reading them."""
    states = (_look(root / name, facts) for name, facts in expected.items())
    return [item for item in states if isinstance(item, Damage)]


def find_strays(folder: Path, known: Iterable[str]) -> list[Damage]:
    """Files in the folder of a table that were not written with it, but would be read."""
    names = set(known)
    strays = [
        name
        for name in disk.names_in(folder)
        if name not in names and not name.startswith((".", "_"))
    ]
    return [Damage(folder / name, "was not written with the table") for name in strays]


def _look(path: Path, facts: FileFacts) -> _Seen | Damage:
    try:
        status = disk.status_of(path)
    except OSError as error:
        return unreadable(path, error)
    if not stat.S_ISREG(status.st_mode):
        return Damage(path, "is not a file any more")
    if status.st_size != facts.size:
        return Damage(path, f"has {status.st_size:,} bytes, and had {facts.size:,}")
    times = status.st_mtime_ns, status.st_ctime_ns
    return _Seen(str(path), status.st_ino, status.st_size, *times, facts.checksum)


def _facts(path: Path, value: str) -> FileFacts:
    value = value or file_checksum(path)
    rows = pq.read_metadata(path).num_rows if path.suffix == ".parquet" else None
    return FileFacts(path.stat().st_size, rows, value)


_TAIL = b',\n "checksum": "'
_END = b'"\n}\n'


def seal(content: dict[str, Any]) -> tuple[bytes, str]:
    """Content as a sealed text, and its checksum."""
    body = json.dumps(content, indent=1, ensure_ascii=False).encode()[: -len("\n}")]
    sum_ = checksum_text(checksum(body))
    return body + _TAIL + sum_.encode() + _END, sum_


def unseal(data: bytes) -> tuple[dict[str, Any], str]:
    """Content and checksum of a sealed text; ValueError if a bit of it has changed."""
    body, tail, rest = data.rpartition(_TAIL)
    sum_ = checksum_text(checksum(body))
    if not tail or rest != sum_.encode() + _END:
        raise ValueError("its checksum is not that of what it says")
    content: dict[str, Any] = json.loads(body + b"\n}")
    return content, sum_


Facts = TypeVar("Facts")


def facts_of(kind: Callable[..., Facts], data: dict[str, Any]) -> Facts:
    """Make a dataclass of parsed content; TypeError if a plain field has another type."""
    return check_plain(kind(**data))


def check_plain(facts: Facts) -> Facts:
    """The dataclass, if its plain fields have the types that they declare; else TypeError."""
    for item in fields(facts):  # type: ignore[arg-type]
        wanted, value = _PLAIN.get(str(item.type)), getattr(facts, item.name)
        if wanted is not None and type(value) not in wanted:
            raise TypeError(f"'{item.name}' is {value!r:.60}")
    return facts


_PLAIN = {
    "int": (int,),
    "int | None": (int, NoneType),
    "str": (str,),
    "str | None": (str, NoneType),
    "bool": (bool,),
    "float": (float, int),
}
_ODD = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)


@contextmanager
def well_formed(what: str, where: Path | None = None) -> Iterator[None]:
    """DamagedError in place of what Python and Arrow raise for contents that we did not write."""
    try:
        yield
    except (*_ODD, struct.error, pa.ArrowException) as error:
        said = f"{type(error).__name__}: {error}"
        raise DamagedError(
            f"{what} holds what no Graphtide has written: {said[:200]}",
            where=None if where is None else str(where),
            hint="somebody has changed it: restore the folder from a copy that you trust",
        ) from None


_LINE = re.compile(rb"([a-z]+(?:-[0-9]{6,})?) ([0-9a-f]{8})\n")
_LINE_OF_FORMAT_1 = re.compile(rb"(g-[0-9]{6,})\n")
_LONGEST_POINTER = 200

CURRENT = "CURRENT"
"""The pointer of a store."""


class Pointer(NamedTuple):
    """The name of a folder and the checksum of its manifest; without one, from format 1."""

    name: str
    checksum: str

    @property
    def line(self) -> str:
        """The line of the file, without its end."""
        return f"{self.name} {self.checksum}"


def read_pointer(path: Path) -> Pointer | Damage | None:
    """What a pointer file says; None if there is no file."""
    try:
        data = disk.read_file(path)[:_LONGEST_POINTER]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return unreadable(path, error)
    line = _LINE.fullmatch(data)
    if line is not None:
        return Pointer(line[1].decode(), line[2].decode())
    older = _LINE_OF_FORMAT_1.fullmatch(data)
    if older is not None:
        return Pointer(older[1].decode(), "")
    return Damage(path, "is not as it was written" if data else "is empty")


def prepared(path: Path) -> Path:
    """The path of the next pointer until it is committed."""
    return path.with_name(path.name + ".new")


def prepare(path: Path, pointer: Pointer) -> None:
    """Write the next pointer beside the one in force."""
    disk.write_synced(prepared(path), f"{pointer.line}\n".encode())
    disk.sync_path(path.parent)


def commit(path: Path) -> None:
    """Put the prepared pointer in force; it is on the disk after `sync_path` of the folder."""
    disk.rename(prepared(path), path)


class ReadRows:
    """A count that only grows."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, rows: int) -> None:
        self.count += rows


READ_EDGES = ReadRows()
READ_VERTICES = ReadRows()
