"""Sub-plans as tasks of Spark, on a cluster of two processes of this machine.

Called by `bench.cluster` in a process of its own. The whole is what a run by one worker takes in
this process, reading included. Tasks are counted from their beginning, with what each Python worker
takes to open the graph. Java's time is that of all its processes, the driver's included, over the
time of the run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

import graphtide as gt
from bench import data
from bench.cluster import COMMUNITIES, communities_of, removal_views
from bench.figures import Figure
from bench.runs_collections import Views, touches
from bench.runs_programs import COMPONENTS, tasks
from graphtide.run.collection import sub_plans

MASTER = "local-cluster[2,1,4096]"
WHOLE, BUSIEST, JAVA = 1.2, 1.6, 0.25
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(quick: bool) -> list[Figure]:
    """Components of all removals, by one worker here and by tasks there."""
    views = removal_views(quick)
    if views is None:
        return [Figure("sub-plans on Spark", None, "at most", WHOLE, "x", data.missing("com-dblp"))]
    # These views take a few seconds, and would stay in this process.
    sub_plans.SPARK_SECONDS = -1e9
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        session = gt.session(folder, master=MASTER, memory="2g", progress=False)
        stored = _stored(session, views, quick)
        program = tasks(views.graph)[COMPONENTS].program
        stored.run(program, name="warm", on="spark", workers=2)
        whole = _thread_seconds(lambda: stored.run(program, name="here", workers=1))
        before = java_seconds()
        far = stored.run(program, name="there", on="spark", workers=2)
        java = java_seconds() - before
        found = _figures(far, whole, java, views.section)
        session.spark.stop()
    return found


def _figures(far: gt.Run, whole: float, java: float, section: str) -> list[Figure]:
    rows = far.workers().to_pylist()
    each: dict[str, float] = {}
    for row in rows:
        each[row["worker"]] = each.get(row["worker"], 0.0) + row["processor"]
    if list(each) == ["this process"]:
        note = "it was not expected to pay, and stayed in this process"
        return [Figure("sub-plans on Spark", None, "at most", WHOLE, "x", note, section)]
    total, busiest = sum(each.values()), max(each.values())
    note = f"{whole:.3g} s here; {', '.join(f'{item:.3g}' for item in each.values())} s there"
    return [
        Figure("all sub-plans over the whole", total / whole, "at most", WHOLE, "x", note, section),
        Figure("whole over the busiest", whole / busiest, "at least", BUSIEST, "x", note, section),
        Figure("Java over Python", java / total, "at most", JAVA, "x", f"{java:.3g} s", section),
    ]


def _stored(session: gt.Session, views: Views, quick: bool) -> gt.Collection:
    """The views in the catalog; their names tell what they leave out."""
    groups, graph = data.find(COMMUNITIES), views.graph
    assert groups is not None
    communities = data.largest_communities(groups, communities_of(quick))
    touched = {f"t{at}": touches(graph, members) for at, members in enumerate(communities)}
    loaded = session.load("net", edges=pa.table({"src": graph.src, "dst": graph.dst, **touched}))
    named = {
        view.name: " and ".join(f"not {word}" for word in view.name.split("-"))
        for view in views.collection
    }
    return loaded.collection("views", named)


def _thread_seconds(work: Any) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def java_seconds() -> float:
    """Processor time of all Java processes below this one."""
    parents, ticks, java = {}, {}, set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        fields, process = rest.split(), int(path.parent.name)
        parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])
        if name == "java":
            java.add(process)
    return sum(ticks[item] for item in java if _below(item, parents)) / _TICKS


def _below(process: int, parents: dict[int, int]) -> bool:
    while process in parents:
        if process == os.getpid():
            return True
        process = parents[process]
    return False


if __name__ == "__main__":
    figures = measure(len(sys.argv) > 2)
    Path(sys.argv[1]).write_text(json.dumps([asdict(item) for item in figures]))
