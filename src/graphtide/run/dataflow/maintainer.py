"""A dataflow as a maintainer: it follows a graph in memory like any program.

A dataflow only ever goes forward. To go back is to be fed the inverse of what came: not at once,
but with whatever comes next, in one batch. So the values are at hand at once, going back and
forth between the children of one version costs a batch a child, and edges that leave and come
back in the same batch cost next to nothing. The dataflow may therefore be ahead of the values:
`_owed` is what it has yet to be fed to be where they are, and `_stale` says which vertices differ.

What fails in the middle of a batch leaves no dataflow; the next step builds one from the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change, Changes, differs
from graphtide.engine.growing import GrowingArray
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.dataflow import run as dataflow_run
from graphtide.kernels.graph.flips import Delta
from graphtide.lang.python.dataflow_program import BoundDataflow
from graphtide.plan.expressions import ValueType
from graphtide.run.dataflow.running import Columns, RunningDataflow
from graphtide.run.dataflow.vertex_values import DTYPES

Int32 = NDArray[np.int32]


class _Done(NamedTuple):
    """What it takes to go back: the edges that came and went, and what changed."""

    inserted: Columns
    deleted: Columns
    change: Change
    vertices: int


class DataflowMaintainer(Maintainer):
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

    @property
    def kernels(self) -> ModuleType:
        """The compiled machine, which is the same for all dataflows."""
        return dataflow_run

    def values(self, field: str | None = None) -> NDArray[Any]:
        """The value of every vertex; not a copy."""
        return self._values.view

    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""
        self._drop()
        self.forget()
        self._running = self._begun()
        self.touched = self._running.touched
        self._values = GrowingArray(self._running.values.copy())

    def scratch(self) -> Mapping[str, NDArray[Any]]:
        """The values of the graph's present version, apart from the state."""
        return self._from_scratch(debug=False)

    def plainly(self) -> Mapping[str, NDArray[Any]]:
        """The same to verify by: the search of the program's author, or plain Python beside."""
        return self._from_scratch(debug=True)

    def _from_scratch(self, *, debug: bool) -> Mapping[str, NDArray[Any]]:
        program = self._bound.program
        if program.scratch is not None:
            values: NDArray[Any] = np.asarray(program.scratch(self._searched()), self._dtype)
        else:
            running = self._begun(debug=debug)
            values = running.values.copy()
            running.close()
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
        self._done.append(_Done(come, gone, change, before))
        return {self.fields[0]: change}

    def _put_back(self, done: _Done) -> None:
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

    def explain(self) -> str:
        """The dataflow as text, with what its operators have done."""
        if self._running is None:
            self._running = self._begun()
        return self._running.explain()

    def operators(self) -> dict[str, Any]:
        """The operators with what they hold and have done, as JSON has it."""
        if self._running is None:
            self._running = self._begun()
        return self._running.operators()

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
        self.touched = self._running.touched
        candidates = (
            np.unique(np.concatenate([candidates, *self._stale])) if self._stale else candidates
        )
        self._owed.clear()
        self._stale.clear()
        return candidates[candidates < self.graph.vertices]

    def _begun(self, *, debug: bool = False) -> RunningDataflow:
        """A dataflow at the version that the graph is at."""
        running = RunningDataflow(self._bound, self._parameters, debug=debug)
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
