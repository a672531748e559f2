"""Questions that stand while a graph changes: `python -m bench rules --part interactive`.

The four classes of `examples.interactive` on a random graph. Edges and arguments come and go, in
batches; whoever asks reads the changes of all answers after every batch, and that is part of the
time. An hour is replayed as 3,600 batches, and what is held is counted on the way.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from bench.resident import resident_bytes
from examples.interactive import QUESTIONS, EvolvingGraph
from graphtide.engine.dataflow.reading import rows_held

Int64 = NDArray[np.int64]
SECTION = "interactive queries"


@dataclass(frozen=True)
class Size:
    """How large a graph is, how many edges of it go in a batch and as many come, and the same of
    the arguments of each class, of which so many stand."""

    vertices: int
    edges: int
    changed: int
    standing: int
    turned: int


@dataclass(frozen=True)
class Batch:
    """Edges that go and come, and for each class the arguments that do."""

    gone: dict[str, Int64]
    come: dict[str, Int64]
    forgotten: dict[str, Int64]
    asked: dict[str, Int64]


WHOLE = Size(1_000_000, 3_200_000, 1_000, 1_000, 10)
MIXED = Size(1_000_000, 3_200_000, 500, 1_000, 125)
HOUR = Size(100_000, 320_000, 1_000, 1_000, 10)
SMALL = Size(100, 320, 4, 5, 1)


def interactive_figures(*, quick: bool) -> Iterator[Figure]:
    """All of them."""
    Replay(SMALL).steps(2)  # What is compiled is compiled before.
    yield from throughput(SMALL if quick else WHOLE, 3 if quick else 300)
    yield mixed(SMALL if quick else MIXED, 3 if quick else 100)
    yield from hour(SMALL if quick else HOUR, 8 if quick else 3_600)


class Replay:
    """A graph with all classes standing on it, and the stream that changes both."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.random = np.random.default_rng(5)
        self.graph = EvolvingGraph()
        self.src, self.dst = self.random.integers(0, size.vertices, (2, size.edges))
        self.graph.edges.insert({"src": self.src, "dst": self.dst})
        nodes = np.arange(size.vertices)
        names = np.array([f"name {number}" for number in range(100)], object)
        self.graph.vertices.insert({"node": nodes, "name": names[nodes % 100]})
        self.questions = {name: make(self.graph) for name, make in QUESTIONS.items()}
        self.asked = {name: self._arguments(name, size.standing) for name in self.questions}
        for name, question in self.questions.items():
            question.ask(self.asked[name])
        self.graph.advance()
        self._read()

    def steps(self, count: int) -> list[float]:
        """So many batches: the seconds that each took, from handing it over to its answers."""
        found = []
        for _ in range(count):
            batch = self.draw()
            began = time.process_time()
            self.apply(batch)
            found.append(time.process_time() - began)
        return found

    def draw(self) -> Batch:
        """What goes and comes next: edges at random, and of each class the oldest arguments."""
        size = self.size
        places = self.random.choice(size.edges, size.changed, replace=False)
        gone = {"src": self.src[places], "dst": self.dst[places]}
        self.src[places], self.dst[places] = self.random.integers(
            0, size.vertices, (2, size.changed)
        )
        come = {"src": self.src[places], "dst": self.dst[places]}
        forgotten = {name: asked[: size.turned] for name, asked in self.asked.items()}
        asked = {name: self._arguments(name, size.turned) for name in self.questions}
        for name, fresh in asked.items():
            self.asked[name] = np.concatenate([self.asked[name][size.turned :], fresh])
        return Batch(gone, come, forgotten, asked)

    def apply(self, batch: Batch) -> int:
        """Hand a batch over, advance and read; how many answers have come or gone."""
        self.graph.edges.remove(batch.gone)
        self.graph.edges.insert(batch.come)
        for name, question in self.questions.items():
            question.forget(batch.forgotten[name])
            question.ask(batch.asked[name])
        self.graph.advance()
        return self._read()

    def rows(self) -> int:
        """Rows that all arrangements hold, of the graph and of the questions."""
        host = self.graph.flow.host
        traces = {trace for one in host.dataflows for trace in one.addresses.traces.values()}
        return sum(rows_held(host.pool, trace) for trace in traces)

    def end(self) -> None:
        """Give all memory back."""
        self.graph.flow.host.end()

    def _arguments(self, name: str, count: int) -> Int64:
        arity = 2 if name == "paths" else 1
        return self.random.integers(0, self.size.vertices, (count, arity))

    def _read(self) -> int:
        return sum(len(question.changes()) for question in self.questions.values())


def throughput(size: Size, batches: int) -> Iterator[Figure]:
    """Changes of the graph a second, with arguments that come and go, and a batch's wait."""
    replay = Replay(size)
    seconds = replay.steps(batches)
    replay.end()
    changes = 2 * size.changed
    speed = changes * batches / sum(seconds)
    ordered = sorted(seconds)
    late = ordered[min(int(0.99 * batches), batches - 1)]
    note = (
        f"{size.vertices:,} vertices, {size.edges:,} edges, {size.standing:,} arguments of each "
        f"class, of which {size.turned} go and come in each of {batches} batches"
    )
    name = f"changes of the graph a second, four classes standing, {changes:,} a batch"
    yield Figure(name, speed / 1e3, "at least", 200, "thousand", note, SECTION)
    note = f"at 200,000 changes a second a batch comes every {changes / 200:.0f} ms"
    for title, found in (("median", statistics.median(ordered)), ("99 of 100 within", late)):
        name = f"a batch of {changes:,} changes, answers read, {title}"
        yield Figure(name, 1e3 * found, "at most", None, "ms", note, SECTION)


def mixed(size: Size, batches: int) -> Figure:
    """Changes a second where half of them are of arguments, a quarter of those of paths."""
    replay = Replay(size)
    seconds = sum(replay.steps(batches))
    replay.end()
    arguments = 2 * len(QUESTIONS) * size.turned
    changes = 2 * size.changed + arguments
    note = f"{2 * size.changed:,} of edges and {arguments:,} of arguments a batch"
    name = "changes a second, half of edges and half of arguments"
    return Figure(
        name, changes * batches / seconds / 1e3, "at least", None, "thousand", note, SECTION
    )


def hour(size: Size, batches: int) -> Iterator[Figure]:
    """What is held over an hour, a batch a second, beside a fresh load, and its second half."""
    replay = Replay(size)
    fresh = replay.rows()
    gc.collect()
    rows: list[int] = []
    resident: list[int] = []
    began = time.process_time()
    for number in range(batches):
        replay.apply(replay.draw())
        if number % max(batches // 120, 1) == 0:
            rows.append(replay.rows())
            resident.append(resident_bytes())
    seconds = time.process_time() - began
    replay.end()
    half = len(rows) // 2
    changes = 2 * size.changed * batches
    title = f"{batches:,} batches, {changes:,} changes of {size.edges:,} edges"
    note = f"{fresh:,} rows loaded afresh, {max(rows):,} at most; {seconds:.0f} s"
    yield Figure(f"{title}: rows held", max(rows) / fresh, "at most", 2, "x", note, SECTION)
    note = (
        f"{max(rows[:half]):,} rows at most in the first half, {max(rows[half:]):,} in the second"
    )
    grown = max(rows[half:]) / max(rows[:half])
    yield Figure(
        f"{title}: rows, second half over first", grown, "at most", 1.1, "x", note, SECTION
    )
    first, second = max(resident[:half]), max(resident[half:])
    note = f"{first / 1e6:,.0f} MB at most in the first half, {second / 1e6:,.0f} in the second"
    name = f"{title}: resident memory, second half over first"
    yield Figure(name, second / first, "at most", 1.1, "x", note, SECTION)
