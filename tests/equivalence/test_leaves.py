"""Steps that are gone back from at once: what they change is told, and nothing of them stays.

Oracle: the program run by the book on the edges of every version, in plain Python. Trees are broad
and deep, graphs small and thin, with parallel edges and loops, so that most deletions cut something
off; deltas have one edge, or several that share an end.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphtide.lang.python as gt
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.stretches import Followed, Patience
from graphtide.kernels.fixpoint.records import Stretch
from tests.compiled import few_compiled
from tests.equivalence.programs import SELECTING
from tests.examples import repeats
from tests.oracle.programs import run

EXAMPLES = repeats(6)
Rows = dict[int, tuple[Any, Any]]


@gt.program
class Marks:
    """Many begin alike, and values are carried as they are, both ways."""

    mark: int = 0
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.mark = 1 if v.id % 5 == 0 else (2 if v.id % 2 == 0 else 3)

    def traverse(self, u, e, v):
        v.best(u.mark)

    def update(self, v):
        v.mark = min(v.mark, v.best)


@gt.program
class Infection:
    """The same, of truth values."""

    source: gt.Vertex
    ill: bool = False
    any = gt.Or(bool)
    direction = "both"

    def initialize(self, v):
        v.ill = v == self.source

    def traverse(self, u, e, v):
        v.any(u.ill)

    def update(self, v):
        v.ill = v.ill or v.any


PROGRAMS = few_compiled((*SELECTING, Marks, Infection))


class Tree:
    """A plan below a random version: parents depth first, and the edges of every version."""

    def __init__(self, pick: random.Random) -> None:
        self.vertices, count = pick.choice([(6, 9), (14, 20), (24, 34)])
        self.ends = [self._edge(pick) for _ in range(count)]
        self.ends += pick.choices(self.ends, k=3)
        self.weights = [float(pick.randrange(0, 4)) for _ in self.ends]
        self.start = {edge for edge in range(len(self.ends)) if pick.random() < 0.85}
        self.parents: list[int] = []
        self.versions: list[set[int]] = []
        path: list[int] = []
        for step in range(pick.choice([5, 40])):
            del path[max(0, len(path) - pick.choice([0, 1, 1, 1, 2, 5])) :]
            before = self.versions[path[-1]] if path else self.start
            self.parents.append(path[-1] if path else -1)
            self.versions.append(before ^ self._delta(pick, before))
            path.append(step)

    def _edge(self, pick: random.Random) -> tuple[int, int]:
        source = pick.randrange(self.vertices)
        near = [source, source + 1, source - 1, pick.randrange(self.vertices)]
        return source, pick.choice(near[1:] * 3 + near[:1]) % self.vertices

    def _delta(self, pick: random.Random, before: set[int]) -> set[int]:
        """One edge out, some out, some in, or what ends at a vertex in and out."""
        kind, out = pick.choice(["one", "one", "some", "in", "vertex"]), sorted(before)
        others = sorted(set(range(len(self.ends))) - before)
        if kind == "vertex":
            vertex = pick.randrange(self.vertices)
            return {at for at, ends in enumerate(self.ends) if vertex in ends}
        chosen = others if kind == "in" else out
        return set(pick.sample(chosen, min(len(chosen), 1 if kind == "one" else 4)))

    def graph(self) -> ResidentGraph:
        """Its edges, none of them live."""
        src, dst = (np.array(column, np.int32) for column in zip(*self.ends, strict=True))
        weights = {"weight": np.array(self.weights)}
        return ResidentGraph(self.vertices, src, dst, weights, live=False)

    def deltas(self, graph: ResidentGraph) -> list[np.ndarray]:
        """Edges in and out of every step, by inside number and in no order."""
        parts: list[set[int]] = []
        for parent, after in zip(self.parents, self.versions, strict=True):
            before = self.versions[parent] if parent >= 0 else self.start
            parts += [after - before, before - after]
        return [graph.numbers[np.array(list(part), np.int64)] for part in parts]

    def stretch(self, graph: ResidentGraph) -> Stretch:
        """All steps."""
        deltas, steps = self.deltas(graph), len(self.parents)
        places = np.concatenate([[0], np.cumsum([len(part) for part in deltas])])
        flat = np.concatenate([np.empty(0, np.int32), *deltas])
        return Stretch(flat, places, np.array(self.parents, np.int32), np.zeros(steps, np.bool_))

    def oracle(self, program: Any, parameters: dict[str, Any], version: set[int]) -> list[Any]:
        """The values of a version."""
        edges = [(*self.ends[at], {"weight": self.weights[at]}) for at in sorted(version)]
        found, _ = run(program.plan, parameters, self.vertices, edges)
        return found[program.plan.state[0].name]


def bound(program: Any, vertices: int) -> dict[str, Any]:
    """Parameters for a graph of so many vertices."""
    kinds = {"Vertex": 1, "Vertices": tuple(range(0, vertices, 3))}
    return {item.name: kinds[item.kind.name.capitalize()] for item in program.plan.parameters}


def started(program: Any, tree: Tree, graph: ResidentGraph) -> FixpointMaintainer:
    """A maintainer at the version that the tree begins at."""
    start = graph.numbers[np.array(sorted(tree.start), np.int64)].astype(np.int32)
    graph.flip(start, np.empty(0, np.int32))
    parameters = tuple(bound(program, tree.vertices).values())
    made = FixpointMaintainer(graph, program.plan, parameters)
    made.start()
    return made


def rows_of(found: Followed) -> list[Rows]:
    """What changed at each step, by vertex; no vertex twice."""
    told, first = [], 0
    columns = [getattr(found.changes, name).tolist() for name in ("vertices", "old", "new")]
    for count in found.counts.tolist():
        vertices, old, new = (column[first : first + count] for column in columns)
        assert len(set(vertices)) == count
        told.append(dict(zip(vertices, zip(old, new, strict=True), strict=True)))
        first += count
    return told


def wanted_rows(tree: Tree, program: Any, parameters: dict[str, Any]) -> list[Rows]:
    """What changes at each step."""
    values = [tree.oracle(program, parameters, version) for version in tree.versions]
    base, found = tree.oracle(program, parameters, tree.start), []
    for parent, new in zip(tree.parents, values, strict=True):
        old = values[parent] if parent >= 0 else base
        pairs = enumerate(zip(old, new, strict=True))
        found.append({at: pair for at, pair in pairs if pair[0] != pair[1]})
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_step_by_the_book(program: Any) -> None:
    for seed in range(EXAMPLES):
        tree = Tree(random.Random(seed))
        parameters = bound(program, tree.vertices)
        graph = tree.graph()
        kept = started(program, tree, graph)
        begun = kept.values().tolist(), sorted(graph.live_edges().tolist())
        found = kept.follow_stretch(tree.stretch(graph), Patience())
        assert found.steps == len(tree.parents)
        assert rows_of(found) == wanted_rows(tree, program, parameters), seed
        assert kept.values().tolist() == tree.oracle(program, parameters, tree.versions[-1])
        kept.verify()
        for _ in found.path:
            kept.rollback()
        assert (kept.values().tolist(), sorted(graph.live_edges().tolist())) == begun
        kept.verify()
        again = kept.follow_stretch(tree.stretch(graph), Patience())
        assert rows_of(again) == rows_of(found), seed


@pytest.mark.parametrize("program", PROGRAMS)
def test_any_limit_leaves_everything_in_place(program: Any) -> None:
    for seed in range(EXAMPLES):
        pick = random.Random(seed)
        tree = Tree(pick)
        graph = tree.graph()
        kept = started(program, tree, graph)
        patience = pick.choice([Patience(cycles=0), Patience(rows=pick.randrange(20))])
        found = kept.follow_stretch(tree.stretch(graph), patience)
        wanted = wanted_rows(tree, program, bound(program, tree.vertices))
        assert rows_of(found) == wanted[: found.steps], seed
        version = tree.versions[found.path[-1]] if found.path else tree.start
        live = np.sort(graph.numbers[np.array(sorted(version), np.int64)])
        assert np.sort(graph.live_edges()).tolist() == live.tolist()
        assert kept.values().tolist() == tree.oracle(
            program, bound(program, tree.vertices), version
        )
        kept.verify()
