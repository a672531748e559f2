"""What every view has, stored or in memory: a name, a predicate, and edges as tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.cells import VALUES, visible
from graphtide.model.delta import EdgeIds
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.wording import counted, shortened
from graphtide.run.collection.arranged_views import ArrangedViews
from graphtide.run.html import titled_html
from graphtide.run.live.result_rows import VertexRows
from graphtide.run.table import Table
from graphtide.store.collection import StoredView

if TYPE_CHECKING:
    import pandas

    from graphtide.api.pictures.picture import Picture


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

    def draw(
        self,
        path: str | Path | None = None,
        *,
        around: Any = None,
        hops: int | None = 2,
        since: str | int | Literal[False] | None = None,
        most: int = 200,
        places: Mapping[Any, Sequence[float]] | None = None,
        arrows: bool | None = None,
    ) -> Picture:
        """Draw the view as a graph, to a PNG, SVG or PDF file if a path is given.

        `around` is the id of a vertex, or a list of ids: what lies within so many `hops` of them is
        drawn (None: all that is connected). Without it all is drawn, up to `most` vertices; the
        picture says what it leaves out. Edges that came or went since the view `since` are in
        colour: since the view before, where views have an order, unless `since=False`. `places`
        says where vertices stand: `{id: (x, y)}`. Edges have arrows where they are few, or where
        `arrows` says so.
        """
        # Imported here: matplotlib takes a second.
        from graphtide.api.pictures.draw import VersionsToDraw, draw_versions

        names = [view.name for view in self._held.views]
        versions = VersionsToDraw(
            names, self._ends, self._vertex_rows(), directed=self._is_directed()
        )
        wanted = {"hops": hops, "most": most, "places": places, "arrows": arrows}
        return draw_versions(versions, self._position, path, around=around, since=since, **wanted)

    def __repr__(self) -> str:
        where = visible(shortened(self.predicate))
        return f"<view '{visible(self.name)}': {counted(len(self), 'edge')} where {where}>"

    def _repr_html_(self) -> str:
        title = f"view '{self.name}': {counted(len(self), 'edge')} where {self.predicate}"
        return titled_html(title, self.head(), VALUES, total=len(self))

    @abstractmethod
    def _ends(self, position: int) -> NDArray[np.int64]:
        """The numbers of both ends of each edge of a view of the collection, a row an edge."""

    @abstractmethod
    def _vertex_rows(self) -> VertexRows:
        """All vertices of the graph."""

    @abstractmethod
    def _is_directed(self) -> bool:
        """Whether edges lead from one end to the other."""

    @abstractmethod
    def _table(self, edges: EdgeIds) -> pa.Table:
        """Some edges as users know them."""

    @property
    def _item(self) -> StoredView:
        return self._held.views[self._position]
