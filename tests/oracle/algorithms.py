"""What each algorithm computes, in the plainest way: textbook loops, or matrices of NumPy.

Nothing of the package is used. Vertices are 0 to n - 1, edges are (src, dst, weight); parallel
edges and loops are edges like others.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Edge = tuple[int, int, float]
Edges = Sequence[Edge]
Found = dict[str, Any]


def breadth_first(n: int, edges: Edges, sources: Iterable[int]) -> list[float]:
    found = [math.inf] * n
    waiting = deque(sources)
    for vertex in waiting:
        found[vertex] = 0.0
    while waiting:
        vertex = waiting.popleft()
        for src, dst, _ in edges:
            if src == vertex and found[dst] == math.inf:
                found[dst] = found[vertex] + 1.0
                waiting.append(dst)
    return found


def bfs(n: int, edges: Edges, source: int) -> Found:
    return {"hops": breadth_first(n, edges, [source])}


def k_hops(n: int, edges: Edges, sources: Sequence[int], k: int) -> Found:
    hops = breadth_first(n, edges, sources)
    return {"hops": [value if value <= k else math.inf for value in hops]}


def bellman_ford(n: int, edges: Edges, sources: Iterable[int]) -> Found:
    found = [math.inf] * n
    for vertex in sources:
        found[vertex] = 0.0
    for _ in range(n):
        for src, dst, weight in edges:
            found[dst] = min(found[dst], found[src] + weight)
    return {"dist": found}


def components(n: int, edges: Edges) -> Found:
    label = list(range(n))
    for src, dst, _ in edges:
        one, other = label[src], label[dst]
        label = [min(one, other) if item in (one, other) else item for item in label]
    return {"component": label}


def reachability(n: int, edges: Edges, sources: Sequence[int]) -> Found:
    return {"reached": [hops < math.inf for hops in breadth_first(n, edges, sources)]}


def ancestors(n: int, edges: Edges, targets: Sequence[int]) -> Found:
    backwards = [(dst, src, weight) for src, dst, weight in edges]
    return {"reaches": reachability(n, backwards, targets)["reached"]}


def widest_path(n: int, edges: Edges, source: int) -> Found:
    """A vertex is as wide as the greatest bound at which it is reached by edges that wide."""
    found = [-math.inf] * n
    for bound in sorted({weight for _, _, weight in edges}):
        wide = [edge for edge in edges if edge[2] >= bound]
        for vertex, hops in enumerate(breadth_first(n, wide, [source])):
            found[vertex] = bound if hops < math.inf else found[vertex]
    found[source] = math.inf
    return {"width": found}


def walk_matrix(n: int, edges: Edges) -> np.ndarray:
    """The chance to step from column to row."""
    counts = np.zeros((n, n))
    for src, dst, _ in edges:
        counts[dst, src] += 1.0
    out = counts.sum(axis=0)
    return counts / np.where(out > 0, out, 1.0)


def page_rank(n: int, edges: Edges, damping: float, iterations: int) -> Found:
    rank, walk = np.ones(n), walk_matrix(n, edges)
    for _ in range(iterations):
        rank = (1 - damping) + damping * walk @ rank
    return {"rank": rank}


def converged_page_rank(n: int, edges: Edges, damping: float, tolerance: float) -> Found:
    """The limit itself, by solving for it."""
    walk = walk_matrix(n, edges)
    return {"rank": np.linalg.solve(np.eye(n) - damping * walk, np.full(n, 1 - damping))}


def converged_personalised_page_rank(
    n: int, edges: Edges, sources: Sequence[int], damping: float, tolerance: float
) -> Found:
    """The limit itself, by solving for it."""
    own = np.zeros(n)
    own[list(sources)] = 1 - damping
    return {"rank": np.linalg.solve(np.eye(n) - damping * walk_matrix(n, edges), own)}


def personalised_page_rank(
    n: int, edges: Edges, sources: Sequence[int], damping: float, iterations: int
) -> Found:
    own = np.zeros(n)
    own[list(sources)] = 1.0
    rank, walk = own, walk_matrix(n, edges)
    for _ in range(iterations):
        rank = (1 - damping) * own + damping * walk @ rank
    return {"rank": rank}


def neighbours(n: int, edges: Edges) -> list[list[int]]:
    """Those at the other ends of all edges of each vertex."""
    found: list[list[int]] = [[] for _ in range(n)]
    for src, dst, _ in edges:
        found[src].append(dst)
        found[dst].append(src)
    return found


def degree_statistics(n: int, edges: Edges) -> Found:
    around = neighbours(n, edges)
    degrees = [len(item) for item in around]
    return {
        "incoming": [sum(dst == v for _, dst, _ in edges) for v in range(n)],
        "outgoing": [sum(src == v for src, _, _ in edges) for v in range(n)],
        "neighbour_mean": [
            sum(degrees[u] for u in item) / len(item) if item else 0.0 for item in around
        ],
        "neighbour_most": [max((degrees[u] for u in item), default=0) for item in around],
    }


def label_propagation(
    n: int, edges: Edges, first: Sequence[int], second: Sequence[int], iterations: int
) -> Found:
    share = np.zeros((n, 2))
    share[list(first), 0] = 1.0
    share[list(second), 1] = 1.0
    around = neighbours(n, edges)
    for _ in range(iterations):
        following = share.copy()
        for v in set(range(n)) - set(first) - set(second):
            votes = share[around[v]].sum(axis=0)
            if votes.sum() > 0:
                following[v] = votes / votes.sum()
        share = following
    return {"share": share}


def co_training(
    n: int, edges: Edges, positive: Sequence[int], negative: Sequence[int], iterations: int
) -> Found:
    score = np.full(n, 0.5)
    score[list(negative)] = 0.0
    score[list(positive)] = 1.0
    weights = np.zeros((n, n))
    for src, dst, weight in edges:
        weights[dst, src] += weight
        weights[src, dst] += weight
    free = [v for v in range(n) if v not in positive and v not in negative and weights[v].sum() > 0]
    for _ in range(iterations):
        mean = weights @ score / np.maximum(weights.sum(axis=1), 1e-300)
        score = np.where(np.isin(np.arange(n), free), mean, score)
    return {"score": score}


def belief_propagation(
    n: int,
    edges: Edges,
    first: Sequence[int],
    second: Sequence[int],
    agreement: float,
    prior: float,
    iterations: int,
) -> Found:
    """By probabilities and products, not by sums of log-odds."""
    own = np.zeros(n)
    own[list(second)] = -prior
    own[list(first)] = prior
    prior_chance = np.stack([1 / (1 + np.exp(-own)), 1 / (1 + np.exp(own))], axis=1)
    coupling = np.array([[agreement, 1 - agreement], [1 - agreement, agreement]])
    belief, around = prior_chance, neighbours(n, edges)
    for _ in range(iterations):
        said = belief @ coupling
        following = prior_chance.copy()
        for v in range(n):
            for u in around[v]:
                following[v] *= said[u]
                following[v] /= following[v].sum()
        belief = following
    return {"odds": np.log(belief[:, 0] / belief[:, 1])}


def k_core(n: int, edges: Edges, k: int) -> Found:
    inside = [True] * n
    plain = [(src, dst) for src, dst, _ in edges if src != dst]
    while True:
        degree = [0] * n
        for src, dst in plain:
            if inside[src] and inside[dst]:
                degree[src] += 1
                degree[dst] += 1
        weak = [v for v in range(n) if inside[v] and degree[v] < k]
        if not weak:
            return {"inside": inside}
        for v in weak:
            inside[v] = False


def collaborative_filtering(n: int, edges: Edges, regularisation: float, iterations: int) -> Found:
    factors = np.array([[0.1 + (v * 7 + k * 13) % 17 / 17.0 for k in range(4)] for v in range(n)])
    for iteration in range(1, iterations + 1):
        side = 1 if iteration % 2 == 1 else 0
        following = factors.copy()
        for v in {edge[side] for edge in edges}:
            # Everything that v is an end of counts, whichever side it is fitted as.
            met = [(dst, w) for src, dst, w in edges if src == v]
            met += [(src, w) for src, dst, w in edges if dst == v]
            rows = factors[[u for u, _ in met]]
            normal = rows.T @ rows + regularisation * np.eye(4)
            following[v] = np.linalg.solve(normal, rows.T @ np.array([w for _, w in met]))
        factors = following
    return {"factors": factors}
