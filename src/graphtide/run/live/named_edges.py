"""The numbers of the edges that rows name, by their ends and by as many properties as are given.

Rows that give numbers alone are matched by the kernel that brings batches in. This module is for
the others: rows with a text or a moment, or with whole numbers of which some are missing (programs
have those as floats). Such rows are joined with all edges that leave their sources at once, which
costs O(rows and those edges) and no look-up per row.

A missing value equals a missing value. Each edge is found by one row only, the first that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.column_types import property_type, type_of_array
from graphtide.model.columns import ColumnBatch
from graphtide.model.schema import PropertyType
from graphtide.run.live.edge_rows import NO_SUCH_EDGES, refuse
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.views.typed_columns import as_type

Numbers = NDArray[np.int64]
Pair = tuple[NDArray[Any], NDArray[Any]]
"""What edges have, and what rows say."""


def find_edges(known: NamedGraph, rows: Mapping[str, Any]) -> Numbers:
    """The number of the edge that each row means, -1 where there is none.

    `rows` has the columns of both ends, and of the properties that must be equal: these as Arrow
    arrays of the types in which they are to be compared.
    """
    names = known.names.src, known.names.dst
    edges = np.full(len(rows[names[0]]), -1, np.int64)
    ends = [known.ids.numbers(id_column(rows[end], end)) for end in names]
    there = np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))
    if not len(there):
        return edges
    named = ends[0][there], ends[1][there]
    if not known.resident.directed:
        named = np.concatenate(named), np.concatenate(named)
    inside, sources, targets = _edges_between(known, *named)
    numbers = known.resident.outside(inside).astype(np.int64)
    keys: list[Pair] = [(sources, ends[0][there]), (targets, ends[1][there])]
    if not known.resident.directed:
        keys = [tuple(map(end, *keys)) for end in (np.minimum, np.maximum)]
    for name in rows:
        if name not in names and len(numbers):
            given = rows[name].take(pa.array(there))
            held = _held(known, name, inside, numbers).cast(given.type)
            if pa.types.is_floating(given.type):
                given, held = _one_zero(given), _one_zero(held)
            joined = key_codes(pa.chunked_array([*getattr(held, "chunks", [held]), given]))
            keys.append((joined[: len(numbers)], joined[len(numbers) :]))
    edges[there] = _joined(keys, numbers)
    return edges


def _held(known: NamedGraph, name: str, inside: NDArray[np.int32], numbers: Numbers) -> Any:
    """A property of some edges, from the table of views if it is there."""
    table = known.edge_columns.table
    if name in table.column_names:
        return table.column(name).take(pa.array(numbers))
    return pa.array(known.resident.properties[name].take(inside), from_pandas=True)


def _one_zero(column: Any) -> Any:
    """Floats that are equal as the same bits: 0.0 for -0.0, and a missing value for NaN."""
    return pc.add(pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column), 0.0)


def key_codes(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Numbers that are equal where values are."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # Of no rows.
        return np.empty(0, np.int64)
    numbers: NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _edges_between(
    known: NamedGraph, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    out, starts = known.resident.adjacency.out, np.unique(sources)
    counts = out.live[starts].astype(np.int64)
    firsts = np.repeat(out.start[starts] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    places = firsts + np.arange(counts.sum())
    begins, ends = np.repeat(starts, counts), out.neighbour[places]
    wanted = np.isin(ends, targets)
    return out.edge[places][wanted], begins[wanted], ends[wanted]


def _joined(keys: list[Pair], numbers: Numbers) -> Numbers:
    """The edge of each row by its keys; the n-th of equal rows gets the n-th of equal edges."""
    count, code = len(numbers), np.zeros(len(numbers) + len(keys[0][1]), np.int64)
    for there, given in keys:
        values = np.unique(np.concatenate([there, given]), return_inverse=True)[1]
        code = np.unique(code * (values.max(initial=0) + 1) + values, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    edges, edge_places = code[:count][order], numbers[order]
    keyed = _with_ranks(edges, len(code)), _with_ranks(code[count:], len(code))
    by_key = np.argsort(keyed[0])
    at = np.searchsorted(keyed[0][by_key], keyed[1])
    inside = at < count
    at[~inside] = 0
    if not count:
        return np.full(len(keyed[1]), -1, np.int64)
    hit = inside & (keyed[0][by_key][at] == keyed[1])
    return np.where(hit, edge_places[by_key][at], -1)


def _with_ranks(codes: Numbers, factor: int) -> Numbers:
    """Codes made distinct by the rank of each among its equals."""
    order = np.argsort(codes, kind="stable")
    listed = codes[order]
    begins = np.flatnonzero(np.concatenate([[True], listed[1:] != listed[:-1]]))[: len(codes)]
    sizes = np.diff([*begins, len(codes)])
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(begins, sizes)
    return codes * factor + ranks


def names_texts(known: NamedGraph, rows: ColumnBatch) -> bool:
    """Whether rows give a property that is no array of numbers, or one of rounded numbers."""
    table, numbers = known.edge_columns.table, known.resident.dtypes
    return bool(table.num_columns) and any(
        name in table.column_names
        and (name not in numbers or property_type(table.column(name)) is PropertyType.INT)
        for name in rows.values
    )


def numbers_by_texts(known: NamedGraph, rows: ColumnBatch) -> Numbers:
    ends = known.names.src, known.names.dst
    rows.check_there(ends)
    named = ColumnBatch(rows.what, {name: id_column(rows[name], name) for name in ends})
    for name, values in rows.values.items():
        if name not in ends:
            named.values[name] = _typed(known, rows.what, name, values)
    named.check_lengths()
    numbers = find_edges(known, named.values)
    refuse(named, numbers < 0, *NO_SUCH_EDGES)
    return numbers


def _typed(known: NamedGraph, what: str, name: str, values: Any) -> pa.Array:
    """The values of a property in the type that it has in the graph; a whole number is a number."""
    table = known.edge_columns.table
    kind = (
        property_type(table.column(name))
        if name in table.column_names
        else type_of_array(known.resident.dtypes[name])
    )
    return as_type(values, kind, name, what)
