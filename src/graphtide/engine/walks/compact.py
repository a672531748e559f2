"""How a walk without edges runs from scratch: loops over a compact copy of the neighbours.

A loop goes along the link whose known end was bound last; what the other links demand is asked by
stamps: all neighbours of a known vertex bear its number, on a line of their own. Positions that may
be exchanged (`plan/walk_symmetry`) are ordered as they are bound, by a numbering after degrees:
then all loops go upward, and no vertex has many neighbours above it.

In a copy that is numbered so, position p is `number_p`, and `at_p` the vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.layout import (
    FactorVersions,
    Mode,
    WalkNames,
    indented,
    is_counted,
    kernel_lines,
    unless,
)
from graphtide.engine.walks.nests import Nest, atom_of, way_from
from graphtide.engine.walks.state import rows_of
from graphtide.kernels.walks.compact import (
    Compact,
    Neighbours,
    leave_each_once,
    list_neighbours,
    list_upward,
    number_by_degree,
    sort_neighbours,
)
from graphtide.plan.expressions import Joined
from graphtide.plan.programs import Accumulator
from graphtide.plan.walk_forms import NormalWalk, normal_joined
from graphtide.plan.walk_orders import Level, Link, order_of_root
from graphtide.plan.walk_terms import symmetry
from graphtide.plan.walks import SendAt, SendGlobal

_LISTS = {"out": "compact.out", "in": "compact.into", "both": "compact.both"}


@dataclass(frozen=True)
class CompactForm:
    """What a copy must have: lists each way, in order or not, a numbering by degree, neighbours of
    a greater number alone, lines of stamps, and accumulators by number.
    """

    ways: frozenset[str]
    sorted: bool
    ranked: bool
    upward: bool
    lines: int
    apart: bool


def is_compact(walk: NormalWalk) -> bool:
    """True for walks that look at pairs alone, and for more than one loop: a single one costs less
    than the copy that it would go over.
    """
    return len(walk.hops) > 1 and all(hop.edge is None for hop in walk.hops)


class CompactNest(Nest):
    """Writes the loops of a run over a compact copy."""

    def __init__(self, names: WalkNames, walk: NormalWalk) -> None:
        found = symmetry(walk)
        self.ordered = () if found is None else found.ordered
        if found is not None:
            walk = replace(walk, conditions=found.unordered)
        order = order_of_root(walk, walk.root)
        literals = {atom_of(link.factor) for level in order.levels for link in level.links}
        atoms = {normal_joined(item) for item in walk.expressions() if isinstance(item, Joined)}
        checked = {atom_of(item) for level in order.levels for item in level.checks}
        self.searched = (atoms - literals) | checked
        self.upward = not self.searched and set(walk.positions) == set(self.ordered)
        self.apart = bool(self.ordered) and _only_counts(names, walk)
        self.stamped: dict[tuple[str, str], int] = {}
        self.ways = {_list_way(atom.way) for atom in self.searched}
        for level in order.levels[1:]:
            along = self._along(level, order.levels)
            self.ways.add(way_from(along))
            for link in level.links:
                if link != along:
                    self.ways.add(way_from(link))
                    self.stamped.setdefault((link.near, way_from(link)), len(self.stamped))
        answers = {atom: _searching(atom) for atom in self.searched}
        super().__init__(names, order, FactorVersions(answers=answers), {}, Mode.RUN)

    @property
    def form(self) -> CompactForm:
        """What its copy must have."""
        ranked, lines = bool(self.ordered), len(self.stamped)
        ways, searched = frozenset(self.ways), bool(self.searched)
        return CompactForm(ways, searched, ranked, self.upward, lines, self.apart)

    def kernel(self, name: str) -> list[str]:
        """All walks that begin at vertices of the numbers from `first` to `last`."""
        root = self.order.walk.root
        body = [
            "walking = walking_at(words, 0)",
            "parameters = parameters_at(words, READ)",
            f"sums = {'compact.sent' if self.apart else 'walking.sums'}",
            "states = walking.states",
            *self.before(),
            f"for number_{root} in range(first, last):",
            f"    {self._vertex(root)}",
            *indented(self.body()),
            *self.behind(),
        ]
        return kernel_lines(f"{name}(words, compact, first, last)", body)

    def _opening(self, number: int) -> list[str]:
        """Stamp the neighbours of a position that later loops ask."""
        level = self.order.levels[number]
        position = level.position or self.order.walk.root
        return [
            f"stamp_neighbours({_LISTS[way]}, compact.stamps, {line}, number_{stamped})"
            for (stamped, way), line in self.stamped.items()
            if stamped == position
        ]

    def _link_loop(self, number: int, level: Level) -> list[str]:
        position = level.position
        along = self._along(level, self.order.levels)
        found = _LISTS[way_from(along)]
        begin, end = (f"{found}.{side}[number_{along.near}]" for side in ("start", "end"))
        lines = [
            *self._counting(f"{end} - {begin}"),
            f"for place_{number} in range(",
            f"    {begin}, {end}",
            "):",
            f"    number_{position} = {found}.neighbour[place_{number}]",
        ]
        asked = [
            f"compact.stamps[{self._line(link)} + number_{position}] == number_{link.near}"
            for link in level.links
            if link != along
        ]
        before = [item for item in self._bound(number) if item in self.ordered]
        if position in self.ordered and before and not self.upward:
            asked.insert(0, f"number_{before[-1]} < number_{position}")
        tests = [line for text in asked for line in unless(f"({text})")]
        inside = [*tests, self._vertex(str(position)), *self.body(number)]
        return lines + indented(inside)

    def _vertex(self, position: str) -> str:
        if self.ordered:
            return f"at_{position} = compact.vertex[number_{position}]"
        return f"at_{position} = number_{position}"

    def _target(self, send: SendAt | SendGlobal) -> str | None:
        if self.apart and isinstance(send, SendAt):
            return f"number_{send.vertex}"
        return super()._target(send)

    def _line(self, link: Link) -> str:
        return f"{self.stamped[link.near, way_from(link)]} * len(compact.both.start)"

    def _bound(self, number: int) -> list[str]:
        """The positions of the levels before one, in the order in which they are bound."""
        levels = self.order.levels[1:number]
        return [self.order.walk.root, *(str(level.position) for level in levels)]

    @staticmethod
    def _along(level: Level, levels: Sequence[Level]) -> Link:
        """The link that a loop goes along: the one whose known end was bound last."""
        bound = [level.position for level in levels]

        def age(link: Link) -> int:
            return bound.index(link.near) if link.near in bound else 0

        return max(level.links, key=age)


def _only_counts(names: WalkNames, walk: NormalWalk) -> bool:
    """True where walks may send to numbers instead of vertices, to be handed over at the end.

    Those of high degree, which are in most triangles, then stand together. Ints can be added up in
    parts; rows of matches are found a few roots at a time, and handing over would come as often.
    """
    sends = [send for send in walk.sends if isinstance(send, SendAt)]
    items = [names.sums[send.accumulator].item for send in sends]
    counted = all(isinstance(item, Accumulator) and is_counted(item) for item in items)
    return bool(sends) and counted and not names.matches


def _list_way(way: str) -> str:
    return "both" if way == "both" else "out"


def _searching(atom: Joined) -> str:
    return f"is_listed({_LISTS[_list_way(atom.way)]}, number_{atom.source}, number_{atom.target})"


_WAYS = {"out": 1, "in": 2, "both": 3}


def compact_copy(
    graph: ResidentGraph, words: NDArray[np.int64], form: CompactForm, width: int, parallel: bool
) -> Compact:
    """The neighbours of the version that the graph is at. O(vertices + edges).

    Where there is nothing parallel, every neighbour is listed once from the beginning. `width` is
    that of a row of accumulators.
    """
    count = graph.vertices
    number, vertex = np.empty(0, np.int32), np.empty(0, np.int32)
    if form.ranked:
        number, vertex = np.empty(count, np.int32), np.empty(count, np.int32)
        out, into = graph.adjacency
        most = int(out.live.max(initial=0)) + int(into.live.max(initial=0))
        number_by_degree(words, number, vertex, np.zeros(most + 2, np.int64))
    stamps = np.full(max(form.lines, 1) * count, -1, np.int32)
    lists: list[Neighbours] = []
    for way, bits in _WAYS.items():
        room = 0
        if way in form.ways:
            room = graph.live + 1 if form.upward else graph.live * (2 if way == "both" else 1)
        start, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        found = Neighbours(start, end, np.empty(room, np.int32))
        if room:
            if form.upward:
                list_upward(words, number, vertex, found)
            else:
                list_neighbours(words, bits, number, found)
            if parallel:
                leave_each_once(found, stamps[:count])
            if form.sorted:
                sort_neighbours(found)
        lists.append(found)
    out_list, into_list, both = lists
    sent = np.zeros(count * width if form.apart else 0, np.int64)
    return Compact(out_list, into_list, both, vertex, stamps, rows_of(sent))
