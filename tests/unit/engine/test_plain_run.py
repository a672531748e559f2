"""The run by definition: it goes on while anything moves, and takes no NaN for a message."""

from __future__ import annotations

import numpy as np

from graphtide.algorithms import ShortestPaths
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from tests.unit.programs.sources import read


def path(vertices: int) -> ResidentGraph:
    ends = np.arange(vertices - 1, dtype=np.int32)
    return ResidentGraph(vertices, ends, ends + 1, {"weight": np.full(vertices - 1, 0.5)})


def test_it_goes_on_until_nothing_moves() -> None:
    found = plain_values(path(9), ShortestPaths.plan, (0,))
    assert found["dist"].tolist() == [at / 2 for at in range(9)]


def test_a_nan_is_no_message() -> None:
    program = read(
        """
        @gt.program
        class Tried:
            x: float = 3.0
            best = gt.Min(float)
            iterations = 2
            def traverse(self, u, e, v):
                v.best((u.x - u.x) / (u.x - u.x))
                v.best(u.x - e.weight)
            def update(self, v): v.x = min(v.x, v.best)
        """
    ).plan
    assert plain_values(path(3), program, ())["x"].tolist() == [3.0, 2.5, 2.0]


def test_what_a_branch_changes_does_not_decide_it_again() -> None:
    program = read(
        """
        @gt.program
        class Tried:
            lit: bool = True
            dark: int = 0
            got = gt.Count()
            iterations = 1
            def traverse(self, u, e, v): v.got()
            def update(self, v):
                if v.lit:
                    v.lit = v.got > 1
                else:
                    v.dark = 1
        """
    ).plan
    assert plain_values(path(2), program, ())["dark"].tolist() == [0, 0]


def test_the_bounds_of_a_loop_hold_whatever_its_body_changes() -> None:
    program = read(
        """
        @gt.program
        class Tried:
            first: int = 1
            last: int = 4
            total: int = 0
            got = gt.Count()
            iterations = 1
            def traverse(self, u, e, v): v.got()
            def update(self, v):
                for at in range(v.first, v.last):
                    v.first = v.first + 10 * v.got
                    v.last = v.last + 1
                    v.total = v.total + at
        """
    ).plan
    assert plain_values(path(2), program, ())["total"].tolist() == [6, 6]
