"""Streams of Spark: a query that hands over its batches, or writes them to its file sink.

A session of this process calls a function with every batch (`foreachBatch`). Over Spark Connect
that function would run on the server, far from the memory of the caller: there a query writes
files, and commits them batch by batch.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from graphtide.model.errors import GraphtideError, InputError
from graphtide.spark import AVAILABLE_NOW
from graphtide.spark.failures import FOREIGN, translate, translated
from graphtide.spark.files import writing_path
from graphtide.spark.session import is_connect

_STREAM_LOGGER = "org.apache.spark.sql.execution.streaming"
_UNLOGGED_SECONDS = 2.0

Take = Callable[[int, Callable[[], pa.Table]], None]
"""Is called with the number of a batch, and with what gets its rows."""


class StreamQuery:
    """A query that runs until it is stopped, has failed, or has read all that there was."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self.id = str(query.id)
        """The same for as long as its checkpoint is."""

    @property
    def is_active(self) -> bool:
        """Whether it still runs: not where Spark has ended."""
        try:
            return bool(self._query.isActive)
        except FOREIGN:
            return False

    def ends_within(self, seconds: float) -> bool:
        """Wait; whether it has ended, in whatever way."""
        try:
            # Spark takes fractions of a second, and says that it does not.
            return bool(self._query.awaitTermination(seconds))  # type: ignore[arg-type]
        except FOREIGN:
            return True

    def stop(self) -> None:
        """End it; what it was about to read is read the next time."""
        with translated("the stream"):
            if self.is_active:
                self._query.stop()

    @property
    def failure(self) -> GraphtideError | None:
        """Why it has ended, unless it was stopped or is done."""
        error: Exception | None
        try:
            error = self._query.exception()
        except FOREIGN as unanswered:
            error = unanswered
        return None if error is None else translate(error, "the stream has failed")


@translated("the stream")
def is_stream(given: object) -> bool:
    """Whether something is a streaming DataFrame, of a session of either kind."""
    return bool(getattr(given, "isStreaming", False)) and hasattr(given, "writeStream")


def is_remote(stream: DataFrame) -> bool:
    """Whether the session of a stream is in another process, over Spark Connect."""
    return is_connect(stream.sparkSession)


def start_batches(
    stream: DataFrame, take: Take, checkpoint: Path | str, trigger: str | None
) -> StreamQuery:
    """Call a function with each batch, on a thread of its own; an error of it ends the query."""

    def hand_over(batch: DataFrame, number: int) -> None:
        try:
            take(int(number), lambda: _rows(batch))
        except BaseException:
            _leave_unlogged(stream)
            raise

    with translated("the stream"):
        return StreamQuery(_writer(stream, checkpoint, trigger).foreachBatch(hand_over).start())


def _leave_unlogged(stream: DataFrame) -> None:
    """Keep Spark from writing the stack of an error of ours: the follower tells it in our words.

    Sessions of ours log nothing. In others the loggers of streams are silent until Spark has ended
    the query, which it does at once; then they log as before. Whatever does not answer is let be.
    """
    with contextlib.suppress(Exception):
        java: Any = getattr(stream.sparkSession, "_jvm", None)
        logging = java.org.apache.logging.log4j
        context = logging.LogManager.getContext(False)
        levels = logging.core.config.Configurator
        own = context.getConfiguration().getLoggers().containsKey(_STREAM_LOGGER)
        before = logging.LogManager.getLogger(_STREAM_LOGGER).getLevel()
        levels.setLevel(_STREAM_LOGGER, logging.Level.OFF)

        def restore() -> None:
            with contextlib.suppress(Exception):
                if own:
                    levels.setLevel(_STREAM_LOGGER, before)
                else:
                    context.getConfiguration().removeLogger(_STREAM_LOGGER)
                    context.updateLoggers()

        later = threading.Timer(_UNLOGGED_SECONDS, restore)
        later.daemon = True
        later.start()


def start_file_sink(
    stream: DataFrame, folder: Path, checkpoint: Path | str, trigger: str | None
) -> StreamQuery:
    """Write each batch to Parquet files in a folder, and commit them there."""
    with translated("the stream"):
        writer = _writer(stream, checkpoint, trigger).format("parquet").outputMode("append")
        return StreamQuery(writer.option("path", writing_path(folder)).start())


def _writer(stream: DataFrame, checkpoint: Path | str, trigger: str | None) -> DataStreamWriter:
    place = writing_path(checkpoint) if isinstance(checkpoint, Path) else checkpoint
    writer = stream.writeStream.option("checkpointLocation", place)
    if trigger == AVAILABLE_NOW:
        return writer.trigger(availableNow=True)
    if trigger is None:
        return writer
    try:
        return writer.trigger(processingTime=trigger)
    except PySparkException:
        raise InputError(
            f"trigger cannot be {trigger!r}",
            hint=f"give a period such as '10 seconds', or '{AVAILABLE_NOW}'",
        ) from None


def _rows(batch: DataFrame) -> pa.Table:
    with translated("a batch of the stream"):
        return batch.toArrow()
