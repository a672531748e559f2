"""What sessions are started with, told without starting one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# In a process of its own: the fast tests import no PySpark.
ASK = """
import json
from graphtide.spark.session import default_memory, driver_settings
places = "local[*]", "local-cluster[2,1,1024]", "spark://head:7077"
print(json.dumps({
    "memory": [default_memory(gigabytes << 30) for gigabytes in (1, 8, 64)],
    "hosts": [driver_settings(place).get("spark.driver.host") for place in places],
    "bound": [driver_settings(place).get("spark.driver.bindAddress") for place in places],
}))
"""


@pytest.mark.spark
def test_memory_leaves_room_and_executors_elsewhere_reach_the_driver() -> None:
    command = [sys.executable, "-c", ASK]
    answer = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
    told = json.loads(answer.stdout)
    assert told["memory"] == ["1024m", "3276m", "8192m"]
    assert told["hosts"] == told["bound"] == ["127.0.0.1", "127.0.0.1", None]
