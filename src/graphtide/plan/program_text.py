"""Programs as text: the functions as Python would write them, and `explain` of whole programs.

The text of a function, put back into a class, reads as the same plan, for vertex programs and for
walks: parentheses stand exactly where precedence needs them, and every conversion is written out.
"""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Iterable, Iterator

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.expressions import EdgeProperty, ValueType
from graphtide.plan.program_reads import edge_properties, vertex_properties
from graphtide.plan.programs import AccumulatorKind, Direction, Size
from graphtide.plan.walks import Along, WalkProgram

NEIGHBOURS = {
    p.Direction.OUT: "out_neighbours",
    p.Direction.IN: "in_neighbours",
    p.Direction.BOTH: "neighbours",
}
"""What the neighbours of a vertex are called, by the way that leads to them."""

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _TERM, _SIGN, _POWER, _ATOM = range(10)
_BINARY = {"+": _SUM, "-": _SUM, "*": _TERM, "/": _TERM, "//": _TERM, "%": _TERM, "**": _POWER}
_INDENT = "    "
_DIRECTIONS = {
    p.Direction.OUT: "out: u is the src of an edge, v its dst",
    p.Direction.IN: "in: u is the dst of an edge, v its src",
    p.Direction.BOTH: "both: an edge is traversed from either end",
}


def explain(program: p.VertexProgram) -> str:
    """The whole program, one line per declaration or statement."""
    lines = [f"program {program.name}"]
    if program.documentation:
        lines.append(f"{_INDENT}{program.documentation.splitlines()[0]}")
    lines += section("parameters", map(parameter_text, program.parameters))
    lines += section("state", map(field_text, program.state))
    lines += section("accumulators", map(accumulator_text, program.accumulators))
    lines += section("edge properties", _property_texts(program))
    lines += section("vertex properties", vertex_property_texts(program))
    lines.append(f"direction {_DIRECTIONS[program.direction]}")
    lines.append(f"iterations {iterations_text(program)}")
    if program.tolerance != 0.0:
        lines.append(f"tolerance {program.tolerance}, relative")
    lines += section("initialize(v)", body_lines(program.initialize, program))
    lines += section("traverse(u, e, v)", body_lines(program.traverse, program))
    lines += section("update(v)", body_lines(program.update, program))
    return "\n".join(lines)


def parameter_text(parameter: p.Parameter) -> str:
    """`source: vertex` or `damping: float = 0.85`."""
    default = "" if parameter.default is None else f" = {number_text(parameter.default)}"
    return f"{parameter.name}: {parameter.kind}{default}"


def field_text(field: p.StateField) -> str:
    """`dist: float = inf` or `factors: float[8] = 0.0`."""
    return f"{field.name}: {field.type}{_array_text(field.size)} = {number_text(field.default)}"


def body_lines(body: p.Body, program: p.VertexProgram | WalkProgram) -> list[str]:
    """The statements of a function, a line each, indented below the ones they stand in."""
    return [line for statement in body for line in _statement_lines(statement, program)]


def expression_text(expression: x.Expression) -> str:
    """The expression as Python writes it, with as few parentheses as it can do with."""
    return _text(expression)[0]


def number_text(value: x.Constant) -> str:
    """A constant: `inf` for infinity, floats with a point, texts in quotes."""
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def property_text(name: str, edge: str = "e") -> str:
    """`e.weight`, or `e["my weight"]` where the name is no Python name."""
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return f"{edge}.{name}" if plain else f"{edge}[{json.dumps(name, ensure_ascii=False)}]"


def items_text(items: x.PathItems) -> str:
    """`path.edges`, `path.vertices[1:]`."""
    start, stop = ("" if end is None else str(end) for end in (items.start, items.stop))
    cut = f"[{start}:{stop}]" if start or stop else ""
    return f"{items.path}.{items.kind}{cut}"


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A title, and lines indented below it; nothing where there are no lines."""
    body = list(lines)
    if body:
        yield title
        yield from (_INDENT + line for line in body)


def _array_text(size: int | str | None) -> str:
    return "" if size is None else f"[{size}]"


def accumulator_text(item: p.Accumulator) -> str:
    """`best: min of float, inf if nothing is sent`."""
    of = "" if item.kind is p.AccumulatorKind.COUNT else f" of {item.type}"
    held = f"{item.kind}{of}{_array_text(item.size)}"
    return f"{item.name}: {held}, {number_text(item.identity)} if nothing is sent"


def _property_texts(program: p.VertexProgram) -> list[str]:
    return [f"{property_text(name)}: {kind}" for name, kind in edge_properties(program).items()]


def vertex_property_texts(program: p.VertexProgram | WalkProgram) -> Iterator[str]:
    """The vertex properties that a program reads, with what stands for missing ones."""
    for item in vertex_properties(program).values():
        missing = "" if item.missing is None else f", {number_text(item.missing)} where missing"
        yield f"v.{item.name}: {item.type}{missing}"


def iterations_text(program: p.VertexProgram | WalkProgram) -> str:
    if program.iterations is None:
        return "until nothing changes"
    return f"{program.iterations}, or until nothing changes"


def _statement_lines(statement: p.Statement, program: p.VertexProgram | WalkProgram) -> list[str]:
    match statement:
        case p.AssignState(name, value, index):
            return [f"v.{name}{index_text(index)} = {expression_text(value)}"]
        case p.AssignLocal(name, value):
            return [f"{name} = {expression_text(value)}"]
        case p.Send(name, value, index):
            counts = program.accumulator(name).kind is p.AccumulatorKind.COUNT
            sent = "" if counts else expression_text(value)
            return [f"v.{name}{index_text(index)}({sent})"]
        case p.If():
            return _if_lines(statement, "if", program)
        case p.ForRange(variable, _, _, body, _):
            head = f"for {variable} in range({', '.join(_range_arguments(statement))}):"
            return [head, *_block(body, program)]


def _if_lines(statement: p.If, word: str, program: p.VertexProgram | WalkProgram) -> list[str]:
    head = f"{word} {expression_text(statement.condition)}:"
    lines = [head, *_block(statement.then, program)]
    match statement.otherwise:
        case ():
            return lines
        case (p.If() as other,):
            return lines + _if_lines(other, "elif", program)
        case _:
            return [*lines, "else:", *_block(statement.otherwise, program)]


def _block(body: p.Body, program: p.VertexProgram | WalkProgram) -> list[str]:
    return [_INDENT + line for line in body_lines(body, program) or ["pass"]]


def _range_arguments(loop: p.ForRange) -> list[str]:
    start, stop = expression_text(loop.start), expression_text(loop.stop)
    if loop.step != 1:
        return [start, stop, str(loop.step)]
    return [stop] if start == "0" else [start, stop]


def index_text(index: x.Expression | None) -> str:
    """`[k]`, or nothing where there is no index."""
    return "" if index is None else f"[{expression_text(index)}]"


def _text(expression: x.Expression) -> tuple[str, int]:
    match expression:
        case x.Const(value):
            text = number_text(value)
            return text, _SIGN if text.startswith("-") else _ATOM
        case x.Unary("-", operand):
            return f"-{_within(operand, _SIGN)}", _SIGN
        case x.Unary(_, operand):
            return f"not {_within(operand, _NOT)}", _NOT
        case x.Binary(operator, left, right):
            return _binary_text(operator, left, right)
        case x.Compare(operator, left, right):
            return f"{_within(left, _SUM)} {operator} {_within(right, _SUM)}", _COMPARE
        case x.Boolean(operator, terms):
            level = _AND if operator == "and" else _OR
            return f" {operator} ".join(_within(term, level + 1) for term in terms), level
        case x.Choice(condition, yes, no):
            head = f"{_within(yes, _OR)} if {_within(condition, _OR)}"
            return f"{head} else {_within(no, _CHOICE)}", _CHOICE
        case x.Member(vertex, parameter):
            return f"{vertex} in self.{parameter}", _COMPARE
        case x.Joined(source, target, way):
            return f"{target} in {source}.{NEIGHBOURS[p.Direction(way)]}", _COMPARE
        case _:
            return _atom_text(expression), _ATOM


def _atom_text(expression: x.Expression) -> str:
    match expression:
        case x.Text(value):
            return repr(value)
        case x.ParameterRef(name):
            return f"self.{name}"
        case x.PairSource(parameter):
            return f"self.{parameter}.source"
        case x.StateRef(vertex, name, _, index):
            return f"{vertex}.{name}{index_text(index)}"
        case x.AccumulatorRef(name, _, index):
            return f"v.{name}{index_text(index)}"
        case x.GlobalRef(name, _, index):
            return f"self.{name}{index_text(index)}"
        case x.EdgeProperty(name, _, edge):
            return property_text(name, edge)
        case x.Distinct(vertices):
            listed = (items_text(one) if isinstance(one, x.PathItems) else one for one in vertices)
            return f"distinct({', '.join(listed)})"
        case x.OverPath():
            return _over_path_text(expression)
        case x.VertexFact(vertex, fact):
            return f"{vertex}.{fact}"
        case x.VertexProperty(vertex, name):
            return f"{vertex}.{name}"
        case x.Local(name):
            return name
        case x.Iteration():
            return "self.iteration"
        case x.Call(function, arguments):
            return f"{function}({', '.join(map(expression_text, arguments))})"
        case _:
            raise AssertionError(f"not an atom: {expression!r}")


def along_text(item: x.OverPath | Along) -> str:
    """`path.edges`, `pairwise(path.edges)` or `combinations(path.edges, 2)`."""
    items = items_text(item.items)
    if len(item.names) == 1:
        return items
    return f"combinations({items}, 2)" if item.every else f"pairwise({items})"


def _over_path_text(item: x.OverPath) -> str:
    value, names = expression_text(item.value), ", ".join(item.names)
    said = f"{value} for {names} in {along_text(item)}"
    return f"[{said}]" if item.function == "each" else f"{item.function}({said})"


def _binary_text(operator: str, left: x.Expression, right: x.Expression) -> tuple[str, int]:
    level = _BINARY[operator]
    if operator == "**":
        return f"{_within(left, _ATOM)} ** {_within(right, _SIGN)}", level
    return f"{_within(left, level)} {operator} {_within(right, level + 1)}", level


def _within(expression: x.Expression, least: int) -> str:
    text, level = _text(expression)
    return text if level >= least else f"({text})"


_EDGES = {Direction.OUT: "out_edges", Direction.IN: "in_edges", Direction.BOTH: "edges"}
Body = tuple[w.WalkStatement, ...]


def explain_walk(program: w.WalkProgram) -> str:
    """The whole program, one line per declaration or statement."""
    lines = [f"program {program.name}"]
    if program.documentation:
        lines.append(f"{_INDENT}{program.documentation.splitlines()[0]}")
    lines += section("parameters", map(parameter_text, program.parameters))
    lines += section("state", map(field_text, program.state))
    lines += section("accumulators", map(accumulator_text, program.accumulators))
    lines += section("of the whole graph", map(accumulator_text, program.globals))
    lines += section("matches", map(_matches_text, program.matches))
    lines += section("edge properties", _walk_property_texts(program))
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
            return f"for {vertex}, {path} in {origin}.{over}.repeat({_parameter_text(length)})"


def _walk_property_texts(program: w.WalkProgram) -> Iterator[str]:
    return (f"{property_text(name)}: {kind}" for name, kind in walk_properties(program).items())


def _matches_text(item: w.Matches) -> str:
    sizes = dict(item.sizes)
    columns = [
        f"{name}: {kind}" + (f"[{sizes[name]}]" if name in sizes else "")
        for name, kind in item.columns
    ]
    kept = "all rows" if item.limit is None else f"at most {item.limit} rows"
    return f"{item.name}: {', '.join(columns)}; {kept}"


def _parameter_text(size: Size) -> str:
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
            return [
                f"for {variable} in range({_range_text(statement)}):",
                *_walk_block(body, program),
            ]
        case w.Along(names, body=body):
            return [
                f"for {', '.join(names)} in {along_text(statement)}:",
                *_walk_block(body, program),
            ]
        case _:
            return [f"{loop_text(statement)}:", *_walk_block(statement.body, program)]


def _sent(name: str, value: str, program: w.WalkProgram) -> str:
    return "" if program.accumulator(name).kind is AccumulatorKind.COUNT else value


def _when_lines(statement: w.When, word: str, program: w.WalkProgram) -> list[str]:
    head = f"{word} {expression_text(statement.condition)}:"
    lines = [head, *_walk_block(statement.then, program)]
    match statement.otherwise:
        case ():
            return lines
        case (w.When() as other,):
            return lines + _when_lines(other, "elif", program)
        case _:
            return [*lines, "else:", *_walk_block(statement.otherwise, program)]


def _walk_block(body: Body, program: w.WalkProgram) -> list[str]:
    return [_INDENT + line for line in walk_lines(body, program) or ["pass"]]


def _range_text(loop: w.ForEach) -> str:
    start, stop = _parameter_text(loop.start), _parameter_text(loop.stop)
    if loop.step != 1:
        return f"{start}, {stop}, {loop.step}"
    return stop if start == "0" else f"{start}, {stop}"
