"""Pages of the system that the memory of a machine lies in: reserved once, given back when free."""

from __future__ import annotations

import mmap
import sys

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.memory import class_words
from graphtide.model.errors import InputError, LimitError

WORTH_GIVING_BACK = 1 << 24
"""Words of free blocks whose pages are kept for the next run; more where more is in use.

A batch of a million rows needs about as many: to have its pages back from the system, empty, took a
fifth of its time, and several times that on a busy machine.
"""
PART_KEPT = 4
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_GIVEN_BACK = -0x5EED_0DD5_0F_F8EE
"""Marks a free block whose pages the system has; chance contents only cost a page more."""


def reserve(size: int) -> mmap.mmap:
    """Address space for so many bytes, zeros, backed by memory only where it is touched."""
    if size < 1 << 20:
        raise InputError(
            f"A dataflow cannot work in {size:,} bytes", hint="give `memory` at least a megabyte"
        )
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        mapped = mmap.mmap(-1, size - size % mmap.PAGESIZE, flags=flags)
    except OSError as error:
        raise LimitError(
            f"The system does not let a dataflow reserve {size:,} bytes of address space",
            hint="give the dataflow a smaller `memory`",
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        mapped.madvise(mmap.MADV_HUGEPAGE)
    return mapped


def give_back(words: NDArray[np.int64], mapped: mmap.mmap) -> None:
    """Return the pages of all free blocks that are large."""
    words[layout.FREED_WORDS] = 0
    for size_class in range(layout.LARGE_CLASS, layout.END_OF_FREE_LISTS - layout.FREE_LISTS):
        block = int(words[layout.FREE_LISTS + size_class])
        size = int(class_words(size_class))
        while block:
            if words[block + 1] != _GIVEN_BACK:
                _release_pages(mapped, block + 2, block + size)
                words[block + 1] = _GIVEN_BACK
            block = int(words[block])


def _release_pages(mapped: mmap.mmap, first: int, last: int) -> None:
    """Forget the pages that lie wholly between two words."""
    page = mmap.PAGESIZE
    start = -(-first * 8 // page) * page
    end = last * 8 // page * page
    if end > start:
        mapped.madvise(mmap.MADV_DONTNEED, start, end - start)
