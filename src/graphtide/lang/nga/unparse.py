"""A plan as the text of L_NGA that reads as it: the counterpart of `nga`.

L_NGA says less than Python: it has no paths, no rows of matches, and no names that change their
value. `unparse` reads what it writes again before it hands it out, so that no text ever says
something else than its plan. Expressions have as few parentheses as they can do with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from graphtide.lang.nga.parse import parse_program
from graphtide.lang.nga.program import lower
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.expressions import EdgeProperty, ValueType, VertexProperty
from graphtide.plan.program_reads import edge_properties, vertex_properties

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _TERM, _SIGN, _POWER, _ATOM = range(10)
_BINARY = {"+": _SUM, "-": _SUM, "*": _TERM, "/": _TERM, "%": _TERM, "**": _POWER}
_CALLS = {"float": "Double"}
NEIGHBOURS = {"out": "out_nbrs", "in": "in_nbrs", "both": "nbrs"}
_NAME = re.compile(r"[^\W\d]\w*")


class UnspeakableError(Exception):
    """A part of a plan that L_NGA has no words for; the text says which."""


def expression_text(expression: x.Expression) -> str:
    return _text(expression)[0]


def number_text(value: x.Number) -> str:
    """A constant: `true`, `3`, `0.5`, `-Infinity`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def index_text(index: x.Expression | None) -> str:
    """`[k]`, or nothing where there is no index."""
    return "" if index is None else f"[{expression_text(index)}]"


def word_text(name: str) -> str:
    """The name of a property, in quotes where it is no plain name."""
    if '"' in name or "\n" in name or not name:
        raise UnspeakableError(f"the property {name!r}")
    return name if _NAME.fullmatch(name) else f'"{name}"'


def _text(expression: x.Expression) -> tuple[str, int]:
    match expression:
        case x.Const(value):
            text = number_text(value)
            return text, _SIGN if text.startswith("-") else _ATOM
        case x.Unary("-", operand):
            return f"-{_within(operand, _SIGN)}", _SIGN
        case x.Unary(_, operand):
            return f"Not {_within(operand, _NOT)}", _NOT
        case x.Binary("//", left, right):
            return f"Div({expression_text(left)}, {expression_text(right)})", _ATOM
        case x.Binary("**", left, right):
            return f"{_within(left, _ATOM)} ** {_within(right, _SIGN)}", _POWER
        case x.Binary(operator, left, right):
            level = _BINARY[operator]
            return f"{_within(left, level)} {operator} {_within(right, level + 1)}", level
        case x.Compare(operator, left, right):
            return f"{_within(left, _SUM)} {operator} {_within(right, _SUM)}", _COMPARE
        case x.Boolean(operator, terms):
            level = _AND if operator == "and" else _OR
            word = operator.capitalize()
            return f" {word} ".join(_within(term, level + 1) for term in terms), level
        case x.Choice(condition, yes, no):
            head = f"{_within(condition, _OR)} ? {_within(yes, _CHOICE)}"
            return f"{head} : {_within(no, _CHOICE)}", _CHOICE
        case x.Member(vertex, parameter):
            return f"{vertex} in {parameter}", _COMPARE
        case x.Joined(source, target, way):
            return f"{target} in {source}.{NEIGHBOURS[way]}", _COMPARE
        case _:
            return _atom_text(expression), _ATOM


def _atom_text(expression: x.Expression) -> str:
    match expression:
        case x.ParameterRef(name) | x.Local(name):
            return name
        case x.PairSource(parameter):
            return f"{parameter}.source"
        case x.Text(value):
            if '"' in value or "\n" in value or not value:
                raise UnspeakableError(f"the text {value!r}")
            return f'"{value}"'
        case x.GlobalRef(name, _, index):
            return f"{name}{index_text(index)}"
        case x.StateRef(vertex, name, _, index):
            return f"{vertex}.{name}{index_text(index)}"
        case x.AccumulatorRef(name, _, index):
            return f"v.{name}{index_text(index)}"
        case x.EdgeProperty(name, _, edge):
            return f"{edge}.{word_text(name)}"
        case x.VertexProperty(vertex, name):
            return f"{vertex}.{word_text(name)}"
        case x.VertexFact(vertex, fact):
            return f"{vertex}.{fact}"
        case x.Iteration():
            return "Superstep"
        case x.Call(function, arguments):
            word = _CALLS.get(function, function.capitalize())
            return f"{word}({', '.join(map(expression_text, arguments))})"
        case _:
            raise UnspeakableError("what holds along a path")


def _within(expression: x.Expression, least: int) -> str:
    text, level = _text(expression)
    return text if level >= least else f"({text})"


_INDENT = "  "
_TYPES = {
    ValueType.INT: "long",
    ValueType.FLOAT: "double",
    ValueType.BOOL: "bool",
    ValueType.TEXT: "string",
    ValueType.DATE: "date",
    ValueType.TIMESTAMP: "timestamp",
}
_DATA = (p.ParameterKind.TEXT, p.ParameterKind.DATE, p.ParameterKind.TIMESTAMP)
_PARAMETERS = {
    p.ParameterKind.INT: "long",
    p.ParameterKind.FLOAT: "double",
    p.ParameterKind.TEXT: "string",
}
Plan = p.VertexProgram | w.WalkProgram


def unparse(program: Plan) -> str:
    try:
        text = "\n".join(_lines(program)) + "\n"
    except UnspeakableError as found:
        raise _refused(program, f"it has no words for {found}") from None
    try:
        again = lower(parse_program(text), program.name)
    except LanguageError as error:
        raise _refused(program, error.what) from None
    if again != program:
        raise _refused(program, "a name changes its value, or is not called so in L_NGA")
    return text


def _refused(program: Plan, why: str) -> InputError:
    return InputError(
        f"{program.name} cannot be written in L_NGA: {why}",
        hint="write it as a class in Python: graphtide.lang.python.unparse(plan)",
    )


def _lines(program: Plan) -> Iterator[str]:
    _check_types(program)
    if program.documentation:
        yield from (f"// {line}".rstrip() for line in program.documentation.split("\n"))
    yield f"Program {program.name}"
    given = [item for item in program.parameters if item.name != "V"]
    yield from _declaration("Parameter", [_parameter_text(item) for item in given])
    yield from _declaration("Edge", _property_texts(program))
    held = [_vertex_text(item) for item in vertex_properties(program).values()]
    held += [_state_text(item) for item in program.state]
    held += [_accumulator_text(item) for item in program.accumulators]
    yield from _declaration("Vertex", held)
    if isinstance(program, w.WalkProgram):
        if program.matches:
            raise UnspeakableError("rows of matches")
        yield from _declaration("GlobalVariable", [_accumulator_text(x) for x in program.globals])
    yield from _settings(program)
    yield from _function("Initialize (v):", _body(program.initialize, program))
    if isinstance(program, w.WalkProgram):
        nested = any(_nests(item) for item in program.traverse)
        yield from _function(
            f"Traverse ({program.root}):", _walk(program.traverse, program, nested)
        )
    else:
        yield from _function("Traverse (u):", _one_loop(program))
    yield from _function("Update (v):", _body(program.update, program))


def _check_types(program: Plan) -> None:
    """L_NGA has no value for a text or a moment that nobody gave."""
    for name, held in vertex_properties(program).items():
        if isinstance(held.missing, str):
            raise UnspeakableError(f"what stands in for '{name}' where it is missing")
    for item in program.parameters:
        if item.kind in _DATA and item.default is not None:
            raise UnspeakableError(f"a default of a parameter that is a {item.kind}")


def _declaration(word: str, listed: list[str]) -> Iterator[str]:
    if listed:
        yield f"{word} ({', '.join(listed)})"


def _parameter_text(item: p.Parameter) -> str:
    kind = _PARAMETERS.get(item.kind, str(item.kind))
    if item.default is None or isinstance(item.default, str):
        return f"{item.name}: {kind}"
    return f"{item.name}: {kind} = {number_text(item.default)}"


def _property_texts(program: Plan) -> list[str]:
    if isinstance(program, p.VertexProgram):
        types = edge_properties(program)
    else:
        read = (x for x in w.walk_expressions(program.traverse) if isinstance(x, EdgeProperty))
        types = {item.name: item.type for item in read}
    return [f"{word_text(name)}: {_TYPES[kind]}" for name, kind in types.items()]


def _vertex_text(item: VertexProperty) -> str:
    missing = ""
    if isinstance(item.missing, int | float):  # Others were refused before.
        missing = f" = {number_text(item.missing)}"
    return f"{word_text(item.name)}: {_TYPES[item.type]}{missing}"


def _state_text(item: p.StateField) -> str:
    held = _TYPES[item.type]
    if item.size is not None:
        held = f"Array<{held}, {item.size}>"
    return f"{item.name}: {held} = {number_text(item.default)}"


def _accumulator_text(item: p.Accumulator) -> str:
    held = f"Accm<{_TYPES[item.type]}, {str(item.kind).upper()}>"
    return f"{item.name}: {held if item.size is None else f'Array<{held}, {item.size}>'}"


def _settings(program: Plan) -> Iterator[str]:
    if program.iterations not in (None, "iterations"):
        yield f"Iterations ({program.iterations})"
    if program.tolerance not in (0.0, "tolerance"):
        yield f"Tolerance ({program.tolerance})"


def _function(head: str, body: list[str]) -> Iterator[str]:
    if body:
        yield ""
        yield head
        yield from _indented(body)


def _indented(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]


def _one_loop(program: p.VertexProgram) -> list[str]:
    """The loop over edges that the `traverse` of a vertex program is."""
    via = " Via e" if edge_properties(program) else ""
    head = f"For v in u.{NEIGHBOURS[program.direction]}{via}"
    return [head, *_block(_body(program.traverse, program))]


def _block(lines: list[str]) -> list[str]:
    return _indented(lines or ["{ }"])


def _body(body: p.Body, program: Plan) -> list[str]:
    return [line for statement in body for line in _statement(statement, program)]


def _statement(statement: p.Statement, program: Plan) -> list[str]:
    match statement:
        case p.AssignState(name, value, index):
            return [f"v.{name}{index_text(index)} = {expression_text(value)};"]
        case p.AssignLocal(name, value):
            return [f"Let {name} = {expression_text(value)};"]
        case p.Send(name, value, index):
            sent = _sent(program.accumulator(name), expression_text(value))
            return [f"v.{name}{index_text(index)}.Accumulate({sent});"]
        case p.If(condition, then, otherwise):
            head = f"If ({expression_text(condition)})"
            return _branches(head, _body(then, program), _body(otherwise, program))
        case p.ForRange(variable, start, stop, body, step):
            bounds = [expression_text(start), expression_text(stop)]
            return _numbers(variable, bounds, step, _body(body, program))


def _sent(item: p.Accumulator, value: str) -> str:
    return "" if item.kind is p.AccumulatorKind.COUNT else value


def _branches(head: str, then: list[str], otherwise: list[str]) -> list[str]:
    lines = [head, *_block(then)]
    return [*lines, "Else", *_indented(otherwise)] if otherwise else lines


def _numbers(variable: str, bounds: list[str], step: int, body: list[str]) -> list[str]:
    listed = [*bounds, str(step)] if step != 1 else bounds[1:] if bounds[0] == "0" else bounds
    return [f"For {variable} in Range({', '.join(listed)})", *_block(body)]


def _walk(body: tuple[w.WalkStatement, ...], program: w.WalkProgram, nested: bool) -> list[str]:
    return [line for item in body for line in _walked(item, program, nested)]


def _walked(statement: w.WalkStatement, program: w.WalkProgram, nested: bool) -> list[str]:
    match statement:
        case w.SendAt(vertex, name, value, index):
            sent = _sent(program.accumulator(name), expression_text(value))
            return [f"{vertex}.{name}{index_text(index)}.Accumulate({sent});"]
        case w.SendGlobal(name, value, index):
            sent = _sent(program.accumulator(name), expression_text(value))
            return [f"{name}{index_text(index)}.Accumulate({sent});"]
        case w.When(condition, then, otherwise):
            head = f"If ({expression_text(condition)})"
            ways = (_walk(way, program, nested) for way in (then, otherwise))
            return _branches(head, *ways)
        case w.Step(origin, way, vertex, edge, inner):
            word = "" if edge is not None or nested else "Distinct "
            via = "" if edge is None else f" Via {edge}"
            head = f"For {vertex} in {word}{origin}.{NEIGHBOURS[way]}{via}"
            return [head, *_block(_walk(inner, program, nested))]
        case w.ForEach(variable, start, stop, inner, step):
            bounds = [str(start), str(stop)]
            return _numbers(variable, bounds, step, _walk(inner, program, nested))
        case _:
            raise UnspeakableError("paths and rows of matches")


def _nests(statement: w.WalkStatement) -> bool:
    loops = [item for item in w.walk_statements((statement,)) if isinstance(item, w.Step)]
    return any(
        isinstance(inner, w.Step) for loop in loops for inner in w.walk_statements(loop.body)
    )
