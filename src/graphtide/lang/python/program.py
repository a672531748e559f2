"""A program class as a whole, read into a plan, and the program that users then hold.

Fields first, because functions use them; then the three functions; then what only the whole can
tell: accumulators that nobody sends to or reads, parameters that nobody uses. The signature of
`traverse` decides what it is: `traverse(self, u, e, v)` makes a vertex program, `traverse(self,
u)` with loops a walk program; a walk program that looks at one edge at a time is a vertex program
again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, dataclass_transform

from graphtide.lang.python.fields import Fields, read_fields
from graphtide.lang.python.scope import ErrorSource, FunctionScope, WalkScope
from graphtide.lang.python.source import ClassSource, find_source
from graphtide.lang.python.statements import check_nesting, read_body
from graphtide.lang.python.walk_statements import read_walk
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan import walks as w
from graphtide.plan.expressions import (
    AccumulatorRef,
    EdgeProperty,
    Expression,
    Member,
    PairSource,
    ParameterRef,
    ValueType,
    VertexProperty,
)
from graphtide.plan.program_reads import column_names
from graphtide.plan.program_text import explain, explain_walk
from graphtide.plan.program_values import BoundProgram, BoundWalk, bind
from graphtide.plan.programs import (
    Body,
    Parameter,
    Send,
    VertexProgram,
    expressions_of,
    statements_of,
)
from graphtide.plan.walk_lowering import one_hop
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
    scope = FunctionScope(source, fields, name, me, vertices, edges, around)
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
    if "direction" in fields.places:
        raise source.error(
            fields.places["direction"],
            "a walk has no one direction",
            "its loops say it: u.neighbours, u.out_neighbours or u.in_neighbours",
        )
    root, walk = _read_traverse(source, fields)
    program = walk_plan(
        source,
        fields,
        fields.places["traverse"],
        name=source.node.name,
        initialize=read_function("initialize", source, fields),
        root=root,
        traverse=walk,
        update=read_function("update", source, fields),
        documentation=source.documentation,
    )
    return one_hop(program) or program


def walk_plan(source: ErrorSource, fields: Fields, place: ast.AST, **written: Any) -> w.WalkProgram:
    """A walk program of its declarations and functions, checked as a whole.

    `place` is where the walk stands, for errors.
    """
    program = w.WalkProgram(
        **written,
        **_declared(fields),
        globals=tuple(fields.globals.values()),
        matches=tuple(fields.matches.values()),
    )
    statements = list(w.walk_statements(program.traverse))
    _check_reached(statements, source, fields, place)
    sent = {item.accumulator for item in statements if isinstance(item, w.SendAt)}
    sizes = [ParameterRef(name, ValueType.INT) for name in _sizes(program, statements)]
    check_used(program, sent, [*w.all_expressions(program), *sizes], source, fields)
    return program


def _declared(fields: Fields) -> dict[str, Any]:
    """What vertex programs and walk programs declare alike."""
    return {
        "parameters": tuple(fields.parameters.values()),
        "state": tuple(fields.state.values()),
        "accumulators": tuple(fields.accumulators.values()),
        "iterations": fields.settings.iterations,
        "tolerance": fields.settings.tolerance,
    }


def _read_traverse(source: ClassSource, fields: Fields) -> tuple[str, Walk]:
    written = find_function("traverse", source, fields)
    assert written is not None
    node, around = written
    me, root = argument_names(node, ("self", "u"), source)
    scope = WalkScope(source, fields, "traverse", me, {}, {}, around)
    scope.bind_vertex(root)
    check_nesting(node.body, scope)
    return root, read_walk(node.body, scope)


def _check_reached(
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


def read_program(cls: type) -> VertexProgram | WalkProgram:
    """The plan of a program class; LanguageError at the user's line where it has none.

    `traverse(self, u, e, v)` makes it a vertex program, `traverse(self, u)` a walk program; of
    those, the ones that look at one edge at a time are vertex programs again.
    """
    if not isinstance(cls, type):
        raise LanguageError(
            f"a program is a class, and this is a {type(cls).__name__}",
            hint="write `@gt.program` above `class ...:`",
        )
    return read_source(find_source(cls))


def read_source(source: ClassSource) -> VertexProgram | WalkProgram:
    """The plan of a class of which the source is at hand."""
    _check_class(source)
    fields = read_fields(source)
    _check_complete(source, fields)
    if is_walk_program(fields):
        return read_walk_program(source, fields)
    check_no_walk(source, fields)
    program = VertexProgram(
        name=source.node.name,
        initialize=read_function("initialize", source, fields),
        traverse=read_function("traverse", source, fields),
        update=read_function("update", source, fields),
        direction=fields.settings.direction,
        documentation=source.documentation,
        **_declared(fields),
    )
    sent = {item.accumulator for item in statements_of(program.traverse) if isinstance(item, Send)}
    bodies = (program.initialize, program.traverse, program.update)
    expressions = [item for body in bodies for item in expressions_of(body)]
    check_used(program, sent, expressions, source, fields)
    return program


def _check_class(source: ClassSource) -> None:
    for node in (*source.node.bases, *source.node.keywords):
        if not (isinstance(node, ast.Name) and node.id == "object"):
            raise source.error(
                node, "a program cannot build on another class", "write all of it in one class"
            )


def _check_complete(source: ClassSource, fields: Fields) -> None:
    results = [*fields.state, *fields.globals, *fields.matches]
    for name in ("traverse", "update"):
        needed = name == "traverse" or fields.state or not results
        if needed and name not in fields.places:
            written = f"def {name}({', '.join(ARGUMENTS[name])})"
            raise source.error(
                source.node, f"the program has no `{name}`", f"write `{written}: ...`"
            )
    if not results:
        raise source.error(
            source.node,
            "the program has no state, and so no result",
            "declare it, `dist: float = inf`, and assign it in `update`: v.dist = ...",
        )


class Program:
    """A program that is ready to be given its parameters: `ShortestPaths(source=3)`."""

    def __init__(self, plan: VertexProgram | WalkProgram) -> None:
        self.plan = plan
        self.__name__ = plan.name
        self.__doc__ = plan.documentation

    def __call__(self, /, *values: object, **parameters: object) -> BoundProgram | BoundWalk:
        """The program with values for its parameters; InputError if they do not fit.

        A property that it reads is given by the name that the data have for it:
        `ShortestPaths(source=3, weight="km")` reads `km` where its author wrote `e.weight`.
        """
        if values:
            known = [item.name for item in self.plan.parameters]
            raise InputError(
                f"the parameters of {self.plan.name} are given by name",
                hint=f"write {self.plan.name}({', '.join(f'{name}=...' for name in known)})",
            )
        return bind(self.plan, parameters)

    @property
    def name(self) -> str:
        """What it is called in statements and errors."""
        return self.plan.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it is to be given, or has a default for."""
        return self.plan.parameters

    @property
    def columns(self) -> tuple[str, ...]:
        """The properties that it reads, each of which may be given by another name."""
        return column_names(self.plan)

    def explain(self) -> str:
        """The plan as text."""
        if isinstance(self.plan, WalkProgram):
            return explain_walk(self.plan)
        return explain(self.plan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.plan == other.plan

    def __hash__(self) -> int:
        return hash(self.plan)

    def __repr__(self) -> str:
        names = ", ".join(item.name for item in self.plan.parameters)
        return f"<program {self.plan.name}({names})>"


@dataclass_transform(kw_only_default=True)
def program(cls: type) -> Program:
    """Read a class into a program, from its source.

    The page "Vertex programs" of the documentation says what can be written, and the page "Walk
    programs" the same for patterns of several edges.

    Type checkers that take the decorated name for the class still know its parameters.
    """
    try:
        return Program(read_program(cls))
    except LanguageError as error:
        # What was read on the way says nothing to whoever wrote the class.
        raise error.with_traceback(None) from None


AnyProgram: TypeAlias = Any
"""A `Program` or a dataflow as one, bare or with its parameters.

To some type checkers a decorated name is still the class of the user's.
"""
