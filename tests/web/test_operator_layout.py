"""Where the page puts operators of dataflows: random ones, laid out by its own module."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from graphtide.web.opening import open_page
from tests.web import things
from tests.web.browser import Page

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

LAYOUT = """
import("gt/parts/operator_layout.js").then(({ layoutOperators }) => (%s).map((flow) => {
  const made = layoutOperators(flow.operators, flow.edges, flow.loops);
  return { ...made, operators: [...made.operators], loops: [...made.loops] };
}))
"""
Flow = dict[str, Any]
Box = dict[str, float]


def random_flow(seed: int) -> Flow:
    """Operators in loops that may stand in each other, edges onwards, and some that lead back."""
    pick = random.Random(seed)
    loops = [
        {"id": number, "name": f"loop {number}", "parent": pick.choice([None, *range(1, number)])}
        for number in range(1, pick.randint(1, 4))
    ]
    count = pick.randint(1, 30)
    inside = [None, None, *(loop["id"] for loop in loops)]
    operators = [
        {"id": number, "loop": pick.choice(inside), "height": pick.choice([44, 84])}
        for number in range(count)
    ]
    edges = [
        sorted((pick.randrange(count), pick.randrange(count)))
        for _ in range(pick.randint(0, 2 * count))
    ]
    back = [edge[::-1] for edge in pick.sample(edges, len(edges) // 5)]
    return {"operators": operators, "edges": [*edges, *back], "loops": loops}


def overlap(one: Box, other: Box) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def holds(outer: Box, inner: Box) -> bool:
    return (
        outer["x"] <= inner["x"]
        and outer["y"] <= inner["y"]
        and inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"]
    )


def around(flow: Flow, loop: int | None) -> set[int]:
    """A loop and all that it stands in."""
    parents = {one["id"]: one["parent"] for one in flow["loops"]}
    found: set[int] = set()
    while loop is not None:
        found.add(loop)
        loop = parents[loop]
    return found


def check(flow: Flow, layout: dict[str, Any]) -> None:
    """Nothing lies on anything else, and loops hold what is theirs alone."""
    boxes, loops = dict(layout["operators"]), dict(layout["loops"])
    assert set(boxes) == {one["id"] for one in flow["operators"]}
    whole = {"x": -1e-6, "y": -1e-6} | {side: layout[side] + 1e-3 for side in ("width", "height")}
    for number, box in boxes.items():
        assert holds(whole, box)
        assert not any(overlap(box, boxes[other]) for other in boxes if other < number)
    for one in flow["operators"]:
        mine = around(flow, one["loop"])
        for loop, box in loops.items():
            related = (
                holds(box, boxes[one["id"]]) if loop in mine else not overlap(box, boxes[one["id"]])
            )
            assert related, f"operator {one['id']} and loop {loop}"
    drawn = {number for segment in layout["segments"] for number in segment["edges"]}
    assert drawn == set(range(len(flow["edges"])))
    for segment in layout["segments"]:
        (_, first), *_, (_, last) = segment["points"]
        if segment["last"] and len({*flow["edges"][segment["edges"][0]]}) == 2:
            assert first != last


def test_operators_and_loops_lie_apart(opened: Callable[..., Page]) -> None:
    page = open_page(things.collection(), browser=False, report=lambda _: None)
    with page:
        shown = opened(page.address)
        shown.wait("h1")
        flows = [random_flow(seed) for seed in range(300)]
        layouts = shown.evaluate(LAYOUT % json.dumps(flows))
        for flow, layout in zip(flows, layouts, strict=True):
            check(flow, layout)
