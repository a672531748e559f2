"""All searches on one graph: started, brought from version to version together, and read.

Everything that queries keep is granted by one budget (`room`). A search keeps all its entries, or
its answer alone, which is computed anew at a batch that concerns it (`states`, `anew`); which of
the two (`choosing`) never changes what it answers.

Where the way back does not lead through logs, searches are `lost`: they have no state until
`settle` computes them anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from graphtide.engine.queries.anew import AnswersAnew
from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.choosing import StateChoice
from graphtide.engine.queries.fixpoint import LabelColumn, TakesLongError
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.engine.queries.logs import NO_END
from graphtide.engine.queries.reading import AnswerReader
from graphtide.engine.queries.room import Room
from graphtide.engine.queries.searches import Search
from graphtide.engine.queries.states import SearchStates
from graphtide.engine.queries.times import BatchTimes
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import LimitError


class QueryEngine:
    """The searches of all queries on a graph."""

    def __init__(
        self, graph: ResidentGraph, labels: LabelColumn, budget: Budget | None = None
    ) -> None:
        self.budget = Budget() if budget is None else budget
        self.states = SearchStates(graph, labels, self.budget)
        self.room = Room(self.states)
        self._choice = StateChoice(self.states, self.room)
        self._anew = AnswersAnew(self.states, self.room)
        self.reader = AnswerReader(self.states, self.room.surely)
        self.lost: set[int] = set()
        self.times = BatchTimes()
        self.looked = 0
        """How many edges the last advance looked at."""

    @property
    def nbytes(self) -> int:
        """All memory of queries."""
        return self.states.nbytes + self.room.reserve

    @property
    def patience(self) -> float:
        """How many times as many edges as from scratch a batch may look at beside that."""
        return self._choice.patience

    @patience.setter
    def patience(self, patience: float) -> None:
        self._choice.patience = patience

    def entries(self, number: int) -> int:
        """How many entries a search keeps."""
        return self.states.entries(number)

    def seconds_of(self, number: int) -> float:
        """What a batch takes that is a search's own, in the mean since it came."""
        share = self.states.fixpoints.searches.share_of_looks(number)
        return self.times.of(number, share, self.states.records[number].seconds)

    def bytes_of(self, number: int) -> int:
        """The memory of what one search keeps, without the room that all of them share."""
        return self.states.bytes_of(number)

    @property
    def undoable(self) -> int:
        """How many advances can be undone."""
        return len(self.states.fixpoints.logs)

    @property
    def loses(self) -> bool:
        """Whether undoing the last advance leaves searches that must be computed anew."""
        records, last = self.states.records.values(), self.states.batches
        concerned = not self.states.concerned or bool(self.states.concerned[-1])
        return concerned or any(record.since >= last for record in records)

    def add(self, search: Search) -> int:
        """Start a search on the version that the graph is at; its number."""
        number = self.add_lost(search)
        try:
            self._choice.start(number)
        except BaseException:
            self.remove(number)
            raise
        self.lost.discard(number)
        self.room.set_aside()
        return number

    def add_lost(self, search: Search) -> int:
        """Have a search without a state, until `settle`; its number."""
        number = self.room.within(lambda: self.states.enter(search))
        self.times.begin(number)
        self.lost.add(number)
        return number

    def begin_again(self, number: int) -> int:
        """Have a search without a state, as it came behind what was undone; its number."""
        self.lost.add(number)
        return number

    def remove(self, number: int) -> None:
        """Give a search up."""
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
            self.looked = touched + (self._anew.follow(delta) if states.keeps_answers else 0)
        except BaseException:
            self.undo(states.graph.vertices)
            raise
        if self.budget.most is not None:
            self._anew.count_concerned()
        if states.concerned[-1]:
            self._choice.take_up()
        self.room.set_aside()
        self.times.add(time.perf_counter() - begun)

    def _timed(self, delta: Delta) -> int:
        """Follow with all that keep their entries, and time it where any looks at an edge."""
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
                self._choice.start(number)
            except LimitError:
                with self.budget.lifted():
                    self.states.begin(number)
            self.lost.discard(number)

    @property
    def undo_bytes(self) -> int:
        """The memory of what could be undone."""
        return self.states.fixpoints.logs.nbytes + self.states.landmarks.undo_bytes

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, but for the last so many advances."""
        self.states.fixpoints.logs.clear(all_but_last=keep)
        self.states.landmarks.forget(all_but_last=keep)
        concerned = self.states.concerned
        del concerned[: max(0, len(concerned) - keep)]

    def set_budget(self, most: int | None) -> None:
        """Have another budget from now on; LimitError, and the one before, if it is too small."""
        self._choice.try_again()
        self.room.set_budget(most)

    def set_landmarks(self, settings: Landmarks | None) -> None:
        """Have other landmarks for pairs that keep their answers alone, or none."""
        self.states.landmarks.set(settings)
        if not self.lost:
            self.room.ready_landmarks()

    def _tell_nothing(self) -> None:
        self.states.fixpoints.logs.tell_nothing()
        self.states.told.clear()
