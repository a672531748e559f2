"""`python -m bench dataflow`: the dataflow engine beside Differential Dataflow, and by itself.

Both are given the same edges in the same batches, one after the other, on one thread, and are timed
by the wall clock: from handing over the first edge until all consequences are known. Ratios are
ours over theirs. The results of both are compared by a checksum; where they differ, nothing of
that trial counts.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.dataflow_parts import part_figures
from bench.figures import Figure
from bench.peers import AbsentError, differential
from bench.resident import resident_bytes
from bench.streams import Batch, Input, Size, batches, real_input, rmat_input
from graphtide.algorithms import dataflow as library
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.outputs import Output

SIZES = (Size(1, 0, 25), Size(25, 25, 15), Size(500, 500, 7), Size(50_000, 50_000, 3))
QUICK_SIZES = (Size(1, 0, 1), Size(25, 25, 1))
BARS = {1: 5.0, 25: 3.0, 500: 2.0, 50_000: 2.0}
EXTRA = 2


@dataclass(frozen=True)
class Algorithm:
    """A computation by our name and by the peer's."""

    name: str
    peer: str
    build: Callable[[InputCollection, Dataflow, Input], Output | None]


def _bfs(edges: InputCollection, flow: Dataflow, given: Input) -> Output:
    roots = flow.input("roots", node=int)
    roots.insert([(given.source,)])
    return library.distances(edges, roots).output()


def _components(edges: InputCollection, flow: Dataflow, given: Input) -> Output:
    vertices = flow.input("vertices", node=int)
    vertices.insert({"node": np.arange(given.vertices)})
    return library.components(edges, vertices).output()


def _strong(edges: InputCollection, flow: Dataflow, given: Input) -> Output:
    return library.strong_edges(edges).output()


def _arrange(edges: InputCollection, flow: Dataflow, given: Input) -> None:
    edges.arrange("src")


ALGORITHMS = (
    Algorithm("BFS", "bfs", _bfs),
    Algorithm("components", "components", _components),
    Algorithm("strong components", "strong_components", _strong),
)
ARRANGE = Algorithm("load and arrange", "arrange", _arrange)


@dataclass(frozen=True)
class Ours:
    """What our side took: seconds, bytes, and the checksum of the result."""

    first: float
    batches: list[list[float]]
    memory: int
    checksum: int | None


def run(*, quick: bool) -> list[Figure]:
    """All figures; small graphs and few batches for a quick run."""
    sizes = QUICK_SIZES if quick else SIZES
    figures = []
    for given in _graphs(quick):
        if isinstance(given, str):
            figures.append(Figure(f"{given}, all", None, "at most", 1, "x", f"no file of {given}"))
            continue
        chosen = (*ALGORITHMS, ARRANGE) if "18" in given.name or quick else ALGORITHMS
        for algorithm in chosen:
            only = () if algorithm is ARRANGE else sizes
            figures += trial_figures(given, algorithm, only, build=not quick)
    return [*figures, *part_figures(quick=quick)]


def _graphs(quick: bool) -> Iterator[Input | str]:
    if quick:
        yield rmat_input(4)
        return
    yield rmat_input(16)
    yield rmat_input(18)
    yield real_input("soc-Epinions1", directed=True) or "soc-Epinions1"


def trial_figures(
    given: Input, algorithm: Algorithm, sizes: tuple[Size, ...], *, build: bool
) -> list[Figure]:
    """First run, batches and memory of one algorithm on one graph, as ratios to the peer's."""
    groups = [list(group) for group in batches(given, sizes, EXTRA)]
    warm_up(algorithm)
    ours = our_run(given, algorithm, groups)
    try:
        theirs: differential.Outcome | str = _peer_run(given, algorithm, groups, build=build)
    except AbsentError as absent:
        theirs = str(absent)
    title = f"{given.name}, {algorithm.name}"
    if not isinstance(theirs, str) and ours.checksum not in (None, theirs.checksums[-1]):
        theirs = "the results differ"
    return list(_compared(title, sizes, ours, theirs))


def _compared(
    title: str, sizes: tuple[Size, ...], ours: Ours, theirs: differential.Outcome | str
) -> Iterator[Figure]:
    named = [(f"{title}, first run", ours.first, 2.0)]
    named += [
        (f"{title}, {size}", statistics.median(seconds[EXTRA:]), BARS[size.insert])
        for size, seconds in zip(sizes, ours.batches, strict=True)
    ]
    for (name, mine, bar), peer in zip(named, _peer_seconds(theirs, sizes), strict=True):
        if isinstance(theirs, str) or peer is None:
            yield Figure(name, None, "at most", bar, "x", f"ours {_told(mine)}; {theirs}")
        else:
            note = f"ours {_told(mine)}, Differential Dataflow {_told(peer)}"
            yield Figure(name, mine / peer, "at most", bar, "x", note)
    if isinstance(theirs, str):
        note = f"ours {ours.memory / 1e6:,.0f} MB; {theirs}"
        yield Figure(f"{title}, memory", None, "at most", 1, "x", note)
    else:
        peer_bytes = theirs.memory["end"] - theirs.memory["read"]
        note = f"ours {ours.memory / 1e6:,.0f} MB, theirs {peer_bytes / 1e6:,.0f} MB"
        yield Figure(f"{title}, memory", ours.memory / peer_bytes, "at most", 1, "x", note)


def _peer_seconds(
    theirs: differential.Outcome | str, sizes: tuple[Size, ...]
) -> list[float | None]:
    if isinstance(theirs, str):
        return [None] * (1 + len(sizes))
    found: list[float | None] = [theirs.first_seconds]
    at = 0
    for size in sizes:
        found.append(statistics.median(theirs.batch_seconds[at + EXTRA : at + EXTRA + size.rounds]))
        at += EXTRA + size.rounds
    return found


def warm_up(algorithm: Algorithm) -> None:
    """Compile, or load, all that the trial will run."""
    given = rmat_input(6)
    our_run(given, algorithm, [list(group) for group in batches(given, (Size(1, 1, 1),), 1)])


def our_run(given: Input, algorithm: Algorithm, groups: list[list[Batch]]) -> Ours:
    """Our side of a trial."""
    gc.collect()
    before = resident_bytes()
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    output = algorithm.build(edges, flow, given)
    nothing = np.empty(0, np.int32)
    first = _timed(flow, edges, given, Batch(given.arcs(given.loaded), nothing))
    if output is not None:
        output.drain()
    seconds = [[_timed(flow, edges, given, batch) for batch in group] for group in groups]
    found = None
    if output is not None:
        output.drain()
        gc.collect()
    memory = resident_bytes() - before
    if output is not None:
        found = _checksum(output)
    return Ours(first, seconds, memory, found)


def _timed(flow: Dataflow, edges: InputCollection, given: Input, batch: Batch) -> float:
    began = time.perf_counter()
    if len(batch.inserted):
        edges.insert({"src": given.src[batch.inserted], "dst": given.dst[batch.inserted]})
    if len(batch.deleted):
        edges.remove({"src": given.src[batch.deleted], "dst": given.dst[batch.deleted]})
    flow.advance()
    return time.perf_counter() - began


def _checksum(output: Output) -> int:
    columns: list[NDArray[Any]] = list(output.columns().values())
    return differential.checksum(columns[0], columns[1])


def _peer_run(
    given: Input, algorithm: Algorithm, groups: list[list[Batch]], *, build: bool
) -> differential.Outcome:
    arcs = differential.Arcs(
        given.vertices, given.src, given.dst, given.weight, given.arcs(given.loaded)
    )
    peer = differential.find_peer(build=build)
    stream = [batch for group in groups for batch in group]
    return differential.measure(peer, algorithm.peer, arcs, stream, given.source)


def _told(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
