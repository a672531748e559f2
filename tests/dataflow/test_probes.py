"""Probes: what they call complete never changes again, and what is closed they call complete."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from graphtide.algorithms.dataflow import strong_components
from graphtide.model.errors import InputError
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY


@pytest.mark.parametrize("seed", range(5))
def test_what_is_done_never_changes_again(seed: int) -> None:
    pick = random.Random(seed)
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    found = strong_components(edges)
    probe, output = found.probe(), found.output()
    for _ in range(8):
        held: list[tuple[int, int]] = []
        first = probe.frontier()[0]
        assert isinstance(first, int)
        for version in range(first, first + 4):
            rows = [(pick.randrange(5), pick.randrange(5)) for _ in range(4)]
            edges.insert(rows, at=version)
            gone = pick.sample(held, min(len(held), 3))
            edges.remove(gone, at=version)
            held = [*(Counter(held) - Counter(gone)).elements(), *rows]
        done = {version for version in range(first + 4) if probe.done(version)}
        assert done == set(range(first))
        flow.advance_to(first + pick.randrange(1, 5))
        assert not done & {version for _, version, _ in output.changes()}
    assert probe.frontier() == (flow.version,)


def test_versions_of_two_coordinates() -> None:
    flow = Dataflow(memory=MEMORY, coordinates=2)
    edges = flow.input("edges", src=int, dst=int)
    probe = edges.count(by="src").probe()
    edges.insert([(1, 2)], at=(1, 1))
    assert probe.frontier() == ((0, 0),)
    flow.advance_to((0, 2), (2, 0))
    assert set(probe.frontier()) == {(0, 2), (2, 0)}
    assert [probe.done(version) for version in ((1, 1), (0, 1), (1, 2), (2, 0))] == [
        True,
        True,
        False,
        False,
    ]


def test_within_a_run_its_versions_are_not_done() -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    probe = edges.probe()
    seen: list[bool] = []
    edges.inspect(lambda *_: seen.append(probe.done(0))).output()
    edges.insert([(1, 2)])
    flow.advance()
    assert seen == [False]
    assert probe.done(0)
    edges.insert([(1, 3)])
    flow.advance()
    assert seen == [False, True]


def test_a_dataflow_that_came_late_has_to_run_first() -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    by_source = edges.arrange("src")
    edges.insert([(1, 2)])
    flow.advance()
    late = Dataflow("late", beside=flow)
    imported: Any = late.import_arrangement(by_source, history=True)
    probe = imported.count(by="src").probe()
    assert not probe.done(0)
    late.advance()
    assert probe.done(0)
    assert repr(probe) == "<probe of late: complete before 2>"
    late.close()
    with pytest.raises(InputError, match="late was closed"):
        probe.frontier()


def test_what_cannot_be_probed() -> None:
    flow = Dataflow(memory=MEMORY)
    roots = flow.input("roots", node=int)
    with flow.loop() as loop:
        variable = loop.variable(roots)
        with pytest.raises(InputError, match="leave"):
            variable.probe()
        variable.set(variable.distinct())
    with pytest.raises(InputError, match="not a version of this clock"):
        roots.probe().done((1, 2))
