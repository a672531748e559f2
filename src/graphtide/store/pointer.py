"""Pointers: small files that name what is in force, together with the checksum of its manifest.

A writer replaces a pointer in two steps, and between them puts in place what the pointer will name:
`prepare` writes the new pointer beside the old one, `commit` renames it. A changed bit in a pointer
makes it unreadable, or name something whose manifest has another checksum.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from graphtide.model import disk
from graphtide.store.files import Damage, unreadable

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
        data = disk.read_file(path)[:_LONGEST]
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
    """Where the next pointer stands until it is committed."""
    return path.with_name(path.name + ".new")


def prepare(path: Path, pointer: Pointer) -> None:
    """Write a pointer beside the one in force."""
    disk.write_synced(prepared(path), f"{pointer.line}\n".encode())
    disk.sync_path(path.parent)


def commit(path: Path) -> None:
    """Put the prepared pointer in force, for all to see; `sync_path` of the folder for good."""
    disk.rename(prepared(path), path)
