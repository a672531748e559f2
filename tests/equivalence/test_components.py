"""Components under deltas that cut off and rejoin much of the graph, every step compared.

One component holds most vertices, many small ones the rest; groups of vertices lose all their edges
and get them back, the vertex that gives the largest component its label among them.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from graphtide.algorithms import WCC
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer, Renamed
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.fixpoint.records import LAST_NUMBER
from tests.compiled import few_compiled
from tests.equivalence.programs import GreatestLabels
from tests.examples import repeats

PROGRAMS: dict[str, Any] = {"least": WCC, "greatest": GreatestLabels}
NAMES = few_compiled(PROGRAMS, ("least",), str)
ROUNDS = repeats(2)
Ends = list[tuple[int, int]]


class Groups:
    """A graph whose vertices are in groups; those of the first are tied to one another best."""

    def __init__(self, pick: random.Random, vertices: int, edges: int) -> None:
        self.vertices = vertices
        names = list(range(vertices))
        pick.shuffle(names)
        self.core = core = names[: vertices * 3 // 4]
        self.group = [pick.randrange(1, 7) for _ in names]
        for vertex in core:
            self.group[vertex] = 0 if pick.random() < 0.7 else self.group[vertex]
        self.ends: Ends = list(itertools.pairwise(core))
        self.ends += [(pick.choice(core), pick.choice(core)) for _ in range(edges)]
        self.ends += [(pick.choice(names), pick.choice(names)) for _ in range(vertices // 8)]
        self.live = [True] * len(self.ends)

    def removed(self, out: set[int], loose: set[int]) -> tuple[list[int], list[int]]:
        """Edges in and out, for groups without edges and some more edges out."""
        inserted: list[int] = []
        deleted: list[int] = []
        for edge, ends in enumerate(self.ends):
            wanted = edge not in loose and not out & {self.group[end] for end in ends}
            if wanted != self.live[edge]:
                (inserted if wanted else deleted).append(edge)
                self.live[edge] = wanted
        return inserted, deleted

    def labels(self, best: Any) -> list[int]:
        """By a search from every vertex that has none."""
        beside: list[list[int]] = [[] for _ in range(self.vertices)]
        for (one, other), live in zip(self.ends, self.live, strict=True):
            if live:
                beside[one].append(other)
                beside[other].append(one)
        label = [-1] * self.vertices
        for first in range(self.vertices):
            if label[first] >= 0:
                continue
            members, seen = [first], {first}
            for vertex in members:
                for other in beside[vertex]:
                    if other not in seen:
                        seen.add(other)
                        members.append(other)
            for vertex in members:
                label[vertex] = best(members)
        return label


def started(groups: Groups, name: str, patience: float) -> FixpointMaintainer:
    src, dst = (np.array(ends, np.int32) for ends in zip(*groups.ends, strict=True))
    graph = ResidentGraph(groups.vertices, src, dst, {})
    maintainer = FixpointMaintainer(graph, PROGRAMS[name].plan, ())
    maintainer.patience = patience
    maintainer.start()
    return maintainer


def advance(maintainer: FixpointMaintainer, inserted: list[int], deleted: list[int]) -> None:
    """One step, whose report must tell what changed."""
    numbers, before = maintainer.graph.numbers, maintainer.values().copy()
    edges = [np.array(numbers[np.array(part, np.int64)], np.int32) for part in (inserted, deleted)]
    (change,) = maintainer.advance(*edges).values()
    assert (
        sorted(change.vertices.tolist()) == np.flatnonzero(before != maintainer.values()).tolist()
    )
    assert change.old.tolist() == before[change.vertices].tolist()
    assert change.new.tolist() == maintainer.values()[change.vertices].tolist()


def check_roots(maintainer: FixpointMaintainer, groups: Groups) -> None:
    """Every value comes along live edges from the vertex that it names, levels rising."""
    state, inside = maintainer._state.record, maintainer.graph.numbers.tolist()
    outside = {number: edge for edge, number in enumerate(inside)}
    if not maintainer._state.rooted:
        return
    for vertex in range(groups.vertices):
        parent = int(state.parent[vertex])
        if parent < 0:
            assert state.value[vertex] == vertex
            continue
        edge = outside[parent]
        one, other = groups.ends[edge]
        assert groups.live[edge]
        assert vertex in (one, other)
        above = other if vertex == one else one
        assert state.value[above] == state.value[vertex]
        assert state.level[above] < state.level[vertex]
    assert (state.place == -1).all()


@pytest.mark.interpreted
def test_groups_are_cut_off_and_come_back() -> None:
    renamed = 0
    for name, best in (("least", min), ("greatest", max)):
        for seed in range(ROUNDS):
            pick = random.Random(f"groups {name} {seed}")
            groups = Groups(pick, 120, 240)
            maintainer = started(groups, name, pick.choice((0.25, 1.0, 10.0)))
            states = [(maintainer.values().tolist(), list(groups.live))]
            for _ in range(16):
                if len(states) > 1 and pick.random() < 0.3:
                    maintainer.rollback()
                    states.pop()
                    groups.live = list(states[-1][1])
                    assert maintainer.values().tolist() == states[-1][0]
                else:
                    out = {group for group in range(1, 7) if pick.random() < 0.3}
                    loose = set(pick.sample(range(len(groups.ends)), pick.randrange(40)))
                    advance(maintainer, *groups.removed(out, loose))
                    renamed += isinstance(maintainer._done.last.what, Renamed)
                    states.append((maintainer.values().tolist(), list(groups.live)))
                assert maintainer.values().tolist() == groups.labels(best), (name, seed)
                check_roots(maintainer, groups)
            for values, _ in reversed(states[:-1]):
                maintainer.rollback()
                assert maintainer.values().tolist() == values
    assert renamed >= ROUNDS


@pytest.mark.parametrize("name", NAMES)
def test_one_edge_to_a_better_label_renames_a_large_component(name: str) -> None:
    best = {"least": min, "greatest": max}[name]
    for seed in range(max(1, ROUNDS // 4)):
        pick = random.Random(f"one edge {name} {seed}")
        groups = Groups(pick, 700, 2500)
        leader = best(range(700))
        groups.ends.append((leader, next(other for other in groups.core if other != leader)))
        groups.live.append(True)
        maintainer = started(groups, name, 0.0)
        loose = {edge for edge, ends in enumerate(groups.ends) if leader in ends}
        advance(maintainer, *groups.removed(set(), loose))
        check_roots(maintainer, groups)
        for edge in sorted(loose):
            loose.remove(edge)
            advance(maintainer, *groups.removed(set(), loose))
            assert maintainer.values().tolist() == groups.labels(best)
            check_roots(maintainer, groups)
            if isinstance(maintainer._done.last.what, Renamed):
                break
        else:
            pytest.fail("no edge renamed the component")
        maintainer.rollback()
        assert (
            maintainer.values()[groups.ends[edge][0]] != maintainer.values()[groups.ends[edge][1]]
        )


def test_levels_that_have_sunk_too_far_are_made_anew() -> None:
    pick = random.Random("sunk")
    groups = Groups(pick, 120, 240)
    maintainer = started(groups, "least", 10.0)
    loose = {edge for edge, ends in enumerate(groups.ends) if 0 in ends}
    advance(maintainer, *groups.removed(set(), loose))
    maintainer._state.record.level[:] -= 1 << 30
    advance(maintainer, *groups.removed(set(), set()))
    assert not isinstance(maintainer._done.last.what, Renamed)
    assert maintainer.values().tolist() == groups.labels(min)
    check_roots(maintainer, groups)
    maintainer.rollback()
    groups.removed(set(), loose)
    assert maintainer.values().tolist() == groups.labels(min)


@pytest.mark.parametrize("left", range(4))
def test_repairs_that_run_out_of_numbers_begin_again(left: int) -> None:
    pick = random.Random(f"numbers {left}")
    groups = Groups(pick, 60, 90)
    maintainer = started(groups, "least", 10.0)
    for step in range(12):
        if step == 4:
            maintainer._advances = LAST_NUMBER - left
        loose = set(pick.sample(range(len(groups.ends)), pick.randrange(40)))
        live, values = list(groups.live), maintainer.values().tolist()
        advance(maintainer, *groups.removed(set(), loose))
        assert maintainer.values().tolist() == groups.labels(min)
        assert 0 < maintainer._advances <= LAST_NUMBER
        if step % 3 == 0:
            maintainer.rollback()
            groups.live = live
            assert maintainer.values().tolist() == values
        check_roots(maintainer, groups)
