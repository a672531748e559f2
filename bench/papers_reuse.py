"""How wrong old results become where they are reused as they are (GraphBolt, table 1).

Label propagation over ten rounds, ten batches of a hundred edges. *Reused*: the rounds on the new
graph begin with the values of the old one, and those with the values before. *Followed*: what
`live.advance` tells. Both are compared with a run from scratch, a few lines of NumPy that share
nothing with the product.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.streams import Input, Size, batches

Floats = NDArray[np.float64]
BATCH = Size(50, 50, 10)
ROUNDS = 10
KNOWN = 100
OFF = 0.01


def reuse(given: Input | None) -> Iterator[Figure]:
    """Vertices that are off by a hundredth or more, after the first batch and after the last."""
    if given is None:
        yield Figure("reuse", None, "at most", None, "", data.missing("soc-Epinions1.txt.gz"))
        return
    count = min(KNOWN, given.vertices // 4)
    known = np.random.default_rng(0).permutation(given.vertices)[: 2 * count]
    start = np.zeros((given.vertices, 2))
    start[known[:count], 0] = start[known[count:], 1] = 1.0
    there = np.zeros(len(given.src), bool)
    there[given.loaded] = True
    graph = gt.Graph(given.src[there], given.dst[there], vertices=given.vertices)
    spread = gt.algorithms.LabelPropagation(
        first=known[:count].tolist(), second=known[count:].tolist(), iterations=ROUNDS
    )
    live = graph.maintain(spread)
    reused = _spread(given, there, start, known)
    [group] = batches(given, (BATCH,), extra=0)
    for number, batch in enumerate(group, 1):
        there[batch.inserted], there[batch.deleted] = True, False
        live.advance(_ends(given, batch.inserted), _ends(given, batch.deleted))
        reused = _spread(given, there, reused, known)
        if number in (1, len(group)):
            anew = _spread(given, there, start, known)
            section = f"{given.name}: label propagation, batch {number} of {BATCH}"
            ways = (("old values reused", reused), ("followed by live.advance", live["share"]))
            for name, values in ways:
                off = int((np.abs(values - anew) >= OFF * anew).any(axis=1, where=anew > 0).sum())
                note = f"of {given.vertices:,} vertices off by a hundredth or more"
                yield Figure(name, off, "at most", None, "", note, section)


def _spread(
    given: Input, there: NDArray[np.bool_], share: Floats, known: NDArray[np.int64]
) -> Floats:
    """Ten rounds of label propagation from those values, over the edges that are there."""
    src, dst = given.src[there], given.dst[there]
    ends, others = np.concatenate([dst, src]), np.concatenate([src, dst])
    free = np.ones(given.vertices, bool)
    free[known] = False
    for _ in range(ROUNDS):
        votes = [np.bincount(ends, share[others, k], given.vertices) for k in range(2)]
        total = votes[0] + votes[1]
        moved = free & (total > 0)
        share = share.copy()
        share[moved] = np.stack(votes, axis=1)[moved] / total[moved, None]
    return share


def _ends(given: Input, arcs: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
    return {"src": given.src[arcs], "dst": given.dst[arcs]}
