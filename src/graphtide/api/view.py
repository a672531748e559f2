"""A view: the edges of a graph that satisfy a predicate, in whatever form they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from graphtide.api.networkx_export import Included, to_networkx, wants_all
from graphtide.api.view_edges import ViewEdges, shortened
from graphtide.model.delta import EdgeIds
from graphtide.model.errors import NotFoundError, StoreError
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.tables import edge_rows

if TYPE_CHECKING:
    import networkx
    from pyspark.sql import DataFrame

    from graphtide.api.session import Session


class View(ViewEdges):
    """One view of a stored collection. Reads nothing until it is asked for edges."""

    def __init__(self, session: Session, stored: StoredCollection, position: int) -> None:
        super().__init__(stored, position)
        self._session = session
        self._stored = stored

    def to_spark(self) -> DataFrame:
        """The edges as a Spark DataFrame, in the session's Spark."""
        held = self._stored.plan.membership(self._stored.plan.view_steps[self._position])
        graph = graph_of(self._session, self._stored)
        gateway = self._session.gateway
        frame: DataFrame = gateway.class_frame(graph, self._stored, held.nonzero()[0])
        return frame

    def to_networkx(self, *, vertices: Included = "touched") -> networkx.MultiDiGraph[Any]:
        """The view as a NetworkX multigraph; `vertices="all"` adds those without edges."""
        everything = wants_all(vertices)
        graph = graph_of(self._session, self._stored)
        return to_networkx(graph, self.edge_ids, everything=everything)

    def _table(self, edges: EdgeIds) -> pa.Table:
        return edge_rows(graph_of(self._session, self._stored), edges)


def graph_of(session: Session, stored: StoredCollection) -> StoredGraph:
    """The graph that a collection was made of; an error if it is gone or has been loaded anew."""
    facts = stored.facts
    remedy = f"create the {facts.kind} again: {shortened(facts.statement)}"
    try:
        graph = open_graph(session.catalog, facts.graph)
    except NotFoundError:
        raise StoreError(
            f"the graph '{facts.graph}' behind the {facts.kind} '{stored.name}' is gone",
            hint="load the graph again, then " + remedy,
        ) from None
    if graph.identity != facts.graph_identity:
        raise StoreError(
            f"the graph '{facts.graph}' has been loaded anew since the {facts.kind} "
            f"'{stored.name}' was made of it",
            hint=remedy,
        )
    return graph
