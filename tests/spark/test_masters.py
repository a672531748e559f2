"""Every test marked `masters`, once more over Spark Connect, on a cluster of processes.

One test a way to Spark is enough: a job, a frame of the user's, a session. What a job computes is
tried on one master. The server of Connect is the driver of the cluster, so that one run shows both;
the campaign also runs on the cluster without Connect.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CAMPAIGN = "GRAPHTIDE_CAMPAIGN" in os.environ
MASTERS = ["connect", *(["local-cluster[2,1,1024]"] if CAMPAIGN else [])]
ALL = [] if CAMPAIGN else ["-k", "not killed"]
"""Executors are killed in the campaign, and drivers always."""
FEW = {"GRAPHTIDE_CAMPAIGN_EXAMPLES": "1"}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("master", MASTERS)
@pytest.mark.skipif("GRAPHTIDE_TEST_MASTER" in os.environ, reason="is already such a run")
def test_same_answers_on(master: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "masters", "-p", "no:xdist", *ALL, str(HERE)],
        env=FEW | os.environ | {"GRAPHTIDE_TEST_MASTER": master},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
