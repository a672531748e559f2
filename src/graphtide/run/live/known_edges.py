"""A graph in memory with what its users call things: ids of vertices, names of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphtide.engine.resident import ResidentGraph
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.vertex_ids import VertexIds


@dataclass(frozen=True)
class KnownEdges:
    """What rows are matched with: a graph, the ids of its vertices, the names of its columns."""

    resident: ResidentGraph
    ids: VertexIds
    names: ColumnNames
    simple: bool

    def text(self, edge: int) -> str:
        """An edge (inside number) as its row."""
        edges = np.array([edge], np.int32)
        ends = [self.ids[int(end[0])] for end in self.resident.ends(edges)]
        values = [column[edge].item() for column in self.resident.properties.values()]
        return f"({', '.join(map(repr, [*ends, *values]))})"
