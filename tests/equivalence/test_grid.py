"""Views fed as versions of two coordinates: each is the oracle's, and differences are saved."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.optimize import plan_collection
from graphtide.plan.collection import ViewMatrix, grid_plans
from graphtide.store.parts import PartsInMemory
from tests.oracle.dataflow import strong_components
from tests.property.view_matrices import check_fits

pytestmark = pytest.mark.compiled

Mask = Any


def grid_masks(pick: random.Random, edges: int, rows: int, columns: int, style: str) -> list[Mask]:
    """Versions of a grid, row by row."""
    one = np.array([pick.randrange(rows) for _ in range(edges)])
    other = np.array([pick.randrange(columns) for _ in range(edges)])
    places = list(product(range(rows), range(columns)))
    if style == "expanding":
        return [(one <= row) & (other <= column) for row, column in places]
    if style == "windows":
        return [(one == row) & (other >= column) for row, column in places]
    if style == "shrinking":
        return [(one >= row) & (other >= column) for row, column in places]
    return [np.array([pick.random() < 0.5 for _ in range(edges)]) for _ in places]


def strongly(vertices: int, pairs: list[tuple[int, int]], held: Mask) -> list[int]:
    there = [pair for pair, is_there in zip(pairs, held, strict=True) if is_there]
    return strong_components(vertices, there)["component"]


@pytest.mark.parametrize("style", ["expanding", "windows", "shrinking", "random"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (4, 1), (2, 3)])
def test_every_view_of_a_grid_is_the_oracles(style: str, shape: tuple[int, int]) -> None:
    pick = random.Random(f"{style} {shape}")
    vertices = 9
    pairs = [(pick.randrange(vertices), pick.randrange(vertices)) for _ in range(30)]
    graph = gt.Graph(*zip(*pairs, strict=True), vertices=range(vertices))
    masks = grid_masks(pick, len(pairs), *shape, style)
    run = graph.run(gt.algorithms.SCC(), masks, grid=shape, verify=1)
    assert run.finished
    for at, held in enumerate(masks):
        assert run.values(at).tolist() == strongly(vertices, pairs, held), at
    plain = graph.run(gt.algorithms.SCC(), masks)
    assert run.to_arrow().equals(plain.to_arrow())
    assert run.summary().to_pylist() == plain.summary().to_pylist()
    assert f"grid of {shape[0]} x {shape[1]} views" in run.explain()


def test_a_product_of_growing_windows_is_told_by_each_edge_once() -> None:
    pick = random.Random("once")
    masks = grid_masks(pick, 500, 6, 7, "expanding")
    rows, counts = np.unique(np.stack(masks, axis=1), axis=0, return_counts=True)
    used = rows.any(axis=1)
    matrix = ViewMatrix(rows[used], counts[used])
    for order in ("chain", "tree", "manual"):
        plan = plan_collection(matrix, order=order)
        grid, steps = grid_plans(plan, (6, 7))
        check_fits(steps, matrix)
        assert grid.differences(matrix.weights) == 500
        assert plan.differences(matrix.weights) > 1000
        total = np.cumsum(np.cumsum(grid.diffs, axis=0), axis=1)
        assert (matrix.membership == total.reshape(42, -1).T).all()


def test_the_differences_saved_are_told() -> None:
    pick = random.Random("told")
    graph = gt.Graph(
        *zip(*[(pick.randrange(9), pick.randrange(9)) for _ in range(60)], strict=True)
    )
    masks = grid_masks(pick, 60, 3, 4, "expanding")
    told = graph.run(gt.algorithms.SCC(), masks, grid=(3, 4)).explain()
    assert "60 edges came or went" in told


def test_grids_that_cannot_be() -> None:
    graph = gt.Graph([0, 1], [1, 0])
    versions = [[0], [1], [0, 1]]
    for grid, told in (((2, 2), "there are 3"), ((0, 3), "cannot be"), (3, "cannot be")):
        with pytest.raises(gt.GraphtideError, match=told):
            graph.run(gt.algorithms.SCC(), versions, grid=grid)  # type: ignore[arg-type]
    with pytest.raises(gt.GraphtideError, match="WCC is no dataflow"):
        graph.run(gt.algorithms.WCC(), versions, grid=(1, 3))
    with pytest.raises(gt.GraphtideError, match="cannot be run from scratch"):
        graph.run(gt.algorithms.SCC(), versions, grid=(1, 3), strategy="scratch")


def test_an_interrupted_grid_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtide.run.collection.facts import RunRequest
    from graphtide.run.collection.grid import GridRun
    from graphtide.run.collection.runs_in_memory import arranged
    from graphtide.run.collection.start import PreparedRun
    from graphtide.run.live.programs import compiled_program

    pick = random.Random("resume")
    pairs = [(pick.randrange(9), pick.randrange(9)) for _ in range(30)]
    graph = gt.Graph(*zip(*pairs, strict=True), vertices=range(9))
    masks = grid_masks(pick, 30, 3, 4, "random")
    whole = graph.run(gt.algorithms.SCC(), masks, grid=(3, 4))
    chosen = compiled_program(gt.algorithms.SCC(), "auto")
    arrangement = arranged(graph._snapshot(), masks, "manual", chosen.needed)
    request = RunRequest("", chosen, grid=(3, 4))
    parts = PartsInMemory()
    hand = PreparedRun(arrangement, request)
    base = hand.base()
    close, rows = GridRun._close_row, []

    def stopping(self: Any, row: int) -> int:
        rows.append(row)
        if len(rows) == 3:
            raise KeyboardInterrupt
        return close(self, row)

    monkeypatch.setattr(GridRun, "_close_row", stopping)
    with pytest.raises(KeyboardInterrupt):
        hand.run(base, parts)
    record = parts.record()
    assert record is not None
    assert record.num_rows == 8
    again = PreparedRun(arrangement, request)
    again.run(base, parts)
    record = parts.record()
    assert record is not None
    assert record.column("step").to_pylist() == list(range(12))
    assert record.column("changed").to_pylist() == whole.record().column("changed").to_pylist()
