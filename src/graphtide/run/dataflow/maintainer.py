"""A dataflow as a maintainer: it follows a graph in memory like any program.

The program is built as a dataflow, fed with edges and vertices, and its output rows are vertex
values: kept true is that a vertex has one value, or none where the program has a value for those.

A dataflow only ever goes forward. To go back is to be fed the inverse of what came, with whatever
comes next, in one batch. So the values are at hand at once, and edges that leave and come back in
the same batch cost next to nothing. The dataflow may therefore be ahead of the values: `_owed` is
what it has yet to be fed to be where they are, and `_stale` says which vertices differ. What fails
in the middle of a batch leaves no dataflow; the next step builds one from the graph.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, differs
from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.machine import DEFAULT_MEMORY
from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, encode
from graphtide.engine.growing import GrowingArray
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow import run as dataflow_run
from graphtide.kernels.graph.flips import Delta
from graphtide.lang.python.dataflow_program import BoundDataflow, DataflowProgram
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import INT, ColumnType
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import ParameterKind
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.reports import operator_facts

Int64 = NDArray[np.int64]
DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}


class VertexValues:
    """A value for each vertex; `values` is not a copy."""

    def __init__(self, program: DataflowProgram) -> None:
        self._program = program
        self._type = ColumnType(program.result.type.value)
        self._values = GrowingArray(np.empty(0, DTYPES[program.result.type.value]))
        self._there = GrowingArray(np.empty(0, np.bool_))

    @property
    def values(self) -> NDArray[Any]:
        """Those of all vertices."""
        return self._values.view

    def resize(self, vertices: int) -> None:
        """More vertices, none of which has a value yet, or fewer."""
        before = self._there.length
        for array in (self._values, self._there):
            array.resize(vertices)
        self._there.view[before:] = False
        self._values.view[before:] = self._program.result.missing or 0

    def take(self, rows: Int64) -> Int64:
        """Take up rows of vertex, value, version and diff; the vertices that they are about."""
        return self.apply(np.delete(rows, -2, axis=1))

    def apply(self, rows: Int64) -> Int64:
        """The same with rows of vertex, value and diff."""
        changed = add_up(rows)
        vertices, diffs = changed[:, 0], changed[:, -1]
        self._check_vertices(vertices)
        gone, come = changed[diffs < 0], changed[diffs > 0]
        self._check_gone(gone)
        self._there.view[gone[:, 0]] = False
        self._values.view[gone[:, 0]] = self._program.result.missing or 0
        self._check_come(come)
        self._there.view[come[:, 0]] = True
        self._values.view[come[:, 0]] = self._decoded(come)
        return np.unique(vertices)

    def check_all(self) -> None:
        """Refuse a vertex without a value where every one must have one."""
        if self._program.result.missing is None and not self._there.view.all():
            vertex = int(np.argmin(self._there.view))
            raise InputError(
                f"{self._program.name} gives no {self._program.result.name} to vertex {vertex}",
                where="vertices are numbered by their places in results",
                hint="give the program a value for such vertices with `missing=`, or let it take "
                "all `vertices` as its second argument",
            )

    def _decoded(self, rows: Int64) -> NDArray[Any]:
        return decode(rows[:, 1:2], (("value", self._type),), Texts())[0]

    def _check_vertices(self, vertices: Int64) -> None:
        wrong = (vertices < 0) | (vertices >= self._there.length)
        if wrong.any():
            raise InputError(
                f"{self._program.name} gives a value to {int(vertices[wrong][0])}, "
                f"and there are {self._there.length:,} vertices, from 0 on",
                hint="the first column of its result is the vertex",
            )

    def _check_gone(self, gone: Int64) -> None:
        vertices = gone[:, 0]
        same = ~differs(self._values.view[vertices], self._decoded(gone))
        right = self._there.view[vertices] & same & (gone[:, -1] == -1)
        if not right.all():
            self._refuse(vertices[~right])

    def _check_come(self, come: Int64) -> None:
        vertices = come[:, 0]
        twice = np.flatnonzero(vertices[1:] == vertices[:-1])
        wrong = self._there.view[vertices] | (come[:, -1] != 1)
        if len(twice):
            self._refuse(vertices[twice])
        if wrong.any():
            self._refuse(vertices[wrong])

    def _refuse(self, vertices: Int64) -> None:
        raise InputError(
            f"{self._program.name} gives vertex {int(vertices[0])} several values at once",
            where="vertices are numbered by their places in results",
            hint="its result has one record a vertex: end with min, max, count or distinct",
        )


Columns = Mapping[str, NDArray[Any]]
_PYTHON = {"int": int, "float": float, "bool": bool}


class GraphFlow:
    """A dataflow over one graph, whoever keeps it current."""

    def __init__(self, flow: Dataflow) -> None:
        self.flow = flow
        self._rows_before = 0

    def touched(self) -> int:
        """Rows that operators have taken in since the last call."""
        pool = self.flow.host.pool
        operators = self.flow.install().addresses.operators.values()
        total = sum(pool.total(item, layout.OP_IN) for item in operators)
        new, self._rows_before = total - self._rows_before, total
        return new

    def explain(self) -> str:
        return self.flow.explain()

    def close(self) -> None:
        """Give all memory back to the system."""
        self.flow.host.end()
        self.flow.clock.flows.clear()


class ProgramFlow(GraphFlow):
    """The dataflow of a program, not yet run; `parameters` have vertices by number."""

    def __init__(
        self,
        bound: BoundDataflow,
        parameters: Sequence[Any],
        *,
        memory: int = DEFAULT_MEMORY,
        coordinates: int = 1,
    ) -> None:
        program = bound.program
        flow = Dataflow(program.name, memory=memory, coordinates=coordinates)
        super().__init__(flow)
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
        ports = self.flow.install().addresses.ports
        return self.flow.host.pool.take(ports[self.output.number])


class RunningDataflow(ProgramFlow):
    """A dataflow and the values of the version that it was last brought to."""

    def __init__(self, bound: BoundDataflow, parameters: Sequence[Any]) -> None:
        super().__init__(bound, parameters)
        self._found = VertexValues(bound.program)
        self._vertices = 0

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; overwritten by the next batch."""
        return self._found.values

    def feed(self, edges: Columns, diff: int) -> None:
        """Let edges come (1) or go (-1) in the next batch."""
        if len(edges["src"]):
            self.edges._change(edges, diff, None)

    def advance(self, vertices: int) -> Int64:
        """Go to the version that was fed, which has so many vertices; those that may differ."""
        before = self._vertices
        self._feed_vertices(vertices)
        self.flow.advance()
        rows = self.take()
        self._found.resize(max(before, vertices))
        vertices_changed = self._found.take(rows)
        self._found.resize(vertices)
        if vertices > before or (rows[:, -1] < 0).any():
            self._found.check_all()
        return vertices_changed[vertices_changed < vertices]

    def define(self, vertices: int) -> NDArray[Any]:
        """The values that the definition of the dataflow gives for what was fed; it never runs."""
        self._feed_vertices(vertices)
        output = self.output
        listed = self.flow.meaning().value(output.number)
        rows = encode(list(listed), output.schema, self.flow.host.texts)
        rows[:, -1] = list(listed.values())
        self._found.resize(vertices)
        self._found.take(rows)
        self._found.check_all()
        return self.values

    def _feed_vertices(self, vertices: int) -> None:
        before, self._vertices = self._vertices, vertices
        if self.vertices is not None and vertices != before:
            nodes = np.arange(min(before, vertices), max(before, vertices))
            self.vertices._change({"node": nodes}, 1 if vertices > before else -1, None)


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


Int32 = NDArray[np.int32]


class _AppliedStep(NamedTuple):
    """What it takes to go back: the edges that came and went, and what changed."""

    inserted: Columns
    deleted: Columns
    change: Change
    vertices: int


class ForwardMaintainer(Maintainer):
    """A maintainer on a dataflow, which only goes forward: none is there after an error."""

    @property
    def kernels(self) -> ModuleType:
        """The compiled machine, which is the same for all dataflows."""
        return dataflow_run

    @abstractmethod
    def _present(self) -> GraphFlow:
        """The dataflow; one at the version of the graph where there was none."""

    def explain(self) -> str:
        """The dataflow as text, with what its operators have done."""
        return self._present().explain()

    def operators(self) -> dict[str, Any]:
        """The operators with what they hold and have done, as JSON has it."""
        return operator_facts(self._present().flow)


class DataflowMaintainer(ForwardMaintainer):
    """A dataflow program on a graph, with its state; `parameters` have vertices by number."""

    def __init__(
        self, graph: ResidentGraph, bound: BoundDataflow, parameters: Sequence[Any]
    ) -> None:
        super().__init__(graph, (bound.program.result.name,))
        self._bound = bound
        self._parameters = tuple(parameters)
        self._dtype = DTYPES[bound.program.result.type.value]
        self._values = GrowingArray(np.empty(0, self._dtype))
        self._running: RunningDataflow | None = None
        self._owed: list[tuple[Columns, int]] = []
        self._stale: list[NDArray[Any]] = []

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex; not a copy."""
        return self._values.view

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        self._drop()
        self.forget()
        self._running = self._begun()
        self.touched = self._running.touched()
        self._values = GrowingArray(self._running.values.copy())

    def scratch(self) -> Mapping[str, NDArray[Any]]:
        """The values of the graph's present version, apart from the state."""
        program = self._bound.program
        if program.scratch is not None:
            return self._search()
        running = self._begun()
        values = running.values.copy()
        running.close()
        return {program.result.name: values}

    def plainly(self) -> Mapping[str, NDArray[Any]]:
        """The same to verify by: the search of the author, or every operator in plain Python."""
        if self._bound.program.scratch is not None:
            return self._search()
        running = RunningDataflow(self._bound, self._parameters)
        running.feed(self._edges(self.graph.live_edges()), 1)
        values = running.define(self.graph.vertices).copy()
        running.close()
        return {self._bound.program.result.name: values}

    def _search(self) -> Mapping[str, NDArray[Any]]:
        program = self._bound.program
        assert program.scratch is not None
        values: NDArray[Any] = np.asarray(program.scratch(self._searched()), self._dtype)
        return {program.result.name: values}

    def follow(self, delta: Delta) -> Changes:
        """Follow a graph that has been flipped, and may have got vertices; says what changed."""
        come, gone = self._edges(delta.inserted), self._edges(delta.deleted)
        values, before = self._values.view, self._values.length
        candidates = self._brought_along(come, gone)
        assert self._running is not None
        now = self._running.values
        known = candidates[candidates < before]
        moved = known[differs(values[known], now[known])]
        change = Change(moved.astype(np.int32), values[moved], now[moved])
        values[moved] = now[moved]
        self._values.extend(now[before:])
        self._done.append(_AppliedStep(come, gone, change, before))
        return {self.fields[0]: change}

    def _put_back(self, done: _AppliedStep) -> None:
        """The dataflow is fed the inverse with what comes next."""
        if self._running is not None:
            self._owed += [(done.inserted, -1), (done.deleted, 1)]
            self._stale.append(done.change.vertices)
        self._values.resize(done.vertices)
        self.values()[done.change.vertices] = done.change.old

    def verify(self) -> None:
        """Compare with a run from scratch; AssertionError at the first difference."""
        expected = self.scratch()[self._bound.program.result.name]
        wrong = np.flatnonzero(differs(self.values(), expected))
        if len(wrong):
            vertex = int(wrong[0])
            raise AssertionError(
                f"vertex {vertex} has {self.values()[vertex]}, from scratch {expected[vertex]}"
            )

    def _present(self) -> RunningDataflow:
        if self._running is None:
            self._running = self._begun()
            self.touched = self._running.touched()
        return self._running

    def _brought_along(self, come: Columns, gone: Columns) -> NDArray[np.int64]:
        """Feed what is owed and what is new, in one batch; the vertices whose value may differ."""
        try:
            if self._running is None:
                self._running = self._begun()
                candidates = np.arange(self.graph.vertices)
            else:
                for edges, diff in (*self._owed, (come, 1), (gone, -1)):
                    self._running.feed(edges, diff)
                candidates = self._running.advance(self.graph.vertices)
        except BaseException:
            self._drop()
            raise
        self.touched = self._running.touched()
        candidates = (
            np.unique(np.concatenate([candidates, *self._stale])) if self._stale else candidates
        )
        self._owed.clear()
        self._stale.clear()
        return candidates[candidates < self.graph.vertices]

    def _begun(self) -> RunningDataflow:
        running = RunningDataflow(self._bound, self._parameters)
        running.feed(self._edges(self.graph.live_edges()), 1)
        running.advance(self.graph.vertices)
        return running

    def _searched(self) -> ResidentGraph:
        """The graph as its author's search takes it, whose edges lead one way."""
        graph = self.graph
        if graph.directed:
            return graph
        columns = dict(edge_columns(graph, graph.live_edges(), self._bound.read))
        src, dst = columns.pop("src"), columns.pop("dst")
        made = ResidentGraph(graph.vertices, src, dst, columns)
        made.vertex_data = graph.vertex_data
        return made

    def _edges(self, edges: Int32) -> Columns:
        """Ends and properties of edges, which stay known when the graph forgets them."""
        return edge_columns(self.graph, edges, self._bound.read)

    def _drop(self) -> None:
        if self._running is not None:
            self._running.close()
        self._running = None
        self._owed.clear()
        self._stale.clear()


def edge_columns(
    graph: ResidentGraph, edges: Int32, properties: tuple[tuple[str, str, ValueType], ...]
) -> Columns:
    """Edges as records: their ends, and some of their properties, each by its name and column.

    Of an undirected graph each is there both ways, a loop once: those that go back stand behind.
    """
    src, dst = graph.ends(edges)
    if not graph.directed:
        back = src != dst
        src, dst = np.concatenate([src, dst[back]]), np.concatenate([dst, src[back]])
        edges = np.concatenate([edges, edges[back]])
    columns: dict[str, NDArray[Any]] = {"src": src, "dst": dst}
    for name, column, kind in properties:
        columns[name] = graph.column(column, DTYPES[kind.value])[edges]
    return columns


_SMALL = 1 << 20
_STAND_INS: dict[ParameterKind, Any] = {ParameterKind.VERTEX: 0, ParameterKind.VERTICES: (0,)}


def dataflow_identity(bound: BoundDataflow) -> str:
    """The program, its parameters, and the plan of its dataflow for vertices of no matter."""
    kinds = [item.kind for item in bound.program.parameters]
    values = [
        _STAND_INS.get(kind, value) for kind, (_, value) in zip(kinds, bound.values, strict=True)
    ]
    built = ProgramFlow(bound, values, memory=_SMALL)
    functions = "|".join(map(_source, built.flow.functions))
    program = bound.program
    facts = (program.name, program.result, bound.read, bound.values)
    text = f"{facts!r}|{built.flow.plan!r}|{functions}"
    built.close()
    return text


def _source(function: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return repr(function) if code is None else _code(code)


def _code(code: CodeType) -> str:
    """Instructions, names and constants, those of functions within included."""
    constants = [_code(item) if isinstance(item, CodeType) else item for item in code.co_consts]
    return f"{code.co_code.hex()}|{code.co_names}|{constants}"
