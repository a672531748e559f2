"""Foreign exceptions into ours, at the one place where Spark is asked to do something.

A user never sees a Java stack: he sees what was being done, the first line of the cause, and
what to do where that is known.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import (  # type: ignore[import-untyped]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
)
from pyspark.errors import AnalysisException, PySparkException

from graphtide.model.disk import is_full, reason_of, tells_of_full_disk
from graphtide.model.errors import (
    FullDiskError,
    GraphtideError,
    InputError,
    LimitError,
    SetupError,
    StoreError,
)

OUR_LIMIT = "graphtide-limit: "
"""What our own expressions begin with that end a job because a number is too large."""

FOREIGN = PySparkException, Py4JError, ConnectionError
"""What a call of Spark raises."""

_ROOM = "make room (Spark also writes to the folder for temporary files) and try again"
_IN_A_WORKER = "An exception was thrown from the Python worker"
_ABORTED = "Job aborted due to stage failure: "
_CLASS = re.compile(r"^(?:[\w.$]+(?:Exception|Error): )+")
_PACKAGE = re.compile(r"^(?:\w+\.)+(?=\w+(?:: |$))")
_OUT_OF_MEMORY = re.compile(r"^\w*MemoryError\b")
_READ_FILE = re.compile(r"FAILED_READ_FILE.* while reading file (.+?)\.(?: |$)", re.MULTILINE)
_FEWER = (
    "or run fewer tasks at the same time (workers=, fewer cores for each executor); "
    "a run goes on with resume=True"
)


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Let errors of Spark, Arrow and the disk leave the block as errors of ours.

    Also goes before a function, as a decorator, where the whole of it is such a block.
    """
    try:
        yield
    except (*FOREIGN, pa.ArrowException) as error:
        raise translate(error, what) from None
    except OSError as error:
        raise _disk_error(error, what) from None


def translate(error: Exception, what: str) -> GraphtideError:
    """The error of ours for a foreign one."""
    if has_ended(error):
        return SetupError(
            f"{what}: the Java process of Spark has ended",
            hint="start Python anew to get another one; what was committed is there. If the system "
            "was short of memory, give Java less of it (memory='2g')",
        )
    text = str(error)
    cause = first_cause(text)
    if "OutOfMemoryError" in text or "GC overhead" in text:
        return SetupError(
            f"{what}: Spark ran out of memory",
            hint="give it more (memory='4g'), or fewer cores (master='local[1]')",
        )
    if OUR_LIMIT in text:
        limit = text.split(OUR_LIMIT, 1)[1].splitlines()[0]
        return LimitError(limit.split(" SQLSTATE")[0].rstrip(), hint="average it, or leave it out")
    setup = _setup_error(text, what) or _lost_process(text, cause, what)
    if setup is not None:
        return setup
    full = tells_of_full_disk(text)
    if full is not None:
        return FullDiskError(f"{what}: {full}", hint=_ROOM)
    if isinstance(error, pa.ArrowException | AnalysisException) or "FAILED_READ_FILE" in text:
        hint = "check the files and the types of their columns"
        if "(NANOS" in text:
            hint = (
                "Spark reads no times in nanoseconds: write them as microseconds, "
                "frame.to_parquet(path, coerce_timestamps='us', allow_truncated_timestamps=True)"
            )
        return InputError(f"{what}: {cause}", where=_file_read(text), hint=hint)
    if "CANNOT_MERGE_" in text:
        hint = (
            "the files have a column in several types, as pandas writes whole numbers with gaps: "
            "write it in one type, frame.astype({COLUMN: 'Int64'}), or append the files one by one"
        )
        return InputError(f"{what}: {cause}", hint=hint)
    return StoreError(f"{what}: {cause}", hint="open the session with quiet=False to see more")


def has_ended(error: Exception) -> bool:
    """True if an error says that nobody answers where Java was.

    Py4J has an answer without words for a connection that broke.
    """
    if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
        return isinstance(error, Py4JNetworkError) or "Trace:" not in str(error)
    return isinstance(error, ConnectionError)


def _lost_process(text: str, cause: str, what: str) -> SetupError | None:
    """The error for a process that is gone or out of memory; None for other messages."""
    if _OUT_OF_MEMORY.match(cause):
        return SetupError(
            f"{what}: a Python worker of Spark ran out of memory ({cause})",
            hint=f"give it more, {_FEWER}",
        )
    if "Python worker exited unexpectedly" in text:
        return SetupError(
            f"{what}: a Python worker of Spark died",
            hint="the system may have ended it for want of memory: give executors more of it "
            f"(spark.executor.memoryOverhead), {_FEWER}",
        )
    if "ExecutorLostFailure" in text or "Could not recover from a failed barrier" in text:
        return SetupError(
            f"{what}: executors of Spark were lost",
            hint="their logs say why; if for want of memory, give them more of it "
            f"(spark.executor.memory), {_FEWER}",
        )
    if "stopped SparkContext" in text or "SparkContext was shut down" in text:
        return SetupError(
            f"{what}: this Spark has been stopped", hint="open a session on another one"
        )
    return None


def _setup_error(text: str, what: str) -> SetupError | None:
    """The error for something missing where tasks run; None for other messages."""
    if "No module named 'graphtide" in text:
        return SetupError(
            f"{what}: Graphtide is not installed in the Python that executors run",
            hint="install it there, or send an environment along: PYSPARK_PYTHON, spark.archives",
        )
    if "SPARK-24942" in text or "dynamic resource allocation" in text:
        return SetupError(
            f"{what}: tasks that run at the same time do not go with dynamic allocation",
            hint="set spark.dynamicAllocation.enabled=false",
        )
    if "SPARK-24819" in text or "more slots than the total" in text:
        return SetupError(
            f"{what}: there are fewer slots than tasks that must run at the same time",
            hint="give fewer workers, or Spark more executors",
        )
    return None


def first_cause(text: str) -> str:
    """The line of a Spark message that says what happened, without packages and Java classes."""
    if _IN_A_WORKER in text and (raised := _python_cause(text)):
        return _PACKAGE.sub("", raised)[:500]
    lines = text.splitlines() or [""]
    causes = [line.removeprefix("Caused by:") for line in lines if line.startswith("Caused by:")]
    causes = causes or [line.removeprefix(": ") for line in lines if line.startswith(": ")]
    line = _CLASS.sub("", (causes or lines)[-1 if causes else 0].strip())
    return line.removeprefix(_ABORTED)[:500]


def _python_cause(text: str) -> str:
    """The line behind the first Python traceback, which says what was raised."""
    stack = text.partition("Traceback (most recent call last):")[2]
    raised = (line for line in stack.splitlines() if line and not line[0].isspace())
    return next(raised, "")


def _file_read(text: str) -> str | None:
    """The file that could not be read, if the message names it; links are followed."""
    named = _READ_FILE.search(text)
    if named is None:
        return None
    path = unquote(re.sub("^file:/+", "/", named[1]))
    return os.path.realpath(path) if os.path.islink(path) else path


def _disk_error(error: OSError, what: str) -> GraphtideError:
    if is_full(error):
        return FullDiskError(f"{what}: {reason_of(error)}", where=error.filename, hint=_ROOM)
    return StoreError(f"{what}: {reason_of(error)}", where=error.filename)
