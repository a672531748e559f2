"""A stored graph: look at it, take views of it, make collections of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from graphtide.api.collection import Collection, View
from graphtide.api.graph import Graph
from graphtide.api.opening import Opens
from graphtide.lang.gvdl.requests import (
    Aggregates,
    Groupings,
    SectionRequest,
    Views,
    grouped_statement,
    view_list,
    written_order,
    written_predicate,
)
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.model.elsewhere import SaysWhere, absent_from, algorithms_by, parts_of
from graphtide.model.schema import GraphSchema
from graphtide.model.text import COUNTS, sized
from graphtide.optimize.planner import Order
from graphtide.plan.predicates import EVERYTHING
from graphtide.run.append.append import AppendRequest, append_to_graph, merge_graph
from graphtide.run.catalog.build import make_collection, make_grouped, whole_view
from graphtide.run.catalog.listings import schema_table
from graphtide.run.catalog.row_counts import RowCounts
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.records import checked_id
from graphtide.run.table import Table, titled_html
from graphtide.run.views.networkx_export import to_networkx
from graphtide.spark.ingest.options import AppendOptions, shows_options
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, live_edges, vertex_rows

if TYPE_CHECKING:
    import networkx

    from graphtide.api.run import GraphRun, Run
    from graphtide.lang.python import AnyProgram
    from graphtide.spark.types import DataFrame


class CatalogGraph(Opens, SaysWhere):
    """A graph in the catalog, in the state that it had when it was opened or last appended to."""

    _elsewhere = {
        **parts_of("graph"),
        **absent_from("graph"),
        **algorithms_by("graph.run"),
        "isdirected": "graph.directed",
        **dict.fromkeys(
            ("count", "counts", "rowcounts", "stats"),
            "graph.num_edges; graph.loaded and what graph.append(...) returns count rows",
        ),
        "refresh": "session.collection(name).refresh(): collections follow a graph, one by one",
        **dict.fromkeys(
            ("addedge", "addedges", "addedgesfrom", "insert", "update"), "graph.append(edges=...)"
        ),
        **dict.fromkeys(("removeedge", "removeedgesfrom", "delete"), "graph.append(delete=...)"),
        **dict.fromkeys(
            ("subgraph", "filter", "filteredges", "filtervertices"),
            "graph.view(name, 'PREDICATE')",
        ),
        "tospark": "graph.edges_to_spark(), or graph.vertices_to_spark()",
        "todf": "graph.edges_to_spark(), or graph.edges().to_pandas()",
        "query": "graph.to_memory().query(name, gt.queries....)",
        "find": "patterns are walks: see gt.Matches, gt.datalog, or gt.algorithms.Rings",
        "maintain": "graph.to_memory().maintain(program), or session.live(name) to keep it on disk",
        "advance": "graph.append(edges=..., delete=...)",
    }

    def __init__(
        self, space: Workspace, stored: StoredGraph, loaded: RowCounts | None = None
    ) -> None:
        self._space = space
        self._stored = stored
        self._loaded = loaded

    @property
    def name(self) -> str:
        """The name in the catalog."""
        return self._stored.name

    @property
    def schema(self) -> GraphSchema:
        """Types of ids and properties, and the labels."""
        return self._stored.schema

    @property
    def directed(self) -> bool:
        """Whether edges lead from one vertex to another, and do not just join the two."""
        return self._stored.directed

    @property
    def num_vertices(self) -> int:
        """How many vertices there are, isolated ones included."""
        return self._stored.vertices

    @property
    def num_edges(self) -> int:
        """How many edges there are, parallel ones and loops included."""
        return self._stored.edges

    @property
    def loaded(self) -> RowCounts | None:
        """How many rows the load took and set aside; None where this was not what loaded it."""
        return self._loaded

    def to_memory(self, *, simple: bool = False) -> Graph:
        """The graph in memory, without Spark, ready to maintain programs on.

        Vertices and edges keep their order, and edges their numbers as long as none was deleted;
        where vertices have several labels, an id is the pair of label and id. All properties come
        along, which programs and views read.
        """
        return Graph.from_stored(self._stored, simple=simple)

    @overload
    def run(
        self,
        program: AnyProgram,
        *,
        workers: int | None = None,
        lean: bool | None = None,
        on: None = None,
    ) -> GraphRun: ...

    @overload
    def run(
        self,
        program: AnyProgram,
        *,
        workers: int | None = None,
        on: Literal["shards"],
        name: str | None = None,
        resume: bool = False,
    ) -> Run: ...

    def run(
        self,
        program: AnyProgram,
        *,
        workers: int | None = None,
        lean: bool | None = None,
        on: Literal["shards"] | None = None,
        name: str | None = None,
        resume: bool = False,
    ) -> GraphRun | Run:
        """Run a program once, from scratch, on the whole graph. Needs no Spark but `on="shards"`.

        Large graphs are run over a lean graph, by `workers` threads (default: one a core): it is
        kept beside the graph, mapped from disk, and may be larger than memory. Others, and what
        cannot run over it, are put into memory; `explain()` of what this returns tells which, and
        why. `lean` forces it on or off. Results do not depend on any of this.

        With `on="shards"` tasks of Spark hold the graph together, for graphs that fit no machine.
        That is a stored run over the view `GRAPH-whole` of all edges, which is made if need be:
        `name` and `resume` are those of `Collection.run`, and so is what it returns. Where edges
        have been appended or deleted since the last run of the name, programs that select go on
        from where it ended.
        """
        # Imported here: whoever only looks at what is stored needs no kernels.
        from graphtide.api.run import GraphRun
        from graphtide.run.catalog.graph_runs import check_graph_run, run_on_graph
        from graphtide.run.collection.start import check_workers
        from graphtide.run.live.programs import compiled_program

        check_workers(workers)
        check_graph_run(on, lean, name, resume=resume)
        if on is not None:
            whole = Collection(self._space, whole_view(self._space, self._stored))
            return whole.run(program, name=name, resume=resume, workers=workers, on=on)
        compiled = compiled_program(program, "auto", directed=self.directed)
        catalog, stored = self._space.catalog, self._stored
        return GraphRun(run_on_graph(catalog, stored, compiled, workers, lean))

    def quarantine(self) -> Table:
        """The rows that were set aside when the graph was loaded: file, line, reason, text."""
        return Table(self._stored.quarantine())

    def view(self, name: str, where: str, *, replace: bool = False) -> View:
        """Store the view of the edges that satisfy a predicate, and return it."""
        statement = CreateView(name, written_predicate(where), base=self.name, replace=replace)
        return View(self._space, make_collection(self._space, statement), 0)

    def collection(
        self,
        name: str,
        views: Views,
        *,
        within: str | None = None,
        order: Order = "auto",
        effort: float | None = None,
        replace: bool = False,
    ) -> Collection:
        """Store a collection of views, and return it.

        `views` is GVDL text, a dict of names and predicates, a list of predicates or a
        generator; `within` is a predicate that all views share. `order` is `chain`, `tree`,
        `manual` (as given) or `auto` (the cheaper of the first two); `effort` the seconds that
        the search for a better chain may take.
        """
        written = view_list(views, within)
        statement = CreateCollection(
            name,
            written.items,
            base=self.name,
            within=written.within,
            ordering=written_order(order),
            replace=replace,
        )
        return Collection(self._space, make_collection(self._space, statement, effort=effort))

    def group(
        self,
        name: str,
        by: Groupings = (),
        *,
        where: str | None = None,
        vertices: Aggregates = (),
        edges: Aggregates = (),
        edges_where: str | None = None,
        replace: bool = False,
    ) -> CatalogGraph:
        """Store the graph whose vertices are groups of this one's, and return it.

        `by` is what stands behind `group by` in GVDL, or a list of properties, conditions and
        dicts of alternatives by name (`{"young": "age < 30", "old": "age >= 30"}`), or a list of
        such lists, each a grouping of its own. `vertices` and `edges` are aggregates: a list
        (`["count(*)", "avg(age)"]`) or a dict by name (`{"mean": "avg(age)"}`). `where` chooses
        vertices, `edges_where` edges. All edges between two groups become one.
        """
        sections = SectionRequest(where, vertices, by), SectionRequest(edges_where, edges)
        statement = grouped_statement(name, self.name, *sections, replace=replace)
        return CatalogGraph(self._space, make_grouped(self._space, statement))

    @shows_options
    def append(
        self,
        edges: Any = None,
        delete: Any = None,
        *,
        vertices: Any = None,
        update: Any = None,
        match: Sequence[str] = (),
        id: str | tuple[str, int] | None = None,
        **options: Unpack[AppendOptions],
    ) -> RowCounts:
        """Go on to the next state of the graph: edges in and out, vertices, new values.

        Tables are what `session.load` takes, and have the columns of `edges()` and `vertices()`.
        `delete` names edges by their ends, and by properties where rows give these: each row takes
        one edge that has all that it says. `vertices` are new, or get the values that rows give.
        `update` gives edges new values; its rows name one edge each, by its ends and the properties
        in `match`. Rows in memory need no Spark. All or nothing: what cannot be is refused.

        Returns how many rows were taken, have changed something, or were set aside. `id` names the
        batch: one that the graph has taken before changes nothing, also if the process ended right
        behind it. It is a text (the last 10,000 are remembered), or a stream and a number that
        counts on: `("orders", 17)`. Bad rows are refused; `on_bad_rows="quarantine"` sets up to a
        tenth of them aside, and `at_most=` says how many (0.05, "5%" or 100). Other options are
        those of `session.load`; the column of the ids is `vertex_id` here.
        """
        request = AppendRequest(edges, vertices, delete, update, tuple(match), checked_id(id))
        self._stored, counts = append_to_graph(self._space, self.name, request, {**options})
        return counts

    def merge(self, *, renumber: bool = False) -> None:
        """Make one base of the graph and all that was appended; an append does so when it pays.

        Edges keep their numbers and collections stay as they are, unless more than half of the
        numbers are of deleted edges, or `renumber` asks for it: then those are given back, and
        collections have to be made again (`Collection.refresh` does it).
        """
        self._stored = merge_graph(self._space, self.name, renumber=renumber)

    def vertices(self) -> Table:
        """All vertices: id, label, properties."""
        return Table(vertex_rows(self._stored))

    def edges(self) -> Table:
        """All edges: src, dst, label, properties."""
        return Table(edge_rows(self._stored, None))

    def head(self, rows: int = 10) -> Table:
        """The first edges, as `edges` gives them."""
        return Table(edge_rows(self._stored, live_edges(self._stored, max(rows, 0))))

    def vertices_to_spark(self) -> DataFrame:
        """All vertices as a Spark DataFrame."""
        return self._space.gateway.vertex_frame(self._stored)

    def edges_to_spark(self) -> DataFrame:
        """All edges as a Spark DataFrame."""
        return self._space.gateway.edge_frame(self._stored, EVERYTHING)

    def to_networkx(self, *, multigraph: bool | None = None) -> networkx.Graph[Any]:
        """The whole graph as a NetworkX graph of its own kind.

        A `Graph` or `DiGraph`, or a `MultiGraph` or `MultiDiGraph` where there are parallel edges;
        `multigraph=True` gives one of these always, and `False` refuses parallel edges.
        """
        return to_networkx(self._stored, None, multigraph, everything=True)

    @property
    def _kind(self) -> str:
        return "graph" if self.directed else "undirected graph"

    def _on_page(self) -> tuple[Any, list[str] | None]:
        return self._space, ["graph", self.name]

    def __repr__(self) -> str:
        return (
            f"<{self._kind} '{self.name}': {sized(self.num_vertices, self.num_edges)}; "
            f"edge properties {_listed(self.schema.edge)}; "
            f"vertex properties {_listed(self.schema.vertex)}>"
        )

    def _repr_html_(self) -> str:
        title = f"{self._kind} '{self.name}': {sized(self.num_vertices, self.num_edges)}"
        return titled_html(title, schema_table(self._stored), COUNTS, rows=None)


def _listed(properties: tuple[object, ...]) -> str:
    return ", ".join(map(str, properties)) or "none"
