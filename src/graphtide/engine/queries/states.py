"""What each search keeps, read and within the budget: all its entries, or its answer alone.

A pair keeps its cost and its path then, any other search the cost of each entry. Answers are read
alike whichever it is.

A call that lacks room is made again once something was given up: what older advances noted, what
rows have free, the states that save least for their bytes, landmarks. Where nothing is left to be
given up it ends in LimitError, with all answers as they were. Reading answers and going back are
not refused: what they need is granted beyond the budget then, and the next advance must do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.fixpoint import (
    Entry,
    Fixpoints,
    LabelColumn,
    dense_bytes,
    entry_of,
    fits_arrays,
)
from graphtide.engine.queries.landmarks import LandmarkIndexes
from graphtide.engine.queries.pair_answers import PairAnswer, PairAnswers
from graphtide.engine.queries.pool import GROWTH
from graphtide.engine.queries.searches import Search, SearchRecord
from graphtide.engine.queries.values import AnswerChanges, EntryChanges, ValueAnswers, packed_list
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.batch import DenseSearch
from graphtide.kernels.queries.concerns import A_PATH
from graphtide.model.errors import MEMORY_ENDED, LimitError
from graphtide.model.machine import in_words

OBJECTS = 2_500
"""What a search and its query take besides arrays: names, ids, what is known of it."""

TARGET = 250
"""What each target takes besides."""

_COLLECTED = 24
"""What it takes to collect an entry from rows: vertex, state, value, item, and room to sort in."""

_PART = 8
"""States are given up by this share of all at least: what is left is moved together each time."""


class SearchStates:
    """The states of all searches on a graph, after so many `batches`."""

    def __init__(self, graph: ResidentGraph, labels: LabelColumn, budget: Budget) -> None:
        self.graph, self.budget = graph, budget
        self.fixpoints = Fixpoints(graph, labels, budget)
        self.landmarks = LandmarkIndexes(graph, labels, budget)
        self.pairs = PairAnswers(graph, self.fixpoints, self.landmarks, budget)
        self.values = ValueAnswers(graph, self.fixpoints, budget)
        self.told = AnswerChanges(budget)
        self.records: dict[int, SearchRecord] = {}
        self.batches = 0
        self.concerned: list[list[int]] = []
        """The searches that each advance which can be undone has computed anew."""
        self.ahead: Delta | None = None
        """What the graph has taken already and entries have not."""

    @property
    def nbytes(self) -> int:
        objects = sum(_objects(record.search) for record in self.records.values())
        parts = self.fixpoints, self.pairs, self.values, self.told, self.landmarks
        return sum(part.nbytes for part in parts) + objects

    def keeps_entries(self, number: int) -> bool:
        return number not in self.pairs and number not in self.values

    @property
    def keeps_answers(self) -> bool:
        return len(self.pairs) > 0 or len(self.values) > 0

    def begin_batch(self) -> None:
        """Count a batch that entries have followed; answers are computed anew behind it."""
        self.batches += 1
        self.concerned.append([])
        del self.concerned[: len(self.concerned) - max(len(self.fixpoints.logs), 1)]

    def bytes_of(self, number: int) -> int:
        if number in self.pairs:
            return self.pairs.bytes_of(number)
        if number in self.values:
            return self.values.bytes_of(number)
        return self.fixpoints.rows.entry * self.fixpoints.searches.entries(number)

    def entries(self, number: int) -> int:
        """How many entries a search has, of which it keeps the costs at least."""
        if number in self.pairs:
            return 0
        if number in self.values:
            return self.values.count(number)
        return self.fixpoints.searches.entries(number)

    def enter(self, search: Search) -> int:
        """Add a search without a state, and return its number."""
        size = _objects(search)
        self.budget.take(size)
        try:
            number = self.fixpoints.enter(search)
        except BaseException:
            self.budget.give(size)
            raise
        self.records[number] = SearchRecord(search, self.batches)
        return number

    def leave(self, number: int) -> None:
        """Remove a search and its state."""
        self.told.forget(number)
        self.drop_answer(number)
        self.fixpoints.leave(number)
        self.budget.give(_objects(self.records.pop(number).search))

    def has_room(self, number: int, entries: int, beside: int = 0) -> bool:
        """Whether there is room for a search to begin with about so many entries.

        And for `beside` bytes more when it has begun.
        """
        left, rows = self.budget.left, self.fixpoints.rows
        if left is None:
            return True
        arrays = dense_bytes(self.records[number].search, self.graph.vertices)
        arrays = max(0, arrays - self.budget.scratch)
        takes = rows.entry * max(entries + entries // GROWTH - rows.spare, 0)
        return left >= max(arrays + rows.peak_for(entries), takes + beside)

    def take_up(self, number: int) -> None:
        """Find all entries of a search from scratch, and drop its answer."""
        record = self.records[number]
        search = record.search
        record.begins = max(1, self.fixpoints.start(number, search))
        record.looks = self.pairs.expected_looks(search) if search.is_pairs else record.begins
        self.drop_answer(number)
        record.entries = self.fixpoints.searches.entries(number)
        record.since, record.spent = self.batches, 0

    def keep(self, number: int) -> None:
        """Find the answer of a search without a state from scratch."""
        record = self.records[number]
        answers: PairAnswers | ValueAnswers = self.values
        if record.search.is_pairs:
            answers = self.pairs
        record.looks = max(1, answers.keep(number, record.search))
        record.since, record.spent = self.batches, 0

    def begin(self, number: int) -> None:
        """Find the answer of a search without a state, or all entries where the answer is too
        large.
        """
        if self._can_be_anew(self.records[number].search):
            self.keep(number)
        else:
            self.take_up(number)

    def drop_answer(self, number: int) -> None:
        if number in self.pairs:
            self.pairs.drop(number)
        if number in self.values:
            self.values.drop(number)

    def give_up(self, wanted: int, below: float = np.inf) -> bool:
        """Let searches keep their answers alone, those first whose states save least a byte.

        Only those whose states save less than `below`; whether there were any.
        """
        searches, given, freed = self.fixpoints.searches, [], 0
        worth = {
            number: record.worth(self.batches, self.bytes_of(number))
            for number, record in self.records.items()
            if searches.entries(number) and self._can_be_anew(record.search)
        }
        enough = max(2 * wanted, self.fixpoints.rows.entry * searches.total // _PART)
        with self._graph_of_entries():
            for number in sorted(worth, key=worth.__getitem__):
                if freed > enough or worth[number] >= below:
                    break
                freed += self.bytes_of(number)
                try:
                    self._write_down(number)
                except LacksRoomError:
                    break
                given.append(number)
        if given:
            self.fixpoints.drop(given)
        return bool(given)

    @contextmanager
    def _graph_of_entries(self) -> Iterator[None]:
        """Flip the graph back to the version of the entries, in the middle of a batch."""
        if self.ahead is None:
            yield
            return
        self.graph.flip(self.ahead.deleted, self.ahead.inserted)
        try:
            yield
        finally:
            self.graph.flip(self.ahead.inserted, self.ahead.deleted)

    def _can_be_anew(self, search: Search) -> bool:
        return search.is_pairs or fits_arrays(search, self.graph.vertices)

    def _write_down(self, number: int) -> None:
        """Keep the answer that the entries of a search give, and what changed of it."""
        record = self.records[number]
        search = record.search
        change = self.fixpoints.before(number, search.automaton.states)
        if search.is_pairs:
            targeted = np.isin(change[0], search.targets or ())
            change = change[0][targeted], change[1][targeted], change[2][targeted]
        items = change[0] * np.int32(search.automaton.states) + change[1]
        self.told.tell(number, packed_list(items, change[2]))
        try:
            if search.is_pairs:
                known = {target: self._pair(number, target) for target in search.targets or ()}
                self.pairs.keep(number, search, known)
            else:
                self._keep_values(number, search)
        except BaseException:
            self.told.forget(number)
            raise
        record.since, record.spent = self.batches, 0

    def _keep_values(self, number: int, search: Search) -> None:
        self.values.hold(search)
        with self.budget.borrowed(_COLLECTED * self.fixpoints.searches.entries(number)):
            vertices, states, values = self.fixpoints.collect(number)
            items = vertices * np.int32(search.automaton.states) + states
            self.values.keep_entries(number, search, items, values)

    def _pair(self, number: int, target: int) -> PairAnswer:
        """The cost and the path of a pair, by its entries."""
        edges: list[int] = []
        search = self.records[number].search
        entry = entry_of(self.fixpoints, number, search, (target, 0))
        cost = np.inf if entry is None else entry.value
        while entry is not None and entry.edge >= 0:
            edges.append(entry.edge)
            src, dst = self.graph.ends(np.array([entry.edge], np.int32))
            vertex = int(dst[0] if entry.back else src[0])
            entry = entry_of(self.fixpoints, number, search, (vertex, 0))
        return PairAnswer(cost, A_PATH, np.array(edges[::-1], np.int32))


def _objects(search: Search) -> int:
    return OBJECTS + TARGET * len(search.targets or ())


Result = TypeVar("Result")

_RESERVE = 16
"""A share of the budget that is set aside for writing answers down when states are given up."""


class QueryRoom:
    """The budget of all searches, and what they give up for the sake of others."""

    def __init__(self, states: SearchStates) -> None:
        self._states, self.budget = states, states.budget
        self.reserve = 0
        """How many bytes are set aside."""
        self.in_disorder = False
        """Whether memory ended while something was given up, be it for a call that only reads."""
        self.set_aside()

    def within(self, call: Callable[[], Result]) -> Result:
        """Call, again and again with more room, until the budget allows for it.

        Rows are trimmed once: what a call has made them grow by may be what it needs.
        """
        trims = True
        while True:
            try:
                return call()
            except LacksRoomError as lacking:
                try:
                    self._make(lacking.wanted, trims)
                except MEMORY_ENDED:
                    self.in_disorder = True
                    raise
                trims = False

    def surely(self, call: Callable[[], Result]) -> Result:
        """Call as `within`, and beyond the budget where nothing is left to be given up.

        For what must not be refused: answers that exist can be read, and had on a version before.
        """
        try:
            return self.within(call)
        except LimitError:
            with self.budget.lifted():
                return call()

    def set_budget(self, most: int | None) -> None:
        """Have another budget from now on; LimitError, and the one before, if it is too small."""
        budget = self.budget
        budget.give(self.reserve)
        self.reserve = 0
        while most is not None and self._least > most and self._shed(self._least - most, True):
            pass
        least = self._least
        fits = most is None or least <= most
        if fits:
            budget.most = most
            self._states.values.hold()
        self._states.landmarks.try_again()
        self.set_aside()
        if not fits:
            raise LimitError(
                f"a budget of {in_words(most or 0)} is too small for the queries on the graph",
                hint=f"they take {in_words(least)} at least; drop some",
            )

    @property
    def _least(self) -> int:
        """What is in use under a budget; without a budget, no scratch is held."""
        return self.budget.used - self.budget.scratch + self._states.values.borrowed

    def set_aside(self) -> None:
        """Set a reserve aside, as large as it should be or as there is room for."""
        if self.budget.most is not None and not self.reserve:
            wanted = self.budget.most // _RESERVE
            self.reserve = min(wanted, (self.budget.left or 0) // 2)
            self.budget.take(self.reserve)

    def ready_landmarks(self) -> None:
        """Let landmarks begin where they should be and are not, or leave them out where they do not
        fit.
        """
        try:
            self.within(self._states.pairs.prepare)
        except LimitError:
            self._states.landmarks.leave_out()

    def _make(self, wanted: int, trims: bool) -> None:
        """Give up what saves least for its bytes; LimitError where there is nothing left."""
        reserve, self.reserve = self.reserve, 0
        self.budget.give(reserve)
        if self._shed(wanted, trims):
            self.set_aside()
        elif not reserve:
            raise LimitError(
                f"the queries need {in_words(wanted)} more than their budget of "
                f"{in_words(self.budget.most or 0)}",
                hint="set a larger one with graph.set_budget, or drop queries",
            )

    def _shed(self, wanted: int, trims: bool) -> bool:
        """Give something up: what older advances noted, what rows have free, states, landmarks.

        Whether there was any.
        """
        states = self._states
        logs, landmarks = states.fixpoints.logs, states.landmarks
        if len(logs) > 1 or landmarks.forget(all_but_last=True):
            logs.clear(all_but_last=True)
            del states.concerned[:-1]
            return True
        if trims and states.fixpoints.trim():
            return True
        return states.give_up(wanted) or landmarks.give_up()


Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]


class BestWalk(NamedTuple):
    """Vertices by number, and the edges between them by inside number."""

    vertices: list[int]
    edges: list[int]


BestWalkOrNone = BestWalk | None
Within = Callable[[Callable[[], BestWalkOrNone]], BestWalkOrNone]


class AnswerReader:
    """Reads the states of searches; `within` calls what takes room until there is some."""

    def __init__(self, states: SearchStates, within: Within) -> None:
        self._states, self._within = states, within

    def changed(self) -> set[int]:
        return self._states.fixpoints.changed() | self._states.told.numbers()

    def before(self, number: int) -> EntryChanges:
        """The entries of a search that the last advance changed, as they were before it.

        Vertices, states and values, infinity where there was none; each entry once.
        """
        count = self._automaton_states(number)
        told = self._states.told.get(number, count)
        return self._states.fixpoints.before(number, count) if told is None else told

    def collect(self, number: int) -> EntryChanges:
        """All entries of a search: vertices, states and values, by vertex and state."""
        if number not in self._states.values:
            return self._states.fixpoints.collect(number)
        items, values = self._states.values.entries(number)
        count = self._automaton_states(number)
        return items // count, items % count, values

    def value(self, number: int, vertex: int, state: int) -> float:
        """What one entry costs; infinity without one, or where only a pair is kept."""
        if number in self._states.pairs:
            return np.inf
        if number in self._states.values:
            item = vertex * self._automaton_states(number) + state
            return self._states.values.value(number, item)
        return self._states.fixpoints.value(number, vertex, state)

    def answers(self, number: int, vertices: Int32) -> Float64:
        """The least cost of a walk that may end at each of some vertices; infinity without one."""
        accepting = self._states.records[number].search.automaton.accepting
        if self._states.keeps_entries(number):
            return self._states.fixpoints.answers(number, accepting, vertices)
        if number in self._states.pairs:
            costs = [self._states.pairs.cost(number, vertex) for vertex in vertices.tolist()]
            return np.array(costs, np.float64)
        found = [
            min((self.value(number, vertex, state) for state in accepting), default=np.inf)
            for vertex in vertices.tolist()
        ]
        return np.array(found, np.float64)

    def bounds(self, number: int, target: int) -> tuple[float, float] | None:
        """What landmarks say that a path costs, at least and at most; None where none are asked."""
        pairs = self._states.pairs
        return pairs.bounds(number, target) if number in pairs else None

    def path(self, number: int, target: int) -> BestWalkOrNone:
        """A best walk to a target; None without one."""
        return self._within(lambda: self._path(number, target))

    def _path(self, number: int, target: int) -> BestWalkOrNone:
        states, search = self._states, self._states.records[number].search
        if number in states.pairs:
            is_target = target in (search.targets or ())
            edges = (states.pairs.edges if is_target else states.pairs.path)(number, target)
            return None if edges is None else self._along(search.start, edges)
        if number in states.values:
            count = search.automaton.states
            with states.values.searched(number, search) as found:
                dense = found.dense
                return self._traced(number, target, lambda v, s: _entry(dense, v * count + s))
        fixpoints = states.fixpoints
        return self._traced(
            number, target, lambda v, s: entry_of(fixpoints, number, search, (v, s))
        )

    def _traced(
        self, number: int, target: int, entry_at: Callable[[int, int], Entry | None]
    ) -> BestWalkOrNone:
        accepting = self._states.records[number].search.automaton.accepting
        return traced(self._states.graph, accepting, target, entry_at)

    def _along(self, start: int, edges: Int32) -> BestWalk:
        walk = [start]
        ends = (part.tolist() for part in self._states.graph.ends(edges))
        for source, target in zip(*ends, strict=True):
            walk.append(target if source == walk[-1] else source)
        return BestWalk(walk, edges.tolist())

    def _automaton_states(self, number: int) -> int:
        return self._states.records[number].search.automaton.states


def traced(
    graph: ResidentGraph,
    accepting: frozenset[int],
    target: int,
    entry_at: Callable[[int, int], Entry | None],
) -> BestWalkOrNone:
    """A best walk to a target, by the edges that entries came by; None if there is none."""
    ends = [(entry_at(target, state), state) for state in accepting]
    reached = [(entry.value, state) for entry, state in ends if entry is not None]
    if not reached:
        return None
    vertex, state, walk = target, min(reached)[1], BestWalk([target], [])
    while True:
        entry = entry_at(vertex, state)
        assert entry is not None, "an entry rests on one that is not there"
        if entry.edge < 0:
            return BestWalk(walk.vertices[::-1], walk.edges[::-1])
        src, dst = graph.ends(np.array([entry.edge], np.int32))
        vertex, state = int(dst[0] if entry.back else src[0]), entry.state
        walk.vertices.append(vertex)
        walk.edges.append(entry.edge)


def _entry(dense: DenseSearch, item: int) -> Entry | None:
    came, via = int(dense.came[item]) - 2, int(dense.via[item])
    if came == -2:
        return None
    return Entry(float(dense.value[item]), came, via >> 1, bool(via & 1))
