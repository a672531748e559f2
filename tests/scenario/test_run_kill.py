"""A run that is killed or interrupted keeps every view that it said was finished, and goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.store.catalog import Catalog
from graphtide.store.commit import is_committed
from tests.scenario.stored import write_catalog

ROOT = Path(__file__).parents[2]

# Slow enough to be met in the middle, and keeping every step.
RUNNER = """
import sys
import time
import graphtide as gt
from graphtide.run.live.programs import compiled_program
from graphtide.run.collection.facts import RunSettings
from graphtide.run.collection.facts import RunRequest
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.optimize.strategy import AlwaysDifferential
from tests.scenario.test_run_kill import PROGRAMS

class Slow(AlwaysDifferential):
    def choose(self, step, ready):
        print("at", step, flush=True)
        time.sleep(0.02)
        return super().choose(step, ready)

    def certain(self, step, behind):
        return 0

session = gt.session(sys.argv[1], progress=False)
settings = RunSettings(keep_every=float(sys.argv[2]), kept=lambda count: print(count, flush=True))
chosen = compiled_program(PROGRAMS[sys.argv[4]], "auto")
request = RunRequest(
    "r", chosen, "differential", sys.argv[3] == "resume", settings, Slow()
)
print(0, flush=True)
run_collection(session, session.collection("years")._stored, request)
"""


@gt.program
class Detours:
    """How often one can go on from an edge and come to another vertex, with the rows of it."""

    total = gt.Global(gt.Count())
    detours: int = 0
    found = gt.Count()
    rows = gt.Matches(first=gt.Vertex, second=gt.Vertex, last=gt.Vertex)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        """Two steps, and not back."""
        for v in u.out_neighbours:
            for w in v.out_neighbours:
                if w != u:
                    u.found()
                    self.total()
                    self.rows(u, v, w)

    def update(self, v):  # type: ignore[no-untyped-def]
        """Only as many as there are now."""
        v.detours = v.found


PROGRAMS: dict[str, Any] = {"search": gt.algorithms.BFS(source="ann"), "walks": Detours}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return write_catalog(tmp_path / "data")


def start(
    catalog: Catalog, keep_every: float, how: str, program: str = "search"
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(catalog.root), str(keep_every), how, program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def told(runner: subprocess.Popen[str]) -> list[int]:
    assert runner.stdout is not None
    return [int(line) for line in runner.stdout if line.strip().isdigit()]


def expected(catalog: Catalog, program: str = "search") -> dict[str, Any]:
    session = gt.session(catalog.root, progress=False)
    run = session.collection("years").run(PROGRAMS[program], strategy="scratch")
    return {view: found(run, view) for view in run.views}


def found(run: gt.Run, view: str | int) -> Any:
    """Results of vertices, and of walks the rows and what there is of the whole graph."""
    values = run.values(view).tolist()
    if not run.program.startswith("Detours"):
        return values
    rows = run.matches(view).to_pylist()
    return values, sorted(tuple(row.values()) for row in rows), sum(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        pytest.param("search", marks=pytest.mark.compiled),
        pytest.param("walks", marks=pytest.mark.interpreted),
    ],
)
def test_killed_at_any_moment_nothing_finished_is_lost(catalog: Catalog, program: str) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    pick = random.Random(seed)
    right = expected(catalog, program)
    session = gt.session(catalog.root, progress=False)
    how = "begin"
    for _ in range(4 if program == "search" else 2):
        runner = start(catalog, pick.choice([0.0, 0.1]), how, program)
        assert runner.stdout is not None
        assert runner.stdout.readline().strip() == "0"
        time.sleep(pick.uniform(0.0, 0.5))
        runner.kill()
        finished = max([0, *told(runner)])
        runner.wait()
        if not is_committed(catalog.run_folder("r")):
            continue
        run, how = session.results("r"), "resume"
        steps = run._contents.differences.finished
        assert steps >= finished
        for at in run._contents.finished_views():
            assert found(run, at) == right[run.views[at]]
    run = session.collection("years").run(PROGRAMS[program], name="r", resume=how == "resume")
    assert run.finished
    assert {view: found(run, view) for view in run.views} == right
    if program == "walks":
        assert run.globals().column("total").to_pylist() == [total for *_, total in right.values()]


@pytest.mark.slow
@pytest.mark.compiled
def test_interrupted_it_keeps_what_is_finished(catalog: Catalog) -> None:
    right = expected(catalog)
    runner = start(catalog, 60.0, "begin")
    try:
        assert runner.stdout is not None
        for line in runner.stdout:
            if line.strip() == "at 7":
                break
        os.kill(runner.pid, signal.SIGINT)
        runner.wait()
    finally:
        runner.kill()
    assert runner.stderr is not None
    assert "KeyboardInterrupt" in runner.stderr.read()
    session = gt.session(catalog.root, progress=False)
    run = session.results("r")
    assert 7 <= len(run) < len(run.views)
    assert not run.finished
    for at in run._contents.finished_views():
        assert run.values(at).tolist() == right[run.views[at]]
    with pytest.raises(gt.GraphtideError, match="not finished"):
        run.table(run.views[-1])


@pytest.mark.compiled
def test_two_at_once_are_refused(catalog: Catalog) -> None:
    session = gt.session(catalog.root, progress=False)
    runner = start(catalog, 0.0, "begin")
    try:
        assert runner.stdout is not None
        assert runner.stdout.readline().strip() == "0"
        assert runner.stdout.readline().strip() == "at 0"
        os.kill(runner.pid, signal.SIGSTOP)
        with pytest.raises(gt.GraphtideError, match="is being written by process"):
            session.collection("years").run(gt.algorithms.BFS(source="ann"), name="r")
    finally:
        runner.kill()
        runner.wait()
