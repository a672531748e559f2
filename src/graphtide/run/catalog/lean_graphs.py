"""The lean graph of a stored graph: made of its tables when it is first needed, and kept beside it.

It belongs to one state of the graph and holds the edge properties that programs have asked for so
far. Where the graph has gone on, or a program reads another property, it is made anew; and so it is
where its files are damaged, since the graph has all that is in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.kernels.graph.compressed import LeanGraph
from graphtide.model.errors import DamagedError, InputError
from graphtide.model.schema import PropertyType
from graphtide.run.live.edge_rows import property_column
from graphtide.store.catalog import Catalog
from graphtide.store.commit import remove
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


_log = logging.getLogger("graphtide")


class Found(NamedTuple):
    """A lean graph, whether it had to be made, and what was wrong with the one before if it was."""

    lean: LeanGraph
    made: bool
    damage: str = ""


def lean_graph_of(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> Found:
    """The lean graph of a state of a graph, with these edge properties at least."""
    folder, damage = catalog.lean_folder(stored.name), ""
    known: list[str] | None = None
    try:
        known = _columns_there(catalog, stored)
        if known is not None and set(columns) <= set(known):
            return Found(read_lean_graph(folder), made=False)
    except DamagedError as error:
        damage = error.what
        _log.warning("%s; it is made again from the graph '%s'", damage, stored.name)
        remove(folder, f"the lean graph of '{stored.name}'")
    _make(catalog, stored, list(dict.fromkeys([*(known or ()), *columns])))
    return Found(read_lean_graph(folder), made=True, damage=damage)


def _make(catalog: Catalog, stored: StoredGraph, columns: list[str]) -> None:
    types = _types_of(stored)
    write_lean_graph(
        catalog.lean_folder(stored.name),
        stored.vertices,
        stored.edges,
        _blocks(stored, columns),
        {name: types[name] for name in columns},
        {"identity": stored.identity},
        directed=stored.directed,
    )


def is_there(catalog: Catalog, stored: StoredGraph, columns: Sequence[str]) -> bool:
    """Whether there is a lean graph with these properties; a damaged one counts, and is mended."""
    try:
        known = _columns_there(catalog, stored)
    except DamagedError:
        return True
    return known is not None and set(columns) <= set(known)


def _columns_there(catalog: Catalog, stored: StoredGraph) -> list[str] | None:
    """The properties that the lean graph of this state has; None where there is none."""
    facts = lean_facts(catalog.lean_folder(stored.name))
    names = ("identity", "vertices", "edges")
    if facts is None or any(facts.get(name) != getattr(stored, name) for name in names):
        return None
    types, there = _types_of(stored), facts.get("columns")
    if not isinstance(there, dict) or any(
        name not in types or np.dtype(types[name]).str != type_ for name, type_ in there.items()
    ):
        return None
    return list(there)


def _types_of(stored: StoredGraph) -> dict[str, Any]:
    """The edge properties that a lean graph of this one can hold."""
    kinds = {item.name: item.type for item in stored.schema.edge}
    return {name: LEAN_TYPES[kind] for name, kind in kinds.items() if kind in LEAN_TYPES}


def _blocks(stored: StoredGraph, columns: list[str]) -> Iterator[Block]:
    for table in edge_batches(stored, ["_src", "_dst", *columns]):
        src, dst = (_ends(table.column(name)) for name in ("_src", "_dst"))
        yield Block(src, dst, {name: _values(stored, table, name) for name in columns})


def _ends(column: pa.ChunkedArray) -> NDArray[np.int32]:
    numbers: NDArray[np.int32] = column.to_numpy().astype(np.int32, copy=False)
    return numbers


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
