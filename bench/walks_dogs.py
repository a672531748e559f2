"""Triangles of `dogsdogsdogs`, the delta queries of Differential Dataflow, on the same batches.

It is given the pairs twice: from the lower number to the greater one, as they come, which is what
bars are over; and from the lower degree to the higher one. That order is best for delta queries, is
found before the clock runs, and does not follow the batches.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import plain_triangles
from bench.figures import Figure
from bench.maintained import WARM_UP
from bench.peers import AbsentError, differential
from bench.streams import Batch, Int32, Size
from bench.walks_inputs import Pairs

AHEAD = 10.0


@dataclass(frozen=True)
class Beside:
    """What delta queries are compared with: seconds and values behind the batches of each size."""

    pairs: Pairs
    sizes: tuple[Size, ...]
    groups: list[list[Batch]]
    seconds: list[float]
    values: list[NDArray[Any]]

    @property
    def section(self) -> str:
        """Where the figures stand."""
        return f"{self.pairs.given.name}: batches"

    @property
    def ends(self) -> list[int]:
        """How many batches lie before each size, and how many there are."""
        return [0, *itertools.accumulate(map(len, self.groups))]


def dogs_figures(ours: Beside, *, build: bool) -> Iterator[Figure]:
    """How many times faster we are than delta queries, and whether both find the same."""
    orders = {
        "dogsdogsdogs": (ours.pairs.numbers, AHEAD),
        "dogsdogsdogs by degree": (ours.pairs.ranks, None),
    }
    for who, (names, bar) in orders.items():
        same = f"triangles, versions that differ from {who}"
        try:
            found = measured(ours.pairs, names, ours.groups, build=build)
        except AbsentError as reason:
            for size in ours.sizes:
                name = f"triangles, {size}, over {who}"
                yield Figure(name, None, "at least", bar, "x", str(reason), ours.section)
            yield Figure(same, None, "at most", 0, "", str(reason), ours.section)
            continue
        yield from _ahead(ours, found, who, bar)
        first = plain_triangles.triangles(ours.pairs.rows())
        sums = [checksum_since(names, first, values) for values in ours.values]
        theirs = [found.checksums[end] for end in ours.ends[1:]]
        differing = sum(one != other for one, other in zip(sums, theirs, strict=True))
        note = f"{len(sums)} versions"
        yield Figure(same, differing, "at most", 0, "", note, ours.section)


def measured(
    pairs: Pairs, names: Int32, groups: Sequence[list[Batch]], *, build: bool
) -> differential.Outcome:
    """What the peer takes for the whole stream, its vertices called by these names."""
    stream = [batch for group in groups for batch in group]
    peer = differential.find_peer(build=build)
    return differential.measure(peer, "triangles", pairs.arcs(names), stream)


def checksum_since(names: Int32, first: NDArray[Any], values: NDArray[Any]) -> int:
    """That of every vertex, as often as it has come into a triangle since the first version."""
    return differential.checksum(names, np.zeros_like(names), values - first)


def _ahead(
    ours: Beside, found: differential.Outcome, who: str, bar: float | None
) -> Iterator[Figure]:
    bounds = itertools.pairwise(ours.ends)
    for size, seconds, (start, end) in zip(ours.sizes, ours.seconds, bounds, strict=True):
        theirs = statistics.median(found.batch_processor_seconds[start + WARM_UP : end])
        note = f"{seconds * 1e3:.3g} ms; they {theirs * 1e3:.3g} ms"
        name = f"triangles, {size}, over {who}"
        yield Figure(name, theirs / seconds, "at least", bar, "x", note, ours.section)
