"""A program class as a whole, read into a plan.

Fields first, because functions use them; then the three functions; then what only the whole can
tell: accumulators that nobody sends to or reads, parameters that nobody uses.
"""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from graphtide.lang.python.fields import Fields, read_fields
from graphtide.lang.python.scope import Role, Scope
from graphtide.lang.python.source import FUNCTIONS, ClassSource, find_source, names_around
from graphtide.lang.python.statements import read_body
from graphtide.model.errors import LanguageError
from graphtide.plan.expressions import AccumulatorRef, Member, PairSource, ParameterRef
from graphtide.plan.program_reads import vertex_properties
from graphtide.plan.programs import Body, Send, VertexProgram, expressions_of, statements_of

_ROLES: dict[str, tuple[Role, ...]] = {
    "initialize": ("self", "v"),
    "traverse": ("self", "u", "e", "v"),
    "update": ("self", "v"),
}


def read_program(cls: type) -> VertexProgram:
    """The plan of a program class; LanguageError at the user's line where it has none."""
    if not isinstance(cls, type):
        raise LanguageError(
            f"a program is a class, and this is a {type(cls).__name__}",
            hint="write `@gt.program` above `class ...:`",
        )
    source = find_source(cls)
    _check_class(source)
    fields = read_fields(cls, source)
    _check_complete(source, fields)
    bodies = {name: _read_function(cls, name, source, fields) for name in FUNCTIONS}
    program = VertexProgram(
        name=cls.__name__,
        parameters=tuple(fields.parameters.values()),
        state=tuple(fields.state.values()),
        accumulators=tuple(fields.accumulators.values()),
        direction=fields.settings.direction,
        iterations=fields.settings.iterations,
        tolerance=fields.settings.tolerance,
        documentation=inspect.cleandoc(cls.__doc__ or ""),
        **bodies,
    )
    _check_used(program, source, fields)
    return program


def _check_class(source: ClassSource) -> None:
    for node in (*source.node.bases, *source.node.keywords):
        if not (isinstance(node, ast.Name) and node.id == "object"):
            raise source.error(
                node, "a program cannot build on another class", "write all of it in one class"
            )


def _check_complete(source: ClassSource, fields: Fields) -> None:
    for name in ("traverse", "update"):
        if name not in fields.places:
            written = f"def {name}({', '.join(_ROLES[name])})"
            raise source.error(
                source.node, f"the program has no `{name}`", f"write `{written}: ...`"
            )
    if not fields.state:
        raise source.error(
            source.node,
            "the program has no state, and so no result",
            "declare it, `dist: float = inf`, and assign it in `update`: v.dist = ...",
        )


def _read_function(cls: type, name: str, source: ClassSource, fields: Fields) -> Body:
    node = fields.places.get(name)
    function = vars(cls).get(name)
    if node is None:
        return ()
    if not isinstance(node, ast.FunctionDef) or not isinstance(function, FunctionType):
        raise source.error(node, f"`{name}` is a function", f"write `def {name}`")
    roles = _read_roles(node, source)
    scope = Scope(source, fields, name, roles, names_around(function))
    return read_body(node.body, scope)


def _read_roles(node: ast.FunctionDef, source: ClassSource) -> dict[str, Role]:
    wanted = _ROLES[node.name]
    arguments = node.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    special = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults
    if len(names) != len(wanted) or special:
        raise source.error(
            node,
            f"{node.name} takes {len(wanted)} arguments",
            f"write `def {node.name}({', '.join(wanted)})`; the names are yours to choose",
        )
    if node.decorator_list:
        raise source.error(
            node.decorator_list[0], "the functions of a program take no decorators", "remove it"
        )
    return dict(zip(names, wanted, strict=True))


def _check_used(program: VertexProgram, source: ClassSource, fields: Fields) -> None:
    sent = {item.accumulator for item in statements_of(program.traverse) if isinstance(item, Send)}
    read = {
        item.name for item in expressions_of(program.update) if isinstance(item, AccumulatorRef)
    }
    for accumulator in program.accumulators:
        for found, what, where in ((sent, "sends to", "traverse"), (read, "reads", "update")):
            if accumulator.name not in found:
                raise source.error(
                    fields.places[accumulator.name],
                    f"nothing {what} the accumulator '{accumulator.name}'",
                    f"use v.{accumulator.name} in `{where}`, or remove it",
                )
    for name in set(fields.parameters) - _parameters_used(program):
        raise source.error(
            fields.places[name],
            f"nothing uses the parameter '{name}'",
            f"use self.{name}, or remove it; if it is state, assign v.{name} in `update`",
        )

    for name in set(fields.vertex_properties) - set(vertex_properties(program)):
        raise source.error(
            fields.places[name],
            f"nothing reads the vertex property '{name}'",
            f"use v.{name}, or remove it",
        )


def _parameters_used(program: VertexProgram) -> set[str]:
    found = {str(item.size) for item in program.sized}
    found |= {str(program.iterations), str(program.tolerance)}
    for body in (program.initialize, program.traverse, program.update):
        for item in expressions_of(body):
            match item:
                case ParameterRef(name) | Member(parameter=name) | PairSource(name):
                    found.add(name)
    return found
