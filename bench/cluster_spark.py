"""Sub-plans as tasks of Spark, on a cluster of two processes of this machine.

Called by `bench.cluster` in a process of its own. The views leave out six of twelve communities of
com-dblp, in all 924 ways: `on="spark"` keeps fewer in the driver, because they take a few seconds.
The whole is what a run by one worker takes in this process, reading included. Tasks are counted
from their beginning, with what each Python worker takes to open the graph. Java's time is that of
all its processes, the driver's included, over the time of the run.
"""

from __future__ import annotations

import itertools
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
from bench.cluster import AUTHORS, COMMUNITIES
from bench.figures import Figure
from bench.runs_collections import touches
from bench.runs_graphs import EdgeTable, read_edges
from graphtide.algorithms import WCC

MASTER = "local-cluster[2,1,4096]"
WHOLE, BUSIEST, JAVA = 1.2, 1.6, 0.25
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(quick: bool) -> list[Figure]:
    """Components of all removals, by one worker here and by tasks there."""
    table = read_edges(AUTHORS, directed=False)
    if table is None or data.find(COMMUNITIES) is None:
        return [Figure("sub-plans on Spark", None, "at most", WHOLE, "x", data.missing(AUTHORS))]
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        session = gt.session(folder, master=MASTER, memory="2g", progress=False)
        views = _stored(session, table, 4 if quick else 12)
        views.run(WCC, name="warm", on="spark", workers=2)
        whole = _thread_seconds(lambda: views.run(WCC, name="here", workers=1))
        before = java_seconds()
        far = views.run(WCC, name="there", on="spark", workers=2)
        java = java_seconds() - before
        section = f"collection.run(..., on='spark'), {len(views):,} community removals"
        found = _figures(far, whole, java, section)
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


def _stored(session: gt.Session, graph: EdgeTable, count: int) -> gt.Collection:
    """All ways to leave out half of some communities, with the edges that touch them."""
    groups = data.find(COMMUNITIES)
    assert groups is not None
    communities = data.largest_communities(groups, count)
    touched = {f"t{at}": touches(graph, members) for at, members in enumerate(communities)}
    loaded = session.load("net", edges=pa.table({"src": graph.src, "dst": graph.dst, **touched}))
    named = {
        "-".join(names): " and ".join(f"not {word}" for word in names)
        for names in itertools.combinations(touched, count // 2)
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
