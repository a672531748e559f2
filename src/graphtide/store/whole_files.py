"""Files for other programs, whole or not there at all.

What is written goes beside its target first, and takes the target's place when everything has gone
well. So a full disk, an error halfway or Ctrl-C leave what was there before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from graphtide.model.disk import disk_error, is_full, reason_of
from graphtide.model.errors import GraphtideError, InputError

_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}

Beside = Callable[[str], Path]
"""Where a file of that name is to be written until all is done."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write a file, which takes its place after the block: all of it or nothing.

    What is no file (a pipe, a device) is written to as it is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        with _told(path):
            yield target
        return
    if not target.parent.is_dir():
        raise InputError(f"cannot write '{path}': there is no folder '{path.parent}'")
    with _told(path), _in_place_of(target.parent) as beside:
        yield beside(target.name)


@contextmanager
def whole_stream(path: Path) -> Iterator[pa.NativeFile]:
    """The same as a stream, compressed if the name ends with .gz, .bz2 or .zst."""
    packing = _PACKED.get(path.suffix.lower())
    with whole_file(path) as partial, pa.output_stream(partial, compression=packing) as stream:
        yield stream


@contextmanager
def whole_files(folder: Path) -> Iterator[Beside]:
    """Where to write the files of a folder, which is made: all of them or none."""
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _in_place_of(folder) as beside:
            yield beside


@contextmanager
def _in_place_of(folder: Path) -> Iterator[Beside]:
    partials: dict[str, Path] = {}

    def beside(name: str) -> Path:
        return partials.setdefault(name, folder / f".{name}.{os.getpid()}.partial")

    try:
        yield beside
        for partial in partials.values():
            _sync(partial)
        for name, partial in partials.items():
            partial.replace(folder / name)
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)


@contextmanager
def _told(target: Path) -> Iterator[None]:
    """Turn errors of the system into ours: a bad place, or no room."""
    try:
        yield
    except OSError as error:
        raise _export_error(error, target) from None


def _export_error(error: OSError, target: Path) -> GraphtideError:
    if is_full(error):
        return disk_error(error, f"'{target}'", target, "make room, or write to another disk")
    return InputError(
        f"cannot write '{target}': {reason_of(error)}",
        hint="name a file in a folder that is there, and that you may write to",
    )


def _sync(path: Path) -> None:
    """Sync a file: some file systems report only now that there is no room."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
