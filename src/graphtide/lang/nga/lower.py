"""A text of L_NGA as a plan: the same plan that a program class in Python has for the same thing.

Declarations become fields and functions trees of Python, which the functions that read program
classes type and turn into statements. What L_NGA has of its own is settled here: `Let`, `active`,
and loops that mean edges or neighbours (docs/reference/nga.md says what each means).
"""

from __future__ import annotations

import ast
import re

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.nga.activation import with_activation
from graphtide.lang.nga.declarations import ACTIVE, Declared, read_declarations
from graphtide.lang.nga.expression_names import FUNCTIONS
from graphtide.lang.nga.lets import settle_lets
from graphtide.lang.nga.names import resolve_function
from graphtide.lang.nga.tree import SELF, ProgramText, span_of
from graphtide.lang.python.fields import Fields
from graphtide.lang.python.functions import check_used
from graphtide.lang.python.scope import Scope
from graphtide.lang.python.statements import check_nesting, read_body
from graphtide.lang.python.walk_program import check_reached, counted_parameters
from graphtide.lang.python.walk_scope import WalkScope
from graphtide.lang.python.walk_statements import read_walk
from graphtide.model.errors import LanguageError
from graphtide.plan.one_hop import one_hop
from graphtide.plan.programs import Body, VertexProgram
from graphtide.plan.walks import (
    SendAt,
    WalkProgram,
    WalkStatement,
    all_expressions,
    walk_statements,
)

_WORDS = (
    (re.compile(r"`source: gt\.Vertex`"), "`Parameter (source: vertex)`"),
    (re.compile(r"\bself\.(\w+)\(\.\.\.\)"), r"\1.Accumulate(...)"),
    (re.compile(r"\bself\.(?=\w)"), ""),
    (re.compile(r"`?\bv\.(\w+)\((\w*)\)`?"), r"v.\1.Accumulate(\2)"),
    (re.compile(r"`(initialize|traverse|update)`"), lambda found: found.group(1).capitalize()),
    (re.compile(r"\b(initialize|traverse|update)\b"), lambda found: found.group(1).capitalize()),
    (re.compile(r"`for v in u\.neighbours`; .*"), "`For v in u.nbrs ...`"),
    (re.compile(r"\b(int|float|bool)\("), lambda found: f"{found.group(1).capitalize()}("),
    (re.compile(r", or `in` a tuple of them"), ""),
    (re.compile(r"\blen\("), "Size("),
    (re.compile(r"\brange\("), "Range("),
)
_PYTHON = re.compile(r"\bgt\.|\bclass\b|`is`|elif")


class NgaSource:
    """Where mistakes are shown: the text of the user. Hints are said in words of L_NGA."""

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        """The error for a mistake at a node, to be raised by the caller."""
        said = None if hint is None else _in_nga(hint)
        said = None if said is None or _PYTHON.search(said) else said
        return language_error(_in_nga(what), span_of(node), said)


def lower(text: ProgramText, name: str) -> VertexProgram | WalkProgram:
    """The plan of a text; LanguageError at the place where it cannot have one."""
    fields = read_declarations(text)
    _check_complete(text, fields)
    root, walk = _traverse(text, fields)
    program = WalkProgram(
        name=text.name or name,
        initialize=_function("initialize", text, fields),
        update=_function("update", text, fields),
        root=root,
        traverse=walk,
        parameters=tuple(fields.parameters.values()),
        state=tuple(fields.state.values()),
        accumulators=tuple(fields.accumulators.values()),
        globals=tuple(fields.globals.values()),
        matches=(),
        iterations=fields.settings.iterations,
        tolerance=fields.settings.tolerance,
        documentation=text.documentation,
    )
    _check(program, fields, text)
    if any(item.name == ACTIVE and item.type is None for item in text.vertex):
        program = _activated(program, fields)
    return one_hop(program) or program


def _function(name: str, text: ProgramText, fields: Fields) -> Body:
    function = text.functions.get(name)
    if function is None:
        return ()
    nodes = resolve_function(function, fields)
    vertices = {function.vertex: "v"}
    scope = Scope(NgaSource(), fields, name, SELF, vertices, {}, FUNCTIONS)
    return settle_lets(read_body(nodes, scope))


def _traverse(text: ProgramText, fields: Fields) -> tuple[str, tuple[WalkStatement, ...]]:
    function = text.functions["traverse"]
    nodes = resolve_function(function, fields)
    scope = WalkScope(NgaSource(), fields, "traverse", SELF, {}, {}, FUNCTIONS)
    root = scope.bind_vertex(function.vertex)
    check_nesting(nodes, scope)
    return root, read_walk(nodes, scope)


def _check_complete(text: ProgramText, fields: Fields) -> None:
    typed = [item.name for item in text.vertex if item.type is not None]
    own = [name for name in typed if name in fields.state]
    if not own and not fields.globals:
        own = [name for name in typed if name in fields.vertex_properties]
    if "traverse" not in text.functions:
        raise language_error(
            "the program has no Traverse", _end(text), "write `Traverse (u): For v in u.nbrs ...`"
        )
    if own and "update" not in text.functions:
        raise language_error(
            "the program has no Update", _end(text), "assign attributes in `Update (u): u.x = ...`"
        )
    if not fields.state.keys() & {*typed} and not fields.globals:
        raise language_error(
            "the program has no result",
            _end(text),
            "declare an attribute, `Vertex (rank: double)`, and assign it in Update, "
            "or `GlobalVariable (total: Accm<long, SUM>)`",
        )


def _check(program: WalkProgram, fields: Fields, text: ProgramText) -> None:
    source = NgaSource()
    statements = list(walk_statements(program.traverse))
    head = Declared(text.functions["traverse"].span)
    check_reached(program, statements, source, fields, head)
    sent = {item.accumulator for item in statements if isinstance(item, SendAt)}
    expressions = [*all_expressions(program), *counted_parameters(program, statements)]
    check_used(program, sent, expressions, source, fields)


def _activated(program: WalkProgram, fields: Fields) -> WalkProgram:
    activated = with_activation(program)
    if activated is not None:
        return activated
    raise language_error(
        "the last superstep, in which no vertex is active, would empty the global variables",
        span_of(fields.places[ACTIVE]),
        "leave `active` out: then all vertices traverse in every superstep",
    )


def _end(text: ProgramText) -> Span | None:
    whole = text.whole
    return None if whole is None else Span(whole.source, whole.end, whole.end)


def _in_nga(said: str) -> str:
    for pattern, words in _WORDS:
        said = pattern.sub(words, said)
    return said
