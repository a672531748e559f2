"""A dataflow program on one graph: built, fed with edges and vertices, and asked for its values.

One batch brings it from any version of the graph to any other: it is fed what comes and what goes,
and has the values of the new version. It never looks at the graph itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.machine import DEFAULT_MEMORY
from graphtide.kernels.dataflow import layout
from graphtide.lang.python.dataflow_program import BoundDataflow, DataflowProgram
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import INT, ColumnType
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.counters import operator_facts
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.vertex_values import VertexValues

Int64 = NDArray[np.int64]
Columns = Mapping[str, NDArray[Any]]
_PYTHON = {"int": int, "float": float, "bool": bool}


class BuiltDataflow:
    """The dataflow of a program, not yet run; `parameters` have vertices by number."""

    def __init__(
        self,
        bound: BoundDataflow,
        parameters: Sequence[Any],
        *,
        memory: int = DEFAULT_MEMORY,
        coordinates: int = 1,
        debug: bool = False,
    ) -> None:
        program = bound.program
        flow = Dataflow(program.name, memory=memory, coordinates=coordinates, debug=debug)
        self.flow = flow
        types = {name: _PYTHON[kind.value] for name, kind in program.properties}
        self.edges: InputCollection = flow.input("edges", src=int, dst=int, **types)
        self.vertices: InputCollection | None = None
        given: list[Collection] = [self.edges]
        if program.takes_vertices:
            self.vertices = flow.input("vertices", node=int)
            given.append(self.vertices)
        names = [item.name for item in program.parameters]
        result = program.build(*given, **dict(zip(names, parameters, strict=True)))
        self.output = _checked(program, result).output(program.result.name)

    def take(self) -> Int64:
        """The rows put out since the last call: vertex, value, version and diff."""
        ports = self.flow.install().installed.ports
        return self.flow.host.crew.take(ports[self.output.number])

    def close(self) -> None:
        """Give all memory back to the system; nothing can be done with it any more."""
        self.flow.host.end()
        self.flow.clock.flows.clear()


class RunningDataflow:
    """A dataflow and the values of the version that it was last brought to.

    With `debug`, every batch is also evaluated in plain Python, and compared.
    """

    def __init__(
        self, bound: BoundDataflow, parameters: Sequence[Any], *, debug: bool = False
    ) -> None:
        self._built = BuiltDataflow(bound, parameters, debug=debug)
        self._found = VertexValues(bound.program)
        self._vertices = 0
        self._rows_before = 0
        self.touched = 0
        """Rows that operators took in during the last batch."""

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; overwritten by the next batch."""
        return self._found.values

    def feed(self, edges: Columns, diff: int) -> None:
        """Let edges come (1) or go (-1) in the next batch."""
        if len(edges["src"]):
            self._built.edges._change(edges, diff, None)

    def advance(self, vertices: int) -> Int64:
        """Go to the version that was fed, which has so many vertices; those that may differ."""
        before, self._vertices = self._vertices, vertices
        if self._built.vertices is not None and vertices != before:
            nodes = np.arange(min(before, vertices), max(before, vertices))
            self._built.vertices._change({"node": nodes}, 1 if vertices > before else -1, None)
        self._built.flow.advance()
        rows = self._built.take()
        self._found.resize(max(before, vertices))
        vertices_changed = self._found.take(rows)
        self._found.resize(vertices)
        if vertices > before or (rows[:, -1] < 0).any():
            self._found.check_all()
        self._count()
        return vertices_changed[vertices_changed < vertices]

    def explain(self) -> str:
        """The operators, the loops, and what they have done, as text."""
        return self._built.flow.explain()

    def operators(self) -> dict[str, Any]:
        """The operators with what they hold and have done, as JSON has it."""
        return operator_facts(self._built.flow)

    def close(self) -> None:
        """Give all memory back to the system."""
        self._built.close()

    def _count(self) -> None:
        crew = self._built.flow.host.crew
        operators = self._built.flow.install().installed.operators.values()
        total = sum(crew.total(item, layout.OP_IN) for item in operators)
        self.touched, self._rows_before = total - self._rows_before, total


def _checked(program: DataflowProgram, found: Any) -> Collection:
    """What a program built, if it is a collection of vertices with a value each."""
    wanted = ColumnType(program.result.type.value)
    if not isinstance(found, Collection):
        raise InputError(
            f"{program.name} returns {type(found).__name__}, and is to return a collection",
            hint="return what operators make of the edges: (vertex, value)",
        )
    kinds = [kind for _, kind in found.schema]
    if kinds != [INT, wanted]:
        columns = ", ".join(f"{name} {kind}" for name, kind in found.schema)
        raise InputError(
            f"{program.name} returns records of ({columns})",
            hint=f"return records of a vertex and its {program.result.name}: int, {wanted}",
        )
    return found
