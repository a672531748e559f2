"""What a Python worker of Spark has raised is told, not that it has raised something."""

from __future__ import annotations

from pyspark.errors import PythonException

from graphtide.model.errors import StoreError
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
