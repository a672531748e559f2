"""Figures of the dataflow engine that need no peer: sharing, late queries, compaction, skipping."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from bench.resident import resident_bytes
from bench.rmat import rmat
from bench.streams import Input, Size, batches, rmat_input
from graphtide.algorithms import dataflow as library
from graphtide.engine.dataflow.reading import rows_held
from graphtide.kernels.dataflow import layout
from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.flow import Dataflow

Build = Callable[[Dataflow, Collection, NDArray[np.int64]], None]
"""Puts a computation on edges into a dataflow, given the sources of all edges."""


def part_figures(*, quick: bool) -> Iterator[Figure]:
    """All of them."""
    yield from late_query(200 if quick else 10_000_000)
    yield sharing(4 if quick else 16)
    for name, build in (("BFS", _hops), ("components", _components)):
        yield from hour(name, build, 4 if quick else 16, 4 if quick else 3_600)
    for name, build in (
        ("components", _labels),
        ("several sources", _sources),
        ("several pairs", _pairs),
    ):
        yield from skipping(name, build, 5 if quick else 14)


def late_query(records: int) -> Iterator[Figure]:
    """Install a query on a large arrangement, and get its first answer."""
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    arranged = edges.arrange("src")
    random = np.random.default_rng(4)
    edges.insert({"src": np.arange(records), "dst": random.integers(0, records, records)})
    flow.advance()
    install, answers = [], []
    for turn in range(5):
        began = time.perf_counter()
        late = Dataflow(f"late {turn}", beside=flow)
        asked = late.input("asked", node=int)
        answer = library.second_neighbours(late.import_arrangement(arranged), asked).output()
        flow.advance()
        install.append(time.perf_counter() - began)
        began = time.perf_counter()
        asked.insert([(7 * turn,), (11 * turn + 1,)])
        flow.advance()
        answers.append(time.perf_counter() - began)
        assert sum(answer.records().values()) == 2
        late.close()
    name = f"query on {records:,} records"
    yield Figure(f"{name}, installed", 1e3 * statistics.median(install), "at most", 10, "ms")
    yield Figure(f"{name}, first answer", 1e3 * statistics.median(answers), "at most", 1, "ms")


def sharing(scale: int) -> Figure:
    """Memory of five uses of one arrangement over that of one use."""
    held = []
    src, dst = rmat(scale)
    for uses in (1, 5):
        flow = Dataflow()
        edges = flow.input("edges", src=int, dst=int)
        arranged = edges.arrange("src")
        for _ in range(uses):
            asked = flow.input("asked", node=int)
            library.neighbours(arranged, asked).output()
        edges.insert({"src": src, "dst": dst})
        flow.advance()
        held.append(flow.host.machine.held_bytes)
    note = f"{held[0] / 1e6:.1f} and {held[1] / 1e6:.1f} MB"
    return Figure("five uses of an arrangement", held[1] / held[0], "at most", 1.05, "x", note)


def hour(name: str, build: Build, scale: int, count: int) -> Iterator[Figure]:
    """State during an hour's worth of updates, one a second, against a fresh load of the end."""
    given = rmat_input(scale)
    size = Size(100, 100, count) if scale > 8 else Size(3, 3, count)
    [listed] = batches(given, (size,), 0)
    present = np.zeros(len(given.src), np.bool_)
    present[given.loaded] = True
    small = rmat_input(6)
    _loaded(build, small, small.loaded)  # Compiling takes memory too: let it be before.
    gc.collect()
    before = resident_bytes()
    flow, edges = _loaded(build, given, given.loaded)
    start, began = resident_bytes() - before, time.process_time()
    worst, most = 0, 0
    for turn, batch in enumerate(listed):
        edges.insert(_columns(given, batch.inserted))
        edges.remove(_columns(given, batch.deleted))
        flow.advance()
        present[batch.inserted] = True
        present[batch.deleted] = False
        if turn % max(count // 20, 1) == 0 or turn == count - 1:
            worst, most = max(worst, _rows(flow)), max(most, resident_bytes() - before)
    seconds = time.process_time() - began
    end, rows = resident_bytes() - before, _rows(flow)
    del flow, edges
    fresh = _rows(_loaded(build, given, np.flatnonzero(present).astype(np.int32))[0])
    title = f"{count:,} batches of {size}, {name}, RMAT {scale}"
    note = f"{fresh:,} rows loaded afresh; {rows:,} at the end; {seconds:.1f} s of updates"
    yield Figure(f"{title}, rows at most", worst / fresh, "at most", 2, "x", note)
    note = f"{start / 1e6:,.0f} MB after loading, {end / 1e6:,.0f} MB at the end"
    yield Figure(f"{title}, memory at most", most / max(start, 1), "at most", 2, "x", note)


def _loaded(build: Build, given: Input, chosen: NDArray[np.int32]) -> tuple[Dataflow, Any]:
    """A dataflow on some edges of a graph, and its input."""
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    build(flow, edges, given.src.astype(np.int64))
    edges.insert(_columns(given, chosen))
    flow.advance()
    return flow, edges


def _columns(given: Input, chosen: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
    return {"src": given.src[chosen], "dst": given.dst[chosen]}


def _hops(flow: Dataflow, edges: Collection, src: NDArray[np.int64]) -> None:
    """Distances from the vertex with the most out-edges; nobody reads the result."""
    roots = flow.input("roots", node=int)
    roots.insert([(int(np.bincount(src).argmax()),)])
    library.distances(edges, roots).arrange("node")


def _components(flow: Dataflow, edges: Collection, src: NDArray[np.int64]) -> None:
    """Components, nobody reading the result."""
    library.components(edges).arrange("node")


def _rows(flow: Dataflow) -> int:
    return sum(
        rows_held(flow.host.pool, trace) for trace in set(flow.install().addresses.traces.values())
    )


def skipping(name: str, build: Build, scale: int) -> Iterator[Figure]:
    """Of the looks of min that change nothing, those that did not read their group; and the time.

    A second dataflow that skips nothing is given the same updates, the two taking turns.
    """
    src, dst = (part.astype(np.int64) for part in rmat(scale))
    made = []
    for _ in range(2):
        flow = Dataflow()
        edges = flow.input("edges", src=int, dst=int)
        build(flow, edges, src)
        edges.insert({"src": src, "dst": dst})
        flow.advance()
        made.append((flow, edges))
    made[1][0].host.machine.set_field(0, layout.SKIPPING, 0)
    before = _looks(made[0][0])
    spent = [0.0, 0.0]
    random = np.random.default_rng(7)
    for turn in range(40):
        gone, come = random.integers(0, len(src), (2, 25))
        old = {"src": src[gone], "dst": dst[gone]}
        src[gone], dst[gone] = src[come], random.permutation(dst[come])
        for which in (turn % 2, 1 - turn % 2):
            flow, edges = made[which]
            edges.remove(old)
            edges.insert({"src": src[gone], "dst": dst[gone]})
            began = time.process_time()
            flow.advance()
            spent[which] += time.process_time() - began
    late = _looks(made[0][0])
    skipped, unchanged = (now - then for now, then in zip(late, before, strict=True))
    note = f"{skipped:,} skipped, {unchanged:,} recomputed for nothing; 25+25 edges, RMAT {scale}"
    share = 100 * skipped / max(skipped + unchanged, 1)
    yield Figure(f"FEDiV, {name}", share, "at least", 85, "%", note)
    note = f"{25 * spent[0]:.2f} ms an update, {25 * spent[1]:.2f} ms where nothing is skipped"
    yield Figure(f"FEDiV, {name}, time", spent[0] / spent[1], "below", 1, "x", note)


def _looks(flow: Dataflow) -> tuple[int, int]:
    """The looks of min that were skipped, and those that read a group for nothing."""
    found = [item for name, item in flow.counters().items() if "reduce min" in name]
    return sum(item["skipped"] for item in found), sum(item["unchanged"] for item in found)


def _labels(flow: Dataflow, edges: Collection, src: NDArray[np.int64]) -> None:
    """Components in which all labels set out at once, as the literature has them."""
    both = edges.concat(edges.map(src=col.dst, dst=col.src))
    start = both.map(node=col.src).distinct().map(node=col.node, label=col.node)
    with flow.loop() as loop:
        held = loop.variable(start)
        moved = held.join_map(both, on={"node": "src"}, node=col.dst, label=col.label)
        found = moved.concat(start).min(by="node")
        held.set(found)
    found.leave().output()


def _sources(flow: Dataflow, edges: Collection, src: NDArray[np.int64]) -> None:
    """Distances from ten sources, each for itself."""
    roots = flow.input("roots", root=int)
    roots.insert([(int(node),) for node in np.unique(src)[:10]])
    _search(edges, roots.map(node=col.root, root=col.root, hops=0)).output()


def _pairs(flow: Dataflow, edges: Collection, src: NDArray[np.int64]) -> None:
    """Distances of ten pairs, searched from both ends."""
    pairs = flow.input("pairs", one=int, other=int)
    nodes = np.unique(src)[:20].tolist()
    pairs.insert(list(zip(nodes[:10], nodes[10:], strict=True)))
    ahead = _search(edges, pairs.map(node=col.one, root=col.one * 1_000_000 + col.other, hops=0))
    back = _search(
        edges.map(src=col.dst, dst=col.src),
        pairs.map(node=col.other, root=col.one * 1_000_000 + col.other, hops=0),
    )
    met = ahead.join_map(back, on=("node", "root"), root=col.root, hops=col.hops + col.hops_right)
    met.min(by="root").output()


def _search(edges: Collection, start: Collection) -> Collection:
    with edges.nested_loop("search") as loop:
        known = loop.variable(node=int, root=int, hops=int)
        further = known.join_map(
            edges, on={"node": "src"}, node=col.dst, root=col.root, hops=col.hops + 1
        )
        found = further.concat(start).min(by=("node", "root"))
        known.set(found)
    return found.leave()
