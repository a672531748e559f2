"""The program section of each template, written out from a plan."""

from __future__ import annotations

from graphtide.engine.write import Places, write_expression
from graphtide.plan.expressions import EdgeProperty, Expression, StateRef, VertexFact
from graphtide.plan.program_analysis import Selection
from graphtide.plan.programs import (
    AccumulatorKind,
    Direction,
    VertexProgram,
    expressions_of,
    subexpressions,
)


def edge_properties(program: VertexProgram) -> list[str]:
    """The edge properties that a program reads, in the order in which kernels are given them."""
    found = {
        item.name: None
        for item in expressions_of(program.traverse)
        if isinstance(item, EdgeProperty)
    }
    return sorted(found)


def fixpoint_section(program: VertexProgram, selection: Selection) -> str:
    """`initial`, `message` and the constants of a selecting program."""
    assert selection.initial is not None
    sign = 1 if selection.kind is AccumulatorKind.MIN else -1
    forward = program.direction in (Direction.OUT, Direction.BOTH)
    backward = program.direction in (Direction.IN, Direction.BOTH)
    places = _scalar_places(program)
    return "\n".join(
        [
            f"SIGN = {sign}",
            f"IDENTITY = {_number(selection.identity)}",
            f"FORWARD, BACKWARD = {forward}, {backward}",
            f"COPIES, UNIFORM = {_copies(selection)}, {_uniform(selection)}",
            "",
            "",
            "@kernel",
            "def initial(vertex, parameters):",
            f"    return {_typed(selection.initial, places)}",
            "",
            "",
            "@kernel",
            "def message(value, source, edge, properties, parameters):",
            f"    return {_typed(selection.message, places)}",
        ]
    )


def _copies(selection: Selection) -> bool:
    """True where an edge carries its source's value as it is."""
    return selection.message == StateRef("u", selection.state, selection.type)


def _uniform(selection: Selection) -> bool:
    """True where all edges carry the same for the same value."""
    return not any(
        isinstance(item, EdgeProperty | VertexFact) for item in subexpressions(selection.message)
    )


def _typed(expression: Expression, places: Places) -> str:
    return write_expression(expression, places)


def _scalar_places(program: VertexProgram) -> Places:
    """Names as they are in functions of one vertex or one edge: plain arguments."""
    parameters = {item.name: at for at, item in enumerate(program.parameters)}
    properties = {name: at for at, name in enumerate(edge_properties(program))}

    def vertex(which: str) -> str:
        return "source" if which == "u" else "vertex"

    def refuse(*_: object) -> str:
        raise AssertionError("a selecting program has no such thing")

    def refuse_send(*_: object) -> list[str]:
        raise AssertionError("a selecting program sends by its message alone")

    def fact(which: str, name: str) -> str:
        assert name == "id", "degrees change with the graph, so that no selection reads them"
        return vertex(which)

    return Places(
        parameter=lambda name: f"parameters[{parameters[name]}]",
        edge_property=lambda name: f"properties[{properties[name]}][edge]",
        state=lambda which, name, index: "value",
        accumulator=refuse,
        fact=fact,
        member=lambda which, name: f"parameters[{parameters[name]}][{vertex(which)}]",
        assign=refuse,
        send=refuse_send,
    )


def _number(value: float) -> str:
    if value == float("inf"):
        return "np.inf"
    return "-np.inf" if value == float("-inf") else repr(value)
