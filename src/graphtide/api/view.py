"""A view: the edges of a graph that satisfy a predicate, in whatever form they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from graphtide.api.networkx_export import to_networkx
from graphtide.model.delta import EdgeIds
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.store.collection import StoredCollection, StoredView
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.tables import edge_rows

if TYPE_CHECKING:
    import networkx
    import pandas
    from pyspark.sql import DataFrame

    from graphtide.api.session import Session


class View:
    """One view of a stored collection. Reads nothing until it is asked for edges."""

    def __init__(self, session: Session, stored: StoredCollection, position: int) -> None:
        self._session = session
        self._stored = stored
        self._position = position

    @property
    def name(self) -> str:
        """The name within the collection."""
        return self._item.name

    @property
    def predicate(self) -> str:
        """The predicate, resolved, as GVDL."""
        return self._item.predicate

    def __len__(self) -> int:
        return self._item.size

    @property
    def edge_ids(self) -> EdgeIds:
        """The numbers of the edges, sorted, put together from the collection's deltas."""
        return self._stored.view_edges(self._position)

    def to_arrow(self) -> pa.Table:
        """src, dst, label and properties of every edge, without Spark."""
        return edge_rows(graph_of(self._session, self._stored), self.edge_ids)

    def head(self, rows: int = 10) -> pa.Table:
        """The first edges, in the order of their numbers, as `to_arrow` gives them."""
        return edge_rows(graph_of(self._session, self._stored), self.edge_ids[:rows])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The edges as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_spark(self) -> DataFrame:
        """The edges as a Spark DataFrame, in the session's Spark."""
        held = self._stored.plan.membership(self._stored.plan.view_steps[self._position])
        graph = graph_of(self._session, self._stored)
        gateway = self._session.gateway
        frame: DataFrame = gateway.class_frame(graph, self._stored, held.nonzero()[0])
        return frame

    def to_networkx(
        self, *, vertices: Literal["touched", "all"] = "touched"
    ) -> networkx.MultiDiGraph[Any]:
        """The view as a NetworkX multigraph; `vertices="all"` adds those without edges."""
        if vertices not in ("touched", "all"):
            raise InputError(f"vertices cannot be {vertices!r}", hint="use 'touched' or 'all'")
        graph = graph_of(self._session, self._stored)
        return to_networkx(graph, self.edge_ids, everything=vertices == "all")

    def __repr__(self) -> str:
        return f"<view '{self.name}': {len(self):,} edges where {shortened(self.predicate)}>"

    def _repr_html_(self) -> str:
        from graphtide.api.notebook import view_html

        return view_html(self)

    @property
    def _item(self) -> StoredView:
        return self._stored.views[self._position]


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


def shortened(text: str, width: int = 80) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
