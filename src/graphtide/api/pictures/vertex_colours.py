"""The colours of vertices: by component, by truth, or along a scale; what has no value is hollow.

A component keeps its colour from panel to panel. Six of them have one, the rest are grey: nobody
tells more apart. Numbers go from dark blue to yellow (cividis), which print and any eye keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, Normalize, SymLogNorm
from numpy.typing import NDArray

from graphtide.api.pictures.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, short_number

Int = NDArray[np.int64]
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
    """All vertices alike, where there is no result."""
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
    """For truth values."""
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
    """White between vertices; grey round hollow ones, which would be lost."""
    return GREY if colour == _HOLLOW else "#FFFFFF"
