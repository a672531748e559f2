"""What Spark says where tasks cannot run at the same time, in words of ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from graphtide.model.errors import SetupError
from graphtide.spark.failures import translate
from graphtide.spark.tasks import check_barrier


def session(**settings: str) -> Any:
    return SimpleNamespace(conf=SimpleNamespace(get=lambda name, other: settings.get(name, other)))


def test_dynamic_allocation_is_refused_before_anything_runs() -> None:
    check_barrier(session())
    check_barrier(session(**{"spark.dynamicAllocation.enabled": "false"}))
    with pytest.raises(SetupError, match="allocates executors as it goes"):
        check_barrier(session(**{"spark.dynamicAllocation.enabled": "true"}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("PythonException: ModuleNotFoundError: No module named 'graphtide'", "not installed"),
        ("[SPARK-24942]: Barrier execution mode does not support dynamic resource", "dynamic"),
        ("[SPARK-24819]: Barrier execution mode does not allow run a barrier", "fewer slots"),
    ],
)
def test_what_is_missing_is_said(text: str, told: str) -> None:
    found = translate(PySparkException(f"Job aborted due to stage failure: {text}"), "running")
    assert isinstance(found, SetupError)
    assert told in found.what
