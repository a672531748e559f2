"""Dense vertex numbers for the edges that a graph in memory is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError, LimitError
from graphtide.run.live.given_ids import Ids
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.vertex_ids import Int32, VertexIds, distinct_ids, id_column, named_rows

_MOST_VERTICES = 2**31 - 1


def number_vertices(src: Ids, dst: Ids, vertices: Any) -> tuple[VertexIds, Int32, Int32]:
    """The ids of a graph, and both ends of its edges by number.

    `vertices` is how many there are (then ids are 0, 1, ...), all ids, or None: the ends of the
    edges are all there are.
    """
    if vertices is not None:
        ids = VertexIds(_given_ids(vertices))
        return ids, *_ends_among(ids, src, dst)
    if src.dtype == object or dst.dtype == object:
        ids = VertexIds(_ids_in_order(src, dst))
        _check_count(len(ids))
        return ids, ids.numbers(src), ids.numbers(dst)
    ids = VertexIds(_whole_ids(src, dst))
    _check_count(len(ids))
    return ids, ids.numbers(src), ids.numbers(dst)


def _given_ids(vertices: Any) -> Ids:
    if isinstance(vertices, int) and not isinstance(vertices, bool):
        if vertices < 0:
            raise InputError(f"there cannot be {vertices} vertices")
        _check_count(vertices)
        return np.arange(vertices, dtype=np.int64)
    ids = id_column(vertices, "`vertices`").copy()
    _check_count(len(ids))
    first: dict[Any, int] = {}
    twice = [at for at, item in enumerate(ids.tolist()) if first.setdefault(item, at) != at]
    if twice:
        raise InputError(
            "`vertices` lists an id twice",
            where=named_rows(twice, lambda at: repr(plain_id(ids[at]))),
            hint="list every vertex once",
        )
    return ids


def _ends_among(ids: VertexIds, src: Ids, dst: Ids) -> tuple[Int32, Int32]:
    ends = ids.numbers(src), ids.numbers(dst)
    unknown = np.flatnonzero((ends[0] < 0) | (ends[1] < 0))
    if len(unknown):
        raise InputError(
            f"{len(unknown):,} edges have an end that is not among the vertices",
            where=named_rows(
                unknown.tolist(), lambda at: f"({plain_id(src[at])!r}, {plain_id(dst[at])!r})"
            ),
            hint="add the vertex to `vertices`, or leave `vertices` out",
        )
    return ends


def _whole_ids(src: NDArray[np.int64], dst: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ascending; by a mask where ids are small, by a table of hashes otherwise."""
    if not len(src):
        return np.empty(0, np.int64)
    low = min(int(src.min()), int(dst.min()))
    high = max(int(src.max()), int(dst.max()))
    if low < 0 or high > 8 * len(src) + 1024:
        return np.sort(distinct_ids(src, dst))
    seen = np.zeros(high + 1, np.bool_)
    seen[src] = True
    seen[dst] = True
    return np.flatnonzero(seen)


def _ids_in_order(src: Ids, dst: Ids) -> Ids:
    both: Iterable[Any] = (
        end for pair in zip(src.tolist(), dst.tolist(), strict=True) for end in pair
    )
    ids = list(dict.fromkeys(both))
    if all(type(item) is int for item in ids):
        ids.sort()
    return np.fromiter(ids, object, len(ids))


def _check_count(count: int) -> None:
    if count > _MOST_VERTICES:
        raise LimitError(f"{count:,} vertices are more than one graph in memory can hold")
