"""The vertices of a drawn graph: where they stand, and what colour they have.

They stand near each other where few edges lie between them. Each component is laid out by stress
majorization (Gansner, Koren and North): distances on paper follow distances along edges, and
close vertices count most. It begins with the first two axes of classical scaling and uses no
random numbers, so that the same graph is always drawn the same way. Components then stand in
shelves, the largest first. Made for some hundred vertices: time and memory grow with the square
of their number, and a thousand take some seconds.

Colours go by component, by truth, or along a scale; what has no value is hollow. A component
keeps its colour from panel to panel. Six of them have one, the rest are grey: nobody tells more
apart. Numbers go from dark blue to yellow (cividis), which print and any eye keep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, Normalize, SymLogNorm
from numpy.typing import NDArray

from graphtide.api.pictures.picture import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, short_number

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
    """Places whose distances follow the hops as well as two dimensions allow (SMACOF)."""
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
    """Rotate places: the longest side is horizontal, the first vertex at the top left."""
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
    """The typical distance of a vertex to its nearest neighbour; 1 for a single vertex."""
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


Names = Callable[[Int], list[str]]

_KINDS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#F0E442")
_OTHERS, _HOLLOW = "#9A9A9A", "#FFFFFF"
_SLACK = 0.01
_STEPS = 9
"""Whole numbers of up to so many values have a step of the scale each."""


@dataclass(frozen=True)
class Scale:
    """A scale of numbers: what it is called, and how values become colours."""

    name: str
    colours: Any
    norm: Normalize
    ticks: list[float] | None = None


@dataclass(frozen=True)
class Colouring:
    """A function from results to colours, with what explains it: named colours, or a scale.

    `missing` is what stands for no value in results. A number has changed where it differs by more
    than `slack`, which the scale does not show.
    """

    colours: Callable[[NDArray[Any]], list[str]]
    named: tuple[tuple[str, str], ...] = ()
    scale: Scale | None = None
    missing: float | None = None
    slack: float = 0.0


def plain_colouring() -> Colouring:
    """One colour for all vertices, where there is no result."""
    return Colouring(lambda values: [BLUE] * len(values))


def kind_colouring(values: Sequence[NDArray[Any]], names: Names, what: str) -> Colouring:
    """For results that name a vertex: a colour for each of those that have most vertices.

    `values` are results of drawn vertices, of each version; one that stands alone is grey.
    """
    together = np.concatenate(values).astype(np.int64)
    kinds, first, counts = np.unique(together, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    largest = [max(int((part == kind).sum()) for part in values) for kind in kinds]
    chosen = [at for at in order.tolist() if largest[at] > 1 and kinds[at] >= 0][: len(_KINDS)]
    colour = {int(kinds[at]): _KINDS[place] for place, at in enumerate(chosen)}
    called = names(kinds[chosen]) if chosen else []
    named = [
        (f"{what} {name}", colour[int(kinds[at])]) for name, at in zip(called, chosen, strict=True)
    ]
    if len(chosen) < len(kinds):
        alone = all(largest[at] == 1 for at in range(len(kinds)) if at not in chosen)
        named.append(("alone" if alone else "smaller ones", _OTHERS))
    return Colouring(lambda part: [colour.get(int(value), _OTHERS) for value in part], tuple(named))


def truth_colouring(name: str) -> Colouring:
    """The colouring of truth values."""
    return Colouring(
        lambda part: [BLUE if value else _HOLLOW for value in part],
        ((f"{name}: true", BLUE), (f"{name}: false", _HOLLOW)),
    )


def number_colouring(
    values: Sequence[NDArray[Any]], name: str, missing: float | None = None
) -> Colouring:
    """For numbers, with NaN where there is none; `missing` is what results have there."""
    together = np.concatenate(values)
    known = np.unique(together[np.isfinite(together)])
    hollow = (("not reached", _HOLLOW),) if not np.isfinite(together).all() else ()
    if not len(known):
        return Colouring(lambda part: [_HOLLOW] * len(part), hollow)
    shades = matplotlib.colormaps["cividis"]
    low, high = float(known[0]), float(known[-1])
    if low == high:
        one = matplotlib.colors.to_hex(shades(0.0))
        hollow = ((f"{name}: {short_number(low)}", one), *hollow)
        return Colouring(lambda part: [one if np.isfinite(v) else _HOLLOW for v in part], hollow)
    ticks: list[float] | None = None
    wide = not np.isfinite(high - low)
    norm = SymLogNorm(1.0, vmin=low, vmax=high) if wide else Normalize(low, high)
    if (known == np.round(known)).all() and high - low < _STEPS:
        ticks = [float(step) for step in range(int(low), int(high) + 1)]
        edges = [tick - 0.5 for tick in (*ticks, high + 1)]
        norm = BoundaryNorm(edges, shades.N)
    scale = Scale(name, shades, norm, ticks)
    rounded = together.dtype.kind == "f" and ticks is None and not wide
    slack = _SLACK * (high - low) if rounded else 0.0

    def colours(part: NDArray[Any]) -> list[str]:
        return [
            matplotlib.colors.to_hex(shades(norm(value))) if np.isfinite(value) else _HOLLOW
            for value in part.astype(np.float64)
        ]

    return Colouring(colours, hollow, scale, missing, slack)


def outline_of(colour: str) -> str:
    """White outlines; grey ones for hollow vertices, which would be invisible."""
    return GREY if colour == _HOLLOW else "#FFFFFF"
