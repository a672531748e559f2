"""Views and collections of a graph in memory: no store, no Spark.

They are those of the version that the graph was at when they were made, and stay so while the
graph advances. Everything but where edges come from is as in the catalog: the same language, the
same classes and plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.opening import SavesPage
from graphtide.api.view_edges import ViewEdges
from graphtide.api.view_sequence import ViewSequence
from graphtide.lang.python import AnyProgram
from graphtide.model.delta import EdgeIds
from graphtide.model.progress import Progress
from graphtide.run.live.modes import Mode
from graphtide.run.live.programs import compiled_program
from graphtide.run.live.result_rows import GraphVertices, VertexRows
from graphtide.run.table import Table
from graphtide.run.views.networkx_export import Included, snapshot_network, wants_all
from graphtide.run.views.snapshot import Snapshot

if TYPE_CHECKING:
    import networkx

    from graphtide.api.run import Run
    from graphtide.run.collection.facts import Strategy
    from graphtide.run.views.build import ViewsInMemory


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
        from graphtide.run.collection.runs_in_memory import AskedRun, run_in_memory

        request = AskedRun(program, mode, strategy, verify, grid, progress, workers)
        directed = self._made.snapshot.directed
        return Run(run_in_memory(request, self._made.versions, self.name, directed=directed))

    def explain_run(self, program: AnyProgram, *, mode: Mode = "auto") -> str:
        """What a run of the program would do: its mode and why, the plan, an estimate of the time.

        Runs the program on one view.
        """
        # Imported here: runs are 100 modules that looking at views does not need.
        from graphtide.run.collection.start import RunInHand, Workers

        compiled = compiled_program(program, mode, directed=self._made.snapshot.directed)
        workers = Workers(None, asked_only=True)
        return RunInHand(compiled, self._made.versions(compiled.needed), workers).explain(self.plan)

    def _view(self, position: int) -> MemoryView[MadeGraph]:
        return MemoryView(self._made, position, self._make_graph)
