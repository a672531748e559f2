"""Null flow and aliases of a program by their definitions, in plain Python, rule by rule.

Facts are edges (source, target, kind, line), as the rules of `examples.analysis` read them.
"""

from __future__ import annotations

from collections.abc import Iterable

Edge = tuple[int, int, str, int]
Pair = tuple[int, int]


def null_flow(edges: Iterable[Edge]) -> tuple[set[Pair], set[tuple[int, int, int]]]:
    """(null, pointer) that it reaches; (null, pointer, line) where the pointer is followed."""
    edges = list(edges)
    flows = {(u, v) for u, v, kind, _ in edges if kind == "null"}
    while True:
        more = {
            (null, v)
            for null, pointer in flows
            for u, v, kind, _ in edges
            if kind == "assign" and u == pointer
        }
        if more <= flows:
            break
        flows |= more
    followed = [(u, line) for u, _, kind, line in edges if kind in ("deref", "field")]
    warned = {(n, p, line) for n, p in flows for at, line in followed if at == p}
    return flows, warned


def aliases(edges: Iterable[Edge]) -> tuple[set[Pair], set[Pair]]:
    """Places that may be the same, and (pointer, object) that it may point to."""
    edges = list(edges)
    assigned = {(u, v) for u, v, kind, _ in edges if kind == "assign"}
    followed = {(u, v) for u, v, kind, _ in edges if kind in ("deref", "address")}
    flow = {(at, at) for pair in assigned | followed for at in pair}
    same: set[Pair] = set()
    while True:
        behind = {(x, w) for x, y in assigned for one, w in same if one == y} | assigned
        wider = flow | _composed(behind, flow)
        backward = {(x, z) for z, x in flow}
        equal = _composed(backward, flow) | _composed(_composed(backward, same), flow)
        upward = {(x, p) for p, x in followed}
        places = same | _composed(_composed(upward, equal), followed)
        if wider == flow and places == same:
            break
        flow, same = wider, places
    addresses = {(u, v) for u, v, kind, _ in edges if kind == "address"}
    return same, {(p, x) for a, x in addresses for b, p in flow if a == b}


def _composed(one: set[Pair], other: set[Pair]) -> set[Pair]:
    behind: dict[int, list[int]] = {}
    for x, y in other:
        behind.setdefault(x, []).append(y)
    return {(x, z) for x, y in one for z in behind.get(y, ())}
