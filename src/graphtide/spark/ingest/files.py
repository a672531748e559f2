"""Paths, globs and folders into the list of files that they stand for, in input order.

Files of this machine are listed here, so that a slip in a path gets an error before Spark is
asked; addresses of other file systems (`s3a://`, `hdfs://`) are left for Spark to list.
"""

from __future__ import annotations

import glob
import os
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphtide.model.errors import InputError
from graphtide.model.paths import given_path
from graphtide.model.schema import closest

_MAGIC = b"PAR1"


@dataclass(frozen=True)
class FileList:
    """Files of one format in input order; `local` if this machine can open them itself."""

    paths: tuple[str, ...]
    format: Literal["text", "parquet"]
    local: bool = True


def find_files(data: Any, what: str) -> FileList:
    """The files behind a path, a list of paths, a glob or a folder. Globs and folders sort."""
    given = [os.fspath(data)] if isinstance(data, str | os.PathLike) else list(map(os.fspath, data))
    given = [_without_file_scheme(path) for path in given]
    remote = [path for path in given if "://" in path]
    if remote and len(remote) < len(given):
        raise InputError(f"{what}: local and remote files cannot be mixed", where=remote[0])
    if remote:
        suffix = remote[0].rstrip("/").lower()
        is_parquet = suffix.endswith((".parquet", ".pq"))
        return FileList(tuple(given), "parquet" if is_parquet else "text", local=False)
    paths = tuple(path for item in given for path in _expand(item, what))
    return FileList(paths, _format(paths, what))


def _expand(path: str, what: str) -> Sequence[str]:
    path = os.path.abspath(given_path(path))
    if os.path.isdir(path):
        return _files_of_folder(path, what)
    if os.path.exists(path):
        return [path]
    files = sorted(item for item in glob.glob(path, recursive=True) if os.path.isfile(item))
    if files:
        return files
    if glob.has_magic(path):
        raise InputError(f"{what}: no file matches the pattern", where=path)
    raise InputError(f"{what}: there is no such file", where=path, hint=_nearest(path))


def _files_of_folder(path: str, what: str) -> Sequence[str]:
    files = sorted(
        str(item)
        for item in Path(path).rglob("*")
        if item.is_file() and not any(part[0] in "._" for part in item.relative_to(path).parts)
    )
    if not files:
        raise InputError(f"{what}: the folder has no files", where=path)
    return files


def _format(paths: Sequence[str], what: str) -> Literal["text", "parquet"]:
    parquet = [path for path in paths if _is_parquet(path)]
    if parquet and len(parquet) < len(paths):
        other = next(path for path in paths if path not in parquet)
        raise InputError(
            f"{what}: Parquet and other files are mixed",
            where=f"{parquet[0]}, {other}",
            hint="load them as two tables, or give the files of one kind only",
        )
    return "parquet" if parquet else "text"


def _is_parquet(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == _MAGIC
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=path) from None


def is_zstandard(path: str) -> bool:
    """True of a file that is packed with Zstandard, by its name."""
    return path.lower().endswith((".zst", ".zstd"))


def _without_file_scheme(path: str) -> str:
    if not path.startswith("file:/"):
        return path
    return urllib.parse.unquote(urllib.parse.urlparse(path).path)


def _nearest(path: str) -> str:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"the folder {folder} does not exist either"
    near = closest(os.path.basename(path), sorted(os.listdir(folder)))
    return f"did you mean {os.path.join(folder, near)}?" if near else f"look in {folder}"
