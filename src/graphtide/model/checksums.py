"""Checksums of bytes and of files.

CRC-32: it finds every single flipped bit and every torn block, costs a third of a second a gigabyte
and comes with Python and with Spark. It guards against accidents, not against forgery.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from graphtide.model import disk

_BLOCK = 1 << 20
_THREADS = min(8, os.cpu_count() or 1)

Checksums = Callable[[Sequence[Path]], list[str]]
"""The checksums of files, in their order; an empty text for one that cannot be read."""


def checksum(data: bytes | memoryview, before: int = 0) -> int:
    """The checksum of bytes; `before` is the checksum of the bytes in front of them."""
    return zlib.crc32(data, before)


def written(number: int) -> str:
    """A checksum in the form in which it is stored."""
    return f"{number:08x}"


def checksums_by_threads(paths: Sequence[Path]) -> list[str]:
    """The checksums of files that this process reads, several at a time.

    Reading and checksums leave Python's lock to other threads.
    """
    if len(paths) < 2:
        return [_checksum_if_read(path) for path in paths]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(_checksum_if_read, paths))


def file_checksum(path: Path) -> str:
    """The checksum of one file; OSError where it cannot be read."""
    buffer, checksum_so_far = memoryview(bytearray(_BLOCK)), 0
    with disk.open_file(path) as file:
        while size := file.read_into(buffer):
            checksum_so_far = checksum(buffer[:size], checksum_so_far)
    return written(checksum_so_far)


def _checksum_if_read(path: Path) -> str:
    try:
        return file_checksum(path)
    except OSError:
        return ""
