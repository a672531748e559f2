"""Programs kept current: `python -m bench engine [--part PART]`.

Graphs with nine tenths of the edges loaded first, then a stream of batches that insert what was
held back and delete what is there. Times are medians of single-threaded calls. Ratios are to runs
from scratch on the same graph, to peers on the same edges and batches, both in the same run, and
to what reference systems took on another machine of the kind (`bench.reference`).

Parts: `batches` on RMAT 16 and 18, `growth` from RMAT 16 to 20, `real` graphs, `scratch` runs,
`ranks` of PageRank, and `footprint`, which is memory and the wait for a first answer.
"""

from __future__ import annotations

from collections.abc import Callable

from bench import data
from bench.batches import (
    FASTER_THAN_SCRATCH,
    OVER_SCRATCH,
    SIZES,
    ahead_of_measured,
    ahead_of_stated,
    building,
    over_scratch,
    steady,
    try_programs,
    tuples_within_bars,
    within_bars,
)
from bench.figures import Figure, say
from bench.footprint import memory, start_up
from bench.ranks import (
    graphbolt_took,
    ranks_from_scratch,
    ranks_maintained,
    ranks_over_graphbolt,
)
from bench.scratch import from_scratch
from bench.streams import Size, real_input, rmat_input

REAL = {"soc-Epinions1": True, "com-dblp": False, "road-NY": False}
"""Which of them are directed."""
FEW = (SIZES[0], Size(25, 25, 3), Size(500, 500, 3), Size(50_000, 50_000, 1))
"""For road-NY: components have histories of 44 entries there, so that a batch in exact mode, as a
start, takes five seconds. With ten batches of 25+25 they took a third of the whole benchmark."""
SMALL = SIZES[:2]
RANKED = (Size(1, 0, 100), Size(25, 25, 20), Size(500, 500, 10), Size(50_000, 50_000, 3))
QUICK = (Size(1, 0, 1), Size(5, 5, 1))
QUICK_BARS: tuple[float | None, ...] = (None, None)


def run(*, quick: bool, part: str | None = None) -> list[Figure]:
    """All figures of this benchmark, or those of one part."""
    figures: list[Figure] = []
    for name in PARTS if part is None else (part,):
        say(f"part {name}")
        figures += PARTS[name](quick=quick)
    return figures


def batch_figures(*, quick: bool) -> list[Figure]:
    """Batches on RMAT 16 and 18: over scratch, within bars, ahead of others; graphs made anew."""
    figures: list[Figure] = []
    for scale in (5,) if quick else (16, 18):
        given = rmat_input(scale)
        trials = try_programs(given, QUICK if quick else SIZES, brief=quick)
        for trial in trials:
            if scale != 16:
                bars = QUICK_BARS if quick else OVER_SCRATCH
                figures += [*over_scratch(trial, bars), *within_bars(trial)]
            figures += ahead_of_stated(trial, scale)
            figures += ahead_of_measured(trial, build=not quick)
    return [*figures, *tuples_within_bars(trials[1]), *building(given, 1 if quick else 5)]


def growth_figures(*, quick: bool) -> list[Figure]:
    """Small batches on RMAT 20, over those on RMAT 16."""
    sizes = QUICK if quick else SMALL
    small, large = (
        try_programs(rmat_input(scale), sizes, brief=quick, compared=False)
        for scale in ((5, 6) if quick else (16, 20))
    )
    return steady(small, large)


def real_figures(*, quick: bool) -> list[Figure]:
    """Batches and runs from scratch on real graphs; quickly on stand-ins."""
    if not quick:
        return _real(quick=False)
    with data.stand_ins():
        return _real(quick=True)


def scratch_figures(*, quick: bool) -> list[Figure]:
    """Runs from scratch on RMAT 18, beside plain loops and libraries."""
    return from_scratch(rmat_input(5 if quick else 18), 1 if quick else 9)


def rank_figures(*, quick: bool) -> list[Figure]:
    """PageRank, from scratch and kept within tolerances."""
    given = rmat_input(5 if quick else 18)
    figures = [
        *ranks_from_scratch(given, 1 if quick else 5),
        *ranks_maintained(given, QUICK if quick else RANKED, 1e-4),
    ]
    if not quick:
        figures += ranks_over_graphbolt(rmat_input(16), RANKED, 1e-7, graphbolt_took(16))
    return figures


def footprint_figures(*, quick: bool) -> list[Figure]:
    """Memory, and seconds from the shell to a first answer."""
    return [*memory(rmat_input(5 if quick else 18)), *start_up(1 if quick else 3)]


PARTS: dict[str, Callable[..., list[Figure]]] = {
    "batches": batch_figures,
    "scratch": scratch_figures,
    "ranks": rank_figures,
    "real": real_figures,
    "growth": growth_figures,
    "footprint": footprint_figures,
}


def _real(*, quick: bool) -> list[Figure]:
    """Batches and runs from scratch on real graphs; skipped where their files are not there."""
    figures: list[Figure] = []
    for name, directed in REAL.items():
        say(name)
        given = real_input(name, directed=directed)
        if given is None:
            reason = data.missing(f"{name}.txt.gz")
            figures.append(Figure(name, None, "at least", 1, "x", reason, f"{name}: batches"))
            continue
        sizes = QUICK if quick else FEW if name == "road-NY" else SIZES
        for trial in try_programs(given, sizes, brief=quick):
            figures += over_scratch(trial, QUICK_BARS if quick else FASTER_THAN_SCRATCH)
        figures += from_scratch(given, 1 if quick else 9)
    return figures
