"""The program section of each template, written out from a plan."""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.engine.binding import Program, target_slabs
from graphtide.engine.inputs import KERNEL_TYPES, KernelInputs
from graphtide.engine.write import Places, write_expression
from graphtide.plan.expressions import (
    EdgeProperty,
    Expression,
    Member,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.program_analysis import Selection
from graphtide.plan.program_reads import edge_properties
from graphtide.plan.programs import (
    AccumulatorKind,
    Direction,
    VertexProgram,
    subexpressions,
)


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
    places = _scalar_places(program, "vertex")
    message = _scalar_places(program, _target(program))
    return "\n".join(
        [
            f"SIGN = {sign}",
            f"IDENTITY = {_number(selection.identity)}",
            f"FORWARD, BACKWARD = {forward}, {backward}",
            f"UNIFORM, SETTLES = {_uniform(selection)}, {settles}",
            f"VALUE = {KERNEL_TYPES[selection.type]}",
            "",
            "",
            "@lean_kernel",
            "def initial(vertex, parameters):",
            f"    return {_typed(selection.initial, places)}",
            "",
            "",
            "@joined_kernel",
            "def message(value, source, edge, properties, parameters):",
            f"    return {write_expression(selection.message, message)}",
            "",
            "",
            *handed_over(program),
        ]
    )


def handed_over(program: VertexProgram) -> list[str]:
    """How properties and parameters are found in a block: the former first, then the latter."""
    types = [KERNEL_TYPES[type_] for type_ in edge_properties(program).values()]
    types += ["np.int32", "np.int32"] * len(target_slabs(program))
    return handing_over(types, program)


def handing_over(types: Iterable[str], program: Program) -> list[str]:
    """The same, behind edge properties and whatever else has these types."""
    read = [f"array_at(words, first + {at}, {type_}), " for at, type_ in enumerate(types)]
    given = KernelInputs(program).taken_from("words", "first", len(read))
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
    own = EdgeProperty | VertexFact | VertexProperty | Member
    return not any(isinstance(item, own) for item in subexpressions(selection.message))


def _typed(expression: Expression, places: Places) -> str:
    """With NumPy's type, so that messages made of it wrap around and divide as NumPy does.

    Compiled code does so anyway; this is for code that is interpreted.
    """
    return f"{KERNEL_TYPES[expression.type]}({write_expression(expression, places)})"


def _target(program: VertexProgram) -> str:
    """The number of the vertex that an edge leads to, from the slabs that know it.

    Where messages go both ways it is the end that is not the source; the source, at a loop.
    """
    first = len(edge_properties(program))
    ends = [
        f"properties[{at + 1}][properties[{at}][edge]]"
        for at in range(first, first + 2 * len(target_slabs(program)), 2)
    ]
    return f"{' ^ '.join(ends)} ^ source" if len(ends) == 2 else "".join(ends)


def _scalar_places(program: VertexProgram, own: str) -> Places:
    """Names as they are in functions of one vertex or one edge: plain arguments.

    `own` is the number of v.
    """
    inputs = KernelInputs(program)
    properties = {name: at for at, name in enumerate(edge_properties(program))}

    def vertex(which: str) -> str:
        return "source" if which == "u" else own

    def refuse(*_: object) -> str:
        raise AssertionError("a selecting program has no such thing")

    def refuse_send(*_: object) -> list[str]:
        raise AssertionError("a selecting program sends by its message alone")

    def fact(which: str, name: str) -> str:
        assert name == "id", "degrees change with the graph, so that no selection reads them"
        return vertex(which)

    return Places(
        parameter=inputs.parameter,
        edge_property=lambda name: f"properties[{properties[name]}][edge]",
        state=lambda which, name, index: "value",
        accumulator=refuse,
        fact=fact,
        vertex_property=lambda which, name: inputs.vertex_property(name, vertex(which)),
        text=inputs.text,
        member=lambda which, name: f"{inputs.parameter(name)}[{vertex(which)}]",
        assign=refuse,
        send=refuse_send,
    )


def _number(value: float) -> str:
    if value == float("inf"):
        return "np.inf"
    return "-np.inf" if value == float("-inf") else repr(value)
