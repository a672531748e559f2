"""What Spark's file sink has committed: Parquet files, batch by batch.

The folder `_spark_metadata` has a file a batch, which lists what that batch has written and is
there as a whole or not at all. Files that no batch lists are of attempts that failed. Now and then
Spark puts all lists together in one (`9.compact`), and later removes the single ones. The order of
the entries stays, so whoever knows how many files he has followed finds the rest.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.errors import DamagedError, InputError, StoreError

METADATA = "_spark_metadata"
_NAME = re.compile(r"(\d+)(\.compact)?")
_VERSION = "v1"


@dataclass(frozen=True)
class Commit:
    """The files of a batch, or of all batches up to it that were not followed before."""

    batch: int
    first: int
    files: tuple[Path, ...]
    end: int
    """How many files have been listed up to here, since the beginning."""

    def read(self) -> pa.Table:
        """The rows of its files, in their order."""
        if not self.files:
            return pa.table({})
        try:
            tables = [pq.read_table(path, partitioning=None) for path in self.files]
            return pa.concat_tables(tables, promote_options="default")
        except FileNotFoundError as error:
            raise DamagedError(
                f"a file that the batch {self.batch:,} of the file sink has written is gone",
                where=str(error.filename or error),
                hint="put it back; rows are never left out in silence",
            ) from None
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(
                f"the files of the batch {self.batch:,} of the file sink cannot be read: {error}",
                where=str(self.files[0].parent),
            ) from None


class FileSink:
    """The folder of a file sink, read by somebody who has followed it up to a batch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metadata = folder / METADATA

    @property
    def identity(self) -> str | None:
        """What no other sink has: the name of its first file, which Spark made up; None before."""
        listed = self._listed()
        together = [batch for batch in sorted(listed) if _is_compact(listed[batch])]
        for batch in (*together[:1], *sorted(listed)):  # Single lists may be gone before it.
            entries = self._entries(listed[batch])
            if entries:
                return entries[0].name
        return None

    def waiting(self, after: int) -> int:
        """How many batches behind one have been committed."""
        return sum(batch > after for batch in self._listed())

    def next_commit(self, after: int, files: int) -> Commit | None:
        """The first batch behind one, of whose files, and all before, so many were followed."""
        listed = self._listed()
        later = [batch for batch in sorted(listed) if batch > after]
        if not later:
            return None
        if later[0] == after + 1 and not _is_compact(listed[later[0]]):
            entries = self._entries(listed[later[0]])
            return Commit(later[0], later[0], entries, files + len(entries))
        together = [batch for batch in later if _is_compact(listed[batch])]
        if not together:
            raise StoreError(
                f"the batch {after + 1:,} of the file sink is gone, and {later[0]:,} is there",
                where=str(self._metadata),
                hint="put the file back, or follow another sink, under another name",
            )
        entries = self._entries(listed[together[0]])
        if len(entries) < files:
            raise StoreError(
                f"the file sink lists {len(entries):,} files, and {files:,} were followed",
                where=str(listed[together[0]]),
                hint="write the sink without `retention`, and follow it under another name",
            )
        return Commit(together[0], after + 1, entries[files:], len(entries))

    def _listed(self) -> dict[int, Path]:
        """The list of each batch; one that puts all together only where the single one is gone."""
        logs: dict[int, Path] = {}
        try:
            names = list(self._metadata.iterdir())
        except FileNotFoundError:
            return logs
        except OSError as error:
            raise InputError(f"the file sink cannot be read: {error}") from None
        for path in names:
            match = _NAME.fullmatch(path.name)
            if match and (match[2] is None or int(match[1]) not in logs):
                logs[int(match[1])] = path
        return logs

    def _entries(self, path: Path) -> tuple[Path, ...]:
        try:
            version, *lines = path.read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) for line in lines if line.strip()]
            if version != _VERSION or any(item["action"] != "add" for item in entries):
                raise ValueError(f"of the form {version}")
            return tuple(self._local(item["path"]) for item in entries)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedError(
                f"a list of the file sink cannot be read: {error}",
                where=str(path),
                hint=f"its first line is {_VERSION}, and each other line a file that was added",
            ) from None

    def _local(self, address: str) -> Path:
        """A file by its name in this folder, which Spark may know by another path."""
        return self.folder / Path(unquote(urlsplit(address).path)).name


def check_sink(folder: Path) -> Path:
    """The folder, if a file sink can be there; it need not be there yet."""
    if folder.is_file():
        raise InputError(
            f"'{folder}' is a file", hint="give the folder that Spark writes a stream to"
        )
    if folder.is_dir() and not (folder / METADATA).exists() and any(folder.iterdir()):
        raise InputError(
            f"'{folder}' is no file sink: it has no `{METADATA}`",
            hint="give the folder that Spark's writeStream.format('parquet') writes to",
        )
    return folder


def _is_compact(path: Path) -> bool:
    return path.suffix == ".compact"
