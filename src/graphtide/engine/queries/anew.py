"""Answers that are kept alone: those that a batch concerns are computed anew.

What that takes is counted, because a state must pay (`tuning`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from graphtide.engine.queries.room import Room
from graphtide.engine.queries.states import SearchStates
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import LimitError

Result = TypeVar("Result")


class AnswersAnew:
    """Brings the searches that keep their answers alone from version to version."""

    def __init__(self, states: SearchStates, room: Room) -> None:
        self._states, self._room = states, room

    def follow(self, delta: Delta) -> int:
        """Compute anew the answers that a batch concerns; how many edges were looked at."""
        states, within = self._states, self._room.within
        self._room.ready_landmarks()
        pairs, looked = within(lambda: states.pairs.concerned(delta))
        numbers, more = within(lambda: states.values.concerned(delta))
        looked += more
        for number, target in pairs:
            looked += self._pair_again(number, target)
        for number in numbers:
            looked += self._values_again(number, delta)
        return looked

    def count_concerned(self) -> None:
        """Count the batch for those whose entries it changed: of pairs, that of a target."""
        fixpoints = self._states.fixpoints
        for number in fixpoints.changed():
            record = self._states.records[number]
            record.entries = fixpoints.searches.entries(number)
            if record.search.is_pairs:
                vertices, _, _ = fixpoints.before(number, 1)
                if set(record.search.targets or ()).isdisjoint(vertices.tolist()):
                    continue
            record.concern(self._states.batches)

    def _pair_again(self, number: int, target: int) -> int:
        states = self._states
        before, looked = self._again(number, lambda: states.pairs.again(number, target))
        if before != states.pairs.cost(number, target):
            self._room.within(lambda: states.told.add(number, target, before))
        return looked

    def _values_again(self, number: int, delta: Delta) -> int:
        states, most = self._states, self._states.records[number].looks
        changed, looked = self._again(number, lambda: states.values.again(number, delta, most))
        self._room.within(lambda: states.told.tell(number, changed))
        return looked

    def _again(self, number: int, call: Callable[[], tuple[Result, int]]) -> tuple[Result, int]:
        """Ask anew, and count what that takes."""
        begun, states = time.perf_counter(), self._states
        states.concerned[-1].append(number)
        try:
            result, looked = self._room.within(call)
        except LimitError:
            states.concerned[-1].pop()  # Its answer is as it was: going back must not ask anew.
            raise
        record = states.records[number]
        record.concern(states.batches)
        record.again += 1
        record.spent += looked
        record.seconds += time.perf_counter() - begun
        return result, looked
