"""The results of a run as a frame of Spark: read by its tasks where tasks have written them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.collection.tables import column_name, tidy_reader
from graphtide.store.parts_on_disk import PartsOnDisk
from graphtide.store.task_parts import paths

if TYPE_CHECKING:
    from graphtide.spark.gateway import SparkGateway
    from graphtide.spark.types import DataFrame


def results_to_spark(contents: RunContents, gateway: SparkGateway) -> DataFrame:
    """The tidy table; of a run on shards in any order, and nothing of it comes to this process."""
    parts, rows = contents.differences.parts, contents.rows
    of_tasks = contents.facts.on_shards and bool(contents.finished_views())
    of_tasks &= not any(
        contents.named_by(field) is not None and contents.empty(field).ndim > 1
        for field in contents.fields
    )
    if not of_tasks or not isinstance(parts, PartsOnDisk) or not isinstance(rows, StoredVertices):
        return gateway.table_frame(tidy_reader(contents).read_all())
    views = contents.finished_views()
    names = {int(contents.step_of[view]): contents.steps.names[view] for view in views}
    files = []
    for field in contents.fields:
        base = paths(parts, 0, f"{field}.base", gateway.checksums)
        each = [paths(parts, at, f"{field}.field", gateway.checksums) for at in range(len(parts))]
        steps = [path for some in each for path in some]
        names_vertices = contents.named_by(field) is not None
        files.append((base, steps, column_name(contents, field), names_vertices))
    removed = {int(contents.step_of[view]): contents.removed(view) for view in views}
    return gateway.result_frame(rows.stored, names, files, removed)
