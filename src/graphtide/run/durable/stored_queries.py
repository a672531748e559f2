"""Queries that a live graph remembers: what is stored of one, and the query made of it again.

A query names vertices, and the graph holds on to these: one that is removed stays, without edges,
as long as a query or a program names it. So whatever was asked once can be asked after every start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.live.ids import plain_id
from graphtide.run.live.programs import named_vertices
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.queries.kinds import Hops, Path, Paths, QueryKind, Reach, Regular
from graphtide.store.files import well_formed

_KINDS: dict[str, type[QueryKind]] = {
    kind.__name__: kind for kind in (Path, Paths, Hops, Reach, Regular)
}


def stored_query(asked: QueryKind) -> dict[str, Any]:
    given = {item.name: getattr(asked, item.name) for item in fields(asked) if item.init}  # type: ignore[arg-type]
    if isinstance(asked, Paths):
        given["pairs"] = given.pop("pairs_asked")
    return {
        "kind": type(asked).__name__,
        "values": {name: _plain(value) for name, value in given.items()},
    }


def made_query(stored: dict[str, Any]) -> QueryKind:
    with well_formed("a query"):
        return _KINDS[stored["kind"]](**stored["values"])


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else plain_id(value)


def held_vertices(graph: MemoryGraph) -> NDArray[np.int32]:
    """The vertices that queries and programs on a graph name, by number; ascending, each once."""
    return np.unique(np.fromiter(_held(graph), np.int32))


def _held(graph: MemoryGraph) -> Iterator[int]:
    if graph._asked is not None:
        for query in graph._asked.queries.values():
            yield from query.named
    for holder in graph._followers.holders():
        if holder is not graph:
            yield from named_vertices(holder.program, graph._known.ids)  # type: ignore[attr-defined]


def numbers_now(before: MemoryGraph, numbers: NDArray[np.int32], ids: Any) -> list[int]:
    """The numbers of some vertices in another numbering of ids."""
    taken: pa.Array = before._known.ids.taken(numbers)
    given = taken.to_numpy(zero_copy_only=False)
    known: list[int] = ids.numbers(given).tolist()
    return known
