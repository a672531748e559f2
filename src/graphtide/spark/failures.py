"""Foreign exceptions into ours, at the one place where Spark is asked to do something.

A user never sees a Java stack: he sees what was being done, the first line of the cause, and
what to do where that is known.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
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

_ROOM = "make room (Spark also writes to the folder for temporary files) and try again"
_IN_A_WORKER = "An exception was thrown from the Python worker"
_CLASS = re.compile(r"^(?:[\w.$]+(?:Exception|Error): )+")


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Let errors of Spark, Arrow and the disk leave the block as errors of ours."""
    try:
        yield
    except (PySparkException, Py4JError, pa.ArrowException) as error:
        raise translate(error, what) from None
    except OSError as error:
        raise _disk_error(error, what) from None


def translate(error: Exception, what: str) -> GraphtideError:
    """The error of ours that a foreign one amounts to."""
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
    setup = _setup_error(text, what)
    if setup is not None:
        return setup
    full = tells_of_full_disk(text)
    if full is not None:
        return FullDiskError(f"{what}: {full}", hint=_ROOM)
    if isinstance(error, pa.ArrowException | AnalysisException) or "FAILED_READ_FILE" in text:
        return InputError(f"{what}: {cause}", hint="check the files and the types of their columns")
    return StoreError(f"{what}: {cause}", hint="open the session with quiet=False to see more")


def _setup_error(text: str, what: str) -> SetupError | None:
    """What is missing where tasks run, if that is what a message is about."""
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
    """The line of a Spark message that says what happened, without class names."""
    causes = [line for line in text.splitlines() if line.startswith("Caused by:")]
    line = causes[-1].removeprefix("Caused by:") if causes else (text.splitlines() or [""])[0]
    if line.startswith(_IN_A_WORKER):
        line = _python_cause(text) or line
    return _CLASS.sub("", line.strip())[:500]


def _python_cause(text: str) -> str:
    """The line behind the first stack of Python, which says what was raised."""
    stack = text.partition("Traceback (most recent call last):")[2]
    raised = (line for line in stack.splitlines() if line and not line[0].isspace())
    return next(raised, "")


def _disk_error(error: OSError, what: str) -> GraphtideError:
    if is_full(error):
        return FullDiskError(f"{what}: {reason_of(error)}", where=error.filename, hint=_ROOM)
    return StoreError(f"{what}: {reason_of(error)}", where=error.filename)
