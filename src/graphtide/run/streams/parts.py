"""A batch of a stream in parts, each of which is one advance.

An advance looks edges up in the version before it. So rows that are about the same ends and must
see one another, such as an edge that comes and goes again in one batch, stand in different parts,
in the order in which they came. Edges with other ends know nothing of each other: their rows may
change places.

Parts have at most so many rows, which bounds the memory that an advance takes.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.live.find_edges import key_codes
from graphtide.run.streams.operations import DELETE, INSERT, REPLACE, UPDATE, Codes


def part_numbers(
    ends: tuple[pa.ChunkedArray, pa.ChunkedArray],
    codes: Codes,
    most: int,
    *,
    simple: bool,
    directed: bool = True,
) -> NDArray[np.int64]:
    """The part of each row, from 0; a stable sort by it gives the order to apply rows in."""
    rounds = _rounds(ends, codes, simple=simple, directed=directed)
    if len(rounds) <= most and not rounds.any():
        return rounds
    order = np.argsort(rounds, kind="stable")
    sizes = np.bincount(rounds)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    within = np.arange(len(rounds)) - np.repeat(first, sizes)
    pieces = -(-sizes // most)
    before = np.concatenate([[0], np.cumsum(pieces)[:-1]])
    parts = np.empty(len(rounds), np.int64)
    parts[order] = np.repeat(before, sizes) + within // most
    return parts


def _rounds(
    ends: tuple[pa.ChunkedArray, pa.ChunkedArray], codes: Codes, *, simple: bool, directed: bool
) -> NDArray[np.int64]:
    """How many rows, or runs of rows, with the same ends a row must see."""
    rounds = np.zeros(len(codes), np.int64)
    if len(codes) < 2 or (not simple and (codes == INSERT).all()):
        return rounds
    both = key_codes(pa.chunked_array([chunk for end in ends for chunk in end.chunks]))
    sources, targets = both[: len(codes)], both[len(codes) :]
    if not directed:  # Whichever end is named first.
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    order = np.lexsort((targets, sources))
    same = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
    before, behind = codes[order[:-1]], codes[order[1:]]
    sees = same & _must_see(before, behind, simple=simple)
    total = np.concatenate([[0], np.cumsum(sees)])
    begins = np.concatenate([[True], ~same])
    base = total[np.flatnonzero(begins)]
    rounds[order] = total - np.repeat(base, np.diff([*np.flatnonzero(begins), len(codes)]))
    return rounds


def _must_see(before: Codes, behind: Codes, *, simple: bool) -> NDArray[np.bool_]:
    """Whether a row must see the one before it: an advance first takes away, and then brings."""
    comes = (before == INSERT) | (before == REPLACE)
    either: NDArray[np.bool_] = (
        (before == UPDATE) | (behind == UPDATE) | (comes & (behind == DELETE))
    )
    return either | (comes & (behind != DELETE)) if simple else either
