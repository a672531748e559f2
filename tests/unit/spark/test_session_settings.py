"""What sessions are started with, told without starting one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# In a process of its own: the fast tests import no PySpark.
ASK = "from graphtide.spark.session import default_memory; print(default_memory({bytes} << 30))"


@pytest.mark.spark
@pytest.mark.parametrize(("gigabytes", "memory"), [(1, "1024m"), (8, "3276m"), (64, "8192m")])
def test_memory_leaves_room_on_the_machine(gigabytes: int, memory: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", ASK.format(bytes=gigabytes)],
        capture_output=True,
        text=True,
        env=os.environ,
        check=True,
    )
    assert answer.stdout.strip() == memory
