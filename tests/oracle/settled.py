"""What a sum settles at, by solving for it: no iterations, no residuals, no code of the product.

x(v) = base(v) + the sum, over the edges that lead to v, of x(u) * share(u). As linear equations:
(I - A) x = base, where A holds a share for each edge, parallel ones added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

Edge = tuple[int, int]
Base = Callable[[int], float]
Share = Callable[[int, int], float]
"""What an edge carries of its source's value, by the source's out-degree and in-degree."""


def settled(
    vertices: int, edges: Iterable[Edge], direction: str, base: Base, share: Share
) -> list[float]:
    """The true values of all vertices."""
    listed = list(edges)
    out, into = Counter(one for one, _ in listed), Counter(other for _, other in listed)
    ways = []
    if direction in ("out", "both"):
        ways += listed
    if direction in ("in", "both"):
        ways += [(other, one) for one, other in listed]
    system = np.eye(vertices)
    for source, target in ways:
        system[target, source] -= share(out[source], into[source])
    right = np.array([base(vertex) for vertex in range(vertices)])
    found: list[float] = np.linalg.solve(system, right).tolist()
    return found
