"""Files as they were written: size, rows and checksum of each, and whether they still are so.

A file is read whole and compared with its checksum when a process first uses it. From then on the
process remembers the file by place, size and times, so that using it again costs a look at the
folder.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.checksums import Checksums, checksums_by_threads, file_checksum
from graphtide.model.disk import reason_of

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
        """As a manifest holds it."""
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
    """What an error of reading says of a file: of the system, or of a library that reads it."""
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
    """What there is to know of files that have just been written, by their names below `root`."""
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
    """Whether all numbers are those of one of `count` things."""
    return not len(numbers) or bool(0 <= numbers.min() <= numbers.max() < count)


def are_offsets(numbers: NDArray[Any], count: int) -> bool:
    """Whether numbers begin with 0, never fall, and end with `count`."""
    if not len(numbers) or numbers[0] != 0 or numbers[-1] != count:
        return False
    blocks = (numbers[at : at + _BLOCK + 1] for at in range(0, len(numbers) - 1, _BLOCK))
    return all(bool((block[:-1] <= block[1:]).all()) for block in blocks)


def _linked_folders(root: Path, names: Iterable[str]) -> list[Damage]:
    """The folders of these files that are links, or lie behind one."""
    folders = sorted({name.rpartition("/")[0] for name in names} - {""})
    problems = ((name, disk.link_on_the_way(root, name)) for name in folders)
    return [Damage(root / name, f"cannot be used: {item}") for name, item in problems if item]


def find_missing(root: Path, expected: Mapping[str, FileFacts]) -> list[Damage]:
    """The files that are gone or of another size: what a look at the folder tells."""
    states = (_look(root / name, facts) for name, facts in expected.items())
    return [item for item in states if isinstance(item, Damage)]


def find_strays(folder: Path, known: Iterable[str]) -> list[Damage]:
    """What stands in the folder of a table, would be read with it, and was not written with it."""
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
