"""The lean graph of a stored graph: made of its tables when it is first needed, and kept beside it.

It belongs to one state of the graph and holds the edge properties that programs have asked for so
far. Where the graph has gone on, or a program reads another property, it is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.run.live.edge_rows import property_column
from graphtide.store.catalog import Catalog
from graphtide.store.edge_batches import edge_batches
from graphtide.store.graph import StoredGraph
from graphtide.store.lean import lean_facts, read_lean_graph, write_lean_graph
from graphtide.store.lean_sorting import Block

LEAN_TYPES: dict[PropertyType, Any] = {
    PropertyType.INT: np.int64,
    PropertyType.FLOAT: np.float64,
    PropertyType.BOOL: np.bool_,
}
"""The properties that a lean graph can hold."""


class Found(NamedTuple):
    """A lean graph, and whether it had to be made."""

    lean: LeanGraph
    made: bool


def lean_graph_of(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> Found:
    """The lean graph of a state of a graph, with these edge properties at least."""
    folder = catalog.lean_folder(stored.name)
    known = _columns_there(catalog, stored)
    made = known is None or not set(columns) <= set(known)
    if made:
        wanted = list(dict.fromkeys([*(known or ()), *columns]))
        types = {item.name: LEAN_TYPES.get(item.type) for item in stored.schema.edge}
        write_lean_graph(
            folder,
            stored.vertices,
            stored.edges,
            _blocks(stored, wanted),
            {name: types[name] for name in wanted},
            {"identity": stored.identity},
        )
    return Found(read_lean_graph(folder), made)


def is_there(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> bool:
    """Whether a lean graph with these properties need not be made."""
    known = _columns_there(catalog, stored)
    return known is not None and set(columns) <= set(known)


def _columns_there(catalog: Catalog, stored: StoredGraph) -> list[str] | None:
    """The properties that the lean graph of this state has; None where there is none."""
    facts = lean_facts(catalog.lean_folder(stored.name))
    if facts is None or facts.get("identity") != stored.identity:
        return None
    return list(facts["columns"])


def _blocks(stored: StoredGraph, columns: list[str]) -> Iterator[Block]:
    for table in edge_batches(stored, ["_src", "_dst", *columns]):
        src, dst = (_ends(table.column(name)) for name in ("_src", "_dst"))
        yield Block(src, dst, {name: _values(stored, table, name) for name in columns})


def _ends(column: pa.ChunkedArray) -> NDArray[np.int32]:
    found: NDArray[np.int32] = column.to_numpy().astype(np.int32, copy=False)
    return found


def _values(stored: StoredGraph, table: pa.Table, name: str) -> NDArray[Any]:
    """A property of some edges; a missing number with a fraction is NaN."""
    column = table.column(name)
    if column.null_count and not pa.types.is_floating(column.type):
        raise InputError(
            f"the edge property '{name}' of the graph '{stored.name}' is missing in "
            f"{column.null_count:,} edges, and a program reads it",
            hint="give every edge a value",
        )
    return property_column(column, name, f"the graph '{stored.name}'")
