"""The program section of each template, written out from a plan."""

from __future__ import annotations

from collections.abc import Iterable

from graphtide.engine.inputs import KERNEL_TYPES, KernelInputs, Program, TupleInputs
from graphtide.engine.write import Places, write_expression
from graphtide.plan.expressions import EdgeProperty, Expression, Member, VertexFact, VertexProperty
from graphtide.plan.program_analysis import Selection
from graphtide.plan.programs import AccumulatorKind, Direction, VertexProgram, subexpressions


def selecting_section(program: VertexProgram, selection: Selection, *, settles: bool) -> str:
    """All that the templates of selecting programs ask of one.

    `settles`: no message overtakes its source on the data at hand, so that kernels leave out who
    cannot have anything better to say. What the plan proves on conditions is true only where the
    data has been checked for them.
    """
    assert selection.initial is not None
    sign = 1 if selection.kind is AccumulatorKind.MIN else -1
    inputs = KernelInputs(program)
    places = _scalar_places(inputs, "vertex")
    message = _scalar_places(inputs, inputs.target())
    return "\n".join(
        [
            f"SIGN = {sign}",
            f"VALUE = {KERNEL_TYPES[selection.type]}",
            *program_function("np.int64", "sign()", "SIGN"),
            *program_function("VALUE", "identity()", f"VALUE({_number(selection.identity)})"),
            *directions(program),
            *program_function("np.bool_", "uniform()", str(is_uniform(selection))),
            *program_function("np.bool_", "settles()", str(settles)),
            *program_function("VALUE", "initial(vertex, read)", _typed(selection.initial, places)),
            *program_function(
                "VALUE",
                "message(value, source, edge, read)",
                write_expression(selection.message, message),
            ),
        ]
    )


def handing_over(types: Iterable[str], program: Program) -> list[str]:
    """How properties of some types and all other inputs are found in a block, as two tuples."""
    read = [f"array_at(words, first + {at}, {type_}), " for at, type_ in enumerate(types)]
    given = TupleInputs(program).taken_from("words", "first", len(read))
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


def is_uniform(selection: Selection) -> bool:
    """True where all edges carry the same for the same value."""
    own = EdgeProperty | VertexFact | VertexProperty | Member
    return not any(isinstance(item, own) for item in subexpressions(selection.message))


def _typed(expression: Expression, places: Places) -> str:
    """With NumPy's type, so that messages made of it wrap around and divide as NumPy does.

    Compiled code does so anyway; this is for code that is interpreted.
    """
    return f"{KERNEL_TYPES[expression.type]}({write_expression(expression, places)})"


def _scalar_places(inputs: KernelInputs, own: str) -> Places:
    """Names as they are in functions of one vertex or one edge: plain arguments.

    `own` is the number of v.
    """

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
        edge_property=lambda name: f"{inputs.edge_property(name)}[edge]",
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
