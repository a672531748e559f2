"""Collections as users make them: a graph in memory, views in GVDL, planned.

Which edges a view holds is also said with NumPy, so that results can be compared with those of
plain loops over these edges without asking GVDL.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench.runs_graphs import EdgeTable, Int64, authors

DAY = 86_400
LENGTHS = {"day": 1, "week": 7, "month": 30, "half-year": 182, "year": 365}
Order = Literal["auto", "tree", "chain", "manual"]
Holds = Callable[[int], NDArray[np.bool_]]
"""Of each edge, whether the view at a place holds it."""


@dataclass(frozen=True)
class Views:
    """A collection of a graph, and which edges its views hold."""

    name: str
    graph: EdgeTable
    collection: Any
    holds: Holds

    def __len__(self) -> int:
        return len(self.collection)

    @property
    def section(self) -> str:
        """What figures are told under."""
        return f"{self.name} ({len(self):,} views)"

    def held(self, view: int) -> Int64:
        """The edges of a view."""
        return np.flatnonzero(self.holds(view))


def expanding(table: EdgeTable, word: str, days: float) -> Views:
    """Windows from the first edge on that grow by so many days."""
    bucket = _buckets(table.time, days)
    views = f"for d in 0..{int(bucket.max())} [upto-{{d}}: bucket <= d]"
    collection = _graph(table, bucket=bucket).collection(views)
    return _views(f"{word} expanding windows", table, collection, lambda at: bucket <= at)


def disjoint(table: EdgeTable, word: str, days: float) -> Views:
    """Windows of so many days that do not overlap; those without an edge are left out."""
    _, bucket = np.unique(_buckets(table.time, days), return_inverse=True)
    views = f"for d in 0..{int(bucket.max())} [only-{{d}}: bucket = d]"
    collection = _graph(table, bucket=bucket).collection(views)
    return _views(f"{word} separate windows", table, collection, lambda at: bucket == at)


def products(table: EdgeTable, order: Order = "auto") -> Views:
    """Each year of citing papers, and in each year papers of at most 1, 2, 3 ... authors."""
    _, year = np.unique(_buckets(table.time, 365.25), return_inverse=True)
    count = authors(table)
    cells = list(itertools.product(range(int(year.max()) + 1), range(1, int(count.max()) + 1)))
    views = {f"{y}-{most}": f"year = {y} and authors <= {most}" for y, most in cells}
    collection = _graph(table, year=year, authors=count).collection(views, order=order)

    def holds(at: int) -> NDArray[np.bool_]:
        return np.asarray((year == cells[at][0]) & (count <= cells[at][1]))

    return _views("years x authors", table, collection, holds)


def removals(
    table: EdgeTable, communities: list[list[int]], given: Sequence[int] | None = None
) -> Views:
    """All ways to remove half of the communities, with every edge that touches them.

    The views are planned, or run in the `given` order.
    """
    touched = {f"t{at}": touches(table, members) for at, members in enumerate(communities)}
    half = list(itertools.combinations(touched, len(communities) // 2))
    places = range(len(half)) if given is None else given
    removed = [half[place] for place in places]
    views = {"-".join(names): " and ".join(f"not {name}" for name in names) for names in removed}
    order: Order = "auto" if given is None else "manual"
    collection = _graph(table, **touched).collection(views, order=order)

    def holds(at: int) -> NDArray[np.bool_]:
        return np.asarray(~np.logical_or.reduce([touched[name] for name in removed[at]]))

    return _views("community removals", table, collection, holds)


def outages(table: EdgeTable, order: Order = "auto") -> Views:
    """Every edge out in turn."""
    edges = np.arange(table.edges)
    collection = _graph(table).collection(gt.without_each("edge"), order=order)
    return _views("single outages", table, collection, lambda at: edges != at)


def ranges(table: EdgeTable, word: str, starts: Int64, stops: Int64) -> Views:
    """Windows over edges by their number: from each start to each stop."""
    number = np.arange(table.edges)
    bounds = list(zip(starts.tolist(), stops.tolist(), strict=True))
    views = {f"{at}": f"at >= {a} and at < {b}" for at, (a, b) in enumerate(bounds)}
    collection = _graph(table, at=number).collection(views)

    def holds(at: int) -> NDArray[np.bool_]:
        return np.asarray((bounds[at][0] <= number) & (number < bounds[at][1]))

    return _views(f"{len(bounds)} {word} windows", table, collection, holds)


def _graph(table: EdgeTable, **columns: Any) -> gt.Graph:
    ends = table.src, table.dst
    return gt.Graph(*ends, vertices=table.vertices, weight=table.weight, **columns)


def _views(name: str, table: EdgeTable, collection: Any, holds: Holds) -> Views:
    return Views(f"{table.name}, {name}", table, collection, holds)


def touches(table: EdgeTable, members: list[int]) -> NDArray[np.bool_]:
    """Of each edge, whether one of its ends is a member."""
    inside = np.isin(table.ids, members)
    return np.asarray(inside[table.src] | inside[table.dst])


def _buckets(time: Int64, days: float) -> Int64:
    return np.asarray((time - time.min()) / (DAY * days)).astype(np.int64)
