"""The graphs that walks are measured on: every pair of neighbours once, no vertex beside itself.

On such graphs all that count triangles agree what a triangle is. An edge is one arc, from either
end; users' ids are not the vertices' numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import plain_triangles
from bench.maintained import users_ids
from bench.peers import AbsentError
from bench.peers.differential import Arcs
from bench.rmat import rmat
from bench.streams import Batch, Input, Int32, real_input, with_held_back


@dataclass(frozen=True)
class Walk:
    """A program of the library by its title, and its result."""

    title: str
    program: str
    field: str

    def find(self) -> Any:
        """The program; AbsentError where the library has none of the name."""
        found = getattr(gt.algorithms, self.program, None)
        if found is None:
            raise AbsentError(f"skipped: there is no gt.algorithms.{self.program}")
        return found


TRIANGLES = Walk("triangles", "Triangles", "triangles")
CLUSTERING = Walk("clustering", "ClusteringCoefficients", "coefficient")


@dataclass(frozen=True)
class Pairs:
    """A graph of which a tenth of the pairs is held back, and how each side is given its pairs."""

    given: Input

    @cached_property
    def ids(self) -> NDArray[np.int64]:
        """The users' ids, by number."""
        return users_ids(self.given)

    @cached_property
    def numbers(self) -> Int32:
        """Every vertex by its number."""
        return np.arange(self.given.vertices, dtype=np.int32)

    @cached_property
    def ranks(self) -> Int32:
        """Every vertex by its place in the order of degrees, which suits delta queries best."""
        ends = np.concatenate([self.given.src, self.given.dst])
        degree = np.bincount(ends, minlength=self.given.vertices)
        return np.argsort(np.argsort(degree, kind="stable")).astype(np.int32)

    def ends(self, arcs: Int32) -> tuple[Int32, Int32]:
        """Pairs by the numbers of their vertices, as plain loops take them."""
        return self.given.src[arcs], self.given.dst[arcs]

    def columns(self, arcs: Int32) -> dict[str, NDArray[np.int64]]:
        """Pairs as users give them."""
        return {"src": self.ids[self.given.src[arcs]], "dst": self.ids[self.given.dst[arcs]]}

    def graph(self) -> gt.Graph:
        """The first version, as users make it."""
        columns = self.columns(self.given.loaded)
        return gt.Graph(columns["src"], columns["dst"], vertices=self.ids)

    def rows(self) -> plain_triangles.Neighbours:
        """The first version, as plain loops and libraries take it."""
        return plain_triangles.neighbours(self.given.vertices, *self.ends(self.given.loaded))

    def arcs(self, names: Int32) -> Arcs:
        """All pairs under these names of vertices, from the lower to the greater one."""
        one, other = names[self.given.src], names[self.given.dst]
        lower, greater = np.minimum(one, other), np.maximum(one, other)
        return Arcs(self.given.vertices, lower, greater, self.given.weight, self.given.loaded)

    def after(self, stream: list[Batch]) -> Int32:
        """The pairs that are there behind a stream of batches."""
        present = np.zeros(self.given.edges, np.bool_)
        present[self.given.loaded] = True
        for batch in stream:
            present[batch.deleted] = False
            present[batch.inserted] = True
        return np.flatnonzero(present).astype(np.int32)


def rmat_pairs(scale: int) -> Pairs:
    """The pairs of an RMAT graph."""
    return distinct_pairs(f"RMAT {scale}", 1 << scale, *rmat(scale))


def real_pairs(name: str) -> Pairs | None:
    """The pairs of a real graph by the name of its file; None without it."""
    given = real_input(name, directed=True)
    return None if given is None else distinct_pairs(name, given.vertices, given.src, given.dst)


def distinct_pairs(name: str, vertices: int, src: Int32, dst: Int32) -> Pairs:
    """Each pair once, whichever way its edges go and however many there are."""
    lower, greater = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst)
    words = np.unique(lower[lower < greater] * vertices + greater[lower < greater])
    ends = (words // vertices).astype(np.int32), (words % vertices).astype(np.int32)
    return Pairs(with_held_back(name, vertices, *ends, directed=True))


def scattered_pairs(vertices: int) -> Pairs:
    """Random pairs, two a vertex, and one more vertex that is beside nobody."""
    ends = np.random.default_rng(7).integers(vertices, size=(2, 2 * vertices), dtype=np.int32)
    return distinct_pairs(f"{vertices:,} vertices", vertices + 1, *ends)


def with_hub(pairs: Pairs) -> Pairs:
    """The last vertex beside all others from the beginning; other pairs keep their numbers."""
    given = pairs.given
    others = np.arange(given.vertices - 1, dtype=np.int32)
    added = np.arange(given.edges, given.edges + len(others), dtype=np.int32)
    return Pairs(
        replace(
            given,
            src=np.concatenate([given.src, others]),
            dst=np.concatenate([given.dst, np.full_like(others, given.vertices - 1)]),
            weight=np.concatenate([given.weight, np.ones_like(others)]),
            loaded=np.concatenate([given.loaded, added]),
        )
    )
