"""What the walk programs of the library find, by trying all vertices one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

Edges = Sequence[tuple[Any, ...]]
Found = dict[str, Any]


def _joined(edges: Edges) -> set[frozenset[int]]:
    """Pairs of different vertices with an edge in either direction."""
    return {frozenset(edge[:2]) for edge in edges if edge[0] != edge[1]}


def _cliques(n: int, edges: Edges, size: int) -> list[tuple[int, ...]]:
    joined = _joined(edges)
    return [
        corners
        for corners in itertools.combinations(range(n), size)
        if all(frozenset(pair) in joined for pair in itertools.combinations(corners, 2))
    ]


def _of_vertices(n: int, found: list[tuple[int, ...]]) -> list[int]:
    return [sum(vertex in corners for corners in found) for vertex in range(n)]


def triangles(n: int, edges: Edges) -> Found:
    """Of each vertex, and in all."""
    found = _cliques(n, edges, 3)
    return {"triangles": _of_vertices(n, found), "total": len(found)}


def cliques(n: int, edges: Edges, size: int) -> Found:
    """Of each vertex, and in all."""
    found = _cliques(n, edges, size)
    return {"cliques": _of_vertices(n, found), "total": len(found)}


def clustering(n: int, edges: Edges) -> Found:
    """Pairs of neighbours that are joined, beside all pairs of them."""
    joined = _joined(edges)
    count, share = [], []
    for vertex in range(n):
        around = [other for other in range(n) if frozenset((vertex, other)) in joined]
        pairs = list(itertools.combinations(around, 2))
        count.append(sum(frozenset(pair) in joined for pair in pairs))
        share.append(count[-1] / len(pairs) if pairs else 0.0)
    return {"coefficient": share, "triangles": count, "total": sum(count) // 3}


def transitivity(n: int, edges: Edges) -> Found:
    """All pairs of neighbours, and those that are joined."""
    joined = _joined(edges)
    pairs = [
        pair
        for vertex in range(n)
        for pair in itertools.combinations(range(n), 2)
        if all(frozenset((vertex, end)) in joined for end in pair)
    ]
    return {"wedges": len(pairs), "closed": sum(frozenset(pair) in joined for pair in pairs)}


def _common(n: int, edges: Edges, one: int, other: int) -> list[int]:
    joined = _joined(edges)
    if one == other:
        return []
    return [
        vertex
        for vertex in range(n)
        if frozenset((vertex, one)) in joined and frozenset((vertex, other)) in joined
    ]


def common_neighbours(n: int, edges: Edges, pairs: Any) -> Found:
    """Of each pair."""
    return {"common": [len(_common(n, edges, *pair)) for pair in pairs]}


def adamic_adar(n: int, edges: Edges, pairs: Any) -> Found:
    """Of each pair; a degree counts every end of every edge."""
    degree = [sum((edge[0] == at) + (edge[1] == at) for edge in edges) for at in range(n)]
    return {
        "score": [
            sum(1 / math.log(degree[at]) for at in _common(n, edges, *pair)) for pair in pairs
        ]
    }


def rings(edges: Edges, length: int, within: float) -> list[tuple[Any, ...]]:
    """Every sequence of edges, one by one: rows as the program reports them."""
    found = []
    for path in itertools.permutations(edges, length):
        sources, times = [edge[0] for edge in path], [edge[2] for edge in path]
        closed = (
            all(path[at][1] == sources[(at + 1) % length] for at in range(length))
            and len(set(sources)) == length
        )
        increasing = all(one < other for one, other in itertools.pairwise(times))
        if closed and increasing and times[-1] - times[0] <= within:
            found.append((*sources, times[0], times[-1]))
    return sorted(found)


def ring_count(n: int, edges: Edges, length: int, within: float, most: int) -> Found:
    """How many there are."""
    return {"total": len(rings(edges, length, within))}


def triad_census(n: int, edges: Edges) -> Found:
    """The name of every three vertices by a table of all patterns, made from drawings of them."""
    arcs = {(edge[0], edge[1]) for edge in edges if edge[0] != edge[1]}
    counted = dict.fromkeys((f"triad_{name}" for name in DRAWN), 0)
    for corners in itertools.combinations(range(n), 3):
        pattern = frozenset(
            (one, other)
            for one, other in itertools.permutations(range(3), 2)
            if (corners[one], corners[other]) in arcs
        )
        name = NAMES.get(pattern)
        if name is not None:
            counted[f"triad_{name}"] += 1
    return counted


DRAWN = {
    "021D": "ba bc",
    "021U": "ab cb",
    "021C": "ab bc",
    "111D": "ac ca bc",
    "111U": "ac ca cb",
    "201": "ab ba ac ca",
    "030T": "ab cb ac",
    "030C": "ba cb ac",
    "120D": "bc ba ac ca",
    "120U": "ab cb ac ca",
    "120C": "ab bc ac ca",
    "210": "ab bc cb ac ca",
    "300": "ab ba bc cb ac ca",
}


def _names() -> dict[frozenset[tuple[int, int]], str]:
    """Every drawing with its corners in every order."""
    return {
        frozenset(
            (order["abc".index(arc[0])], order["abc".index(arc[1])]) for arc in text.split()
        ): name
        for name, text in DRAWN.items()
        for order in itertools.permutations(range(3))
    }


NAMES = _names()
