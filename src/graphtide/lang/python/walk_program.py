"""A walk program as a whole: a class whose `traverse(self, u)` has loops, read into a plan."""

from __future__ import annotations

import ast

from graphtide.lang.python.fields import Fields
from graphtide.lang.python.functions import argument_names, check_used, find_function, read_function
from graphtide.lang.python.scope import ErrorSource
from graphtide.lang.python.source import ClassSource
from graphtide.lang.python.statements import check_nesting
from graphtide.lang.python.walk_scope import WalkScope
from graphtide.lang.python.walk_statements import read_walk
from graphtide.plan import walks as w
from graphtide.plan.expressions import Expression, ParameterRef, ValueType
from graphtide.plan.one_hop import one_hop
from graphtide.plan.programs import VertexProgram

Walk = tuple[w.WalkStatement, ...]


def is_walk_program(fields: Fields) -> bool:
    """Whether `traverse` is given one vertex, or has loops over neighbours."""
    node = fields.places.get("traverse")
    if not isinstance(node, ast.FunctionDef):
        return False
    return len(node.args.posonlyargs) + len(node.args.args) == 2


def check_no_walk(source: ClassSource, fields: Fields) -> None:
    """Refuse what only walks can fill in a program without one."""
    for name in (*fields.globals, *fields.matches):
        raise source.error(
            fields.places[name],
            f"only walks send to '{name}', and this program has none",
            "write `def traverse(self, u)` with loops: `for v, e in u.out_edges`",
        )


def read_walk_program(source: ClassSource, fields: Fields) -> w.WalkProgram | VertexProgram:
    """The plan of the class; that of a vertex program where it is the same thing."""
    root, walk = _read_traverse(source, fields)
    program = w.WalkProgram(
        name=source.node.name,
        parameters=tuple(fields.parameters.values()),
        state=tuple(fields.state.values()),
        accumulators=tuple(fields.accumulators.values()),
        globals=tuple(fields.globals.values()),
        matches=tuple(fields.matches.values()),
        initialize=read_function("initialize", source, fields),
        root=root,
        traverse=walk,
        update=read_function("update", source, fields),
        iterations=fields.settings.iterations,
        tolerance=fields.settings.tolerance,
        documentation=source.documentation,
    )
    _check(program, source, fields)
    return one_hop(program) or program


def _read_traverse(source: ClassSource, fields: Fields) -> tuple[str, Walk]:
    written = find_function("traverse", source, fields)
    assert written is not None
    node, around = written
    me, root = argument_names(node, ("self", "u"), source)
    scope = WalkScope(source, fields, "traverse", me, {}, {}, around)
    scope.bind_vertex(root)
    check_nesting(node.body, scope)
    return root, read_walk(node.body, scope)


def _check(program: w.WalkProgram, source: ClassSource, fields: Fields) -> None:
    if "direction" in fields.places:
        raise source.error(
            fields.places["direction"],
            "a walk has no one direction",
            "its loops say it: u.neighbours, u.out_neighbours or u.in_neighbours",
        )
    statements = list(w.walk_statements(program.traverse))
    check_reached(program, statements, source, fields, fields.places["traverse"])
    sent = {item.accumulator for item in statements if isinstance(item, w.SendAt)}
    expressions = [*w.all_expressions(program), *counted_parameters(program, statements)]
    check_used(program, sent, expressions, source, fields)


def check_reached(
    program: w.WalkProgram,
    statements: list[w.WalkStatement],
    source: ErrorSource,
    fields: Fields,
    traverse: ast.AST,
) -> None:
    """Refuse a walk that goes nowhere, and what nobody sends to."""
    if not any(isinstance(item, w.Step | w.Paths) for item in statements):
        raise source.error(
            traverse,
            "this walk goes nowhere",
            "write a loop, `for v in u.neighbours`; "
            "a vertex program is `def traverse(self, u, e, v)` in a class",
        )
    reached = {item.accumulator for item in statements if isinstance(item, w.SendGlobal)}
    reached |= {item.matches for item in statements if isinstance(item, w.Report)}
    for name in (*fields.globals, *fields.matches):
        if name not in reached:
            raise source.error(
                fields.places[name],
                f"nothing sends to '{name}'",
                f"write self.{name}(...) in `traverse`, or remove it",
            )


def counted_parameters(
    program: w.WalkProgram, statements: list[w.WalkStatement]
) -> list[Expression]:
    """The parameters that say how often something is there, as references to them."""
    return [ParameterRef(name, ValueType.INT) for name in _sizes(program, statements)]


def _sizes(program: w.WalkProgram, statements: list[w.WalkStatement]) -> list[str]:
    """The parameters that say how often something is there."""
    sizes: list[object] = [item.limit for item in program.matches]
    sizes += [size for item in program.matches for _, size in item.sizes]
    for statement in statements:
        match statement:
            case w.Paths(length=length):
                sizes.append(length)
            case w.ForEach(start=start, stop=stop):
                sizes += [start, stop]
            case _:
                pass
    return [item for item in sizes if isinstance(item, str)]
