"""What the last advances of a live graph did, so that a rollback can be one more advance.

Edges have numbers that they keep until a compaction. An edge that a rollback brings back gets
another one: then earlier advances know it by that. Which vertices leave is told by records, of
which some may not be on the disk yet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.run.durable.records import Record
from graphtide.run.durable.state import LiveState
from graphtide.run.durable.steps import Counts, counts_of, values_before
from graphtide.run.durable.tables import Numbers
from graphtide.run.memory_graph import MemoryGraph

_MOST = 100


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

    def __init__(self) -> None:
        self._advances: list[Undoable] = []
        self._leaves: dict[int, bool] = {}
        """Vertices of which records that are not on the disk yet say that they leave, or stay."""

    @property
    def last(self) -> Undoable | None:
        """The last advance, None where none can be rolled back."""
        return self._advances[-1] if self._advances else None

    def clear(self) -> None:
        """Forget all advances."""
        self._advances.clear()

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

    def forget_oldest(self) -> None:
        """Keep no more than can be rolled back."""
        del self._advances[:-_MOST]

    def take_back(self, version: int) -> None:
        """Forget the advances behind a version, which the graph in memory went back to."""
        while self._advances and self._advances[-1].version > version:
            undone = self._advances.pop()
            self._leaves |= dict.fromkeys(undone.left, False) | dict.fromkeys(undone.stays, True)

    def forget_undone(self, undone: Undoable) -> None:
        """Leave out an advance that was taken back, and the one that took it back."""
        came = self._advances[-1].came
        del self._advances[-2:]
        self._renumber(undone.gone, came)

    def _renumber(self, before: Numbers, now: Numbers) -> None:
        """Let earlier advances know the edges that they brought by the numbers that these have."""
        if not len(before):
            return
        order = np.argsort(before)
        for at, item in enumerate(self._advances):
            place = np.searchsorted(before, item.came, sorter=order)
            places = order[np.minimum(place, len(before) - 1)]
            came = np.where(before[places] == item.came, now[places], item.came)
            self._advances[at] = item._replace(came=came.astype(np.int32))
