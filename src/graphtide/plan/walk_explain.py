"""How the walks of a program are followed, as text: each term, where it begins, and its loops.

walk 1: u -- v, v -- w
    where u.id < v.id, v.id < w.id, w in u.neighbours
    u -- v changed: find w, by the fewer neighbours, by v -- w and u -- w (...)
"""

from __future__ import annotations

from collections.abc import Iterator

from graphtide.plan.program_text import expression_text
from graphtide.plan.programs import Direction
from graphtide.plan.walk_forms import Hop, Walk, walks_of
from graphtide.plan.walk_orders import Level, order_of_term
from graphtide.plan.walk_terms import (
    DegreeFactor,
    Factor,
    HopFactor,
    JoinFactor,
    RootFactor,
    Term,
    Version,
    terms_of,
)
from graphtide.plan.walks import WalkProgram

_INDENT = "    "
_ARROWS = {Direction.OUT: "->", Direction.IN: "<-", Direction.BOTH: "--"}


def explain_terms(program: WalkProgram) -> list[str]:
    """The walks of an unrolled program in their normal form, and the terms of each."""
    lines: list[str] = []
    for number, walk in enumerate(walks_of(program), start=1):
        lines += _walk_lines(number, walk)
    return lines


def _walk_lines(number: int, walk: Walk) -> Iterator[str]:
    hops = ", ".join(map(_hop_text, walk.hops)) or f"{walk.root} alone"
    yield f"walk {number}: {hops}"
    if walk.conditions:
        yield f"{_INDENT}where {', '.join(map(expression_text, walk.conditions))}"
    for term in terms_of(walk):
        yield f"{_INDENT}{_term_text(term)}"


def _term_text(term: Term) -> str:
    """What has changed, the loops from there on, and which version the rest is at."""
    levels = order_of_term(term.walk, term.factor).levels
    loops = "; then ".join(filter(None, map(_level_text, levels))) or "nothing further to find"
    shared = any(version in (Version.UPTO, Version.WITH) for _, version in term.versions)
    rest = "changes before it are new" if shared else _versions_text(term)
    return f"{_factor_text(term.factor)} changed: {loops}" + (f" ({rest})" if rest else "")


def _versions_text(term: Term) -> str:
    """Rule 7: new before, old behind."""
    parts = []
    for version in (Version.NEW, Version.OLD):
        found = [_factor_text(factor) for factor, at in term.versions if at is version]
        if found:
            parts.append(f"{version.value}: {', '.join(found)}")
    return "; ".join(parts)


def _level_text(level: Level) -> str:
    tests = [expression_text(item) for item in (*level.conditions, *level.late)]
    tests += [_factor_text(item) for item in level.checks]
    tested = f"test {', '.join(tests)}" if tests else ""
    if level.position is None and level.hop is None:
        return tested
    if level.hop is not None:
        found = f"along {_hop_text(level.hop)}"
    else:
        ways = [_factor_text(link.factor) for link in level.links]
        smaller = ", by the fewer neighbours," if len(ways) > 1 else ""
        found = f"find {level.position}{smaller} by {' and '.join(ways)}"
    return f"{found}, {tested}" if tested else found


def _factor_text(factor: Factor) -> str:
    match factor:
        case HopFactor(hop):
            return _hop_text(hop)
        case JoinFactor(atom, wanted):
            return ("no " if wanted is False else "") + _pair_text(
                atom.source, Direction(atom.way), atom.target
            )
        case DegreeFactor(position, facts):
            return " and ".join(f"{position}.{fact}" for fact in facts)
        case RootFactor(position):
            return position


def _hop_text(hop: Hop) -> str:
    return _pair_text(hop.origin, hop.way, hop.vertex) + (f" by {hop.edge}" if hop.edge else "")


def _pair_text(one: str, way: Direction, other: str) -> str:
    return f"{one} {_ARROWS[way]} {other}"
