"""A program run by its definition with NumPy, to check kernels by: all edges in every iteration.

It is slow on purpose. No edge is passed over because its source stands still, no proof is relied
on, nothing is kept from version to version, nothing is compiled, and the kernels have no part in
it: it shares with them the plan and the arrays of the graph. Sums of floats are added up with more
digits than they have, where the machine's long floats have more, so that a difference is a mistake
and not rounding.

All rows are computed at a time: a *row* is a vertex in `initialize` and `update`, an edge in
`traverse`. Statements run on all rows for which they are reached, which a mask tells: an `if`
narrows it, and so does every place where the language stops early (`and`, `or`, `a if c else b`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.inputs import plain_edge_array
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError, LimitError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.expressions import FLOAT
from graphtide.plan.program_reads import edge_properties, reads, vertex_properties

Rows = NDArray[Any]
Mask = NDArray[np.bool_]
DTYPES: dict[x.ValueType, Any] = {
    x.INT: np.int64,
    x.FLOAT: np.float64,
    x.BOOL: np.bool_,
    x.TEXT: np.object_,
    x.DATE: np.int64,
    x.TIMESTAMP: np.int64,
}
_MATH: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "floor": np.floor,
    "ceil": np.ceil,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
}
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass
class Scene:
    """Everything that a function can name, as rows.

    `state` has the fields of u and of v by vertex and name, `facts` their ids and degrees, `given`
    their properties, `sets` whether they are among the vertices that a parameter lists. `assigned`
    is where `v.field = ...` is written to, `send` takes (accumulator, rows that send, values,
    index).
    """

    count: int
    parameters: Mapping[str, Any]
    state: Mapping[tuple[str, str], Rows]
    facts: Mapping[tuple[str, str], Rows]
    given: Mapping[tuple[str, str], Rows]
    sets: Mapping[tuple[str, str], Rows]
    properties: Mapping[str, Rows] = field(default_factory=dict)
    accumulated: Mapping[str, Rows] = field(default_factory=dict)
    assigned: Mapping[str, Rows] = field(default_factory=dict)
    send: Callable[[str, Mask, Rows, Rows | None], None] | None = None
    iteration: int = 0
    special: Callable[[x.Expression, Mask], Rows | None] = lambda *_: None
    """What this scene evaluates in a way of its own: asked first, None leaves it to the rest."""
    local: dict[str, Rows] = field(default_factory=dict)


def run_body(body: p.Body, scene: Scene, mask: Mask) -> None:
    for statement in body:
        match statement:
            case p.AssignState(name, value, index):
                _assign(scene, name, value_of(value, scene, mask), mask, index)
            case p.AssignLocal(name, value):
                given = value_of(value, scene, mask)
                scene.local[name] = np.where(mask, given, scene.local.get(name, given))
            case p.Send(name, value, index):
                assert scene.send is not None
                place = None if index is None else value_of(index, scene, mask)
                scene.send(name, mask, value_of(value, scene, mask), place)
            case p.If(condition, then, otherwise):
                holds = value_of(condition, scene, mask)
                # Both before either runs: what decides may be a field that `then` changes.
                chosen, others = mask & holds, mask & ~holds
                run_body(then, scene, chosen)
                run_body(otherwise, scene, others)
            case p.ForRange():
                _loop(statement, scene, mask)


def value_of(node: x.Expression, scene: Scene, mask: Mask) -> Rows:
    """An expression on every row; only those of the mask mean anything."""

    def evaluated(inner: x.Expression) -> Rows:
        return value_of(inner, scene, mask)

    own = scene.special(node, mask)
    if own is not None:
        return own
    match node:
        case x.Const(value, type_):
            return np.full(scene.count, value, DTYPES[type_])
        case x.Text(text):
            return np.full(scene.count, text, np.object_)
        case x.ParameterRef(name, type_):
            return np.full(scene.count, scene.parameters[name], DTYPES[type_])
        case x.PairSource(name):
            return np.full(scene.count, scene.parameters[name], np.int64)
        case x.StateRef(vertex, name, _, index):
            return _element(scene.state[vertex, name], index, scene, mask)
        case x.AccumulatorRef(name, _, index):
            return _element(scene.accumulated[name], index, scene, mask)
        case x.EdgeProperty(name):
            return scene.properties[name]
        case x.VertexFact(vertex, fact):
            return scene.facts[vertex, fact]
        case x.VertexProperty(vertex, name):
            return scene.given[vertex, name]
        case x.Member(vertex, parameter):
            return scene.sets[vertex, parameter]
        case x.Local(name):
            return scene.local[name]
        case x.Iteration():
            return np.full(scene.count, scene.iteration, np.int64)
        case x.Unary(operator, operand):
            return np.negative(evaluated(operand)) if operator == "-" else ~evaluated(operand)
        case x.Binary(operator, left, right):
            rows: Rows = _ARITHMETIC[operator](evaluated(left), evaluated(right))
            return rows
        case x.Compare(operator, left, right) if left.type is x.TEXT:
            same = _same_texts(evaluated(left), evaluated(right))
            return same if operator == "==" else ~same
        case x.Compare(operator, left, right):
            compared: Rows = _COMPARED[operator](evaluated(left), evaluated(right))
            return compared
        case x.Boolean(operator, terms):
            return _decided(operator, terms, scene, mask)
        case x.Choice(condition, yes, no):
            holds = evaluated(condition)
            chosen = value_of(yes, scene, mask & holds), value_of(no, scene, mask & ~holds)
            return np.where(holds, *chosen)
        case x.Call(function, arguments, type_):
            return _called(function, list(map(evaluated, arguments)), type_)
        case x.Joined() | x.GlobalRef() | x.Distinct() | x.OverPath():
            raise AssertionError(f"{node} stands in walks only")


def _same_texts(one: Rows, other: Rows) -> Mask:
    """Which texts are equal; one that is missing (None) equals nothing."""
    pairs = zip(one.tolist(), other.tolist(), strict=True)
    return np.array([a is not None and a == b for a, b in pairs], np.bool_)


def _decided(operator: str, terms: tuple[x.Expression, ...], scene: Scene, mask: Mask) -> Rows:
    """`and` and `or`: whoever is decided does not look at the terms behind."""
    decided = value_of(terms[0], scene, mask)
    for term in terms[1:]:
        undecided = decided if operator == "and" else ~decided
        decided = np.where(undecided, value_of(term, scene, mask & undecided), decided)
    return decided


def _called(function: str, arguments: list[Rows], type_: x.ValueType) -> Rows:
    first, *rest = arguments
    if function in ("min", "max"):
        for other in rest:
            better = other < first if function == "min" else other > first
            first = np.where(better, other, first)
        return first
    if function in _MATH:
        first = _MATH[function](first)
    return first.astype(DTYPES[type_])


def _element(rows: Rows, index: x.Expression | None, scene: Scene, mask: Mask) -> Rows:
    """A field of every row, or one element of it."""
    if index is None:
        return rows
    place = _checked(value_of(index, scene, mask), rows.shape[1], mask)
    elements: Rows = rows[np.arange(scene.count), place]
    return elements


def _assign(scene: Scene, name: str, value: Rows, mask: Mask, index: x.Expression | None) -> None:
    target = scene.assigned[name]
    if index is None:
        target[mask] = value[mask]
        return
    place = _checked(value_of(index, scene, mask), target.shape[1], mask)
    target[mask, place[mask]] = value[mask]


def _checked(index: Rows, length: int, mask: Mask) -> Rows:
    """Indices, 0 where nobody looks; refuses one that is outside of its array."""
    outside = mask & ((index < 0) | (index >= length))
    if outside.any():
        wrong = int(index[outside][0])
        raise InputError(
            f"index {wrong} is outside of an array of {length}",
            hint="check what is used as an index, or give the array another size",
        )
    return np.where(mask, index, 0)


def _loop(loop: p.ForRange, scene: Scene, mask: Mask) -> None:
    """Every row goes round as often as its own bounds say."""
    # Copied: the bounds hold as they were, whatever fields the body changes.
    turn, stop = (value_of(end, scene, mask).copy() for end in (loop.start, loop.stop))
    while True:
        mask = mask & (turn < stop if loop.step > 0 else turn > stop)
        if not mask.any():
            return
        scene.local[loop.variable] = turn
        run_body(loop.body, scene, mask)
        turn = turn + loop.step


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
