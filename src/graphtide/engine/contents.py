"""The key of a kernel's machine code: a digest of its text and of everything that it names.

Most of a template does not depend on the program that is put into it, or only on a width or a
direction. Two kernels that say the same, and whose callees and constants say the same, are one
kernel: it is compiled once for all programs and roles that have it, and a wheel brings it for
programs that it never saw. So each function of a module gets a digest of its own text and of all
statements of the module that it reaches by name.

A program's functions are left out of one of two digests: kernels that call them are compiled
without them (`kernels/compiling/closing.py`), and say the same for all programs then.

What is imported is named by its import: the sources of `kernels` have a digest of their own, which
names the folder of their machine code (`kernels/jit.py`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from graphtide.kernels.jit import Content, program_kernel
from graphtide.model.syntax import parsed

_PROGRAM_KERNEL = program_kernel.__name__


def contents(source: str) -> dict[str, Content]:
    """Two digests of each function at the top of a module: without and with the program's own."""
    bound: dict[str, list[str]] = {}
    reads: dict[str, set[str]] = {}
    left_out: dict[str, _Said] = {}
    functions = []
    for statement in parsed(source).body:
        if isinstance(statement, ast.FunctionDef):
            functions.append(statement.name)
            if _is_program_kernel(statement):
                left_out[statement.name] = _as_gap(statement)
        for name, text in _bindings(statement):
            bound.setdefault(name, []).append(text)
            reads.setdefault(name, set()).update(_names(statement))
    said = {name: _Said(texts, reads[name]) for name, texts in bound.items()}
    return {
        name: Content(_digest(name, said, left_out), _digest(name, said, {})) for name in functions
    }


class _Said(NamedTuple):
    """The statements of a module that bind a name, and the names that they read."""

    texts: list[str]
    reads: set[str]


def _is_program_kernel(function: ast.FunctionDef) -> bool:
    return any(_PROGRAM_KERNEL in _names_in(item) for item in function.decorator_list)


def _as_gap(function: ast.FunctionDef) -> _Said:
    """What kernels that are compiled without a program's function know of it: its decorators."""
    texts = [ast.unparse(item) for item in function.decorator_list]
    reads = {name for item in function.decorator_list for name in _names_in(item)}
    return _Said(texts, reads)


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement binds, each with what it says of them."""
    if isinstance(statement, ast.FunctionDef):
        yield statement.name, ast.unparse(_without_docstring(statement))
    elif isinstance(statement, ast.ImportFrom | ast.Import):
        origin = statement.module if isinstance(statement, ast.ImportFrom) else None
        for item in statement.names:
            yield item.asname or item.name.split(".")[0], f"{origin} {item.name}"
    else:
        text = ast.unparse(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, text


def _without_docstring(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function without docstring and annotations, which do not change its machine code."""
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:] or [ast.Pass()]
    plain = [ast.arg(item.arg) for item in function.args.args]
    arguments = ast.arguments([], plain, None, [], [], None, [])
    return ast.FunctionDef(
        name=function.name,
        args=arguments,
        body=body,
        decorator_list=function.decorator_list,
        returns=None,
        lineno=1,
        col_offset=0,
    )


def _names(statement: ast.stmt) -> set[str]:
    """The names that a statement reads, where it is run and not where it is typed."""
    if isinstance(statement, ast.FunctionDef):
        statement = _without_docstring(statement)
    return _names_in(statement)


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _digest(name: str, said: dict[str, _Said], left_out: dict[str, _Said]) -> str:
    """The digest of all statements that a name reaches, in an order that no module changes.

    What is left out is a gap wherever the name does not stand for it itself.
    """
    known = said | {at: gap for at, gap in left_out.items() if at != name}
    reached, waiting = set(), [name]
    while waiting:
        at = waiting.pop()
        if at not in reached and at in known:
            reached.add(at)
            waiting.extend(known[at].reads)
    texts = [(at, known[at].texts) for at in sorted(reached)]
    return hashlib.sha256(repr((name, texts)).encode()).hexdigest()[:20]
