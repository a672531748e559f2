"""What every view has, stored or in memory: a name, a predicate, and edges as tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import pyarrow as pa

from graphtide.model.cells import VALUES, visible
from graphtide.model.delta import EdgeIds
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.wording import counted, shortened
from graphtide.run.collection.arranged_views import ArrangedViews
from graphtide.run.html import titled_html
from graphtide.run.table import Table
from graphtide.store.collection import StoredView

if TYPE_CHECKING:
    import pandas


class ViewEdges(SaysWhere):
    """One view of a collection. Reads nothing until it is asked for edges."""

    def __init__(self, held: ArrangedViews, position: int) -> None:
        self._held = held
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
        return self._held.view_edges(self._position)

    def to_arrow(self) -> pa.Table:
        """The ends and properties of every edge, without Spark."""
        return self._table(self.edge_ids)

    def head(self, rows: int = 10) -> Table:
        """The first edges, in the order of their numbers, as `to_arrow` gives them."""
        return Table(self._table(self.edge_ids[:rows]))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The edges as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        where = visible(shortened(self.predicate))
        return f"<view '{visible(self.name)}': {counted(len(self), 'edge')} where {where}>"

    def _repr_html_(self) -> str:
        title = f"view '{self.name}': {counted(len(self), 'edge')} where {self.predicate}"
        return titled_html(title, self.head(), VALUES, total=len(self))

    @abstractmethod
    def _table(self, edges: EdgeIds) -> pa.Table:
        """Some edges as users know them."""

    @property
    def _item(self) -> StoredView:
        return self._held.views[self._position]
