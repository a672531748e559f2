"""The library of graph computations against plain Python, under insertions and heavy deletion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from graphtide.algorithms import dataflow as library
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY

Pair = tuple[int, int]
Edges = list[Pair]
VERTICES = 12


def reach(edges: Edges, start: int) -> dict[int, int]:
    """Hops to all that a vertex reaches."""
    found, border = {start: 0}, [start]
    while border:
        border = [b for a in border for x, b in edges if x == a and b not in found and not found.update({b: found[a] + 1})]  # fmt: skip  # noqa: E501
    return found


def naive_reachable(edges: Edges) -> set[Any]:
    return {(node,) for root in (0, 1) for node in reach(edges, root)}


def naive_distances(edges: Edges) -> set[Any]:
    one, other = reach(edges, 0), reach(edges, 1)
    return {(n, min(one.get(n, 99), other.get(n, 99))) for n in {*one, *other}}


def naive_closure(edges: Edges) -> set[Any]:
    return {(a, c) for a, b in edges for c in reach(edges, b)}


def naive_components(edges: Edges) -> set[Any]:
    both = edges + [(b, a) for a, b in edges]
    return {(a, min(reach(both, a))) for a in {a for a, _ in both}}


def mutual(edges: Edges) -> dict[int, int]:
    reaches = {v: set(reach(edges, v)) for v in range(VERTICES)}
    return {v: min(w for w in reaches[v] if v in reaches[w]) for v in range(VERTICES)}


def naive_strong(edges: Edges) -> set[Any]:
    labels = mutual(edges)
    return {(v, labels[v]) for pair in edges for v in pair}


def naive_core(edges: Edges) -> Counter[Pair]:
    left = list(edges)
    while True:
        degree = Counter(v for pair in left for v in pair)
        kept = [(a, b) for a, b in left if degree[a] >= 3 and degree[b] >= 3]
        if len(kept) == len(left):
            return Counter(kept)
        left = kept


def naive_sides(pairs: set[Pair]) -> Counter[Pair]:
    """In how many triangles of them each pair is."""
    corners = sorted({v for pair in pairs for v in pair})
    return Counter(
        side
        for a, b, c in combinations(corners, 3)
        if {(a, b), (a, c), (b, c)} <= pairs
        for side in ((a, b), (a, c), (b, c))
    )


def naive_edge_triangles(edges: Edges) -> set[Any]:
    sides = naive_sides({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    return {(*side, count) for side, count in sides.items()}


def naive_truss(edges: Edges) -> set[Pair]:
    left = {(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]}
    while True:
        sides = naive_sides(left)
        kept = {pair for pair in left if sides[pair] >= 2}
        if kept == left:
            return left
        left = kept


def naive_generations(edges: Edges) -> set[Any]:
    pairs = {(a, b) for (a, p), (b, q) in product(edges, edges) if p == q and a != b}
    while True:
        more = {(a, b) for (a, p), (b, q) in product(edges, edges) if (p, q) in pairs and a != b}
        if more <= pairs:
            return pairs
        pairs |= more


def naive_rank(edges: Edges) -> set[Any]:
    nodes = {v for pair in edges for v in pair}
    degree = Counter(a for a, _ in edges)
    ranks = dict.fromkeys(nodes, 6000)
    for _ in range(5):
        fresh = dict.fromkeys(nodes, 1000)
        for a, b in edges:
            fresh[b] += ranks[a] * 5 // 6 // degree[a]
        ranks = fresh
    return set(ranks.items())


def naive_four(edges: Edges) -> set[Any]:
    return {(0, b, h) for b, h in reach(edges, 0).items() if b in (2, 3) and h <= 4}


def naive_second(edges: Edges) -> Counter[Pair]:
    return Counter((0, c) for (a, b), (x, c) in product(edges, edges) if a == 0 and x == b)


CASES: dict[str, tuple[Callable[..., Any], Callable[[Edges], Any]]] = {
    "reachable": (lambda e, r, p: library.reachable(e, r), naive_reachable),
    "distances": (lambda e, r, p: library.distances(e, r), naive_distances),
    "closure": (lambda e, r, p: library.transitive_closure(e), naive_closure),
    "components": (lambda e, r, p: library.components(e), naive_components),
    "strong components": (lambda e, r, p: library.strong_components(e), naive_strong),
    "k-core": (lambda e, r, p: library.k_core(e, 3), naive_core),
    "edge triangles": (lambda e, r, p: library.edge_triangles(e), naive_edge_triangles),
    "k-truss": (lambda e, r, p: library.k_truss(e, 4), naive_truss),
    "same generation": (lambda e, r, p: library.same_generation(e), naive_generations),
    "page rank": (lambda e, r, p: library.page_rank(e, 5, shares=6000), naive_rank),
    "within four": (lambda e, r, p: four(e, p), naive_four),
    "second": (lambda e, r, p: library.second_neighbours(e, zero(p)), naive_second),
}


def four(edges: Any, pairs: Any) -> Any:
    from graphtide.plan.dataflow_terms import col

    return library.paths_within_four(edges, edges.map(src=col.dst, dst=col.src), pairs)


def zero(pairs: Any) -> Any:
    return pairs.select(node="src").distinct()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_library_is_the_naive_one_after_every_version(name: str, seed: int) -> None:
    build, naive = CASES[name]
    random = np.random.default_rng(seed)
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    roots = flow.input("roots", node=int)
    pairs = flow.input("pairs", src=int, dst=int)
    output = build(edges, roots, pairs).output()
    roots.insert([(0,), (1,)])
    pairs.insert([(0, 2), (0, 3)])
    live: Edges = []
    for step in range(12):
        gone = random.permutation(len(live))[: random.integers(0, len(live) + 1) // (1 + step % 2)]
        removed = [live[n] for n in gone]
        live = [pair for n, pair in enumerate(live) if n not in set(gone.tolist())]
        fresh = [
            (int(a), int(b)) for a, b in random.integers(0, VERTICES, (random.integers(0, 14), 2))
        ]
        live += fresh
        if step == 10:
            removed, live, fresh = removed + live[: len(live) - len(fresh)], [], []
        edges.remove(removed)
        edges.insert(fresh)
        flow.advance()
        expected = naive(live)
        found = output.records()
        if isinstance(expected, Counter):
            assert found == dict(expected), f"version {step}"
        else:
            assert found == dict.fromkeys(expected, 1), f"version {step}"
