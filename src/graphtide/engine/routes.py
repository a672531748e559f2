"""The route behind the value of a vertex: edges, from a vertex that has its value by itself.

A program that keeps the best of what is sent leaves a trace: where a value came from, there is an
edge whose message, sent by its source as that is now, is the value of its target. Such an edge is
*tight*. A route goes along tight edges, from a source: a vertex with the value that it began with.
So nothing has to be kept for routes, whatever the mode, and the messages of a route add up to its
value by the program's own definition.

So every beginning of a route is a best way itself. Of several routes one with the fewest edges is
taken; of those, one from the source with the least number; and of those, from the source on, the
edge with the least number each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.inputs import plain_edge_array
from graphtide.engine.plain_run import DTYPES, TAKEN_IN, Mask, Rows, Scene, run_body, vertex_sets
from graphtide.engine.resident import ResidentGraph
from graphtide.plan import programs as p
from graphtide.plan.program_reads import edge_properties, vertex_properties

Int32 = NDArray[np.int32]
_BEST = (p.AccumulatorKind.MIN, p.AccumulatorKind.MAX)


class FoundRoute(NamedTuple):
    """Vertices by number, edges by inside number: one less, or none where the source is the end."""

    vertices: list[int]
    edges: list[int]


class Entering(NamedTuple):
    """Edges by inside number, and the vertices from and to which something is sent along each."""

    edges: Int32
    sources: Int32
    targets: Int32


def route_field(program: p.VertexProgram) -> str | None:
    """The result that has routes behind it: the only one, of a program that keeps the best."""
    if len(program.state) != 1 or len(program.accumulators) != 1 or program.pairs is not None:
        return None
    field, best = program.state[0], program.accumulators[0]
    plain = field.size is None and best.size is None and field.type is best.type
    return field.name if plain and best.kind in _BEST else None


class Routes:
    """The routes of one program on the version that a graph is at; `values` are its results."""

    def __init__(
        self,
        graph: ResidentGraph,
        program: p.VertexProgram,
        parameters: tuple[Any, ...],
        values: Rows,
    ) -> None:
        self._graph, self._program, self._values = graph, program, values
        self._best = program.accumulators[0]
        names = [item.name for item in program.parameters]
        self._parameters = dict(zip(names, parameters, strict=True))
        self._given = {
            name: graph.vertex_data.plain(item) for name, item in vertex_properties(program).items()
        }
        self._sets = vertex_sets(program.parameters, self._parameters, graph.vertices)
        self._properties = {
            name: plain_edge_array(graph, name, type_)
            for name, type_ in edge_properties(program).items()
        }
        out, into = (slabs.live[: graph.vertices].astype(np.int64) for slabs in graph.adjacency)
        ids = np.arange(graph.vertices, dtype=np.int64)
        self._facts = {"id": ids, "out_degree": out, "in_degree": into, "degree": out + into}
        self.is_source: Mask = (self._begun() == values) & self.is_reached
        """Which vertices have their value by themselves."""

    @property
    def is_reached(self) -> Mask:
        """Which vertices have a value that anybody sent, or began with."""
        reached: Mask = self._values != self._best.identity
        return reached

    def to(
        self, target: int, numbers: Callable[[Int32], NDArray[Any]], source: int | None = None
    ) -> FoundRoute | None:
        """The route to a vertex, from one source where it is named; None without one.

        `numbers` are those by which edges are told apart. O(edges into vertices with a way to the
        target that is no longer than the route).
        """
        onward: dict[int, tuple[int, int]] = {}
        seen = np.zeros(len(self._values), np.bool_)
        frontier = np.array([target], np.int32)
        seen[target] = True
        while len(frontier):
            ends = frontier[self.is_source[frontier]]
            ends = ends if source is None else ends[ends == source]
            if len(ends):
                return _walked(int(ends.min()), target, onward)
            tight = self._tight(frontier)
            tight = Entering(*(part[~seen[tight.sources]] for part in tight))
            order = np.lexsort((numbers(tight.edges), tight.sources))
            first = np.unique(tight.sources[order], return_index=True)[1]
            chosen = order[first]
            frontier = tight.sources[chosen]
            seen[frontier] = True
            steps = zip(tight.edges[chosen].tolist(), tight.targets[chosen].tolist(), strict=True)
            onward.update(zip(frontier.tolist(), steps, strict=True))
        return None

    def _tight(self, targets: Int32) -> Entering:
        """The edges into some vertices whose message is what the vertex has."""
        entering = self._entering(targets)
        sent = self._messages(entering)
        fits = (sent == self._values[entering.targets]) & (sent != self._best.identity)
        return Entering(*(part[fits] for part in entering))

    def _entering(self, targets: Int32) -> Entering:
        """The live edges along which something is sent to some vertices."""
        out, into = self._graph.adjacency
        ways = {
            p.Direction.OUT: (into,),
            p.Direction.IN: (out,),
            p.Direction.BOTH: (into, out),
        }
        parts = []
        for slabs in ways[self._program.direction]:
            counts = slabs.live[targets].astype(np.int64)
            begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
            places = np.repeat(slabs.start[targets] - begins, counts) + np.arange(counts.sum())
            parts.append((slabs.edge[places], slabs.neighbour[places], np.repeat(targets, counts)))
        return Entering(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _messages(self, entering: Entering) -> Rows:
        """What is sent along each of some edges."""
        sent = np.full(len(entering.edges), self._best.identity, DTYPES[self._best.type])
        ends = ("u", entering.sources), ("v", entering.targets)

        def both(rows: dict[str, Rows]) -> dict[tuple[str, str], Rows]:
            return {(end, name): rows[name][at] for name in rows for end, at in ends}

        def send(name: str, mask: Mask, value: Rows, index: Rows | None) -> None:
            mask = mask & (value == value)  # A NaN counts as nothing sent.
            sent[mask] = TAKEN_IN[self._best.kind](sent[mask], value[mask])

        scene = Scene(
            count=len(sent),
            parameters=self._parameters,
            state=both({self._program.state[0].name: self._values}),
            facts=both(self._facts),
            given=both(self._given),
            sets=both(self._sets),
            properties={name: rows[entering.edges] for name, rows in self._properties.items()},
            send=send,
        )
        with np.errstate(all="ignore"):
            run_body(self._program.traverse, scene, np.ones(len(sent), np.bool_))
        return sent

    def _begun(self) -> Rows:
        field, count = self._program.state[0], self._graph.vertices
        state = {field.name: np.full(count, field.default, DTYPES[field.type])}
        scene = Scene(
            count=count,
            parameters=self._parameters,
            state={("v", name): rows for name, rows in state.items()},
            facts={("v", name): rows for name, rows in self._facts.items()},
            given={("v", name): rows for name, rows in self._given.items()},
            sets={("v", name): rows for name, rows in self._sets.items()},
            assigned=state,
        )
        with np.errstate(all="ignore"):
            run_body(self._program.initialize, scene, np.ones(count, np.bool_))
        return state[field.name]


def _walked(source: int, target: int, onward: dict[int, tuple[int, int]]) -> FoundRoute:
    vertices, edges = [source], []
    while vertices[-1] != target:
        edge, behind = onward[vertices[-1]]
        edges.append(edge)
        vertices.append(behind)
    return FoundRoute(vertices, edges)
