"""Views and collections: what stored ones and those in memory share, and those in memory.

A collection is a plan over classes of edges, and its views stand in the order in which they were
given. Stored and in-memory collections differ in where the edges are and in who runs programs on
them; `collection` has the stored ones. Those in memory need no store and no Spark. They are of the
version that the graph was at when they were made, and stay so while the graph advances.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.opening import SavesPage
from graphtide.lang.python import AnyProgram
from graphtide.model.delta import Delta, EdgeIds
from graphtide.model.elsewhere import SaysWhere, algorithms_by
from graphtide.model.errors import NotFoundError
from graphtide.model.progress import Progress
from graphtide.model.schema import name_hint
from graphtide.model.text import VALUES, counted, shortened, visible
from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.planned_views import PlannedViews, plan_table, unviewed_text
from graphtide.run.live.computation import Mode
from graphtide.run.live.results import GraphVertices, VertexRows
from graphtide.run.table import Table, collection_html, titled_html
from graphtide.run.views.networkx_export import Included, snapshot_network, wants_all
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import StoredView

if TYPE_CHECKING:
    import networkx
    import pandas

    from graphtide.api.pictures.picture import Picture
    from graphtide.api.run import Run
    from graphtide.run.collection.facts import Strategy
    from graphtide.run.views.build import ViewsInMemory


OF_VIEWS = {
    **dict.fromkeys(("edges", "table", "topolars"), "view.to_arrow(), or view.to_pandas()"),
    **dict.fromkeys(("plot", "picture"), "view.draw(path)"),
    **dict.fromkeys(("numedges", "size", "count"), "len(view)"),
    **algorithms_by("graph.collection(...).run"),
}
"""What is elsewhere of views in memory and of stored ones."""


class ViewEdges(SaysWhere):
    """One view of a collection. Reads nothing until it is asked for edges."""

    def __init__(self, held: PlannedViews, position: int) -> None:
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


OneView = TypeVar("OneView")


@dataclass(frozen=True)
class Step:
    """One version of a collection's plan: a view, or a stepping stone (`view` is None).

    `parent` is the index of the step that `delta` starts from; -1 is the empty version.
    """

    index: int
    view: str | None
    stone: str | None
    parent: int
    delta: Delta


class ViewSequence(SaysWhere, Sequence[OneView]):
    """Views in the order in which they were given; `steps` follows the plan."""

    _elsewhere = {
        **algorithms_by("collection.run"),
        **dict.fromkeys(
            ("views", "view", "get", "keys", "items", "values"),
            "collection[VIEW] is one view, collection.names are all names",
        ),
        **dict.fromkeys(
            ("draw", "plot"), "collection[VIEW].draw(path), or collection.picture(path)"
        ),
        **dict.fromkeys(
            ("summary", "table", "top", "changes", "results", "maintain"),
            "collection.run(PROGRAM) has results: .summary(), .top(), .table(VIEW), "
            ".changes(ONE, OTHER)",
        ),
        **dict.fromkeys(
            ("topandas", "topolars", "edges", "head"),
            "collection[VIEW].to_pandas() for edges; collection.to_arrow() is the plan",
        ),
    }

    def __init__(self, arranged: PlannedViews) -> None:
        self._arranged = arranged
        self._positions = {view.name: at for at, view in enumerate(arranged.views)}

    @property
    @abstractmethod
    def graph(self) -> str:
        """What the graph is called."""

    @abstractmethod
    def _view(self, position: int) -> OneView:
        """One view."""

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._arranged.name

    @property
    def plan(self) -> CollectionPlan:
        """The plan by classes; `plan.totals` says what the other arrangements would cost."""
        return self._arranged.plan

    @property
    def weights(self) -> NDArray[np.int64]:
        """The number of edges of each class of the plan."""
        return self._arranged.weights

    @property
    def differences(self) -> int:
        """All edges that enter or leave along the plan, loading the first version included."""
        return self.plan.differences(self._arranged.weights)

    @property
    def unviewed(self) -> dict[str, int]:
        """How many edges are in no view, by reason; empty where each is in one.

        Edges without a value are in no window, and neither are those before the first and behind
        the last. Where `within` chooses edges, it is those that are counted.
        """
        return dict(self._arranged.unviewed)

    @property
    def names(self) -> list[str]:
        """The names of the views, in the order in which they were given."""
        return list(self._positions)

    def __len__(self) -> int:
        return len(self._arranged.views)

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> OneView: ...
    @overload
    def __getitem__(self, key: slice) -> list[OneView]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> OneView | list[OneView]:
        if isinstance(key, slice):
            return [self[at] for at in range(*key.indices(len(self)))]
        if isinstance(key, SupportsIndex):
            return self._view(self._place(key))
        if key not in self._positions:
            raise NotFoundError(
                f"the collection '{self.name}' has no view '{key}'",
                hint=name_hint(key, self._positions, "see its names: collection.names", "'"),
            )
        return self._view(self._positions[key])

    def _place(self, key: SupportsIndex) -> int:
        """A position counted from the front; IndexError past the end, as sequences must."""
        try:
            return range(len(self))[key]
        except IndexError:
            raise IndexError(
                f"the collection '{self.name}' has {len(self):,} views, and none at {key!r}"
            ) from None

    def steps(self) -> Iterator[Step]:
        """The versions of the plan, depth first, each with the delta from its parent."""
        for index, step in enumerate(self.plan.steps):
            name = None if step.view is None else self._arranged.views[step.view].name
            yield Step(index, name, step.stone, step.parent, self._arranged.delta(index))

    def to_arrow(self) -> pa.Table:
        """A row a step of the plan: view or stone, size, parent, edges in and out."""
        return plan_table(self._arranged)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def explain(self) -> str:
        """The plan as text, with what chain and tree would cost and the lower bounds."""
        names = [view.name for view in self._arranged.views]
        text = self.plan.explain(names, self._arranged.weights)
        said = unviewed_text(self._arranged.unviewed)
        return text if said is None else f"{text}\n{said}"

    def picture(self, path: str | Path | None = None) -> Picture:
        """Draw how like the views are, in the given order and as arranged.

        To a PNG, SVG or PDF file if a path is given; a notebook shows what it returns.
        """
        # Imported here: matplotlib takes a second.
        from graphtide.api.pictures.draw import draw_collection

        return draw_collection(self._arranged, self.graph, path)

    def __repr__(self) -> str:
        totals, said = self.plan.totals, unviewed_text(self._arranged.unviewed)
        return (
            f"<collection '{visible(self.name)}' on {self.graph}: {counted(len(self), 'view')}, "
            f"{self.plan.kind} of {counted(self.differences, 'difference')} "
            f"({totals.given:,} in the given order)"
            + (">" if said is None else f"; {visible(said)}>")
        )

    def _repr_html_(self) -> str:
        title = (
            f"collection '{self.name}' on {self.graph}: {counted(len(self), 'view')}, "
            f"{self.plan.kind} of {counted(self.differences, 'difference')}"
        )
        said = unviewed_text(self._arranged.unviewed)
        title = title if said is None else f"{title}; {said}"
        return collection_html(title, self.plan, self.to_arrow())


IN_MEMORY = "a graph in memory"
"""What the graph of such a collection is called."""


MadeGraph = TypeVar("MadeGraph", covariant=True)


class GraphMaker(Protocol[MadeGraph]):
    """What makes a graph of its own of some edges and vertices of a snapshot."""

    def __call__(
        self, snapshot: Snapshot, rows: NDArray[np.int64], vertices: NDArray[np.int64]
    ) -> MadeGraph:
        """The graph."""


class MemoryView(ViewEdges, Generic[MadeGraph]):
    """One view of a graph in memory."""

    _elsewhere = {
        **OF_VIEWS,
        "run": "view.to_graph().maintain(program), or graph.collection(...).run(program)",
        "maintain": "view.to_graph().maintain(program), or graph.collection(...).run(program)",
    }

    def __init__(
        self, made: ViewsInMemory, position: int, make_graph: GraphMaker[MadeGraph]
    ) -> None:
        super().__init__(made, position)
        self._made = made
        self._make_graph = make_graph

    def vertices(self) -> Table:
        """The vertices that its edges touch: id, properties."""
        return Table(self._snapshot.vertex_table(self._vertices(everything=False)))

    def to_graph(self, *, vertices: Included = "touched") -> MadeGraph:
        """The view as a graph of its own; `vertices="all"` adds those without edges.

        Its edges have numbers of their own, in the order of those that they had.
        """
        compiled = self._vertices(wants_all(vertices))
        return self._make_graph(self._snapshot, self._rows, compiled)

    def to_networkx(
        self, *, vertices: Included = "touched", multigraph: bool | None = None
    ) -> networkx.Graph[Any]:
        """The view as a NetworkX graph of the graph's kind; `vertices="all"` adds those without
        edges.

        A `Graph` or `DiGraph`, or a `MultiGraph` or `MultiDiGraph` where there are parallel edges;
        `multigraph=True` gives one of these always, and `False` refuses parallel edges.
        """
        chosen = self._vertices(wants_all(vertices))
        return snapshot_network(self._snapshot, self._rows, chosen, multigraph)

    def _ends(self, position: int) -> NDArray[np.int64]:
        snapshot, edges = self._snapshot, self._made.view_edges(position)
        rows = np.searchsorted(snapshot.numbers, edges)
        return np.column_stack([snapshot.src[rows], snapshot.dst[rows]]).astype(np.int64)

    def _vertex_rows(self) -> VertexRows:
        return GraphVertices(self._snapshot.ids)

    def _is_directed(self) -> bool:
        return self._snapshot.directed

    def _table(self, edges: EdgeIds) -> pa.Table:
        return self._snapshot.edge_table(np.searchsorted(self._snapshot.numbers, edges))

    @property
    def _snapshot(self) -> Snapshot:
        return self._made.snapshot

    @property
    def _rows(self) -> NDArray[np.int64]:
        """Where its edges stand in the snapshot."""
        return np.searchsorted(self._snapshot.numbers, self.edge_ids)

    def _vertices(self, everything: bool) -> NDArray[np.int64]:
        """The numbers of its vertices, ascending: never of one that is taken out."""
        snapshot, rows = self._snapshot, self._rows
        if everything:
            return np.delete(np.arange(len(snapshot.ids)), self._item.removed)
        touched = np.zeros(len(snapshot.ids), np.bool_)
        touched[snapshot.src[rows]] = True
        touched[snapshot.dst[rows]] = True
        return np.flatnonzero(touched)


class MemoryCollection(ViewSequence[MemoryView[MadeGraph]], SavesPage, Generic[MadeGraph]):
    """Views of a graph in memory, in the order in which they were given."""

    def __init__(self, made: ViewsInMemory, make_graph: GraphMaker[MadeGraph]) -> None:
        super().__init__(made)
        self._made = made
        self._make_graph = make_graph

    @property
    def graph(self) -> str:
        """What it is made of, for pictures and tables."""
        return IN_MEMORY

    @property
    def statement(self) -> str:
        """The GVDL that makes this collection."""
        return self._made.statement

    def run(
        self,
        program: AnyProgram,
        *,
        strategy: Strategy = "adaptive",
        mode: Mode = "auto",
        verify: int | None = None,
        grid: tuple[int, int] | None = None,
        progress: Progress = None,
        workers: int | None = None,
    ) -> Run:
        """Run a program on every view, and return all results, in memory.

        The parameters are those of `Collection.run`; `progress` forces the progress line on or off,
        or is a function, as for `gt.session`.
        """
        # Imported here: runs are 100 modules that looking at views does not need.
        from graphtide.api.run import Run
        from graphtide.run.collection.runs_in_memory import run_in_memory
        from graphtide.run.collection.start import run_request

        request = run_request(
            program,
            mode,
            self.name,
            directed=self._made.snapshot.directed,
            strategy=strategy,
            verify=verify,
            grid=grid,
            workers=workers,
        )
        return Run(run_in_memory(request, self._made.versions, self.name, progress))

    def explain_run(self, program: AnyProgram, *, mode: Mode = "auto") -> str:
        """What a run of the program would do: its mode and why, the plan, an estimate of the time.

        Runs the program on one view.
        """
        # Imported here: runs are 100 modules that looking at views does not need.
        from graphtide.run.collection.start import PreparedRun, run_request

        request = run_request(program, mode, self.name, directed=self._made.snapshot.directed)
        versions = self._made.versions(request.compiled.needed)
        return PreparedRun(versions, request, whole=True).explain()

    def _view(self, position: int) -> MemoryView[MadeGraph]:
        return MemoryView(self._made, position, self._make_graph)
