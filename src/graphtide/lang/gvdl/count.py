"""How many views a list will have, counted before any is built.

A slip in a generator easily asks for millions of views. So this module multiplies numbers and
compares the product with the limit; it lists no view.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from graphtide.lang.diagnostics import Span, language_error, render_span
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.generate import MAX_VIEWS, Ground
from graphtide.lang.gvdl.loops import loop_values
from graphtide.lang.gvdl.outages import list_removals
from graphtide.lang.gvdl.scope import Scope
from graphtide.lang.gvdl.windows import list_windows
from graphtide.model.errors import LimitError


def count_views(items: Sequence[tree.Item], scope: Scope, ground: Ground) -> int:
    """The number of views of a list; LimitError if there are too many."""
    total = 0
    for item in items:
        count = _count(item, scope, ground)
        check_limit(count, item.span)
        total += count
    return total


def check_limit(count: int, span: Span | None, *, more_to_come: bool = False) -> None:
    """LimitError if a collection has too many views."""
    if count > MAX_VIEWS:
        makes = "makes at least" if more_to_come else "makes"
        raise LimitError(
            f"this {makes} {count:,} views; the limit is {MAX_VIEWS:,}",
            where=render_span(span) if span else None,
            hint="narrow the range, widen the step, or make several collections",
        )


def _count(node: tree.Item, scope: Scope, ground: Ground) -> int:
    match node:
        case tree.View():
            return 1
        case tree.Loop():
            return _count_loop(node, scope, ground)
        case tree.Group(items):
            return count_views(items, scope, ground)
        case tree.Windows():
            return list_windows(node, scope, ground.facts, ground.base).count
        case tree.Product(factors):
            return math.prod(_count(factor, scope, ground) for factor in factors)
        case tree.Combinations():
            return _count_combinations(node, scope, ground)
        case tree.Outages():
            removals = list_removals(node, scope, ground.facts, ground.base, MAX_VIEWS)
            return math.comb(len(removals), 2) if node.pairs else len(removals)


def _count_loop(node: tree.Loop, scope: Scope, ground: Ground) -> int:
    values = loop_values(node.values, scope)
    check_limit(values.count, node.span)
    total = 0
    for value in values:
        inner = scope.bind(node.variable, value)
        each = sum(_count(item, inner, ground) for item in node.body)
        if all(map(_is_steady, node.body)):
            return values.count * each
        total += each
        check_limit(total, node.span, more_to_come=True)
    return total


def _is_steady(node: tree.Item) -> bool:
    """Whether the number of views is the same for all values of the loops around."""
    match node:
        case tree.View():
            return True
        case tree.Loop(_, values, body):
            parts = (
                values.values
                if isinstance(values, tree.ValueList)
                else (
                    values.start,
                    values.stop,
                )
            )
            literal = all(isinstance(part, tree.Literal) for part in parts)
            steady = isinstance(values, tree.ValueList) or literal
            return steady and all(map(_is_steady, body))
        case tree.Group(items) | tree.Product(items) | tree.Combinations(_, items):
            return all(map(_is_steady, items))
        case _:
            return False


def _count_combinations(node: tree.Combinations, scope: Scope, ground: Ground) -> int:
    size = count_views(node.items, scope, ground)
    if not 1 <= node.count <= size:
        hint = f"choose 1 to {size}"
        raise language_error(f"{node.count} of {size} cannot be removed", node.span, hint)
    return math.comb(size, node.count)
