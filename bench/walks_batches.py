"""Triangles and coefficients kept current over batches, beside a plain loop with a hash of pairs.

All are given the same pairs and the same batches: we by columns of users' ids through
`live.advance`, the plain loop by arrays of vertex numbers, delta queries (`bench.walks_dogs`) by a
file. We and the plain loop take turns, size by size. After each size everyone's triangles are
compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import plain_triangles
from bench.figures import Figure
from bench.maintained import WARM_UP, Rows, median_batch, time_batches
from bench.peers import AbsentError
from bench.streams import Batch, Size, batches
from bench.timing import clock, without_collector
from bench.walks_dogs import Beside, dogs_figures
from bench.walks_inputs import CLUSTERING, TRIANGLES, Pairs, Walk, scattered_pairs, with_hub

SIZES = (Size(1, 0, 300), Size(25, 25, 100), Size(500, 500, 30))
OVER_PLAIN, BESIDE_A_HUB = 2.0, 1.5
TURN = 10
MILLISECONDS: dict[int, float] = {1: 0.03}
"""By how many edges a batch inserts."""


@dataclass(frozen=True)
class Timed:
    """Median seconds of a batch of each size, and every vertex's value behind each size."""

    seconds: list[float]
    values: list[NDArray[Any]]


def batch_figures(pairs: Pairs, sizes: tuple[Size, ...], *, build: bool) -> Iterator[Figure]:
    """Both programs over the same stream, beside everyone who keeps triangles."""
    groups = list(batches(pairs.given, sizes, WARM_UP))
    yield from _triangles(pairs, sizes, groups, build=build)
    yield from _clustering(pairs, sizes, groups)


def hub_figures(neighbours: int, rounds: int) -> Iterator[Figure]:
    """An edge between two vertices that a hub is beside, over the same edge without the hub."""
    base = scattered_pairs(neighbours)
    both = base, with_hub(base)
    lives = [each.graph().maintain(TRIANGLES.find()) for each in both]
    kept = [_loaded(each) for each in both]
    sizes, differing = (Size(1, 0, rounds), Size(1, 1, rounds)), 0
    section = f"a hub of {neighbours:,} neighbours"
    for size, group in zip(sizes, batches(base.given, sizes, WARM_UP), strict=True):
        few, many = _medians_in_turns(lives, both, group)
        note = f"{_text(many)}, without the hub {_text(few)}"
        name = f"triangles, {size}, times the same without the hub"
        yield Figure(name, many / few, "at most", BESIDE_A_HUB, "x", note, section)
        for live, loop, each in zip(lives, kept, both, strict=True):
            _median_plain(loop, each, group)
            differing += int((live[TRIANGLES.field] != loop.found).sum())
    name = "triangles, values that differ from a plain loop"
    yield Figure(name, differing, "at most", 0, "", f"{len(sizes)} versions of both", section)


def _medians_in_turns(
    lives: list[gt.Live], graphs: tuple[Pairs, ...], group: list[Batch]
) -> list[float]:
    """Median seconds of a batch on each graph, a few batches on one and then on the next.

    One graph after the other, whatever else the machine does meanwhile counts for one of them.
    """
    seconds: list[list[float]] = [[] for _ in lives]
    for start in range(0, len(group), TURN):
        for live, pairs, mine in zip(lives, graphs, seconds, strict=True):
            mine += time_batches(live, [_rows(pairs, each) for each in group[start : start + TURN]])
    return [statistics.median(mine[min(WARM_UP, len(mine) - 1) :]) for mine in seconds]


def in_turns(walk: Walk, pairs: Pairs, groups: list[list[Batch]]) -> tuple[Timed, Timed]:
    """We and the plain loop, over the batches of one size after the other."""
    live = pairs.graph().maintain(walk.find())
    kept = _loaded(pairs)
    ours, plain = Timed([], []), Timed([], [])
    for group in groups:
        ours.seconds.append(median_batch(live, [_rows(pairs, batch) for batch in group]))
        ours.values.append(live[walk.field])
        plain.seconds.append(_median_plain(kept, pairs, group))
        plain.values.append(kept.found.copy() if walk is TRIANGLES else _shares(kept))
    return ours, plain


def _triangles(
    pairs: Pairs, sizes: tuple[Size, ...], groups: list[list[Batch]], *, build: bool
) -> Iterator[Figure]:
    section = f"{pairs.given.name}: batches"
    ours, plain = in_turns(TRIANGLES, pairs, groups)
    for size, seconds, other in zip(sizes, ours.seconds, plain.seconds, strict=True):
        bar = MILLISECONDS.get(size.insert)
        yield Figure(
            f"triangles, {size}, time", seconds * 1e3, "at most", bar, "ms", "columns", section
        )
        yield _times_plain(f"triangles, {size}", seconds, other, OVER_PLAIN, section)
    yield from dogs_figures(Beside(pairs, sizes, groups, ours.seconds, ours.values), build=build)
    stream = [batch for group in groups for batch in group]
    last = plain_triangles.neighbours(pairs.given.vertices, *pairs.ends(pairs.after(stream)))
    differing = _differing(ours, plain)
    differing += int((plain_triangles.triangles(last) != plain.values[-1]).sum())
    note = f"{len(sizes)} versions; the last one from scratch too"
    name = "triangles, values that differ from a plain loop"
    yield Figure(name, differing, "at most", 0, "", note, section)


def _clustering(
    pairs: Pairs, sizes: tuple[Size, ...], groups: list[list[Batch]]
) -> Iterator[Figure]:
    """Coefficients kept current have no bar of their own: the plain loop keeps triangles."""
    section = f"{pairs.given.name}: batches"
    same = "clustering, values that differ from a plain loop"
    try:
        ours, plain = in_turns(CLUSTERING, pairs, groups)
    except AbsentError as reason:
        yield Figure(same, None, "at most", 0, "", str(reason), section)
        return
    for size, seconds, other in zip(sizes, ours.seconds, plain.seconds, strict=True):
        yield _times_plain(f"clustering, {size}", seconds, other, None, section)
    note = f"{len(sizes)} versions"
    yield Figure(same, _differing(ours, plain), "at most", 0, "", note, section)


def _loaded(pairs: Pairs) -> plain_triangles.Kept:
    """The plain loop at the first version."""
    given = pairs.given
    kept = plain_triangles.begin(given.vertices, given.src, given.dst)
    plain_triangles.load(kept, *pairs.ends(given.loaded), plain_triangles.triangles(pairs.rows()))
    return kept


def _median_plain(kept: plain_triangles.Kept, pairs: Pairs, group: list[Batch]) -> float:
    """Median seconds of a batch, as `median_batch` takes it of ours."""
    seconds = []
    with without_collector():
        for batch in group:
            ends = *pairs.ends(batch.inserted), *pairs.ends(batch.deleted)
            began = clock()
            plain_triangles.advance(kept, *ends)
            seconds.append(clock() - began)
    return statistics.median(seconds[min(WARM_UP, len(seconds) - 1) :])


def _rows(pairs: Pairs, batch: Batch) -> Rows:
    deleted = pairs.columns(batch.deleted) if len(batch.deleted) else None
    return Rows(pairs.columns(batch.inserted), deleted)


def _shares(kept: plain_triangles.Kept) -> NDArray[np.float64]:
    return plain_triangles.shares(kept.found, kept.size.astype(np.int64))


def _times_plain(
    what: str, seconds: float, plain: float, bar: float | None, section: str
) -> Figure:
    note = f"{_text(seconds)} over {_text(plain)}"
    name = f"{what}, times a plain loop"
    return Figure(name, seconds / plain, "at most", bar, "x", note, section)


def _differing(ours: Timed, plain: Timed) -> int:
    return sum(
        int((~np.isclose(one, other, rtol=1e-12, atol=0)).sum())
        for one, other in zip(ours.values, plain.values, strict=True)
    )


def _text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
