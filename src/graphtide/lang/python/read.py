"""A program class as a whole, read into a plan.

Fields first, because functions use them; then the three functions; then what only the whole can
tell: accumulators that nobody sends to or reads, parameters that nobody uses.
"""

from __future__ import annotations

import ast

from graphtide.lang.python.fields import Fields, read_fields
from graphtide.lang.python.functions import ARGUMENTS, check_used, read_function
from graphtide.lang.python.source import ClassSource, find_source
from graphtide.lang.python.walk_program import check_no_walk, is_walk_program, read_walk_program
from graphtide.model.errors import LanguageError
from graphtide.plan.expressions import Expression
from graphtide.plan.programs import Send, VertexProgram, expressions_of, statements_of
from graphtide.plan.walks import WalkProgram


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
        parameters=tuple(fields.parameters.values()),
        state=tuple(fields.state.values()),
        accumulators=tuple(fields.accumulators.values()),
        initialize=read_function("initialize", source, fields),
        traverse=read_function("traverse", source, fields),
        update=read_function("update", source, fields),
        direction=fields.settings.direction,
        iterations=fields.settings.iterations,
        tolerance=fields.settings.tolerance,
        documentation=source.documentation,
    )
    sent = {item.accumulator for item in statements_of(program.traverse) if isinstance(item, Send)}
    check_used(program, sent, _expressions(program), source, fields)
    return program


def _expressions(program: VertexProgram) -> list[Expression]:
    bodies = (program.initialize, program.traverse, program.update)
    return [item for body in bodies for item in expressions_of(body)]


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
