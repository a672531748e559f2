"""What paper 003 says of triangles that grow, and of deletions: `python -m bench.walks_growth`.

Batches of 50+50 pairs over a start, on RMAT graphs that grow fourfold; and 500 pairs that come
beside 500 that go, on com-dblp. Medians in milliseconds of the processor. No bars.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import graphtide as gt
from bench.streams import Int32, Size, batches
from bench.timing import clock, without_collector
from bench.walks_inputs import Pairs, real_pairs, rmat_pairs

SCALES = (12, 14, 16, 18)
STARTS, BATCHES, WARM_UP = 3, 30, 5


def growth(pairs: Pairs) -> tuple[float, float]:
    """Seconds of a start, and of a batch."""
    seconds = []
    for _ in range(STARTS):
        graph = pairs.graph()
        began = clock()
        live = graph.maintain(gt.algorithms.Triangles)
        seconds.append(clock() - began)
    (group,) = batches(pairs.given, (Size(50, 50, BATCHES),), WARM_UP)
    rows = [(pairs.columns(batch.inserted), pairs.columns(batch.deleted)) for batch in group]
    return statistics.median(seconds), _median(live, rows)


def both_ways(pairs: Pairs, edges: int) -> tuple[float, float]:
    """Seconds in which so many pairs come, and in which as many go, in turns."""
    given, draw = pairs.given, np.random.default_rng(5)
    held = np.setdiff1d(np.arange(given.edges, dtype=np.int32), given.loaded)
    live = pairs.graph().maintain(gt.algorithms.Triangles)
    come, gone = _parts(draw, held, edges), _parts(draw, given.loaded, edges)
    found = [
        (
            _median(live, [(pairs.columns(one), None)], 0),
            _median(live, [(None, pairs.columns(other))], 0),
        )
        for one, other in zip(come, gone, strict=True)
    ]
    inserted, deleted = zip(*found[WARM_UP:], strict=True)
    return statistics.median(inserted), statistics.median(deleted)


def _parts(draw: np.random.Generator, arcs: Int32, edges: int) -> Iterator[Int32]:
    chosen = draw.permutation(arcs)[: (BATCHES + WARM_UP) * edges]
    return iter(np.array_split(chosen, BATCHES + WARM_UP))


def _median(live: Any, rows: Sequence[tuple[Any, Any]], warm_up: int = WARM_UP) -> float:
    seconds = []
    with without_collector():
        for insert, delete in rows:
            began = clock()
            live.advance(insert=insert, delete=delete)
            seconds.append(clock() - began)
            live.graph.forget()
    return statistics.median(seconds[warm_up:])


def main() -> None:
    for scale in SCALES:
        pairs = rmat_pairs(scale)
        start, batch = (1e3 * value for value in growth(pairs))
        count = len(pairs.given.loaded)
        print(f"RMAT {scale}, {count:,} pairs: a start {start:.1f} ms, 50+50 {batch:.3f} ms")
    real = real_pairs("com-dblp")
    if real is not None:
        come, gone = (1e3 * value for value in both_ways(real, 500))
        print(f"com-dblp: 500 pairs come in {come:.2f} ms, and go in {gone:.2f} ms")


if __name__ == "__main__":
    main()
