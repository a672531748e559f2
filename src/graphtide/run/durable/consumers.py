"""How far those have come who are told of changes, and files of changes by version.

A consumer has a file with the last version that it has taken. The file is written after the
consumer is done with a version, so that one which dies in between is told of that version again.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model import disk
from graphtide.model.disk import disk_errors, read_error
from graphtide.model.errors import DamagedError
from graphtide.model.names import check_name, folder_name
from graphtide.store.live_folders import CONSUMERS
from graphtide.store.seal import seal, unseal


def taken_version(folder: Path, consumer: str) -> int | None:
    """The last version that a consumer has taken; None for a new one."""
    path = _path(folder, consumer)
    try:
        content, _ = unseal(disk.read_file(path))
        if type(content["version"]) is not int:
            raise TypeError(f"'version' is {content['version']!r:.60}")
        return content["version"]
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


def note_taken(folder: Path, consumer: str, version: int) -> None:
    """Remember that a consumer is done with a version."""
    path = _path(folder, consumer)
    with disk_errors(f"the version of the consumer '{consumer}'", path):
        disk.make_folders_below(folder, path.parent)
        with disk.whole_new_file(path) as file:
            file.write(seal({"version": version})[0])


def write_changes(folder: Path, version: int, changes: pa.Table) -> None:
    """The changes of a version as a file that is there as a whole; again, it is the same file."""
    with disk_errors("the changes", folder):
        disk.make_folders(folder, exported=True)
        path = folder / f"changes-{version:012d}.parquet"
        with disk.whole_new_file(path, exported=True) as file:
            pq.write_table(changes, file)


def _path(folder: Path, consumer: str) -> Path:
    return disk.below(folder, f"{CONSUMERS}/{folder_name(check_name(consumer, 'consumer'))}")
