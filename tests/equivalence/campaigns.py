"""Random graphs under random edits: heavy deletion, insertion, and undoing, step by step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["random", "star", "path", "dense", "sparse"]
SHAPES: tuple[Shape, ...] = ("random", "star", "path", "dense", "sparse")


@dataclass(frozen=True)
class Step:
    """One edit: edges (by the campaign's numbers) in and out, or the last edit undone."""

    kind: Literal["advance", "rollback"]
    inserted: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


@dataclass
class Campaign:
    """A graph with multi-edges and loops, and which of its edges are live now."""

    vertices: int
    ends: list[tuple[int, int]]
    weights: list[float]
    live: list[bool]
    _undo: list[list[bool]] = field(default_factory=list)

    @property
    def src(self) -> NDArray[np.int32]:
        return np.array([one for one, _ in self.ends], np.int32)

    @property
    def dst(self) -> NDArray[np.int32]:
        return np.array([other for _, other in self.ends], np.int32)

    def edges(self) -> list[tuple[int, int, dict[str, Any]]]:
        """The live edges, as the naive interpreter takes them."""
        return [
            (*ends, {"weight": weight})
            for ends, weight, live in zip(self.ends, self.weights, self.live, strict=True)
            if live
        ]

    def steps(self, pick: random.Random, count: int) -> Iterator[Step]:
        """Edits, each applied to `live` before it is handed out."""
        for _ in range(count):
            if self._undo and pick.random() < 0.25:
                self.live = self._undo.pop()
                yield Step("rollback")
                continue
            chosen = pick.sample(range(len(self.ends)), pick.randrange(min(len(self.ends), 8) + 1))
            self._undo.append(list(self.live))
            step = Step(
                "advance",
                tuple(edge for edge in chosen if not self.live[edge]),
                tuple(edge for edge in chosen if self.live[edge]),
            )
            self.live = [live ^ (at in chosen) for at, live in enumerate(self.live)]
            yield step


def make_campaign(pick: random.Random, shape: Shape) -> Campaign:
    """A small graph of a shape, nine tenths of it live; weights that tie often, zero included."""
    vertices = pick.randrange(2, 12)
    ends = _ends(pick, shape, vertices)
    weights = [pick.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.0]) for _ in ends]
    return Campaign(vertices, ends, weights, [pick.random() < 0.9 for _ in ends])


def _ends(pick: random.Random, shape: Shape, vertices: int) -> list[tuple[int, int]]:
    match shape:
        case "star":
            found = [(0, at) for at in range(vertices)] + [(at, 0) for at in range(vertices)]
        case "path":
            found = [(at, at + 1) for at in range(vertices - 1)]
            found += [(at, at) for at in range(0, vertices, 3)]
        case _:
            count = {"random": 3, "dense": 6, "sparse": 1}[shape] * vertices
            found = [(pick.randrange(vertices), pick.randrange(vertices)) for _ in range(count)]
    pick.shuffle(found)
    return found or [(0, 1)]
