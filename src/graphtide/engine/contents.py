"""What a kernel of a generated module says, with all that it names: the key of its machine code.

Most of a template does not depend on the program that is put into it, or only on a width or a
direction. Two kernels that say the same, and whose callees and constants say the same, are one
kernel: it is compiled once for all programs and roles that have it, and a wheel brings it for
programs that it never saw. So each function of a module gets a digest of its own text and of all
statements of the module that it reaches by name.

What is imported is named by its import: the sources of `kernels` have a digest of their own, which
names the folder of their machine code (`kernels/jit.py`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator


def contents(source: str) -> dict[str, str]:
    """A digest for each function at the top of a module."""
    bound: dict[str, list[str]] = {}
    reads: dict[str, set[str]] = {}
    functions = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef):
            functions.append(statement.name)
        for name, text in _bindings(statement):
            bound.setdefault(name, []).append(text)
            reads.setdefault(name, set()).update(_names(statement))
    return {name: _digest(name, bound, reads) for name in functions}


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
    """Words about a kernel do not change what it does, nor do the types that readers see."""
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
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _digest(name: str, bound: dict[str, list[str]], reads: dict[str, set[str]]) -> str:
    """Of all that can be reached from a name, in an order that does not depend on the module."""
    reached, waiting = set(), [name]
    while waiting:
        at = waiting.pop()
        if at not in reached and at in bound:
            reached.add(at)
            waiting.extend(reads[at])
    told = [(at, bound[at]) for at in sorted(reached)]
    return hashlib.sha256(repr((name, told)).encode()).hexdigest()[:20]
