"""What has happened to a task, a worker or Java is told, not that something has."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import (  # type: ignore[import-untyped]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
)
from pyspark.errors import PythonException

from graphtide.model.errors import GraphtideError, InputError, SetupError, StoreError
from graphtide.spark.failures import translate

RAISED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "tasks.py", line 57, in task
    for report in work(order, batches):
                  ^^^^^^^^^^^^^^^^^^^^
  File "pyarrow/error.pxi", line 92, in pyarrow.lib.check_status
pyarrow.lib.ArrowInvalid: Integer value 9007199254740993 not in range

JVM stacktrace:
org.apache.spark.api.python.PythonException
"""


def test_the_cause_is_what_the_worker_raised() -> None:
    told = translate(PythonException(RAISED), "writing shards")
    assert isinstance(told, StoreError)
    assert told.what.startswith("writing shards: ")
    assert told.what.endswith("Integer value 9007199254740993 not in range")
    assert "Python worker" not in told.what


def test_without_a_stack_it_is_told_as_it_is() -> None:
    told = translate(PythonException("An exception was thrown from the Python worker"), "writing")
    assert told.what == "writing: An exception was thrown from the Python worker"


ENDED = "x: the Java process of Spark has ended"
JOB = """An error occurred while calling o17.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: """
TOGETHER = f"""{JOB}ShuffleMapStage 45 (collect at tasks.py:79) has failed \
the maximum allowable number of times: 4. Most recent failure reason: Stage failed because barrier \
task ShuffleMapTask(45, 1) finished unsuccessfully.
org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] \
An exception was thrown from the Python worker: Traceback (most recent call last):
  File "<string>", line 77, in task
KeyError: 3
 SQLSTATE: 38000
\tat org.apache.spark.api.python.BasePythonRunner
"""
DIED = f"""{JOB}Task 1 in stage 18.0 failed 1 times, most recent failure: Lost task 1.0 in stage \
18.0 (TID 21) (host executor driver): org.apache.spark.SparkException: Python worker exited \
unexpectedly (crashed). Consider setting 'spark.python.worker.faulthandler.enabled'.
\tat org.apache.spark.api.python.BasePythonRunner
Caused by: java.io.EOFException
\t... 21 more
"""
LOST = f"""{JOB}Task 0 in stage 2.0 failed 4 times, most recent failure: Lost task 0.3 in stage \
2.0 (TID 9) (host executor 4): ExecutorLostFailure (executor 4 exited caused by one of the \
running tasks) Reason: Remote RPC client disassociated.
"""
MEMORY = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "tasks.py", line 57, in task
numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array
"""
STOPPED = f"{JOB}Job 3 cancelled because SparkContext was shut down"
OTHER = f"{JOB}Total size of serialized results is bigger than spark.driver.maxResultSize"


class JavaError(Py4JJavaError):  # type: ignore[misc]
    """An exception of Java as Py4J tells it, without a Java."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (JavaError(TOGETHER), StoreError, "x: KeyError: 3"),
        (JavaError(DIED), SetupError, "x: a Python worker of Spark died"),
        (JavaError(LOST), SetupError, "x: executors of Spark were lost"),
        (
            PythonException(MEMORY),
            SetupError,
            "x: a Python worker of Spark ran out of memory "
            "(_ArrayMemoryError: Unable to allocate 8.00 GiB for an array)",
        ),
        (JavaError(STOPPED), SetupError, "x: this Spark has been stopped"),
        (
            JavaError(OTHER),
            StoreError,
            "x: Total size of serialized results is bigger than spark.driver.maxResultSize",
        ),
        (Py4JNetworkError("no answer"), SetupError, ENDED),
        (Py4JError("An error occurred while calling o59.newSession"), SetupError, ENDED),
        (ConnectionRefusedError(111, "Connection refused"), SetupError, ENDED),
        (
            Py4JError("An error occurred while calling o59.x. Trace:\nMethod x does not exist\n"),
            StoreError,
            "x: An error occurred while calling o59.x. Trace:",
        ),
    ],
)
def test_what_has_happened_is_told(error: Exception, kind: type[GraphtideError], told: str) -> None:
    found = translate(error, "x")
    assert type(found) is kind
    assert found.what == told
    assert found.hint


def test_a_file_that_cannot_be_read_is_named_by_its_user(tmp_path: Path) -> None:
    link = tmp_path / "a b.parquet"
    link.symlink_to("/data/users own.parquet")
    text = (
        f"{JOB}[FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
        f"file://{tmp_path}/a%20b.parquet.  SQLSTATE: KD001\nCaused by: java.io.IOException: cut"
    )
    found = translate(JavaError(text), "x")
    assert (type(found), found.what, found.where) == (
        InputError,
        "x: cut",
        "/data/users own.parquet",
    )
