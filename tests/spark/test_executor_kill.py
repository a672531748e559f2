"""An executor that is killed while its tasks run: Spark begins them anew, and answers are right.

A child has a cluster of processes of its own, of which it kills one by its id in a load, while a
collection is made, in a run of sub-plans and in a run on shards, whose tasks wait for each other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import WCC

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
ROWS = [(at * 7 % 2003, at * 11 % 1999, at) for at in range(60_000)]
VIEWS = {f"upto-{at}": f"at <= {at}" for at in range(0, 60_000, 6_000)}
WORDS: dict[str, dict[str, Any]] = {
    "spark": {"on": "spark", "workers": 2},
    "shards": {"on": "shards"},
}


def executors() -> list[int]:
    """The executors that this process has started, by Java between them."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    own, last = set[int](), {os.getpid()}
    while last:
        own |= last
        last = {child for child, parent in parents.items() if parent in last} - own
    return sorted(pid for pid in own if b"CoarseGrainedExecutorBackend" in _command(pid))


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def killing_one(spark: Any, act: Callable[[], Any]) -> Any:
    """What an act returns, while whose first tasks an executor is killed."""
    tracker, done, killed = spark.sparkContext.statusTracker(), threading.Event(), []

    def has_tasks() -> bool:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def kill() -> None:
        while not done.wait(0.02):
            if has_tasks() and (pids := executors()):
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        return act()
    finally:
        done.set()
        thread.join()
        assert killed, "no executor had a task"


def main(folder: Path) -> None:
    """All acts, each with an executor that dies."""
    from graphtide.optimize import cutting
    from graphtide.run.collection import sub_plans
    from graphtide.spark.session import open_session
    from tests.conftest import SETTINGS, UNCOMPILED

    sub_plans.SPARK_SECONDS, cutting.STEP = -1e9, 1e7
    settings = SETTINGS | UNCOMPILED
    spark = open_session("local-cluster[2,1,1024]", memory="1g", settings=settings)
    session = gt.session(folder / "graphs", spark=spark, progress=False)
    given = folder / "edges.csv"
    given.write_text("src,dst,at\n" + "".join(f"{u},{v},{at}\n" for u, v, at in ROWS))
    graph = killing_one(spark, lambda: session.load("net", edges=str(given)))
    assert graph.to_memory().num_edges == len(ROWS)
    views = killing_one(spark, lambda: graph.collection("growing", VIEWS))
    right = views.run(WCC, name="here", workers=1).to_arrow()
    for name, words in WORDS.items():
        run = killing_one(spark, lambda name=name, words=words: views.run(WCC, name=name, **words))
        assert run.to_arrow().equals(right), name
    assert set(session.check().column("state").to_pylist()) == {"ok"}
    print("all right", flush=True)


@pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="takes minutes")
def test_an_executor_that_is_killed(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-m", "tests.spark.test_executor_kill", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )
    assert child.stdout == "all right\n", child.stdout + child.stderr[-4_000:]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
