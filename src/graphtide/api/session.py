"""A session: a catalog of graphs and collections on disk, and a Spark that is started when needed.

Everything that is stored is found again by name in the next session on the same folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtide.api.build import CollectionRequest, build_collection
from graphtide.api.catalog_graph import CatalogGraph
from graphtide.api.collection import Collection
from graphtide.api.facts import StoredGraphFacts
from graphtide.api.grouped import GroupedRequest
from graphtide.api.progress import shown
from graphtide.api.view import View, graph_of
from graphtide.lang.gvdl.lower import LoweredViews, lower_view, lower_views
from graphtide.lang.gvdl.lower_groups import lower_groups
from graphtide.lang.gvdl.parse import parse_predicate, parse_script
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.paths import given_path
from graphtide.model.schema import closest
from graphtide.plan.predicates import EVERYTHING, Predicate
from graphtide.run.staying import StaysHere
from graphtide.spark.ingest.options import ingest_options
from graphtide.spark.ingest.source import GraphSource
from graphtide.store.catalog import Catalog
from graphtide.store.collection import (
    StoredCollection,
    collection_names,
    open_collection,
    view_names,
)
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, graph_manifest, open_graph

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from graphtide.api.answers import Answer
    from graphtide.api.run import Run
    from graphtide.spark.gateway import SparkGateway


class Session(StaysHere):
    """Graphs, views and collections under one folder. Use `graphtide.session` to get one."""

    _instead = "open the folder in the other process: gt.session(folder)"

    def __init__(
        self,
        folder: str | Path,
        open_gateway: Callable[[], SparkGateway],
        *,
        progress: bool | None = None,
    ) -> None:
        self.catalog = Catalog(given_path(folder).resolve())
        self._open_gateway = open_gateway
        self._gateway: SparkGateway | None = None
        self.progress = progress
        self.current: str | None = None

    @property
    def gateway(self) -> SparkGateway:
        """The door to Spark. Imported now: whoever only looks at what is stored needs no Spark."""
        if self._gateway is None:
            self._gateway = self._open_gateway()
        return self._gateway

    @property
    def spark(self) -> SparkSession:
        """The Spark session; started now if it was not."""
        return self.gateway.session

    def graphs(self) -> list[str]:
        """The names of all graphs, damaged ones included."""
        return self.catalog.graphs()

    def collections(self) -> list[str]:
        """The names of all collections, damaged ones included."""
        return collection_names(self.catalog)

    def views(self) -> list[str]:
        """The names of all single views."""
        return view_names(self.catalog)

    def graph(self, name: str) -> CatalogGraph:
        """The graph of that name."""
        return CatalogGraph(self, open_graph(self.catalog, name))

    def collection(self, name: str) -> Collection:
        """The collection of that name. A single view is a collection of one."""
        return Collection(self, open_collection(self.catalog, name))

    def runs(self) -> list[str]:
        """The names of all runs, those that were interrupted or damaged included."""
        return self.catalog.runs()

    def results(self, name: str) -> Run:
        """The run of that name with its results, as far as it is finished."""
        from graphtide.api.stored_runs import open_stored_run

        return open_stored_run(self, name)

    def view(self, name: str) -> View:
        """The single view of that name."""
        stored = open_collection(self.catalog, name)
        if stored.facts.kind != "view":
            raise InputError(
                f"'{name}' is a collection of {len(stored.views):,} views",
                hint=f"take one of them: session.collection('{name}')[0]",
            )
        return View(self, stored, 0)

    def load(
        self,
        name: str,
        *,
        edges: Any,
        vertices: Any = None,
        replace: bool = False,
        **options: Any,
    ) -> CatalogGraph:
        """Load a graph into the catalog, and return it.

        `edges` and `vertices` are each a path, a list of paths, a glob or a folder (CSV, text,
        Parquet), a Spark, pandas or Polars DataFrame, anything with `__arrow_c_stream__`, a list
        of rows, or a mapping from labels to these; `edges` may be a NetworkX graph, which brings
        its vertices. Options are those of `IngestOptions`: `id`, `src`, `dst`, `header`,
        `separator`, `comment`, `types`, `timezone`, `on_bad_rows`, ...
        """
        folder = self.catalog.graph_folder(name)
        chosen = ingest_options(options)
        what = f"the graph '{name}'"
        with (
            shown(f"load {name}", enabled=self.progress) as report,
            begin(folder, replace=replace, what=what) as commit,
        ):
            source = GraphSource(edges=edges, vertices=vertices)
            summary = self.gateway.load(commit.path, source, chosen, report)
            report("checking", None)
            commit.finish(graph_manifest(summary), checksums=self.gateway.checksums)
        self.current = name
        return self.graph(name)

    def execute(self, text: str) -> list[Answer]:
        """Carry out GVDL, and return an answer a statement. The first failure ends it."""
        from graphtide.api.statements import execute

        return list(execute(self, text))

    def explain(self, text: str) -> str:
        """What GVDL statements would do, without doing it."""
        from graphtide.api.explain import explain_statement

        found = parse_script(text)
        return "\n\n".join(explain_statement(self, statement) for statement in found)

    def delete_graph(self, name: str) -> None:
        """Delete a graph; collections of it stay, and say on use that it is gone."""
        self.catalog.delete_graph(name)

    def delete_collection(self, name: str) -> None:
        """Delete a collection or a view."""
        self.catalog.delete_collection(name)

    def delete_run(self, name: str) -> None:
        """Delete a run with its results."""
        self.catalog.delete_run(name)

    def check(self, *names: str) -> pa.Table:
        """Compare every file of what is stored, or of some items by name, with what was written.

        A row an item that is `ok`, and a row a damaged file of one that is `damaged`, with what is
        wrong and what can be saved. Reads everything once; needs no Spark.
        """
        from graphtide.api.check import check_catalog

        with shown("check", enabled=self.progress) as report:
            return check_catalog(self.catalog, names, report)

    def create_view(self, statement: CreateView) -> View:
        """Store the view that a statement describes."""
        return View(self, self._build(self.view_request(statement)), 0)

    def create_collection(
        self, statement: CreateCollection, *, effort: float | None = None
    ) -> Collection:
        """Store the collection that a statement describes."""
        return Collection(self, self._build(self.collection_request(statement, effort=effort)))

    def create_grouped(self, statement: CreateGrouped) -> CatalogGraph:
        """Store the grouped graph that a statement describes. The current graph stays current."""
        request = self.grouped_request(statement)
        folder = self.catalog.graph_folder(statement.name)
        what = f"the graph '{statement.name}'"
        with (
            shown(f"group {statement.name}", enabled=self.progress) as report,
            begin(folder, replace=statement.replace, what=what) as commit,
        ):
            summary = self.gateway.group(
                commit.path, request.graph, request.plan, request.statement, report
            )
            commit.finish(graph_manifest(summary), checksums=self.gateway.checksums)
        return self.graph(statement.name)

    def grouped_request(self, statement: CreateGrouped) -> GroupedRequest:
        """A statement with its groups resolved; asks nothing of Spark."""
        graph, base = self._base(statement.base)
        if statement.name == graph.name:
            raise InputError(
                f"'{graph.name}' is the graph that is to be grouped",
                hint="give the grouped graph a name of its own",
            )
        plan = lower_groups(statement, graph.schema, base=base, timezone=graph.timezone)
        return GroupedRequest(graph, plan, unparse_statement(statement))

    def view_request(self, statement: CreateView) -> CollectionRequest:
        """A statement with its predicate resolved; asks nothing of Spark."""
        graph, base = self._base(statement.base)
        named = lower_view(statement, graph.schema, base=base, timezone=graph.timezone)
        return CollectionRequest(
            name=statement.name,
            kind="view",
            graph=graph,
            views=(named,),
            statement=unparse_statement(statement),
            base=base,
            replace=statement.replace,
        )

    def collection_request(
        self, statement: CreateCollection, *, effort: float | None = None
    ) -> CollectionRequest:
        """A statement with its views lowered; generators may ask Spark for bounds or rows."""
        graph, base = self._base(statement.base)
        lowered = self._lower(statement, graph, base)
        return CollectionRequest(
            name=statement.name,
            kind="collection",
            graph=graph,
            views=lowered.views,
            statement=unparse_statement(statement),
            base=base,
            drop_empty=lowered.drop_empty,
            order=statement.ordering.value,
            effort=effort,
            replace=statement.replace,
        )

    def _lower(
        self, statement: CreateCollection, graph: StoredGraph, base: Predicate
    ) -> LoweredViews:
        facts = StoredGraphFacts(graph, self.gateway)
        return lower_views(statement, graph.schema, facts, base=base, timezone=graph.timezone)

    def _build(self, request: CollectionRequest) -> StoredCollection:
        with shown(f"{request.kind} {request.name}", enabled=self.progress) as report:
            return build_collection(self.catalog, self.gateway, request, report)

    def _base(self, name: str | None) -> tuple[StoredGraph, Predicate]:
        """The graph behind a name and the predicate of the view that the name stands for."""
        name = name or self.current_graph()
        if self.catalog.has_graph(name):
            return open_graph(self.catalog, name), EVERYTHING
        if not self.catalog.has_collection(name):
            raise self._no_base(name)
        stored = open_collection(self.catalog, name)
        if stored.facts.kind != "view":
            raise InputError(
                f"'{name}' is a collection: a view needs a graph or a single view to stand on",
                hint="name a graph or a view behind 'on'",
            )
        graph = graph_of(self, stored)
        text = stored.views[0].predicate
        return graph, resolve_predicate(parse_predicate(text), graph.schema)

    def current_graph(self) -> str:
        """The graph that statements without `on` mean: the one in use, or the only one."""
        if self.current is not None:
            return self.current
        graphs = self.catalog.graphs()
        if len(graphs) == 1:
            return graphs[0]
        raise InputError(
            "the statement does not say which graph it is on",
            hint="write 'on NAME', or 'use graph NAME;' before it"
            if graphs
            else "load a graph first",
        )

    def _no_base(self, name: str) -> NotFoundError:
        known = [*self.catalog.graphs(), *self.views()]
        near = closest(name, known)
        listed = ", ".join(known[:10]) or "nothing yet"
        return NotFoundError(
            f"there is no graph or view named '{name}'",
            where=str(self.catalog.root),
            hint=f"did you mean '{near}'?" if near else f"there is: {listed}",
        )

    def __repr__(self) -> str:
        return (
            f"<graphtide session in {self.catalog.root}: {len(self.graphs())} graphs, "
            f"{len(self.catalog.collections())} views and collections>"
        )

    def _repr_html_(self) -> str:
        from graphtide.api.notebook import session_html

        return session_html(self)


def session(
    folder: str | Path = "graphtide-data",
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    remote: str | None = None,
    memory: str | None = None,
    progress: bool | None = None,
    quiet: bool = True,
) -> Session:
    """Open, or begin, the catalog in a folder.

    Spark starts when it is first needed: `spark` is a session of your own; otherwise the active
    one is used, or one is started on `master` (default: all cores of this machine) with so much
    driver `memory` (`3g`), or through Spark Connect at `remote`. On a cluster the folder must be
    one that driver and executors share. `progress` forces progress lines on or off;
    `quiet=False` lets Spark's own log through.
    """

    def open_gateway() -> SparkGateway:
        from graphtide.spark.gateway import SparkGateway
        from graphtide.spark.session import open_session

        if spark is not None:
            return SparkGateway(lambda: spark)
        return SparkGateway(lambda: open_session(master, remote=remote, memory=memory, quiet=quiet))

    return Session(folder, open_gateway, progress=progress)
