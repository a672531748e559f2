"""A stored collection and its views: named views of one graph of the catalog, arranged in a plan.

Nothing is read until somebody asks for edges. A single view is a collection of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.memory_views import OF_VIEWS, ViewEdges, ViewSequence
from graphtide.api.opening import SavesPage
from graphtide.api.run import Run
from graphtide.lang.python import AnyProgram
from graphtide.model.delta import EdgeIds
from graphtide.run.catalog.listings import state_text
from graphtide.run.catalog.refresh import refresh_collection
from graphtide.run.catalog.stored_runs import explain_run, run_collection
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import On, Strategy
from graphtide.run.collection.planned_views import plan_flips
from graphtide.run.collection.start import run_request
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.computation import Mode
from graphtide.run.live.results import VertexRows
from graphtide.run.statements.answers import left_off
from graphtide.run.views.networkx_export import Included, to_networkx, wants_all
from graphtide.store.collection import StoredCollection, graph_behind, latest_behind, state_behind
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, edge_table

if TYPE_CHECKING:
    import networkx

    from graphtide.spark.types import DataFrame


class View(ViewEdges):
    """One view of a stored collection. Reads nothing until it is asked for edges."""

    _elsewhere = {
        **OF_VIEWS,
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


class Collection(ViewSequence[View], SavesPage):
    """Views in the order in which they were given; `steps` follows the plan."""

    def __init__(self, space: Workspace, stored: StoredCollection) -> None:
        super().__init__(stored)
        self._space = space
        self._stored = stored

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return self._stored.facts.graph

    @property
    def statement(self) -> str:
        """The GVDL that makes this collection."""
        return self._stored.facts.statement

    @property
    def stale(self) -> int:
        """How many appends the graph has taken since this was made; 0 if it is up to date."""
        graph = latest_behind(self._space.catalog, self._stored)
        return state_behind(self._stored, graph).behind

    def refresh(self) -> str:
        """Bring the collection to the state that the graph is in now, and say what was done.

        Only edges that have come or changed since are looked at, without Spark. Where the statement
        gives more views now, as a window a day does on a new day, these are found among all edges,
        and the others stay. The collection is made again where the statement gives other views in
        place of those that are there, or a merge has replaced rows of then.
        """
        refreshed = refresh_collection(self._space, self.name)
        super().__init__(refreshed.stored)
        self._stored = refreshed.stored
        return refreshed.how

    def explain(self) -> str:
        """The plan as text, with what chain and tree would cost, and the state of the graph."""
        return f"{super().explain()}\n{state_text(self._space.catalog, self._stored)}"

    def to_spark(self) -> DataFrame:
        """Every difference as a Spark DataFrame: `step`, `_edge`, `sign` (+1 or -1)."""
        return self._space.gateway.delta_frame(self._stored, plan_flips(self.plan))

    def run(
        self,
        program: AnyProgram,
        *,
        name: str | None = None,
        strategy: Strategy = "adaptive",
        mode: Mode = "auto",
        verify: int | None = None,
        resume: bool = False,
        results: bool = True,
        grid: tuple[int, int] | None = None,
        replace: bool = True,
        workers: int | None = None,
        on: On | None = None,
        force: bool = False,
    ) -> Run:
        """Run a program on every view, and return its results. Needs no Spark but `on="spark"`.

        `strategy` is `differential` (share the work with the parent of each view), `scratch`, or
        `adaptive`: whichever is expected to be faster, view by view. `verify=n` compares every
        n-th view with a run by the program's definition, without proofs or compiled code, and stops
        at the first difference. Results are stored
        under `name` (default: collection and program) in place of an earlier run, or only if there
        is none (`replace=False`); what is finished
        when a run is interrupted is kept, and `resume=True` goes on from there. `results=False`
        writes nothing: the run has its record, and of pairs its results. `grid`, rows and columns,
        feeds the views to a dataflow as versions of two coordinates: for products. `workers` is how
        many threads share the work: one a core where that is expected to pay, if it is left out.
        With `on="spark"` tasks of Spark do it, as many at a time as it has slots (or `workers`); a
        run that is expected to take a few seconds stays in this process, and a warning says so;
        `force=True` has it on Spark, and is an error where so many `workers` cannot share it. All
        of them must see the
        folder of the session. With `on="shards"` the tasks hold the graph together, each some
        shards of it, for graphs that fit no machine: vertex programs. Those that select follow from
        view to view there, all others run each from scratch.
        """
        request = run_request(
            program,
            mode,
            self.name,
            directed=graph_behind(self._space.catalog, self._stored).directed,
            name=name,
            verify=verify,
            strategy=strategy,
            resume=resume,
            kept=results,
            grid=grid,
            replace=replace,
            workers=workers,
            on=on,
            force=force,
        )
        name = request.name
        try:
            contents = run_collection(self._space, self._stored, request)
        except KeyboardInterrupt as stop:
            again = f"collection.run(..., name='{name}', resume=True)" if results else None
            stop.add_note(left_off(self._space.catalog, name, again))
            raise
        return Run(contents, self._space)

    def explain_run(
        self,
        program: AnyProgram,
        *,
        mode: Mode = "auto",
        workers: int | None = None,
        on: On | None = None,
    ) -> str:
        """What a run of the program would do: its mode and why, the plan, an estimate of the time.

        Reads the collection and runs the program on one view. `workers` and `on` are those of
        `run`; the last line says what they are expected to gain.
        """
        directed = graph_behind(self._space.catalog, self._stored).directed
        request = run_request(program, mode, self.name, directed=directed, workers=workers, on=on)
        return explain_run(self._space, self._stored, request)

    def check(self) -> None:
        """Raise if the graph is gone or has been loaded anew since."""
        graph_behind(self._space.catalog, self._stored)

    def _view(self, position: int) -> View:
        return View(self._space, self._stored, position)

    def _on_page(self) -> tuple[Any, list[str] | None]:
        return self._space, ["collection", self.name]
