"""Programs kept current: `python -m bench engine`.

Graphs with nine tenths of the edges loaded first, then a stream of batches that insert what was
held back and delete what is there. Times are medians of single-threaded calls. Ratios are to runs
from scratch on the same graph, to peers on the same edges and batches, both in the same run, and
to what reference systems took on another machine of the kind (`bench.reference`).
"""

from __future__ import annotations

from bench import data
from bench.batches import (
    FASTER_THAN_SCRATCH,
    OVER_SCRATCH,
    SIZES,
    Trial,
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
from bench.streams import Input, Size, real_input, rmat_input

REAL = {"soc-Epinions1": True, "com-dblp": False, "road-NY": False}
"""Which of them are directed."""
FEW = (SIZES[0], Size(25, 25, 10), Size(500, 500, 5), Size(50_000, 50_000, 3))
"""For road-NY: components have histories of 44 entries there, five seconds from scratch."""
SMALL = SIZES[:2]
RANKED = (Size(1, 0, 100), Size(25, 25, 20), Size(500, 500, 10), Size(50_000, 50_000, 3))
QUICK = (Size(1, 0, 1), Size(5, 5, 1))
QUICK_BARS: tuple[float | None, ...] = (None, None)


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    return _quick() if quick else _full()


def _full() -> list[Figure]:
    figures: list[Figure] = []
    small: list[Trial] = []
    for scale in (16, 18):
        say(f"RMAT {scale}: batches")
        given = rmat_input(scale)
        trials = try_programs(given, SIZES)
        small = small or trials
        for trial in trials:
            if scale == 18:
                figures += [*over_scratch(trial, OVER_SCRATCH), *within_bars(trial)]
            figures += ahead_of_stated(trial, scale)
            figures += ahead_of_measured(trial, build=True)
    figures += [*tuples_within_bars(trials[1]), *building(given, 5)]
    figures += _from_scratch_and_ranks(given)
    figures += _real(quick=False)
    say("RMAT 20: small batches")
    figures += steady(small, try_programs(rmat_input(20), SMALL))
    return figures + start_up(3)


def _from_scratch_and_ranks(given: Input) -> list[Figure]:
    say(f"{given.name}: from scratch, memory, PageRank")
    first = rmat_input(16)
    return [
        *from_scratch(given, 9),
        *memory(given),
        *ranks_from_scratch(given, 5),
        *ranks_maintained(given, RANKED, 1e-4),
        *ranks_over_graphbolt(first, RANKED, 1e-7, graphbolt_took(16)),
    ]


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


def _quick() -> list[Figure]:
    """Everything once, on graphs that take no time; builds nothing."""
    given = rmat_input(5)
    trials = try_programs(given, QUICK, brief=True)
    figures: list[Figure] = []
    for trial in trials:
        figures += [*over_scratch(trial, QUICK_BARS), *within_bars(trial)]
        figures += ahead_of_measured(trial, build=False)
    figures += [*tuples_within_bars(trials[0]), *building(given, 1), *from_scratch(given, 1)]
    figures += memory(given)
    figures += ranks_from_scratch(given, 1)
    figures += ranks_maintained(given, QUICK, 1e-4)
    figures += steady(trials, try_programs(rmat_input(6), QUICK, brief=True))
    with data.stand_ins():
        figures += _real(quick=True)
    return figures + start_up(1)
