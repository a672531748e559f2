"""The syntax tree as indented text: the first thing `explain` shows, and the golden format.

One line a node: its kind, then its plain fields; fields that were left out are not shown.
Operands and atoms are shown as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.literals import write_literal
from graphtide.lang.gvdl.tree import Node
from graphtide.lang.gvdl.unparse_views import unparse_amount, unparse_predicate

_ATOMS = (
    tree.Compare,
    tree.InList,
    tree.Between,
    tree.NullTest,
    tree.LikeTest,
    tree.Literal,
    tree.PropertyName,
    tree.Variable,
    tree.Shifted,
)


def explain_tree(node: Node) -> str:
    """The tree below a statement, a view list or a predicate, without a trailing line break."""
    return "\n".join(_lines(node, ""))


def _lines(node: Node, label: str) -> Iterator[str]:
    if isinstance(node, _ATOMS):
        yield f"{label}{type(node).__name__} {unparse_predicate(node)}"
        return
    if isinstance(node, tree.Duration):
        yield f"{label}Duration {unparse_amount(node)}"
        return
    given = [(item.name, getattr(node, item.name)) for item in fields(node) if _given(item, node)]
    plain = [f"{name}={_text(value)}" for name, value in given if not _holds_nodes(value)]
    yield " ".join([f"{label}{type(node).__name__}", *plain])
    for name, value in given:
        if _holds_nodes(value):
            yield from ("  " + line for line in _nested(name, value))


def _given(item: Field[object], node: Node) -> bool:
    value = getattr(node, item.name)
    return item.compare and (item.default is MISSING or value != item.default)


def _holds_nodes(value: object) -> bool:
    if isinstance(value, tuple):
        return any(isinstance(part, Node) for part in value)
    return isinstance(value, Node)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return write_literal(value if isinstance(value, int | float) else str(value))


def _nested(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Node):
        yield from _lines(value, f"{name}: ")
    elif isinstance(value, tuple):
        yield name
        for part in value:
            yield from ("  " + line for line in _lines(part, ""))
