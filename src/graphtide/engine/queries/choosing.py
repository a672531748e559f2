"""Who keeps all entries, and who the answer alone: chosen at the start, and by what answers cost.

A state must be known beforehand to fit: a search that does not fit after all has moved all rows for
nothing. And it must pay (`tuning`): one that keeps its answer alone has its entries again once its
answers have cost as much.
"""

from __future__ import annotations

from graphtide.engine.queries.budget import LacksRoomError
from graphtide.engine.queries.room import Room
from graphtide.engine.queries.rows import GROWTH
from graphtide.engine.queries.states import SearchStates
from graphtide.engine.queries.tuning import BETTER, Record

_LEFT = 8
"""A share of the budget that new searches leave to what others keep from batch to batch."""


class StateChoice:
    """Lets searches begin, and have their entries where these fit and pay."""

    def __init__(self, states: SearchStates, room: Room) -> None:
        self._states, self._room, self._budget = states, room, states.budget
        self.patience = 1.0
        """With a budget, a batch looks at 1 + patience times as many edges as from scratch, at most
        and but for what is asked to find out whom it concerns. Without any, no search keeps its
        entries."""
        self._too_little = 0
        """What was left when a search last did not fit."""

    def start(self, number: int) -> None:
        """Find the state of a search: all entries where there is room for them."""
        if self._has_room_for_entries(number) and self._try_entries(number):
            return
        self._room.within(lambda: self._states.keep(number))
        self._room.ready_landmarks()

    def take_up(self) -> None:
        """Let a search have its entries again where that saves more than what it would take.

        It must have looked at as many edges since as a start looks at, and fit: beside the others,
        or in place of some that save less. One a batch, so that no batch waits for many starts.
        """
        states = self._states
        if self._budget.most is not None and self.patience == 0.0:
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

    def try_again(self) -> None:
        """Nothing is known any more of what does not fit: the budget is another."""
        self._too_little = 0

    def _has_room_for_entries(self, number: int) -> bool:
        """Whether a search as large as those before it is likely to fit, and leaves some room.

        A pair within a budget has its answer for little, and its state once that has paid.
        """
        most, mean = self._budget.most, self._states.fixpoints.searches.mean
        if most is None:
            return True
        if self.patience == 0.0 or self._states.records[number].search.is_pairs:
            return False
        leaves = self._states.has_room(number, mean, most // _LEFT)
        return leaves and self._may_fit(number, mean)

    def _to_begin(self, record: Record) -> int:
        """How many edges a search looks at to find all its entries; all there are, if unknown."""
        live = self._states.graph.live
        return record.begins or (live if record.search.is_pairs else record.looks)

    def _may_fit(self, number: int, entries: int) -> bool:
        """Whether there is room for a search to begin, and more than when the last one failed."""
        left = self._budget.left
        more = left is None or left > self._too_little + self._too_little // GROWTH
        return more and self._states.has_room(number, entries)

    def _try_entries(self, number: int) -> bool:
        """Let a search have all its entries; whether there was room for them."""
        try:
            self._states.take_up(number)
        except LacksRoomError:
            self._too_little = self._budget.left or 0
            return False
        self._too_little = 0
        return True
