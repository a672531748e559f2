"""What searches answer, whichever way they are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.states import SearchStates
from graphtide.engine.queries.supports import Entry, entry_of
from graphtide.engine.queries.told import Change
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.queries.starting import Dense

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]


class Walk(NamedTuple):
    """Vertices by number, and the edges between them by inside number."""

    vertices: list[int]
    edges: list[int]


Path = Walk | None
Within = Callable[[Callable[[], Path]], Path]


class AnswerReader:
    """Reads the states of searches; `within` calls what takes room until there is some."""

    def __init__(self, states: SearchStates, within: Within) -> None:
        self._states, self._within = states, within

    def changed(self) -> set[int]:
        """The searches with an entry, or an answer, that the last advance changed."""
        return self._states.fixpoints.changed() | self._states.told.numbers()

    def before(self, number: int) -> Change:
        """The entries of a search that the last advance changed, as they were before it.

        Vertices, states and values, infinity where there was none; each entry once.
        """
        count = self._automaton_states(number)
        told = self._states.told.get(number, count)
        return self._states.fixpoints.before(number, count) if told is None else told

    def collect(self, number: int) -> Change:
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

    def path(self, number: int, target: int) -> Path:
        """A best walk to a target; None without one."""
        return self._within(lambda: self._path(number, target))

    def _path(self, number: int, target: int) -> Path:
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
    ) -> Path:
        accepting = self._states.records[number].search.automaton.accepting
        return traced(self._states.graph, accepting, target, entry_at)

    def _along(self, start: int, edges: Int32) -> Walk:
        walk = [start]
        ends = (part.tolist() for part in self._states.graph.ends(edges))
        for source, target in zip(*ends, strict=True):
            walk.append(target if source == walk[-1] else source)
        return Walk(walk, edges.tolist())

    def _automaton_states(self, number: int) -> int:
        return self._states.records[number].search.automaton.states


def traced(
    graph: ResidentGraph,
    accepting: frozenset[int],
    target: int,
    entry_at: Callable[[int, int], Entry | None],
) -> Path:
    """A best walk to a target, by the edges that entries came by; None if there is none."""
    ends = [(entry_at(target, state), state) for state in accepting]
    reached = [(entry.value, state) for entry, state in ends if entry is not None]
    if not reached:
        return None
    vertex, state, walk = target, min(reached)[1], Walk([target], [])
    while True:
        entry = entry_at(vertex, state)
        assert entry is not None, "an entry rests on one that is not there"
        if entry.edge < 0:
            return Walk(walk.vertices[::-1], walk.edges[::-1])
        src, dst = graph.ends(np.array([entry.edge], np.int32))
        vertex, state = int(dst[0] if entry.back else src[0]), entry.state
        walk.vertices.append(vertex)
        walk.edges.append(entry.edge)


def _entry(dense: Dense, item: int) -> Entry | None:
    came, via = int(dense.came[item]) - 2, int(dense.via[item])
    if came == -2:
        return None
    return Entry(float(dense.value[item]), came, via >> 1, bool(via & 1))
