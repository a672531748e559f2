"""Batches of every size, kept current: against scratch, against what others took, and beside them.

Each program goes through the same stream of batches in both modes, and so does Differential
Dataflow where it can be built. What all of them end up with after each size must be the same.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

import numpy as np

import graphtide as gt
from bench import reference
from bench.figures import Figure, say
from bench.maintained import (
    MODES,
    PROGRAMS,
    WARM_UP,
    Selecting,
    Timed,
    as_rows,
    live_of,
    maintainer_of,
    resident_graph,
    time_stream,
    tuple_rows,
    users_graph,
    users_ids,
)
from bench.peers import AbsentError, differential
from bench.streams import Batch, Input, Size, batches
from bench.timing import median_of, medians_in_turns

SIZES = (Size(1, 0, 300), Size(25, 25, 100), Size(500, 500, 30), Size(50_000, 50_000, 5))
OVER_SCRATCH = (500.0, 200.0, 15.0, 1 / 1.3)
OVER_ANEW = 1.5
MILLISECONDS: tuple[float | None, ...] = (0.03, 0.1, 0.8, 45.0)
"""Of an advance by tables of Arrow on RMAT 18 in fixpoint mode."""
FASTER_THAN_SCRATCH = (1.0, 1.0, 1.0, None)
"""For graphs on which 50,000 edges are a tenth of all, or more."""


@dataclass(frozen=True)
class Trial:
    """One program on one graph."""

    given: Input
    chosen: Selecting
    sizes: tuple[Size, ...]
    scratch: float
    modes: dict[str, Timed]

    @property
    def section(self) -> str:
        """Where its figures stand."""
        return f"{self.given.name}: batches"

    def name(self, mode: str, at: int) -> str:
        """Program, mode and size."""
        return f"{self.chosen.title}, {mode}, {self.sizes[at]}"


def try_programs(
    given: Input, sizes: tuple[Size, ...], *, brief: bool = False, compared: bool = True
) -> list[Trial]:
    """Every program in both modes over the same stream, and from scratch at its start.

    A brief trial has the exact mode of the first program only: each takes long to compile. One
    that is not `compared` with other ways runs nothing from scratch but to check its answers.
    """
    rows = [as_rows(given, group) for group in batches(given, sizes, WARM_UP)]
    first = resident_graph(given) if compared else None
    trials = []
    for chosen in PROGRAMS:
        scratch = 0.0
        if first is not None:
            scratch = median_of(maintainer_of(chosen, first, "fixpoint", given.source).scratch, 5)
        modes = {}
        for mode in MODES if not brief or chosen is PROGRAMS[0] else MODES[:1]:
            say(f"{given.name}: {chosen.title}, {mode} mode")
            live = live_of(chosen, users_graph(given), given, mode)
            modes[mode] = time_stream(live, rows, restarts=3 if compared else 0)
        trials.append(Trial(given, chosen, sizes, scratch, modes))
    return trials


def over_scratch(trial: Trial, bars: tuple[float | None, ...]) -> list[Figure]:
    """How many times faster a batch is than a run from scratch, in both modes."""
    figures = []
    for mode, timed in trial.modes.items():
        for at, seconds in enumerate(timed.seconds):
            name, ratio = trial.name(mode, at), trial.scratch / seconds
            note = f"{_text(seconds)}; from scratch {_text(trial.scratch)}"
            figures.append(
                Figure(
                    f"{name}, over scratch", ratio, "at least", bars[at], "x", note, trial.section
                )
            )
        figures.append(_over_anew(trial, mode, timed))
    name = f"{trial.chosen.title}, versions that differ from scratch"
    wrong = sum(timed.differing for timed in trial.modes.values())
    note = f"{len(trial.sizes)} a mode"
    return [*figures, Figure(name, wrong, "at most", 0, "", note, trial.section)]


def _over_anew(trial: Trial, mode: str, timed: Timed) -> Figure:
    """The longest batch over starting anew, in the same mode.

    Without the largest batches, most of which is reading and matching rows.
    """
    longest = max(timed.longest[: len(SIZES) - 1])
    name = f"{trial.chosen.title}, {mode}, longest batch over starting anew"
    note = f"{_text(longest)} over {_text(timed.anew)}"
    ratio = longest / timed.anew
    return Figure(name, ratio, "at most", OVER_ANEW, "x", note, trial.section)


def within_bars(trial: Trial) -> list[Figure]:
    """Milliseconds of an advance as users call it, by tables and by lists of tuples."""
    figures = []
    for mode, timed in trial.modes.items():
        bars = MILLISECONDS if mode == "fixpoint" else (0.1, None, None, None)
        for at, (seconds, bar) in enumerate(zip(timed.seconds, bars, strict=False)):
            name = f"{trial.name(mode, at)}, time"
            figures.append(
                Figure(name, seconds * 1e3, "at most", bar, "ms", "Arrow", trial.section)
            )
    return figures


def tuples_within_bars(trial: Trial) -> list[Figure]:
    """The same batches as lists of tuples, at most twice the bar of tables."""
    given = trial.given
    groups = [as_rows(given, group, tuple_rows) for group in batches(given, trial.sizes, WARM_UP)]
    timed = time_stream(live_of(trial.chosen, users_graph(given), given, "fixpoint"), groups)
    return [
        Figure(
            f"{trial.name('fixpoint', at)}, tuples, time",
            seconds * 1e3,
            "at most",
            None if bar is None else 2 * bar,
            "ms",
            "lists of tuples",
            trial.section,
        )
        for at, (seconds, bar) in enumerate(zip(timed.seconds, MILLISECONDS, strict=False))
    ]


def building(given: Input, rounds: int) -> list[Figure]:
    """A graph made from arrays, over a NumPy argsort and gather of the same edges."""
    arcs, ids = given.arcs(given.loaded), users_ids(given)
    src, dst = ids[given.src[arcs]], ids[given.dst[arcs]]
    weight = given.weight[arcs].astype(np.float64)

    def sort() -> None:
        order = np.argsort(src, kind="stable")
        for column in (src, dst, weight):
            np.take(column, order)

    took = medians_in_turns(
        {"ours": lambda: gt.Graph(src, dst, weight=weight), "sort": sort}, rounds
    )
    note = f"{_text(took['ours'])} over {_text(took['sort'])}; {len(arcs):,} edges"
    ratio = took["ours"] / took["sort"]
    name = "gt.Graph from arrays, times an argsort and gather"
    return [Figure(name, ratio, "at most", 3, "x", note, f"{given.name}: batches")]


def ahead_of_stated(trial: Trial, scale: int) -> list[Figure]:
    """How far ahead of what the reference systems and the prototype took elsewhere."""
    key = scale, trial.chosen.title
    return [
        *_ahead(
            trial,
            "fixpoint",
            "Differential Dataflow",
            reference.DIFFERENTIAL.get(key),
            reference.AHEAD_OF_DIFFERENTIAL,
        ),
        *_ahead(
            trial,
            "fixpoint",
            "KickStarter",
            reference.KICKSTARTER.get(key),
            reference.AHEAD_OF_KICKSTARTER,
        ),
        *_ahead(trial, "exact", "the prototype", reference.PROTOTYPE.get(key), (1.0,) * 4),
    ]


def ahead_of_measured(trial: Trial, *, build: bool) -> list[Figure]:
    """How far ahead of Differential Dataflow on the same stream in this run; equal answers."""
    groups = list(batches(trial.given, trial.sizes, WARM_UP))
    who, bar = "Differential Dataflow in this run", reference.AHEAD_OF_DIFFERENTIAL
    same = f"{trial.chosen.title}, versions that differ from Differential Dataflow"
    try:
        outcome = _differential(trial, groups, build=build)
    except AbsentError as reason:
        names = [f"{trial.name('fixpoint', at)}, over {who}" for at in range(len(groups))]
        skipped = [
            Figure(name, None, "at least", bar[at], "x", str(reason), trial.section)
            for at, name in enumerate(names)
        ]
        return [*skipped, Figure(same, None, "at most", 0, "", str(reason), trial.section)]
    ends = [sum(map(len, groups[:at])) for at in range(len(groups) + 1)]
    took = [
        1e3 * statistics.median(outcome.batch_processor_seconds[start + WARM_UP : end])
        for start, end in itertools.pairwise(ends)
    ]
    theirs = [outcome.checksums[end] for end in ends]
    differing = sum(
        mine != other
        for timed in trial.modes.values()
        for mine, other in zip(timed.checksums, theirs, strict=True)
    )
    return [
        *_ahead(trial, "fixpoint", who, tuple(took), bar),
        Figure(same, differing, "at most", 0, "", f"{len(theirs)} a mode", trial.section),
    ]


def steady(small: list[Trial], large: list[Trial]) -> list[Figure]:
    """A small batch on a large graph over the same on a small one, in both modes."""
    figures = []
    for one, other in zip(small, large, strict=True):
        for mode, timed in other.modes.items():
            for at, size in enumerate(other.sizes):
                few, many = one.modes[mode].seconds[at], timed.seconds[at]
                figures.append(
                    Figure(
                        f"{one.chosen.title}, {mode}, {size}",
                        many / few,
                        "at most",
                        2,
                        "x",
                        f"{_text(many)} over {_text(few)}",
                        f"{other.given.name} over {one.given.name}",
                    )
                )
    return figures


def _differential(trial: Trial, groups: list[list[Batch]], *, build: bool) -> differential.Outcome:
    given = trial.given
    arcs = differential.Arcs(
        given.vertices, given.src, given.dst, given.weight, given.arcs(given.loaded)
    )
    stream = [batch for group in groups for batch in group]
    peer = differential.find_peer(build=build)
    return differential.measure(peer, trial.chosen.peer, arcs, stream, given.source)


def _ahead(
    trial: Trial, mode: str, who: str, took: tuple[float, ...] | None, bars: tuple[float, ...]
) -> list[Figure]:
    """A figure a size, of milliseconds that someone else took."""
    figures = []
    for at, milliseconds in enumerate(took or ()):
        seconds = trial.modes[mode].seconds[at]
        note = f"{_text(seconds)}; they {milliseconds:.3g} ms"
        name, ratio = f"{trial.name(mode, at)}, over {who}", milliseconds / (seconds * 1e3)
        figures.append(Figure(name, ratio, "at least", bars[at], "x", note, trial.section))
    return figures


def _text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
