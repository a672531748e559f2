"""The door to Spark: everything the layers above may ask of a stored graph.

A session is started on first use, so that whoever only reads stores never waits for a JVM. Jobs
run on a private session with our settings; frames handed to users belong to theirs.

Generators of views ask small questions: bounds, and which rows match. Each is one Spark job with
an answer that fits the driver. Times travel as integers, so that no session time zone has a say.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.delta import EdgeIds
from graphtide.model.disk import Checksums
from graphtide.model.errors import LimitError
from graphtide.model.progress import ProgressReport
from graphtide.model.schema import GraphSummary, PropertyType
from graphtide.plan.grouping import GroupPlan
from graphtide.plan.predicates import Predicate, PropertyRef, Value, atoms_of, properties_of
from graphtide.plan.signatures import SignatureLayout
from graphtide.spark.collections import CollectionJobs, spark_plan
from graphtide.spark.columns import predicate_column
from graphtide.spark.failures import translated
from graphtide.spark.files import checksums, reading_path, scratch_folder
from graphtide.spark.frames import (
    GraphFrames,
    GraphTables,
    ResultFiles,
    edges_frame,
    join_properties,
    joined_names,
    known_edges,
    matching_edges,
    matching_vertices,
    quoted,
    result_frame,
    vertices_frame,
)
from graphtide.spark.grouping import DST, ID, LABEL, SRC, grouped_edges, grouped_vertices
from graphtide.spark.ingest.job import write_graph
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.source import DerivedSource, GraphSource, TableSource
from graphtide.spark.session import private_session
from graphtide.spark.tasks import (
    Way,
    check_barrier,
    count_slots,
    run_tasks,
    run_together,
    shard_rows,
    write_rows,
)

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _chosen_values(
    frames: GraphFrames, item: PropertyRef, where: Predicate
) -> tuple[DataFrame, Callable[[Any], Value]]:
    """The values of a property over matching edges, and the conversion of an answer."""
    needed = dict.fromkeys(one for atom in atoms_of(where) for one in properties_of(atom))
    joined = join_properties(frames, [item, *(one for one in needed if one != item)])
    names = joined_names(frames.edges.columns)
    to_column, from_answer = _transport(item.type)
    value = to_column(names(item))
    chosen = joined.where(predicate_column(where, names) & value.isNotNull())
    return chosen.select(value.alias("value")), from_answer


def _rows(frame: DataFrame, key: str, limit: int, what: str) -> list[Any]:
    table = frame.limit(limit + 1).toArrow()
    if table.num_rows > limit:
        raise LimitError(
            f"more than {limit:,} {what} match, and each would make a view",
            hint="narrow the condition behind 'where'",
        )
    columns = [column.to_pylist() for column in table.sort_by(key).columns]
    return list(zip(*columns, strict=True))


def _transport(
    type_: PropertyType,
) -> tuple[Callable[[Column], Column], Callable[[Any], Value]]:
    """How a value leaves Spark, and how the answer is converted."""
    match type_:
        case PropertyType.TIMESTAMP:
            return F.unix_micros, lambda micros: _EPOCH + dt.timedelta(microseconds=micros)
        case PropertyType.FLOAT:
            return (lambda column: F.when(~F.isnan(column), column)), float
        case _:
            return (lambda column: column), lambda value: value


class ClassTables(Protocol):
    """What is needed of a stored collection to read its edges."""

    @property
    def has_wide_numbers(self) -> bool:
        """Whether a file of edges may have 64-bit numbers."""

    def edges_folder(self, checksums: Checksums) -> Path:
        """The checked folder of the edges with their classes."""


class SparkGateway:
    """One Spark, reached through the session that `connect` returns."""

    def __init__(self, connect: Callable[[], SparkSession]) -> None:
        self._connect = connect

    @cached_property
    def session(self) -> SparkSession:
        """The user's session, started on first use."""
        return self._connect()

    @cached_property
    def private(self) -> SparkSession:
        """Our own session on the same Spark."""
        return private_session(self.session)

    def _frames(self, stored: GraphTables) -> GraphFrames:
        return graph_frames(self.private, stored)

    def load(
        self, folder: Path, source: GraphSource, options: IngestOptions, progress: ProgressReport
    ) -> GraphSummary:
        """Write the tables of a graph into a folder that somebody else commits."""
        return write_graph(self.session, folder, source, options, progress)

    @contextmanager
    def read(
        self, parent: Path, table: TableSource, options: IngestOptions
    ) -> Iterator[tuple[Path, GraphSummary]]:
        """A table as that of a graph of its own, in a folder under `parent` that is there for the
        block: its rows read and checked as a load does it."""
        ends: dict[str, list[object]] = {"src": [], "dst": []}
        source = GraphSource(edges=_labelled(table))
        if table.kind == "vertices":
            source = GraphSource(edges=pa.table(ends), vertices=_labelled(table))
        with scratch_folder(parent, "reading") as folder:
            chosen = options.of_kind(table.kind)
            yield folder, write_graph(self.session, folder, source, chosen)

    @translated("grouping the graph")
    def group(
        self,
        folder: Path,
        stored: GraphTables,
        plan: GroupPlan,
        statement: str,
        progress: ProgressReport,
    ) -> GraphSummary:
        """Write the tables of a grouped graph into a folder that somebody else commits."""
        source, options = self._grouped(stored, plan, statement)
        return write_graph(self.session, folder, source, options, progress)

    @translated("planning with Spark")
    def explain_groups(self, stored: GraphTables, plan: GroupPlan) -> str:
        """Spark's plan for the edges of a grouped graph."""
        return spark_plan(grouped_edges(self._frames(stored), plan))

    def _grouped(
        self, stored: GraphTables, plan: GroupPlan, statement: str
    ) -> tuple[GraphSource, IngestOptions]:
        frames = self._frames(stored)
        source = DerivedSource(
            edges=grouped_edges(frames, plan),
            vertices=grouped_vertices(frames, plan),
            statement=statement,
        )
        options = IngestOptions(
            id=ID,
            src=SRC,
            dst=DST,
            label=LABEL if plan.vertices.is_labelled else None,
            edge_label=LABEL if plan.edges.is_labelled else None,
            timezone=stored.timezone,
            directed=stored.schema.directed,
        )
        return source, options

    @translated("asking Spark")
    def set_parallelism(self, parts: int) -> None:
        """Set into how many parts our jobs shuffle."""
        self.private.conf.set("spark.sql.shuffle.partitions", str(parts))

    @translated("planning with Spark")
    def collection_jobs(self, stored: GraphTables, layout: SignatureLayout) -> CollectionJobs:
        """The jobs that make a collection of the graph."""
        return CollectionJobs(self.private, self._frames(stored), layout)

    @translated("finding the bounds of a property")
    def bounds(
        self, stored: GraphTables, item: PropertyRef, where: Predicate
    ) -> tuple[Value, Value] | None:
        """Smallest and largest value over matching edges, without NaN; None if there are none.

        No window can end behind NaN.
        """
        chosen, from_answer = _chosen_values(self._frames(stored), item, where)
        ends = F.min("value").alias("low"), F.max("value").alias("high")
        bounds = chosen.agg(*ends).collect()[0]
        if bounds["low"] is None:
            return None
        return from_answer(bounds["low"]), from_answer(bounds["high"])

    @translated("finding the edges that match")
    def edge_names(
        self, stored: GraphTables, where: Predicate, limit: int
    ) -> list[tuple[int, str, str]]:
        """Number, src and dst (as text) of matching edges, by number."""
        frames = self._frames(stored)
        matching = known_edges(matching_edges(frames, where), frames)
        ends = (F.col(quoted(name)).cast("string") for name in frames.ends)
        return _rows(matching.select("_edge", *ends), "_edge", limit, "edges")

    @translated("finding the vertices that match")
    def vertex_names(
        self, stored: GraphTables, where: Predicate, limit: int
    ) -> list[tuple[int, str]]:
        """Number and id (as text) of matching vertices, by number."""
        matching = matching_vertices(self._frames(stored), where)
        names = matching.select("_vertex", F.col("_id").cast("string"))
        return _rows(names, "_vertex", limit, "vertices")

    @translated("finding vertices by their ids")
    def vertices_with_ids(self, stored: GraphTables, ids: Sequence[int | str]) -> pa.Table:
        """Number, id and label (if there are labels) of the vertices with these ids."""
        vertices = self._frames(stored).vertices.where(F.col("_id").isin(list(ids)))
        labels = ["_label"] if "_label" in vertices.columns else []
        return vertices.select("_vertex", "_id", *labels).toArrow()

    @translated("finding the values of a property")
    def values(
        self, stored: GraphTables, item: PropertyRef, where: Predicate, limit: int
    ) -> list[Value]:
        """The distinct values over matching edges, ascending, without NaN."""
        chosen, from_answer = _chosen_values(self._frames(stored), item, where)
        rows = _rows(chosen.distinct(), "value", limit, f"values of {item}")
        return [from_answer(value) for (value,) in rows]

    @translated("making a DataFrame")
    def vertex_frame(self, stored: GraphTables) -> DataFrame:
        """All vertices as users know them, in the user's session."""
        frame = graph_frames(self.session, stored).vertices.drop("_vertex")
        return frame.withColumnsRenamed({"_id": "id", "_label": "label"})

    @translated("making a DataFrame")
    def edge_frame(self, stored: GraphTables, where: Predicate) -> DataFrame:
        """The edges that match as users know them, in the user's session."""
        frames = graph_frames(self.session, stored)
        return known_edges(matching_edges(frames, where), frames).drop("_edge")

    @translated("finding the ends of edges")
    def edge_ends(self, stored: GraphTables, edges: EdgeIds) -> pa.Table:
        """`_src` and `_dst` of edges by number, unordered."""
        numbers = self.private.createDataFrame(pa.table({"_edge": edges}))
        ends = self._frames(stored).edges.join(F.broadcast(numbers), "_edge")
        return ends.select("_src", "_dst").toArrow()

    @translated("making a DataFrame")
    def result_frame(
        self,
        stored: GraphTables,
        views: Mapping[int, str],
        files: Sequence[tuple[Sequence[Path], Sequence[Path], str, bool]],
        removed: Mapping[int, Sequence[int]],
    ) -> DataFrame:
        """Results that tasks have written as users know them, in the user's session.

        `views` are the names of views by their steps; `files` those of the empty version and of all
        steps, a name, and whether it names vertices, for each result; `removed` vertices by steps.
        """
        results, frames = [ResultFiles(*item) for item in files], graph_frames(self.session, stored)
        return result_frame(self.session, frames, views, results, removed)

    @translated("making a DataFrame")
    def class_frame(
        self, stored: GraphTables, collection: ClassTables, classes: NDArray[np.int64]
    ) -> DataFrame:
        """The edges of some classes of a collection as users know them, in the user's session."""
        frames = graph_frames(self.session, stored)
        chosen = self.session.createDataFrame(pa.table({"_class": classes.astype(np.int32)}))
        numbers = self._class_edges(collection).join(F.broadcast(chosen), "_class").select("_edge")
        return known_edges(frames.edges.join(numbers, "_edge"), frames).drop("_edge")

    @translated("making a DataFrame")
    def table_frame(self, table: pa.Table) -> DataFrame:
        """A table of this process, in the user's session."""
        return self.session.createDataFrame(table)

    @translated("making a DataFrame")
    def delta_frame(self, collection: ClassTables, flips: pa.Table) -> DataFrame:
        """Every difference of a collection: `step`, `_edge` and `sign`, in the user's session.

        `flips` lists the classes (`_class`) that enter or leave (`sign`) at each `step`.
        """
        signed = self.session.createDataFrame(flips)
        return (
            self._class_edges(collection)
            .join(F.broadcast(signed), "_class")
            .select("step", "_edge", "sign")
        )

    @translated("taking the checksums of the files")
    def checksums(self, paths: Sequence[Path]) -> list[str]:
        """The checksums of files, read where tasks run if that is quicker."""
        return checksums(self.private, paths)

    def slots(self) -> int:
        """How many tasks run at once."""
        return count_slots(self.private)

    def run_tasks(
        self, entry: str, order: bytes, numbers: Sequence[int], cache: str
    ) -> list[bytes]:
        """Call a function, MODULE:NAME, with the order and each number, a task each."""
        return run_tasks(self.private, entry, order, numbers, cache)

    @translated("writing shards")
    def write_shards(
        self,
        stored: GraphTables,
        collection: ClassTables,
        way: Way,
        sizes: tuple[int, int],
        entry: str,
        order: bytes,
        cache: str,
    ) -> list[bytes]:
        """Have tasks write the edges of a collection, in so many shards and parts."""
        frames = self._frames(stored)
        classes = self._class_edges(collection, self.private)
        rows = shard_rows(frames, classes, way, *sizes)
        return write_rows(rows, entry, order, cache)

    @translated("asking Spark for its cores")
    def slots_together(self) -> int:
        """How many tasks run at the same time; SetupError where Spark would not let them."""
        check_barrier(self.private)
        return self.slots()

    def run_together(self, entry: str, order: bytes, count: int, cache: str) -> list[bytes]:
        """Call a function, MODULE:NAME, in so many tasks that run at the same time."""
        return run_together(self.private, entry, order, count, cache)

    def _class_edges(
        self, collection: ClassTables, session: SparkSession | None = None
    ) -> DataFrame:
        path = reading_path(collection.edges_folder(self.checksums))
        reader = (session or self.session).read
        number = "bigint" if collection.has_wide_numbers else "int"
        return reader.schema(f"_edge {number}, _class int").parquet(path)


def _labelled(table: TableSource) -> object:
    """A table under its label and those of its ends, as a source has it."""
    if table.src_space is not None:
        return {(table.src_space, table.label, table.dst_space): table.data}
    return table.data if table.label is None else {table.label: table.data}


def graph_frames(session: SparkSession, stored: GraphTables) -> GraphFrames:
    """The tables of a stored graph; label columns only where there are labels."""
    vertices, edges = vertices_frame(session, stored), edges_frame(session, stored)
    return GraphFrames(
        vertices=vertices if stored.schema.vertex_labels else vertices.drop("_label"),
        edges=edges if stored.schema.edge_labels else edges.drop("_label"),
        vertex_count=stored.vertices,
        several_labels=len(stored.schema.vertex_labels) > 1,
        ends=stored.schema.ends,
        directed=stored.schema.directed,
    )
