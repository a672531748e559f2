"""Who made which steps of a run, and when: its parts as rows, and workers in a line each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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
    ]
)
_LISTED = 8


def workers_table(contents: RunContents) -> pa.Table:
    """A row a part: who made it, from which view on, when, in how much processor time."""
    differences, steps = contents.differences, contents.steps
    parts, firsts = differences.parts, differences.first_steps.tolist()
    rows = []
    for part, (first, behind) in enumerate(pairwise([*firsts, differences.finished])):
        for made in parts.made(part):
            told = made.worker, made.sub_plan, steps.label(first), behind - first
            rows.append((*told, *made[2:]))
    columns = zip(*rows, strict=True) if rows else [()] * len(_SCHEMA)
    arrays = [pa.array(column, item.type) for column, item in zip(columns, _SCHEMA, strict=True)]
    return pa.table(arrays, schema=_SCHEMA)


def explained_workers(contents: RunContents) -> Iterator[str]:
    """A line for each worker of a run whose plan was cut, those first that worked longest."""
    if not contents.facts.cuts:
        return
    rows = workers_table(contents).group_by("worker")
    table = rows.aggregate([("steps", "sum"), ("processor", "sum")])
    order = pc.sort_indices(table, sort_keys=[("processor_sum", "descending")])
    pieces = counted(len(contents.facts.cuts) + 1, "sub-plan")
    yield f"  {counted(table.num_rows, 'worker')} on {pieces}"
    for row in table.take(order).to_pylist()[:_LISTED]:
        steps, seconds = counted(row["steps_sum"], "step"), row["processor_sum"]
        yield f"    {row['worker']}: {steps}, {seconds:.3g} s of processor time"
    if table.num_rows > _LISTED:
        yield f"    ... and {table.num_rows - _LISTED:,} more"
