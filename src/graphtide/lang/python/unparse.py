"""A plan as the text of a Python class, and that text read again without running it.

`unparse` writes the class that reads as the plan. The class names what it needs through `gt`, and
`inf` as `inf`. It does not look for plans that no class can hold (a loop variable that is also
state, say).

Stores hold programs as such texts, and a store may have been made by somebody else. So
`written_program` parses the text and never compiles it or carries it out. It is one class. What its
body declares is made of a small vocabulary: numbers and texts, the types, and what `gt` has for
declarations. Its functions know the functions of mathematics and no other names from outside. The
text goes through every check that a class of the user's own goes through.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import Any

from graphtide.lang.python import declarations
from graphtide.lang.python.program import Program, read_source
from graphtide.lang.python.source import FUNCTIONS, ClassSource
from graphtide.model.errors import LanguageError
from graphtide.model.limits import parsed
from graphtide.plan import programs as p
from graphtide.plan.expressions import FLOAT, EdgeProperty, Expression, ValueType
from graphtide.plan.program_reads import vertex_properties
from graphtide.plan.program_text import body_lines, number_text, walk_lines
from graphtide.plan.walks import WalkProgram, walk_expressions

_INDENT = "    "
_KINDS = {
    p.ParameterKind.VERTEX: "gt.Vertex",
    p.ParameterKind.VERTICES: "gt.Vertices",
    p.ParameterKind.PAIRS: "gt.Pairs",
    p.ParameterKind.DATE: "gt.Date",
    p.ParameterKind.TIMESTAMP: "gt.Timestamp",
}
_MOMENTS = {ValueType.DATE: "gt.Date", ValueType.TIMESTAMP: "gt.Timestamp"}
_WITHOUT_TYPE = (p.AccumulatorKind.COUNT, p.AccumulatorKind.OR, p.AccumulatorKind.AND)


def unparse(program: p.VertexProgram | WalkProgram) -> str:
    lines = list(_documentation(program.documentation))
    lines += [_parameter_line(item) for item in program.parameters]
    lines += [_state_line(item) for item in program.state]
    lines += [f"{item.name} = {_accumulator_text(item)}" for item in program.accumulators]
    if isinstance(program, WalkProgram):
        lines += _walk_lines(program)
    else:
        lines += _property_lines(p.expressions_of(program.traverse))
    lines += _vertex_property_lines(program)
    lines += _setting_lines(program)
    lines += _function("initialize(self, v)", body_lines(program.initialize, program))
    if isinstance(program, WalkProgram):
        head = f"traverse(self, {program.root})"
        lines += _function(head, walk_lines(program.traverse, program))
    else:
        lines += _function("traverse(self, u, e, v)", body_lines(program.traverse, program))
    lines += _function("update(self, v)", body_lines(program.update, program))
    body = "\n".join(_INDENT + line if line else "" for line in lines)
    return f"@gt.program\nclass {program.name}:\n{body}\n"


def _documentation(text: str) -> Iterator[str]:
    if text:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        yield from f'"""{escaped}"""'.split("\n")


def _parameter_line(parameter: p.Parameter) -> str:
    kind = _KINDS.get(parameter.kind, parameter.kind.value)
    default = "" if parameter.default is None else f" = {number_text(parameter.default)}"
    return f"{parameter.name}: {kind}{default}"


def _state_line(field: p.StateField) -> str:
    default = f", default={number_text(field.default)}"
    return f"{field.name} = gt.State({field.type}{default}{_size_text(field.size)})"


def _walk_lines(program: WalkProgram) -> Iterator[str]:
    for item in program.globals:
        yield f"{item.name} = gt.Global({_accumulator_text(item)})"
    for rows in program.matches:
        sizes = dict(rows.sizes)
        columns = [f"{name}={_column_text(kind, sizes.get(name))}" for name, kind in rows.columns]
        limit = [] if rows.limit is None else [f"limit={rows.limit!r}"]
        yield f"{rows.name} = gt.Matches({', '.join([*columns, *limit])})"
    yield from _property_lines(walk_expressions(program.traverse))


def _column_text(kind: ValueType | str, size: p.Size | None) -> str:
    held = str(kind) if isinstance(kind, ValueType) else "gt.Vertex"
    return held if size is None else f"gt.Columns({held}{_size_text(size)})"


def _accumulator_text(item: p.Accumulator) -> str:
    declared = "" if item.kind in _WITHOUT_TYPE else item.type.value
    arguments = (declared + _size_text(item.size)).removeprefix(", ")
    return f"gt.{item.kind.value.capitalize()}({arguments})"


def _size_text(size: int | str | None) -> str:
    return "" if size is None else f", size={size!r}"


def _property_lines(expressions: Iterable[Expression]) -> list[str]:
    types = {
        item.name: item.type
        for item in expressions
        if isinstance(item, EdgeProperty) and item.type is not FLOAT
    }
    return [
        f"{name} = gt.Property({_MOMENTS.get(value_type, value_type.value)})"
        for name, value_type in types.items()
    ]


def _vertex_property_lines(program: p.VertexProgram | WalkProgram) -> Iterator[str]:
    for item in vertex_properties(program).values():
        missing = "" if item.missing is None else f", missing={number_text(item.missing)}"
        kind = _MOMENTS.get(item.type, item.type.value)
        yield f"{item.name} = gt.VertexProperty({kind}{missing})"


def _setting_lines(program: p.VertexProgram | WalkProgram) -> Iterator[str]:
    if isinstance(program, p.VertexProgram) and program.direction is not p.Direction.OUT:
        yield f'direction = "{program.direction}"'
    if program.iterations not in (None, "iterations"):
        yield f"iterations = {program.iterations!r}"
    if program.tolerance not in (0.0, "tolerance"):
        yield f"tolerance = {program.tolerance!r}"


def _function(head: str, body: list[str]) -> Iterator[str]:
    yield ""
    yield f"def {head}:"
    yield from (_INDENT + line for line in body or ["pass"])


_MOST_CHARACTERS = 1 << 20
_TYPES: dict[str, object] = {"int": int, "float": float, "bool": bool, "str": str}
_GIVEN_KINDS = ("Vertex", "Vertices", "Pairs", "Date", "Timestamp")
_CALLS = {"And", "Columns", "Count", "Global", "Matches", "Max", "Min", "Or", "Product"}
_CALLS |= {"Property", "State", "Sum", "VertexProperty"}
_KNOWN_FUNCTIONS = (
    "min",
    "max",
    "abs",
    "int",
    "float",
    "bool",
    "len",
    "range",
    "all",
    "any",
    "sum",
)
_AROUND: dict[str, object] = {name: getattr(builtins, name) for name in _KNOWN_FUNCTIONS}


def written_program(text: str) -> Program:
    """The program that a text says; LanguageError where it says none."""
    tree = _parsed(text)
    match tree.body:
        case [ast.ClassDef() as node]:
            return Program(_plan(node, text))
        case _:
            raise LanguageError("a program as text is one class, and nothing beside it")


def _parsed(text: str) -> ast.Module:
    if len(text) > _MOST_CHARACTERS:
        raise LanguageError(
            f"a program as text has at most {_MOST_CHARACTERS:,} characters, and this has "
            f"{len(text):,}"
        )
    try:
        return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise LanguageError(f"a program as text cannot be read: {reason[:100]}") from None


def _plan(node: ast.ClassDef, text: str) -> Any:
    values: dict[str, object] = {}
    annotations: dict[str, object] = {}
    source = ClassSource(text, "stored program", node, values, annotations, _around)
    for decorator in node.decorator_list:
        if ast.unparse(decorator) != "gt.program":
            raise source.error(decorator, "a program as text has no decorators but @gt.program")
    try:
        for item in node.body:
            match item:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    annotations[name] = ast.unparse(annotation)
                    if value is not None:
                        values[name] = _value(value, source)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = _value(value, source)
        return read_source(source)
    except RecursionError:
        # Trees are walked by recursion, which Python ends after some hundred levels.
        raise source.error(
            node, "the program has an expression too long or too deeply nested to be read"
        ) from None


def _around(name: str) -> dict[str, object] | None:
    return _AROUND if name in FUNCTIONS else None


def _value(node: ast.expr, source: ClassSource) -> object:
    """What is declared: a number, a text, a type, or a declaration made of these."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _value(operand, source)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return -number
        case ast.Name(id="inf"):
            return declarations.inf
        case ast.Name(id=name) if name in _TYPES:
            return _TYPES[name]
        case ast.Attribute(value=ast.Name(id="gt"), attr=name) if name in _GIVEN_KINDS:
            return getattr(declarations, name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="gt"), attr=name)) if name in _CALLS:
            return _declaration(node, getattr(declarations, name), source)
    raise source.error(node, "this is no part of a declaration in a program as text")


def _declaration(node: ast.Call, kind: Any, source: ClassSource) -> object:
    places = [_value(item, source) for item in node.args]
    names: dict[str, object] = {}
    for item in node.keywords:
        if item.arg is None:
            raise source.error(item, "`**` is no part of a declaration in a program as text")
        names[item.arg] = _value(item.value, source)
    try:
        return kind(*places, **names)
    except TypeError:  # It takes no such arguments.
        raise source.error(node, f"gt.{kind.__name__} is not declared so") from None
