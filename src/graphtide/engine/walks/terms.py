"""Terms, runs and gatherings as kernels: a head that binds what is known at first, and a nest."""

from __future__ import annotations

from collections.abc import Callable

from graphtide.engine.walks.names import Versions, WalkNames
from graphtide.engine.walks.nests import Nest
from graphtide.engine.walks.sending import Mode
from graphtide.plan.expressions import Joined
from graphtide.plan.programs import Direction
from graphtide.plan.walk_forms import Hop, Sending, Walk
from graphtide.plan.walk_orders import order_of_root, order_of_term
from graphtide.plan.walk_terms import (
    DegreeFactor,
    HopFactor,
    JoinFactor,
    RootFactor,
    StateFactor,
    Term,
    Version,
)

_UPTO = {
    Version.NEW: "NEW",
    Version.OLD: "OLD",
    Version.UPTO: "rank",
    Version.WITH: "rank + 1",
}
_BATCH = "inserted, deleted, sources, targets"


def run_kernel(
    names: WalkNames, walk: Walk, name: str, wanted: Callable[[Sending], bool]
) -> list[str]:
    """All walks that begin at vertices from `first` to `last`, at the version of the graph."""
    order = order_of_root(walk, walk.root)
    nest = Nest(names, order, Versions(), {}, Mode.RUN, wanted)
    body = [
        *nest.before(),
        f"for at_{walk.root} in range(first, last):",
        *_indented(nest.body()),
        *nest.behind(),
    ]
    return _kernel(f"{name}(words, first, last)", body)


def gather_kernel(
    names: WalkNames, walk: Walk, position: str, name: str, wanted: Callable[[Sending], bool]
) -> list[str]:
    """All walks that have a vertex at a position, for what they send to that position."""
    order = order_of_root(walk, position)

    def mine(send: Sending) -> bool:
        return getattr(send, "vertex", None) == position and wanted(send)

    versions = Versions(states={} if names.rounds else None)
    nest = Nest(names, order, versions, {}, Mode.GATHER, mine)
    body = [f"for at_{position} in range(vertex, vertex + 1):", *_indented(nest.body())]
    return _kernel(f"{name}(words, {_rounds(names)}vertex)", body)


def term_kernel(names: WalkNames, term: Term, name: str) -> list[str]:
    """What one factor's changes change."""
    versions, edges = _versions(names, term)
    nest = Nest(names, order_of_term(term.walk, term.factor), versions, edges, Mode.TERM)
    body = [*nest.before(), *_head(names, term, nest.body()), *nest.behind()]
    return _kernel(f"{name}(words, {_rounds(names)}{_BATCH})", body)


def _rounds(names: WalkNames) -> str:
    return "rounds, " if names.rounds else ""


def _versions(names: WalkNames, term: Term) -> tuple[Versions, dict[Hop, str]]:
    joined: dict[Joined, str] = {}
    degrees: dict[str, str] = {}
    states: dict[str, str] = {}
    edges: dict[Hop, str] = {}
    answers: dict[Joined, str] = {}
    for factor, version in term.versions:
        match factor:
            case HopFactor(hop) if hop.edge is not None:
                edges[hop] = _UPTO[version]
            case HopFactor(hop):
                joined[hop.joined] = _UPTO[version]
            case JoinFactor(atom):
                joined[atom] = _UPTO[version]
            case DegreeFactor(position):
                degrees[position] = _UPTO[version]
            case StateFactor(position):
                states[position] = _UPTO[version]
            case RootFactor():
                pass
    match term.factor:
        case HopFactor(hop) if hop.edge is None:
            answers[hop.joined] = "True"
        case JoinFactor(atom, wanted):
            answers[atom] = "answer" if wanted is None else str(wanted)
        case DegreeFactor(position):
            degrees[position] = "side"
        case StateFactor(position):
            states[position] = "side"
    return Versions(joined, degrees, answers, states if names.rounds else None), edges


def _head(names: WalkNames, term: Term, inside: list[str]) -> list[str]:
    match term.factor:
        case HopFactor(hop) if hop.edge is not None:
            return _edge_head(hop, inside)
        case HopFactor(hop):
            return _pair_head(hop.joined, term.once, True, inside)
        case JoinFactor(atom, wanted):
            return _pair_head(atom, term.once, wanted, inside)
        case DegreeFactor() as factor:
            return _degree_head(factor, inside)
        case StateFactor() as factor:
            return _state_head(names, factor, inside)
        case RootFactor(position):
            lines = [f"for at_{position} in range(counts[OLD_VERTICES], counts[VERTICES]):"]
            return [*lines, "    sign = 1", *_indented(inside)]


def _pair_head(atom: Joined, once: bool, wanted: bool | None, inside: list[str]) -> list[str]:
    """Over changed pairs, from one end or from both."""
    if atom.source == atom.target:
        inside = ["if one != other:", "    continue", *inside]
    lines = [
        "for rank in range(counts[PAIRS]):",
        "    ask_neighbours(walking, rank, counts[PAIRS])",
        f"    for turn in range({1 if once else 2}):",
        "        low, high = changed.low[rank], changed.high[rank]",
        "        one, other = (low, high) if turn == 0 else (high, low)",
        f"        sign = {'either' if atom.way == 'both' else 'direct'}_change(changed, rank, one)",
        "        if sign == 0 or (turn == 1 and one == other):",
        "            continue",
        f"        at_{atom.source}, at_{atom.target} = one, other",
    ]
    if wanted is False:
        lines.append("        sign = -sign")
    if wanted is not None:
        return lines + _indented(inside, 2)
    lines += [
        "        change = sign",
        "        for given in range(2):",
        "            answer = given == 1",
        "            sign = change if answer else -change",
    ]
    return lines + _indented(inside, 3)


def _edge_head(hop: Hop, inside: list[str]) -> list[str]:
    """Over changed edges, in the ways that the hop goes."""
    ways = {"out": "0, 1", "in": "1, 2", "both": "0, 2"}[hop.way.value]
    if hop.origin == hop.vertex:
        inside = ["if one != other:", "    continue", *inside]
    lines = [
        "for number in range(len(sources)):",
        "    came = number < len(inserted)",
        f"    edge_{hop.edge} = inserted[number] if came else deleted[number - len(inserted)]",
        "    sign = 1 if came else -1",
        f"    for turn in range({ways}):",
        "        one = sources[number] if turn == 0 else targets[number]",
        "        other = targets[number] if turn == 0 else sources[number]",
        f"        at_{hop.origin}, at_{hop.vertex} = one, other",
    ]
    if hop.way is Direction.BOTH:
        again = f"turn == 1 and not goes_back(walking.graph, edge_{hop.edge}, other, one)"
        lines += [f"        if {again}:", "            continue"]
    return lines + _indented(inside, 2)


def _degree_head(factor: DegreeFactor, inside: list[str]) -> list[str]:
    """Over vertices whose degrees changed, with the new ones and with the old ones."""
    more = {
        "out_degree": "changed.out_more[slot] != 0",
        "in_degree": "changed.into_more[slot] != 0",
        "degree": "changed.out_more[slot] + changed.into_more[slot] != 0",
    }
    differs = " or ".join(more[fact] for fact in factor.facts)
    lines = [
        "for slot in range(counts[SLOTS]):",
        f"    if not ({differs}):",
        "        continue",
        f"    at_{factor.position} = changed.vertex[slot]",
        "    for turn in range(2):",
        "        side, sign = (NEW, 1) if turn == 0 else (OLD, -1)",
    ]
    return lines + _indented(inside, 2)


def _state_head(names: WalkNames, factor: StateFactor, inside: list[str]) -> list[str]:
    """Over vertices whose state of the round before differs, with the new one and with the old."""
    at, differs = f"at_{factor.position}", []
    for name in factor.fields:
        column = names.state[name]
        place = f"{names.row_width}, {names.extent(column.offset)}, {names.length(column)}"
        differs.append(f"state_differs(rounds, {at}, {place})")
    lines = [
        "for number in range(rounds.progress[DIFFERING]):",
        f"    {at} = rounds.differing[number]",
        f"    if not ({' or '.join(differs)}):",
        "        continue",
        "    for turn in range(2):",
        "        side, sign = (NEW, 1) if turn == 0 else (OLD, -1)",
    ]
    return lines + _indented(inside, 2)


def _kernel(head: str, body: list[str]) -> list[str]:
    return [
        "",
        "",
        "@bare_kernel",
        f"def {head}:",
        "    walking = walking_at(words, 0)",
        "    properties, parameters = properties_at(words, READ), parameters_at(words, READ)",
        "    changed, counts = walking.changed, walking.counts",
        "    sums, states = walking.sums, walking.states",
        *_indented(body),
    ]


def _indented(lines: list[str], times: int = 1) -> list[str]:
    return ["    " * times + line for line in lines]
