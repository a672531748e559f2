"""The program section of each template, written out from a plan."""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.engine.write import Places, write_expression
from graphtide.plan.expressions import (
    EdgeProperty,
    Expression,
    Member,
    ValueType,
    VertexFact,
)
from graphtide.plan.program_analysis import Selection
from graphtide.plan.program_reads import edge_properties
from graphtide.plan.programs import (
    AccumulatorKind,
    Direction,
    Parameter,
    ParameterKind,
    VertexProgram,
    subexpressions,
)

_KERNEL_TYPES = {
    ValueType.INT: "np.int64",
    ValueType.FLOAT: "np.float64",
    ValueType.BOOL: "np.bool_",
}
_PARAMETER_TYPES = {
    ParameterKind.VERTEX: "np.int64",
    ParameterKind.VERTICES: "np.bool_",
    ParameterKind.PAIRS: "np.int64",
    ParameterKind.INT: "np.int64",
    ParameterKind.FLOAT: "np.float64",
    ParameterKind.BOOL: "np.bool_",
}


def selecting_section(program: VertexProgram, selection: Selection, *, settles: bool) -> str:
    """`initial`, `message` and the constants of a selecting program.

    `settles`: no message overtakes its source on the data at hand, so that kernels leave out who
    cannot have anything better to say. What the plan proves on conditions is true only where the
    data has been checked for them.
    """
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
            f"UNIFORM, SETTLES = {_uniform(selection)}, {settles}",
            f"VALUE = {_KERNEL_TYPES[selection.type]}",
            "",
            "",
            "@lean_kernel",
            "def initial(vertex, parameters):",
            f"    return {_typed(selection.initial, places)}",
            "",
            "",
            "@joined_kernel",
            "def message(value, source, edge, properties, parameters):",
            f"    return {write_expression(selection.message, places)}",
            "",
            "",
            *handed_over(program),
        ]
    )


def handed_over(program: VertexProgram) -> list[str]:
    """How properties and parameters are found in a block: the former first, then the latter."""
    return handing_over(edge_properties(program).values(), program.parameters)


def handing_over(types: Iterable[ValueType], parameters: Iterable[Parameter]) -> list[str]:
    """The same, of edge properties of some types and of parameters."""
    read = [
        f"array_at(words, first + {at}, {_KERNEL_TYPES[type_]}), " for at, type_ in enumerate(types)
    ]
    given = [
        f"array_at(words, first + {at}, {_PARAMETER_TYPES[item.kind]}), "
        if item.kind is ParameterKind.VERTICES
        else f"array_at(words, first + {at}, {_PARAMETER_TYPES[item.kind]})[0], "
        for at, item in enumerate(parameters, len(read))
    ]
    return [
        "@joined_kernel",
        "def properties_at(words, first):",
        f"    return ({''.join(read)})",
        "",
        "",
        "@joined_kernel",
        "def parameters_at(words, first):",
        f"    return ({''.join(given)})",
    ]


def _uniform(selection: Selection) -> bool:
    """True where all edges carry the same for the same value."""
    own = EdgeProperty | VertexFact | Member
    return not any(isinstance(item, own) for item in subexpressions(selection.message))


def _typed(expression: Expression, places: Places) -> str:
    """With NumPy's type, so that messages made of it wrap around and divide as NumPy does.

    Compiled code does so anyway; this is for code that is interpreted.
    """
    return f"{_KERNEL_TYPES[expression.type]}({write_expression(expression, places)})"


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
