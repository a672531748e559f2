"""All searches on one graph: started, brought from version to version together, and read.

Everything that queries keep is granted by one budget. A search keeps all its entries, or its answer
alone, which is computed anew at a batch that concerns it (`states`); which of the two never changes
what it answers.

A call that lacks room gives up what saves least for its bytes, and goes on; where nothing is left
to be given up it ends in LimitError, with all answers as they were. Where the way back does not
lead through logs, searches are `lost`: they have no state until `settle` computes them anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.fixpoint import LabelColumn, TakesLongError
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.engine.queries.logs import NO_END
from graphtide.engine.queries.reading import AnswerReader
from graphtide.engine.queries.rows import GROWTH
from graphtide.engine.queries.searches import Search
from graphtide.engine.queries.states import SearchStates
from graphtide.engine.queries.tuning import BETTER, Record
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import LimitError
from graphtide.model.memory import in_words

Result = TypeVar("Result")

_RESERVE = 16
"""A share of the budget that is set aside for writing answers down when states are given up."""


_LEFT = 8
"""A share of the budget that new searches leave to what others keep from batch to batch."""


class QueryEngine:
    """The searches of all queries on a graph."""

    def __init__(
        self, graph: ResidentGraph, labels: LabelColumn, budget: Budget | None = None
    ) -> None:
        self.budget = Budget() if budget is None else budget
        self.patience = 1.0
        """With a budget, a batch looks at 1 + patience times as many edges as from scratch, at most
        and but for what is asked to find out whom it concerns. Without any, no search keeps its
        entries."""
        self.states = SearchStates(graph, labels, self.budget)
        self.reader = AnswerReader(self.states, self._within)
        self.lost: set[int] = set()
        self.seconds = 0.0
        """What all batches took."""
        self.looked = 0
        """How many edges the last advance looked at."""
        self._concerned: list[list[int]] = []
        """The searches that each advance which can be undone has computed anew."""
        self._reserve = 0
        self._too_little = 0
        """What was left when a search last did not fit."""
        self._set_aside()

    @property
    def nbytes(self) -> int:
        """All memory of queries."""
        return self.states.nbytes + self._reserve

    @property
    def batches(self) -> int:
        """How many advances have been followed."""
        return self.states.batches

    def entries(self, number: int) -> int:
        """How many entries a search keeps."""
        return self.states.entries(number)

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
        concerned = not self._concerned or bool(self._concerned[-1])
        return concerned or any(record.since >= last for record in records)

    def add(self, search: Search) -> int:
        """Start a search on the version that the graph is at; its number."""
        number = self.add_lost(search)
        try:
            self._start(number)
        except BaseException:
            self.remove(number)
            raise
        self.lost.discard(number)
        self._set_aside()
        return number

    def add_lost(self, search: Search) -> int:
        """Have a search without a state, until `settle`; its number."""
        number = self._within(lambda: self.states.enter(search))
        self.lost.add(number)
        return number

    def begin_again(self, number: int) -> int:
        """Have a search without a state, as it came behind what was undone; its number."""
        self.lost.add(number)
        return number

    def remove(self, number: int) -> None:
        """Give a search up."""
        self.lost.discard(number)
        self.states.leave(number)

    def follow(self, delta: Delta, ready: Callable[[], None] = lambda: None) -> None:
        """Follow a graph that has been flipped, and may have got vertices; all or nothing.

        `ready` reads what has come with the edges, before anybody asks for it.
        """
        begun, states = time.perf_counter(), self.states
        self._tell_nothing()
        states.ahead = delta
        try:
            self._within(ready)
            given_up = self._follow_entries(delta)
        finally:
            states.ahead = None
        states.batches += 1
        self._concerned.append([])
        del self._concerned[: len(self._concerned) - max(self.undoable, 1)]
        try:
            touched = given_up + states.fixpoints.touched + states.landmarks.follow(delta)
            self._ready_landmarks()
            self.looked = touched + self._follow_answers(delta)
        except BaseException:
            self.undo(states.graph.vertices)
            raise
        if self.budget.most is not None:
            self._count_concerned()
        self._take_up()
        self._set_aside()
        self.seconds += time.perf_counter() - begun

    def _follow_entries(self, delta: Delta) -> int:
        """Follow with all that keep their entries; how many edges were looked at in vain.

        Where that takes longer than the patience allows for, all of them keep their answers alone,
        of which those are computed anew that the batch concerns.
        """
        fixpoints, most = self.states.fixpoints, self._most_looks()
        try:
            self._within(lambda: fixpoints.follow(delta, most))
        except TakesLongError:
            looked = fixpoints.touched
            while self.states.give_up(NO_END):
                pass
            self._within(lambda: fixpoints.follow(delta))
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
        records = states.records
        self.lost |= {number for number in records if records[number].since > states.batches}
        self.lost |= set(self._concerned.pop() if self._concerned else records) & set(records)
        states.landmarks.undo(vertices)
        try:
            states.fixpoints.undo(vertices)
        except LacksRoomError:
            states.fixpoints.cut(vertices)
            self.lost |= {number for number in records if states.keeps_entries(number)}

    def settle(self) -> None:
        """Compute anew what the way back has lost, on the graph as it is."""
        while self.lost:
            number = next(iter(self.lost))
            self.states.drop_answer(number)
            if self.states.fixpoints.searches.entries(number):
                self.states.fixpoints.drop([number])
            self._start(number)
            self.lost.discard(number)

    def forget(self) -> None:
        """Give up what could be undone."""
        self.states.fixpoints.logs.clear()
        self.states.landmarks.forget()
        self._concerned.clear()

    def set_budget(self, most: int | None) -> None:
        """Have another budget from now on; LimitError, and the one before, if it is too small."""
        self.budget.give(self._reserve)
        self._reserve = 0
        while (
            most is not None
            and self.budget.used > most
            and self._shed(self.budget.used - most, True)
        ):
            pass
        fits = most is None or self.budget.used <= most
        self.budget.most = most if fits else self.budget.most
        self.states.landmarks.try_again()
        self._too_little = 0
        self._set_aside()
        if not fits:
            raise LimitError(
                f"a budget of {in_words(most or 0)} is too small for the queries on the graph",
                hint=f"they take {in_words(self.budget.used)} at least; drop some",
            )

    def _tell_nothing(self) -> None:
        self.states.fixpoints.logs.tell_nothing()
        self.states.told.clear()

    def _start(self, number: int) -> None:
        """Find the state of a search: all entries where there is room for them."""
        if self._has_room_for_entries(number) and self._try_entries(number):
            return
        self._within(lambda: self.states.keep(number))
        self._ready_landmarks()

    def set_landmarks(self, settings: Landmarks | None) -> None:
        """Have other landmarks for pairs that keep their answers alone, or none."""
        self.states.landmarks.set(settings)
        if not self.lost:
            self._ready_landmarks()

    def _ready_landmarks(self) -> None:
        """Let landmarks begin where they should be and are not; without any if they do not fit."""
        try:
            self._within(self.states.pairs.prepare)
        except LimitError:
            self.states.landmarks.leave_out()

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

    def _follow_answers(self, delta: Delta) -> int:
        """Compute anew the answers that a batch concerns; how many edges were looked at."""
        pairs, looked = self._within(lambda: self.states.pairs.concerned(delta))
        numbers, more = self._within(lambda: self.states.values.concerned(delta))
        looked += more
        for number, target in pairs:
            looked += self._pair_again(number, target)
        for number in numbers:
            looked += self._values_again(number)
        return looked

    def _pair_again(self, number: int, target: int) -> int:
        states = self.states
        before, looked = self._again(number, lambda: states.pairs.again(number, target))
        if before != states.pairs.cost(number, target):
            self._within(lambda: states.told.add(number, target, before))
        return looked

    def _values_again(self, number: int) -> int:
        states = self.states
        changed, looked = self._again(number, lambda: states.values.again(number))
        count = states.records[number].search.automaton.states
        change = changed.items // count, changed.items % count, changed.values
        self._within(lambda: states.told.tell(number, change))
        return looked

    def _again(self, number: int, call: Callable[[], tuple[Result, int]]) -> tuple[Result, int]:
        """Ask anew, and count what that takes."""
        begun = time.perf_counter()
        self._concerned[-1].append(number)
        found, looked = self._within(call)
        record = self.states.records[number]
        record.concern(self.states.batches)
        record.again += 1
        record.spent += looked
        record.seconds += time.perf_counter() - begun
        return found, looked

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

    def _take_up(self) -> None:
        """Let a search have its entries again where that saves more than what it would take.

        It must have looked at as many edges since as a start looks at, and fit: beside the others,
        or in place of some that save less. One a batch, so that no batch waits for many starts.
        """
        states = self.states
        if self.budget.most is not None and self.patience == 0.0:
            return
        for number in self._concerned[-1]:
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

    def _to_begin(self, record: Record) -> int:
        """How many edges a search looks at to find all its entries; all there are, if unknown."""
        return record.begins or (self.states.graph.live if record.search.is_pairs else record.looks)

    def _may_fit(self, number: int, entries: int) -> bool:
        """Whether there is room for a search to begin, and more than when the last one failed.

        A search that does not fit after all has moved all rows for nothing.
        """
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

    def _within(self, call: Callable[[], Result]) -> Result:
        """Call, again and again with more room, until the budget allows for it.

        Rows are trimmed once: what a call has made them grow by may be what it needs.
        """
        trims = True
        while True:
            try:
                return call()
            except LacksRoomError as lacking:
                self._make_room(lacking.wanted, trims)
                trims = False

    def _make_room(self, wanted: int, trims: bool) -> None:
        """Give up what saves least for its bytes; LimitError where there is nothing left."""
        reserve, self._reserve = self._reserve, 0
        self.budget.give(reserve)
        if self._shed(wanted, trims):
            self._set_aside()
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
        logs, landmarks = self.states.fixpoints.logs, self.states.landmarks
        if len(logs) > 1 or landmarks.forget(all_but_last=True):
            logs.clear(all_but_last=True)
            del self._concerned[:-1]
            return True
        if trims and self.states.fixpoints.trim():
            return True
        return self.states.give_up(wanted) or landmarks.give_up()

    def _set_aside(self) -> None:
        """Have a reserve, as large as it should be or as there is room for."""
        if self.budget.most is not None and not self._reserve:
            wanted = self.budget.most // _RESERVE
            self._reserve = min(wanted, (self.budget.left or 0) // 2)
            self.budget.take(self._reserve)
