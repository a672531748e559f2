"""A view: the edges of a graph that satisfy a predicate, in whatever form they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.view_edges import ViewEdges
from graphtide.model.delta import EdgeIds
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.result_rows import VertexRows
from graphtide.run.views.networkx_export import Included, to_networkx, wants_all
from graphtide.store.behind import graph_behind
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import edge_table
from graphtide.store.tables import edge_rows

if TYPE_CHECKING:
    import networkx

    from graphtide.spark.types import DataFrame


class View(ViewEdges):
    """One view of a stored collection. Reads nothing until it is asked for edges."""

    _elsewhere = {
        "run": "a view is a collection of one: session.collection(name).run(program)",
    }

    def __init__(self, space: Workspace, stored: StoredCollection, position: int) -> None:
        super().__init__(stored, position)
        self._space = space
        self._stored = stored

    def to_spark(self) -> DataFrame:
        """The edges as a Spark DataFrame, in the session's Spark."""
        held = self._stored.plan.membership(self._stored.plan.view_steps[self._position])
        gateway = self._space.gateway
        frame: DataFrame = gateway.class_frame(self._graph(), self._stored, held.nonzero()[0])
        return frame

    def to_networkx(
        self, *, vertices: Included = "touched", multigraph: bool | None = None
    ) -> networkx.Graph[Any]:
        """The view as a NetworkX graph of the graph's kind; `vertices="all"` adds those without
        edges.

        A `Graph` or `DiGraph`, or a `MultiGraph` or `MultiDiGraph` where there are parallel edges;
        `multigraph=True` gives one of these always, and `False` refuses parallel edges. A vertex
        that is taken out of the view is not there.
        """
        everything, removed = wants_all(vertices), self._item.removed
        return to_networkx(
            self._graph(), self.edge_ids, multigraph, everything=everything, removed=removed
        )

    def _graph(self) -> StoredGraph:
        return graph_behind(self._space.catalog, self._stored)

    def _ends(self, position: int) -> NDArray[np.int64]:
        edges = self._stored.view_edges(position)
        ends = edge_table(self._graph(), ["_src", "_dst"]).take(pa.array(edges))
        return np.column_stack([ends.column(at).to_numpy() for at in range(2)]).astype(np.int64)

    def _vertex_rows(self) -> VertexRows:
        return StoredVertices(self._graph())

    def _is_directed(self) -> bool:
        return self._graph().directed

    def _table(self, edges: EdgeIds) -> pa.Table:
        return edge_rows(self._graph(), edges)
