"""The two Spark jobs behind a collection: count the signatures, write the classes of edges.

Everything between them (which views a signature is in, the plan) happens on the driver, on the
distinct signatures alone. The second job runs beside the planning: it needs the classes only.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from graphtide.model.errors import LimitError
from graphtide.plan.signatures import SignatureLayout
from graphtide.spark.addresses import writing_path
from graphtide.spark.failures import translated
from graphtide.spark.ingest.parts import remove_marks
from graphtide.spark.selection import GraphFrames
from graphtide.spark.signatures import (
    edge_classes,
    edge_signatures,
    signature_columns,
    signature_counts,
)

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
        """Run the first job: signatures, grouped and counted."""
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
        """The class of every signature that has one. Spark Connect wants types for no rows."""
        used = classes >= 0
        if not used.any():
            types = [*(f"`{name}` bigint" for name in self._names), "`_class` int"]
            return self._spark.createDataFrame([], ", ".join(types))
        columns = {name: signatures[used, at] for at, name in enumerate(self._names)}
        return self._spark.createDataFrame(pa.table({**columns, "_class": classes[used]}))


@translated("planning with Spark")
def spark_plan(frame: DataFrame) -> str:
    """The physical plan that Spark would run, as `DataFrame.explain` prints it."""
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain(mode="formatted")
    return text.getvalue()
