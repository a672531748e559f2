"""The functions of a program class, and what only all of them together can tell."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from graphtide.lang.python.fields import Fields
from graphtide.lang.python.scope import ErrorSource, Scope
from graphtide.lang.python.source import ClassSource
from graphtide.lang.python.statements import read_body
from graphtide.plan.expressions import (
    AccumulatorRef,
    EdgeProperty,
    Expression,
    Member,
    PairSource,
    ParameterRef,
    VertexProperty,
)
from graphtide.plan.programs import Body, VertexProgram
from graphtide.plan.walks import WalkProgram

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "initialize": ("self", "v"),
    "traverse": ("self", "u", "e", "v"),
    "update": ("self", "v"),
}


def read_function(name: str, source: ClassSource, fields: Fields) -> Body:
    """The statements of a function; none where the class does not have it."""
    written = find_function(name, source, fields)
    if written is None:
        return ()
    node, around = written
    wanted = ARGUMENTS[name]
    given = dict(zip(argument_names(node, wanted, source), wanted, strict=True))
    me = next(name for name, role in given.items() if role == "self")
    vertices = {name: role for name, role in given.items() if role in ("u", "v")}
    edges = {name: role for name, role in given.items() if role == "e"}
    scope = Scope(source, fields, name, me, vertices, edges, around)
    return read_body(node.body, scope)


def find_function(
    name: str, source: ClassSource, fields: Fields
) -> tuple[ast.FunctionDef, Mapping[str, object]] | None:
    """A function as it stands in the class, and the names around it; None if there is none."""
    node = fields.places.get(name)
    if node is None:
        return None
    around = source.around(name)
    if not isinstance(node, ast.FunctionDef) or around is None:
        raise source.error(node, f"`{name}` is a function", f"write `def {name}`")
    if node.decorator_list:
        raise source.error(
            node.decorator_list[0], "the functions of a program take no decorators", "remove it"
        )
    return node, around


def argument_names(
    node: ast.FunctionDef, wanted: tuple[str, ...], source: ClassSource
) -> list[str]:
    """What the user calls the arguments."""
    arguments = node.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    special = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults
    if len(names) != len(wanted) or special:
        hint = f"write `def {node.name}({', '.join(wanted)})`; the names are yours to choose"
        if node.name == "traverse":
            hint += "; a walk of several edges is `def traverse(self, u)` with loops"
        raise source.error(node, f"{node.name} takes {len(wanted)} arguments", hint)
    return names


def check_used(
    program: VertexProgram | WalkProgram,
    sent: set[str],
    expressions: Iterable[Expression],
    source: ErrorSource,
    fields: Fields,
) -> None:
    """Refuse accumulators that nothing sends to or reads, and all else that nothing uses."""
    known = list(expressions)
    read = {item.name for item in known if isinstance(item, AccumulatorRef)}
    for accumulator in program.accumulators:
        for names, does, where in ((sent, "sends to", "traverse"), (read, "reads", "update")):
            if accumulator.name not in names:
                raise source.error(
                    fields.places[accumulator.name],
                    f"nothing {does} the accumulator '{accumulator.name}'",
                    f"use v.{accumulator.name} in `{where}`, or remove it",
                )
    used = parameters_used(program, known)
    of_edges = {item.name for item in known if isinstance(item, EdgeProperty)}
    for name, parameter in fields.parameters.items():
        if name not in used:
            hint = f"use self.{name}, or remove it; if it is state, assign v.{name} in `update`"
            if name in of_edges:
                hint = f"e.{name} is a property of edges, which is declared as "
                hint += f"`{name} = gt.Property({parameter.kind})`, or not at all if it is a float"
            raise source.error(fields.places[name], f"nothing uses the parameter '{name}'", hint)
    looked_at = {item.name for item in known if isinstance(item, VertexProperty)}
    for name in fields.vertex_properties:
        if name not in looked_at:
            raise source.error(
                fields.places[name],
                f"nothing reads the vertex property '{name}'",
                f"use v.{name}, or remove it",
            )


def parameters_used(
    program: VertexProgram | WalkProgram, expressions: Iterable[Expression]
) -> set[str]:
    """The parameters that sizes, settings and expressions name."""
    names = {str(item.size) for item in program.sized}
    names |= {str(program.iterations), str(program.tolerance)}
    for item in expressions:
        match item:
            case ParameterRef(name) | Member(parameter=name) | PairSource(name):
                names.add(name)
    return names
