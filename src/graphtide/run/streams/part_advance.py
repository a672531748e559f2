"""A part of a batch as an advance: the rows that come, and the numbers of the edges that go.

An edge that is changed goes, and comes with other values: those that the row gives, and its own for
the rest. Rows that mean no edge are wrong, and so are those that the graph or what follows it would
refuse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.steps import chosen_edges
from graphtide.run.live.find_edges import find_edges
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.streams.operations import DELETE, INSERT, UPDATE, Codes
from graphtide.run.streams.refusals import refused
from graphtide.run.streams.sorting import REASON

_NO_EDGE, _PARALLEL = "no such edge", "such an edge is there already"

Numbers = NDArray[np.int64]


class Part(NamedTuple):
    """Rows in the columns of edges, what they ask for, and by which properties they mean edges;
    `late` is how many rows of the batch are told of with it as late.
    """

    number: int
    rows: pa.Table
    codes: Codes
    match: tuple[str, ...]
    late: int = 0


class PartAdvance(NamedTuple):
    """What the graph is to take, of how many rows, and rows that are wrong, with the reason."""

    insert: Any
    delete: Numbers | None
    rows: int
    wrong: pa.Table


def part_advance(graph: MemoryGraph, shape: Shape, part: Part) -> PartAdvance:
    """What a part comes to on the graph as it is, which stays so."""
    numbers = np.full(len(part.codes), -1, np.int64)
    wrong = [part.rows.slice(0, 0).append_column(REASON, pa.nulls(0, pa.string()))]
    if shape.simple or (part.codes != INSERT).any():
        numbers = _meant_edges(graph, shape, part)
        reasons = _reasons(graph, shape, part, numbers)
        part, numbers = _without(part, numbers, reasons, wrong)
    brought = _brought(graph, shape, part, numbers)
    reasons = np.full(len(numbers), "", object)
    reasons[_places_of_brought(part)] = refused(graph, shape, brought)
    if (reasons != "").any():
        part, numbers = _without(part, numbers, reasons, wrong)
        brought = _brought(graph, shape, part, numbers)
    gone = np.sort(numbers[numbers >= 0])
    insert = brought if len(brought[shape.src]) else None
    delete = gone if len(gone) else None
    return PartAdvance(insert, delete, len(part.codes), pa.concat_tables(wrong))


def _without(
    part: Part, numbers: Numbers, reasons: NDArray[Any], wrong: list[pa.Table]
) -> tuple[Part, Numbers]:
    """A part without the rows that there are reasons against; these are added to the `wrong`."""
    bad = reasons != ""
    if not bad.any():
        return part, numbers
    why = pa.array(reasons[bad], pa.string())
    wrong.append(part.rows.filter(pa.array(bad)).append_column(REASON, why))
    rows = part.rows.filter(pa.array(~bad))
    return part._replace(rows=rows, codes=part.codes[~bad]), numbers[~bad]


def _meant_edges(graph: MemoryGraph, shape: Shape, part: Part) -> Numbers:
    """The edges that rows change or take away, -1 where they do neither or mean none."""
    meaning = (part.codes == UPDATE) | (part.codes == DELETE)
    return _found(graph, shape, part.rows, meaning, part.match)


def _found(
    graph: MemoryGraph,
    shape: Shape,
    rows: pa.Table,
    chosen: NDArray[np.bool_],
    match: tuple[str, ...] = (),
) -> Numbers:
    edges = np.full(len(chosen), -1, np.int64)
    if chosen.any():
        few = rows.select([shape.src, shape.dst, *match]).filter(pa.array(chosen))
        given = {name: few.column(name) for name in (shape.src, shape.dst)}
        for name in match:
            given[name] = as_column(few.column(name), shape.edges.field(name).type, name)
        edges[chosen] = find_edges(graph._known, given)
    return edges


def _reasons(graph: MemoryGraph, shape: Shape, part: Part, numbers: Numbers) -> NDArray[Any]:
    """Why rows are wrong, empty where they are not."""
    reasons = np.full(len(numbers), "", object)
    meaning = (part.codes == UPDATE) | (part.codes == DELETE)
    reasons[meaning & (numbers < 0)] = _NO_EDGE
    if shape.simple:
        there = _found(graph, shape, part.rows, ~meaning)
        goes = np.isin(there, numbers[numbers >= 0])
        reasons[(there >= 0) & ~goes] = _PARALLEL
    return reasons


def _brought(graph: MemoryGraph, shape: Shape, part: Part, numbers: Numbers) -> dict[str, Any]:
    """The rows that come: new edges, and behind them those that were changed, as they are now."""
    changes = part.codes == UPDATE
    new = part.rows.filter(pa.array(~changes & (part.codes != DELETE)))
    if not changes.any():
        return {name: new.column(name) for name in new.column_names}
    old = chosen_edges(graph, numbers[changes], shape)
    given = part.rows.filter(pa.array(changes))
    known = (shape.src, shape.dst, *part.match)
    columns = {}
    for name, before in old.items():
        wanted, says = before.type, name in given.column_names and name not in known
        now = (
            as_column(given.column(name), wanted, name) if says else as_column(before, wanted, name)
        )
        came = pa.nulls(new.num_rows, wanted)
        if name in new.column_names:
            came = as_column(new.column(name), wanted, name)
        columns[name] = pa.chunked_array([came, now])
    return columns


def _places_of_brought(part: Part) -> Numbers:
    """The rows of a part that bring edges, in the order of `_brought`."""
    changes = part.codes == UPDATE
    new = np.flatnonzero(~changes & (part.codes != DELETE))
    return np.concatenate([new, np.flatnonzero(changes)])


def as_column(values: Any, wanted: pa.DataType, name: str) -> pa.Array:
    """Values in the type that a property has on disk."""
    try:
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(column, pa.ChunkedArray):  # Of no rows.
            return pa.array([], wanted)
        return column if column.type == wanted else column.cast(wanted)
    except pa.ArrowException:
        raise InputError(
            f"the stream gives '{name}' as {values.type}, and edges have it as {wanted}",
            hint="cast the column of the stream to the type that the graph has",
        ) from None
