"""A graph in memory, as users hold it: programs are kept current on it, views are taken of it.

No store, no Spark. What it holds and how it advances is `graphtide.run.memory_graph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from graphtide.api.live import Live
from graphtide.api.memory_views import MemoryCollection, MemoryView
from graphtide.api.opening import Opens
from graphtide.engine.histories.settings import Histories, checked_histories
from graphtide.engine.queries.landmark_settings import Landmarks, given_landmarks
from graphtide.lang.python import AnyProgram
from graphtide.model.elsewhere import (
    MakersElsewhere,
    SaysWhere,
    absent_from,
    algorithms_by,
    parts_of,
)
from graphtide.model.errors import InputError
from graphtide.model.names import given_path
from graphtide.model.progress import Progress
from graphtide.model.text import VALUES, sized
from graphtide.run.limits import Undo, given_budget, given_patience, given_undo
from graphtide.run.live.computation import Mode, SumSettings
from graphtide.run.live.programs import check_sources, compiled_program
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.table import Table, titled_html
from graphtide.run.turns import in_turn
from graphtide.run.views.sources import (
    check_two_columns,
    column_source,
    frame_source,
    given_ends,
    is_networkx,
    networkx_source,
    stored_source,
)
from graphtide.store.graph import StoredGraph

if TYPE_CHECKING:
    import networkx

    from graphtide.api.pictures.picture import Picture
    from graphtide.api.query import Query
    from graphtide.api.run import GraphRun, Run
    from graphtide.lang.gvdl.requests import Views
    from graphtide.optimize.planner import Order
    from graphtide.run.collection.facts import Strategy
    from graphtide.run.collection.runs_in_memory import GivenVersions
    from graphtide.run.queries.kinds import QueryKind
    from graphtide.run.views.text_files import OnBadRows


_UNDO = Undo()


class Graph(MemoryGraph, Opens, SaysWhere, metaclass=MakersElsewhere):
    """Vertices with ids of your own, edges with properties, and programs that follow them.

    Edges lead from src to dst. With `directed=False` they join the two: programs and queries go
    along them both ways, meet each once at either end and a loop once, and `("b", "a")` names the
    edge that was given as `("a", "b")`. `simple=True` refuses parallel edges.
    Queries are kept by their fixpoints; `queries=gt.queries.Histories(...)` keeps them by histories
    instead, with the settings of paper 001.
    `budget` is what all queries together may take, in bytes or as a text such as "2 GB".
    `landmarks` bound paths that a budget has computed anew: a number, or `gt.queries.Landmarks`.
    `undo` bounds what is kept to roll back: a number of advances, bytes as a text, or `gt.Undo`.
    """

    _undo = _UNDO

    _elsewhere = {
        **parts_of("graph"),
        **absent_from("graph"),
        **algorithms_by("graph.run"),
        "isdirected": "graph.directed",
        **dict.fromkeys(
            ("addedge", "addedges", "addedgesfrom", "addweightededgesfrom", "append", "insert"),
            "graph.advance(insert=[(src, dst), ...])",
        ),
        **dict.fromkeys(
            ("removeedge", "removeedgesfrom", "deleteedges", "delete", "remove"),
            "graph.advance(delete=[(src, dst), ...])",
        ),
        **dict.fromkeys(
            ("addnode", "addnodesfrom", "addvertex", "addvertices"),
            "graph.advance(vertices=[id, ...])",
        ),
        **dict.fromkeys(
            ("removenode", "removenodesfrom", "deletevertices", "removevertex"),
            "graphs in memory keep their vertices: take a view without them, or gt.live(folder, "
            "graph).advance(remove=[id, ...])",
        ),
        **dict.fromkeys(
            ("subgraph", "inducedsubgraph", "filter", "filteredges", "filtervertices"),
            "graph.view('PREDICATE'), such as graph.view(\"kind = 'wire' and src.age > 30\")",
        ),
        **dict.fromkeys(
            (
                "neighbors",
                "neighbours",
                "successors",
                "predecessors",
                "adj",
                "adjacency",
                "hasedge",
            ),
            "graph.query(name, gt.queries.Hops(...)), or graph.edges() filtered by an end",
        ),
        "find": "patterns are walks: see gt.Matches, gt.datalog, or gt.algorithms.Rings",
        "group": "stored graphs are grouped: session.load(name, edges=...).group(...)",
        "schema": "print(graph) tells its properties; graph.edges().schema those of edges",
        **dict.fromkeys(("plot", "show", "drawnetworkx"), "graph.draw(path)"),
        "head": "graph.edges().head()",
        "save": "gt.live(folder, graph) keeps it on disk",
        "copy": "copy.copy(graph)",
        "undo": "graph.rollback()",
    }

    def __init__(
        self,
        src: Any,
        dst: Any = None,
        *,
        vertices: Any = None,
        directed: bool = True,
        simple: bool = False,
        queries: Histories | None = None,
        budget: int | str | None = None,
        landmarks: int | Landmarks | None = None,
        undo: int | str | Undo | None = _UNDO,
        **properties: Any,
    ) -> None:
        if dst is None and is_networkx(src) and vertices is None and directed and not properties:
            source = networkx_source(src)
        else:
            check_two_columns(src, dst)
            source = column_source(src, dst, vertices, properties, directed=directed)
        self._histories = checked_histories(queries)
        self._budget = given_budget(budget, self._histories)
        self._landmarks = given_landmarks(landmarks, by_histories=self._histories is not None)
        self._undo = given_undo(undo)
        self._build(source, simple)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        src: str | None = None,
        dst: str | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        vertices: Any = None,
        directed: bool = True,
        simple: bool = False,
    ) -> Self:
        """A graph of the rows of a pandas, Polars or Arrow table, or of anything like them.

        `src` and `dst` (or `source` and `target`) name the columns of the ends, where these are not
        called so, or `from` and `to`, or alike; `edges()` calls them so, too. Every other column is
        an edge property that programs and views read: numbers, truth values, texts, dates and
        timestamps. Columns of other types are left out. A column with values of several types is
        refused with its rows; one of texts that nearly all are numbers or dates is reported as a
        warning.
        """
        ends = given_ends(src, dst, source, target)
        return cls._of_source(frame_source(frame, *ends, vertices, directed=directed), simple)

    from_pandas = from_frame
    from_polars = from_frame
    from_arrow = from_frame

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        src: str | None = None,
        dst: str | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        vertices: Any = None,
        separator: str | None = None,
        header: bool | None = None,
        comment: str | None = None,
        encoding: str = "utf8",
        types: Mapping[str, Any] | None = None,
        on_bad_rows: OnBadRows = "refuse",
        directed: bool = True,
        simple: bool = False,
    ) -> Self:
        """A graph of the rows of a CSV file or edge list, packed or not; also `gt.read_csv`.

        Separator, header and the columns of the ends are found, unless they are said. `vertices`
        may be such a file, too. A column has the type of nearly all its values: numbers, truth
        values, dates, timestamps or texts; `types={"amount": float, "code": str}` says which. `NA`,
        `null`, `nan`, `-` and the like are missing among numbers and dates, an empty cell is
        everywhere. Rows with a value that is none of the type, without an end, or of another
        number of columns are refused, or left out with a warning (`on_bad_rows="drop"`).
        """
        # Imported here: who has columns reads no files.
        from graphtide.run.views.text_files import Reading, read_edges

        reading = Reading(separator, header, comment, encoding, types or {}, on_bad_rows)
        given = given_ends(src, dst, source, target)
        table, ends, described = read_edges(path, given, vertices, reading)
        return cls.from_frame(table, *ends, vertices=described, directed=directed, simple=simple)

    @classmethod
    def from_parquet(
        cls,
        path: str | PathLike[str],
        src: str | None = None,
        dst: str | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        vertices: Any = None,
        directed: bool = True,
        simple: bool = False,
    ) -> Self:
        """A graph of the rows of a Parquet file; also `gt.read_parquet`. `vertices` may be one."""
        from graphtide.run.durable.files import read_file_rows

        if isinstance(vertices, str | PathLike):
            vertices = read_file_rows(given_path(vertices), "vertices", {})
        edges = read_file_rows(given_path(path), "edges", {})
        ends = given_ends(src, dst, source, target)
        return cls.from_frame(edges, *ends, vertices=vertices, directed=directed, simple=simple)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any], *, simple: bool = False) -> Self:
        """A graph with the nodes and edges of a NetworkX graph, directed or undirected as it is."""
        return cls._of_source(networkx_source(graph), simple)

    @classmethod
    def from_stored(cls, stored: StoredGraph, *, simple: bool = False) -> Self:
        """A graph of the catalog in memory, with its order of vertices and edges.

        It is directed if that is.
        """
        return cls._of_source(stored_source(stored), simple)

    @in_turn
    def maintain(
        self,
        program: AnyProgram,
        *,
        mode: Mode = "auto",
        tolerance: float = 0.0,
        keep: int | None = None,
    ) -> Live:
        """Run a program, and keep its results current from now on, as long as they are held.

        `mode` is `fixpoint` (final results only), `exact` (every iteration as in a run from
        scratch) or `auto`: fixpoint where it is proved to be right. For programs that add up,
        results that would move by no more than `tolerance`, as a share of themselves, stay; and
        values are kept up to iteration `keep` only, the rest being computed anew each time.
        """
        compiled = compiled_program(program, mode, directed=self.directed)
        check_sources(compiled, self.num_vertices)
        live = Live(self, compiled, SumSettings(tolerance, keep))
        live._begin()
        return live

    @in_turn
    def query(self, name: str, asked: QueryKind) -> Query:
        """Ask a query (`gt.queries`), and keep its answer current until it is dropped.

        Queries are named and come and go while the graph runs; one call a batch serves all of
        them. They go with the graph, not with what this returns, and a copy of the graph has none.
        A vertex that it names need not be there: what depends on it has no answer until it comes. A
        warning names such vertices, as they may be misspelled.
        """
        # Imported here: regular paths and their kernels, which programs do not need.
        from graphtide.api.query import Query

        kept = self._queries()
        query = Query(self, kept, kept.add(name, asked))
        query._warn_of_absent()
        return query

    @property
    @in_turn
    def queries(self) -> dict[str, Query]:
        """The queries on the graph by name, in the order in which they came."""
        from graphtide.api.query import Query

        kept = self._queries()
        return {name: Query(self, kept, query) for name, query in kept.queries.items()}

    @in_turn
    def drop_query(self, name: str) -> None:
        """Give a query up, and its memory."""
        self._queries().drop(name)

    @property
    @in_turn
    def query_bytes(self) -> int:
        """All memory that queries take beside the graph: state, room to work in, and logs."""
        return self._queries().nbytes

    @property
    @in_turn
    def budget(self) -> int | None:
        """How many bytes all queries together may take; None is any number."""
        return self._budget

    @in_turn
    def set_budget(self, budget: int | str | None, *, patience: float = 1.0) -> None:
        """Let all queries together take so many bytes from now on: a number, or such as "2 GB".

        Within a budget, following a batch by states looks at no more than `patience` times as many
        edges as all queries do from scratch; where that is not enough, answers are computed anew.
        With `patience=0`, no query keeps a state.

        Where that is less than they take, those give up their state that it saves least; their
        answers stay the same. LimitError, and the budget as it was, if it is too small even so.
        """
        most = given_budget(budget, self._histories)
        patience = given_patience(patience)
        if self._asked is not None and not self._asked.failed:
            self._asked.set_budget(most, patience)
        self._budget, self._patience = most, patience

    @property
    @in_turn
    def landmarks(self) -> Landmarks | None:
        """The landmarks that queries have; None is none."""
        return self._landmarks

    @in_turn
    def set_landmarks(self, landmarks: int | Landmarks | None) -> None:
        """Have so many landmarks from now on, or none: a number, or `gt.queries.Landmarks`.

        A pair that keeps its answer alone, within a budget, is computed anew by a search between
        its two ends. Landmarks, whose own distances are kept current at every batch, tell that
        search whom it may pass over, and often that a new edge cannot help. That pays where paths
        are long and costly to find, as on road networks; where a few steps lead everywhere, keeping
        landmarks current costs more than they save. They come out of the budget.
        """
        settings = given_landmarks(landmarks, by_histories=self._histories is not None)
        if self._asked is not None and not self._asked.failed and settings != self._landmarks:
            self._asked.set_landmarks(settings)
        self._landmarks = settings

    @in_turn
    def explain(self) -> str:
        """The queries on the graph: what each keeps and takes, how often it was computed anew.

        And all of them together: the budget, what is in use of it and what was at most, the time of
        a batch.
        """
        from graphtide.run.queries.explain import explain_queries

        return explain_queries(self._queries())

    @in_turn
    def set_undo(self, undo: int | str | Undo | None) -> None:
        """Bound what is kept to roll back: a number of advances, a text such as "1 GB", `gt.Undo`.

        A number or a text leaves the other bound as it is by default; None is no bound. Whatever is
        beyond the new bounds is forgotten at once.
        """
        self._undo = given_undo(undo)
        self._versions.set_bounds(self._undo)

    @in_turn
    def query_changes(self) -> dict[str, Table]:
        """What the last advance changed, by the name of the query: only those that changed.

        The tables are those of `Query.changes`. O(what changed).
        """
        from graphtide.run.queries.answers import changed_tables

        tables = changed_tables(self._queries())
        return {name: Table(table) for name, table in tables.items()}

    @in_turn
    def compact(self) -> None:
        """Give back the room of edges that have left, and the undoing of all advances so far.

        Edges get new numbers, in their order, and programs and queries begin anew. Without this, a
        row that has left keeps its room, and the same row takes it again when it comes back: it
        pays where other rows come than went, and more are gone than there are.
        """
        # Imported here: programs on one version do not need what graphs on disk have.
        from graphtide.run.durable.steps import put_in_place

        snapshot = self._snapshot()
        rows, vertices = np.arange(len(snapshot)), np.arange(len(snapshot.ids))
        put_in_place(self, snapshot.part(rows, vertices))

    @overload
    def run(self, program: AnyProgram, *, mode: Mode = "auto") -> GraphRun: ...

    @overload
    def run(
        self,
        program: AnyProgram,
        versions: GivenVersions,
        *,
        order: Order = "auto",
        strategy: Strategy = "adaptive",
        mode: Mode = "auto",
        verify: int | None = None,
        grid: tuple[int, int] | None = None,
        progress: Progress = None,
        workers: int | None = None,
    ) -> Run: ...

    def run(
        self,
        program: AnyProgram,
        versions: GivenVersions | None = None,
        *,
        order: Order = "auto",
        strategy: Strategy = "adaptive",
        mode: Mode = "auto",
        verify: int | None = None,
        grid: tuple[int, int] | None = None,
        progress: Progress = None,
        workers: int | None = None,
    ) -> GraphRun | Run:
        """Run a program on the graph as it is, or on many versions of it; results are in memory.

        `versions` is a list or a dict of them: each a truth value for every row of `edges()`, or
        a list of edge numbers. `order` arranges them as in a collection (`chain`, `tree`,
        `manual`, `auto`); the rest is as in `Collection.run`. The graph stays as it
        is. `progress` forces the progress line on or off, where a terminal or notebook has one from
        a second on; or it is a function, as for `gt.session`. Without versions the program runs
        once, from scratch, and only `mode` is asked.
        """
        if versions is None:
            chosen = {"order": order != "auto", "strategy": strategy != "adaptive"}
            given = {"verify": verify, "grid": grid, "progress": progress, "workers": workers}
            chosen |= {word: value is not None for word, value in given.items()}
            return self._run_whole(program, mode, chosen)
        # Imported here: plans and runs are 200 modules that programs on one version do not need.
        from graphtide.api.run import Run
        from graphtide.run.collection.runs_in_memory import arranged, run_in_memory
        from graphtide.run.collection.start import run_request

        request = run_request(
            program,
            mode,
            None,
            directed=self.directed,
            strategy=strategy,
            verify=verify,
            grid=grid,
            workers=workers,
        )
        arrange = lambda needed: arranged(self._snapshot(), versions, order, needed)  # noqa: E731
        return Run(run_in_memory(request, arrange, progress=progress))

    @in_turn
    def _run_whole(self, program: AnyProgram, mode: Mode, chosen: dict[str, bool]) -> GraphRun:
        """Run a program on the current version; `chosen` says which words for several are given."""
        from graphtide.api.run import GraphRun
        from graphtide.run.collection.runs_in_memory import FixedVertices
        from graphtide.run.routes import (
            MemoryEdges,
            Route,
            answer_in_memory,
            find_route,
            refuse_without_versions,
        )

        refuse_without_versions(**chosen)
        compiled = compiled_program(program, mode, directed=self.directed)
        check_sources(compiled, self.num_vertices)
        ids, known, at = FixedVertices(self._known.ids.copy()), self._known, self._versions.moves
        answered = answer_in_memory(compiled, known, ids, "over the graph in memory")

        @in_turn
        def route(graph: Graph, field: str, ends: tuple[Any, ...]) -> Route | None:
            if graph._known is not known or graph._versions.moves != at:
                raise InputError(
                    f"the graph has gone on since {compiled.bound} was run",
                    hint="run it again, or keep it current: graph.maintain(program).path(target)",
                )
            values = answered.values[field]
            return find_route(known, compiled, values, ends, graph._vertices, MemoryEdges(graph))

        return GraphRun(answered, lambda field, ends: route(self, field, ends))

    @overload
    def view(self, where: str, /) -> MemoryView[Self]: ...
    @overload
    def view(self, name: str, where: str) -> MemoryView[Self]: ...
    def view(self, name: str, where: str | None = None) -> MemoryView[Self]:
        """The view of the edges that satisfy a predicate, of the current version.

        `graph.view("year > 2010")`, or with a name first, as on a graph of the catalog.
        """
        # Imported here: GVDL and plans are 100 modules that programs on one version do not need.
        from graphtide.run.views.build import given_name, view_in_memory

        given = ("view", name) if where is None else (given_name(name), where)
        made = view_in_memory(self._snapshot(), *given)
        return MemoryView(made, 0, self._of_snapshot)

    def draw(
        self,
        path: str | PathLike[str] | None = None,
        *,
        around: Any = None,
        hops: int | None = 2,
        most: int = 200,
        places: Mapping[Any, Sequence[float]] | None = None,
        arrows: bool | None = None,
    ) -> Picture:
        """Draw the graph as it is, to a PNG, SVG or PDF file if a path is given: as `View.draw`."""
        whole = self.view("all edges", "true")
        return whole.draw(
            None if path is None else given_path(path),
            around=around,
            hops=hops,
            since=False,
            most=most,
            places=places,
            arrows=arrows,
        )

    @overload
    def collection(
        self,
        views: Views,
        /,
        *,
        within: str | None = None,
        order: Order = "auto",
        effort: float | None = None,
    ) -> MemoryCollection[Self]: ...
    @overload
    def collection(
        self,
        name: str,
        views: Views,
        *,
        within: str | None = None,
        order: Order = "auto",
        effort: float | None = None,
    ) -> MemoryCollection[Self]: ...
    def collection(
        self,
        name: Views,
        views: Views | None = None,
        *,
        within: str | None = None,
        order: Order = "auto",
        effort: float | None = None,
    ) -> MemoryCollection[Self]:
        """A collection of views of the current version, planned and in memory.

        `graph.collection(views)`, or with a name first. All parameters are those of
        `CatalogGraph.collection`.
        """
        # Imported here: GVDL and plans are 100 modules that programs on one version do not need.
        from graphtide.run.views.build import collection_in_memory, given_name

        called, wanted = ("views", name) if views is None else (given_name(name), views)
        made = collection_in_memory(
            self._snapshot(), called, wanted, within=within, order=order, effort=effort
        )
        return MemoryCollection(made, self._of_snapshot)

    @in_turn
    def to_networkx(self, *, multigraph: bool | None = None) -> networkx.Graph[Any]:
        """The current version as a NetworkX graph of its own kind, with properties as attributes.

        A `Graph` or `DiGraph`, or a `MultiGraph` or `MultiDiGraph` where there are parallel edges;
        `multigraph=True` gives one of these always, and `False` refuses parallel edges.
        """
        # Imported here: programs on one version do not need what looks at views.
        from graphtide.run.views.networkx_export import snapshot_network

        snapshot = self._snapshot()
        rows, vertices = np.arange(len(snapshot)), np.arange(len(snapshot.ids))
        return snapshot_network(snapshot, rows, vertices, multigraph)

    @in_turn
    def __repr__(self) -> str:
        names = [*self._names.properties, *self._columns.edges.column_names]
        properties = ", ".join(dict.fromkeys(names)) or "none"
        return (
            f"<{self._kind} in memory: {sized(self.num_vertices, self.num_edges)}; "
            f"edge properties {properties}; version {self.version}>"
        )

    def _repr_html_(self) -> str:
        size = sized(self.num_vertices, self.num_edges)
        title = f"{self._kind} in memory: {size}, version {self.version}"
        return titled_html(title, self.edges(), VALUES)


read_csv = Graph.from_csv
read_parquet = Graph.from_parquet
