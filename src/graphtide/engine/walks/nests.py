"""The loops of a walk as text: one nest for each run, term or gathering.

A nest is given what is known at first, and writes a loop for each further level of its order: bind,
test, then the loops inside. A counting accumulator of a position that an outer loop binds is added
up in a local name (`held_n`), and sent once behind the inner loops.

Where a position has several links, the loop runs over the smallest neighbourhood: its bounds, the
marks of its entries and its version are chosen before it, and the other links are asked inside.
Only an entry that passes all that is asked whether it is there at the version, and the one that its
pair is visited by: few do, and the mark of an edge is far from its entry.

A loop over edges that conditions hold within a range of a property runs over that range of the
vertex's ordered row. Its end is found before the loop, from the end of the row in steps that
double, and then by halves: a walk mostly wants the latest. From there the loop goes down, and ends
at the first entry that is too small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphtide.engine.source import write_expression
from graphtide.engine.synchronous.rows import RowColumn
from graphtide.engine.walks import layout
from graphtide.engine.walks.layout import (
    WAYS,
    FactorVersions,
    Mode,
    WalkNames,
    indented,
    is_counted,
    joined_text,
    kernel_lines,
    unless,
)
from graphtide.plan.expressions import FLOAT, EdgeProperty, Expression, Joined
from graphtide.plan.programs import Accumulator, Direction
from graphtide.plan.walk_forms import Hop, Sending
from graphtide.plan.walk_orders import Bound, Level, Link, LoopOrder, PropertyRange, RangeProbe
from graphtide.plan.walk_terms import HopFactor, JoinFactor
from graphtide.plan.walks import Report, SendAt, SendGlobal

_FARTHEST = "9e18"
"""Sums of ints that stay below it do not wrap around."""

Write = Callable[[Expression], str]


def row_text(names: WalkNames, name: str, vertex: str, side: str) -> str:
    """The number of a vertex's row in the order of a property."""
    return f"{vertex} * {2 * len(names.ordered)} + {2 * names.ordered.index(name)} + {side}"


@dataclass(frozen=True)
class RangeSearch:
    """How a range is found in a row: `lines` move `end_n` to its upper end, and `stopping` ends a
    loop that goes down from there at an entry below the range.
    """

    lines: list[str]
    stopping: list[str]


def searching(
    names: WalkNames, number: int | str, edge: str, wanted: PropertyRange, write: Write
) -> RangeSearch:
    """The search of a range; `edge` is what bounds call the edge of an entry."""
    lines, too_small, too_large = _missing(names, number, wanted, write)
    if too_large:
        lines += _search(number, edge, f"not ({too_large})")
        lines.append(f"end_{number} = low_{number}")
    stopping = [f"if {too_small}:", "    break"] if too_small else []
    return RangeSearch(lines, stopping)


def skipping(names: WalkNames, edge: str, wanted: PropertyRange, write: Write) -> list[str]:
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
    names: WalkNames, number: int | str, wanted: PropertyRange, write: Write
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
    entering, leaving = [], []
    for number, name in enumerate(names.ordered):
        keys, which = names.edge_property(name), f"({rows}, {2 * number} + side)"
        choice = f"if number == {number}:"
        entering += [
            choice,
            "    for edge in edges:",
            f"        note_extent(walking.ordered, number, {keys}, edge)",
            f"    return enter_edges(walking.ordered, {keys}, edges, (near, far), {which})",
        ]
        leaving += [
            choice,
            f"    return leave_edges(walking.ordered, {keys}, edges, near, {which})",
        ]
    opening = ["walking, properties = walking_at(words, 0), properties_at(words, READ)"]
    heads = {
        "enter_ordered(words, number, side, edges, near, far)": entering,
        "leave_ordered(words, number, side, edges, near, far)": leaving,
    }
    return [
        line
        for head, body in heads.items()
        for line in kernel_lines(head, [*opening, *body, "return 0"])
    ]


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


Wanted = Callable[[Sending], bool]
_REVERSED = {"out": "in", "in": "out", "both": "both"}
_MARKS = {
    "out": ("DIRECT", "DIRECT_CAME", "LEFT_OUT"),
    "in": ("DIRECT", "DIRECT_CAME", "LEFT_IN"),
    "both": ("EITHER", "EITHER_CAME", "LEFT_EITHER"),
}
_EDGE_KINDS = {
    "out": "LEFT_EDGE_OUT",
    "in": "LEFT_EDGE_IN",
    "both": "LEFT_EDGE_OUT | LEFT_EDGE_IN",
}


@dataclass(frozen=True)
class LocalSum:
    """A send whose amount is added up in a local name, from the level that binds its target on."""

    send: SendAt | SendGlobal
    name: str
    level: int


class Nest:
    """Writes the loops of one order."""

    def __init__(
        self,
        names: WalkNames,
        order: LoopOrder,
        versions: FactorVersions,
        edge_versions: dict[Hop, str],
        mode: Mode,
        wanted: Wanted = lambda _: True,
    ) -> None:
        self.names, self.order, self.versions, self.mode = names, order, versions, mode
        self.edge_versions, self.wanted = edge_versions, wanted
        self.places = names.loop_places(versions)
        self.held = self._held()

    def before(self) -> list[str]:
        """Lines before the outermost loop: sums of the whole graph that are held begin at 0."""
        return [f"{item.name} = np.int64(0)" for item in self.held if item.level < 0]

    def behind(self) -> list[str]:
        return [line for item in self.held if item.level < 0 for line in self._flush(item)]

    def body(self, number: int = 0, asked: Sequence[str] = ()) -> list[str]:
        """The tests and inner loops of a level, once it is bound; inside of some loop.

        `asked` are tests of the level's links, which come behind those that look at numbers.
        """
        lines = self._tests(self.order.levels[number], asked)
        lines += [line for item in self.order.levels[number].known for line in self._skip(item)]
        lines += [line for item in self.order.levels[number].probes for line in self._probe(item)]
        if number + 1 == len(self.order.levels):
            return [*lines, *self._leaves()]
        lines += self._opening(number)
        mine = [item for item in self.held if item.level == number]
        lines += [f"{item.name} = np.int64(0)" for item in mine]
        lines += self._loop(number + 1)
        return [*lines, *(line for item in mine for line in self._flush(item))]

    def _opening(self, number: int) -> list[str]:
        """Lines of a level before its inner loops."""
        return []

    def _tests(self, level: Level, asked: Sequence[str]) -> list[str]:
        bit = f"bit_of(at_{level.position})"
        texts = [f"(ends_of_{item.hop.edge} & {bit} != 0)" for item in level.awaited]
        texts += [*(self._write(item) for item in level.conditions), *asked]
        texts += [joined_text(atom_of(item), self.versions) for item in level.checks]
        texts += [self._write(item) for item in level.late]
        return [line for text in texts for line in unless(text)]

    def _loop(self, number: int) -> list[str]:
        level = self.order.levels[number]
        if level.hop is not None:
            return self._edge_loop(number, level, level.hop)
        return self._link_loop(number, level)

    def _link_loop(self, number: int, level: Level) -> list[str]:
        """Over the distinct neighbours that the smallest link names."""
        assert level.position is not None
        links, at = level.links, f"at_{level.position}"
        lines = self._choose(number, links)
        if self._gathers(number, links):
            far = [f"{name}_{number}" for name in ("far", "far_way", "far_how", "size")]
            lines += [
                f"ask_rows(walking, near_{number}, way_{number})",
                f"beside_{number} = gather_beside(walking, {', '.join(far)})",
                f"gathering_{number} = counts[GATHERED]",
            ]
        near, how, way = f"near_{number}", f"how_{number}", f"way_{number}"
        stretch, place = f"stretch_{number}", f"place_{number}"
        first = f"neighbours_{number}, begin_{number}, end_{number}, far_{number}"
        ahead = f"neighbours_{number}, {place}, end_{number}, far_{number}"
        lines += [
            f"for {stretch} in range({self._stretches(links)}):",
            f"    neighbours_{number}, _ = entries(walking, {stretch})",
            f"    begin_{number}, end_{number} = bounds(",
            f"        walking, {stretch}, {near}, {way}, {how}[3]",
            "    )",
            *indented(self._counting(f"end_{number} - begin_{number}")),
            *indented(self._asking(number, links, f"ask_first(walking, {first})")),
            f"    for {place} in range(begin_{number}, end_{number}):",
            *indented(self._asking(number, links, f"ask_ahead(walking, {ahead})"), 2),
            f"        {at} = neighbours_{number}[{place}]",
        ]
        asked = self._asking_links(number, links, at)
        asked.append(f"is_neighbour(walking, {stretch}, {place}, {near}, {how})")
        return lines + indented(self.body(number, asked), 2)

    def _gathers(self, number: int, links: tuple[Link, ...]) -> bool:
        """Whether the outermost loop of a term asks for one other neighbourhood, which may then be
        gathered before it (`kernels/walks/versions`); inner loops would each need their own.
        """
        return self.mode is Mode.TERM and number == 1 and len(links) == 2

    def _asking_links(self, number: int, links: tuple[Link, ...], at: str) -> list[str]:
        """The tests of the links that the loop does not run over."""
        if len(links) == 1:
            return []
        texts = [joined_text(atom_of(link.factor), self.versions) for link in links]
        if self._gathers(number, links):
            asked = f"gathering_{number}, beside_{number}, {at}"
            found = f"is_beside(walking.beside, {asked})"
            other = f"({texts[1]} if pick_{number} == 0 else {texts[0]})"
            return [f"({found} if beside_{number} else {other})"]
        return [f"(pick_{number} == {choice} or {text})" for choice, text in enumerate(texts)]

    def _counting(self, entries: str) -> list[str]:
        """Count what a loop goes through, where an advance may cost more than a start."""
        if not self.names.rounds:
            return []
        lines = [f"walking.counts[LOOKED] += {entries}"]
        if self.mode is not Mode.RUN:
            lines += ["if walking.counts[LOOKED] > walking.counts[BUDGET]:", "    return"]
        return lines

    def _asking(self, number: int, links: tuple[Link, ...], asking: str) -> list[str]:
        """Prefetch places of the table of pairs, where the loop will look into it."""
        if len(links) == 1:
            return []
        if self._gathers(number, links):
            return [f"if beside_{number} == 0:", f"    {asking}"]
        return [asking]

    def _choose(self, number: int, links: tuple[Link, ...]) -> list[str]:
        """Choose the link whose neighbourhood is the smallest."""
        lines = self._take(number, links[0])
        if len(links) == 1:
            return lines
        lines += [f"pick_{number} = 0", *self._take_other(number, links, links[1])]
        lines += [f"size_{number} = size_of(walking.graph, near_{number}, way_{number})"]
        for choice, link in enumerate(links[1:], 1):
            way = WAYS[way_from(link)]
            lines += [
                f"other_{number} = size_of(walking.graph, at_{link.near}, {way})",
                f"if other_{number} < size_{number}:",
                f"    pick_{number}, size_{number} = {choice}, other_{number}",
                *indented(self._take_other(number, links, links[0])),
                *indented(self._take(number, link)),
            ]
        return lines

    def _take(self, number: int, link: Link) -> list[str]:
        way, how = self._going(link)
        return [
            f"near_{number}, way_{number} = at_{link.near}, {way}",
            f"how_{number} = {how}",
        ]

    def _take_other(self, number: int, links: tuple[Link, ...], link: Link) -> list[str]:
        """Name the end of a link that the loop does not run over, and how it is gathered."""
        lines = [f"far_{number} = at_{link.near}"]
        if self._gathers(number, links):
            lines.append("far_way_{0}, far_how_{0} = {1}, {2}".format(number, *self._going(link)))
        return lines

    def _going(self, link: Link) -> tuple[str, str]:
        """The way of a link, and what tells whether an entry is a neighbour."""
        way, upto = way_from(link), self.versions.joined.get(atom_of(link.factor), "NEW")
        return WAYS[way], f"({', '.join(_MARKS[way])}, {upto})"

    def _stretches(self, links: tuple[Link, ...]) -> str:
        ways = {way_from(link) for link in links}
        new = all(self.versions.joined.get(atom_of(link.factor), "NEW") == "NEW" for link in links)
        return _stretches(ways, new)

    def _edge_loop(self, number: int, level: Level, hop: Hop) -> list[str]:
        """Over the edges of a hop; between two known positions, at the one with fewer."""
        known = level.position is None
        forward = level.position == hop.vertex or known
        near, far = (hop.origin, hop.vertex) if forward else (hop.vertex, hop.origin)
        way = hop.way.value if forward else _REVERSED[hop.way.value]
        lines = [
            f"near_{number}, far_{number} = at_{near}, at_{far if known else near}",
            f"way_{number}, kind_{number} = {WAYS[way]}, {_EDGE_KINDS[way]}",
        ]
        ways = {way}
        if known and near != far:
            other = _REVERSED[way]
            ways.add(other)
            lines += [
                f"if size_of(walking.graph, at_{far}, {WAYS[other]}) < size_of(",
                f"    walking.graph, at_{near}, {WAYS[way]}",
                "):",
                f"    near_{number}, far_{number} = at_{far}, at_{near}",
                f"    way_{number}, kind_{number} = {WAYS[other]}, {_EDGE_KINDS[other]}",
            ]
        if level.range is not None:
            return lines + self._range_loop(number, level, level.range, ways)
        return lines + self._slab_loop(number, level, hop, ways)

    def _slab_loop(self, number: int, level: Level, hop: Hop, ways: set[str]) -> list[str]:
        """Over the slabs of a vertex and what has left it."""
        upto = self.edge_versions.get(hop, "NEW")
        stretch, place = f"stretch_{number}", f"place_{number}"
        lines = [
            f"for {stretch} in range({_stretches(ways, upto == 'NEW')}):",
            f"    neighbours_{number}, edges_{number} = entries(walking, {stretch})",
            f"    begin_{number}, end_{number} = bounds(",
            f"        walking, {stretch}, near_{number}, way_{number}, {upto}",
            "    )",
            *indented(self._counting(f"end_{number} - begin_{number}")),
            f"    for {place} in range(begin_{number}, end_{number}):",
        ]
        inside = [f"edge_{hop.edge} = edges_{number}[{place}]"]
        if level.position is None:
            inside = [*unless(f"(neighbours_{number}[{place}] == far_{number})"), *inside]
        else:
            inside.append(f"at_{level.position} = neighbours_{number}[{place}]")
        if upto != "NEW":
            seen = f"is_edge(walking, {stretch}, {place}, kind_{number}, {upto})"
            inside = [*unless(seen), *inside]
        return lines + indented([*inside, *self.body(number)], 2)

    def _range_loop(
        self, number: int, level: Level, wanted: PropertyRange, ways: set[str]
    ) -> list[str]:
        """Over a range of the vertex's rows; they hold both versions of what a batch changed."""
        hop, stretch, entry = level.hop, f"stretch_{number}", f"entry_{number}"
        assert hop is not None
        row = row_text(self.names, wanted.property, f"near_{number}", stretch)
        search = searching(self.names, number, f"edge_{hop.edge}", wanted, self._write)
        lines = [
            f"for {stretch} in range({_stretches(ways, True)}):",
            f"    if way_{number} & ({stretch} + 1) == 0:",
            "        continue",
            f"    begin_{number}, end_{number} = row_bounds(walking.ordered, {row})",
            *indented(search.lines),
            f"    for place_{number} in range(end_{number} - 1, begin_{number} - 1, -1):",
        ]
        inside = [
            f"{entry} = walking.ordered.entries[place_{number}]",
            f"edge_{hop.edge} = {entry} >> SHIFT",
            *self._counting("1"),
            *search.stopping,
        ]
        if level.position is None:
            inside += unless(f"({entry} & NEIGHBOUR == far_{number})")
        else:
            inside.append(f"at_{level.position} = {entry} & NEIGHBOUR")
        asked = []
        if self.mode is not Mode.RUN:
            asked = [f"(walking.pairs.marks[edge_{hop.edge}] & {self._hidden(hop)} == 0)"]
        return lines + indented([*inside, *self.body(number, asked)], 2)

    def _hidden(self, hop: Hop) -> str:
        """The mark of entries that rows hold and the version of a hop has not."""
        return "EDGE_CAME" if self.edge_versions.get(hop, "NEW") == "OLD" else "EDGE_LEFT"

    def _skip(self, probe: RangeProbe) -> list[str]:
        """Go on to the next where the version before has no edge as high as a range."""
        if self._hidden(probe.hop) != "EDGE_CAME":
            return []
        assert probe.hop.edge is not None
        return skipping(self.names, probe.hop.edge, probe.range, self._write)

    def _probe(self, probe: RangeProbe) -> list[str]:
        """Go on to the next where a range of a later loop has nothing that its version has.

        Where an inner level waits for the hop, the bits of all far ends are taken on the way.
        """
        name, edge = f"of_{probe.hop.edge}", f"edge_{probe.hop.edge}"
        forward = (probe.near == probe.hop.origin) == (probe.hop.way is Direction.OUT)
        side = "0" if forward else "1"
        row = row_text(self.names, probe.range.property, f"at_{probe.near}", side)
        search = searching(self.names, name, edge, probe.range, self._write)
        taking = [f"ends_{name} = EVERYBODY", "break"]
        if any(probe in level.awaited for level in self.order.levels):
            taking = [f"ends_{name} |= bit_of(entry_{name} & NEIGHBOUR)"]
        return [
            f"begin_{name}, end_{name} = row_bounds(walking.ordered, {row})",
            *search.lines,
            f"ends_{name} = np.int64(0)",
            f"for place_{name} in range(end_{name} - 1, begin_{name} - 1, -1):",
            f"    entry_{name} = walking.ordered.entries[place_{name}]",
            f"    {edge} = entry_{name} >> SHIFT",
            *indented(search.stopping),
            f"    if end_{name} - place_{name} > FEW:",
            f"        ends_{name} = EVERYBODY",
            "        break",
            f"    if walking.pairs.marks[{edge}] & {self._hidden(probe.hop)} == 0:",
            *indented(taking, 2),
            *unless(f"ends_{name} != 0"),
        ]

    def _leaves(self) -> list[str]:
        lines: list[str] = []
        for leaf in self.order.walk.leaves:
            sends = [line for send in leaf.sends for line in self._send(send)]
            if not sends:
                continue
            if leaf.conditions:
                holds = " and ".join(self._write(item) for item in leaf.conditions)
                lines += [f"if {holds}:", *indented(sends)]
            else:
                lines += sends
        return lines or ["pass"]

    def _send(self, send: Sending) -> list[str]:
        if not self.wanted(send):
            return []
        if isinstance(send, Report):
            values = [(self._write(item), item.type is FLOAT) for item in send.values]
            number = self.names.matches[send.matches]
            return layout.report_lines(number, self.names.report_width, values, self.mode)
        column, target = self._column(send), self._target(send)
        held = next((item for item in self.held if item.send is send), None)
        value = self._write(send.value)
        if held is not None:
            assert isinstance(column.item, Accumulator)
            return [f"{held.name} += {layout.amount_text(column.item, value, self.mode)}"]
        index = None if send.index is None else self._write(send.index)
        return layout.send_lines(self.names, column, target, self.mode, value, index)

    def _flush(self, held: LocalSum) -> list[str]:
        column, target = self._column(held.send), self._target(held.send)
        lines = layout.add_lines(self.names, column, target, self.mode, held.name)
        return lines if target is None else [f"if {held.name} != 0:", *indented(lines)]

    def _target(self, send: SendAt | SendGlobal) -> str | None:
        """The vertex whose accumulators a send goes to; None for the whole graph."""
        return None if isinstance(send, SendGlobal) else f"at_{send.vertex}"

    def _held(self) -> list[LocalSum]:
        held: list[LocalSum] = []
        for send in self.order.walk.sends:
            if isinstance(send, Report) or send.index is not None or not self.wanted(send):
                continue
            item, level = self._column(send).item, self._level_of(send)
            assert isinstance(item, Accumulator)
            if is_counted(item) and level < len(self.order.levels) - 1:
                held.append(LocalSum(send, f"held_{len(held)}", level))
        return held

    def _level_of(self, send: SendAt | SendGlobal) -> int:
        """The level whose body flushes it: the one that binds its target, -1 the whole graph."""
        if isinstance(send, SendGlobal):
            return -1
        positions = [level.position for level in self.order.levels]
        return positions.index(send.vertex) if send.vertex in positions else 0

    def _column(self, send: SendAt | SendGlobal) -> RowColumn:
        is_global = isinstance(send, SendGlobal)
        return (self.names.globals if is_global else self.names.sums)[send.accumulator]

    def _write(self, expression: Expression) -> str:
        return write_expression(expression, self.places)


def atom_of(factor: HopFactor | JoinFactor) -> Joined:
    """The question whether two vertices are joined that a factor asks."""
    return factor.hop.joined if isinstance(factor, HopFactor) else factor.atom


def way_from(link: Link) -> str:
    """Which way a link goes, seen from the end that is known."""
    if isinstance(link.factor, HopFactor):
        hop = link.factor.hop
        return hop.way.value if link.near == hop.origin else _REVERSED[hop.way.value]
    atom = link.factor.atom
    return atom.way if link.near == atom.source else _REVERSED[atom.way]


def _stretches(ways: set[str], new: bool) -> str:
    """The stretches of some ways: 0 for out, 1 for in, 2 for what has left."""
    first = 1 if ways == {"in"} else 0
    if new:
        return f"{first}, {1 if ways == {'out'} else 2}"
    return "0, 3, 2" if ways == {"out"} else f"{first}, 3"
