"""Executors that are killed while their tasks run: Spark begins them anew, and answers are right.

A child has a cluster of processes of its own, of which it kills one by its id in a load, while a
collection is made, in a run of sub-plans and in a run on shards, whose tasks wait for each other.
Then it kills all of them at once in each of these.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
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


def killing(spark: Any, act: Callable[[], Any], *, every: bool) -> Any:
    """What an act returns, while whose first tasks an executor is killed, or every one is.

    Executors are stopped until they have tasks, which else may be done before anybody looks.
    """
    spark.range(0, 8, 1, 8).count()  # Executors that take the place of others are there again.
    tracker, done, killed = spark.sparkContext.statusTracker(), threading.Event(), list[int]()
    pids = executors()
    signal_all(pids, signal.SIGSTOP)

    def has_tasks() -> bool:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def kill() -> None:
        try:
            while not done.wait(0.02):
                if has_tasks():
                    killed.extend(pids if every else pids[:1])
                    signal_all(killed, signal.SIGKILL)
                    return
        finally:
            signal_all([pid for pid in pids if pid not in killed], signal.SIGCONT)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        return act()
    finally:
        done.set()
        thread.join()
        assert killed, "no executor had a task"


def signal_all(pids: list[int], number: int) -> None:
    """Send a signal to processes."""
    for pid in pids:
        os.kill(pid, number)


def main(folder: Path) -> None:
    """All acts, each with an executor that dies, and each with all of them."""
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
    for every in (False, True):
        acting = partial(killing, spark, every=every)
        name = f"net-{every}"
        graph = acting(partial(session.load, name, edges=str(given)))
        found = graph.edges().select(["src", "dst", "at"]).to_pylist()
        assert [(row["src"], row["dst"], row["at"]) for row in found] == ROWS
        views = acting(partial(graph.collection, f"growing-{every}", VIEWS))
        right = views.run(WCC, name=f"here-{every}", workers=1).to_arrow()
        for on, words in WORDS.items():
            run = acting(partial(views.run, WCC, name=f"{on}-{every}", **words))
            assert run.to_arrow().equals(right), on
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
