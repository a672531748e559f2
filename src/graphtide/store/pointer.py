"""Pointers: small files that name what is in force, together with the checksum of its manifest.

A writer replaces a pointer in two steps, and between them puts in place what the pointer will name:
`prepare` writes the new pointer beside the old one, `commit` renames it. A changed bit in a pointer
makes it unreadable, or name something whose manifest has another checksum.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from graphtide.model.disk import reason_of
from graphtide.store.files import Damage

_LINE = re.compile(rb"([a-z]+(?:-[0-9]{6,})?) ([0-9a-f]{8})\n")
_LINE_OF_FORMAT_1 = re.compile(rb"(g-[0-9]{6,})\n")
_LONGEST = 200

CURRENT = "CURRENT"
"""The pointer of a store."""


class Pointer(NamedTuple):
    """The name of a folder and the checksum of its manifest; without one, from format 1."""

    name: str
    checksum: str

    @property
    def line(self) -> str:
        """As the file holds it, but for the end of the line."""
        return f"{self.name} {self.checksum}"


def read_pointer(path: Path) -> Pointer | Damage | None:
    """What a pointer says; None where there is no file."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LONGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Damage(path, f"cannot be read: {reason_of(error)}")
    line = _LINE.fullmatch(data)
    if line is not None:
        return Pointer(line[1].decode(), line[2].decode())
    older = _LINE_OF_FORMAT_1.fullmatch(data)
    if older is not None:
        return Pointer(older[1].decode(), "")
    return Damage(path, "is not as it was written" if data else "is empty")


def prepared(path: Path) -> Path:
    """Where the next pointer stands until it is committed."""
    return path.with_name(path.name + ".new")


def prepare(path: Path, pointer: Pointer) -> None:
    """Write a pointer beside the one in force."""
    write_synced(prepared(path), f"{pointer.line}\n".encode())
    sync_path(path.parent)


def commit(path: Path) -> None:
    """Put the prepared pointer in force, for all to see; `sync_path` of the folder for good."""
    prepared(path).replace(path)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file, and bring it to the disk."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_tree(path: Path) -> None:
    """Bring a folder, and everything in it, to the disk."""
    for parent, _, files in os.walk(path):
        for name in files:
            sync_path(Path(parent) / name)
        sync_path(Path(parent))


def sync_path(path: Path) -> None:
    """Bring the names in a folder, or the contents of a file, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
