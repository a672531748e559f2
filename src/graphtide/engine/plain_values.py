"""What the functions of a program compute, read from its plan with NumPy: all rows at a time.

A *row* is a vertex in `initialize` and `update`, an edge in `traverse`. Statements run on all rows
for which they are reached, which a mask tells: an `if` narrows it, and so does every place where
the language stops early (`and`, `or`, `a if c else b`). Nothing is proved, left out or compiled
here, and no text is written from the plan: that is what makes it fit to check the kernels by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p

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
    """Run statements in order on the rows of a mask."""
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
