"""What landmarks save, and what they take: the part `landmarks` of `python -m bench live`.

Pairs that keep no state (`patience=0`), without landmarks and with ten of each choice. To ask a
pair is what it takes from scratch; a batch is one edge that leaves, or comes back, with all that
keeps landmarks current. The times are means, because most batches concern nobody. Paper 001 asks
all pairs anew at every batch: that is as many times to ask as there are pairs, and the batch that
keeps landmarks current beside it. Answers of a sample are compared with the definition, and all
answers with those of the graph without landmarks.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench.figures import Figure, say
from bench.rmat import rmat
from bench.streams import real_input
from bench.timing import seconds_of, without_collector
from graphtide.queries import Landmarks, Path
from graphtide.run.queries.kinds import Direction

COUNT, PAIRS, BATCHES, WARM, SAMPLE = 10, 100, 50, 5, 1
WITHOUT = "without landmarks"
WAYS = {
    WITHOUT: None,
    "10 landmarks by degree": Landmarks(COUNT),
    "10 landmarks, far": Landmarks(COUNT, "far"),
}
_ROOM = 200
"""Bytes of the budget for each vertex and landmark: twice what an index takes while it begins."""


class Asked(NamedTuple):
    """A graph, the costs of its edges, and how pairs are asked on it."""

    name: str
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    km: NDArray[np.int64]
    weight: str | None
    direction: Direction

    @property
    def title(self) -> str:
        """What its figures stand under."""
        costs = "edges cost 1 to 10" if self.weight else "edges cost 1"
        return f"pairs on {self.name}, {costs}"

    def graph(self, landmarks: Landmarks | None) -> gt.Graph:
        """In memory, with its budget."""
        vertices = len(np.unique(np.concatenate([self.src, self.dst])))
        graph = gt.Graph(self.src, self.dst, km=self.km, landmarks=landmarks)
        graph.set_budget(_ROOM * COUNT * vertices + (1 << 20), patience=0)
        return graph

    def pairs(self, count: int) -> list[Path]:
        """Queries for pairs of vertices that edges leave."""
        ends = np.random.default_rng(5).choice(np.unique(self.src), (count, 2)).tolist()
        way = self.direction
        return [Path(one, other, self.weight, direction=way) for one, other in ends]


def given_graphs(quick: bool) -> list[Asked]:
    """Those that are there; a small one for a smoke test."""
    if quick:
        one, other = np.random.default_rng(1).integers(40, size=(2, 120))
        return [_asked("random", one, other, "km", "out")]
    found = []
    for name, directed in (("soc-Epinions1", True), ("road-NY", False)):
        given = real_input(name, directed=directed)
        if given is not None:
            half = len(given.src) // given.arcs_an_edge
            src, dst = given.src[:half], given.dst[:half]
            way: Direction = "out" if directed else "both"
            found += [_asked(name, src, dst, weight, way) for weight in (None, "km")]
    src, dst = rmat(18)
    return [*found, _asked("RMAT 18", src, dst, "km", "out")]


def _asked(
    name: str, src: NDArray[Any], dst: NDArray[Any], weight: str | None, way: Direction
) -> Asked:
    km = np.random.default_rng(3).integers(1, 11, len(src))
    return Asked(name, src.astype(np.int64), dst.astype(np.int64), km, weight, way)


def landmark_figures(given: Asked, pairs: int = PAIRS, batches: int = BATCHES) -> list[Figure]:
    """To ask and to follow, each way, and what landmarks make of it."""
    figures: list[Figure] = []
    plain: tuple[float, float, list[object]] | None = None
    alone = statistics.fmean(_follow(given.graph(None), given, batches)[0])
    for way, landmarks in WAYS.items():
        say(f"{given.title}: {way}")
        graph = given.graph(landmarks)
        asking = _ask(graph, given.pairs(pairs))
        times, answers = _follow(graph, given, batches)
        mean, worst = statistics.fmean(times), max(times)
        for query in list(graph.queries.values())[-SAMPLE:]:
            query.verify()
        told = [line for line in graph.explain().splitlines() if line.startswith("landmarks")]
        note = "; ".join([f"worst {1e3 * worst:.1f}", *told])
        section = given.title
        figures += [
            Figure(f"{way}: to ask", 1e3 * asking, "at most", None, "ms", "", section),
            Figure(f"{way}: a batch", 1e3 * mean, "at most", None, "ms", note, section),
        ]
        if plain is None:
            plain = asking, mean, answers
            continue
        assert answers == plain[2], f"{way}: other answers"
        every = pairs * asking + max(mean - alone, 0.0), pairs * plain[0]
        figures += [
            _less(f"{way}: less time to ask", plain[0], asking, section),
            _less(f"{way}: less time a batch", plain[1], mean, section),
            _less(f"{way}: less time if all are asked at every batch", every[1], every[0], section),
        ]
    return figures


def _less(name: str, before: float, now: float, section: str) -> Figure:
    return Figure(name, 100 * (1 - now / before), "at least", None, "%", "", section)


def _ask(graph: gt.Graph, pairs: list[Path]) -> float:
    """Mean seconds to ask a pair of the second half: with the first one, landmarks begin."""
    times = []
    with without_collector():
        for at, pair in enumerate(pairs):
            times.append(seconds_of(partial(graph.query, str(at), pair)))
    return statistics.fmean(times[len(times) // 2 :])


def _follow(graph: gt.Graph, given: Asked, batches: int) -> tuple[list[float], list[object]]:
    """Seconds of each batch, and the answers: of the last version, and how many changed before."""
    edges = np.random.default_rng(6).choice(len(given.src), batches + WARM, replace=False).tolist()
    times, seen = [], []
    with without_collector():
        for edge in edges:
            times.append(seconds_of(partial(graph.advance, delete=[edge])))
            seen.append({name: table.num_rows for name, table in graph.query_changes().items()})
            times.append(seconds_of(partial(graph.advance, insert=[edge])))
    answers = [query.value for query in graph.queries.values()]
    return times[2 * WARM :], [answers, seen]
