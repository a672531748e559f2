"""Walks that read state: levels of a search, and the triangles whose vertices are on one level.

Every round of such a program has walks of its own, and is kept. An advance goes through the rounds
(`docs/design/walks.md`); it is timed through `live.advance`, beside a run from scratch that keeps
nothing, which is timed at the engine as in `bench.maintained`. There are no bars. At the end the
results are compared with such a run.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.figures import Figure
from bench.maintained import Rows, median_batch
from bench.streams import Size, batches
from bench.timing import clock
from bench.walks_inputs import Pairs
from bench.walks_round_program import LevelTriangles

SIZES = (Size(1, 0, 7), Size(25, 25, 4), Size(500, 500, 2))
RUNS = 3


def round_figures(pairs: Pairs, sizes: tuple[Size, ...] = SIZES) -> Iterator[Figure]:
    """How many times faster an advance is than a run from scratch, and whether both agree."""
    section = f"{pairs.given.name}: walks that read state"
    live = pairs.graph().maintain(LevelTriangles(source=int(pairs.ids[pairs.given.source])))
    maintainer = live._kept.maintainer
    maintainer.scratch()
    for size, group in zip(sizes, batches(pairs.given, sizes, 1), strict=True):
        rows = [
            Rows(pairs.columns(batch.inserted), pairs.columns(batch.deleted)) for batch in group
        ]
        ours = median_batch(live, rows)
        scratch = statistics.median(_seconds(maintainer) for _ in range(RUNS))
        note = f"{ours * 1e3:.3g} ms; from scratch {scratch * 1e3:.4g} ms"
        name = f"triangles of a level, {size}, over from scratch"
        yield Figure(name, scratch / ours, "at least", None, "x", note, section)
    found = maintainer.scratch()
    differing = sum(int((live[name] != found[name]).sum()) for name in live.fields)
    name = "triangles of a level, values that differ from scratch"
    yield Figure(name, differing, "at most", 0, "", f"{live.touched:,} entries at last", section)


def _seconds(maintainer: object) -> float:
    began = clock()
    maintainer.scratch()  # type: ignore[attr-defined]
    return clock() - began
