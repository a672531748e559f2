"""The results of a run as tables with the users' ids: a view, changes, a history, everything.

Beside results there are tables of who made which steps of a run, and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from graphtide.model.text import counted
from graphtide.optimize.strategy import Move
from graphtide.run.collection.contents import BY_VIEW, THERE, ChosenVertices, RunContents, values_at
from graphtide.run.collection.differences import CurrentResults, numpy_column
from graphtide.run.live.results import match_table, result_columns
from graphtide.run.table import flat_table

_VIEW_COLUMNS = ("view", "edges", "vertices")
"""What tables with one row per view call columns of their own."""

_RANKED = ("view", "place", "rose", "new")
"""What tables of vertices call columns of their own, beside ids."""

_NO_ROWS = np.empty(0, np.int64)


def view_table(contents: RunContents, view: int, chosen: ChosenVertices = BY_VIEW) -> pa.Table:
    """Every vertex that counts with its results in one view."""
    contents.check_rows()
    chosen.check(contents)
    values = contents.values(view)
    columns = contents.rows.columns()
    for name in contents.fields:
        column = column_name(contents, name)
        columns |= result_columns(column, values[name].copy(), contents.named_by(name))
    table, mask = pa.table(columns), chosen.mask(contents, view)
    return table if mask is None else table.filter(pa.array(mask))


def changes_table(contents: RunContents, one: int, other: int) -> pa.Table:
    """The vertices that are in both of two views and whose results differ, with both results."""
    contents.check_rows()
    before = CurrentResults(contents.values(one))
    changes = before.differences(contents.values(other))
    moved = np.zeros(contents.count(contents.fields[0]), np.bool_)
    for name in contents.fields:
        moved[changes[name].vertices] = True
    moved[list(contents.removed(one) + contents.removed(other))] = False
    vertices = np.flatnonzero(moved)
    after = contents.values(other)
    columns: dict[str, Any] = contents.rows.columns(vertices)
    for name in contents.fields:
        suffix = "" if len(contents.fields) == 1 else f"_{name}"
        for side, values in (("old", before.values), ("new", after)):
            moved_values = values[name][vertices]
            columns |= result_columns(f"{side}{suffix}", moved_values, contents.named_by(name))
    return pa.table(columns)


def history_table(contents: RunContents, vertex: int) -> pa.Table:
    """The results of one vertex in every finished view, in the order of the views.

    They are missing where it is taken out.
    """
    contents.check_rows()
    views = contents.finished_views()
    away = np.array([vertex in contents.removed(view) for view in views], np.bool_)
    missing = away if away.any() else None
    columns: dict[str, Any] = {"view": pa.array([contents.steps.names[view] for view in views])}
    for field in contents.fields:
        values = _vertex_values(contents, field, vertex)
        name, values = column_name(contents, field), values[contents.step_of[views]]
        columns |= result_columns(name, values, contents.named_by(field), missing)
    return pa.table(columns)


def _vertex_values(contents: RunContents, field: str, vertex: int) -> NDArray[Any]:
    """A result of one vertex at every finished step. O(steps and all differences)."""
    if contents.facts.on_shards:
        parts = range(contents.differences.finished)
        each = [values_at(contents, part, field, np.array([vertex])) for part in parts]
        return np.concatenate([contents.empty(field), *each])
    differences, parent = contents.differences, contents.steps.parent
    base = contents.base[field]
    values = np.empty((differences.finished, *base.shape[1:]), base.dtype)
    changed = dict(differences.of_vertex(field, vertex))
    for step in range(differences.finished):
        before = int(parent[step])
        inherited = base[vertex] if before < 0 else values[before]
        values[step] = changed.get(step, inherited)
    return values


def difference_table(contents: RunContents, field: str) -> pa.Table:
    """Every difference as it is kept: the step, its parent, the vertex, both values."""
    labels = [contents.steps.label(step) for step in range(len(contents.steps))]
    names = pa.array([*labels, "(empty)"])
    parts = []
    for part in range(len(contents.differences.parts)):
        table = contents.differences.parts.differences(part, field)
        steps = table.column("step").to_numpy()
        columns = {"view": names.take(table.column("step").combine_chunks())}
        parents = contents.steps.parent[steps]
        columns["parent"] = names.take(pa.array(np.where(parents < 0, len(labels), parents)))
        parts.append(pa.table(columns | _told_differences(contents, field, table)))
    return pa.concat_tables(parts)


def _told_differences(contents: RunContents, field: str, table: pa.Table) -> dict[str, Any]:
    """The vertices that changed with both values, or rows with how often they came or left."""
    if field in contents.facts.results[len(contents.fields) + len(contents.globals) :]:
        rows = zip(*(table.column(at).to_pylist() for at in table.column_names[2:]), strict=True)
        matches = match_table(contents.match_plan(field), rows, contents.rows)
        columns = {name: matches.column(name).combine_chunks() for name in matches.column_names}
        return columns | {"count": table.column("count").combine_chunks()}
    columns = {}
    if field in contents.fields:
        columns |= contents.rows.columns(table.column("vertex").to_numpy())
    vertices = contents.named_by(field)
    if vertices is None:
        return columns | {name: table.column(name).combine_chunks() for name in ("old", "new")}
    for name in ("old", "new"):
        columns |= result_columns(name, numpy_column(table.column(name)), vertices)
    return columns


def matches_table(contents: RunContents, view: int, name: str | None) -> pa.Table:
    """The rows that walks report in a view, in the order of their columns."""
    plan = contents.match_plan(name)
    there: Any = contents.values(view)[plan.name]
    return match_table(plan, sorted(there.elements()), contents.rows)


def match_counts(contents: RunContents, name: str) -> pa.Array:
    """How many rows each finished view has, asked for in the order of the plan."""
    views = contents.finished_views()
    counts = dict.fromkeys(views, 0)
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        there: Any = contents.values(view)[name]
        counts[view] = there.total()
    return pa.array([counts[view] for view in views], pa.int64())


def global_name(name: str) -> str:
    """The column of a result of the whole graph; `global_view` where a table has a `view`."""
    return f"global_{name}" if name in _VIEW_COLUMNS else name


def globals_table(contents: RunContents) -> pa.Table:
    """One row per finished view, in the order of the views: results of the whole graph."""
    views = contents.finished_views()
    columns: dict[str, Any] = {
        "view": pa.array([contents.steps.names[view] for view in views], pa.string())
    }
    for name in contents.globals:
        values = _vertex_values(contents, name, 0)
        values = values[contents.step_of[views]]
        columns |= result_columns(global_name(name), values, contents.named_by(name))
    return pa.table(columns)


def tidy_schema(contents: RunContents) -> pa.Schema:
    """The columns of the tidy table; of the table of globals, where there is nothing else."""
    if not contents.fields:
        return globals_table(contents).schema
    ids = contents.rows.columns()
    columns = [("view", pa.string()), *((name, column.type) for name, column in ids.items())]
    for field in contents.fields:
        name, empty = column_name(contents, field), contents.empty(field)
        made = result_columns(name, empty, contents.named_by(field))
        columns += [(name, column.type) for name, column in made.items()]
    return pa.schema(columns)


def tidy_batches(contents: RunContents) -> Iterator[pa.RecordBatch]:
    """A batch for each view, in their order: view, id and results, of vertices that are there."""
    if not contents.fields:
        yield from globals_table(contents).to_batches()
        return
    schema, ids = tidy_schema(contents), contents.rows.columns()
    rows = contents.count(contents.fields[0])
    for view in contents.finished_views():
        results, mask = contents.values(view), THERE.mask(contents, view)
        columns = [pa.repeat(contents.steps.names[view], rows), *ids.values()]
        for name in contents.fields:
            values = results[name].copy()
            columns += result_columns(name, values, contents.named_by(name)).values()
        batch = pa.record_batch(columns, schema=schema)
        yield batch if mask is None else batch.filter(pa.array(mask))


def tidy_reader(contents: RunContents) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(tidy_schema(contents), tidy_batches(contents))


def write_tidy_csv(contents: RunContents, target: Path | pa.NativeFile) -> None:
    """Write the tidy table to a file or a stream, one view at a time."""
    with tidy_reader(contents) as reader:
        first = flat_table(reader.schema.empty_table())
        with pa_csv.CSVWriter(target, first.schema) as writer:
            for batch in reader:
                writer.write_table(flat_table(pa.Table.from_batches([batch])))


def column_name(contents: RunContents, field: str) -> str:
    """The column of a result, the same in every table of the run: the result's own name.

    It is `result_view` where some table of the run has a `view` besides.
    """
    taken = (*_RANKED, *contents.rows.columns(_NO_ROWS))
    return f"result_{field}" if field in taken else field


def record_table(contents: RunContents) -> pa.Table:
    """One row per finished step: sizes, predictions, strategy, time, work."""
    record, steps = contents.differences.record, contents.steps
    finished = contents.differences.finished
    labels = [steps.label(step) for step in range(len(steps))]
    parents = [None if parent < 0 else labels[parent] for parent in steps.parent[:finished]]
    columns: dict[str, Any] = {
        "view": pa.array(labels[:finished], pa.string()),
        "stone": steps.view[:finished] < 0,
        "parent": pa.array(parents, pa.string()),
        "edges": steps.edges[:finished],
        "inserted": steps.inserted[:finished],
        "deleted": steps.deleted[:finished],
    }
    if record is None:
        return pa.table(columns)
    moves = [Move(code) for code in record.column("move").to_pylist()]
    columns["strategy"] = pa.array([move.strategy for move in moves])
    columns["state"] = pa.array([move.state for move in moves])
    rest = ("seconds", "predicted_differential", "predicted_scratch", "touched", "changed")
    return pa.table(columns | {name: record.column(name) for name in rest})


_SCHEMA = pa.schema(
    [
        ("worker", pa.string()),
        ("sub_plan", pa.int64()),
        ("view", pa.string()),
        ("steps", pa.int64()),
        ("began", pa.float64()),
        ("ended", pa.float64()),
        ("processor", pa.float64()),
        ("sent", pa.int64()),
    ]
)
_SUPERSTEPS = pa.schema(
    [
        ("worker", pa.string()),
        ("view", pa.string()),
        ("superstep", pa.int64()),
        ("supersteps", pa.int64()),
        ("began", pa.float64()),
        ("computed", pa.float64()),
        ("waited", pa.float64()),
        ("transferred", pa.float64()),
    ]
)
_LISTED = 8


def workers_table(contents: RunContents) -> pa.Table:
    """One row per part: who made it, from which view on, when, in how much processor time.

    Of a run on shards one row per task and view, with the bytes of states that it sent to others.
    """
    differences, steps = contents.differences, contents.steps
    parts, firsts = differences.parts, differences.first_steps.tolist()
    rows = []
    for part, (first, behind) in enumerate(pairwise([*firsts, differences.finished])):
        for made in parts.made(part):
            facts = made.worker, made.sub_plan, steps.label(first), behind - first
            rows.append((*facts, made.began, made.ended, made.processor, made.sent))
    return _table_of_rows(rows, _SCHEMA)


def _table_of_rows(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, item.type) for column, item in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def supersteps_table(contents: RunContents) -> pa.Table:
    """A row for some supersteps in a row of one task: of a run on shards, nothing of others."""
    differences, steps = contents.differences, contents.steps
    firsts, rows = differences.first_steps.tolist(), []
    for part, first in enumerate(firsts):
        for made in differences.parts.made(part):
            for span in made.spans:
                began, *took = (item / 1e6 for item in span[2:])
                facts = made.worker, steps.label(first), span.superstep, span.supersteps
                rows.append((*facts, made.began + began, *took))
    return _table_of_rows(rows, _SUPERSTEPS)


def explained_workers(contents: RunContents) -> Iterator[str]:
    """A line for each worker of a run that several made, those first that worked longest."""
    if not contents.facts.cuts:
        yield from _explained_tasks(contents)
        return
    rows = workers_table(contents).group_by("worker")
    table = rows.aggregate([("steps", "sum"), ("processor", "sum")])
    order = pc.sort_indices(table, sort_keys=[("processor_sum", "descending")])
    pieces = counted(len(contents.facts.cuts) + 1, "sub-plan")
    yield f"  {counted(table.num_rows, 'worker')} on {pieces}"
    for row in table.take(order).to_pylist()[:_LISTED]:
        steps, seconds = counted(row["steps_sum"], "step"), row["processor_sum"]
        yield f"    {row['worker']}: {steps}, {seconds:.3g} s of processor time"
    yield from _left_out(table)


def _explained_tasks(contents: RunContents) -> Iterator[str]:
    """A line for each task of a run on shards, those first that computed longest."""
    parts = "computed", "waited", "transferred"
    rows = supersteps_table(contents)
    if not rows.num_rows:
        return
    sums = [(name, "sum") for name in ("supersteps", *parts)]
    table = rows.group_by("worker").aggregate(sums)
    order = pc.sort_indices(table, sort_keys=[("computed_sum", "descending")])
    listed = table.take(order).to_pylist()
    most = max(row["supersteps_sum"] for row in listed)
    bytes_of = workers_table(contents).group_by("worker").aggregate([("sent", "sum")])
    sent = dict(zip(*(column.to_pylist() for column in bytes_of.columns), strict=True))
    yield f"  {counted(len(listed), 'task')}, {counted(most, 'superstep')}"
    for row in listed[:_LISTED]:
        computed, waited, moved = (f"{row[f'{name}_sum']:.3g} s" for name in parts)
        moved += f" of {sent[row['worker']] / 1e6:.3g} MB"
        yield f"    {row['worker']}: computed {computed}, waited {waited}, transfer {moved}"
    yield from _left_out(table)


def _left_out(table: pa.Table) -> Iterator[str]:
    if table.num_rows > _LISTED:
        yield f"    ... and {table.num_rows - _LISTED:,} more"
