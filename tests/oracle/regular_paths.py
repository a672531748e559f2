"""What queries mean, in plain Python: paths as relations between vertices, with the least cost.

No automaton, no search: a step relates the ends of its edges, a sequence is a product of relations,
a repetition is one product after the other until nothing changes. Costs are whole numbers or
halves, so that it does not matter in which order they are added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Relation = dict[tuple[Any, Any], float]
Node = tuple[Any, ...]
"""("step", label), ("except", labels or None, labels against or None), ("inverse", node),
("sequence", nodes), ("alternative", nodes), ("repeat", node, least, most or None)."""


@dataclass(frozen=True)
class Edge:
    source: Any
    target: Any
    label: Any = None
    cost: float = 1


def answers(
    node: Node, edges: Sequence[Edge], vertices: Iterable[Any], start: Any, bound: float | None
) -> dict[Any, float]:
    """The vertices that walks of the path lead to from the start, each with the least cost."""
    found = relation(node, edges, list(vertices))
    return {
        end: cost
        for (begin, end), cost in found.items()
        if begin == start and (bound is None or cost <= bound)
    }


def relation(node: Node, edges: Sequence[Edge], vertices: list[Any]) -> Relation:
    kind = node[0]
    if kind == "step":
        return _least(((e.source, e.target), e.cost) for e in edges if e.label == node[1])
    if kind == "except":
        return _least([*_other(edges, node[1], False), *_other(edges, node[2], True)])
    if kind == "inverse":
        return {(end, begin): c for (begin, end), c in relation(node[1], edges, vertices).items()}
    same: Relation = {(vertex, vertex): 0 for vertex in vertices}
    if kind == "alternative":
        parts = [relation(part, edges, vertices) for part in node[1]]
        return _least(item for part in parts for item in part.items())
    if kind == "sequence":
        for part in node[1]:
            same = _product(same, relation(part, edges, vertices))
        return same
    return _repeated(relation(node[1], edges, vertices), same, node[2], node[3])


def _other(edges: Sequence[Edge], labels: Any, back: bool) -> list[tuple[tuple[Any, Any], float]]:
    if labels is None:
        return []
    taken = [e for e in edges if not labels or (e.label is not None and e.label not in labels)]
    return [((e.target, e.source) if back else (e.source, e.target), e.cost) for e in taken]


def _repeated(once: Relation, same: Relation, least: int, most: int | None) -> Relation:
    now = same
    for _ in range(least):
        now = _product(now, once)
    found, count = now, least
    while most is None or count < most:
        now = _product(now, once)
        count += 1
        more = _least([*found.items(), *now.items()])
        if more == found and most is None:
            break
        if not now:
            break
        found = more
    return found


def _product(one: Relation, other: Relation) -> Relation:
    behind: dict[Any, list[tuple[Any, float]]] = {}
    for (begin, end), cost in other.items():
        behind.setdefault(begin, []).append((end, cost))
    return _least(
        ((begin, end), cost + more)
        for (begin, middle), cost in one.items()
        for end, more in behind.get(middle, [])
    )


def _least(items: Iterable[tuple[tuple[Any, Any], float]]) -> Relation:
    found: Relation = {}
    for pair, cost in items:
        if pair not in found or cost < found[pair]:
            found[pair] = cost
    return found
