"""Selecting programs over a lean graph: rounds of offers by all workers, or a queue by one.

Right where messages are monotone and never overtake their source, as in fixpoint mode, on edges
that meet the conditions of the proof: the caller has checked both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, read_block
from graphtide.engine.code import LEAN_OFFERS, ProgramCode
from graphtide.engine.inputs import target_slabs
from graphtide.engine.lean.modules import edge_columns
from graphtide.engine.lean.parts import listed_parts, vertex_parts
from graphtide.engine.lean.workers import Workers
from graphtide.engine.sections import is_uniform
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.kernels.heap import Keyed
from graphtide.kernels.lean.records import Offers, OffersContext, Span
from graphtide.plan.expressions import FLOAT, INT
from graphtide.plan.program_analysis import Selection
from graphtide.plan.programs import VertexProgram

PULL_SHARE = 16
"""All vertices pull once those that make offers have more than one edge in this many."""
FEW = 1 << 12
"""One thread takes rounds of up to this many vertices, with a queue."""
NEAREST = 1 << 17
"""So many of those that wait make their offers in a round, the best of them (Dong and others,
rho-stepping, 2021), where edges carry different things."""
_AT_ONCE, _ASKED = 1 << 22, 1024


def has_offers(program: VertexProgram, selection: Selection) -> bool:
    """False where messages look at their target, or values are no words of the processor's."""
    return selection.type in (INT, FLOAT) and not target_slabs(program)


class OfferedRun:
    """One run of a selecting program."""

    def __init__(
        self, lean: LeanGraph, code: ProgramCode, parameters: GrowingParameters, workers: Workers
    ) -> None:
        assert code.selection is not None
        self._lean, self._workers = lean, workers
        self._kernels = code.module(LEAN_OFFERS)
        read = read_block(edge_columns(lean, code.plan), parameters).words
        self._context = OffersContext(lean.out, lean.into, read)
        words = np.zeros(-(-lean.vertices // 8), np.uint64)
        self._offers = Offers(
            value=np.empty(lean.vertices, FIELD_TYPES[code.selection.type]),
            listed=np.empty(8 * len(words), np.int32),
            marked=words.view(np.uint8),
            words=words,
        )
        facts = synchronous_facts(code.plan)
        self._along = facts.forward + facts.backward
        self._pulling = vertex_parts(lean, forward=facts.forward, backward=facts.backward)
        self._uniform = is_uniform(code.selection)
        room = 0 if self._uniform else 16 * FEW
        self._heap = Keyed(np.empty(room, np.int32), np.empty(room, self._offers.value.dtype))

    def values(self) -> NDArray[Any]:
        """The value of every vertex."""
        value: NDArray[Any] = self._offers.value
        if not self._lean.vertices:
            return value
        self._phase(self._kernels.begin_values, self._pulling)
        size, edges, alike = self._listed()
        while size:
            if size > FEW or not self._alone(size):
                self._round(size, edges, alike=alike)
            size, edges, alike = self._listed()
        return value

    def _round(self, size: int, edges: int, *, alike: bool) -> None:
        """Offers by all workers."""
        share = PULL_SHARE * edges > self._along * self._lean.edges
        if self._uniform and alike and share:
            self._phase(self._kernels.pull_range, self._pulling)
            return
        if not self._uniform and size > NEAREST:
            size, edges = self._nearest(size), edges * NEAREST // size
        self._phase(self._kernels.push_range, listed_parts(size, size + edges))

    def _nearest(self, size: int) -> int:
        """Let only the best of those listed make their offers now; how many that are.

        The others are marked again: until it is their turn they may have got better, and all that
        they said before would have been in vain.
        """
        listed, sign = self._offers.listed, self._kernels.SIGN
        keys = sign * self._offers.value[listed[:size]]
        sample = np.sort(keys[:: max(1, size // _ASKED)])
        near = keys <= sample[len(sample) * NEAREST // size]
        self._offers.marked[listed[:size][~near]] = 1
        chosen = listed[:size][near]
        listed[: len(chosen)] = chosen
        return len(chosen)

    def _alone(self, size: int) -> bool:
        """Let one thread make offers, until too many wait for it; False if it could make none."""
        given = self._context, self._offers
        if self._uniform:
            self._kernels.run_queue(*given, size, 4 * FEW, _AT_ONCE)
            return True
        _, done = self._kernels.run_heap(*given, self._heap, size, _AT_ONCE)
        return bool(done) or self._unmark(size)

    def _phase(self, kernel: Any, parts: list[Span]) -> list[Any]:
        context, offers = self._context, self._offers
        return self._workers.each(lambda part: kernel(context, offers, part), parts)

    def _listed(self) -> tuple[int, int, bool]:
        """List the marked: how many, with how many edges to offer along, all with one value?"""
        listed, value = self._offers.listed, self._offers.value
        parts = listed_parts(len(self._offers.words), self._lean.vertices)
        found = self._phase(self._kernels.list_marked, parts)
        size, levels = 0, set()
        for part, (count, _, _) in zip(parts, found, strict=True):
            if count:
                first = 8 * part.first
                listed[size : size + count] = listed[first : first + count]
                levels.add(value[listed[size]].item())
                size += count
        alike = len(levels) == 1 and all(same for _, _, same in found)
        return size, sum(int(edges) for _, edges, _ in found), alike

    def _unmark(self, size: int) -> bool:
        """Those listed are to make their offers in a round instead."""
        self._offers.marked[self._offers.listed[:size]] = 0
        return False
