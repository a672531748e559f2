"""Walk programs as text: `traverse` as Python would write it, and `explain`.

As with vertex programs, the text put back into a class reads as the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphtide.plan import walks as w
from graphtide.plan.expressions import EdgeProperty, ValueType
from graphtide.plan.program_text import (
    NEIGHBOURS,
    accumulator_text,
    along_text,
    body_lines,
    expression_text,
    field_text,
    index_text,
    iterations_text,
    parameter_text,
    property_text,
    section,
    vertex_property_texts,
)
from graphtide.plan.programs import AccumulatorKind, Direction, Size

_INDENT = "    "
_EDGES = {Direction.OUT: "out_edges", Direction.IN: "in_edges", Direction.BOTH: "edges"}
Body = tuple[w.WalkStatement, ...]


def explain_walk(program: w.WalkProgram) -> str:
    """The whole program, a declaration or statement a line."""
    lines = [f"program {program.name}"]
    if program.documentation:
        lines.append(f"{_INDENT}{program.documentation.splitlines()[0]}")
    lines += section("parameters", map(parameter_text, program.parameters))
    lines += section("state", map(field_text, program.state))
    lines += section("accumulators", map(accumulator_text, program.accumulators))
    lines += section("of the whole graph", map(accumulator_text, program.globals))
    lines += section("matches", map(_matches_text, program.matches))
    lines += section("edge properties", _property_texts(program))
    lines += section("vertex properties", vertex_property_texts(program))
    lines.append(f"iterations {iterations_text(program)}")
    if program.tolerance != 0.0:
        lines.append(f"tolerance {program.tolerance}, relative")
    lines += section("initialize(v)", body_lines(program.initialize, program))
    lines += section(f"traverse({program.root})", walk_lines(program.traverse, program))
    lines += section("update(v)", body_lines(program.update, program))
    return "\n".join(lines)


def walk_lines(body: Body, program: w.WalkProgram) -> list[str]:
    """The statements of a walk, a line each, indented below the ones they stand in."""
    return [line for statement in body for line in _lines(statement, program)]


def walk_properties(program: w.WalkProgram) -> dict[str, ValueType]:
    """The edge properties that walks read, with the type they take each as."""
    found = {
        item.name: item.type
        for item in w.walk_expressions(program.traverse)
        if isinstance(item, EdgeProperty)
    }
    return dict(sorted(found.items()))


def loop_text(step: w.Step | w.Paths) -> str:
    """`for v, e in u.out_edges`, `for v, path in u.neighbours.repeat(self.length)`."""
    match step:
        case w.Step(origin, way, vertex, None):
            return f"for {vertex} in {origin}.{NEIGHBOURS[way]}"
        case w.Step(origin, way, vertex, edge):
            return f"for {vertex}, {edge} in {origin}.{_EDGES[way]}"
        case w.Paths(origin, way, vertex, path, edges, length):
            over = _EDGES[way] if edges else NEIGHBOURS[way]
            return f"for {vertex}, {path} in {origin}.{over}.repeat({_size_text(length)})"


def _property_texts(program: w.WalkProgram) -> Iterator[str]:
    return (f"{property_text(name)}: {kind}" for name, kind in walk_properties(program).items())


def _matches_text(item: w.Matches) -> str:
    sizes = dict(item.sizes)
    columns = [
        f"{name}: {kind}" + (f"[{sizes[name]}]" if name in sizes else "")
        for name, kind in item.columns
    ]
    kept = "all rows" if item.limit is None else f"at most {item.limit} rows"
    return f"{item.name}: {', '.join(columns)}; {kept}"


def _size_text(size: Size) -> str:
    return f"self.{size}" if isinstance(size, str) else str(size)


def _lines(statement: w.WalkStatement, program: w.WalkProgram) -> list[str]:
    match statement:
        case w.SendAt(vertex, name, value, index):
            sent = _sent(name, expression_text(value), program)
            return [f"{vertex}.{name}{index_text(index)}({sent})"]
        case w.SendGlobal(name, value, index):
            sent = _sent(name, expression_text(value), program)
            return [f"self.{name}{index_text(index)}({sent})"]
        case w.Report(name, values):
            return [f"self.{name}({', '.join(map(expression_text, values))})"]
        case w.When():
            return _when_lines(statement, "if", program)
        case w.ForEach(variable, body=body):
            return [f"for {variable} in range({_range_text(statement)}):", *_block(body, program)]
        case w.Along(names, body=body):
            return [f"for {', '.join(names)} in {along_text(statement)}:", *_block(body, program)]
        case _:
            return [f"{loop_text(statement)}:", *_block(statement.body, program)]


def _sent(name: str, value: str, program: w.WalkProgram) -> str:
    return "" if program.accumulator(name).kind is AccumulatorKind.COUNT else value


def _when_lines(statement: w.When, word: str, program: w.WalkProgram) -> list[str]:
    head = f"{word} {expression_text(statement.condition)}:"
    lines = [head, *_block(statement.then, program)]
    match statement.otherwise:
        case ():
            return lines
        case (w.When() as other,):
            return lines + _when_lines(other, "elif", program)
        case _:
            return [*lines, "else:", *_block(statement.otherwise, program)]


def _block(body: Body, program: w.WalkProgram) -> list[str]:
    return [_INDENT + line for line in walk_lines(body, program) or ["pass"]]


def _range_text(loop: w.ForEach) -> str:
    start, stop = _size_text(loop.start), _size_text(loop.stop)
    if loop.step != 1:
        return f"{start}, {stop}, {loop.step}"
    return stop if start == "0" else f"{start}, {stop}"
