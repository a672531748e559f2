"""A driver that is killed as it commits: the state before or the one behind, and nothing between.

A child has four runs when it is killed by its process id, on Spark and on shards, each with a part
that is about to be put in force, or has just been. One child, because it needs a Java of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import WCC

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
VIEWS = {f"upto-{at}": f"at <= {at}" for at in range(0, 60, 6)}

RUNS = {f"{on}-{moment}": on for on in ("spark", "shards") for moment in ("before", "behind")}

DRIVER = """
import sys, threading
import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.optimize import cutting
from graphtide.run.collection import sub_plans
from graphtide.run.shards import runs
from graphtide.spark.session import open_session
from graphtide.store import files
from tests.conftest import SETTINGS, UNCOMPILED
from tests.spark.test_driver_kill import RUNS

sub_plans.SPARK_SECONDS, cutting.STEP = -1e9, 1e7
there, forever, own = threading.Event(), threading.Event(), threading.local()
commit = files.commit

def stopping(act):
    def stopped(*given):
        own.commits = True
        return act(*given)
    return stopped

def stop(path):
    commits = getattr(own, "commits", False)
    if not (commits and own.name.endswith("before")):
        commit(path)
    if commits:
        there.set()
        forever.wait()

def run(name, on):
    own.name = name
    views.run(WCC, name=name, on=on)

files.commit = stop
sub_plans.JoinedAttempts.take_over = stopping(sub_plans.JoinedAttempts.take_over)
runs.Taking._part = stopping(runs.Taking._part)
spark = open_session("local[2]", memory="1g", settings=SETTINGS | UNCOMPILED)
views = gt.session(sys.argv[1], spark=spark, progress=False).collection("growing")
for given in RUNS.items():
    threading.Thread(target=run, args=given, daemon=True).start()
    there.wait()
    there.clear()
print("there", flush=True)
forever.wait()
"""


def kill_driver(folder: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert driver.stdout is not None
    try:
        assert driver.stdout.readline() == "there\n"
    finally:
        driver.kill()
        driver.wait()
        driver.stdout.close()


def check_left(session: gt.Session, right: dict[str, Any]) -> None:
    """All runs are whole as far as they go: no part or one, with the results of a run here."""
    assert set(session.check().column("state").to_pylist()) == {"ok"}
    for name in RUNS:
        run = session.results(name)
        assert not run.finished
        done = run._contents.finished_views()
        assert len(run._contents.differences.parts) == name.endswith("behind")
        assert bool(done) == name.endswith("behind")
        for at in done:
            assert run.table(run.views[at]).equals(right[run.views[at]])


def test_before_the_commit_and_behind_it(spark: Any, tmp_path: Path) -> None:
    rows = [(at * 7 % 23, at * 11 % 19, at) for at in range(60)]
    session = gt.session(tmp_path, spark=spark, progress=False)
    graph = session.load("net", edges=rows, edge_columns=["src", "dst", "at"])
    views = graph.collection("growing", VIEWS)
    here = views.run(WCC, name="here", workers=1)
    right = {view: here.table(view) for view in here.views}
    kill_driver(tmp_path)
    check_left(session, right)
    for name, on in RUNS.items():
        words: dict[str, Any] = {"on": on} if on == "shards" else {"workers": 2}
        run = views.run(WCC, name=name, resume=True, **words)
        assert run.finished
        assert run.to_arrow().equals(here.to_arrow())
    assert not list(tmp_path.rglob("sub-plans"))
    assert not list(tmp_path.glob("runs/*/*/parts/shards"))
