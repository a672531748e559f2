"""All searches on one graph: started, brought from version to version together, and read.

A search keeps all its entries, or its answer alone, which is computed anew at a batch that concerns
it. Which of the two never changes what it answers. It is chosen at the start, since a search that
does not fit after all has moved all rows for nothing; and later by what answers have cost: a search
has its entries again once its answers have cost as much.

Where the way back does not lead through logs, searches are `lost`: they have no state until
`settle` computes them anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.fixpoint import LabelColumn, TakesLongError
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.engine.queries.pool import GROWTH, NO_END
from graphtide.engine.queries.searches import BETTER, BatchTimes, Search, SearchRecord
from graphtide.engine.queries.states import AnswerReader, QueryRoom, SearchStates
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import LimitError

Result = TypeVar("Result")


_LEFT = 8
"""A share of the budget that new searches leave to what others keep from batch to batch."""


class QueryEngine:
    """The searches of all queries on a graph."""

    def __init__(
        self, graph: ResidentGraph, labels: LabelColumn, budget: Budget | None = None
    ) -> None:
        self.budget = Budget() if budget is None else budget
        self.states = SearchStates(graph, labels, self.budget)
        self.room = QueryRoom(self.states)
        self.patience = 1.0
        """With a budget, a batch looks at 1 + patience times as many edges as from scratch, at most
        and but for what is asked to find out whom it concerns. Without any, no search keeps its
        entries."""
        self._too_little = 0
        """What was left when a search last did not fit."""
        self.reader = AnswerReader(self.states, self.room.surely)
        self.lost: set[int] = set()
        self.times = BatchTimes()
        self.looked = 0
        """How many edges the last advance looked at."""

    @property
    def nbytes(self) -> int:
        return self.states.nbytes + self.room.reserve

    def entries(self, number: int) -> int:
        return self.states.entries(number)

    def seconds_of(self, number: int) -> float:
        """Mean seconds of a batch that a search took since it came."""
        share = self.states.fixpoints.searches.share_of_looks(number)
        return self.times.of(number, share, self.states.records[number].seconds)

    def bytes_of(self, number: int) -> int:
        """The memory of what one search keeps, without the room that all of them share."""
        return self.states.bytes_of(number)

    @property
    def undoable(self) -> int:
        """How many advances the logs can undo."""
        return len(self.states.fixpoints.logs)

    @property
    def loses(self) -> bool:
        """Whether undoing the last advance leaves searches that must be computed anew."""
        records, last = self.states.records.values(), self.states.batches
        concerned = not self.states.concerned or bool(self.states.concerned[-1])
        return concerned or any(record.since >= last for record in records)

    def add(self, search: Search) -> int:
        """Start a search on the version that the graph is at, and return its number."""
        number = self.add_lost(search)
        try:
            self._start(number)
        except BaseException:
            self.remove(number)
            raise
        self.lost.discard(number)
        self.room.set_aside()
        return number

    def add_lost(self, search: Search) -> int:
        """Add a search without a state, which `settle` computes; returns its number."""
        number = self.room.within(lambda: self.states.enter(search))
        self.times.begin(number)
        self.lost.add(number)
        return number

    def remove(self, number: int) -> None:
        self.lost.discard(number)
        self.times.end(number)
        self.states.leave(number)

    def follow(self, delta: Delta, ready: Callable[[], None] = lambda: None) -> None:
        """Follow a graph that has been flipped, and may have got vertices; all or nothing.

        `ready` reads what has come with the edges, before anybody asks for it.
        """
        begun, states = time.perf_counter(), self.states
        self._tell_nothing()
        states.ahead = delta
        try:
            self.room.within(ready)
            given_up = self._timed(delta)
        finally:
            states.ahead = None
        states.begin_batch()
        try:
            touched = given_up + states.fixpoints.touched + states.landmarks.follow(delta)
            self.looked = touched + (self._follow_answers(delta) if states.keeps_answers else 0)
        except BaseException:
            self.undo(states.graph.vertices)
            raise
        if self.budget.most is not None:
            self._count_concerned()
        if states.concerned[-1]:
            self._take_up()
        self.room.set_aside()
        self.times.add(time.perf_counter() - begun)

    def _follow_answers(self, delta: Delta) -> int:
        """Compute anew the answers that a batch concerns; returns how many edges that looked at."""
        states, within = self.states, self.room.within
        self.room.ready_landmarks()
        pairs, looked = within(lambda: states.pairs.concerned(delta))
        numbers, more = within(lambda: states.values.concerned(delta))
        looked += more
        for number, target in pairs:
            looked += self._pair_again(number, target)
        for number in numbers:
            looked += self._values_again(number, delta)
        return looked

    def _count_concerned(self) -> None:
        """Count the batch for those whose entries it changed: of pairs, that of a target."""
        fixpoints = self.states.fixpoints
        for number in fixpoints.changed():
            record = self.states.records[number]
            record.entries = fixpoints.searches.entries(number)
            if record.search.is_pairs:
                vertices, _, _ = fixpoints.before(number, 1)
                if set(record.search.targets or ()).isdisjoint(vertices.tolist()):
                    continue
            record.concern(self.states.batches)

    def _pair_again(self, number: int, target: int) -> int:
        states = self.states
        before, looked = self._again(number, lambda: states.pairs.again(number, target))
        if before != states.pairs.cost(number, target):
            self.room.within(lambda: states.told.add(number, target, before))
        return looked

    def _values_again(self, number: int, delta: Delta) -> int:
        states, most = self.states, self.states.records[number].looks
        changed, looked = self._again(number, lambda: states.values.again(number, delta, most))
        self.room.within(lambda: states.told.tell(number, changed))
        return looked

    def _again(self, number: int, call: Callable[[], tuple[Result, int]]) -> tuple[Result, int]:
        """Ask anew, and count the edges and the time that this takes."""
        begun, states = time.perf_counter(), self.states
        states.concerned[-1].append(number)
        try:
            result, looked = self.room.within(call)
        except LimitError:
            states.concerned[-1].pop()  # Its answer is as it was: going back must not ask anew.
            raise
        record = states.records[number]
        record.concern(states.batches)
        record.again += 1
        record.spent += looked
        record.seconds += time.perf_counter() - begun
        return result, looked

    def _timed(self, delta: Delta) -> int:
        begun = time.perf_counter()
        given_up = self._follow_entries(delta)
        if given_up or self.states.fixpoints.touched:
            self.times.shared += time.perf_counter() - begun
        return given_up

    def _follow_entries(self, delta: Delta) -> int:
        """Follow with all that keep their entries; how many edges were looked at in vain.

        Where that takes longer than the patience allows for, all of them keep their answers alone,
        of which those are computed anew that the batch concerns.
        """
        fixpoints, most = self.states.fixpoints, self._most_looks()
        try:
            self.room.within(lambda: fixpoints.follow(delta, most))
        except TakesLongError:
            looked = fixpoints.touched
            while self.states.give_up(NO_END):
                pass
            self.room.within(lambda: fixpoints.follow(delta))
            return looked
        return 0

    def _most_looks(self) -> int:
        """How many edges following may look at: a share of what all look at from scratch."""
        if self.budget.most is None:
            return NO_END
        records = self.states.records
        kept = self.states.fixpoints.searches.with_entries()
        return int(self.patience * sum(records[number].begins for number in kept))

    def _start(self, number: int) -> None:
        """Find the state of a search: all entries where there is room for them."""
        if self._has_room_for_entries(number) and self._try_entries(number):
            return
        self.room.within(lambda: self.states.keep(number))
        self.room.ready_landmarks()

    def _take_up(self) -> None:
        """Let a search have its entries again where that saves more than what it would take.

        It must have looked at as many edges since as a start looks at, and fit: beside the others,
        or in place of some that save less. One a batch, so that no batch waits for many starts.
        """
        states = self.states
        if self.budget.most is not None and self.patience == 0.0:
            return
        for number in states.concerned[-1]:
            record = states.records[number]
            if states.keeps_entries(number) or record.spent <= self._to_begin(record):
                continue
            entries = record.entries or states.fixpoints.searches.mean
            nbytes = 2 * states.fixpoints.rows.entry * entries
            worth = record.worth(states.batches, nbytes)
            if not self._may_fit(number, entries):
                states.give_up(nbytes, worth / BETTER)
            record.spent = 0
            if self._may_fit(number, entries):
                self._try_entries(number)
            return

    def _has_room_for_entries(self, number: int) -> bool:
        """Whether a search as large as those before it is likely to fit, and leaves some room.

        A pair within a budget has its answer for little, and its state once that has paid.
        """
        most, mean = self.budget.most, self.states.fixpoints.searches.mean
        if most is None:
            return True
        if self.patience == 0.0 or self.states.records[number].search.is_pairs:
            return False
        leaves = self.states.has_room(number, mean, most // _LEFT)
        return leaves and self._may_fit(number, mean)

    def _to_begin(self, record: SearchRecord) -> int:
        """How many edges a search looks at to find all its entries: all there are, if unknown."""
        live = self.states.graph.live
        return record.begins or (live if record.search.is_pairs else record.looks)

    def _may_fit(self, number: int, entries: int) -> bool:
        """Whether there is room for a search to begin, and more than when the last one failed."""
        left = self.budget.left
        more = left is None or left > self._too_little + self._too_little // GROWTH
        return more and self.states.has_room(number, entries)

    def _try_entries(self, number: int) -> bool:
        """Let a search have all its entries; whether there was room for them."""
        try:
            self.states.take_up(number)
        except LacksRoomError:
            self._too_little = self.budget.left or 0
            return False
        self._too_little = 0
        return True

    def undo(self, vertices: int) -> None:
        """Go back by one advance, to so many vertices; `settle` once the graph is there."""
        self._tell_nothing()
        states = self.states
        states.batches -= 1
        records, concerned = states.records, states.concerned
        self.lost |= {number for number in records if records[number].since > states.batches}
        self.lost |= set(concerned.pop() if concerned else records) & set(records)
        states.landmarks.undo(vertices)
        try:
            states.fixpoints.undo(vertices)
        except LacksRoomError:
            states.fixpoints.cut(vertices)
            self.lost |= {number for number in records if states.keeps_entries(number)}

    def settle(self) -> None:
        """Compute anew what the way back has lost, on the graph as it is; never refused.

        All that they kept goes first, since it is of another version and others may need the room.
        """
        stale = [number for number in self.lost if self.states.fixpoints.searches.entries(number)]
        if stale:
            self.states.fixpoints.drop(stale)
        for number in self.lost:
            self.states.drop_answer(number)
        while self.lost:
            number = next(iter(self.lost))
            try:
                self._start(number)
            except LimitError:
                with self.budget.lifted():
                    self.states.begin(number)
            self.lost.discard(number)

    @property
    def undo_bytes(self) -> int:
        return self.states.fixpoints.logs.nbytes + self.states.landmarks.undo_bytes

    def forget(self, keep: int = 0) -> None:
        self.states.fixpoints.logs.clear(all_but_last=keep)
        self.states.landmarks.forget(all_but_last=keep)
        concerned = self.states.concerned
        del concerned[: max(0, len(concerned) - keep)]

    def set_budget(self, most: int | None) -> None:
        """Have another budget from now on; LimitError, and the one before, if it is too small."""
        self._too_little = 0  # What does not fit is not known any more.
        self.room.set_budget(most)

    def set_landmarks(self, settings: Landmarks | None) -> None:
        self.states.landmarks.set(settings)
        if not self.lost:
            self.room.ready_landmarks()

    def _tell_nothing(self) -> None:
        self.states.fixpoints.logs.tell_nothing()
        self.states.told.clear()
