"""Who is told of changes, how far each has come, and files of changes by version.

A consumer has a file that says of what it is told, where, and the last version that it has taken.
The file is written after the consumer is done with a version, so that one which dies in between is
told of that version again.

A folder is told again after a start, without a call. A live graph may have been made by somebody
else, so what its file says is not enough: the folder must hold a mark that says the same, which is
put there when the folder is handed over. A copy of the graph stands elsewhere, and tells nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model import disk
from graphtide.model.disk import disk_errors, read_error
from graphtide.model.errors import DamagedError
from graphtide.model.names import check_name, folder_name, name_of_folder
from graphtide.store.live_folders import CONSUMERS
from graphtide.store.seal import facts_of, seal, unseal


@dataclass(frozen=True)
class Consumer:
    """Is told of what is called `of`, in the folder `to`, or by a function where that is None."""

    version: int
    of: str | None = None
    to: str | None = None


def read_consumer(folder: Path, consumer: str) -> Consumer | None:
    """A consumer as it is noted; None for a new one."""
    path = _path(folder, consumer)
    try:
        return facts_of(Consumer, unseal(disk.read_file(path))[0])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise read_error(error, f"how far the consumer '{consumer}' has come", path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"it is not known any more how far the consumer '{consumer}' has come: {error}",
            where=str(path),
            hint="delete the file: the consumer then begins with the current version",
        ) from None


def consumer_names(folder: Path) -> Iterator[str]:
    """The consumers of a live graph, by their names."""
    there = folder / CONSUMERS
    try:
        files = disk.names_in(there)
    except FileNotFoundError:
        return
    except OSError as error:
        raise read_error(error, "who is told of changes", there) from None
    for file in files:
        name = name_of_folder(file)
        if name is not None:
            yield name


def note_consumer(folder: Path, consumer: str, noted: Consumer) -> None:
    """Remember of what a consumer is told, and with which version it is done."""
    path = _path(folder, consumer)
    with disk_errors(f"the version of the consumer '{consumer}'", path):
        disk.make_folders_below(folder, path.parent)
        with disk.whole_new_file(path) as file:
            file.write(seal(asdict(noted))[0])


def forget_consumer(folder: Path, consumer: str, noted: Consumer) -> None:
    """Remember a consumer no more; the files of changes that it has stay."""
    with disk_errors(f"the consumer '{consumer}'", folder):
        disk.remove(_path(folder, consumer))
        if noted.to is not None and is_marked(folder, consumer, noted.to):
            disk.remove(_mark(noted.to, consumer))


def mark(folder: Path, consumer: str, to: str) -> None:
    """Let a folder be told by the graph in another one after each start."""
    with disk_errors("the changes", Path(to)):
        disk.make_folders(Path(to), exported=True)
        with disk.whole_new_file(_mark(to, consumer), exported=True) as file:
            file.write(seal(_marked(folder, consumer))[0])


def is_marked(folder: Path, consumer: str, to: str) -> bool:
    """Whether a folder was handed over to this consumer of the graph, at the place where it is."""
    try:
        return bool(unseal(disk.read_file(_mark(to, consumer)))[0] == _marked(folder, consumer))
    except (OSError, ValueError):
        return False


def write_changes(folder: Path, version: int, changes: pa.Table) -> None:
    """The changes of a version as a file that is there as a whole; again, it is the same file."""
    with disk_errors("the changes", folder):
        disk.make_folders(folder, exported=True)
        path = folder / f"changes-{version:012d}.parquet"
        with disk.whole_new_file(path, exported=True) as file:
            pq.write_table(changes, file)


def _marked(folder: Path, consumer: str) -> dict[str, Any]:
    return {"graph": str(folder.resolve()), "consumer": consumer}


def _mark(to: str, consumer: str) -> Path:
    """Hidden from whoever reads all Parquet files of the folder."""
    return Path(to) / f".{folder_name(consumer)}.graphtide"


def _path(folder: Path, consumer: str) -> Path:
    return disk.below(folder, f"{CONSUMERS}/{folder_name(check_name(consumer, 'consumer'))}")
