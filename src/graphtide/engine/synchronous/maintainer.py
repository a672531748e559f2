"""The maintainer of any vertex program, every iteration kept: sums, products, arrays, anything.

It keeps the history of every vertex, state and accumulators, as rows that are stored only where
they change. An advance corrects them iteration by iteration (`synchronous_refining`), in proportion
to what changes; where that comes to more than running anew, it runs anew. Two knobs:

- `tolerance`: a state that would move by no more than this share of itself stays, and nothing is
  sent on. The result of a linear program with positive messages, such as PageRank, is then
  within (1 - tolerance) ** -iterations - 1 of the true one, relatively, after any number of
  advances.
- `keep`: rows are kept up to this iteration only, and every advance computes the iterations after
  it again, which costs up to a run of them from scratch.

With neither, every iteration equals that of a run from scratch. Ints and truth values do exactly.
Sums and products of floats are kept with twice the digits, and evaluated anew before corrections
could reach the last one: an accumulator is off by at most one unit in the last place, plus
n * n * 2^-104 of the sum of its n absolute messages. A run by the book, which rounds at every
addition, is off by up to n * 2^-53 of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Changes, first_difference
from graphtide.engine.experience import Experience
from graphtide.engine.lanes.groups import LaneGroups, lane_groups
from graphtide.engine.lanes.single_version import SingleVersion, single_version
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.refining import Refining, TooDearError
from graphtide.engine.synchronous.results import field_changes
from graphtide.engine.synchronous.runs import SynchronousRuns, Version
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
_ROUNDING = 1e-9
_SHARE, _LEAST_BUDGET = 128, 1024
"""An advance looks at no more than this part of the edges that a run from scratch looks at, or at
this many: an edge costs it some 30 times as much, as measured on graphs of a million edges."""


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back: how to undo it, and what it changed.

    `refining` is None where the version before it was put aside as a whole.
    """

    before: Version
    refining: Refining | None
    changed: Int32
    old: Int64


class SynchronousMaintainer(Maintainer):
    """A program on a graph in memory, with the history of every vertex.

    `touched` is the number of edges that the last advance looked at, `budget` how many it may
    before it runs anew; None leaves that to the size of a run from scratch.
    """

    def __init__(
        self,
        graph: ResidentGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        *,
        iterations: int | None = None,
        tolerance: float = 0.0,
        keep: int | None = None,
    ) -> None:
        if not 0 <= tolerance < float("inf"):
            raise InputError(f"the tolerance cannot be {tolerance}", hint="give 0 or more")
        super().__init__(graph, tuple(item.name for item in program.state))
        self.program = program
        self.tolerance = tolerance
        self.budget: int | None = None
        self._runs = SynchronousRuns(graph, program, parameters, iterations, keep)
        self._experience = Experience()

    @property
    def kernels(self) -> Any:
        """The compiled module that runs the program and keeps every iteration."""
        return self._runs.kernels

    @property
    def reached(self) -> int:
        """The last iteration of the run of this version."""
        return self._version.reached

    @property
    def share(self) -> float:
        """By which share of itself a result may be off for the tolerance."""
        if self.tolerance == 0.0:
            return 0.0
        return (1 - self.tolerance) ** -self.reached - 1 if self.tolerance < 1 else float("inf")

    def values(self, field: str | None = None) -> NDArray[Any]:
        """A state field of every vertex, a row a vertex where it is an array."""
        results = self._version.stored.results.view
        return self._runs.columns.values(results, field or self.fields[0])

    def history(self, field: str) -> list[NDArray[Any]]:
        """A state field after every iteration whose rows are kept, iteration 0 included."""
        runs, work, iterations = self._runs, self._runs.work(), []
        histories = self._version.stored.histories
        for iteration in range(min(self.reached, runs.ending.kept) + 1):
            self.kernels.load_layer(runs.context, work, histories, iteration)
            iterations.append(runs.columns.values(runs.states_of(work).copy(), field))
        return iterations

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        super().forget()
        self._version = self._runs.fresh()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the graph's present version by state field, at full speed.

        Keeps nothing and leaves the maintainer's state alone. Sums of floats are plain here.
        """
        single, columns = self._single, self._runs.columns
        states = single.states() if single is not None else self._runs.states(plain=True)
        return {
            name: np.ascontiguousarray(columns.values(states, name)) for name in columns.names()
        }

    @cached_property
    def lanes(self) -> LaneGroups | None:
        """Runs from scratch on several versions at once; None where the program has no such."""
        return lane_groups(self._runs)

    @cached_property
    def _single(self) -> SingleVersion | None:
        return single_version(self._runs)

    def follow(self, delta: Delta) -> Changes:
        """Bring all histories up to date with a graph that has been flipped already.

        Vertices that the graph has got since are not reported where they keep the state that they
        have without edges. After an error everything is as it was. Where batches of about this
        size came out too dear again and again, correcting is not tried, unless a budget is given.
        """
        refining, edges = Refining(self._runs, self._version, self.tolerance), len(delta.sources)
        worth_trying = self.budget is not None or self._experience.worth_trying(edges)
        try:
            refining.add_vertices()
            if not worth_trying:
                return self._run_anew(refining)
            try:
                refining.refine(delta, self._budget())
                changed, old = refining.finish()
            except TooDearError:
                self._experience.learn(edges, broken_off=True)
                return self._run_anew(refining)
            self._experience.learn(edges, broken_off=False)
        except GraphtideError:
            refining.put_back()
            raise
        self.touched = refining.looked
        self._keep(_Done(self._version, refining, changed, old))
        return self._changes(changed, old)

    def _keep(self, done: _Done) -> None:
        """Keep what undoes an advance; a version that is corrected is not its own."""
        kept = done.before.stored if done.refining is None else done.refining
        self._done.append(done, kept.nbytes + done.changed.nbytes + done.old.nbytes)

    def _put_back(self, done: _Done) -> None:
        self._version = done.before
        if done.refining is not None:
            self._version.stored.results.view[done.changed] = done.old
            done.refining.put_back()
        self._runs.parameters.resize(self._version.stored.vertices)

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        self._version.stored.sweep(
            lambda: [
                done.refining.undo
                for done in self._done.entries(
                    lambda done: done.refining is not None and done.before is self._version
                )
            ]
        )

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference.

        Floats may differ by rounding, and by what the tolerance lets them.
        """
        columns, other = self._runs.columns, self._runs.states(plain=False)
        values = {name: self.values(name) for name in columns.names()}
        expected = {name: columns.values(other, name) for name in values}
        difference = first_difference(values, expected, self.share + _ROUNDING)
        if difference is not None:
            name, at = difference
            raise AssertionError(
                f"vertex {at} has {name} = {values[name][at]}, from scratch {expected[name][at]}"
            )

    def _budget(self) -> int:
        if self.budget is not None:
            return self.budget
        return max(_LEAST_BUDGET, self._version.gathered // _SHARE)

    def _run_anew(self, refining: Refining) -> Changes:
        """A run from scratch instead; the version before is put aside as it was."""
        old = self._version.stored.results.view.copy()
        refining.put_back()
        fresh = self._runs.fresh()
        results = fresh.stored.results.view
        changed = np.flatnonzero((results != old).any(axis=1)).astype(np.int32)
        self.touched = refining.looked + fresh.gathered
        self._keep(_Done(self._version, None, changed, old[changed]))
        self._version = fresh
        return self._changes(changed, old[changed])

    def _changes(self, changed: Int32, old: Int64) -> Changes:
        results = self._version.stored.results.view
        return field_changes(self._runs.columns, changed, old, results[changed])
