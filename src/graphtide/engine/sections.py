"""The program section of each template, written out from a plan."""

from __future__ import annotations

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
    """All that the templates of selecting programs ask of one.

    `settles`: no message overtakes its source on the data at hand, so that kernels leave out who
    cannot have anything better to say. What the plan proves on conditions is true only where the
    data has been checked for them.
    """
    assert selection.initial is not None
    sign = 1 if selection.kind is AccumulatorKind.MIN else -1
    places = _scalar_places(program)
    return "\n".join(
        [
            f"SIGN = {sign}",
            f"VALUE = {_KERNEL_TYPES[selection.type]}",
            *program_function("np.int64", "sign()", "SIGN"),
            *program_function("VALUE", "identity()", f"VALUE({_number(selection.identity)})"),
            *directions(program),
            *program_function("np.bool_", "uniform()", str(_uniform(selection))),
            *program_function("np.bool_", "settles()", str(settles)),
            *program_function("VALUE", "initial(vertex, read)", _typed(selection.initial, places)),
            *program_function(
                "VALUE",
                "message(value, source, edge, read)",
                write_expression(selection.message, places),
            ),
        ]
    )


def program_function(returns: str, head: str, expression: str) -> list[str]:
    """A function of a program that is put into kernels when they are linked."""
    return ["", "", f"@program_kernel({returns})", f"def {head}:", f"    return {expression}"]


def directions(program: VertexProgram) -> list[str]:
    """Which ways edges carry anything."""
    forward = program.direction in (Direction.OUT, Direction.BOTH)
    backward = program.direction in (Direction.IN, Direction.BOTH)
    return [
        *program_function("np.bool_", "forward()", str(forward)),
        *program_function("np.bool_", "backward()", str(backward)),
    ]


def property_place(program: VertexProgram, name: str, block: str = "read") -> str:
    """An edge property, in the block of all that a program reads: properties come first."""
    wanted = edge_properties(program)
    return f"array_at({block}, {list(wanted).index(name)}, {_KERNEL_TYPES[wanted[name]]})"


def parameter_place(program: VertexProgram, name: str, block: str = "read") -> str:
    """A parameter in that block: a number, or the truth values of a set of vertices."""
    names = [item.name for item in program.parameters]
    kind = program.parameters[names.index(name)].kind
    place = len(edge_properties(program)) + names.index(name)
    found = f"array_at({block}, {place}, {_PARAMETER_TYPES[kind]})"
    return found if kind is ParameterKind.VERTICES else f"{found}[0]"


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
        parameter=lambda name: parameter_place(program, name),
        edge_property=lambda name: f"{property_place(program, name)}[edge]",
        state=lambda which, name, index: "value",
        accumulator=refuse,
        fact=fact,
        member=lambda which, name: f"{parameter_place(program, name)}[{vertex(which)}]",
        assign=refuse,
        send=refuse_send,
    )


def _number(value: float) -> str:
    if value == float("inf"):
        return "np.inf"
    return "-np.inf" if value == float("-inf") else repr(value)
