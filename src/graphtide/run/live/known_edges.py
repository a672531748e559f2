"""A graph in memory with what its users call things: ids of vertices, names of columns.

What its vertices have besides stands in a table, which programs on the graph read from.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.run.live.edge_rows import ColumnNames, EdgeRows
from graphtide.run.live.plain_rows import PlainRows
from graphtide.run.live.vertex_columns import NO_TABLE, VertexColumns
from graphtide.run.live.vertex_ids import VertexIds


class KnownEdges:
    """What rows are matched with: a graph, the ids of its vertices, the names of its columns."""

    def __init__(
        self,
        resident: ResidentGraph,
        ids: VertexIds,
        names: ColumnNames,
        simple: bool,
        vertices: pa.Table = NO_TABLE,
    ) -> None:
        self.resident = resident
        self.vertex_columns = VertexColumns(vertices, resident.vertices)
        resident.vertex_data = self.vertex_columns
        self.ids = ids
        self.names = names
        self.simple = simple
        self.dtypes = tuple(resident.dtypes.items())
        self.plain = PlainRows(names.src, names.dst, self.dtypes)
        self._places = {name: at for at, name in enumerate(resident.dtypes)}
        self._given: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def columns_of(self, rows: EdgeRows) -> NDArray[np.int64]:
        """Which properties of the graph some rows give."""
        names = tuple(rows.properties)
        if names not in self._given:
            self._given[names] = np.array([self._places[name] for name in names], np.int64)
        return self._given[names]

    def text(self, edge: int) -> str:
        """An edge (inside number) as its row."""
        edges = np.array([edge], np.int32)
        ends = [self.ids[int(end[0])] for end in self.resident.ends(edges)]
        values = [column[edge].item() for column in self.resident.properties.values()]
        return f"({', '.join(map(repr, [*ends, *values]))})"
