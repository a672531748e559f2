"""A program run once on a whole graph, and the routes behind the results of a program.

`answer_in_memory` runs a program from scratch on all edges that a graph has now; what it answers is
the same for graphs in memory and for stored ones, over a lean graph too.

The engine finds a route by the values of one version (`engine.routes`). Here that version is put
together again where it is that of a view, and vertices and edges get the names that users know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter, thread_time
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.routes import Int32, Routes, route_field
from graphtide.model.errors import InputError
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.steps import RunVersions
from graphtide.run.live.computation import CompiledProgram
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.programs import (
    Compiled,
    checked_parameters,
    pair_numbers,
    vertex_parameters,
)
from graphtide.run.live.results import Pairs, ResultRows
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.table import Table
from graphtide.run.views.snapshot import Snapshot


class Route(list[Any]):
    """The ids of the vertices along a way, from the source on.

    `edges` is a table of its edges in their order, as `graph.edges()` has them, and `cost` what all
    of it costs: hops, a distance, a width. A route to the source itself has one vertex and no edge.
    """

    def __init__(self, vertices: Iterable[Any], edges: pa.Table, cost: Any) -> None:
        super().__init__(vertices)
        self.edges = Table(edges)
        self.cost = cost


class RouteVertices(Protocol):
    """What leads from ids to numbers of vertices, and back."""

    def number(self, row: Any) -> int:
        """The number of a vertex; InputError if there is none."""

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        """The ids of some vertices."""


class RouteEdges(Protocol):
    """How users know edges, which stand here by their inside numbers."""

    def numbers(self, edges: Int32) -> NDArray[Any]:
        """Their numbers."""

    def table(self, edges: Int32) -> pa.Table:
        """Their rows, in the same order."""


def ends_of(given: Sequence[Any]) -> tuple[Any, Any]:
    if len(given) not in (1, 2):
        raise InputError(
            f"a route has a target, and maybe a source: these are {len(given)} vertices",
            hint="path(target), or path(source, target)",
        )
    return (None, given[0]) if len(given) == 1 else (given[0], given[1])


def routed(compiled: Compiled) -> str:
    """The result of a program that has routes behind it; InputError for a program without."""
    field = None
    if isinstance(compiled, CompiledProgram):
        field = route_field(compiled.bound.program)
    if field is None or field not in compiled.fields or field in compiled.naming:
        raise InputError(
            f"{compiled.bound} has no routes behind its results",
            hint="those that keep one best value have: BFS, ShortestPaths, NearestSource, "
            "WidestPath; for pairs of vertices ask a query: gt.queries.Paths(pairs)",
        )
    return field


def find_route(
    known: NamedGraph,
    compiled: Compiled,
    values: NDArray[Any],
    given: Sequence[Any],
    vertices: RouteVertices,
    edges: RouteEdges,
) -> Route | None:
    """The route to a vertex on the version that a graph is at; None where there is no way."""
    assert isinstance(compiled, CompiledProgram)
    source, target = ends_of(given)
    end, begin = vertices.number(target), None if source is None else vertices.number(source)
    parameters = vertex_parameters(compiled.bound, known.ids)
    routes = Routes(known.resident, compiled.bound.program, parameters, values)
    if begin is not None and not routes.is_source[begin]:
        raise InputError(
            f"{compiled.bound} has no routes from {source!r}: it does not begin there",
            hint="name the target alone, or run the program from that vertex",
        )
    if not routes.is_reached[end]:
        return None
    found = routes.to(end, edges.numbers, begin)
    if found is None:
        where = "came along no edge that is there" if begin is None else f"is not from {source!r}"
        raise InputError(
            f"the value that {compiled.bound} has for {target!r} {where}",
            hint="name the target alone" if begin is not None else "it has no routes",
        )
    table = edges.table(np.array(found.edges, np.int32))
    return Route(vertices.listed(np.array(found.vertices)), table, values[end].item())


@dataclass(frozen=True)
class MemoryEdges:
    """The edges of a graph in memory."""

    graph: MemoryGraph

    def numbers(self, edges: Int32) -> NDArray[Any]:
        return self.graph._resident.outside(edges)

    def table(self, edges: Int32) -> pa.Table:
        graph, resident = self.graph, self.graph._resident
        few = {name: column[edges] for name, column in resident.properties.items()}
        ids, names = graph._known.ids, graph._names
        ends = resident.ends(edges)
        told = Snapshot(self.numbers(edges), *ends, few, ids, names, False, graph._columns)
        return told.edge_table(np.arange(len(edges)))


class ViewRoutes:
    """The routes of a run, one view at a time; holds a graph, whose live edges are its own."""

    def __init__(self, versions: RunVersions, compiled: Compiled) -> None:
        self._versions, self._compiled = versions, compiled
        self.field = routed(compiled)
        """The result that has routes behind it."""

    def route(
        self, view: int, values: NDArray[Any], given: Sequence[Any], vertices: RouteVertices
    ) -> Route | None:
        """The route to a vertex in a view by its position. O(edges of the view)."""
        versions, resident = self._versions, self._versions.known.resident
        grouped = versions.grouped
        classes = np.flatnonzero(versions.plan.membership(int(versions.plan.view_steps[view])))
        parts = [grouped.edges[grouped.offsets[at] : grouped.offsets[at + 1]] for at in classes]
        resident.clear()
        try:
            none = np.empty(0, np.int32)
            resident.flip(np.concatenate([none, *parts]).astype(np.int32), none)
            return find_route(versions.known, self._compiled, values, given, vertices, self)
        finally:
            resident.clear()

    def numbers(self, edges: Int32) -> NDArray[Any]:
        return self._rows[edges]

    def table(self, edges: Int32) -> pa.Table:
        assert self._versions.told is not None
        return self._versions.told(self._rows[edges])

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        numbers = self._versions.known.resident.numbers
        rows = np.empty(len(numbers), np.int64)
        rows[numbers] = np.arange(len(numbers))
        return rows


@dataclass(frozen=True)
class ProgramResults:
    """The results of a program on a graph, and how they were found.

    `values` are arrays, and counters of the rows of matches. `processor` is the time that the run
    took of processors: what the asking thread did while no other had anything to do, and then the
    share of each thread in what they did together.
    """

    compiled: Compiled
    values: Mapping[str, Any]
    vertices: int
    ids: ResultRows
    pairs: Pairs | None
    how: tuple[str, ...]
    seconds: float
    processor: tuple[float, ...]


def answer_in_memory(
    compiled: Compiled, known: NamedGraph, ids: ResultRows, over: str, read: str = ""
) -> ProgramResults:
    """Run a program over the slabs of a graph, by this thread; the graph stays as it is.

    `over` says what the run goes over, and `read` how long it took to have that.
    """
    parameters = checked_parameters(compiled, known)
    prepared = PreparedProgram(compiled, known.resident, parameters, known.ids)
    began, worked = perf_counter(), thread_time()
    values: dict[str, Any] = {
        name: value if name in compiled.matches else np.asarray(value)
        for name, value in prepared.scratch().items()
    }
    seconds, processor = perf_counter() - began, thread_time() - worked
    how = over, f"{read}run in {seconds:.3g} s by 1 thread"
    pairs = pair_numbers(compiled.bound, parameters)
    vertices = known.resident.vertices
    return ProgramResults(compiled, values, vertices, ids, pairs, how, seconds, (processor,))


def refuse_without_versions(**given: bool) -> None:
    """InputError for the first of the words that were given and say something of versions alone."""
    for word in (word for word, there in given.items() if there):
        raise InputError(
            f"`{word}` is for several versions, and this run has one: the graph as it is",
            hint="give them, or ask a collection of views: graph.collection(...).run(program)",
        )
