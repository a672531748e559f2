"""A session: a catalog of graphs and collections on disk, and a Spark that is started when needed.

Everything that is stored is found again by name in the next session on the same folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from graphtide.api.catalog_graph import CatalogGraph
from graphtide.api.collection import Collection, View
from graphtide.api.opening import Opens
from graphtide.api.run import Run
from graphtide.lang.gvdl.parse import parse_script
from graphtide.model.elsewhere import SaysWhere
from graphtide.model.progress import Progress
from graphtide.model.text import COUNTS, counted
from graphtide.run.catalog import build
from graphtide.run.catalog.listings import list_collections, list_graphs, list_runs, list_views
from graphtide.run.catalog.opened_runs import open_stored_run
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.contents import RunContents
from graphtide.run.durable.records import checked_id
from graphtide.run.progress import shown
from graphtide.run.statements.answers import Answer, Made, SingleView
from graphtide.run.statements.execute import execute, explain_statement
from graphtide.run.table import Table, session_html
from graphtide.spark import needs_spark
from graphtide.spark.ingest.options import LoadOptions, shows_options
from graphtide.spark.ingest.source import GraphSource
from graphtide.store.check import check_catalog
from graphtide.store.collection import collection_names, open_collection, open_view, view_names
from graphtide.store.graph import StoredGraph, open_graph

if TYPE_CHECKING:
    from graphtide.api.graph import Graph
    from graphtide.api.live_graph import LiveGraph
    from graphtide.run.durable.registrations import TrustedBy
    from graphtide.spark.gateway import SparkGateway
    from graphtide.spark.types import SparkSession

Held = CatalogGraph | View | Collection | Run
"""What users hold of what is stored."""


class Session(Workspace, Opens, SaysWhere):
    """Graphs, views and collections under one folder; `gt.session(folder)` is the same."""

    _elsewhere = {
        **dict.fromkeys(("sql", "query", "gvdl"), "session.execute(text) takes GVDL"),
        **dict.fromkeys(
            ("close", "stop"),
            "nothing of a session is to be closed; close_live(name) closes a live graph",
        ),
        **dict.fromkeys(
            ("drop", "delete", "remove"), "delete_graph, delete_collection or delete_run"
        ),
        **dict.fromkeys(
            (
                "read",
                "readcsv",
                "readparquet",
                "loadcsv",
                "creategraph",
                "graphframe",
                "fromframe",
                "frompandas",
            ),
            "session.load(name, edges=...), which takes files, frames and rows",
        ),
        **dict.fromkeys(
            ("list", "show", "tables", "listgraphs"),
            "session.graphs(), session.collections(), session.runs()",
        ),
        "run": "session.collection(name).run(program), or session.graph(name).run(program)",
        "append": "session.graph(name).append(edges=...)",
        "sparksession": "session.spark",
        "refresh": "session.collection(name).refresh()",
        "quarantine": "session.graph(name).quarantine()",
    }

    def __init__(
        self,
        folder: str | Path = "graphtide-data",
        open_gateway: Callable[[], SparkGateway] | None = None,
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        remote: str | None = None,
        memory: str | None = None,
        progress: Progress = None,
        quiet: bool = True,
        trust: TrustedBy = (),
    ) -> None:
        def gateway() -> SparkGateway:
            # Imported here: PySpark takes a second, and looking at what is stored needs none.
            with needs_spark():
                from graphtide.spark.gateway import SparkGateway
                from graphtide.spark.session import open_session

            if spark is not None:
                return SparkGateway(lambda: spark)
            return SparkGateway(
                lambda: open_session(master, remote=remote, memory=memory, quiet=quiet)
            )

        super().__init__(folder, open_gateway or gateway, progress=progress, trust=trust)

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

    def live(
        self,
        name: str,
        start: Graph | None = None,
        *,
        keep: Any = None,
        time: str | None = None,
        readonly: bool = False,
        trust: TrustedBy | None = None,
    ) -> LiveGraph:
        """The live graph of that name; begun with `start`, or of the graph that has the name.

        All parameters are those of `graphtide.live`; what the session trusts is trusted here, too,
        unless `trust` says something else. Its checkpoints are the graph of that name.
        Where statements of this session write it already, it is the one that they write.
        """
        # Imported here: what is stored can be looked at without the modules of programs.
        from graphtide.api.live_graph import check_same, open_live

        held: LiveGraph | None = None if readonly else self._writable(name)
        if held is not None:
            check_same(held, start, keep, time)
            return held
        folder = self.catalog.graph_folder(name)
        opened = open_live(
            folder,
            name,
            start,
            keep,
            time,
            readonly=readonly,
            trust=self.trust if trust is None else trust,
        )
        if not readonly:
            self._lent[name] = opened
        return opened

    def collection(self, name: str) -> Collection:
        """The collection of that name. A single view is a collection of one."""
        return Collection(self, open_collection(self.catalog, name))

    def runs(self) -> list[str]:
        """The names of all runs, those that were interrupted or damaged included."""
        return self.catalog.runs()

    def results(self, name: str) -> Run:
        """The run of that name with its results, as far as it is finished."""
        return Run(open_stored_run(self.catalog, name), self)

    def view(self, name: str) -> View:
        """The single view of that name."""
        return View(self, open_view(self.catalog, name), 0)

    @shows_options
    def load(
        self,
        name: str,
        edges: Any,
        *,
        vertices: Any = None,
        directed: bool | None = None,
        replace: bool = False,
        batch: str | tuple[str, int] | None = None,
        **options: Unpack[LoadOptions],
    ) -> CatalogGraph:
        """Load a graph into the catalog, and return it.

        `edges` and `vertices` are each a path, a list of paths, a glob or a folder (CSV, text,
        Parquet), a Spark, pandas or Polars DataFrame, anything with `__arrow_c_stream__`, a list
        of rows, or a mapping from labels to these; `edges` may be a NetworkX graph, which brings
        its vertices. With `directed=False` edges join their ends, and do not lead from one to the
        other; left out, that is what a NetworkX graph says of itself, and else they do. Options are
        those of `IngestOptions`: `id`, `src`, `dst`, `header`, `separator`, `comment`, `types`,
        `timezone`, `on_bad_rows`, `at_most`, ... `source` and `target` are other words for `src`
        and `dst`, `vertex_id` is one for `id`.

        `batch` is an id of the rows, as `append` takes one: a graph that was loaded with it, or has
        taken it, stays as it is. `graph.loaded` counts the rows that were taken and set aside.
        Columns that are text though most of their values are not are reported as a warning.
        """
        source = GraphSource(edges=edges, vertices=vertices)
        given = {"directed": directed, **options}
        stored, counts = build.load_graph(
            self, name, source, given, replace=replace, batch=checked_id(batch)
        )
        if options.get("hints", "python") == "python":
            for note in counts.notes:
                warnings.warn(note, UserWarning, stacklevel=2)
        return CatalogGraph(self, stored, counts)

    def execute(self, text: str) -> list[Answer[Held]]:
        """Carry out GVDL, and return an answer a statement. The first failure ends it."""
        return [
            Answer(answer.text, answer.table, self._held(answer.value), answer.notes, answer.style)
            for answer in execute(self, text)
        ]

    def explain(self, text: str) -> str:
        """What GVDL statements would do, without doing it."""
        return "\n\n".join(explain_statement(self, item) for item in parse_script(text))

    def delete_graph(self, name: str) -> None:
        """Delete a graph; collections of it stay, and say on use that it is gone."""
        self.catalog.delete_graph(name)

    def delete_collection(self, name: str) -> None:
        """Delete a collection or a view."""
        self.catalog.delete_collection(name)

    def delete_run(self, name: str) -> None:
        """Delete a run with its results."""
        self.catalog.delete_run(name)

    def check(self, *names: str) -> Table:
        """Compare every file of what is stored, or of some items by name, with what was written.

        A row an item that is `ok`, and a row a damaged file of one that is `damaged`, with what is
        wrong and what can be saved. Reads everything once; needs no Spark.
        """
        with shown("check", enabled=self.progress) as report:
            return Table(check_catalog(self.catalog, names, report), COUNTS)

    def __repr__(self) -> str:
        return (
            f"<graphtide session in {self.catalog.root}: {counted(len(self.graphs()), 'graph')}, "
            f"{len(self.catalog.collections())} views and collections>"
        )

    def _repr_html_(self) -> str:
        lists = {
            "graphs": list_graphs(self.catalog),
            "views": list_views(self.catalog),
            "collections": list_collections(self.catalog),
            "runs": list_runs(self.catalog),
        }
        tables = {title: (listing.table, listing.damages) for title, listing in lists.items()}
        return session_html(self.catalog.root, tables)

    def _on_page(self) -> tuple[Any, list[str] | None]:
        return self, []

    def _held(self, made: Made | None) -> Held | None:
        """What a statement made or found, as users hold it."""
        match made:
            case StoredGraph():
                return CatalogGraph(self, made)
            case SingleView():
                return View(self, made.stored, 0)
            case RunContents():
                return Run(made, self)
        return None if made is None else Collection(self, made)


def session(
    folder: str | Path = "graphtide-data",
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    remote: str | None = None,
    memory: str | None = None,
    progress: Progress = None,
    quiet: bool = True,
    trust: TrustedBy = (),
) -> Session:
    """Open, or begin, the catalog in a folder.

    Spark starts when it is first needed: `spark` is a session of your own; otherwise the active
    one is used, or one is started on `master` (default: all cores of this machine) with so much
    driver `memory` (`3g`), or through Spark Connect at `remote`. On a cluster the folder must be
    one that driver and executors share. `progress` forces progress lines on or off. A function is
    called instead, with the stage of the work and the share that is done, or None: up to ten times
    a second, and never by two threads at once. What it raises ends the work as Ctrl-C does: what a
    run has finished is kept, and `resume=True` goes on from there.
    `quiet=False` lets Spark's own log through. `trust` hands over dataflows that are registered on
    live graphs, or says where they are, as in `graphtide.live`.
    """

    return Session(
        folder,
        spark=spark,
        master=master,
        remote=remote,
        memory=memory,
        progress=progress,
        quiet=quiet,
        trust=trust,
    )
