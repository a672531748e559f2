"""The settings of paper 001, by the names that figures have, and what its authors' program took.

The authors' figures: their Java program (github.com/khaledammar/optimized-DC) on soc-Epinions1,
10 pairs, 100 single insertions, on a busy machine of the kind that ours were measured on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from graphtide.queries import Histories, Path

KEPT, ON_DEMAND = "everything kept", "join on demand"
DETERMINISTIC, PROBABILISTIC = "Det-Drop at one half", "Prob-Drop at one half"

SETTINGS = {
    KEPT: Histories(join_on_demand=False),
    ON_DEMAND: Histories(),
    DETERMINISTIC: Histories(drop=0.5),
    PROBABILISTIC: Histories(drop=0.5, how="probabilistic"),
}
RANDOM = {
    "Det-Drop at a tenth, random": Histories(drop=0.1, policy="random"),
    "Det-Drop at one half, random": Histories(drop=0.5, policy="random"),
    "Prob-Drop at one half, random": Histories(drop=0.5, how="probabilistic", policy="random"),
}


class Authors(NamedTuple):
    """Milliseconds of a batch, and megabytes of state."""

    milliseconds: float
    megabytes: float


AUTHORS = {
    KEPT: Authors(5.6, 200),
    ON_DEMAND: Authors(20, 77),
    DETERMINISTIC: Authors(26, 56),
    PROBABILISTIC: Authors(108, 75),
}
FASTER, SMALLER = 20, 10


class Stream(NamedTuple):
    """A graph without some of its edges, which then come one by one; costs from 1 to 10."""

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    km: NDArray[np.int64]
    held: NDArray[np.int64]

    @classmethod
    def of(cls, src: NDArray[np.int64], dst: NDArray[np.int64], held: int) -> Stream:
        """Hold so many edges back, drawn at random."""
        random = np.random.default_rng(3)
        km = random.integers(1, 11, len(src))
        return cls(src, dst, km, random.choice(len(src), held, replace=False))

    def graph(self, settings: Histories | None, *, whole: bool = False) -> gt.Graph:
        """The graph, with all edges or without those that are held back."""
        kept = np.ones(len(self.src), np.bool_)
        kept[self.held] = whole
        columns = self.src[kept], self.dst[kept]
        return gt.Graph(*columns, vertices=self.vertices, km=self.km[kept], queries=settings)

    @property
    def vertices(self) -> NDArray[np.int64]:
        """All that edges name, so that none comes with an edge."""
        return np.unique(np.concatenate([self.src, self.dst]))

    def row(self, at: int) -> tuple[int, int, int]:
        """An edge that comes, as it is inserted."""
        edge = self.held[at]
        return int(self.src[edge]), int(self.dst[edge]), int(self.km[edge])

    def pairs(self, count: int, weight: str | None) -> list[Path]:
        """Queries for pairs of vertices that edges leave."""
        ends = np.random.default_rng(5).choice(np.unique(self.src), (count, 2)).tolist()
        return [Path(start, target, weight) for start, target in ends]
