"""Where the vertices of a drawn graph stand: near each other where few edges lie between them.

Each component is laid out by stress majorization (Gansner, Koren and North): distances on paper
follow distances along edges, and close vertices count most. It begins with the first two axes of
classical scaling and draws nothing by lot, so that the same graph is always drawn the same way.
Components then stand in shelves, the largest first. Made for some hundred vertices: time and
memory grow with the square of their number, and a thousand take some seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Neighbours = list[list[int]]

_ROUNDS, _SETTLED = 200, 1e-4
_GAP = 1.0
"""Between components, in lengths of an edge."""


def neighbours_of(count: int, edges: Int) -> Neighbours:
    """The neighbours of each vertex, ascending, whichever way the edges go; no loops."""
    pairs = {(int(one), int(other)) for one, other in edges if one != other}
    found: Neighbours = [[] for _ in range(count)]
    for one, other in sorted(pairs | {(other, one) for one, other in pairs}):
        found[one].append(other)
    return found


def hops_from(
    neighbours: Neighbours, starts: Iterable[int], hops: int | None = None, most: int | None = None
) -> dict[int, int]:
    """Vertices within so many hops of the starts, and how many: the nearest first.

    Without `hops` all that is connected; never more than `most` vertices.
    """
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        vertex = waiting.popleft()
        if found[vertex] == hops:
            break
        for other in neighbours[vertex]:
            if len(found) == most:
                return found
            if other not in found:
                found[other] = found[vertex] + 1
                waiting.append(other)
    return found


def components_of(neighbours: Neighbours) -> list[list[int]]:
    """The vertices of each component, the largest component first."""
    seen: set[int] = set()
    found = []
    for vertex in range(len(neighbours)):
        if vertex not in seen:
            found.append(sorted(hops_from(neighbours, [vertex])))
            seen.update(found[-1])
    return sorted(found, key=lambda members: (-len(members), members[0]))


def lay_out(count: int, edges: Int, shape: float = 1.5) -> Float:
    """A place for each of so many vertices, edges about 1 long, in about the given width : height.

    `edges` are pairs of numbers, a row each.
    """
    neighbours = neighbours_of(count, edges)
    places, boxes = np.zeros((count, 2)), []
    components = components_of(neighbours)
    for members in components:
        number = {vertex: at for at, vertex in enumerate(members)}
        own = [[number[other] for other in neighbours[vertex]] for vertex in members]
        places[members] = _lying(_settled(_all_hops(own)))
        boxes.append(np.ptp(places[members], axis=0))
    for members, corner in zip(components, _shelved(boxes, shape), strict=True):
        places[members] += corner - places[members].min(axis=0)
    return places


def _all_hops(neighbours: Neighbours) -> Float:
    """Hops between each two vertices of one component."""
    hops = np.zeros((len(neighbours), len(neighbours)))
    for start in range(len(neighbours)):
        found = hops_from(neighbours, [start])
        hops[start, list(found)] = list(found.values())
    return hops


def _settled(hops: Float) -> Float:
    """Places whose distances follow the hops as far as paper allows (SMACOF)."""
    count = len(hops)
    if count < 3:
        return np.arange(count, dtype=np.float64)[:, None] * [1.0, 0.0]
    places = _scaled(hops)
    weights = np.where(hops > 0, 1.0 / np.maximum(hops, 1.0) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    solved = np.linalg.inv(laplacian + 1.0 / count) - 1.0 / count
    before = np.inf
    for _ in range(_ROUNDS):
        apart = _distances(places)
        stress = float((weights * (apart - hops) ** 2).sum())
        if before - stress <= _SETTLED * stress:
            break
        before = stress
        pulled = -weights * hops / np.maximum(apart, 1e-9)
        np.fill_diagonal(pulled, 0.0)
        np.fill_diagonal(pulled, -pulled.sum(axis=1))
        places = solved @ (pulled @ places)
    return places


def _scaled(hops: Float) -> Float:
    """Classical scaling: the two axes along which most of the distances lie.

    Vertices that it cannot tell apart get places on a small circle, or they would stay together.
    """
    squares = hops**2
    inner = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-0.5 * inner)
    axes = axes[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    angle = 2.399963 * np.arange(len(hops))
    scaled: Float = axes + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    return scaled


def _distances(places: Float) -> Float:
    between = places[:, None, :] - places[None, :, :]
    distances: Float = np.sqrt((between**2).sum(axis=2))
    return distances


def _lying(places: Float) -> Float:
    """Turned so that the longest side lies, with the first vertex on the left and on top."""
    middle = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(middle.T @ middle)
    turned = middle @ axes[:, ::-1]
    signs = [-1.0 if turned[0, 0] > 0 else 1.0, -1.0 if turned[0, 1] < 0 else 1.0]
    lying: Float = turned * np.array(signs)
    return lying


def _shelved(boxes: Sequence[Float], shape: float) -> list[Float]:
    """The lower left corner of each box, in rows from top to bottom that are about as long."""
    sizes = [box + _GAP for box in boxes]
    area = sum(float(width * height) for width, height in sizes)
    longest = max([np.sqrt(area * shape), *(float(width) for width, _ in sizes)])
    corners, left, top, low = [], 0.0, 0.0, 0.0
    for width, height in sizes:
        if left and left + width > 1.05 * longest:
            left, top = 0.0, low
        corners.append(np.array([left, top - height]))
        left, low = left + float(width), min(low, top - float(height))
    return corners


def nearest_gap(places: Float) -> float:
    """How far vertices typically are from the nearest other one; 1 where there is one alone."""
    if len(places) < 2:
        return 1.0
    apart = _distances(places)
    np.fill_diagonal(apart, np.inf)
    return float(np.quantile(apart.min(axis=1), 0.25)) or 1.0


def spread_apart(wanted: Sequence[float], room: float) -> list[float]:
    """Places along a line as near to the wanted ones as `room` between neighbours allows."""
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    groups: list[tuple[float, list[int]]] = []
    for at in order:
        middle, members = wanted[at], [at]
        while groups:
            other, others = groups[-1]
            if middle - other >= room * (len(members) + len(others)) / 2:
                break
            groups.pop()
            count = len(members) + len(others)
            middle = (middle * len(members) + other * len(others)) / count
            members = others + members
        groups.append((middle, members))
    places = [0.0] * len(wanted)
    for middle, members in groups:
        for step, at in enumerate(members):
            places[at] = middle + room * (step - (len(members) - 1) / 2)
    return places
