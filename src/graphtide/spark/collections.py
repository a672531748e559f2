"""The two Spark jobs behind a collection: count the signatures, write the classes of edges.

Everything between them (which views a signature is in, the plan) happens on the driver, on the
distinct signatures alone. The second job runs beside the planning: it needs the classes only.

An edge's signature is one long column in most collections. Features of endpoints are computed
once a vertex and joined as one number; where the two sides ask the same of a vertex, Spark reuses
one broadcast for both joins.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import LimitError
from graphtide.plan.predicates import PropertyRef, properties_of
from graphtide.plan.signatures import VERTEX_NUMBER, Bucketing, Feature, Flag, SignatureLayout, Word
from graphtide.spark.columns import word_column
from graphtide.spark.failures import translated
from graphtide.spark.files import writing_path
from graphtide.spark.frames import (
    ENDPOINTS,
    Endpoint,
    GraphFrames,
    join_endpoint,
    joined_names,
    raw_column,
    table_names,
)
from graphtide.spark.ingest.parts import remove_marks


def signature_columns(layout: SignatureLayout) -> list[str]:
    """The names of the columns of a signature: at least one, even without atoms."""
    return [f"_signature_{number}" for number in range(max(len(layout.columns), 1))]


def edge_signatures(frames: GraphFrames, layout: SignatureLayout) -> DataFrame:
    """`_edge` and its signature for every edge of the graph."""
    joined = frames.edges
    asked = _vertex_words(frames, layout)
    for side in ENDPOINTS:
        joined = _join_endpoint(joined, frames, layout, (side, asked))
    edge_names = joined_names(frames.edges.columns)
    words = {
        word: F.col(_word_name(layout, word))
        if word.side in ENDPOINTS
        else word_column(word, edge_names)
        for word in layout.words
    }
    packed = [_pack([(word, words[word]) for word in column]) for column in layout.columns]
    names = signature_columns(layout)
    columns = packed or [F.lit(0).cast("long")]
    return joined.select(
        "_edge", *(column.alias(name) for name, column in zip(names, columns, strict=True))
    )


def signature_counts(signatures: DataFrame) -> DataFrame:
    """The distinct signatures, with the number of edges of each."""
    names = [name for name in signatures.columns if name != "_edge"]
    return signatures.groupBy(*names).agg(F.count("*").alias("_edges"))


def edge_classes(signatures: DataFrame, classes: DataFrame) -> DataFrame:
    """`_edge` and `_class` of every edge that is in a class; the rest are in no view."""
    names = [name for name in classes.columns if name != "_class"]
    return signatures.join(F.broadcast(classes), names).select("_edge", "_class")


def _vertex_words(frames: GraphFrames, layout: SignatureLayout) -> dict[Word, Column]:
    """The words over vertices; built once if both sides ask the same."""
    names = table_names(frames.vertices.columns)
    built: dict[tuple[object, ...], Column] = {}
    columns: dict[Word, Column] = {}
    for word in (word for word in layout.words if word.side in ENDPOINTS):
        question = tuple(_question(feature) for feature in word.features)
        if question not in built:
            built[question] = word_column(word, names)
        columns[word] = built[question]
    return columns


def _question(feature: Feature) -> object:
    """A feature without the side that it asks."""
    if isinstance(feature, Bucketing):
        return feature.item.name, feature.cuts
    return feature


def _join_endpoint(
    edges: DataFrame,
    frames: GraphFrames,
    layout: SignatureLayout,
    end: tuple[Endpoint, dict[Word, Column]],
) -> DataFrame:
    side, asked = end
    words = [word for word in layout.words if word.side == side]
    raw = _raw_properties(layout, side)
    if not words and not raw:
        return edges
    names = table_names(frames.vertices.columns)
    columns = [asked[word].alias(_word_name(layout, word)) for word in words]
    if len(words) == 1 and not raw:
        endpoint = frames.vertices.select(F.col("_vertex").alias(f"_{side}"), *columns)
        return _join_unusual(edges, endpoint, words[0], frames.broadcasts_vertices)
    return join_endpoint(edges, frames, side, [*columns, *(raw_column(i, names) for i in raw)])


def _join_unusual(edges: DataFrame, endpoint: DataFrame, word: Word, small: bool) -> DataFrame:
    """Join only the vertices whose word is not the plain one: present, and below every cut.

    Where vertices are marked by a few flags (members of communities, say) the join shrinks to
    those; where they are not, it is no larger than a join of all.
    """
    key, name = endpoint.columns
    plain = F.lit(_plain_word(word)).cast("long")
    unusual = endpoint.where(F.col(name) != plain)
    joined = edges.join(F.broadcast(unusual) if small else unusual, key, "left")
    return joined.withColumn(name, F.coalesce(F.col(name), plain))


def _plain_word(word: Word) -> int:
    number, radix = 0, 1
    for feature in word.features:
        number += radix
        radix *= feature.size
    return number


def _pack(parts: Sequence[tuple[Word, Column]]) -> Column:
    packed: Column | None = None
    for word, column in reversed(parts):
        packed = column if packed is None else packed * F.lit(word.radix) + column
    assert packed is not None
    return packed


def _raw_properties(layout: SignatureLayout, side: Endpoint) -> list[PropertyRef]:
    """The properties of an endpoint that features need beside something else."""
    properties = {
        item: None
        for word in layout.words
        if word.side == "mixed"
        for feature in word.features
        if isinstance(feature, Flag)
        for item in properties_of(feature.atom)
        if item.owner == side and item.name != VERTEX_NUMBER
    }
    return list(properties)


def _word_name(layout: SignatureLayout, word: Word) -> str:
    return f"_graphtide_word_{layout.words.index(word)}"


_MOST_SIGNATURES = 50_000_000


@dataclass(frozen=True)
class SignatureCounts:
    """The distinct signatures, one a row, and how many edges have each."""

    signatures: NDArray[np.int64]
    counts: NDArray[np.int64]


class CollectionJobs:
    """The jobs of one collection over one graph."""

    def __init__(self, spark: SparkSession, frames: GraphFrames, layout: SignatureLayout) -> None:
        self._spark = spark
        self._names = signature_columns(layout)
        self._signatures = edge_signatures(frames, layout)

    def count(self) -> SignatureCounts:
        """Run the first job: count the distinct signatures."""
        with translated("counting the signatures of the edges"):
            table = signature_counts(self._signatures).limit(_MOST_SIGNATURES).toArrow()
        if table.num_rows == _MOST_SIGNATURES:
            raise LimitError(
                f"the views tell more than {_MOST_SIGNATURES:,} kinds of edges apart",
                hint="use coarser windows, or fewer properties in one collection",
            )
        columns = [table.column(name).to_numpy() for name in self._names]
        return SignatureCounts(np.column_stack(columns), table.column("_edges").to_numpy())

    @contextmanager
    def writing(
        self, signatures: NDArray[np.int64], classes: NDArray[np.int32], path: Path
    ) -> Iterator[None]:
        """Run the second job beside the body of the `with`; wait for it at the end.

        If the body fails or is interrupted, so is the job.
        """
        tag = f"graphtide-{uuid.uuid4().hex}"
        with ThreadPoolExecutor(max_workers=1) as pool:
            job: Future[None] = pool.submit(self._write, tag, (signatures, classes), path)
            try:
                yield
                job.result()
            except BaseException:
                with suppress(Exception):  # Spark may be gone, which is then what is raised.
                    self._spark.interruptTag(tag)
                raise

    def explain(self) -> str:
        """Spark's plan of the signatures, as text."""
        return spark_plan(self._signatures)

    def _write(
        self, tag: str, mapping: tuple[NDArray[np.int64], NDArray[np.int32]], path: Path
    ) -> None:
        with translated("writing the edges of the collection"):
            self._spark.addTag(tag)
            try:
                frame = edge_classes(self._signatures, self._class_frame(*mapping))
                frame.write.mode("overwrite").parquet(writing_path(path))
                remove_marks(path)
            finally:
                self._spark.removeTag(tag)

    def _class_frame(self, signatures: NDArray[np.int64], classes: NDArray[np.int32]) -> DataFrame:
        """The class of every signature that has one. Spark Connect needs types for no rows."""
        used = classes >= 0
        if not used.any():
            types = [*(f"`{name}` bigint" for name in self._names), "`_class` int"]
            return self._spark.createDataFrame([], ", ".join(types))
        columns = {name: signatures[used, at] for at, name in enumerate(self._names)}
        return self._spark.createDataFrame(pa.table({**columns, "_class": classes[used]}))


@translated("planning with Spark")
def spark_plan(frame: DataFrame) -> str:
    """The physical plan as text, as `DataFrame.explain` prints it."""
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain(mode="formatted")
    return text.getvalue()
