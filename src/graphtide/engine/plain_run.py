"""A program run by its definition, to check the kernels by: every edge in every iteration.

It is slow on purpose. No edge is passed over because its source stands still, no proof is relied
on, nothing is kept from version to version, and the kernels have no part in it: it shares with them
the plan and the arrays of the graph. Sums of floats are added up with more digits than they have,
where the machine's long floats have more, so that a difference is a mistake and not rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import plain_edge_array
from graphtide.engine.plain_values import DTYPES, Mask, Rows, Scene, run_body
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import LimitError
from graphtide.plan import programs as p
from graphtide.plan.expressions import FLOAT
from graphtide.plan.program_reads import edge_properties, reads, vertex_properties

State = dict[str, Rows]
_KINDS = p.AccumulatorKind
TAKEN_IN = {
    _KINDS.MIN: np.minimum,
    _KINDS.MAX: np.maximum,
    _KINDS.SUM: np.add,
    _KINDS.COUNT: np.add,
    _KINDS.PRODUCT: np.multiply,
    _KINDS.OR: np.logical_or,
    _KINDS.AND: np.logical_and,
}
MOST_ITERATIONS = 100_000


def plain_values(
    graph: ResidentGraph, program: p.VertexProgram, parameters: tuple[Any, ...]
) -> State:
    """The state fields that a program ends with on the version that the graph is at.

    O(edges) an iteration, however little happens in it. Refuses a program that still changes
    after as many iterations as a maintained one may take.
    """
    run = _Run(graph, program, parameters)
    with np.errstate(all="ignore"):
        return run.ended()


class _Run:
    def __init__(
        self, graph: ResidentGraph, program: p.VertexProgram, parameters: tuple[Any, ...]
    ) -> None:
        self.program, self.vertices = program, graph.vertices
        names = [item.name for item in program.parameters]
        self.parameters = dict(zip(names, parameters, strict=True))
        edges = graph.live_edges()
        src, dst = graph.ends(edges)
        types = edge_properties(program)
        self.properties = {
            name: plain_edge_array(graph, name, type_)[edges] for name, type_ in types.items()
        }
        back = np.ones(len(src), np.bool_) if graph.directed else src != dst
        self.facts = vertex_facts(src, dst[back], graph.vertices)
        self.given = {
            name: graph.vertex_data.plain(item) for name, item in vertex_properties(program).items()
        }
        self.sets = vertex_sets(program.parameters, self.parameters, graph.vertices)
        forward = src, dst, self.properties
        backward = dst, src, self.properties
        again = {name: rows[back] for name, rows in self.properties.items()}
        ways = {
            p.Direction.OUT: [forward],
            p.Direction.IN: [backward],
            p.Direction.BOTH: [forward, (dst[back], src[back], again)],
        }
        self.ways = ways[program.direction]

    def ended(self) -> State:
        wanted = self._setting(self.program.iterations)
        patient = wanted is not None and reads(self.program.update).iteration
        tolerance = float(self._setting(self.program.tolerance))
        state, iteration = self._start(), 0
        while wanted is None or iteration < wanted:
            iteration += 1
            self._check_length(wanted, iteration)
            before, state = state, self._next(state, iteration)
            moves = any(moved(before[name], state[name], tolerance) for name in state)
            if not moves and not patient:
                break
        return state

    def _check_length(self, wanted: int | None, iteration: int) -> None:
        if wanted is None and iteration > max(MOST_ITERATIONS, self.vertices + 1):
            raise LimitError(
                f"{self.program.name} still changes after {iteration - 1:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )

    def _start(self) -> State:
        state = {item.name: self._filled(item, item.default) for item in self.program.state}
        run_body(self.program.initialize, self._at_vertices(state), self._all(self.vertices))
        return state

    def _next(self, before: State, iteration: int) -> State:
        sent = {
            item.name: self._filled(item, item.identity, long=item.kind is _KINDS.SUM)
            for item in self.program.accumulators
        }
        for source, target, properties in self.ways:
            scene = self._at_edges(before, (source, target), properties, sent)
            run_body(self.program.traverse, scene, self._all(len(source)))
        state = {name: rows.copy() for name, rows in before.items()}
        scene = self._at_vertices(state)
        scene.accumulated = {
            item.name: sent[item.name].astype(DTYPES[item.type])
            for item in self.program.accumulators
        }
        scene.iteration = iteration
        run_body(self.program.update, scene, self._all(self.vertices))
        return state

    def _at_vertices(self, state: State) -> Scene:
        return Scene(
            count=self.vertices,
            parameters=self.parameters,
            state={("v", name): rows for name, rows in state.items()},
            facts={("v", name): rows for name, rows in self.facts.items()},
            given={("v", name): rows for name, rows in self.given.items()},
            sets={("v", name): rows for name, rows in self.sets.items()},
            assigned=state,
        )

    def _at_edges(
        self, state: State, ends: tuple[NDArray[Any], NDArray[Any]], properties: State, sent: State
    ) -> Scene:
        source, target = ends

        def both(rows: Mapping[str, Rows]) -> dict[tuple[str, str], Rows]:
            ends = ("u", source), ("v", target)
            return {(end, name): rows[name][at] for name in rows for end, at in ends}

        def send(name: str, mask: Mask, value: Rows, index: Rows | None) -> None:
            kind = self.program.accumulator(name).kind
            if kind in (_KINDS.MIN, _KINDS.MAX):
                mask = mask & (value == value)  # a NaN counts as nothing sent
            place: Any = target[mask] if index is None else (target[mask], index[mask])
            TAKEN_IN[kind].at(sent[name], place, value[mask])

        return Scene(
            count=len(source),
            parameters=self.parameters,
            state=both(state),
            facts=both(self.facts),
            given=both(self.given),
            sets=both(self.sets),
            properties=properties,
            send=send,
        )

    def _filled(
        self, item: p.StateField | p.Accumulator, value: Any, *, long: bool = False
    ) -> Rows:
        size = () if item.size is None else (self._setting(item.size),)
        dtype = np.longdouble if long and item.type is FLOAT else DTYPES[item.type]
        return np.full((self.vertices, *size), value, dtype)

    def _setting(self, given: Any) -> Any:
        return self.parameters[given] if isinstance(given, str) else given

    @staticmethod
    def _all(count: int) -> Mask:
        return np.ones(count, np.bool_)


def vertex_sets(
    given: Iterable[p.Parameter], values: Mapping[str, Any], vertices: int
) -> dict[str, Rows]:
    """Which vertices are in each parameter that is a set of them."""
    masks = {}
    for item in given:
        if item.kind is p.ParameterKind.VERTICES:
            masks[item.name] = np.zeros(vertices, np.bool_)
            masks[item.name][list(values[item.name])] = True
    return masks


def vertex_facts(src: NDArray[Any], dst: NDArray[Any], vertices: int) -> dict[str, Rows]:
    """The ids and degrees of all vertices, from the ends of all live edges."""
    out = np.bincount(src, minlength=vertices).astype(np.int64)
    into = np.bincount(dst, minlength=vertices).astype(np.int64)
    ids = np.arange(vertices, dtype=np.int64)
    return {"id": ids, "out_degree": out, "in_degree": into, "degree": out + into}


def moved(before: Rows, after: Rows, tolerance: float) -> bool:
    """True if any value moved by more than a share of itself; NaN stays where it is."""
    differs = before != after
    if before.dtype != np.float64:
        return bool(differs.any())
    differs &= (before == before) | (after == after)
    if tolerance > 0:
        finite = np.isfinite(before) & np.isfinite(after)
        near = np.abs(before - after) <= tolerance * np.maximum(np.abs(before), np.abs(after))
        differs &= ~(finite & near)
    return bool(differs.any())
