"""What queries take of the process, beside what they were granted; compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import graphtide as gt
from graphtide.engine.queries import states

Q = gt.queries


@pytest.mark.compiled
def test_the_objects_of_a_query_take_no_more_than_is_charged() -> None:
    _asked(401)  # Compiles.
    assert min(_objects_of(400) for _ in range(3)) < 400 * (states.OBJECTS + states.TARGET)


def _objects_of(queries: int) -> int:
    """What so many queries take beside their arrays, and whatever the process does meanwhile."""
    graph = _asked(1)
    tracemalloc.start()
    for at in range(queries):
        graph.query(f"query {at}", Q.Path(at % 20, (at + 7) % 20))
    engine, (now, _) = graph._queries().engine, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return now - (engine.nbytes - queries * (states.OBJECTS + states.TARGET))


def _asked(queries: int) -> gt.Graph:
    graph = gt.Graph(np.arange(20), (np.arange(20) * 7 + 1) % 20)
    for at in range(queries):
        graph.query(f"first {at}", Q.Path(at % 20, (at + 7) % 20))
    return graph


CHILD = """
import random, resource
import numpy as np
import graphtide as gt

Q = gt.queries

def make(vertices, edges, budget):
    src, dst = np.random.default_rng(3).integers(vertices, size=(2, edges))
    return gt.Graph(src, dst, vertices=vertices, budget=budget)

def work(graph, vertices, queries, batches):
    asked = [graph.query(f"p{at}", Q.Path(at, vertices - 1 - at)) for at in range(queries)]
    asked += [graph.query(f"h{at}", Q.Hops(at, 3)) for at in range(queries // 10)]
    for edge in range(batches):
        graph.advance(delete=[edge])
        graph.advance(insert=[edge])
    return asked

for query in work(make(200, 800, 300_000), 200, 40, 20):  # Compiles.
    query.table()
budget = 48 << 20
graph = make(40_000, 160_000, budget)
graph.advance(delete=[0])
graph.advance(insert=[0])
now = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if "VmSize" in line)
resource.setrlimit(resource.RLIMIT_AS, (now + budget + (64 << 20),) * 2)
asked = work(graph, 40_000, 300, 20)
for query in asked[::100]:
    query.table()
assert graph._queries().engine.budget.highest <= budget
print("through", sum("its answer" in query.explain() for query in asked))
"""


@pytest.mark.compiled
def test_a_process_that_may_have_no_more_than_the_budget_runs_through(tmp_path: Path) -> None:
    """All states would take 200 MB; 48 are granted, and 64 for what is not of queries."""
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    found = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},  # Another one reserves 64 MB of addresses.
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.startswith("through"), found.stderr
    assert int(found.stdout.split()[1]) > 0
