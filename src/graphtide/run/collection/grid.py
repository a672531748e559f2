"""A dataflow over views that are a grid: versions of two coordinates, a batch a row.

The whole grid is one dataflow, and every edge is fed where it first comes, not once a row. What
comes out at (i, j) is part of all views from that row and column on, so a view's results are put
together from the columns up to its own; they end as differences from the view before it in its
row, or from the first of the row above, like those of any run.

The graph itself is flipped only where views are to be verified.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.engine.dataflow.reading import add_up
from graphtide.kernels.dataflow.numbers import field_width
from graphtide.model.errors import GraphtideError, InputError
from graphtide.optimize.strategy import Move
from graphtide.plan.collection import GridPlan, check_grid, grid_plans
from graphtide.run.collection.differences import CurrentResults, PartBuffer
from graphtide.run.collection.facts import RunSettings
from graphtide.run.collection.prepare import PreparedProgram
from graphtide.run.collection.steps import Deltas, RunSteps, RunVersions
from graphtide.run.dataflow.computations import CompiledDataflow
from graphtide.run.dataflow.maintainer import ProgramFlow, VertexValues, edge_columns
from graphtide.run.live.programs import Compiled
from graphtide.store.collection import GroupedEdges
from graphtide.store.parts import Parts

Int64 = NDArray[np.int64]


def as_grid(
    compiled: Compiled, versions: RunVersions, shape: object
) -> tuple[GridPlan, RunVersions, str]:
    """The grid of a shape that users give, the versions with its steps, and what is said of it."""
    if not isinstance(compiled, CompiledDataflow):
        raise InputError(
            f"{compiled.bound.program.name} is no dataflow, and has no versions of two coordinates",
            hint="leave out `grid`",
        )
    rows, columns = check_grid(shape, len(versions.names))
    grid, plan = grid_plans(versions.plan, (rows, columns))
    weights = np.diff(versions.grouped.offsets)
    reason = (
        f"its operators follow differences, of a grid of {rows} x {columns} views: "
        f"{grid.differences(weights):,} edges came or went, "
        f"{versions.plan.differences(weights):,} along the plan"
    )
    return grid, replace(versions, plan=plan), reason


class GridRun:
    """A dataflow program on its way through a grid, row by row."""

    def __init__(
        self,
        plan: GridPlan,
        grouped: GroupedEdges,
        steps: RunSteps,
        deltas: Deltas,
        prepared: PreparedProgram,
    ) -> None:
        assert isinstance(prepared.compiled, CompiledDataflow)
        bound = prepared.compiled.bound
        self._plan, self._grouped = plan, grouped
        self._steps, self._deltas = steps, deltas
        self._prepared = prepared
        self._properties = bound.read
        self._field = bound.program.result.name
        self._built = ProgramFlow(bound, prepared.parameters, coordinates=2)
        self._found = VertexValues(bound.program)
        self._columns: list[Int64] = [np.empty((0, 3), np.int64)] * plan.shape[1]

    def run(self, base: Values, parts: Parts, first: int, settings: RunSettings) -> None:
        """All views; those from step `first` on are kept, the others known already."""
        buffer, kept = PartBuffer((self._field,)), perf_counter()
        above = {self._field: base[self._field].copy()}
        rows, columns = self._plan.shape
        try:
            for row in range(rows):
                current = CurrentResults(above)
                began = perf_counter()
                touched = self._close_row(row)
                each = (perf_counter() - began) / columns
                for step, values in self._views(row):
                    began = perf_counter()
                    changes = current.differences(values)
                    current.apply(changes)
                    if step % columns == 0:
                        above = {self._field: values[self._field].copy()}
                    self._verify(step, values, settings)
                    if step >= first:
                        seconds = each + perf_counter() - began
                        changed = sum(map(len, changes.values()))
                        told = (step, Move.FOLLOW, seconds, np.nan, np.nan, touched, changed)
                        buffer.add(told, changes)
                settings.report(f"row {row + 1} of {rows}", (row + 1) / rows)
                if perf_counter() - kept > settings.keep_every:
                    _keep(buffer, parts, settings, (row + 1) * columns)
                    kept = perf_counter()
        except BaseException:
            with contextlib.suppress(GraphtideError):
                _keep(buffer, parts, settings, -1)
            raise
        finally:
            self._built.close()
        _keep(buffer, parts, settings, len(self._steps))

    def _close_row(self, row: int) -> int:
        """Feed all views of a row and run them as one batch; how many rows were fed."""
        plan, graph = self._plan, self._prepared.graph
        fed = 0
        if row == 0:
            if self._built.vertices is not None:
                nodes = {"node": np.arange(graph.vertices)}
                self._built.vertices.insert(nodes, at=(0, 0))
            self._found.resize(graph.vertices)
        for column in range(plan.shape[1]):
            edges, diffs = self._edges(*plan.at(row, column))
            fed += len(edges)
            if len(edges):
                given = edge_columns(graph, edges, self._properties)
                if not graph.directed:
                    diffs = np.concatenate([diffs, diffs[np.not_equal(*graph.ends(edges))]])
                self._built.edges.update(given, diffs, at=(row, column))
        self._built.flow.advance_to((row + 1, 0))
        return fed

    def _edges(
        self, classes: NDArray[np.int64], diffs: NDArray[np.int8]
    ) -> tuple[NDArray[np.int32], Int64]:
        grouped = self._grouped
        bounds = zip(grouped.offsets[classes], grouped.offsets[classes + 1], strict=True)
        parts = [grouped.edges[start:stop] for start, stop in bounds]
        lengths = [len(part) for part in parts]
        edges = np.concatenate([np.empty(0, np.int32), *parts])
        return edges, np.repeat(diffs.astype(np.int64), lengths)

    def _views(self, row: int) -> Iterator[tuple[int, Values]]:
        """The views of a row with their results, which the next one overwrites."""
        rows = self._built.take()
        column_of = rows[:, -2] & ((1 << field_width(2)) - 1)
        plain = np.delete(rows, -2, axis=1)
        back = [_negated(column) for column in self._columns[1:]]
        for column in range(len(self._columns)):
            fresh = plain[column_of == column]
            whole = add_up(np.concatenate([self._columns[column], fresh]))
            self._columns[column] = whole
            # From the last view of the row above to the first of this one, then along the row.
            self._found.apply(np.concatenate([*back, fresh]) if column == 0 else whole)
            self._found.check_all()
            yield row * len(self._columns) + column, {self._field: self._found.values}

    def _verify(self, step: int, values: Values, settings: RunSettings) -> None:
        """Flip the graph along, and compare every so many views with a plain run."""
        if settings.verify is None:
            return
        graph, columns = self._prepared.graph, len(self._columns)
        if step and step % columns == 0:
            for passed in range(step - 1, step - columns, -1):
                inserted, deleted = self._deltas.of(passed)
                graph.flip(inserted=deleted, deleted=inserted)
        graph.flip(*self._deltas.of(step))
        if (step + 1) % settings.verify:
            return
        told = self._steps.label(step), "a run without `grid`"
        self._prepared.check_same(values, self._prepared.plainly(), *told)


def _negated(rows: Int64) -> Int64:
    negated = rows.copy()
    negated[:, -1] *= -1
    return negated


def _keep(buffer: PartBuffer, parts: Parts, settings: RunSettings, finished: int) -> None:
    if len(buffer):
        parts.append(buffer.take())
    if finished >= 0:
        settings.kept(finished)
