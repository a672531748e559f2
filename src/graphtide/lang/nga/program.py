"""`gt.nga`: a text or file of L_NGA, as the plan that a Python class gives for the same thing.

Declarations become fields and functions trees of Python, which the functions that read program
classes type and turn into statements. What L_NGA has of its own is settled here: `Let`, loops that
mean edges or neighbours, and, by `activation`, programs that list `active` (docs/reference/nga.md
says what each means).

The name of a `Let` stands for its expression. Where nothing that the expression reads is assigned
behind it, that is the same as to compute it once and keep it, and the plan does so; otherwise the
expression is put in place of the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from graphtide.lang.diagnostics import Span, is_file_name, language_error, text_of
from graphtide.lang.nga.activation import with_activation
from graphtide.lang.nga.declarations import ACTIVE, Declared, read_declarations
from graphtide.lang.nga.names import FUNCTIONS, resolve_function
from graphtide.lang.nga.parse import SELF, NgaText, parse_program, span_of
from graphtide.lang.python.fields import Fields
from graphtide.lang.python.program import Program, walk_plan
from graphtide.lang.python.scope import FunctionScope, WalkScope
from graphtide.lang.python.statements import check_nesting, read_body
from graphtide.lang.python.walk_statements import read_walk
from graphtide.model.errors import InputError, LanguageError
from graphtide.plan import programs as p
from graphtide.plan.expressions import Expression, StateRef
from graphtide.plan.programs import Body, VertexProgram
from graphtide.plan.walk_lowering import one_hop
from graphtide.plan.walks import (
    WalkProgram,
    WalkStatement,
    with_locals,
)


def settle_lets(body: p.Body, around: frozenset[str] = frozenset()) -> p.Body:
    """The body with names kept or replaced; `around` is what an enclosing loop assigns."""
    return tuple(_settled(list(body), around))


def _settled(body: list[p.Statement], around: frozenset[str]) -> Iterator[p.Statement]:
    for at, statement in enumerate(body):
        rest = tuple(body[at + 1 :])
        match statement:
            case p.AssignLocal(name, value):
                if not _reads(value) & (_assigned_state(rest) | around):
                    yield statement
                    continue
                replaced = _with_value(rest, name, value)
                yield from _settled(list(replaced), around)
                return
            case p.If(condition, then, otherwise):
                yield p.If(condition, settle_lets(then, around), settle_lets(otherwise, around))
            case p.ForRange(body=inner):
                yield replace(statement, body=settle_lets(inner, around | _assigned_state(inner)))
            case _:
                yield statement


def _reads(value: Expression) -> frozenset[str]:
    parts = p.subexpressions(value)
    return frozenset(item.name for item in parts if isinstance(item, StateRef))


def _assigned_state(body: p.Body) -> frozenset[str]:
    statements = p.statements_of(body)
    return frozenset(item.name for item in statements if isinstance(item, p.AssignState))


def _with_value(body: p.Body, name: str, value: Expression) -> p.Body:
    def put(expression: Expression) -> Expression:
        return with_locals(expression, {name: value})

    def one(statement: p.Statement) -> p.Statement:
        match statement:
            case p.AssignState(index=index):
                at = None if index is None else put(index)
                return replace(statement, value=put(statement.value), index=at)
            case p.AssignLocal():
                return replace(statement, value=put(statement.value))
            case p.If(condition, then, otherwise):
                return p.If(put(condition), tuple(map(one, then)), tuple(map(one, otherwise)))
            case p.ForRange(start=start, stop=stop, body=inner):
                return replace(
                    statement, start=put(start), stop=put(stop), body=tuple(map(one, inner))
                )
            case _:
                raise AssertionError(f"{statement} stands in traverse only")

    return tuple(map(one, body))


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
        said = None if hint is None else _in_nga(hint)
        said = None if said is None or _PYTHON.search(said) else said
        return language_error(_in_nga(what), span_of(node), said)


def lower(text: NgaText, name: str) -> VertexProgram | WalkProgram:
    """The plan of a text; LanguageError at the place where it cannot have one."""
    fields = read_declarations(text)
    _check_complete(text, fields)
    root, walk = _traverse(text, fields)
    program = walk_plan(
        NgaSource(),
        fields,
        Declared(text.functions["traverse"].span),
        name=text.name or name,
        initialize=_function("initialize", text, fields),
        update=_function("update", text, fields),
        root=root,
        traverse=walk,
        documentation=text.documentation,
    )
    if any(item.name == ACTIVE and item.type is None for item in text.vertex):
        program = _activated(program, fields)
    return one_hop(program) or program


def _function(name: str, text: NgaText, fields: Fields) -> Body:
    function = text.functions.get(name)
    if function is None:
        return ()
    nodes = resolve_function(function, fields)
    vertices = {function.vertex: "v"}
    scope = FunctionScope(NgaSource(), fields, name, SELF, vertices, {}, FUNCTIONS)
    return settle_lets(read_body(nodes, scope))


def _traverse(text: NgaText, fields: Fields) -> tuple[str, tuple[WalkStatement, ...]]:
    function = text.functions["traverse"]
    nodes = resolve_function(function, fields)
    scope = WalkScope(NgaSource(), fields, "traverse", SELF, {}, {}, FUNCTIONS)
    root = scope.bind_vertex(function.vertex)
    check_nesting(nodes, scope)
    return root, read_walk(nodes, scope)


def _check_complete(text: NgaText, fields: Fields) -> None:
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


def _activated(program: WalkProgram, fields: Fields) -> WalkProgram:
    activated = with_activation(program)
    if activated is not None:
        return activated
    raise language_error(
        "the last superstep, in which no vertex is active, would empty the global variables",
        span_of(fields.places[ACTIVE]),
        "leave `active` out: then all vertices traverse in every superstep",
    )


def _end(text: NgaText) -> Span | None:
    whole = text.whole
    return None if whole is None else Span(whole.source, whole.end, whole.end)


def _in_nga(said: str) -> str:
    for pattern, words in _WORDS:
        said = pattern.sub(words, said)
    return said


SUFFIX = ".nga"


def nga(text: str | PathLike[str], *, name: str | None = None) -> Program:
    """The program that a text of L_NGA says, or the file of that name if it ends in `.nga`.

    It is a program like any other: `gt.nga(text)(root="ann")` gives it its parameters. It is called
    what the text says (`Program Ranks`), or `name`, or after its file. The page "L_NGA" of the
    documentation says what a text means.
    """
    if isinstance(text, PathLike) or is_file_name(text, SUFFIX):
        return nga_file(Path(text), name)
    if not isinstance(text, str):
        raise InputError(
            f"a program in L_NGA is a text, and this is a {type(text).__name__}",
            hint="give the text, or the name of a file that ends in .nga",
        )
    return _program(text, None, name or "Program")


def nga_file(path: Path, name: str | None = None) -> Program:
    text = text_of(path, "L_NGA")
    return _program(text, str(path), name or _named_after(path))


def _program(text: str, file: str | None, name: str) -> Program:
    try:
        return Program(lower(parse_program(text, file), name))
    except RecursionError:
        # Trees are walked by recursion, which Python ends after some hundred levels.
        raise InputError(
            f"{file or 'this text'} has an expression too long or too deeply nested to be read",
            hint="a sum or a nest of parentheses takes a few hundred; send its parts one by one",
        ) from None


def _named_after(path: Path) -> str:
    """`page-rank.nga` as `page_rank`: a name of Python."""
    name = re.sub(r"\W", "_", path.stem)
    return name if name.isidentifier() else f"program_{name}"
