"""A program kept current on a graph in memory: what `Graph.maintain` returns.

Results are NumPy arrays in the order of the graph's vertices, or tables with the users' ids.
The graph moves all its programs from version to version together; `advance` and `rollback` here
are the graph's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphtide.api.changes import Changes
from graphtide.engine.changes import first_difference
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.live.arrow_columns import named, plain_value, result_columns
from graphtide.run.live.maintained import Maintained
from graphtide.run.live.match_tables import match_table, named_matches
from graphtide.run.live.modes import Knobs
from graphtide.run.live.programs import Compiled, begin_maintained, vertex_parameters
from graphtide.run.live.result_rows import LiveRows, PairRows, VertexRows, row_names
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.staying import StaysHere
from graphtide.run.table import HasTable, Table
from graphtide.run.turns import in_turn

if TYPE_CHECKING:
    from graphtide.run.routes import Route


class Live(StaysHere, HasTable):
    """The results of one program, those of the version that its graph is at."""

    _held = "live"
    _instead = "pickle live.table(), or the graph, and maintain the program on that anew"

    _kept: Maintained
    _rows: LiveRows

    def __init__(self, graph: MemoryGraph, compiled: Compiled, knobs: Knobs) -> None:
        self.graph = graph
        self.program = compiled.bound
        self._compiled = compiled
        self._knobs = knobs
        self._turns = graph._turns

    def _begin(self) -> None:
        """Run from scratch on the graph as it is, and follow it from now on.

        The graph calls this again where it has put other vertices and edges in place of its own.
        """
        graph = self.graph
        kept, pairs = begin_maintained(graph._known, self._compiled, self._knobs)
        kept.start(graph._versions.current, graph._resident.vertices)
        self._kept = kept
        self._rows = graph._vertices if pairs is None else PairRows(graph._vertices, pairs)
        graph._followers.add(kept, self)

    def _leave(self) -> None:
        """Let go of the vertices and edges of now: let what was handed out read what it tells."""
        self._kept.keep_told(forward=False)

    @property
    def mode(self) -> str:
        """`fixpoint`, `exact`, `dataflow` or `walk`."""
        return self._kept.choice.mode

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the program's results of vertices, or of pairs."""
        return self.program.fields

    @property
    @in_turn
    def globals(self) -> dict[str, Any]:
        """The results of the whole graph by name: numbers, or arrays of them."""
        return {name: self._global(name) for name in self._kept.globals}

    @property
    @in_turn
    def touched(self) -> int:
        """How many edges the last advance looked at for this program."""
        return self._kept.maintainer.touched

    @in_turn
    def __getitem__(self, field: str) -> Any:
        """The result of every vertex, in the order of `graph.vertices()`; a copy.

        A result that names vertices holds their ids.
        Of a program on pairs, the result of every pair, in the order in which they were given. A
        result of the whole graph is a number, or an array of them.
        """
        if field in self._kept.globals:
            return self._global(field)
        if field not in self.fields:
            known = self._kept.results
            hint = name_hint(field, known, f"it has {', '.join(known)}")
            if field in self._compiled.matches:
                hint = f"its rows are live.matches('{field}')"
            raise InputError(f"{self.program.program.name} has no result '{field}'", hint=hint)
        return named(self._kept.values(field), self._named_by(field))

    def _names(self) -> tuple[str, ...]:
        return self.fields

    @in_turn
    def at(self, vertex: Any) -> dict[str, Any]:
        """The results of one vertex, by its id, or of one pair `(source, target)`. O(1)."""
        number = self._rows.number(vertex)
        one = slice(number, number + 1)
        return {
            name: plain_value(named(self._kept.values(name)[one], self._named_by(name))[0])
            for name in self.fields
        }

    @in_turn
    def path(self, *ends: Any) -> Route | None:
        """The way along which a vertex got its value: `path(target)`, or `path(source, target)`.

        A list of ids, with a table of its `edges`, as `graph.edges()` has them, and its `cost`;
        None where no way leads there. Of several, whose beginnings are best ways themselves, one
        with the fewest edges is taken; of those, from the source on, the edge with the least number
        each time. For programs that keep one best value: BFS, ShortestPaths, NearestSource,
        WidestPath and such of your own.
        """
        # Imported here: programs evaluated edge by edge, which only routes and checks need.
        from graphtide.run.routes import MemoryEdges, find_route, routed

        graph, field = self.graph, routed(self._compiled)
        values, vertices = self._kept.values(field), graph._vertices
        edges = MemoryEdges(graph)
        return find_route(graph._known, self._compiled, values, ends, vertices, edges)

    @in_turn
    def table(self) -> Table:
        """The results of every vertex with its `id`, or of every pair with `source`, `target`.

        Of a program that has results of the whole graph alone, those in one row.
        """
        columns = self._rows.columns() if self.fields else {}
        for name in self.fields or self._kept.globals:
            values = self._kept.values(name).copy()
            columns |= result_columns(name, values, self._named_by(name))
        return Table(pa.table(columns))

    @in_turn
    def matches(self, name: str | None = None) -> Table:
        """The rows that walks report under a name (the first, if none is given), in their order.

        Vertices are told by their ids. Where the program has a `limit`, these are the first so many
        rows; `match_count` says how many there are in all.
        """
        rows = self._match_rows(name)
        plans = {item.name: item for item in self._compiled.match_plans}
        return Table(match_table(plans[rows.matches.name], rows.rows(), self._rows))

    @in_turn
    def match_count(self, name: str | None = None) -> int:
        """How many rows walks report under a name, those beyond a `limit` included."""
        return int(self._match_rows(name).total)

    @in_turn
    def advance(self, insert: Any = None, delete: Any = None, vertices: Any = None) -> Changes:
        """Bring the graph, and all programs on it, to its next version; what changed here.

        The forms of `insert`, `delete` and `vertices` are those of `Graph.advance`.
        """
        self._check_open()
        self.graph._advance(insert, delete, vertices)
        return self._changes()

    @in_turn
    def rollback(self) -> None:
        """Undo the last advance of the graph, for all programs on it."""
        self._check_open()
        self.graph.rollback()

    @in_turn
    def changes(self) -> Changes:
        """What the last advance changed: `id`, `old` and `new`; `old` is null for new vertices.

        Pairs are told by `source` and `target` instead of `id`.
        A program with several results has a pair of columns for each: `old_rank`, `new_rank`.
        Results of the whole graph are in its `globals`, rows of walks in `appeared` and
        `disappeared`.
        Empty after a start or a rollback. It becomes a table when it is first looked at.
        """
        return self._changes()

    def _changes(self) -> Changes:
        held = self._kept.told()
        if isinstance(held, Changes) and held.is_current:
            return held
        plans = self._compiled.match_plans
        changes = Changes(self._kept, self._rows, self._turns, plans, self._compiled.naming)
        self._kept.hold(changes)
        return changes

    @in_turn
    def verify(self) -> None:
        """Compare with runs from scratch; AssertionError at the first difference.

        One is by the compiled program, of all that is kept. The other is by the program's
        definition, every edge in every iteration, without kernels, proofs or shortcuts: it takes
        one to three tenths of a second for each million edges and iteration. With a tolerance,
        results are held to its bound; InputError for a program that has none.
        """
        maintainer, graph = self._kept.maintainer, self.graph
        self._compiled.check_bounded(maintainer)
        maintainer.verify()
        parameters = vertex_parameters(self.program, graph._known.ids)
        plain = self._compiled.plainly(graph._known.resident, parameters, maintainer)
        values = {name: self._kept.values(name) for name in self._kept.results}
        share, beside = self._compiled.allowed_share(maintainer), maintainer.beside_values()
        difference = first_difference(values, plain, share, beside)
        if difference is not None:
            name, row = difference
            who = "the graph"
            if name in self.fields:
                (who,) = row_names(self._rows, np.array([row]))
            both = (side[name][row : row + 1] for side in (values, plain))
            has, ought = (plain_value(named(one, self._named_by(name))[0]) for one in both)
            raise AssertionError(f"{who} has {name} = {has}, by definition {ought}")

    @in_turn
    def explain(self) -> str:
        """The program, what was proved of it, the mode and why, and where its source lies."""
        maintainer: Any = self._kept.maintainer
        lines = self._compiled.explain(maintainer)
        if not self.graph.directed:
            lines.append("the graph is undirected: edges are gone along both ways")
        lines.append(f"maintained in {self._kept.choice}")
        lines.append(f"compiled from {maintainer.kernels.__file__}")
        return "\n".join(lines)

    @in_turn
    def close(self) -> None:
        """Stop keeping it current; its graph goes on without it."""
        self.graph._followers.remove(self._kept)

    @in_turn
    def __repr__(self) -> str:
        closed = "" if self._kept in self.graph._followers else ", closed"
        return f"<live {self.program}: {self.mode} mode, version {self.graph.version}{closed}>"

    def _global(self, name: str) -> Any:
        value = named(self._kept.values(name), self._named_by(name))[0]
        return value if isinstance(value, np.ndarray) else plain_value(value)

    def _named_by(self, name: str) -> VertexRows | None:
        """The vertices that a result names; None where it names none."""
        return self._rows.vertices if name in self._compiled.naming else None

    def _match_rows(self, name: str | None) -> Any:
        chosen = named_matches(self.program.program.name, self._compiled.matches, name)
        self._kept.check_results()
        maintainer: Any = self._kept.maintainer
        return maintainer.matches[chosen]

    def _check_open(self) -> None:
        if self._kept not in self.graph._followers:
            raise InputError(
                f"{self.program} was closed", hint="maintain the program on the graph anew"
            )
