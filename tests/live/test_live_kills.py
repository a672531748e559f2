"""Writers that are killed at a chosen step: nothing is lost, nothing comes twice, nobody waits.

A child process takes one step after the other and kills itself, by SIGKILL, within the one that it
is told: while a consumer takes changes, before and after that is noted, while queries are asked or
dropped, at a checkpoint and at a compaction. The graph that is opened then goes on where it was.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import graphtide as gt
from tests.live.graphs import graph_of

pytestmark = pytest.mark.interpreted

CHILD = """
import os, signal, sys
import graphtide as gt
from graphtide.api import live_registered
from graphtide.run.durable import live_store
from graphtide.store.log import LogWriter

folder, out, moment, at = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def dying(module, name, after):
    real, calls = getattr(module, name), [0]

    def called(*args, **options):
        calls[0] += 1
        dies = moment == name + (" done" if after else "") and calls[0] == at
        if dies and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = real(*args, **options)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(module, name, called)


graph = gt.live(folder)
for module, name in (
    (live_registered, "write_changes"), (live_registered, "note_consumer"), (LogWriter, "append"),
    (live_store.LiveStore, "checkpoint_base"), (live_store.LiveStore, "checkpoint_rows"),
    (live_store, "put_rows"),
):
    dying(module, name, after=moment.endswith(" done"))
graph.deliver("near", out, consumer="files")
for number in range(graph.version, 8):
    graph.advance(insert=[(number, number + 1, 1.0, "b")], id=str(number))
    if number == 2:
        graph.query("more", gt.queries.Reach(0))
    if number == 3:
        graph.checkpoint()
    if number == 4:
        graph.drop_query("more")
        graph.compact()
    print(graph.version, list(graph.queries), flush=True)
"""

MOMENTS = [
    ("write_changes", 3),
    ("note_consumer", 3),
    ("note_consumer done", 3),
    ("append done", 2),
    ("append done", 4),
    ("append", 6),
    ("checkpoint_rows", 1),
    ("put_rows", 1),
    ("checkpoint_base done", 1),
]


def run_child(folder: Path, out: Path, moment: str, at: int) -> tuple[int, str]:
    process = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(out), moment, str(at)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert process.returncode in (0, -signal.SIGKILL), process.stderr
    return process.returncode, process.stdout


@pytest.mark.parametrize(("moment", "at"), MOMENTS)
def test_killed_at_a_step(tmp_path: Path, moment: str, at: int) -> None:
    folder, out = tmp_path / "g", tmp_path / "out"
    with gt.live(folder, graph_of([(0, 0, 1.0, "b")])) as graph:
        graph.query("near", gt.queries.Hops(0, 9))
    ended, said = run_child(folder, out, moment, at)
    assert ended == -signal.SIGKILL
    told = [int(line.split()[0]) for line in said.splitlines()]
    graph = gt.live(folder)
    assert max([0, *told]) <= graph.version <= max([0, *told]) + 1
    assert len(graph.queries["near"]) == graph.version + 1
    if "more" in graph.queries:
        assert len(graph.queries["more"]) == graph.version + 1
    graph.deliver("near", out, consumer="files")
    for number in range(8):
        graph.advance(insert=[(number, number + 1, 1.0, "b")], id=str(number))
    assert graph.version == 8
    graph.queries["near"].verify()
    graph.close()
    reached = {0: 0}
    files = sorted(out.glob("changes-*.parquet"))
    assert [int(path.stem[-12:]) for path in files] == list(range(1, 9))
    for path in files:
        for row in pq.read_table(path).to_pylist():
            assert row["old"] is None
            reached[row["id"]] = row["new"]
    assert reached == {vertex: vertex for vertex in range(9)}
