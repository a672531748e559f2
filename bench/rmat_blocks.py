"""RMAT graphs that need not fit memory: made in blocks, by compiled code."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

from bench.stored_graphs import Columns

BLOCK = 1 << 22
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scale_of(edges: int) -> int:
    """The scale of a graph with about 16 edges a vertex."""
    return max(4, (edges // 16 - 1).bit_length())


def rmat_blocks(scale: int, edges: int, cores: int = CORES) -> Iterator[Columns]:
    """An RMAT graph with a = .57, b = c = .19 and shuffled names, some edges at a time.

    Blocks are made ahead by as many threads as there are cores; what is in one follows from its
    place alone.
    """
    firsts = deque(range(0, edges, BLOCK))
    waiting: deque[Any] = deque()
    with ThreadPoolExecutor(cores) as pool:
        while firsts or waiting:
            while firsts and len(waiting) < cores + 1:
                first = firsts.popleft()
                waiting.append(pool.submit(_block, scale, first, min(BLOCK, edges - first)))
            yield waiting.popleft().result()


def _block(scale: int, first: int, count: int) -> Columns:
    src, dst = np.empty(count, np.int32), np.empty(count, np.int32)
    with np.errstate(over="ignore"):
        _fill(scale, first, src, dst)
    return {"src": src, "dst": dst}


@numba.njit(nogil=True)
def _fill(scale: int, first: int, src: Any, dst: Any) -> None:
    """Sixteen bits of chance decide a level; a number gives four of them (SplitMix64)."""
    mask, half = np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    for at in range(len(src)):
        seed = np.uint64(first + at) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(12345)
        one, other, chance = np.uint64(0), np.uint64(0), np.uint64(0)
        for level in range(scale):
            if level % 4 == 0:
                seed += np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(level << 40)
                chance = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                chance = (chance ^ (chance >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                chance ^= chance >> np.uint64(31)
            draw = chance & np.uint64(0xFFFF)
            chance >>= np.uint64(16)
            down = draw >= np.uint64(49807)
            right = (draw >= np.uint64(37355)) & (draw < np.uint64(49807))
            right |= draw >= np.uint64(62259)
            one = (one << np.uint64(1)) | np.uint64(down)
            other = (other << np.uint64(1)) | np.uint64(right)
        src[at], dst[at] = _name(one, mask, half), _name(other, mask, half)


@numba.njit(nogil=True)
def _name(vertex: Any, mask: Any, half: Any) -> Any:
    """Another number for every number up to the mask."""
    found = (vertex * np.uint64(0x9E3779B1)) & mask
    found ^= found >> half
    found = (found * np.uint64(0x85EBCA6B)) & mask
    return found ^ (found >> half)
