"""A program kept current on a graph in memory: what `Graph.maintain` returns, and its changes.

Results are NumPy arrays in the order of the graph's vertices, or tables with the users' ids. The
graph moves all its programs from version to version together; `advance` and `rollback` here are the
graph's own.

The changes of an advance are a table that is made on first use: an advance of one edge takes
microseconds, a table many times that, and most users never look at it. Before the graph advances,
changes that a user still holds copy the values that will be overwritten. Before it rolls back,
which may give the numbers of vertices to others, they become tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.changes import Change, first_difference
from graphtide.engine.changes import Changes as EngineChanges
from graphtide.engine.walks.matches import CutChange
from graphtide.model.errors import InputError
from graphtide.model.text import VALUES
from graphtide.plan.walks import Matches
from graphtide.run.live.computation import SumSettings
from graphtide.run.live.programs import Compiled, begin_maintained, vertex_parameters
from graphtide.run.live.results import (
    LiveRows,
    NamedResults,
    PairRows,
    VertexRows,
    match_table,
    named,
    named_matches,
    plain_value,
    result_columns,
    row_names,
)
from graphtide.run.live.versions import MaintainedProgram
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.table import Table
from graphtide.run.turns import CallLock, StaysHere, in_turn

if TYPE_CHECKING:
    from graphtide.run.routes import Route


class _ChangedValues(NamedTuple):
    """Rows that changed, then those that came; and both values of each field."""

    rows: NDArray[Any]
    changed: int
    columns: dict[str, tuple[NDArray[Any], NDArray[Any]]]


class Changes(Table):
    """The rows that an advance changed, with old and new results: a table made on first use."""

    _read: _ChangedValues | None = None
    _table: pa.Table | None = None
    _style = VALUES
    _globals: dict[str, tuple[Any, Any]] | None = None

    def __init__(
        self,
        kept: MaintainedProgram,
        rows: LiveRows,
        turns: CallLock,
        matches: tuple[Matches, ...] = (),
        naming: tuple[str, ...] = (),
    ) -> None:
        self._kept: MaintainedProgram | None = kept
        self._told = kept.changes
        self._fields = kept.fields
        self._rows = rows
        self._match_plans = matches
        self._naming = naming
        self._came = rows.since(kept.before)
        self._turns = turns

    @cached_property
    def _changes(self) -> EngineChanges:
        """Changes of vertices or pairs, without those of the whole graph and of rows."""
        if self._told.keys() <= set(self._fields):
            return self._told
        return {name: change for name, change in self._told.items() if name in self._fields}

    @property
    def is_current(self) -> bool:
        """Whether the graph is still at the version that these changes led to."""
        return self._kept is not None

    @property
    def globals(self) -> dict[str, tuple[Any, Any]]:
        """The results of the whole graph that changed: the old value and the new one, by name."""
        with self._turns.lock:
            if self._globals is None:
                moved = getattr(self._told, "globals", {})
                self._globals = {
                    name: (self._whole(name, change.old), self._whole(name, change.new))
                    for name, change in moved.items()
                }
            return dict(self._globals)

    def appeared(self, name: str | None = None) -> Table:
        """The rows that walks report and did not report before; under the first name if none.

        Where the program has a `limit`, these are rows that `live.matches` shows and did not show.
        """
        return Table(self._rows_of(name)[0])

    def disappeared(self, name: str | None = None) -> Table:
        """The rows that walks reported before and report no more, or that no limit lets through."""
        return Table(self._rows_of(name)[1])

    def to_arrow(self) -> pa.Table:
        """The changes as a table."""
        with self._turns.lock:
            if self._table is None:
                self._turns.check()
                self._table = self._made()
            return self._table

    def delivered(self) -> pa.Table:
        """The changes as one table, whatever the program tells: vertices, or else rows, or else
        results of the whole graph.
        """
        if self._fields:
            return self.to_arrow()
        if self._match_plans:
            both_tables = zip(("appeared", "disappeared"), self._rows_of(None), strict=True)
            rows = [
                part.add_column(0, "change", pa.array([name] * part.num_rows, pa.string()))
                for name, part in both_tables
            ]
            return pa.concat_tables(rows, promote_options="default")
        names = list(self.globals)
        both = list(zip(*self.globals.values(), strict=True)) or [(), ()]
        old, new = ([self._told_whole(item) for item in side] for side in both)
        return pa.table({"name": pa.array(names, pa.string()), "old": old, "new": new})

    def _told_whole(self, value: Any) -> Any:
        """A result of the whole graph beside others in one column: all are texts where some are
        ids, and ids are texts.
        """
        plain = plain_value(value)
        texts = self._naming and not pa.types.is_integer(self._id_type)
        return str(plain) if texts and plain is not None else plain

    @property
    def _id_type(self) -> pa.DataType:
        return self._rows.vertices.columns(np.empty(0, np.int64))["id"].type

    def _whole(self, name: str, value: Any) -> Any:
        """A result of the whole graph; a vertex that it names by its id."""
        if name not in self._naming:
            return value
        one = named(np.asarray(value)[None], self._rows.vertices)[0]
        return one if isinstance(one, np.ndarray) else plain_value(one)

    def _named_by(self, name: str) -> VertexRows | None:
        return self._rows.vertices if name in self._naming else None

    @property
    def held(self) -> int:
        """How many rows it holds in memory, with all that it tells; makes no table."""
        moved = getattr(self._told, "matches", {}).values()
        rows = sum(len(item.appeared) + len(item.disappeared) for item in moved)
        return sum(map(len, self._told.values())) + len(self._came) + rows

    def keep(self, *, forward: bool) -> None:
        """Read what will not be there any more in the next version, or in the one before."""
        for name, change in getattr(self._told, "matches", {}).items():
            if not forward or isinstance(change, CutChange):
                self._rows_of(name)
        if not forward:
            _ = self.globals
        if self._table is None:
            if not forward:
                self._table = self._made()
            elif self._read is None and (len(self._came) or len(self._changes) != 1):
                self._read = self._values()
        self._kept = None

    def __len__(self) -> int:
        if len(self._changes) == 1:
            (change,) = self._changes.values()
            return len(change) + len(self._came) - self._told_twice(change)
        return int(self.to_arrow().num_rows)

    def _rows_of(self, name: str | None) -> tuple[pa.Table, pa.Table]:
        """What appeared and what disappeared; made once, when ids are those of the version."""
        with self._turns.lock:
            plans = {item.name: item for item in self._match_plans}
            wanted = next(iter(plans), None) if name is None else name
            if wanted not in plans:
                known = ", ".join(plans)
                raise InputError(
                    "there are no matches" + ("" if name is None else f" named '{name}'"),
                    hint=f"there is {known}" if known else "declare some: gt.Matches(...)",
                )
            if wanted not in self._match_tables:
                change = getattr(self._told, "matches", {}).get(wanted)
                both = ((), ()) if change is None else (change.appeared, change.disappeared)
                one, other = (match_table(plans[wanted], rows, self._rows) for rows in both)
                self._match_tables[wanted] = one, other
            return self._match_tables[wanted]

    @cached_property
    def _match_tables(self) -> dict[str, tuple[pa.Table, pa.Table]]:
        return {}

    def _told_twice(self, change: Change) -> int:
        """How many vertices that came are among the changed, too."""
        if not len(self._came):
            return 0
        return int((change.vertices >= self._came[0]).sum())

    def _made(self) -> pa.Table:
        read = self._read or self._values()
        columns: dict[str, Any] = self._rows.columns(read.rows)
        missing = np.arange(len(read.rows)) >= read.changed
        for name, (old, new) in read.columns.items():
            suffix = "" if len(read.columns) == 1 else f"_{name}"
            columns |= result_columns(f"old{suffix}", old, self._named_by(name), missing)
            columns |= result_columns(f"new{suffix}", new, self._named_by(name))
        return pa.table(columns)

    def _values(self) -> _ChangedValues:
        """Changed rows in their order, then the new ones; one field's are known without looking."""
        if self._kept is None:
            (name,), (change,) = self._changes, self._changes.values()
            order = np.argsort(change.vertices, kind="stable")
            values = change.old[order], change.new[order]
            return _ChangedValues(
                change.vertices[order].astype(np.int64), len(change), {name: values}
            )
        moved = [change.vertices for change in self._changes.values()]
        changed = np.unique(np.concatenate([*moved, np.empty(0, np.int32)]).astype(np.int64))
        if len(self._came):
            changed = changed[changed < self._came[0]]
        rows = np.concatenate([changed, np.array(self._came, np.int64)])
        columns = {}
        for name in self._kept.fields:
            new = self._kept.values(name)[rows]
            old = new.copy()
            if name in self._changes:
                _put_old(old, changed, self._changes[name])
            columns[name] = old, new
        return _ChangedValues(rows, len(changed), columns)


def _put_old(old: NDArray[Any], changed: NDArray[Any], change: Change) -> None:
    places = np.searchsorted(changed, change.vertices)
    there = places < len(changed)
    there[there] &= changed[places[there]] == change.vertices[there]
    old[places[there]] = change.old[there]


class Live(StaysHere, NamedResults):
    """The results of one program, those of the version that its graph is at."""

    _held = "live"
    _instead = "pickle live.table(), or the graph, and maintain the program on that anew"

    _kept: MaintainedProgram
    _rows: LiveRows

    def __init__(self, graph: MemoryGraph, compiled: Compiled, knobs: SumSettings) -> None:
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
    @in_turn
    def globals(self) -> dict[str, Any]:
        """The results of the whole graph by name: numbers, or arrays of them."""
        return {name: self[name] for name in self._kept.globals}

    @property
    @in_turn
    def touched(self) -> int:
        """How many edges the last advance looked at for this program."""
        return self._kept.maintainer.touched

    __getitem__ = in_turn(NamedResults.__getitem__)
    at = in_turn(NamedResults.at)
    table = in_turn(NamedResults.table)
    matches = in_turn(NamedResults.matches)

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
    def match_count(self, name: str | None = None) -> int:
        """How many rows walks report under a name, those beyond a `limit` included."""
        compiled = self._compiled
        chosen = named_matches(compiled.bound.program.name, compiled.matches, name)
        return int(self._reported(chosen).total)

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

    def _value(self, name: str) -> NDArray[Any]:
        return self._kept.values(name)

    def _match_rows(self, name: str) -> Iterable[Any]:
        rows: Iterable[Any] = self._reported(name).rows()
        return rows

    def _reported(self, name: str) -> Any:
        self._kept.check_results()
        maintainer: Any = self._kept.maintainer
        return maintainer.matches[name]

    def _check_open(self) -> None:
        if self._kept not in self.graph._followers:
            raise InputError(
                f"{self.program} was closed", hint="maintain the program on the graph anew"
            )
