"""A graph in memory as plain arrays: what is pickled, copied and sent to another process.

Edges that have left the graph are saved too, so that vertices and edges keep their numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.delta import no_edges
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import Int32, VertexIds


class SavedGraph(NamedTuple):
    """Edges by the numbers that users know; `gone` are those that are not there now."""

    ids: VertexIds
    names: ColumnNames
    simple: bool
    src: Int32
    dst: Int32
    properties: dict[str, NDArray[Any]]
    gone: Int32
    timezone: str = "UTC"
    directed: bool = True


def saved_graph(known: KnownEdges) -> SavedGraph:
    """The current version of a graph. O(graph); shares nothing with it."""
    resident = known.resident
    later = np.arange(len(resident.numbers), resident.edges, dtype=np.int32)
    inside = np.concatenate([resident.numbers, later])
    columns = {name: column[inside] for name, column in resident.properties.items()}
    gone = np.flatnonzero(~resident.are_live(inside)).astype(np.int32)
    return SavedGraph(
        *(known.ids.copy(), known.names, known.simple, *resident.ends(inside), columns, gone),
        known.timezone,
        resident.directed,
    )


def restored_graph(saved: SavedGraph, vertices: pa.Table, edges: pa.Table) -> KnownEdges:
    """The same graph again, with the tables of its vertices and edges."""
    ends = saved.src, saved.dst
    resident = ResidentGraph(
        len(saved.ids), *ends, saved.properties, grows=True, directed=saved.directed
    )
    if len(saved.gone):
        resident.flip(no_edges(), resident.numbers[saved.gone])
    known = KnownEdges(resident, saved.ids.copy(), saved.names, saved.simple, vertices, edges)
    known.timezone = saved.timezone
    return known
