"""What the last advances of a live graph did, so that a rollback can be one more advance.

Edges have numbers that they keep until a compaction. An edge that a rollback brings back gets
another one: then earlier advances know it by that. Which vertices leave is told by records, of
which some may not be on the disk yet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.engine.undo_stack import UndoStack
from graphtide.model.errors import InputError
from graphtide.run.durable.records import Record
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.steps import Counts, counts_of, values_before
from graphtide.run.durable.tables import Numbers
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.undo import Undo, UndoBounds


class Undoable(NamedTuple):
    """What an advance did: edges that came and edges that went, by number, vertices that were to
    stay before and leave now, those that were to leave or were not there and stay now, and what
    vertices had before that got other values.

    `version` is that of the graph in memory behind it.
    """

    version: int
    came: Numbers
    gone: Numbers
    left: list[int]
    stays: list[int]
    before: pa.Table | None = None


class UndoableAdvances:
    """The last advances, in their order; those that are not on the disk yet among them."""

    def __init__(self, undo: Undo) -> None:
        self._advances = UndoStack()
        self._bounds = UndoBounds(undo)
        self._leaves: dict[int, bool] = {}
        """Vertices of which records that are not on the disk yet say that they leave, or stay."""

    @property
    def last(self) -> Undoable | None:
        """The last advance, None where none can be rolled back."""
        return self._advances.last if self._advances else None

    def refusal(self) -> InputError:
        """The error for whoever rolls back where none can be."""
        return self._bounds.refusal("those of this process since the last checkpoint can be")

    def clear(self) -> None:
        """Forget all advances."""
        self._advances.forget()
        self._bounds.clear()

    def on_disk(self) -> None:
        """All records are on the disk: the state of the graph says who leaves."""
        self._leaves.clear()

    def find_returned(self, record: Record, state: LiveState) -> None:
        """Vertices that were to leave, or leave by this record, and that it names again, stay."""
        facts = record.facts
        left = set(facts.get("left", ()))
        if "rollback" in facts or not (left or state.leaving or self._leaves):
            return
        named = [] if record.edges is None else [record.edges.column(at) for at in (0, 1)]
        named += [] if record.changed is None else [record.changed.column(0)]
        ends = {end for column in named for end in column.to_pylist()}
        back = sorted(end for end in ends if end in left or self._is_leaving(end, state))
        if back:
            facts["back"] = back

    def _is_leaving(self, vertex: int, state: LiveState) -> bool:
        return self._leaves.get(vertex, vertex in state.leaving)

    def note(self, graph: MemoryGraph, record: Record, before: Counts, state: LiveState) -> None:
        """Keep what a rollback needs, and who leaves by what is not on the disk yet."""
        now, facts = counts_of(graph), record.facts
        after = dict.fromkeys(facts.get("left", ()), True)
        after |= dict.fromkeys(facts.get("back", ()), False)
        were = {vertex: self._is_leaving(vertex, state) for vertex in after}
        left = [vertex for vertex, leaves in after.items() if leaves > were[vertex]]
        stays = [vertex for vertex, leaves in after.items() if leaves < were[vertex]]
        stays += range(before.vertices, now.vertices)
        self._leaves |= after
        came = np.arange(before.edges, now.edges, dtype=np.int32)
        version, values = graph._versions.current, values_before(graph)
        self._advances.append(Undoable(version, came, record.deleted, left, stays, values))

    def set_bounds(self, undo: Undo) -> None:
        """Keep advances within other bounds from now on."""
        self._bounds = UndoBounds(undo)
        self.forget_oldest()

    def forget_oldest(self) -> None:
        """Keep no more than the bounds allow; all are on the disk."""
        while self._bounds.exceeded(len(self._advances), self._advances.nbytes):
            self._advances.forget(len(self._advances) - 1)

    def take_back(self, version: int) -> None:
        """Forget the advances behind a version, which the graph in memory went back to."""
        while self._advances and self._advances.last.version > version:
            undone = self._advances.pop()
            self._leaves |= dict.fromkeys(undone.left, False) | dict.fromkeys(undone.stays, True)

    def forget_undone(self, undone: Undoable) -> None:
        """Leave out an advance that was taken back, and the one that took it back."""
        came = self._advances.pop().came
        self._advances.pop()
        self._renumber(undone.gone, came)

    def _renumber(self, before: Numbers, now: Numbers) -> None:
        """Let earlier advances know the edges that they brought by the numbers that these have."""
        if not len(before):
            return
        order = np.argsort(before)
        for came in (item.came for item in self._advances.entries()):
            place = np.searchsorted(before, came, sorter=order)
            places = order[np.minimum(place, len(before) - 1)]
            came[:] = np.where(before[places] == came, now[places], came)
