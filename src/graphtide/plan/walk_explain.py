"""What a walk program looks at, and walk programs as text for `explain`.

The facts decide what must be kept and what runs again. The text has a line for each walk, the
terms of its delta, and the reason for each way that is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan import expressions as x
from graphtide.plan.expressions import EdgeProperty, Expression, Joined, Local, StateRef, Unary
from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import AccumulatorKind, Direction, expressions_of, subexpressions
from graphtide.plan.walk_forms import Hop, NormalWalk, Sending, replaced, sent, walks_of
from graphtide.plan.walk_orders import Level, Link, order_of_root, order_of_term, ordered_properties
from graphtide.plan.walk_terms import (
    DegreeFactor,
    DeltaTerm,
    Factor,
    HopFactor,
    JoinFactor,
    RootFactor,
    StateFactor,
    symmetry,
    terms_of,
)
from graphtide.plan.walks import Report, SendAt, WalkProgram


@dataclass(frozen=True)
class WalkFacts:
    """`directed` and `either`: whether distinct neighbours, or questions whether two are joined, go
    by direction or not. `by_edge`: whether any hop visits edges. `stateful`: whether walks read
    state. `ordered`: the edge properties by whose order loops go. The last four are about
    `initialize` and `update`.
    """

    walks: tuple[NormalWalk, ...]
    directed: bool
    either: bool
    by_edge: bool
    stateful: bool
    properties: tuple[tuple[str, x.ValueType], ...]
    ordered: tuple[str, ...]
    reads_degrees: bool
    reads_globals: bool
    reads_iteration: bool
    reads_own_state: bool


def walk_facts(program: WalkProgram) -> WalkFacts:
    walks = walks_of(program)
    hops = [hop for walk in walks for hop in walk.hops]
    read = [item for walk in walks for item in walk.expressions()]
    ways = {hop.way.value for hop in hops if hop.edge is None}
    ways |= {item.way for item in read if isinstance(item, x.Joined)}
    bodies = [*expressions_of(program.initialize), *expressions_of(program.update)]
    properties = {item.name: item.type for item in read if isinstance(item, x.EdgeProperty)}
    return WalkFacts(
        walks=walks,
        directed=bool(ways - {Direction.BOTH.value}),
        either=Direction.BOTH.value in ways,
        by_edge=any(hop.edge is not None for hop in hops),
        stateful=any(isinstance(item, x.StateRef) for item in read),
        properties=tuple(sorted(properties.items())),
        ordered=tuple(sorted(set().union(*map(ordered_properties, walks)))),
        reads_degrees=any(isinstance(item, x.VertexFact) and item.fact != "id" for item in bodies),
        reads_globals=any(isinstance(item, x.GlobalRef) for item in bodies),
        reads_iteration=any(isinstance(item, x.Iteration) for item in bodies),
        reads_own_state=any(
            isinstance(item, x.StateRef) for item in expressions_of(program.update)
        ),
    )


def open_end(program: WalkProgram, facts: WalkFacts) -> str | None:
    """Why nobody knows what further rounds of a run would be; None where it stands still."""
    if program.tolerance:
        return "a tolerance may end its runs while things move"
    if program.iterations is None and facts.reads_iteration:
        return "update reads the iteration, and runs have no number of them"
    return None


_WAYS = {"out": "->", "in": "<-", "both": "-"}


def explain_walks(program: WalkProgram) -> list[str]:
    """All walks, a line a fact, indented below what it is about."""
    lines: list[str] = []
    facts = walk_facts(program)
    for number, walk in enumerate(facts.walks, 1):
        lines += [f"walk {number}: {_chain(walk)}", *_indented(_walk_lines(walk))]
        lines += _indented(_prefix_lines(walk, facts.walks))
        if open_end(program, facts) is None:
            lines += _indented(["delta"])
            for term in terms_of(walk):
                lines += _indented(_term_lines(term), 2)
    return [*lines, *_why(program)]


def _prefix_lines(walk: NormalWalk, walks: tuple[NormalWalk, ...]) -> list[str]:
    """Which walks are the beginning of this one: sends behind the same steps are one walk, but
    those at a lesser depth are one of their own.
    """
    return [
        f"goes through the steps of walk {number} again, which sends at a lesser depth"
        for number, other in enumerate(walks, 1)
        if 0 < len(other.hops) < len(walk.hops) and walk.hops[: len(other.hops)] == other.hops
    ]


def _why(program: WalkProgram) -> list[str]:
    """How results are kept current, with the reason."""
    facts = walk_facts(program)
    kinds, reason = AccumulatorKind, open_end(program, facts)
    if reason is not None:
        return [f"starts anew with every advance: {reason}"]
    gathered = [item for item in program.accumulators if item.kind in (kinds.MIN, kinds.MAX)]
    gathered += [item for item in program.accumulators if item.kind is kinds.PRODUCT]
    lines = ["follows a batch by the terms of its walks: no walk reads state"]
    if facts.stateful:
        read = [item for walk in facts.walks for item in walk.expressions()]
        fields = ", ".join(sorted({item.name for item in read if isinstance(item, StateRef)}))
        lines = [
            f"follows a batch by the terms of its walks in every round: they read state ({fields})",
            "keeps the state and the accumulators of each round, where they differ from the last",
            "starts anew where what differs between the runs costs more than a start",
        ]
        if program.matches:
            lines.append("starts anew where a run ends sooner: rows of earlier rounds are not kept")
    if gathered:
        names = ", ".join(item.name for item in gathered)
        lines.append(f"gathers {names} anew at a vertex that may have lost what it holds")
    selected = [item.name for item in program.globals if item.kind in (kinds.MIN, kinds.MAX)]
    if selected:
        again = "starts anew" if facts.stateful else "runs all walks again"
        lines.append(f"{again} where {', '.join(selected)} may have lost its value")
    return lines


def _walk_lines(walk: NormalWalk) -> list[str]:
    lines = [f"where {condition_text(item)}" for item in walk.conditions]
    for leaf in walk.leaves:
        where = " and ".join(condition_text(item) for item in leaf.conditions)
        sends = ", ".join(_send_text(send) for send in leaf.sends)
        lines.append(f"sends {sends}" + (f" where {where}" if where else ""))
    found = symmetry(walk)
    if found is not None:
        names = ", ".join(found.ordered)
        lines.append(f"{names} may be exchanged: a run from scratch orders them by degree")
    order = order_of_root(walk, walk.root)
    return [*lines, f"from scratch: {walk.root}{_levels_text(order.levels)}"]


def _term_lines(term: DeltaTerm) -> list[str]:
    order = order_of_term(term.walk, term.factor)
    head = f"{_factor_text(term.factor)}{_levels_text(order.levels)}"
    versions = ", ".join(f"{_name(item)} {version.value}" for item, version in term.versions)
    lines = [head]
    if versions:
        lines.append(f"    sees {versions}")
    if term.once:
        lines.append("    from one end only: its positions may be exchanged")
    if isinstance(term.factor, JoinFactor) and term.factor.wanted is None:
        lines.append("    both ways, and the difference is sent: a formula asks for it")
    return lines


def _levels_text(levels: tuple[Level, ...]) -> str:
    """What is tested of what is known at first, then what is found one behind the other."""
    parts = []
    for level in levels:
        found = _found_text(level)
        tests = [condition_text(item) for item in (*level.conditions, *level.late)]
        tests += [_name(item) for item in level.checks]
        tests += [f"{_hop_text(item.hop)} has a range" for item in level.probes]
        tests += [f"{level.position} is at an end of {item.hop.edge}" for item in level.awaited]
        text = found + (f" [{', '.join(tests)}]" if tests else "")
        parts.append(text)
    return "; then ".join(parts)


def _found_text(level: Level) -> str:
    if level.hop is not None:
        place = "an edge" if level.position is None else level.position
        by = f", by its row in the order of {level.range.property}" if level.range else ""
        return f"{place} along {_hop_text(level.hop)}{by}"
    if level.position is None:
        return ""
    links = [_link_text(link) for link in level.links]
    if len(links) == 1:
        return f"{level.position} from {links[0]}"
    return f"{level.position} from the smallest of {', '.join(links)}, asking the others"


def _link_text(link: Link) -> str:
    return f"the neighbours of {link.near}"


def _factor_text(factor: Factor) -> str:
    match factor:
        case HopFactor(hop):
            what = "changed edges" if hop.edge is not None else "changed pairs"
            return f"{what} at {_hop_text(hop)}"
        case JoinFactor(atom):
            return f"changed pairs at {condition_text(atom)}"
        case DegreeFactor(position, facts):
            return f"changed {' and '.join(facts)} of {position}"
        case StateFactor(position, fields):
            return (
                f"vertices whose {' or '.join(fields)} differs in the round before, as {position}"
            )
        case RootFactor(position):
            return f"vertices that come, as {position}"


def _name(factor: Factor) -> str:
    match factor:
        case HopFactor(hop):
            return _hop_text(hop)
        case JoinFactor(atom):
            return condition_text(atom)
        case DegreeFactor(position):
            return f"degrees of {position}"
        case StateFactor(position):
            return f"state of {position}"
        case RootFactor(position):
            return position


def _hop_text(hop: Hop) -> str:
    by = f" by {hop.edge}" if hop.edge is not None else ""
    return f"{hop.origin} {_WAYS[hop.way.value]} {hop.vertex}{by}"


def _chain(walk: NormalWalk) -> str:
    return ", ".join(_hop_text(hop) for hop in walk.hops) or walk.root


def _send_text(send: Sending) -> str:
    values = ", ".join(condition_text(item) for item in sent(send))
    if isinstance(send, Report):
        return f"the row {send.matches}({values})"
    owner = send.vertex if isinstance(send, SendAt) else "self"
    return f"{owner}.{send.accumulator}({values})"


def condition_text(expression: Expression) -> str:
    """An expression of a walk; whether two are joined is spelled out where it stands alone."""
    match expression:
        case Joined(source, target, way):
            words = {"out": "leads to", "in": "comes from", "both": "is joined to"}
            return f"{source} {words[way]} {target}"
        case Unary("not", Joined() as atom):
            return f"not ({condition_text(atom)})"
        case _:
            return expression_text(replaced(expression, _spelled(expression), {}))


def _spelled(expression: Expression) -> dict[Expression, Expression]:
    """Names in place of what a text of vertex programs has no words for."""
    found: dict[Expression, Expression] = {}
    for item in subexpressions(expression):
        match item:
            case Joined(source, target, way):
                found[item] = Local(f"joined({source} {_WAYS[way]} {target})", item.type)
            case EdgeProperty(name, type_, edge):
                found[item] = Local(f"{edge}.{name}", type_)
    return found


def _indented(lines: list[str], times: int = 1) -> list[str]:
    return ["    " * times + line for line in lines]
