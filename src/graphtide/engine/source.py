"""Expressions and statements of a program as Python source that Numba compiles.

What a name becomes is up to `Places`: the same expression reads its state from an array in one
kernel and from an argument in another. Arithmetic is the plan's: ints divided by zero are 0, and
`min(a, b)` is a unless b < a, which Python's and Numba's min agree on. The least int divided by -1
wraps around to itself, which the processor's own division would not do.

The section of a program is what stands in front of a template: here that of selecting programs, and
the parts that sections share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graphtide.engine.inputs import KERNEL_TYPES, KernelInputs, Program, TupleInputs
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.expressions import EdgeProperty, Expression, Member, VertexFact, VertexProperty
from graphtide.plan.program_analysis import Selection
from graphtide.plan.programs import AccumulatorKind, Direction, VertexProgram, subexpressions


@dataclass(frozen=True)
class Places:
    """Where the names of a program are found in the kernel that is being written.

    Each takes the name, and gives source text; `state` and `accumulator` take the source text of
    the index too, or None.
    """

    parameter: Callable[[str], str]
    edge_property: Callable[[str], str]
    state: Callable[[str, str, str | None], str]
    accumulator: Callable[[str, str | None], str]
    fact: Callable[[str, str], str]
    vertex_property: Callable[[str, str], str]
    text: Callable[[str], str]
    member: Callable[[str, str], str]
    assign: Callable[[str, str | None], str]
    send: Callable[[str, str | None, str], list[str]]
    special: Callable[[x.Expression, Callable[[x.Expression], str]], str | None] = lambda *_: None
    """What this kernel writes in a way of its own: it is asked first, and given who writes what is
    inside; None leaves the expression to the rest.
    """


def write_expression(node: x.Expression, places: Places) -> str:
    """One expression, in parentheses where it is not an atom."""

    def write(inner: x.Expression) -> str:
        return write_expression(inner, places)

    own = places.special(node, write)
    if own is not None:
        return own
    whole = _whole_constant(node)
    if whole is not None:
        return constant_text(whole, x.ValueType.INT)
    match node:
        case x.Const(value, type_):
            return constant_text(value, type_)
        case x.Text(value):
            return places.text(value)
        case x.ParameterRef(name):
            return places.parameter(name)
        case x.PairSource(parameter):
            return places.parameter(parameter)
        case x.StateRef(vertex, name, _, index):
            return places.state(vertex, name, None if index is None else write(index))
        case x.AccumulatorRef(name, _, index):
            return places.accumulator(name, None if index is None else write(index))
        case x.EdgeProperty(name):
            return places.edge_property(name)
        case x.VertexFact(vertex, fact):
            return places.fact(vertex, fact)
        case x.VertexProperty(vertex, name):
            return places.vertex_property(vertex, name)
        case x.Member(vertex, parameter):
            return places.member(vertex, parameter)
        case x.Local(name):
            return f"local_{name}"
        case x.Iteration():
            return "iteration"
        case x.Unary(operator, operand):
            return f"({operator} {write(operand)})"
        case x.Binary(operator, left, right):
            return _binary(node, write(left), write(right))
        case x.Compare(operator, left, right) if may_be_missing(node):
            both = f"({write(left)} == {write(right)} and {write(left)} >= 0)"
            return both if operator == "==" else f"(not {both})"
        case x.Compare(operator, left, right):
            return f"({write(left)} {operator} {write(right)})"
        case x.Boolean(operator, terms):
            return "(" + f" {operator} ".join(map(write, terms)) + ")"
        case x.Choice(condition, yes, no):
            return f"({write(yes)} if {write(condition)} else {write(no)})"
        case x.Call(function, arguments):
            return _call(function, [write(argument) for argument in arguments])
        case x.Joined() | x.GlobalRef() | x.Distinct() | x.OverPath():
            raise AssertionError(f"{node} stands in walks only")


def may_be_missing(node: x.Compare) -> bool:
    """True where two texts are compared that may both be missing, and are then not equal."""
    sides = node.left, node.right
    return node.left.type is x.ValueType.TEXT and not any(
        isinstance(side, x.Text | x.ParameterRef) for side in sides
    )


def write_body(body: p.Body, places: Places, indent: int = 1) -> list[str]:
    lines: list[str] = []
    for statement in body:
        lines.extend(_statement(statement, places, indent))
    return lines


def _statement(statement: p.Statement, places: Places, indent: int) -> list[str]:
    pad = "    " * indent
    match statement:
        case p.AssignState(name, value, index):
            place = None if index is None else write_expression(index, places)
            return [f"{pad}{places.assign(name, place)} = {write_expression(value, places)}"]
        case p.AssignLocal(name, value):
            return [f"{pad}local_{name} = {write_expression(value, places)}"]
        case p.Send(accumulator, value, index):
            place = None if index is None else write_expression(index, places)
            sent = places.send(accumulator, place, write_expression(value, places))
            return [pad + line for line in sent]
        case p.If(condition, then, otherwise):
            lines = [f"{pad}if {write_expression(condition, places)}:"]
            lines += write_body(then, places, indent + 1) or [pad + "    pass"]
            if len(otherwise) == 1 and isinstance(otherwise[0], p.If):
                # Python takes 100 levels of indentation, and any number of `elif`.
                first, *rest = _statement(otherwise[0], places, indent)
                lines += [f"{pad}el{first.removeprefix(pad)}", *rest]
            elif otherwise:
                lines.append(f"{pad}else:")
                lines += write_body(otherwise, places, indent + 1)
            return lines
        case p.ForRange(variable, start, stop, body, step):
            bounds = f"{write_expression(start, places)}, {write_expression(stop, places)}, {step}"
            head = f"{pad}for local_{variable} in range({bounds}):"
            return [head, *(write_body(body, places, indent + 1) or [pad + "    pass"])]


def constant_text(value: float, type_: x.ValueType) -> str:
    if type_ is x.ValueType.FLOAT:
        number = float(value)
        if math.isnan(number):
            return "np.nan"
        if math.isinf(number):
            return "np.inf" if number > 0 else "(-np.inf)"
        return _signed(repr(number))
    return _signed(repr(value))


def _whole_constant(node: x.Expression) -> int | None:
    """What ints that are written out come to, within 64 bits; None of anything else.

    Python would work it out itself, with ints of any size, and Numba take it for a number without
    sign or for none.
    """
    match node:
        case x.Const(value, x.ValueType.INT):
            return int(value)
        case x.Unary("-", operand):
            inner = _whole_constant(operand)
            return None if inner is None else _within_64_bits(-inner)
        case x.Call("abs", (operand,)):
            inner = _whole_constant(operand)
            return None if inner is None else _within_64_bits(abs(inner))
        case x.Binary(operator, left, right) if node.type is x.ValueType.INT:
            one, other = _whole_constant(left), _whole_constant(right)
            return None if one is None or other is None else _worked_out(operator, one, other)
    return None


def _worked_out(operator: str, one: int, other: int) -> int:
    match operator:
        case "+":
            return _within_64_bits(one + other)
        case "-":
            return _within_64_bits(one - other)
        case "*":
            return _within_64_bits(one * other)
        case "//":
            return _within_64_bits(one // other) if other else 0
        case "%":
            return one % other if other else 0
        case _:
            return _within_64_bits(pow(one, other, 1 << 64))


def _within_64_bits(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _signed(text: str) -> str:
    """A sign binds less than a power does."""
    return f"({text})" if text.startswith("-") else text


def _binary(node: x.Binary, left: str, right: str) -> str:
    plain = f"({left} {node.operator} {right})"
    if node.operator not in ("//", "%") or node.type is not x.ValueType.INT:
        return plain
    if isinstance(node.right, x.Const) and node.right.value > 0:
        return plain
    negated = f"(- {left})" if node.operator == "//" else "0"
    return f"(0 if {right} == 0 else {negated} if {right} == -1 else {plain})"


def _call(function: str, arguments: list[str]) -> str:
    if function in ("min", "max"):
        return f"{function}({', '.join(arguments)})"
    if function in ("least", "greatest"):
        return f"np.{'fmin' if function == 'least' else 'fmax'}({', '.join(arguments)})"
    (argument,) = arguments
    match function:
        case "abs" | "bool":
            return f"{function}({argument})"
        case "int" | "float":
            return f"np.{function}64({argument})"
        case "floor" | "ceil":
            return f"np.int64(np.{function}({argument}))"
        case _:
            return f"np.{function}({argument})"


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
