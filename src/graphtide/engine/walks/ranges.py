"""The text that finds a range of an ordered row, and that keeps rows in order.

Before a loop over a row, its end is moved to where entries are no longer too large. The search goes
from the end of the row in steps that double, and then by halves: a walk mostly wants the latest.
From there the loop goes down, and ends at the first entry that is too small: looking for that entry
before the loop took longer than the loop. A bound that is added up in ints holds back where the sum
could leave them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphtide.engine.walks.names import WalkNames
from graphtide.plan.expressions import EdgeProperty, Expression
from graphtide.plan.walk_ranges import Bound, Range

_FARTHEST = "9e18"
"""Sums of ints that stay below it do not wrap around."""

Write = Callable[[Expression], str]


def row_text(names: WalkNames, name: str, vertex: str, side: str) -> str:
    """The number of a vertex's row in the order of a property."""
    return f"{vertex} * {2 * len(names.ordered)} + {2 * names.ordered.index(name)} + {side}"


@dataclass(frozen=True)
class Search:
    """How a range is found in a row: `lines` move `end_n` to its upper end, and `stopping` ends a
    loop that goes down from there at an entry below the range.
    """

    lines: list[str]
    stopping: list[str]


def searching(
    names: WalkNames, number: int | str, edge: str, wanted: Range, write: Write
) -> Search:
    """The search of a range; `edge` is what bounds call the edge of an entry."""
    lines, too_small, too_large = _missing(names, number, wanted, write)
    if too_large:
        lines += _search(number, edge, f"not ({too_large})")
        lines.append(f"end_{number} = low_{number}")
    stopping = [f"if {too_small}:", "    break"] if too_small else []
    return Search(lines, stopping)


def skipping(names: WalkNames, edge: str, wanted: Range, write: Write) -> list[str]:
    """Go on to the next where the version before has nothing in a range, in any row.

    Its highest edge is too small then: one look, where times rise, in the place of a search.
    """
    lines, too_small, _ = _missing(names, f"before_{edge}", wanted, write)
    if not too_small:
        return []
    number = names.ordered.index(wanted.property)
    return [
        f"edge_{edge} = walking.ordered.highest_before[{number}]",
        f"if edge_{edge} == NOBODY:",
        "    continue",
        *lines,
        f"if {too_small}:",
        "    continue",
    ]


def _missing(
    names: WalkNames, number: int | str, wanted: Range, write: Write
) -> tuple[list[str], str, str]:
    """Whether an edge is too small for a range, or too large, behind lines that this needs."""
    lines: list[str] = []
    texts: dict[Bound, str] = {}
    for at, bound in enumerate(wanted.bounds):
        texts[bound] = write(bound.misses)
        if bound.terms:
            fits = f"fits_{number}_{at}"
            lines.append(f"{fits} = {_fits(names, wanted.property, bound.terms, write)}")
            texts[bound] = f"({fits} and {texts[bound]})"
    small, large = (
        " or ".join(texts[bound] for bound in wanted.side(lower=lower)) for lower in (True, False)
    )
    return lines, small, large


def ordering_kernels(names: WalkNames) -> list[str]:
    """Kernels that take edges into rows and out of them, by the number of the property."""
    if not names.ordered:
        return []
    rows = 2 * len(names.ordered)
    appending, entering, leaving = [], [], []
    for number, name in enumerate(names.ordered):
        keys, which = names.edge_property(name), f"({rows}, {2 * number} + side)"
        choice = f"    if number == {number}:"
        appending += [
            choice,
            f"        ends, which = (sources, targets), ({rows}, number)",
            f"        return append_edges(walking.ordered, {keys}, edges, ends, which)",
        ]
        entering += [
            choice,
            "        for edge in edges:",
            f"            note_extent(walking.ordered, number, {keys}, edge)",
            f"        return enter_edges(walking.ordered, {keys}, edges, (near, far), {which})",
        ]
        leaving += [
            choice,
            f"        return leave_edges(walking.ordered, {keys}, edges, near, {which})",
        ]
    return [
        *_kernel("append_ordered(words, number, edges, sources, targets)", appending),
        *_kernel("enter_ordered(words, number, side, edges, near, far)", entering),
        *_kernel("leave_ordered(words, number, side, edges, near, far)", leaving),
    ]


def _kernel(head: str, body: Sequence[str]) -> list[str]:
    opening = [
        "    walking, properties = walking_at(words, 0), properties_at(words, READ)",
    ]
    return ["", "", "@bare_kernel", f"def {head}:", *opening, *body, "    return 0"]


def _fits(names: WalkNames, name: str, terms: Sequence[Expression], write: Write) -> str:
    """Whether a sum stays in the ints, whatever edges of the rows its property is read of."""
    own = [item for item in terms if isinstance(item, EdgeProperty) and item.name == name]
    parts = [f"{len(own)} * walking.ordered.widest[{names.ordered.index(name)}]"]
    parts += [f"abs(np.float64({write(item)}))" for item in terms if item not in own]
    return f"({' + '.join(parts)} < {_FARTHEST})"


def _search(number: int | str, edge: str, passes: str) -> list[str]:
    """Let `low_n` be the end of the entries of which a condition holds: those at the beginning."""
    low, high, step, middle = (f"{name}_{number}" for name in ("low", "high", "step", "middle"))
    begin = f"begin_{number}"
    return [
        f"{low}, {high}, {step} = {begin}, end_{number}, 1",
        f"while {high} - {step} >= {begin}:",
        f"    {edge} = walking.ordered.entries[{high} - {step}] >> SHIFT",
        f"    if {passes}:",
        f"        {low} = {high} - {step} + 1",
        "        break",
        f"    {high} -= {step}",
        f"    {step} *= 2",
        f"while {low} < {high}:",
        f"    {middle} = ({low} + {high}) >> 1",
        f"    {edge} = walking.ordered.entries[{middle}] >> SHIFT",
        f"    if {passes}:",
        f"        {low} = {middle} + 1",
        "    else:",
        f"        {high} = {middle}",
    ]
