"""A graph in memory, and the programs kept current on it. No store, no Spark.

A graph has one current version, and every program on it has the results of that version.
Advances can be rolled back one by one, down to the graph as it was made. Threads may share a graph
and its programs: each call waits for the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.api.live import Live
from graphtide.api.progress import shown
from graphtide.api.sources import check_two_columns, frame_rows, networkx_rows, stored_rows
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.run.live.chosen_program import begin_maintained, chosen_program
from graphtide.run.live.edge_rows import ColumnNames, EdgeRows, edge_columns
from graphtide.run.live.followers import Followers
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.modes import Knobs, Mode
from graphtide.run.live.numbering import number_vertices
from graphtide.run.live.result_rows import GraphVertices, PairRows
from graphtide.run.live.saved_graph import SavedGraph, restored_graph, saved_graph
from graphtide.run.live.source_memory import check_sources
from graphtide.run.live.versions import Versions
from graphtide.run.live.vertex_ids import named_rows
from graphtide.run.turns import Turns, in_turn
from graphtide.store.graph import StoredGraph

if TYPE_CHECKING:
    import networkx

    from graphtide.api.build import Order
    from graphtide.api.run import Run
    from graphtide.api.runs_in_memory import GivenVersions
    from graphtide.lang.python import AnyProgram
    from graphtide.run.collection.facts import Strategy
    from graphtide.run.collection.start import Versions as RunVersions

Int32 = NDArray[np.int32]


class Graph:
    """Vertices with ids of your own, edges with properties, and programs that follow them."""

    def __init__(
        self,
        src: Any,
        dst: Any = None,
        *,
        vertices: Any = None,
        simple: bool = False,
        **properties: Any,
    ) -> None:
        check_two_columns(src, dst)
        rows = edge_columns("the graph", src, dst, properties)
        self._build(rows, ("src", "dst"), vertices, simple)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        src: str = "src",
        dst: str = "dst",
        *,
        vertices: Any = None,
        simple: bool = False,
    ) -> Self:
        """A graph of the rows of a pandas, Polars or Arrow table, or of anything like them.

        Every other column that holds numbers or truth values is an edge property.
        """
        graph = cls.__new__(cls)
        graph._build(frame_rows(frame, src, dst), (src, dst), vertices, simple)
        return graph

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any], *, simple: bool = False) -> Self:
        """A graph with the nodes and edges of a NetworkX graph; undirected edges go both ways."""
        made = cls.__new__(cls)
        nodes, rows = networkx_rows(graph)
        made._build(rows, ("src", "dst"), nodes, simple)
        return made

    @classmethod
    def from_stored(cls, stored: StoredGraph, *, simple: bool = False) -> Self:
        """A graph of the catalog in memory, with its order of vertices and edges."""
        made = cls.__new__(cls)
        ids, rows = stored_rows(stored)
        made._build(rows, ("src", "dst"), ids, simple)
        return made

    def _build(self, rows: EdgeRows, names: tuple[str, str], vertices: Any, simple: bool) -> None:
        ids, src, dst = number_vertices(rows.src, rows.dst, vertices)
        if simple:
            _check_parallel(rows, src, dst)
        resident = ResidentGraph(len(ids), src, dst, rows.properties, grows=True)
        known = ColumnNames(*names, tuple(rows.properties))
        self._hold(KnownEdges(resident, ids, known, simple))

    def _hold(self, known: KnownEdges) -> None:
        self._known = known
        self._names = known.names
        self._resident = known.resident
        self._vertices = GraphVertices(known.ids)
        self._followers = Followers()
        self._turns = Turns("the graph")
        self._versions = Versions(self._known, self._followers, self._turns)

    @property
    @in_turn
    def num_vertices(self) -> int:
        """How many vertices there are, those without edges included."""
        return self._resident.vertices

    @property
    @in_turn
    def num_edges(self) -> int:
        """How many edges are in the current version."""
        return int(self._resident.adjacency.out.live.sum())

    @property
    @in_turn
    def version(self) -> int:
        """How many advances lie between the graph as it was made and the current version."""
        return self._versions.current

    @in_turn
    def vertices(self) -> pa.Table:
        """The ids of all vertices, in the order of results."""
        return pa.table(self._vertices.columns())

    @in_turn
    def edges(self) -> pa.Table:
        """The edges of the current version: their number, ends and properties."""
        inside = self._resident.live_edges()
        numbers = self._outside(inside)
        order = np.argsort(numbers)
        src, dst = self._resident.ends(inside[order])
        properties = {
            name: pa.array(column[inside[order]])
            for name, column in self._resident.properties.items()
        }
        ends = {self._names.src: self.ids(src), self._names.dst: self.ids(dst)}
        return pa.table({"edge": pa.array(numbers[order]), **ends, **properties})

    @in_turn
    def ids(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of vertices by their numbers, which are their places in results."""
        places = np.asarray(numbers)
        if len(places) == 0:
            places = places.astype(np.int64)
        whole = places.ndim == 1 and places.dtype.kind in "iu"
        if not whole or ((places < 0) | (places >= self.num_vertices)).any():
            raise InputError(
                "there are no vertices with such numbers",
                hint=f"give whole numbers from 0 to {self.num_vertices - 1}",
            )
        return self._known.ids.taken(places)

    @in_turn
    def number(self, vertex: Any) -> int:
        """The number of a vertex, which is its place in results."""
        return self._vertices.number(vertex)

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
        chosen = chosen_program(program, mode)
        check_sources(chosen, self.num_vertices)
        kept, pairs = begin_maintained(self._known, chosen, Knobs(tolerance, keep))
        kept.start(self.version, self.num_vertices)
        rows = self._vertices if pairs is None else PairRows(self._vertices, pairs)
        live = Live(self, chosen.bound, kept, rows)
        self._followers.add(kept, live)
        return live

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
        progress: bool | None = None,
    ) -> Run:
        """Run a program on many versions of the graph, and return all results, in memory.

        `versions` is a list or a dict of them: each a truth value for every row of `edges()`, or
        a list of edge numbers. `order` arranges them as in a collection (`chain`, `tree`,
        `manual`, `auto`); the rest is as in `Collection.run`. The graph stays as it is. `progress`
        forces the progress line on or off; a terminal or notebook has one from a second on.
        """
        from graphtide.api.runs_in_memory import run_versions
        from graphtide.run.collection.runner import RunSettings
        from graphtide.run.collection.start import check_strategy, check_verify

        check_strategy(strategy, grid)
        check_verify(verify)
        chosen = chosen_program(program, mode)
        with shown(f"run {chosen.bound.program.name}", enabled=progress) as report:
            report("arranging the versions")
            arranged = self._arranged(versions, order)
            settings = RunSettings(verify=verify, report=report)
            return run_versions(arranged, chosen, strategy, settings, grid)

    @in_turn
    def _arranged(self, versions: GivenVersions, order: Order) -> RunVersions:
        """Versions of the graph with edges of their own: it may advance while they are run."""
        from graphtide.api.runs_in_memory import EdgeList, arranged

        inside = self._resident.live_edges()
        numbers = self._outside(inside)
        row = np.argsort(numbers)
        return arranged(EdgeList(self._known, inside[row], numbers[row]), versions, order)

    @in_turn
    def advance(self, insert: Any = None, delete: Any = None) -> None:
        """Go to the next version: edges in, edges out, and every program follows.

        Edges are rows `(src, dst, properties...)`, dicts, columns by name, a frame, or a list of
        edge numbers as in `edges()`. A deleted row may leave properties out: any edge between
        its ends will do. All or nothing: what cannot be is refused, and nothing has changed.
        """
        self._versions.advance(insert, delete)

    @in_turn
    def rollback(self) -> None:
        """Undo the last advance that has not been undone, at the cost of what it changed."""
        self._versions.rollback()

    @in_turn
    def forget(self) -> None:
        """Give up the undoing of all advances so far, and free the memory that it takes."""
        self._versions.forget()

    @in_turn
    def __getstate__(self) -> SavedGraph:
        """Pickled and copied as it is now: another graph, without programs and rollbacks."""
        return saved_graph(self._known)

    def __setstate__(self, saved: SavedGraph) -> None:
        self._hold(restored_graph(saved))

    @in_turn
    def __repr__(self) -> str:
        properties = ", ".join(self._names.properties) or "none"
        return (
            f"<graph in memory: {self.num_vertices:,} vertices, {self.num_edges:,} edges; "
            f"edge properties {properties}; version {self.version}>"
        )

    def _repr_html_(self) -> str:
        from graphtide.api.notebook import memory_graph_html

        return memory_graph_html(self)

    def _outside(self, inside: Int32) -> Int32:
        """The numbers that users know edges by."""
        first = self._resident.numbers
        found = inside.copy()
        given = inside < len(first)
        found[given] = self._given_order()[inside[given]]
        return found

    def _given_order(self) -> Int32:
        order = np.empty(len(self._resident.numbers), np.int32)
        order[self._resident.numbers] = np.arange(len(order), dtype=np.int32)
        return order


def _check_parallel(rows: EdgeRows, src: Int32, dst: Int32) -> None:
    pairs = src.astype(np.int64) << 32 | dst
    twice = np.ones(len(rows), np.bool_)
    twice[np.unique(pairs, return_index=True)[1]] = False
    if twice.any():
        raise InputError(
            "a simple graph has no parallel edges",
            where=named_rows(np.flatnonzero(twice).tolist(), rows.row),
            hint="leave out simple=True, or one of them",
        )
