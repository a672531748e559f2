"""A vertex program from scratch over a lean graph, by several threads.

The answer is that of its definition, synchronously; its bits do not depend on how many threads
there are. Sums of floats are plain, in the order of rows: off by up to n * 2^-53 of the sum of
their n absolute messages.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES, GrowingParameters, Vertices
from graphtide.engine.code import program_code
from graphtide.engine.lean.components import component_labels
from graphtide.engine.lean.modules import module_of
from graphtide.engine.lean.offers import OfferedRun, has_offers
from graphtide.engine.lean.rounds import Module, Rounds
from graphtide.engine.lean.workers import Workers
from graphtide.engine.synchronous.ending import MOST_ITERATIONS, run_ending
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.results import Columns, typed_parameters
from graphtide.engine.synchronous.row_layout import row_layout
from graphtide.engine.vertex_data import NoData, VertexData
from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.programs import AccumulatorKind, VertexProgram

COMPONENTS = "components by union-find"
OFFERS = "offers of those that got better"
ROUNDS = "rounds in which every vertex gathers from its neighbours"


class _Vertices:
    """So many vertices and what the data say of them: what parameters are bound to."""

    def __init__(self, vertices: int, vertex_data: VertexData) -> None:
        self.vertices = vertices
        self.vertex_data = vertex_data


class LeanRun:
    """One program with its parameters on a lean graph; `iterations` is how many were run."""

    def __init__(
        self,
        lean: LeanGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        vertex_data: VertexData | None = None,
        *,
        settles: bool = False,
    ) -> None:
        """`settles`: the edges meet the conditions under which no message overtakes its source."""
        self._settles = settles
        self._lean, self._program = lean, program
        self._code, self._facts = program_code(program), synchronous_facts(program)
        self._named = typed_parameters(program, parameters)
        self._ending = run_ending(program, self._named, None, None)
        vertices: Vertices = _Vertices(lean.vertices, vertex_data or NoData())
        self._parameters = GrowingParameters(vertices, program, tuple(self._named.values()))
        self.iterations = 0
        self.way = ROUNDS
        """How the run computes, or has computed: one of the three ways above."""

    def values(self, workers: Workers) -> dict[str, NDArray[Any]]:
        """The result of every vertex, by state field. The arrays are the caller's."""
        selection = self._code.selection
        if selection is not None and self._ends_by_itself():
            if self._code.labels_components:
                self.way = COMPONENTS
                sign = 1 if selection.kind is AccumulatorKind.MIN else -1
                labels = component_labels(self._lean, sign, workers)
                return {selection.state: labels.astype(FIELD_TYPES[selection.type])}
            if self._settles and has_offers(self._program, selection):
                self.way = OFFERS
                run = OfferedRun(self._lean, self._code, self._parameters, workers)
                return {selection.state: run.values()}
        self.way = ROUNDS
        module = module_of(self._code, self._lean, self._named, self._parameters)
        rounds = Rounds(self._lean, module, self._facts, self._ending, workers)
        rounds.begin()
        while rounds.goes_on():
            rounds.run_one()
            self._check_fault(module)
        self.iterations = rounds.iteration
        self._check_limit(rounds)
        return self._columns(module)

    def _ends_by_itself(self) -> bool:
        return not self._ending.bounded and self._ending.settle == 0

    def _columns(self, module: Module) -> dict[str, NDArray[Any]]:
        layout, vertices = row_layout(self._program, plain=True), self._lean.vertices
        width = layout.state_width.value(self._named)
        rows = module.work.states.whole[: vertices * width].reshape(vertices, width)
        columns = Columns(layout, self._named)
        return {name: columns.values(rows, name) for name in columns.names()}

    def _check_fault(self, module: Module) -> None:
        fault = getattr(module.context, "fault", None)
        if fault is None or fault[0] == 0:
            return
        _, index, length = fault.tolist()
        raise InputError(
            f"{self._program.name}: index {index} is outside of an array of {length}",
            hint="check what is used as an index, or give the array another size",
        )

    def _check_limit(self, rounds: Rounds) -> None:
        ended = self._ending.bounded or rounds.resting or rounds.iteration < MOST_ITERATIONS
        if not ended:
            raise LimitError(
                f"{self._program.name} still changes after {MOST_ITERATIONS:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )
