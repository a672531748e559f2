"""Histories in plain Python: a search run from scratch, iteration by iteration.

The cost of (vertex, state) at iteration i is the least of a walk of at most i edges; a history has
a difference wherever an iteration lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

Entry = tuple[int, int]


class PlainEdge(NamedTuple):
    source: int
    target: int
    letter: int
    cost: float


def histories(
    steps: Callable[[int, int], int], edges: Iterable[PlainEdge], start: int, bound: float
) -> dict[tuple[int, int, int], float]:
    """The cost of every difference by (vertex, state, iteration).

    `steps` is the state behind a state and a letter, or -1; an edge has an even letter, and the
    next one where it is walked against its way.
    """
    ways = [
        way
        for edge in edges
        for way in (
            (edge.source, edge.target, edge.letter, edge.cost),
            (edge.target, edge.source, edge.letter + 1, edge.cost),
        )
    ]
    now: dict[Entry, float] = {(start, 0): 0.0}
    found, iteration, moved = {(start, 0, 0): 0.0}, 0, True
    while moved:
        iteration += 1
        after = dict(now)
        for (vertex, state), cost in now.items():
            for here, there, letter, more in ways:
                reached = steps(state, letter) if here == vertex else -1
                total = cost + more
                if reached >= 0 and total <= bound and total < after.get((there, reached), 1e300):
                    after[there, reached] = total
        changed = {entry: cost for entry, cost in after.items() if now.get(entry) != cost}
        found |= {(*entry, iteration): cost for entry, cost in changed.items()}
        now, moved = after, bool(changed)
    return found


def messages(
    steps: Callable[[int, int], int],
    edges: Iterable[PlainEdge],
    found: dict[tuple[int, int, int], float],
    bound: float,
) -> dict[tuple[int, int, int, float], int]:
    """What all differences send: how often each cost by (vertex, state, iteration, cost)."""
    sent: dict[tuple[int, int, int, float], int] = {}
    edges = list(edges)
    for (vertex, state, iteration), cost in found.items():
        for edge in edges:
            for here, there, letter in (
                (edge.source, edge.target, edge.letter),
                (edge.target, edge.source, edge.letter + 1),
            ):
                reached = steps(state, letter) if here == vertex else -1
                if reached >= 0 and cost + edge.cost <= bound:
                    key = there, reached, iteration + 1, cost + edge.cost
                    sent[key] = sent.get(key, 0) + 1
    return sent
