"""The maintainer of programs that add up and settle: values with a residual each.

Right where the plan proves a contraction (`plan.settling_sums`): then a residual of no more than a
share t of the base at every vertex means that every value is within t of the true one, relatively,
after any number of advances. The true one is the fixpoint, which no number of iterations reaches.
Where bases may be 0, it is within t of the true one and a floor besides.

Residuals are corrected by what edges carry, and each correction is rounded. `DRIFT` adds up a bound
on what that may have come to at any vertex; a sixteenth of the tolerance is set apart for it, and
before it is used up all residuals are pulled anew. Values and shares are rounded as well: beside
the tolerance, results are off by a few units in the last place for each edge on the way to them.

Whom an advance pushes, and when, is the business of `schedule`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, change_between
from graphtide.engine.code import generated_module, generated_source
from graphtide.engine.inputs import GrowingParameters, KernelInputs
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.schedule import Schedule, SummedAdvance, SummedState, residual_limit
from graphtide.engine.source import Places, directions, program_function, write_expression
from graphtide.kernels.blocks import Block
from graphtide.kernels.fixpoint.residuals import MOVES, TOUCHED
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import VertexProgram
from graphtide.plan.settling_sums import (
    SettlingSum,
    settling_sum,
    why_not_settling_sum,
    with_equal_bases,
)

_DEGREES = {
    "out_degree": "np.int64(graph.out.live[source])",
    "in_degree": "np.int64(graph.into.live[source])",
    "degree": "(np.int64(graph.out.live[source]) + np.int64(graph.into.live[source]))",
}


def residual_section(program: VertexProgram, found: SettlingSum) -> str:
    """`base`, `share` and the ways that edges are taken."""
    places = _places(program)
    base = f"np.float64({write_expression(found.base, places)})"
    share = f"np.float64({write_expression(found.share, places)})"
    return "\n".join(
        [
            *directions(program),
            *program_function("np.float64", "base(vertex, read)", base),
            *program_function("np.float64", "share(source, graph, read)", share),
        ]
    )


def _places(program: VertexProgram) -> Places:
    """Names as they are in functions of one vertex: plain arguments."""
    inputs = KernelInputs(program)

    def vertex(which: str) -> str:
        return "source" if which == "u" else "vertex"

    def refuse(*_: object) -> str:
        raise AssertionError("a settling sum has no such thing")

    def refuse_send(*_: object) -> list[str]:
        raise AssertionError("a settling sum sends by its shares alone")

    def fact(which: str, name: str) -> str:
        return f"np.int64({vertex(which)})" if name == "id" else _DEGREES[name]

    return Places(
        parameter=inputs.parameter,
        edge_property=refuse,
        state=refuse,
        accumulator=refuse,
        fact=fact,
        vertex_property=lambda which, name: inputs.vertex_property(name, vertex(which)),
        text=inputs.text,
        member=lambda which, name: f"{inputs.parameter(name)}[{vertex(which)}]",
        assign=refuse,
        send=refuse_send,
    )


Int64 = NDArray[np.int64]


class ResidualMaintainer(Maintainer):
    """A settling sum on a graph in memory, within its tolerance after every advance."""

    def __init__(
        self, graph: ResidentGraph, bound: BoundProgram, parameters: tuple[Any, ...]
    ) -> None:
        self._sum = _checked(bound)
        self._field = self._sum.state
        super().__init__(graph, (self._field,))
        self.program = bound.program
        self.tolerance = bound.tolerance
        self._given = parameters
        self._parameters = GrowingParameters(graph, bound.program, parameters)
        self._state = self._new_state()
        self._block: Block | None = None
        self._seen: tuple[Any, Any] = None, None

    @cached_property
    def kernels(self) -> Any:
        section = residual_section(self.program, self._sum)
        return generated_module(
            generated_source(section, "residual", "residual_pushes"), self.program.name
        )

    @cached_property
    def _schedule(self) -> Schedule:
        return Schedule(self.kernels, self.graph, self._sum, self.tolerance, self.program.name)

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex; a view of the state, not a copy."""
        assert field in (None, self._field)
        return self._state.record.summed.value

    def start(self) -> None:
        """Settle from scratch on the version that the graph is at; forgets what could be undone."""
        self.forget()
        self._state = self._new_state()
        self._run(self._state)

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the version that the graph is at, apart from the state."""
        state = self._new_state()
        self._run(state)
        return {self._field: state.record.summed.value}

    def follow(self, delta: Delta) -> Changes:
        """Bring the values up to date with a graph that has been flipped."""
        state, before = self._state, self._state.vertices
        measures = state.measures()
        self._add_vertices(state)
        state.begin_advance()
        try:
            self._schedule.follow(self._words(state), state, delta)
        except GraphtideError:
            state.record.mark[:] = 0
            self._put_back(SummedAdvance(state.replaced(), measures, before))
            raise
        self.touched = int(state.record.counts[TOUCHED])
        self._done.append(SummedAdvance(state.replaced(), measures, before))
        return {self._field: self._report()}

    def _report(self) -> Change:
        """Whose value moved: by the log, or by comparing with everything before."""
        record, copied = self._state.record, self._state.copied
        if copied is not None:
            record.mark[:] = 0
            return change_between(copied.value, record.summed.value)
        new = np.empty(int(record.counts[MOVES]))
        count = self.kernels.finish(self._words(self._state), new)
        moves = record.moves
        return Change(moves.vertex[:count].copy(), moves.value[:count].copy(), new[:count])

    def _put_back(self, done: SummedAdvance) -> None:
        state = self._state
        state.put_back(done.before)
        state.put_measures(done.measures)
        if done.vertices != state.vertices:
            state.fit(done.vertices)
            self._parameters.resize(done.vertices)

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference.

        Both are within the tolerance of the true values, and so within twice that of each other.
        """
        values, expected = self.values(), self.scratch()[self._field]
        beside = expected + self.beside_values()
        wrong = np.flatnonzero(np.abs(values - expected) > self.between * beside)
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {values[vertex]}, from scratch {expected[vertex]}"
            )

    def beside_values(self) -> NDArray[Any] | float:
        """What the tolerance is a share of besides the value; 0 where every base is above 0.

        It is what a vertex would have if every base were the floor, by that program's definition.
        """
        if not self._sum.floor:
            return 0.0
        program = with_equal_bases(self.program, self._sum)
        plain = plain_values(self.graph, program, self._given)[self._field]
        return self._sum.floor / self._sum.greatest * plain

    @property
    def between(self) -> float:
        """By which share two results may differ that are each within the tolerance."""
        return 2 * self.tolerance / (1 - self.tolerance)

    @property
    def spare(self) -> float:
        """The share by which values may still move, each time anew, and end within the tolerance.

        What is left of every move is sent on: all that follow come to move / (1 - factor).
        """
        return self.tolerance * (1 - self._sum.factor)

    def _new_state(self) -> SummedState:
        share = self.tolerance / (1 + self.tolerance)
        return SummedState(residual_limit(share), self._sum.floor)

    def _run(self, state: SummedState) -> None:
        self._add_vertices(state)
        self._schedule.run(self._words(state), state)

    def _add_vertices(self, state: SummedState) -> None:
        """Vertices that came later have their base and no edges yet, as far as is known here."""
        before, now = state.vertices, self.graph.vertices
        if before != now:
            state.fit(now)
            self._parameters.resize(now)
            self.kernels.begin(self._words(state), before)

    def _words(self, state: SummedState) -> Int64:
        """Where all that kernels work with is; written anew where any of it was replaced."""
        seen = self.graph.adjacency, state.record
        if self._block is None or any(
            one is not other for one, other in zip(seen, self._seen, strict=True)
        ):
            self._seen, self._block = seen, Block(*seen, self._parameters.arrays)
        return self._block.words


def _checked(bound: BoundProgram) -> SettlingSum:
    proved = settling_sum(bound)
    if proved is None:
        reason = why_not_settling_sum(bound)
        raise InputError(
            f"{bound.program.name} has no fixpoint mode: {reason}", hint="use exact mode"
        )
    return proved
