"""Where the accumulators and the state of a walk program stand in rows of words.

A vertex has a row of accumulators and one of state, the whole graph a row of accumulators. A least
or greatest value has how many walks sent it beside it, and is in doubt only when the last of them
leaves. A sum of floats takes three words at a vertex (the sum, its error, and what went through it)
and is exact for the whole graph; a product of the whole graph can take a factor back, one of a
vertex is gathered anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.engine.synchronous.row_layout import Column, Extent, columns_of
from graphtide.kernels.walks.sums import EXACT_WORDS
from graphtide.plan.expressions import FLOAT
from graphtide.plan.programs import Accumulator, AccumulatorKind
from graphtide.plan.walks import WalkProgram

_KINDS = AccumulatorKind


@dataclass(frozen=True)
class WalkLayout:
    """Columns by what they belong to, and how many words each row takes."""

    sums: tuple[Column, ...]
    state: tuple[Column, ...]
    globals: tuple[Column, ...]
    values: tuple[Column, ...]
    """What the accumulators of the whole graph hold, as values: one word an element."""
    sums_width: Extent
    state_width: Extent
    globals_width: Extent
    values_width: Extent


def walk_layout(program: WalkProgram) -> WalkLayout:
    """Columns in the order in which the program declares them."""
    sums, sums_width = columns_of([(item, _vertex_words(item)) for item in program.accumulators])
    state, state_width = columns_of([(item, 1) for item in program.state])
    whole, globals_width = columns_of([(item, _global_words(item)) for item in program.globals])
    values, values_width = columns_of([(item, 1) for item in program.globals])
    return WalkLayout(
        sums, state, whole, values, sums_width, state_width, globals_width, values_width
    )


def is_gathered(item: Accumulator) -> bool:
    """True where a vertex may have to take its walks anew when it loses one."""
    if item.kind is _KINDS.SUM:
        return item.type is FLOAT
    return item.kind in (_KINDS.MIN, _KINDS.MAX, _KINDS.PRODUCT)


def is_counted(item: Accumulator) -> bool:
    """True where walks are added up as ints, so that a loop may add up before it sends."""
    return item.kind in (_KINDS.COUNT, _KINDS.OR, _KINDS.AND) or (
        item.kind is _KINDS.SUM and item.type is not FLOAT
    )


def is_selected(item: Accumulator) -> bool:
    """True where one of what was sent is kept, with how often it was sent."""
    return item.kind in (_KINDS.MIN, _KINDS.MAX)


def _vertex_words(item: Accumulator) -> int:
    if is_selected(item):
        return 2
    return 3 if item.kind is _KINDS.SUM and item.type is FLOAT else 1


def _global_words(item: Accumulator) -> int:
    match item.kind:
        case _KINDS.SUM if item.type is FLOAT:
            return EXACT_WORDS
        case _KINDS.PRODUCT:
            return 4 if item.type is FLOAT else 3
        case _:
            return 2 if is_selected(item) else 1
