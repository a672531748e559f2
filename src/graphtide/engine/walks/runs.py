"""A walk program on a graph: its runs from scratch, and what those that follow batches share.

A run ends after a number of iterations, or in the first in which nothing moves. Where walks read no
state, a vertex that stands still does so for good, whatever others do, and runs to its end alone.
It does not where a tolerance lets the run end while things move, or where a run without a number of
iterations looks at the iteration. Such runs say nothing of what rounds behind their end would be;
all others do, so that those whose walks read state are followed round by round (`rounds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, differs
from graphtide.engine.inputs import GrowingParameters, edge_array
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.facts import MOST_ITERATIONS
from graphtide.engine.synchronous.rows import RowColumn
from graphtide.engine.walks.code import WalkCode
from graphtide.engine.walks.compact import CompactForm, compact_copy
from graphtide.engine.walks.matches import (
    GlobalChange,
    MatchRows,
    Row,
    RowChange,
    reported_rows,
    told_change,
)
from graphtide.engine.walks.state import OrderedRows, WalkState
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.summaries.statistics import LIMBS, LOWEST_BIT
from graphtide.kernels.walks import records
from graphtide.kernels.walks.batch import undo_journal
from graphtide.kernels.walks.compact import Compact, hand_over
from graphtide.kernels.walks.pairs import index_all
from graphtide.kernels.walks.records import ENDLESS, INFINITIES, OUTSIDE
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.expressions import FLOAT, INT
from graphtide.plan.programs import Accumulator, AccumulatorKind
from graphtide.plan.walk_explain import WalkFacts
from graphtide.plan.walks import WalkProgram


@dataclass(frozen=True)
class WalkEnding:
    """`last` is the last iteration that may run; a patient run goes on where nothing moves."""

    last: int
    tolerance: float
    bounded: bool
    patient: bool
    alone: bool
    """Whether each vertex ends alone."""
    by_rounds: bool
    """Whether walks read state, and are followed round by round."""


def walk_ending(program: WalkProgram, facts: WalkFacts, settings: Mapping[str, Any]) -> WalkEnding:
    """How runs of a program end with some parameters."""
    bound = _setting(program.iterations, settings)
    tolerance = float(_setting(program.tolerance, settings))
    if bound is not None and bound < 0:
        raise InputError(
            f"{program.name}: the number of iterations cannot be {bound}", hint="give 0 or more"
        )
    loose = tolerance > 0 or (bound is None and facts.reads_iteration)
    return WalkEnding(
        last=MOST_ITERATIONS if bound is None else int(bound),
        tolerance=tolerance,
        bounded=bound is not None,
        patient=bound is not None and facts.reads_iteration,
        alone=not loose and not facts.stateful and bound != 0,
        by_rounds=not loose and facts.stateful,
    )


def _setting(given: Any, settings: Mapping[str, Any]) -> Any:
    return settings[given] if isinstance(given, str) else given


Int64 = NDArray[np.int64]
_KINDS = AccumulatorKind
_MASK = 2**64 - 1


def global_reader(column: RowColumn, settings: Mapping[str, Any]) -> Callable[[Int64], Any]:
    """What reads a number, or an array of them, from the row of the whole graph."""
    item = column.item
    assert isinstance(item, Accumulator)
    first = column.offset.value(dict(settings))
    if item.size is None:
        if column.words == 1 and item.type is INT:
            return lambda words: int(words[first])
        return lambda words: _element(words[first : first + column.words], item)
    length = int(settings[item.size]) if isinstance(item.size, str) else item.size

    def read(words: Int64) -> Any:
        parts = words[first : first + column.words * length].reshape(length, column.words)
        return np.array([_element(part, item) for part in parts], _dtype(item))

    return read


def _dtype(item: Accumulator) -> Any:
    return {"int": np.int64, "float": np.float64, "bool": np.bool_}[item.type.value]


def _element(words: Int64, item: Accumulator) -> Any:
    match item.kind:
        case _KINDS.OR:
            return bool(words[0] > 0)
        case _KINDS.AND:
            return bool(words[0] == 0)
        case _KINDS.SUM if item.type is FLOAT:
            return _exact_sum(words)
        case _KINDS.PRODUCT if item.type is FLOAT:
            return _product(words)
        case _KINDS.PRODUCT:
            return _whole_product(words)
        case _ if item.type is FLOAT:
            return float(words.view(np.float64)[0])
        case _:
            return int(words[0])


def _exact_sum(words: Int64) -> float:
    """Limbs as the nearest float, and what was sent that is no number."""
    many, few, none = (int(word) for word in words[INFINITIES : INFINITIES + 3])
    if none or (many and few):
        return math.nan
    if many or few:
        return math.inf if many else -math.inf
    total = sum(int(limb) << (32 * at) for at, limb in enumerate(words[:LIMBS]))
    try:
        return float(Fraction(total, 1 << -LOWEST_BIT))
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _product(words: Int64) -> float:
    mantissa, power, zeros = float(words.view(np.float64)[0]), int(words[2]), int(words[3])
    if zeros > 0:
        return mantissa * 0.0
    if not math.isfinite(mantissa):
        return mantissa
    try:
        return math.ldexp(mantissa, power)
    except OverflowError:
        return math.copysign(math.inf, mantissa)


def _whole_product(words: Int64) -> int:
    odd, power, zeros = (int(word) for word in words[:3])
    if zeros > 0 or power > 63:
        return 0
    return int(np.uint64((odd << power) & _MASK).astype(np.int64))


_ROOTS_AT_ONCE = 4096


class RunChanges(NamedTuple):
    """What an advance changed: state fields, accumulators of the whole graph, and shown rows."""

    fields: dict[str, Change]
    globals: Mapping[str, GlobalChange]
    matches: dict[str, RowChange]


class WalkRun:
    """One program, its parameters, and its results on the version that the graph is at."""

    def __init__(self, graph: ResidentGraph, code: WalkCode, parameters: tuple[Any, ...]) -> None:
        self.graph, self.code, self.program = graph, code, code.plan
        names = [item.name for item in self.program.parameters]
        self.settings = dict(zip(names, parameters, strict=True))
        self.ending = walk_ending(self.program, code.facts, self.settings)
        self._parameters = GrowingParameters(graph, self.program, parameters)
        self._kernels = code.module
        facts = code.facts
        self._needs_index = facts.directed or facts.either or facts.by_edge
        ordered = OrderedRows(graph, facts, code.module, self._words)
        needs = self._needs_index
        self.state = WalkState(code.layout, self.settings, pairs=needs, ordered=ordered)
        counts = self.state.counts
        counts[records.LAST] = self.ending.last
        counts[records.BOUNDED], counts[records.PATIENT] = self.ending.bounded, self.ending.patient
        self._seen: Any = None
        self._generation = -1
        widths = [len(item.columns) for item in self.program.matches]
        self._report_width = 2 + max(widths, default=0)
        self._copies: dict[CompactForm, Compact] = {}
        self._columns = {column.item.name: column for column in code.layout.state}
        self._readers = [
            (
                column.item.name,
                global_reader(column, self.settings),
                value.offset.value(self.settings),
                self.state.values.view(np.float64) if column.real else self.state.values,
            )
            for column, value in zip(code.layout.globals, code.layout.values, strict=True)
        ]
        self.globals: dict[str, Any] = {}
        self.matches = self._no_rows()

    def field(self, name: str) -> NDArray[Any]:
        return self.state.field(self._columns[name])

    # Runs from scratch.

    def start(self) -> None:
        state, kernels = self.state, self._kernels
        self._fit()
        if self.code.facts.directed or self.code.facts.either:
            state.reserve_pairs(self.graph.live)
            index_all(self._words(), kernels.NEEDS)
        if state.ordered.some:
            state.ordered.build()
        kernels.begin_vertices(self._words(), 0, state.vertices)
        kernels.clear_all(self._words())
        self._finish_globals()
        self._note_round(0)
        if self.ending.alone:
            self._run_walks()
            kernels.settle_vertices(self._words(), 0, state.vertices)
        else:
            self._run_rounds()
        self._check()

    def _run_rounds(self) -> None:
        """All vertices together, iteration by iteration."""
        ending, iteration, moved = self.ending, 0, 1
        again = self.code.facts.stateful
        while iteration < ending.last and (moved or ending.patient or not iteration):
            iteration += 1
            if again or iteration == 1:
                self._run_walks()
            moved = self._kernels.update_all(self._words(), iteration, ending.tolerance)
            self._check()
            self._note_round(moved)
        if moved and iteration == ending.last and not ending.bounded:
            raise self._endless()

    def _note_round(self, moves: int) -> None:
        """Called behind each round with how many vertices moved in it; runs that keep rounds
        override it.
        """

    def _run_walks(self) -> None:
        """All walks of the version, into empty accumulators."""
        self._kernels.clear_all(self._words())
        self.matches = self._no_rows()
        if self.program.matches:
            self._run_in_parts()
        else:
            self._run_roots(0, self.graph.vertices)
        self._copies.clear()
        self._finish_globals()

    def _run_roots(self, first: int, last: int) -> None:
        """Run all walks that begin at some vertices, by their numbers in copies of the graph."""
        kernels, words, state = self._kernels, self._words(), self.state
        width, parallel = state.widths["sums"], bool(state.counts[records.PARALLEL])
        for number, form in self.code.compact_forms.items():
            if form not in self._copies:
                self._copies[form] = compact_copy(self.graph, words, form, width, parallel)
            copy = self._copies[form]
            getattr(kernels, f"run_compact_{number}")(words, copy, first, last)
            if form.apart:
                hand_over(words, copy.vertex, copy.sent.whole)
                copy.sent.whole[:] = 0
        kernels.run_walks(words, first, last)

    def _run_in_parts(self) -> None:
        """Run all walks, a few vertices at a time, so that rows never take more room than they
        need.
        """
        first, counts = 0, self.state.counts
        while first < self.graph.vertices:
            last = min(first + _ROOTS_AT_ONCE, self.graph.vertices)
            before = self.state.globals.copy(), self.state.sums.copy()
            self._run_roots(first, last)
            if self._lacks_room():
                self.state.globals[:], self.state.sums[:] = before
                counts[records.REPORTED] = 0
                continue
            self.matches = _taken(self.matches, self._reported())
            counts[records.REPORTED] = 0
            first = last

    # For those that follow batches.

    def _enter_ordered(self, delta: Delta) -> None:
        """Take what came into ordered rows, beside what left."""
        ordered, count = self.state.ordered, len(delta.inserted)
        if ordered.some:
            ordered.begin_batch()
            ordered.enter(delta.inserted, delta.sources[:count], delta.targets[:count])

    def _leave_ordered(self, delta: Delta) -> None:
        ordered, count = self.state.ordered, len(delta.inserted)
        if ordered.some:
            ordered.leave(delta.deleted, delta.sources[count:], delta.targets[count:])

    def _undo_journal(self, delta: Delta, journal: Int64) -> None:
        """Give back what an advance replaced; the graph may be at either version."""
        state, ordered, count = self.state, self.state.ordered, len(delta.inserted)
        if ordered.some:
            ordered.leave(delta.inserted, delta.sources[:count], delta.targets[:count])
            ordered.enter(delta.deleted, delta.sources[count:], delta.targets[count:])
        if self._needs_index:
            pairs = np.count_nonzero(journal[::2] & 7 == records.PAIR_WORD)
            state.reserve_pairs(int(state.counts[records.USED]) + int(pairs))
        undo_journal(self._words(), journal)
        if self.program.globals:
            self._finish_globals()

    def _put_rows_back(
        self, matches: list[list[tuple[Row, int]]], rows_before: tuple[MatchRows, ...] | None
    ) -> None:
        """Undo what an advance did to rows."""
        if rows_before is not None:
            self.matches = rows_before
            return
        for rows, changes in zip(self.matches, matches, strict=False):
            rows.take((row, -count) for row, count in changes)

    def _put_vertices_back(self, vertices: int) -> None:
        if vertices != self.state.vertices:
            self.state.resize(vertices)
            self._parameters.resize(vertices)

    def _take_rows(self, matches: list[list[tuple[Row, int]]]) -> tuple[MatchRows, ...] | None:
        """Add and remove rows; returns the rows before, where some were trimmed or found anew."""
        if not any(matches):
            return None
        for rows, changes in zip(self.matches, matches, strict=True):
            rows.take(changes)
        if not any(rows.is_full or rows.is_short for rows in self.matches):
            return None
        both = zip(self.matches, matches, strict=True)
        before = tuple(rows.without(changes) for rows, changes in both)
        if any(rows.is_short for rows in self.matches):
            self._find_rows_anew()
        self.matches = tuple(rows.trimmed() if rows.is_full else rows for rows in self.matches)
        return before

    def _find_rows_anew(self) -> None:
        state = self.state
        kept = state.sums.copy(), state.globals.copy()
        self.matches = self._no_rows()
        state.counts[records.REPORTED] = 0
        self._run_in_parts()
        self._copies.clear()
        state.sums[:], state.globals[:] = kept

    def _row_changes(
        self, matches: list[list[tuple[Row, int]]], before: tuple[MatchRows, ...] | None
    ) -> dict[str, RowChange]:
        """What rows that came and left change of those that are shown."""
        return {
            rows.matches.name: told_change(rows, changes, before[at] if before else None)
            for at, (rows, changes) in enumerate(zip(self.matches, matches, strict=False))
            if changes
        }

    def _changes_at(self, vertices: NDArray[Any], old: Int64, new: Int64) -> dict[str, Change]:
        """The fields that differ at vertices, by their rows of state before and after."""
        changes = {}
        for name, column in self._columns.items():
            was, now = self.state.field_of(old, column), self.state.field_of(new, column)
            rows = differs(was, now)
            changes[name] = Change(vertices[rows], was[rows], now[rows])
        return changes

    # What kernels are given.

    def _fit(self) -> None:
        self._generation = self.graph.generation
        self.state.fit(self.graph)
        if self._parameters.resize(self.graph.vertices):
            self.state.block = None

    def _words(self) -> Int64:
        """The block that kernels take; written anew where an array was replaced."""
        state = self.state
        known = self._seen is self.graph.adjacency and not state.ordered.replaced
        if state.block is None or not known:
            self._seen, state.ordered.replaced = self.graph.adjacency, False
            properties = tuple(
                edge_array(self.graph, name, type_) for name, type_ in self.code.facts.properties
            )
            given = self._parameters.arrays
            state.block = Block(state.walking(self.graph), properties, given)
        return state.block.words

    def _lacks_room(self) -> bool:
        """Make more room for rows if they did not fit; then the walks must be found again."""
        if not self.program.matches:
            return False
        words = int(self.state.counts[records.REPORTED]) * self._report_width
        if words <= len(self.state.reported):
            return False
        self.state.enlarge_report(words)
        return True

    def _reported(self) -> list[list[tuple[Row, int]]]:
        count = int(self.state.counts[records.REPORTED])
        return reported_rows(self.state.reported, count, self._report_width, self.program.matches)

    def _no_rows(self) -> tuple[MatchRows, ...]:
        return tuple(MatchRows(item, self._setting(item.limit)) for item in self.program.matches)

    def _setting(self, given: Any) -> Any:
        return self.settings[given] if isinstance(given, str) else given

    def _finish_globals(self) -> None:
        """Let `update` and everybody else see what the accumulators of the whole graph hold."""
        found, state = {}, self.state
        for name, read, at, words in self._readers:
            known = read(state.globals)
            found[name] = known
            if isinstance(known, np.ndarray):
                words[at : at + len(known)] = known
            else:
                words[at] = known
        self.globals = found

    def _check(self) -> None:
        fault, index, length = self.state.fault.tolist()
        if not fault:
            return
        self.state.fault[:] = 0
        if fault == OUTSIDE:
            raise InputError(
                f"{self.program.name}: index {index} is outside of an array of {length}",
                hint="check what is used as an index, or give the array another size",
            )
        assert fault == ENDLESS
        raise self._endless()

    def _endless(self) -> LimitError:
        return LimitError(
            f"{self.program.name} still changes after {self.ending.last:,} iterations",
            hint="give it a number of iterations, or a tolerance",
        )


def _taken(
    matches: tuple[MatchRows, ...], found: list[list[tuple[Row, int]]]
) -> tuple[MatchRows, ...]:
    for rows, changes in zip(matches, found, strict=True):
        rows.take(changes)
    return tuple(rows.trimmed() if rows.is_full else rows for rows in matches)
