"""Landmarks: searches of the graph's own that bound what paths cost, kept current like any other.

For all pairs whose walks are the same there is one index: rows of their own, with two searches for
each landmark, along walks and against them, or one where both are the same. They are brought from
version to version by the kernels of all searches, so a bound is as right as an answer is.

An index is only ever of use, never needed. So whatever stands in its way ends it, and it begins
anew, on the graph as it is, before pairs are next asked: a batch that takes longer to follow, or a
way back that is not noted. States make room for it; where it would take half of the budget, or
nothing else is left to be given up, it is left out until the budget is another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, LacksRoomError
from graphtide.engine.queries.fixpoint import Fixpoints, LabelColumn, TakesLongError
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.engine.queries.pool import WIDE
from graphtide.engine.queries.searches import Search
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.pairs import Marks, bounds_between
from graphtide.plan.regular_paths import Automaton

NO_MARKS = Marks(np.empty(0, np.int64), 0, 0, 0.0)

_BY_VERTEX = 22 + 38
"""Bytes that each vertex takes besides entries: its row, and arrays in which a search is found."""

_LEAST = 1 << 15
"""What an index takes for a graph of any size."""


class LandmarkIndex:
    """The searches of all landmarks for walks of one kind."""

    def __init__(
        self,
        graph: ResidentGraph,
        fixpoints: Fixpoints,
        search: Search,
        settings: Landmarks,
        slack: float,
    ) -> None:
        self._graph, self._fixpoints, self._slack = graph, fixpoints, slack
        self._along = search.automaton
        self._against = turned(search.automaton)
        self.vertices: list[int] = []
        self.looks = 0
        """How many edges it looked at when it began."""
        self._choose(search, settings)

    @property
    def nbytes(self) -> int:
        return self._fixpoints.nbytes

    @property
    def undo_bytes(self) -> int:
        return self._fixpoints.logs.nbytes

    @property
    def marks(self) -> Marks:
        count = len(self.vertices)
        turned_from = 0 if self._along == self._against else count
        return Marks(self._fixpoints.words(), count, turned_from, self._slack)

    @property
    def touched(self) -> int:
        return self._fixpoints.touched

    def follow(self, delta: Delta) -> None:
        """Follow a graph that has been flipped; TakesLongError where to begin anew is better."""
        self._fixpoints.follow(delta, self.looks)

    def undo(self, vertices: int) -> bool:
        """Go back by one advance, if a log covers it; whether one did."""
        if not len(self._fixpoints.logs):
            return False
        self._fixpoints.undo(vertices)
        return True

    def forget(self, *, all_but_last: int) -> bool:
        logs = self._fixpoints.logs
        logs.tell_nothing()
        before = len(logs)
        logs.clear(all_but_last=all_but_last)
        return len(logs) < before

    def _choose(self, search: Search, settings: Landmarks) -> None:
        """Begin with as many landmarks as there should be, or as there are vertices for."""
        adjacency, count = self._graph.adjacency, self._graph.vertices
        degrees = adjacency.out.live[:count] + adjacency.into.live[:count]
        order = np.argsort(-degrees, kind="stable")[: settings.count]
        if settings.choice == "degree":
            self._begin(search, [int(vertex) for vertex in order if degrees[vertex] > 0])
            return
        near = np.full(count, np.inf)
        vertex = int(order[0])
        while len(self.vertices) < settings.count and degrees[vertex] > 0:
            self._start(search, vertex, self._along)
            self.vertices.append(vertex)
            reached, _, costs = self._fixpoints.collect(len(self.vertices) - 1)
            near[reached] = np.minimum(near[reached], costs)
            vertex = int(np.argmax(np.where(np.isfinite(near), near, -1.0)))
            if near[vertex] == 0.0:
                break
        self._turn(search)

    def _begin(self, search: Search, vertices: list[int]) -> None:
        for vertex in vertices:
            self._start(search, vertex, self._along)
        self.vertices = vertices
        self._turn(search)

    def _turn(self, search: Search) -> None:
        """Search against walks as well, where that is something else."""
        for vertex in self.vertices if self._along != self._against else ():
            self._start(search, vertex, self._against)

    def _start(self, search: Search, vertex: int, automaton: Automaton) -> None:
        given = Search(vertex, automaton, search.codes, search.label, search.weight)
        number = self._fixpoints.enter(given)
        self.looks += self._fixpoints.start(number, given)


class LandmarkIndexes:
    """The indexes of a graph, by a search of those whose walks they are of."""

    def __init__(self, graph: ResidentGraph, labels: LabelColumn, budget: Budget) -> None:
        self._graph, self._labels, self._budget = graph, labels, budget
        self.settings: Landmarks | None = None
        self.begun = 0
        """How often an index has begun."""
        self._indexes: dict[int, LandmarkIndex] = {}
        self._lacking = False

    @property
    def nbytes(self) -> int:
        return sum(index.nbytes for index in self._indexes.values())

    @property
    def vertices(self) -> list[int]:
        return [vertex for index in self._indexes.values() for vertex in index.vertices]

    @property
    def lacks_room(self) -> bool:
        return self._lacking

    def set(self, settings: Landmarks | None) -> None:
        if settings != self.settings:
            self.clear()
        self.settings, self._lacking = settings, False

    def try_again(self) -> None:
        """Let indexes begin again: there may be room now."""
        self._lacking = False

    def marks(self, shape: int) -> Marks:
        return self._indexes[shape].marks if shape in self._indexes else NO_MARKS

    def prepare(self, shape: int, search: Search, slack: float) -> None:
        """Begin an index on the graph as it is, unless there is one or none is wanted.

        LacksRoomError where it would fit if others gave something up.
        """
        if self.settings is None or self._lacking or shape in self._indexes:
            return
        used, left, most = self._budget.used, self._budget.left, self._budget.most
        wanted = self._most_bytes()
        if most is not None and 2 * wanted > most:
            self._lacking = True
            return
        if left is not None and left < wanted:
            raise LacksRoomError(wanted - left)
        try:
            fixpoints = Fixpoints(self._graph, self._labels, self._budget)
            index = LandmarkIndex(self._graph, fixpoints, search, self.settings, slack)
        except BaseException:
            self._budget.give(self._budget.used - used)
            raise
        self._indexes[shape] = index
        self.begun += 1

    def _most_bytes(self) -> int:
        """The bytes that an index takes at most while it begins."""
        assert self.settings is not None
        entries = 2 * self.settings.count * self._graph.vertices
        return _LEAST + 2 * WIDE * entries + _BY_VERTEX * self._graph.vertices

    def move(self, shape: int, to: int | None) -> None:
        """Know an index by another search, as the one before goes; None where it was the last."""
        if to is None:
            self._end(shape)
        elif shape in self._indexes:
            self._indexes[to] = self._indexes.pop(shape)

    def _end(self, shape: int) -> None:
        """Give up an index, if there is one."""
        index = self._indexes.pop(shape, None)
        self._budget.give(0 if index is None else index.nbytes)

    def follow(self, delta: Delta) -> int:
        """Follow a graph that has been flipped; how many edges were looked at."""
        looked = 0
        for shape, index in list(self._indexes.items()):
            try:
                index.follow(delta)
            except LacksRoomError:
                self._lacking = True
                self._end(shape)
            except TakesLongError:
                self._end(shape)
            except BaseException:
                self.clear()
                raise
            looked += index.touched
        return looked

    def undo(self, vertices: int) -> None:
        """Go back by one advance; indexes that cannot go back begin anew when they are asked."""
        for shape, index in list(self._indexes.items()):
            try:
                stays = index.undo(vertices)
            except LacksRoomError:
                stays = False
            if not stays:
                self._end(shape)

    @property
    def undo_bytes(self) -> int:
        return sum(index.undo_bytes for index in self._indexes.values())

    def forget(self, *, all_but_last: int = 0) -> bool:
        given = [item.forget(all_but_last=all_but_last) for item in self._indexes.values()]
        return any(given)

    def clear(self) -> bool:
        there = bool(self._indexes)
        for shape in list(self._indexes):
            self._end(shape)
        return there

    def give_up(self) -> bool:
        """Make room, and take none until there is another budget; whether there was an index."""
        self._lacking = self._lacking or bool(self._indexes)
        return self.clear()

    def leave_out(self) -> None:
        """Give up all indexes until there is another budget."""
        self.clear()
        self._lacking = True


def turned(automaton: Automaton) -> Automaton:
    """The automaton, of one state, of the same walks from their ends."""
    (row,) = automaton.steps
    swapped = tuple(row[at ^ 1] for at in range(len(row)))
    return Automaton(automaton.letters, (swapped,), automaton.accepting)


def bounds_of(marks: Marks, source: int, target: int) -> tuple[float, float]:
    bounds: NDArray[np.float64] = np.empty(2)
    bounds_between(marks, source, target, bounds)
    return float(bounds[0]), float(bounds[1])
