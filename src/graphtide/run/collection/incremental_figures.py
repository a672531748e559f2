"""Figures, leaders and places of every view, kept from what changes between views. O(differences).

A walk over all finished views along the plan gives kernels many moves at once. Views are visited in
the order of the plan, whatever the order in which they were given: every step is gone down once,
and back once where a subtree ends. The figures of a view go to the view's own position.

This module loads kernels; whoever has small results does not import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.kernels.summaries.statistics import (
    LIMBS,
    LOWEST_BIT,
    FoundLeaders,
    FoundNumbers,
    Int32,
    Int64,
    LabelCounts,
    Moves,
    NumberTotals,
    PlaceQuestions,
    add_numbers,
    blocks_of,
    follow_labels,
    follow_leaders,
    follow_numbers,
)
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.differences import numpy_column
from graphtide.run.collection.figures import Figures, mean_of, told_figures, unreached, values_of
from graphtide.run.collection.ranking import Led, Questions, WholeRanking, far, ranked

_PARTS_AT_HAND = 4


@dataclass(frozen=True)
class PartOfWalk:
    """Consecutive moves whose changes are all in one part of the run."""

    moves: Moves
    vertices: Int32
    old: NDArray[Any]
    new: NDArray[Any]


class RemovedVertices(NamedTuple):
    """The vertices that are taken out at each step, with the values that they have there.

    Those of step n are from bounds[n] to bounds[n + 1].
    """

    bounds: Int64
    vertices: Int64
    values: NDArray[Any]


@dataclass(frozen=True)
class ViewWalk:
    """The way from the empty version over all finished views of a run.

    With `there`, vertices that are taken out of a view are gone while it is told of: a view is then
    reached by one more move, which gives each of them a value that stands for nothing (NaN, or a
    number behind those of all vertices, its own), and left by a move back.
    """

    contents: RunContents
    there: bool = False

    @cached_property
    def _moves(self) -> tuple[Int64, NDArray[np.bool_]]:
        """The step of every move, and whether it goes back from it."""
        steps, back, at = [], [], -1
        parents = self.contents.steps.parent[: self.contents.differences.finished].tolist()
        for step, parent in enumerate(parents):
            while at != parent:
                steps.append(at)
                back.append(True)
                at = parents[at]
            steps.append(step)
            back.append(False)
            at = step
        return np.array(steps, np.int64), np.array(back, np.bool_)

    def parts(self, field: str, kind: type[Any]) -> Iterator[PartOfWalk]:
        """All moves in order, with the values of a field; numbers of a type that kernels know."""
        steps, back = self._moves
        if not len(steps):
            return
        first = self.contents.differences.first_steps
        part = np.searchsorted(first, steps, side="right") - 1
        slot = self._slots()
        taken = self._removed(field) if self.there else None
        read = lru_cache(_PARTS_AT_HAND)(lambda part: self._read(part, field, kind, taken))
        for start, stop in _moves_by_part(part):
            (bounds, vertices, old, new), away = read(int(part[start]))
            within, gone = steps[start:stop] - first[part[start]], back[start:stop]
            slots = np.where(gone, -1, slot[steps[start:stop]])
            moves = Moves(bounds[within], bounds[within + 1], gone, slots)
            moves = moves if away is None else _with_removals(moves, within, away)
            yield PartOfWalk(moves, vertices, old, new)

    def _slots(self) -> Int64:
        """The position of each step's view among the finished ones, -1 for a stepping stone."""
        contents = self.contents
        slots = np.full(contents.differences.finished, -1, np.int64)
        views = contents.finished_views()
        slots[contents.step_of[views]] = np.arange(len(views))
        return slots

    def _read(self, part: int, field: str, kind: type[Any], taken: RemovedVertices | None) -> Any:
        """The differences of a part: where the rows of each step begin, and the rows.

        Behind them those of vertices that are taken out, and where these begin for each step.

        Copied: Arrow's arrays cannot be written to, which would be one more kind of kernel.
        """
        table = self.contents.differences.parts.differences(part, field)
        step = table.column("step").to_numpy()
        first = self.contents.differences.first_steps
        behind = [*first[1:].tolist(), self.contents.differences.finished][part]
        bounds = np.searchsorted(step, np.arange(first[part], behind + 1)).astype(np.int64)
        vertices = np.array(table.column("vertex").to_numpy(), np.int32)
        values = [np.array(numpy_column(table.column(name)), kind) for name in ("old", "new")]
        if taken is None:
            return (bounds, vertices, *values), None
        away = taken.bounds[int(first[part]) : behind + 1]
        rows, away = slice(*away[[0, -1]].tolist()), away - away[0]
        removed, before = taken.vertices[rows], taken.values[rows]
        count = self.contents.count(field)
        nothing: NDArray[Any] = np.full(len(removed), np.nan)
        if kind is np.int64:
            nothing = count + np.arange(len(removed)) - np.repeat(away[:-1], np.diff(away))
        columns = zip(values, (before, nothing), strict=True)
        values = [np.concatenate([one, other.astype(kind)]) for one, other in columns]
        joined = np.concatenate([vertices, removed.astype(np.int32)])
        return (bounds, joined, *values), away + len(vertices)

    def _removed(self, field: str) -> RemovedVertices | None:
        """The vertices that are removed at each finished step; None where there are none."""
        contents = self.contents
        views = contents.steps.view[: contents.differences.finished].tolist()
        lists = [contents.removed(view) for view in views]
        counts = np.array([len(item) for item in lists], np.int64)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        removed = np.array([vertex for item in lists for vertex in item], np.int64)
        steps = np.repeat(np.arange(len(lists)), counts)
        if not len(removed):
            return None
        return RemovedVertices(bounds, removed, values_of(contents, field, steps, removed))


def _with_removals(moves: Moves, steps: Int64, away: Int64) -> Moves:
    """The moves, and two more for each that reaches a view without some vertices: out, and back."""
    none = (moves.slot < 0) | (away[steps] == away[steps + 1])
    at = np.repeat(np.arange(len(steps)), np.where(none, 1, 3))
    turn = np.arange(len(at)) - np.searchsorted(at, at)
    own, out = turn == 0, turn == 1
    return Moves(
        np.where(own, moves.start[at], away[steps[at]]),
        np.where(own, moves.stop[at], away[steps[at] + 1]),
        np.where(own, moves.back[at], ~out),
        np.where(own & ~none[at], -1, np.where(out | own, moves.slot[at], -1)),
    )


def _moves_by_part(part: Int64) -> Iterator[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(part)) + 1
    bounds = [0, *cuts.tolist(), len(part)]
    yield from pairwise(bounds)


_EXACT = 1 << 53


def followed_figures(contents: RunContents, field: str) -> Figures | None:
    """One column per figure, one row per finished view; None where kernels do not tell them."""
    base = contents.base[field]
    if contents.facts.labels == field:
        return _labels(contents, field) if _within(contents, field, 0, len(base) - 1) else None
    if contents.named_by(field) is not None:
        return None
    if base.dtype == np.bool_:
        return _truths(contents, field)
    return _number_figures(contents, field) if holds_floats(contents, field) else None


def holds_floats(contents: RunContents, field: str) -> bool:
    """True where floats hold every value that there ever is."""
    whole = contents.base[field].dtype.kind in "iu"
    return not whole or _within(contents, field, -_EXACT, _EXACT)


def _within(contents: RunContents, field: str, low: int, high: int) -> bool:
    """True where no value that there ever is lies outside."""
    parts = contents.differences.parts
    differences = (
        parts.differences(at, field).column("new").to_numpy() for at in range(len(parts))
    )
    return all(
        low <= int(values.min(initial=low)) and int(values.max(initial=low)) <= high
        for values in (contents.base[field], *differences)
    )


def _labels(contents: RunContents, field: str) -> Figures:
    sizes = np.bincount(contents.base[field])
    away = _removed_counts(contents)
    count = len(contents.base[field])
    # Vertices that are taken out of a view have labels of their own there, behind all others.
    vertices = np.zeros(count + int(away.max(initial=0)), np.int64)
    vertices[: len(sizes)] = sizes
    labels = np.bincount(vertices, minlength=len(vertices) + 1)
    known = np.array([np.count_nonzero(sizes), sizes.max(initial=0)])
    figures = np.zeros((len(contents.finished_views()), 3), np.int64)
    counts = LabelCounts(vertices, labels, known)
    for part in ViewWalk(contents, there=True).parts(field, np.int64):
        follow_labels(part.moves, part.old, part.new, counts, figures)
    figures[:, [0, 2]] -= away[:, None]
    figures[away == count, 1] = 0
    names = ("components", "largest", "single")
    return {name: pa.array(figures[:, at]) for at, name in enumerate(names)}


def _removed_counts(contents: RunContents) -> Int64:
    """How many vertices are taken out of each finished view."""
    return np.array([len(contents.removed(at)) for at in contents.finished_views()], np.int64)


def _truths(contents: RunContents, field: str) -> Figures:
    """How many values are true in each view, added up along the plan without a kernel."""
    gained = np.zeros(contents.differences.finished, np.int64)
    for part in range(len(contents.differences.parts)):
        table = contents.differences.parts.differences(part, field)
        new = table.column("new").to_numpy(zero_copy_only=False)
        step = table.column("step").to_numpy()
        gained += np.bincount(step[new], minlength=len(gained))
        gained -= np.bincount(step[~new], minlength=len(gained))
    true, first = gained.tolist(), int(np.count_nonzero(contents.base[field]))
    for step, parent in enumerate(contents.steps.parent[: len(true)].tolist()):
        true[step] += first if parent < 0 else true[parent]
    views = contents.finished_views()
    steps, away = contents.step_of[views], [contents.removed(view) for view in views]
    taken = np.array([vertex for item in away for vertex in item], np.int64)
    place = np.repeat(np.arange(len(views)), [len(item) for item in away])
    there = values_of(contents, field, steps[place], taken)
    lost = np.bincount(place[there.astype(np.bool_)], minlength=len(views))
    return {"true": pa.array(np.array(true, np.int64)[steps] - lost)}


def _number_figures(contents: RunContents, field: str) -> Figures:
    base, views = contents.base[field], len(contents.finished_views())
    missing = unreached(base)
    values = base.astype(np.float64)
    totals = NumberTotals(
        np.zeros(LIMBS, np.int64), np.zeros(2, np.int64), np.nan if missing is None else missing
    )
    add_numbers(values, totals)
    blocks = blocks_of(np.where(np.isfinite(values), values, np.nan))
    counts, extremes = np.zeros((views, 2), np.int64), np.zeros((views, 2))
    numbers = FoundNumbers(np.zeros((views, LIMBS), np.int64), counts, extremes)
    for part in ViewWalk(contents, there=True).parts(field, np.float64):
        changes = part.vertices, part.old, part.new
        follow_numbers(part.moves, changes, totals, blocks, numbers)
    counts[:, 1] -= _removed_counts(contents)
    figures = _told(numbers, base.dtype.kind in "iu")
    if missing is None:
        del figures["reached"]
    return told_figures(figures)


def _told(found: FoundNumbers, whole: bool) -> Figures:
    figures: Figures = {"reached": pa.array(found.counts[:, 1])}
    count = found.counts[:, 0]
    kind = pa.int64() if whole else pa.float64()
    for at, name in enumerate(("least", "greatest")):
        known = np.where(count, found.extremes[:, at], 0)
        figures[name] = pa.array(known, mask=count == 0).cast(kind)
    mean = pa.array(_means(found.limbs, count, whole), pa.float64())
    return figures | {"mean": mean, "not_finite": pa.array(found.counts[:, 1] - count)}


def _means(limbs: Int64, counts: Int64, whole: bool) -> list[float | None]:
    """Exact sums as numbers of any length, over the counts."""
    used = np.flatnonzero(limbs.any(axis=0))
    lowest = int(used[0]) if len(used) else 0
    total: NDArray[Any] = np.zeros(len(limbs), object)
    for limb in used.tolist():
        total += limbs[:, limb].astype(object) << 32 * (limb - lowest)
    bits = 32 * lowest + LOWEST_BIT
    up, down = 1 << max(0, bits), 1 << max(0, -bits)
    pairs = zip((total * up).tolist(), counts.tolist(), strict=True)
    return [mean_of(sum_, count, down, whole=whole) if count else None for sum_, count in pairs]


_NONE = np.empty(0, np.int64)


def followed_ranking(contents: RunContents, field: str) -> WholeRanking | None:
    """The ranking of a result; None where kernels cannot hold its values."""
    return IncrementalRanking(contents, field) if holds_floats(contents, field) else None


class IncrementalRanking(WholeRanking):
    """The same as from whole results, at the cost of the differences."""

    def leaders(self, count: int) -> Led:
        """The first so many vertices of each view."""
        led = self._follow(count, (_NONE, _NONE))
        values = led.values
        if far(self.contents, self.field):
            values = np.where(np.isnan(values), np.inf, values)
        return led.vertices, values.astype(self.contents.base[self.field].dtype)

    def places(self, questions: Questions) -> Int64:
        return self._follow(0, questions).places

    def _follow(self, count: int, questions: Questions) -> FoundLeaders:
        views = len(self.contents.finished_views())
        starts = np.searchsorted(questions[0], np.arange(views + 1))
        wanted = PlaceQuestions(starts, np.ascontiguousarray(questions[1]))
        led = np.zeros((views, count), np.int64), np.zeros((views, count))
        leaders = FoundLeaders(*led, np.zeros(len(questions[1]), np.int64))
        contents, field = self.contents, self.field
        blocks = blocks_of(ranked(contents, field, contents.base[field]).astype(np.float64))
        for part in ViewWalk(contents).parts(field, np.float64):
            old, new = (ranked(contents, field, item) for item in (part.old, part.new))
            changes = part.vertices, old, new
            follow_leaders(part.moves, changes, blocks, wanted, leaders)
        return leaders
