"""Limits of texts in any of our languages, each with its reason; and Python's own parser.

Whoever reads a text, or builds a tree by hand, checks these limits before anything recurses or
grows. They stand far above what people write. A generator that meets one has a better way: rows
belong in files, and long sums in several statements.

Python's own parser is used by one thread at a time. Until 3.11.8, Python counts how deep a tree
is in one place for all threads; where the garbage collector lets another thread parse in between,
both end in "SystemError: AST constructor recursion depth mismatch".
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any

from graphtide.model.errors import LimitError

_ONE_AT_A_TIME = Lock()


def parsed(text: str) -> ast.Module:
    """The syntax tree of a Python text."""
    with _ONE_AT_A_TIME:
        return ast.parse(text)


CHARACTERS = 1_000_000
"""Of one text. A parser takes some four seconds and 500 MB for as many; a script of 200 views has
16,000."""

WORD = 10_000
"""Characters of one name, number or quoted text. Ids of users stand in texts, and are shorter."""

DIGITS = 500
"""Of one number. Python can be set to read no more than 640; floats end at 309 before the point."""

DEPTH = 100
"""How deep expressions, conditions and blocks may nest. Each level takes up to four frames of
Python's stack, which holds 1,000: the other half is left to the caller. Python's own parser, which
reads the code that is generated, takes 200 parentheses."""

BLOCKS = 80
"""How deep the blocks of a program may nest: Python takes 100 levels of indentation, and the code
that is generated stands in some already."""

EXPRESSION_DEPTH = 150
"""As DEPTH, of an expression in which the values of names have been put in, and conversions."""

EXPRESSION_SIZE = 100_000
"""Operations of such an expression, each counted as often as it stands there: a name that is added
to itself doubles them."""

LITERALS = 200
"""Of the body of one rule: joins are ordered in quadratic time, and each is an operator."""


class Nested:
    """Base of nodes of expressions: they know their depth and size, and do not grow for ever."""

    depth = 1
    size = 1

    def __post_init__(self) -> None:
        depth, size = 0, 1
        for value in vars(self).values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Nested):
                    depth, size = max(depth, part.depth), size + part.size
        if depth >= EXPRESSION_DEPTH:
            raise LimitError(
                f"an expression is nested more than {EXPRESSION_DEPTH} deep",
                hint="split it into steps; the values of names are put in where they are used",
            )
        if size > EXPRESSION_SIZE:
            raise LimitError(
                f"an expression has more than {EXPRESSION_SIZE:,} operations",
                hint="split it into steps; the values of names are put in where they are used",
            )
        object.__setattr__(self, "depth", depth + 1)
        object.__setattr__(self, "size", size)


def nested_deeper(
    root: object, limit: int = DEPTH, parts: Callable[[Any], Iterable[object]] | None = None
) -> Any:
    """The first node of a tree that stands deeper than `limit`, or None.

    It does not recurse: it is asked before anything else does. `parts` are the nodes right below
    a node, of any tree of ours or of a parser.
    """
    below = parts or parts_of
    level = [root]
    for _ in range(limit):
        level = [part for node in level for part in below(node)]
        if not level:
            return None
    return level[0]


def parts_of(node: Any) -> Iterator[object]:
    """The nodes right below a node, in order. Tuples and blocks are no level of their own."""
    if isinstance(node, ast.AST):
        yield from (
            part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr | ast.stmt)
        )
        return
    children = getattr(node, "children", None)
    waiting = (
        [getattr(node, name) for name in _names(type(node))] if children is None else [*children]
    )
    waiting.reverse()
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif getattr(part, "data", None) == "block":
            waiting += reversed(part.children)
        elif hasattr(part, "children") or _names(type(part)):
            yield part


def _names(kind: type) -> list[str]:
    """The fields of a node that may hold nodes; places in a text do not count."""
    return [
        item.name for item in getattr(kind, "__dataclass_fields__", {}).values() if item.compare
    ]
