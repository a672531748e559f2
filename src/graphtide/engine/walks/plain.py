"""A walk program by its definition, with NumPy: what `verify` compares with.

No kernels, no normal form and no terms: statements run in the order in which the plan has them, on
tables of walks, one row per walk. A step makes a row for every neighbour; a table that would become
too long is gone through in parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.inputs import plain_edge_array
from graphtide.engine.plain_run import (
    DTYPES,
    MOST_ITERATIONS,
    TAKEN_IN,
    Mask,
    Rows,
    Scene,
    moved,
    run_body,
    value_of,
    vertex_facts,
    vertex_sets,
)
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks.matches import comparable
from graphtide.model.errors import LimitError
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.program_reads import reads, vertex_properties
from graphtide.plan.program_text import walk_properties

Int64 = NDArray[np.int64]
_MOST_ROWS = 1 << 20
_KINDS = p.AccumulatorKind


@dataclass
class PlainResults:
    """State fields, accumulators of the whole graph, and rows in no order."""

    state: dict[str, Rows]
    globals: dict[str, Any]
    matches: dict[str, list[tuple[Any, ...]]]

    def by_name(self, limits: Mapping[str, Any]) -> dict[str, Any]:
        """All of them as `WalkMaintainer.scratch` has them, with rows cut by limits."""
        whole = {name: one_row(value) for name, value in self.globals.items()}
        rows = {
            name: Counter(sorted(every)[: limits[name]]) for name, every in self.matches.items()
        }
        return {**self.state, **whole, **rows}


def one_row(value: Any) -> NDArray[Any]:
    """A number, or an array of them, as the only row of an array."""
    return np.asarray(value)[None]


def plain_walks(
    graph: ResidentGraph, program: w.WalkProgram, parameters: tuple[Any, ...]
) -> PlainResults:
    """What a program ends with on the version that the graph is at."""
    with np.errstate(all="ignore"):
        return _Run(graph, program, parameters).ended()


@dataclass
class _Table:
    """Walks as far as they have been gone: the vertex at each position, the edge by each name."""

    count: int
    at: dict[str, Int64]
    edges: dict[str, Int64] = field(default_factory=dict)

    def rows(self, chosen: Any) -> _Table:
        at = {name: column[chosen] for name, column in self.at.items()}
        edges = {name: column[chosen] for name, column in self.edges.items()}
        return _Table(len(next(iter(at.values()))), at, edges)


class _Run:
    def __init__(
        self, graph: ResidentGraph, program: w.WalkProgram, parameters: tuple[Any, ...]
    ) -> None:
        self.program, self.vertices, self.graph = program, graph.vertices, graph
        names = [item.name for item in program.parameters]
        self.parameters = dict(zip(names, parameters, strict=True))
        self.live = graph.live_edges()
        source, target = graph.ends(self.live)
        self.src, self.dst = source.astype(np.int64), target.astype(np.int64)
        self.pairs = np.unique(self.src * self.vertices + self.dst)
        self.back = np.ones(len(source), np.bool_) if graph.directed else source != target
        """Edges that are met from their destination as well: all but loops of undirected graphs."""
        self.facts = vertex_facts(source, target[self.back], graph.vertices)
        self.given = {
            name: graph.vertex_data.plain(item) for name, item in vertex_properties(program).items()
        }
        self.along = {
            name: plain_edge_array(graph, name, type_)
            for name, type_ in walk_properties(program).items()
        }
        self.sets = vertex_sets(program.parameters, self.parameters, graph.vertices)
        self.state: dict[str, Rows] = {}
        self.sent: dict[str, Rows] = {}
        self.globals: dict[str, Rows] = {}
        self.matches: dict[str, list[tuple[Any, ...]]] = {}
        self._ways: dict[tuple[str, bool], tuple[Int64, Int64, Int64]] = {}

    def ended(self) -> PlainResults:
        program = self.program
        wanted = self._setting(program.iterations)
        patient = wanted is not None and reads(program.update).iteration
        tolerance = float(self._setting(program.tolerance))
        self.state = {
            item.name: self._filled(item, item.default, self.vertices) for item in program.state
        }
        run_body(program.initialize, self._at_vertices(0), self._all(self.vertices))
        self._clear()
        iteration = 0
        while wanted is None or iteration < wanted:
            iteration += 1
            if wanted is None and iteration > MOST_ITERATIONS:
                raise LimitError(
                    f"{program.name} still changes after {iteration - 1:,} iterations",
                    hint="give it a number of iterations, or a tolerance",
                )
            self._clear()
            roots = np.arange(self.vertices, dtype=np.int64)
            self._walk(program.traverse, _Table(len(roots), {program.root: roots}))
            before = self.state
            self.state = {name: rows.copy() for name, rows in before.items()}
            run_body(program.update, self._at_vertices(iteration), self._all(self.vertices))
            if not patient and not any(
                moved(before[name], self.state[name], tolerance) for name in before
            ):
                break
        return PlainResults(self.state, self._held(), self.matches)

    def _clear(self) -> None:
        program = self.program
        self.sent = {
            item.name: self._filled(item, item.identity, self.vertices)
            for item in program.accumulators
        }
        self.globals = {item.name: self._filled(item, item.identity, 1) for item in program.globals}
        self.matches = {item.name: [] for item in program.matches}

    def _held(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for item in self.program.globals:
            values = self.globals[item.name].astype(DTYPES[item.type])[0]
            found[item.name] = values.item() if item.size is None else values
        return found

    def _walk(self, body: tuple[w.WalkStatement, ...], table: _Table) -> None:
        if not table.count:
            return
        for statement in body:
            match statement:
                case w.When(condition, then, otherwise):
                    holds = self._value(condition, table)
                    self._walk(then, table.rows(holds))
                    self._walk(otherwise, table.rows(~holds))
                case w.Step():
                    for further in self._steps(statement, table):
                        self._walk(statement.body, further)
                case w.SendAt(vertex, name, value, index):
                    item = {one.name: one for one in self.program.accumulators}[name]
                    self._send(item, self.sent[name], table.at[vertex], value, index, table)
                case w.SendGlobal(name, value, index):
                    item = {one.name: one for one in self.program.globals}[name]
                    nowhere = np.zeros(table.count, np.int64)
                    self._send(item, self.globals[name], nowhere, value, index, table)
                case w.Report(name, values):
                    columns = [comparable(self._value(one, table).tolist()) for one in values]
                    self.matches[name].extend(zip(*columns, strict=True))
                case w.Paths():
                    raise AssertionError("repeated steps are unrolled before a program runs")

    def _steps(self, step: w.Step, table: _Table) -> Iterator[_Table]:
        """The table with a row for every neighbour, in parts that are not too long."""
        start, neighbours, edges = self._neighbours(step.way.value, step.edge is None)
        origin = table.at[step.origin]
        counts = start[origin + 1] - start[origin]
        ends = np.cumsum(counts)
        first = 0
        while first < table.count:
            base = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, base + _MOST_ROWS, "right")))
            part = np.repeat(np.arange(first, last), counts[first:last])
            begin = np.repeat(start[origin[first:last]], counts[first:last])
            within = np.arange(len(part)) - np.repeat(
                np.cumsum(counts[first:last]) - counts[first:last], counts[first:last]
            )
            found = table.rows(part)
            found.at[step.vertex] = neighbours[begin + within]
            if step.edge is not None:
                found.edges[step.edge] = edges[begin + within]
            yield found
            first = last

    def _neighbours(self, way: str, distinct: bool) -> tuple[Int64, Int64, Int64]:
        """Where each vertex's neighbours begin, all neighbours, and the edges that lead there."""
        if (way, distinct) not in self._ways:
            live, back = self.live.astype(np.int64), self.back
            forward, backward = (self.src, self.dst, live), (self.dst, self.src, live)
            again = self.dst[back], self.src[back], live[back]
            ends = {"out": [forward], "in": [backward], "both": [forward, again]}[way]
            one, other, edge = (np.concatenate([item[at] for item in ends]) for at in range(3))
            if distinct:
                keys = np.unique(one * self.vertices + other)
                one, other = keys // max(self.vertices, 1), keys % max(self.vertices, 1)
                edge = np.zeros(len(keys), np.int64)
            order = np.argsort(one, kind="stable")
            start = np.searchsorted(one[order], np.arange(self.vertices + 1))
            self._ways[way, distinct] = start, other[order], edge[order]
        return self._ways[way, distinct]

    def _send(
        self,
        item: p.Accumulator,
        column: Rows,
        target: Int64,
        value: x.Expression,
        index: x.Expression | None,
        table: _Table,
    ) -> None:
        sent = self._value(value, table)
        place: Any = (target,) if index is None else (target, self._index(index, column, table))
        if item.kind in (_KINDS.MIN, _KINDS.MAX):
            kept = sent == sent  # a NaN counts as nothing sent
            sent, place = sent[kept], tuple(part[kept] for part in place)
        TAKEN_IN[item.kind].at(column, place, sent)

    def _index(self, index: x.Expression, column: Rows, table: _Table) -> Rows:
        state = x.StateRef("v", "checked", x.INT, index)
        scene = self._scene(table)
        rows = np.arange(column.shape[1])[np.newaxis, :].repeat(table.count, 0)
        scene.state = {**scene.state, ("v", "checked"): rows}
        return value_of(state, scene, self._all(table.count))

    def _value(self, expression: x.Expression, table: _Table) -> Rows:
        return value_of(expression, self._scene(table), self._all(table.count))

    def _scene(self, table: _Table) -> Scene:
        def at_positions(columns: Mapping[str, Rows]) -> dict[tuple[str, str], Rows]:
            return {
                (position, name): rows[vertices]
                for position, vertices in table.at.items()
                for name, rows in columns.items()
            }

        def special(node: x.Expression, _: Mask) -> Rows | None:
            match node:
                case x.Joined(source, target, way):
                    return self._joined(table.at[source], table.at[target], way)
                case x.EdgeProperty(name, _, edge):
                    return self.along[name][table.edges[edge]]
                case _:
                    return None

        return Scene(
            count=table.count,
            parameters=self.parameters,
            state=at_positions(self.state),
            facts=at_positions(self.facts),
            given=at_positions(self.given),
            sets=at_positions(self.sets),
            special=special,
        )

    def _joined(self, source: Int64, target: Int64, way: str) -> Rows:
        forward = np.isin(source * self.vertices + target, self.pairs)
        backward = np.isin(target * self.vertices + source, self.pairs)
        return {"out": forward, "in": backward, "both": forward | backward}[way]

    def _at_vertices(self, iteration: int) -> Scene:
        def special(node: x.Expression, mask: Mask) -> Rows | None:
            if not isinstance(node, x.GlobalRef):
                return None
            values: Rows = self.globals[node.name].astype(DTYPES[node.type])
            rows = np.repeat(values, self.vertices, axis=0)
            if node.index is None:
                return rows
            read = x.StateRef("v", node.name, node.type, node.index)
            scene.state = {**scene.state, ("v", node.name): rows}
            return value_of(read, scene, mask)

        scene = Scene(
            count=self.vertices,
            parameters=self.parameters,
            state={("v", name): rows for name, rows in self.state.items()},
            facts={("v", name): rows for name, rows in self.facts.items()},
            given={("v", name): rows for name, rows in self.given.items()},
            sets={("v", name): rows for name, rows in self.sets.items()},
            assigned=self.state,
            special=special,
            iteration=iteration,
        )
        scene.accumulated = {
            item.name: self.sent[item.name].astype(DTYPES[item.type])
            for item in self.program.accumulators
            if self.sent
        }
        return scene

    def _filled(self, item: p.StateField | p.Accumulator, value: Any, count: int) -> Rows:
        size = () if item.size is None else (self._setting(item.size),)
        adds = isinstance(item, p.Accumulator) and item.kind is _KINDS.SUM
        dtype = np.longdouble if adds and item.type is x.FLOAT else DTYPES[item.type]
        return np.full((count, *size), value, dtype)

    def _setting(self, given: Any) -> Any:
        return self.parameters[given] if isinstance(given, str) else given

    @staticmethod
    def _all(count: int) -> Mask:
        return np.ones(count, np.bool_)
