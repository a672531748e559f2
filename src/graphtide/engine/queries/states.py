"""What each search keeps: all its entries (`fixpoint`), or its answer alone.

A pair keeps its cost and its path then, any other search the cost of each entry. Whatever the
budget does not allow for ends in LacksRoomError, with everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.fixpoint import Fixpoints, LabelColumn
from graphtide.engine.queries.landmarks import LandmarkIndexes
from graphtide.engine.queries.packed import packed_list
from graphtide.engine.queries.pair_table import Answer
from graphtide.engine.queries.pairs import PairAnswers
from graphtide.engine.queries.rows import GROWTH
from graphtide.engine.queries.searches import Search
from graphtide.engine.queries.starting import dense_bytes, fits_arrays
from graphtide.engine.queries.supports import entry_of
from graphtide.engine.queries.told import ToldChanges
from graphtide.engine.queries.tuning import Record
from graphtide.engine.queries.values import ValueAnswers
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.concerns import A_PATH

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
        self.told = ToldChanges(budget)
        self.records: dict[int, Record] = {}
        self.batches = 0
        self.concerned: list[list[int]] = []
        """The searches that each advance which can be undone has computed anew."""
        self.ahead: Delta | None = None
        """What the graph has taken already and entries have not."""

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        objects = sum(_objects(record.search) for record in self.records.values())
        parts = self.fixpoints, self.pairs, self.values, self.told, self.landmarks
        return sum(part.nbytes for part in parts) + objects

    def keeps_entries(self, number: int) -> bool:
        """Whether a search keeps all its entries."""
        return number not in self.pairs and number not in self.values

    @property
    def keeps_answers(self) -> bool:
        """Whether any search keeps its answer alone."""
        return len(self.pairs) > 0 or len(self.values) > 0

    def begin_batch(self) -> None:
        """Entries have followed: another batch, of which it is to be seen what is computed anew."""
        self.batches += 1
        self.concerned.append([])
        del self.concerned[: len(self.concerned) - max(len(self.fixpoints.logs), 1)]

    def bytes_of(self, number: int) -> int:
        """What a search keeps."""
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
        """A number for a search, which has no state yet."""
        size = _objects(search)
        self.budget.take(size)
        try:
            number = self.fixpoints.enter(search)
        except BaseException:
            self.budget.give(size)
            raise
        self.records[number] = Record(search, self.batches)
        return number

    def leave(self, number: int) -> None:
        """A search goes, and what it keeps."""
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
        """Let a search keep all its entries, from scratch, and its answer no more."""
        record = self.records[number]
        search = record.search
        record.begins = max(1, self.fixpoints.start(number, search))
        record.looks = self.pairs.expected_looks(search) if search.is_pairs else record.begins
        self.drop_answer(number)
        record.entries = self.fixpoints.searches.entries(number)
        record.since, record.spent = self.batches, 0

    def keep(self, number: int) -> None:
        """Let a search without a state keep its answer, from scratch."""
        record = self.records[number]
        answers: PairAnswers | ValueAnswers = self.values
        if record.search.is_pairs:
            answers = self.pairs
        record.looks = max(1, answers.keep(number, record.search))
        record.since, record.spent = self.batches, 0

    def begin(self, number: int) -> None:
        """Let a search without a state keep its answer; all entries where that is too large."""
        if self._can_be_anew(self.records[number].search):
            self.keep(number)
        else:
            self.take_up(number)

    def drop_answer(self, number: int) -> None:
        """Let a search keep its answer no more."""
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
        """Have the edges by which entries came, in the middle of a batch as well."""
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
        """Keep the answer that the entries of a search tell, and what changed of it."""
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

    def _pair(self, number: int, target: int) -> Answer:
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
        return Answer(cost, A_PATH, np.array(edges[::-1], np.int32))


def _objects(search: Search) -> int:
    return OBJECTS + TARGET * len(search.targets or ())
