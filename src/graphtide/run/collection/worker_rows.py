"""Who made which steps of a run, and when: its parts as rows, and workers in a line each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.wording import counted
from graphtide.run.collection.contents import RunContents

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
    """A row a part: who made it, from which view on, when, in how much processor time.

    Of a run on shards a row a task and view, with the bytes of states that it sent to others.
    """
    differences, steps = contents.differences, contents.steps
    parts, firsts = differences.parts, differences.first_steps.tolist()
    rows = []
    for part, (first, behind) in enumerate(pairwise([*firsts, differences.finished])):
        for made in parts.made(part):
            facts = made.worker, made.sub_plan, steps.label(first), behind - first
            rows.append((*facts, made.began, made.ended, made.processor, made.sent))
    return _table(rows, _SCHEMA)


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
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
    return _table(rows, _SUPERSTEPS)


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
