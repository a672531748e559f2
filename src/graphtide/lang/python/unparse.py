"""A plan as the Python class that reads as it: the counterpart of `read`.

The class names what it needs through `gt`, and `inf` as `inf`. This module does not look for plans
that no class can hold (a loop variable that is also state, say).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphtide.plan import programs as p
from graphtide.plan.expressions import FLOAT, EdgeProperty, Expression, ValueType
from graphtide.plan.program_reads import vertex_properties
from graphtide.plan.program_text import body_lines, number_text
from graphtide.plan.walk_text import walk_lines
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
    """The source of the class, decorator included."""
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
    """What only walk programs declare."""
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
