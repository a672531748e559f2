"""The rounds of a run over a lean graph: phases, one after the other, each shared by the workers.

What a run computes is what `templates.ranges` says. Here is decided who takes part in a round:
where few vertices changed, those and whom they tell, by a list that one thread makes; else all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphtide.engine.lean.parts import Room, listed_parts, vertex_parts
from graphtide.engine.lean.workers import Workers
from graphtide.engine.synchronous.ending import Ending
from graphtide.engine.synchronous.facts import SynchronousFacts
from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.kernels.lean.records import Span, Told
from graphtide.kernels.synchronous.records import EVERYBODY

LISTED_SHARE = 16
"""A list is given up once more than one edge in so many has been looked at for it.

One thread makes it, at some 3 ns an edge, where all threads together take 1 ns or less to gather
along every edge.
"""


class Module(NamedTuple):
    """The kernels of a program, and what they are given."""

    kernels: Any
    context: Any
    work: Any
    room: Room


class Rounds:
    """A run of one program from its beginning to its end."""

    def __init__(
        self,
        lean: LeanGraph,
        module: Module,
        facts: SynchronousFacts,
        ending: Ending,
        workers: Workers,
    ) -> None:
        self._lean, self._module, self._facts = lean, module, facts
        self._ending, self._workers = ending, workers
        ways = {"forward": facts.forward, "backward": facts.backward}
        self._everybody = vertex_parts(lean, **ways, room=module.room)
        self._changed = EVERYBODY
        self.iteration = 0
        self.resting = False

    def begin(self) -> None:
        """Iteration 0."""
        self._phase(self._module.kernels.begin_range, self._everybody)

    def goes_on(self) -> bool:
        """Whether there is another round to run."""
        return self.iteration < self._ending.last and not self.resting

    def run_one(self) -> None:
        """The next iteration."""
        iteration, kernels = self.iteration + 1, self._module.kernels
        parts = self._taking_part(iteration)
        if self._facts.hoisted:
            self._phase(kernels.parcel_range, self._telling())
        else:
            self._phase(kernels.gather_range, parts)
        told = Told(iteration, self._ending.settle)
        counts = self._phase(kernels.update_range, parts, told)
        self._join_lists(parts, [changed for changed, _ in counts])
        self.iteration = iteration
        self.resting = not self._ending.patient and not any(moved for _, moved in counts)

    def _phase(self, kernel: Any, parts: list[Span], *more: Any) -> list[Any]:
        context, work = self._module.context, self._module.work
        return self._workers.each(lambda part: kernel(context, work, part, *more), parts)

    def _taking_part(self, iteration: int) -> list[Span]:
        """The parts of those that may change in an iteration."""
        few = 0 <= 4 * self._changed <= self._lean.vertices
        if not few or self._facts.reads_iteration:
            return self._everybody
        most = self._lean.edges // LISTED_SHARE + 1024
        module = self._module
        size = module.kernels.list_changed(
            module.context, module.work, self._changed, iteration, most
        )
        return self._everybody if size == EVERYBODY else self._listed(int(size))

    def _telling(self) -> list[Span]:
        """The parts of those whose parcels are not what they were."""
        return self._everybody if self._changed == EVERYBODY else self._listed(self._changed)

    def _listed(self, count: int) -> list[Span]:
        each = 1 + self._lean.edges // max(1, self._lean.vertices)
        return listed_parts(count, count * each, self._module.room)

    def _join_lists(self, parts: list[Span], counts: list[int]) -> None:
        """Move what parts listed at their own beginnings together."""
        changed, size = self._module.work.changed, 0
        for part, count in zip(parts, counts, strict=True):
            if count and size != part.first:
                changed[size : size + count] = changed[part.first : part.first + count]
            size += count
        self._changed = size
