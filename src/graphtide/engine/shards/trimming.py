"""Selecting programs on shards where a view loses edges: what goes, before the rest goes on.

Every vertex has a level: the superstep in which its value last changed, counted on from view to
view. When a vertex changes, a neighbour has brought the new value in the superstep before. So there
is a neighbour that brings it and has the same value and a lower level, or a better value, and stays
one: if the neighbour changes again, its value was no worse and is now better. Mirrors need no
messages for their levels: whoever takes in a state knows the superstep.

Where edges are deleted, vertices that lost one are asked for such a support, round by round until
no task has anybody left (`templates/own_trimming.py`). What stays has come along live edges from a
start, so that it is no better than the results of the view; supersteps from there end with these,
as they do from a view that the next one contains. What falls is sent to mirrors like any change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES
from graphtide.engine.code import OWN_TRIMMING
from graphtide.engine.inputs import target_slabs
from graphtide.engine.shards.exchange import MirrorExchange
from graphtide.engine.shards.forms import Inputs
from graphtide.engine.shards.local_graph import LocalGraph
from graphtide.kernels.blocks import Block
from graphtide.kernels.fixpoint.records import Context
from graphtide.kernels.shards.records import Held
from graphtide.plan.expressions import ValueType

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Trimmed(NamedTuple):
    """How many rounds there were, how many vertices of all tasks fell, and which own ones."""

    rounds: int
    fallen: int
    own: Int32


class Trimming:
    """One program on one view; changes rows and levels in place."""

    def __init__(
        self,
        given: Inputs,
        graph: LocalGraph,
        exchange: MirrorExchange,
        rows: Int64,
        level: Int64,
    ) -> None:
        selection = given.code.selection
        assert selection is not None
        self._type = selection.type
        self._module = given.code.module(OWN_TRIMMING)
        self._exchange = exchange
        self._rows = rows
        self._reach = given.version.reach
        self._read = Block(tuple(given.read.arrays), _targets(given, graph))
        self._context = Context(given.version.graph, self._read.words)
        self._held = Held(
            value=self._values(rows),
            level=level,
            line=np.empty(given.owned, np.int32),
            waiting=np.zeros(given.owned, np.bool_),
            fallen=np.empty(given.owned, np.int32),
        )

    def run(self, losers: Int32, most: int, look: Callable[[], object]) -> Trimmed:
        """Let fall what has no support; `losers` are the own vertices that lost an edge.

        Broken off, in all tasks alike, where more than `most` fall. `look` is called in every
        round.
        """
        told, rounds, total = np.empty(0, np.int32), 0, 0
        own = [told]
        while True:
            look()
            count, _ = self._module.trim_own(self._context, self._reach, self._held, losers, told)
            fallen = self._held.fallen[:count].copy()
            own.append(fallen)
            self._rows[fallen, 0] = self._words(self._held.value[fallen])
            found, told = self._exchange.changed(self._rows, fallen, (count,), exact=True)
            self._held.value[told] = self._values(self._rows[told])
            self._held.level[told] = 0
            losers, rounds = np.empty(0, np.int32), rounds + 1
            total += int(found.total[0])
            if not found.total[0] or total > most:
                return Trimmed(rounds, total, np.concatenate(own))

    def _values(self, rows: Int64) -> NDArray[Any]:
        """Rows of one word as the values that kernels compare; a copy."""
        words: NDArray[Any] = rows[:, 0].copy()
        return words != 0 if self._type is ValueType.BOOL else words.view(FIELD_TYPES[self._type])

    def _words(self, values: NDArray[Any]) -> Int64:
        if self._type is ValueType.BOOL:
            return values.astype(np.int64)
        return values.view(np.int64)


def _targets(given: Inputs, graph: LocalGraph) -> tuple[NDArray[Any], ...]:
    """Where messages look for the vertex that an edge leads to, if they read anything of it.

    They take it from slots and neighbours (`engine.inputs`), here of all edges by number. Where
    messages go both ways, they take the end that is not the source.
    """
    wanted = len(target_slabs(given.program))
    if not wanted:
        return ()
    own, other = graph.ends()
    slots = np.arange(len(own), dtype=np.int32)
    return (slots, own) if wanted == 1 else (slots, own, slots, other)
