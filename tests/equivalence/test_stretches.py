"""Steps that are followed together end as the same steps one by one: rows, state, way back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphtide.algorithms import BFS, WCC, ShortestPaths
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.stretches import Patience
from graphtide.kernels.fixpoint.records import Stretch

VERTICES, EDGES, STEPS = 24, 70, 12
Int32 = NDArray[np.int32]


class Walk:
    """A random plan below a random version: parents in depth-first order, and deltas."""

    def __init__(self, pick: random.Random) -> None:
        ends = [[pick.randrange(VERTICES) for _ in range(EDGES)] for _ in range(2)]
        weights = np.array([pick.randrange(1, 5) for _ in range(EDGES)], np.float64)
        src, dst = (np.array(end, np.int32) for end in ends)
        self.make = lambda: ResidentGraph(VERTICES, src, dst, {"weight": weights}, live=False)
        self.start = {edge for edge in range(EDGES) if pick.random() < 0.6}
        self.parents: list[int] = []
        self.versions: list[set[int]] = []
        self.deltas: list[tuple[Int32, Int32]] = []
        path: list[int] = []
        for step in range(STEPS):
            del path[pick.randrange(len(path) + 1) if pick.random() < 0.4 else len(path) :]
            before = self.versions[path[-1]] if path else self.start
            changed = set(pick.sample(range(EDGES), pick.choice([0, 1, 2, 9, 40])))
            self.parents.append(path[-1] if path else -1)
            self.versions.append(before ^ changed)
            entering, leaving = sorted(changed - before), sorted(changed & before)
            self.deltas.append((np.array(entering, np.int32), np.array(leaving, np.int32)))
            path.append(step)

    def final(self) -> list[bool]:
        """Steps that all later ones are below."""
        return [
            all(self._below(later, step) for later in range(step, STEPS)) for step in range(STEPS)
        ]

    def stretch(self, first: int) -> Stretch:
        """The steps from one on, which must not go back above its parent."""
        edges = [part for delta in self.deltas[first:] for part in delta]
        places = np.concatenate([[0], np.cumsum([len(part) for part in edges])])
        start = self.parents[first]
        parents = [-1 if item == start else item - first for item in self.parents[first:]]
        flat = np.concatenate([np.empty(0, np.int32), *edges])
        return Stretch(flat, places, np.array(parents, np.int32), np.array(self.final()[first:]))

    def _below(self, step: int, above: int) -> bool:
        while step > above:
            step = self.parents[step]
        return step == above


def maintainer(program: Any, graph: ResidentGraph, version: set[int]) -> FixpointMaintainer:
    """A maintainer of the program, started at a version."""
    graph.flip(np.array(sorted(version), np.int32), np.empty(0, np.int32))
    parameters = (0,) if program.plan.parameters else ()
    made = FixpointMaintainer(graph, program.plan, parameters)
    made.start()
    return made


def values_of(program: Any, walk: Walk, version: set[int]) -> list[float]:
    """From scratch on a graph of its own."""
    found: list[float] = maintainer(program, walk.make(), version).values().tolist()
    return found


@pytest.mark.parametrize("program", [BFS, WCC, ShortestPaths], ids=["hops", "components", "paths"])
def test_together_as_one_by_one(program: Any) -> None:
    for seed in range(30):
        pick = random.Random(seed)
        walk = Walk(pick)
        kept = maintainer(program, walk.make(), walk.start)
        patience = pick.choice([Patience(), Patience(cycles=0), Patience(rows=3)])
        kept.patience = pick.choice([0.25, 4.0])
        done = follow_all(kept, walk, patience)
        versions = [walk.start, *walk.versions]
        for step, (parent, changes) in enumerate(zip(walk.parents, done, strict=True)):
            old = values_of(program, walk, versions[parent + 1])
            new = values_of(program, walk, versions[step + 1])
            wanted = {at: (a, b) for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b}
            assert changes == wanted, (seed, step)
        assert kept.values().tolist() == values_of(program, walk, walk.versions[-1])
        kept.verify()


def follow_all(
    kept: FixpointMaintainer, walk: Walk, patience: Patience
) -> list[dict[int, tuple[float, float]]]:
    """All steps: together as far as that goes, and alone where a stretch breaks off."""
    done: list[dict[int, tuple[float, float]]] = []
    path: list[int] = []
    while len(done) < STEPS:
        first = len(done)
        while path and path[-1] != walk.parents[first]:
            path.pop()
            kept.rollback()
        if all(
            walk.parents[at] >= first or walk.parents[at] == walk.parents[first]
            for at in range(first, STEPS)
        ):
            found = kept.follow_stretch(walk.stretch(first), patience)
            bounds = np.cumsum(found.counts)[:-1] if found.steps else []
            columns = (found.changes.vertices, found.changes.old, found.changes.new)
            parts = [np.split(column, bounds) for column in columns]
            done += [rows(*part) for part in zip(*parts, strict=True)] if found.steps else []
            path += [first + at for at in found.path]
            if found.steps:
                continue
        (change,) = kept.advance(*walk.deltas[first]).values()
        done.append(rows(change.vertices, change.old, change.new))
        path.append(first)
    return done


def rows(vertices: Any, old: Any, new: Any) -> dict[int, tuple[float, float]]:
    """What changed, by vertex."""
    pairs = zip(old.tolist(), new.tolist(), strict=True)
    return dict(zip(vertices.tolist(), pairs, strict=True))
