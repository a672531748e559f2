"""A proof as a picture: the fact on top, what it needs below it, given facts in another colour."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graphtide.api.pictures.picture import BLUE, GREEN, GREY, Picture, headed, shortened, styled
from graphtide.model.errors import InputError
from graphtide.run.rules.queries import Proof

_LETTER, _ROW, _GAP = 0.085, 0.85, 0.35
_LONGEST = 48
_WIDEST, _HIGHEST = 60.0, 40.0
_MOST_HIGH = 200

Places = dict[int, tuple[Proof, float, float]]
"""Where each fact of a proof stands, once, however often it is a premise."""


def draw_proof(proof: Proof) -> Picture:
    """The tree of a proof; facts as boxes, and the line of the rule between them."""
    if proof.height > _MOST_HIGH:
        raise InputError(
            f"{proof.height} rules after one another make no picture", hint="print the proof"
        )
    title = f"why {proof.text}"
    with styled():
        places: Places = {}
        width = _place(proof, 0.0, 0, places)
        height = _ROW * (1 + proof.height)
        size = (min(max(width, 4.0), _WIDEST), min(height + 0.9, _HIGHEST))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_xlim(0.0, max(width, 4.0))
        axes.set_ylim(-height, _ROW / 2)
        headed(figure, title, f"{proof.height} rules after one another")
        for item, x, y in places.values():
            _draw(axes, item, (x, y), places)
    return Picture(title, figure)


def _width(proof: Proof) -> float:
    return len(_shown(proof)) * _LETTER + _GAP


def _shown(proof: Proof) -> str:
    return shortened(proof.text, _LONGEST)


def _place(proof: Proof, left: float, depth: int, places: Places) -> float:
    """Put a proof and all below it side by side, unless it is there; the right end of it."""
    if id(proof) in places:
        return left
    right = left
    for item in proof.premises:
        right = _place(item, right, depth + 1, places)
    right = max(right, left + _width(proof))
    places[id(proof)] = proof, (left + right) / 2, -depth * _ROW
    return right


def _draw(axes: Axes, proof: Proof, place: tuple[float, float], places: Places) -> None:
    x, y = place
    for item in proof.premises:
        _, below_x, below_y = places[id(item)]
        axes.plot([x, below_x], [y - 0.12, below_y + 0.14], color=GREY, linewidth=0.8, zorder=1)
    colour = GREEN if proof.rule is None else BLUE
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour}
    axes.text(x, y, _shown(proof), ha="center", va="center", fontsize=9, bbox=box, zorder=2)
    if proof.rule is not None:
        notes = [f"line {proof.line}", *proof.conditions]
        label = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 3}
        axes.text(x, y - 0.29, "  ".join(notes), color=GREY, bbox=label, **style)
