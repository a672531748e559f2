"""A walk program whose walks read state, on a graph: every round is there, and is followed.

A run from scratch writes down rows of state and accumulators where they differ from the round
before, and puts them together by vertex at its end: histories, as those of vertex programs that add
up. Of the whole graph, each round has a row of words.

An advance goes through the rounds as a run does, but sends only what differs from the run of the
version before (`templates/walk_rounds`). It ends where the new run ends, earlier or later. What it
cannot know, or what comes to more than a start, is left to a start: `TooDearError`, with everything
put back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import with_spare
from graphtide.engine.maintainer import held_bytes
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.rounds import Widths
from graphtide.engine.synchronous.maintainer import TooDearError
from graphtide.engine.synchronous.runs import (
    StoredRows,
    empty_touched,
    larger_touched,
    only_undo,
)
from graphtide.engine.walks.code import WalkCode
from graphtide.engine.walks.matches import MatchRows, Row, global_changes
from graphtide.engine.walks.runs import RunChanges, WalkRun
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.synchronous.histories import (
    CAPACITY,
    COUNT,
    LACKING,
    LINE_WIDTH,
    PLACE,
    ROOM,
    START,
    cut_histories,
    put_back,
)
from graphtide.kernels.synchronous.histories import Touched as SetApart
from graphtide.kernels.walks import records
from graphtide.kernels.walks.rounds import (
    MOVES,
    PROGRESS,
    ROUND,
    SHIFTS,
    WANTED,
    WalkRounds,
    begin_newcomers,
    load_last,
    settle_rounds,
)

Int64 = NDArray[np.int64]
_SHARE_OF_MEMORY = 4


@dataclass(frozen=True)
class RunCourse:
    """How a run went, round by round: how many vertices moved in each, how many of these or others
    had other words than before, and the words of the whole graph. Round 0 moves nobody.
    """

    moves: tuple[int, ...]
    shifts: tuple[int, ...]
    words: tuple[Int64, ...]

    @property
    def reached(self) -> int:
        return len(self.moves) - 1

    @property
    def stands_still(self) -> bool:
        """Whether further rounds would say the same as the last, to the bit.

        Zero and minus zero do not move, and may still be told apart by the next round.
        """
        return self.shifts[-1] == 0

    def words_in(self, iteration: int) -> Int64:
        """What the whole graph was sent in a round; behind the last, the same as in the last."""
        return self.words[min(iteration, self.reached)]

    def moves_in(self, iteration: int) -> int:
        return self.moves[iteration] if iteration <= self.reached else 0

    def shifts_in(self, iteration: int) -> int:
        """How many vertices had other words after a round than before."""
        return self.shifts[iteration] if iteration <= self.reached else 0


class RoundLog:
    """The rounds of a run from scratch, as they go by."""

    def __init__(self, widths: Widths) -> None:
        self.widths = widths
        self._before: Int64 | None = None
        self._vertices: list[Int64] = []
        self._rows: list[Int64] = []
        self._moves: list[int] = []
        self._shifts: list[int] = []
        self._words: list[Int64] = []
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether it takes more of the machine's memory than it may: then nothing is kept."""
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return self._bytes * _SHARE_OF_MEMORY > there

    def take(self, states: Int64, sums: Int64, words: Int64, moves: int) -> None:
        """Write a round down; the first is round 0. O(vertices)."""
        state_width, sums_width = self.widths
        count = len(states) // state_width
        rows = np.hstack([states.reshape(count, state_width), sums.reshape(count, sums_width)])
        if self._before is None:
            changed, shifts = np.arange(count), 0
        else:
            differs = rows != self._before
            changed = np.flatnonzero(differs.any(axis=1))
            shifts = int(differs[:, :state_width].any(axis=1).sum())
        self._before = rows
        self._vertices.append(changed)
        self._rows.append(rows[changed])
        self._moves.append(moves)
        self._shifts.append(shifts)
        self._words.append(words.copy())
        self._bytes += 8 * len(changed) * (rows.shape[1] + 2)

    def course(self) -> RunCourse:
        return RunCourse(tuple(self._moves), tuple(self._shifts), tuple(self._words))

    def histories(self) -> StoredRows:
        """The rows by vertex, in the order of rounds."""
        vertices, rows = np.concatenate(self._vertices), np.concatenate(self._rows)
        rounds = np.repeat(np.arange(len(self._rows)), [len(part) for part in self._rows])
        order = np.argsort(vertices, kind="stable")
        count, total = len(self._rows[0]), len(rows)
        stored = StoredRows(count, 0, self.widths)
        stored.make_room(total)
        histories, lengths = stored.histories, np.bincount(vertices, minlength=count)
        histories.iteration[1 : 1 + total] = rounds[order]
        width = sum(self.widths)
        histories.whole[width : (1 + total) * width] = rows[order].ravel()
        lines = np.empty((count, LINE_WIDTH), np.int64)
        lines[:, START] = 1 + np.cumsum(lengths) - lengths
        lines[:, COUNT] = lines[:, CAPACITY] = lengths
        lines[:, PLACE] = -1
        histories.line[:] = lines
        histories.used[0] = 1 + total
        return stored


def states_after(stored: StoredRows, iteration: int) -> Int64:
    """The state of every vertex after a round, as words. O(vertices) for each round behind it."""
    histories, (state_width, _) = stored.histories, stored.widths
    start, count = histories.line[:, START], histories.line[:, COUNT]
    at = start + np.minimum(iteration, count - 1)
    while (late := histories.iteration[at] > iteration).any():
        at -= late
    used, width = int(histories.used[0]), sum(stored.widths)
    rows = histories.whole[: used * width].reshape(used, width)
    return rows[at, :state_width].ravel()


_SHARE, _LEAST_BUDGET = 64, 1024
"""An advance goes through no more than this part of the entries that a start goes through, or this
many. An entry costs it some 7 times what it costs a start (140 and 21 ns, levels on com-dblp): that
reads a compact copy and plain rows. So what is broken off has cost a tenth of a start."""
NO_BUDGET = 1 << 62
"""For whoever wants batches followed at any cost."""


@dataclass(frozen=True)
class RoundsDone:
    """What an advance did, as far as it takes to undo it."""

    delta: Delta
    vertices: int
    used: Int64
    course: RunCourse
    journal: Int64
    apart: SetApart
    matches: list[list[tuple[Row, int]]]
    rows: tuple[MatchRows, ...] | None


class RoundsRun(WalkRun):
    """One program, its parameters, and all rounds of its run on the version that the graph is at.

    `budget` is how many entries an advance may go through; None leaves that to the size of a start.
    """

    def __init__(self, graph: ResidentGraph, code: WalkCode, parameters: tuple[Any, ...]) -> None:
        super().__init__(graph, code, parameters)
        self.budget: int | None = None
        self._widths = self.state.widths["states"], self.state.widths["sums"]
        self._log: RoundLog | None = None
        self._stored: StoredRows | None = None
        self._course = RunCourse((0,), (0,), ())
        self._started_with = 0
        self._apart = empty_touched((0, 0), 0)
        self._lists = np.empty((2, 0), np.int32)
        self._progress = np.zeros(PROGRESS, np.int64)

    @property
    def looked(self) -> int:
        return int(self.state.counts[records.LOOKED])

    @property
    def follows(self) -> bool:
        """Whether a batch can be followed: rounds are kept, and tell of those behind the end."""
        open_end = self._course.reached < self.ending.last and not self.ending.patient
        return self._stored is not None and (self._course.stands_still or not open_end)

    def rounds(self) -> Iterator[dict[str, NDArray[Any]]]:
        """The state fields after every round that is kept."""
        if self._stored is None:
            return
        for iteration in range(self._course.reached + 1):
            words = states_after(self._stored, iteration)
            yield {
                name: self.state.field_of(words, column) for name, column in self._columns.items()
            }

    def sweep(self, done: Callable[[], Sequence[RoundsDone]]) -> None:
        """Free rows that no advance on the undo stack needs."""
        if self._stored is not None:
            self._stored.sweep(lambda: [(entry.apart, entry.used) for entry in done()])

    def kept_for(self, done: RoundsDone) -> int:
        """The bytes that it takes to undo the last advance."""
        assert self._stored is not None
        return held_bytes(done) + self._stored.rows_bytes(int(done.used[0]))

    # Runs from scratch.

    def start(self) -> None:
        """Run from scratch on the version that the graph is at, and keep every round."""
        self._log = RoundLog(self._widths)
        super().start()
        self._started_with = int(self.state.counts[records.LOOKED])
        if self._log is not None:
            self._course, self._stored = self._log.course(), self._log.histories()
        self._log = None

    def _note_round(self, moves: int) -> None:
        if self._log is None:
            return
        state = self.state
        self._log.take(state.states, state.sums, state.globals, moves)
        if self._log.full:
            self._log = None

    # Following.

    def follow(self, delta: Delta) -> tuple[RoundsDone, RunChanges]:
        """Follow a graph that has been flipped; TooDearError, and all is as it was, if a start is
        the better way, or the only one.
        """
        before, whole = self._begin(delta)
        try:
            course, rows = self._go_through(delta)
        except TooDearError:
            self._end(delta)
            self.put_back(replace(before, apart=self._apart))
            raise
        self._end(delta)
        fields = self._changes_at(*self._settle(course))
        moved = global_changes(whole, self.globals)
        apart, self._apart = only_undo(self._apart), empty_touched((0, 0), 0)
        done = replace(before, apart=apart, matches=rows, rows=self._take_rows(rows))
        return done, RunChanges(fields, moved, self._row_changes(rows, done.rows))

    def put_back(self, done: RoundsDone) -> None:
        """Undo an advance; the graph may be at either version."""
        assert self._stored is not None
        self._undo_journal(done.delta, done.journal)
        histories = self._stored.histories
        put_back(histories, done.apart, int(done.used[0]))
        load_last(self._words(), histories, done.apart)
        self._course = done.course
        self._put_rows_back(done.matches, done.rows)
        self._stored.resize(done.vertices)
        self._put_vertices_back(done.vertices)

    def _begin(self, delta: Delta) -> tuple[RoundsDone, dict[str, Any]]:
        """Take in vertices and the batch; returns what it takes to undo that, and the globals
        before.
        """
        assert self._stored is not None
        counts, stored = self.state.counts, self._stored
        vertices, used = stored.vertices, stored.histories.used.copy()
        self._take_in_vertices()
        self.state.make_ready(len(delta.sources))
        counts[records.OLD_VERTICES], counts[records.VERTICES] = vertices, self.state.vertices
        counts[records.LOOKED], counts[records.BUDGET] = 0, self._allowed()
        counts[records.DOUBT] = 0  # An advance that was broken off and undone may have left it.
        if self._lists.shape[1] < self.state.vertices:
            self._lists = np.empty((2, with_spare(self.state.vertices)), np.int32)
        self._apart = empty_touched((0, 0))
        self._progress[:] = 0
        self._enter_ordered(delta)
        self._kernels.open_batch(self._words(), *delta)
        counts[records.TOUCHED] = 0  # Rows of vertices are histories.
        course, apart, journal = self._course, self._apart, self.state.journal.copy()
        before = RoundsDone(delta, vertices, used, course, journal, apart, [], None)
        return before, self.globals

    def _end(self, delta: Delta) -> None:
        """Let kernels forget the version before."""
        self._kernels.close_batch(self._words())
        self._leave_ordered(delta)

    def _take_in_vertices(self) -> int:
        """Let vertices that came have their first row."""
        assert self._stored is not None
        before, stored = self._stored.vertices, self._stored
        if self._generation == self.graph.generation and before == self.graph.vertices:
            return before
        self._fit()
        vertices = self.state.vertices
        if before != vertices:
            self._kernels.begin_vertices(self._words(), before, vertices)
            stored.resize(vertices)
            stored.make_room(vertices - before)
            begin_newcomers(self._words(), stored.histories, before)
        return before

    def _allowed(self) -> int:
        if self.budget is not None:
            return self.budget
        return max(_LEAST_BUDGET, self._started_with // _SHARE)

    def _go_through(self, delta: Delta) -> tuple[RunCourse, list[list[tuple[Row, int]]]]:
        """All rounds of the new run; how it went, and what became of the rows of its last round."""
        ending, old, counts = self.ending, self._course, self.state.counts
        counts[records.TOUCHED] = 0
        self._evaluate(everyone=False)
        moves, shifts, words = [0], [0], [old.words[0]]
        while len(moves) <= ending.last and (len(moves) == 1 or ending.patient or moves[-1]):
            iteration = len(moves)
            self._progress[ROUND] = iteration
            self._send(delta, iteration)
            self._evaluate(everyone=self._whole_differs(iteration))
            moves.append(old.moves_in(iteration) + int(self._progress[MOVES]))
            shifts.append(old.shifts_in(iteration) + int(self._progress[SHIFTS]))
            words.append(self.state.globals.copy())
        if moves[-1] and not ending.bounded:
            raise TooDearError  # It never ends: a start says so.
        if self.program.matches and len(moves) - 1 < old.reached:
            raise TooDearError  # What was reported in an earlier round is not kept.
        rows = self._reported() if self.program.matches and len(moves) > 1 else []
        return RunCourse(tuple(moves), tuple(shifts), tuple(words)), rows

    def _send(self, delta: Delta, iteration: int) -> None:
        state = self.state
        while True:
            state.globals[:] = self._course.words_in(iteration)
            self._kernels.send_round(self._words(), self._rounds(), *delta)
            self._check_cost()
            if not self._lacks_room():
                return

    def _evaluate(self, *, everyone: bool) -> None:
        """Update whoever may differ, as long as there is room and then with more of it."""
        assert self._stored is not None
        kernels = self._kernels
        kernels.list_round(self._words(), self._rounds(), everyone)
        self._check_cost()
        while kernels.evaluate_round(self._words(), self._rounds()) == LACKING:
            self._stored.make_room(int(self._progress[WANTED]))
            self._apart = larger_touched(self._apart, 1, (0, 0))
        if self.state.fault[0]:
            # Terms look at walks that are in neither version: a start knows whether it is one.
            self.state.fault[:] = 0
            raise TooDearError

    def _check_cost(self) -> None:
        counts = self.state.counts
        if counts[records.LOOKED] > counts[records.BUDGET] or counts[records.DOUBT]:
            raise TooDearError

    def _whole_differs(self, iteration: int) -> bool:
        """Let `update` see what the whole graph was sent; whether it sees it differ."""
        if not self.program.globals:
            return False
        state, old = self.state, self._course.words_in(iteration)
        new = state.globals.copy()
        state.globals[:] = old
        self._finish_globals()
        before = self.globals
        state.globals[:] = new
        self._finish_globals()
        return self.code.facts.reads_globals and bool(global_changes(before, self.globals))

    def _settle(self, course: RunCourse) -> tuple[NDArray[np.int32], Int64, Int64]:
        """Take the new run over; returns vertices that ended otherwise, and their old and new
        state.
        """
        assert self._stored is not None
        if course.reached < self._course.reached:
            self._cut(course.reached)
        self._course = course
        found = np.empty((int(self._apart.size[0]) + 1, 1 + self._widths[0]), np.int64)
        given = self._words(), self._stored.histories, self._apart, found
        changed = found[: settle_rounds(*given)]
        vertices, width = changed[:, 0].astype(np.int32), self._widths[0]
        return vertices, changed[:, 1:].copy(), self.state.states.reshape(-1, width)[vertices]

    def _cut(self, end: int) -> None:
        """Drop all rows behind the end of a run that ended sooner. O(vertices)."""
        assert self._stored is not None
        stored, vertex = self._stored, 0
        while True:
            given = stored.histories, self._apart, self.graph.adjacency, self._widths
            vertex = cut_histories(*given, (vertex, end))
            if vertex == stored.vertices:
                return
            stored.make_room(int(stored.histories.line[vertex, COUNT]) + ROOM)
            self._apart = larger_touched(self._apart, 1, (0, 0))

    def _find_rows_anew(self) -> None:
        """Find the rows of the last round, whose walks read the state of the round before it."""
        assert self._stored is not None
        kept = self.state.states.copy()
        self.state.states[:] = states_after(self._stored, self._course.reached - 1)
        super()._find_rows_anew()
        self.state.states[:] = kept

    def _rounds(self) -> WalkRounds:
        assert self._stored is not None
        differing, carried = self._lists
        return WalkRounds(self._stored.histories, self._apart, differing, carried, self._progress)
