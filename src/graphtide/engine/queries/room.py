"""Room within the budget: what gives way to a call that lacks some, and a reserve for that.

A call that lacks room is made again once something was given up: what older advances noted, what
rows have free, the states that save least for their bytes, landmarks. Where nothing is left to be
given up it ends in LimitError, with all answers as they were. Reading answers and going back are
not refused: what they need is granted beyond the budget then, and the next advance must do without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from graphtide.engine.queries.budget import LacksRoomError
from graphtide.engine.queries.states import SearchStates
from graphtide.model.errors import MEMORY_ENDED, LimitError
from graphtide.model.memory import in_words

Result = TypeVar("Result")

_RESERVE = 16
"""A share of the budget that is set aside for writing answers down when states are given up."""


class Room:
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
        """What is in use within a budget; without one, nothing is held for those who borrow."""
        return self.budget.used - self.budget.scratch + self._states.values.borrowed

    def set_aside(self) -> None:
        """Have a reserve, as large as it should be or as there is room for."""
        if self.budget.most is not None and not self.reserve:
            wanted = self.budget.most // _RESERVE
            self.reserve = min(wanted, (self.budget.left or 0) // 2)
            self.budget.take(self.reserve)

    def ready_landmarks(self) -> None:
        """Let landmarks begin where they should be and are not; without any if they do not fit."""
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
