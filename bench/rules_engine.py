"""Figures of the dataflow engine that rules and views need: changes, versions, running once."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from graphtide.dataflow import Dataflow, col, count, total

Pairs = tuple[NDArray[Any], NDArray[Any]]
SUMS, KEYS = 6, 4


def engine_figures(*, quick: bool) -> Iterator[Figure]:
    """All of them."""
    yield one_changed_row(1_000 if quick else 1_000_000)
    yield from many_versions(100 if quick else 60_000)
    for name, graph in (
        ("tree", tree(4 if quick else 17)),
        ("grid", grid(4 if quick else 60)),
        ("random graph", random_graph(10 if quick else 1_500)),
    ):
        yield running_once(name, graph, rounds=1 if quick else 3)


def one_changed_row(records: int) -> Figure:
    """Advance and read the changes, where one record of many changes."""
    flow = Dataflow()
    numbers = flow.input("numbers", key=int, value=int)
    output = numbers.map(key=col.key, value=col.value + 1).output()
    numbers.insert({"key": np.arange(records), "value": np.arange(records)})
    flow.advance()
    output.drain()
    seconds = []
    for number in range(300):
        began = time.process_time()
        numbers.insert([(number, -1)])
        flow.advance()
        found = list(output.changes())
        seconds.append(time.process_time() - began)
        assert found == [((number, 0), number + 1, 1)]
    name = f"one changed row of {records:,}, inserted, advanced and read"
    return Figure(name, 1e3 * statistics.median(seconds), "at most", 0.2, "ms")


def many_versions(rows: int) -> Iterator[Figure]:
    """Sums over few keys, all rows in one batch: of one version, and of a version a row."""
    one_version(50, 5)
    few = statistics.median(one_version(rows, 1) for _ in range(3))
    for versions in (rows // 60, rows // 3, rows):
        taken = statistics.median(one_version(rows, versions) for _ in range(3))
        name = f"{rows:,} rows in {versions:,} versions, {SUMS} sums over {KEYS} keys"
        note = f"{taken:.2f} s, {few:.3f} s in one version"
        yield Figure(name, 1e6 * taken / rows, "at most", 10, "us a row", note)


def one_version(rows: int, versions: int) -> float:
    """Seconds that a batch of rows at so many versions takes."""
    random = np.random.default_rng(1)
    flow = Dataflow()
    names = [f"v{number}" for number in range(SUMS)]
    items = flow.input("items", key=int, **dict.fromkeys(names, int))
    parts = {f"sum_{name}": total(name) for name in names}
    output = items.aggregate("key", n=count(), **parts).output()
    columns = {"key": random.integers(0, KEYS, rows)}
    columns |= {name: random.integers(0, 100, rows) for name in names}
    items.insert(columns, at=np.sort(random.integers(0, versions, rows)))
    began = time.process_time()
    flow.advance_to(versions)
    taken = time.process_time() - began
    assert sum(record[1] for record in output.records()) == rows
    flow.close()
    return taken


def tree(depth: int) -> Pairs:
    """A binary tree, from parents to children."""
    child = np.arange(1, (1 << depth) - 1)
    return (child - 1) // 2, child


def grid(side: int) -> Pairs:
    """A square of vertices with edges to the right and downward."""
    place = np.arange(side * side).reshape(side, side)
    src = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    return src, np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])


def random_graph(vertices: int) -> Pairs:
    """Twice as many edges as vertices, between any two."""
    random = np.random.default_rng(1)
    src, dst = random.integers(0, vertices, (2, 2 * vertices))
    return src, dst


def running_once(name: str, graph: Pairs, rounds: int) -> Figure:
    """Transitive closure with times, over the same without."""
    closure(tree(3), once=False), closure(tree(3), once=True)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    found = set()
    for turn in range(rounds):
        for once in (turn % 2 == 0, turn % 2 == 1):
            taken, pairs = closure(graph, once=once)
            seconds[once].append(taken)
            found.add(pairs)
    assert len(found) == 1
    kept, plain = (statistics.median(seconds[once]) for once in (False, True))
    note = f"{found.pop():,} pairs; {kept:.2f} s with times, {plain:.2f} s once"
    title = f"transitive closure of a {name} of {len(graph[0]):,} edges, run once"
    return Figure(title, kept / plain, "at least", 2, "x", note)


def closure(graph: Pairs, *, once: bool) -> tuple[float, int]:
    """Seconds, and how many pairs of vertices have a way from one to the other."""
    flow = Dataflow(once=once)
    edges = flow.input("edges", src=int, dst=int)
    with flow.loop() as loop:
        ways = loop.variable(src=int, dst=int)
        further = ways.join_map(edges, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        found = further.concat(edges).distinct()
        ways.set(found)
    output = found.leave().count(by=()).output()
    edges.insert({"src": graph[0], "dst": graph[1]})
    began = time.process_time()
    flow.advance()
    taken = time.process_time() - began
    [(pairs,)] = output.records()
    flow.host.end()
    return taken, pairs
