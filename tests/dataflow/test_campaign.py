"""Random dataflows of everything there is, against the plain interpreter of the oracle.

`python -m tests.dataflow.campaign --minutes 30` goes on for as long as one likes.
"""

from __future__ import annotations

import os

import pytest

from tests.compiled import interpreted
from tests.dataflow.campaign import Count, fault, report
from tests.dataflow.histories import scenario
from tests.dataflow.scenarios import Player, Scenario, expected
from tests.dataflow.shrinking import shrunk
from tests.oracle.flows import Description, Node, Run

PARTS = 8
USUAL = 5 if interpreted() else 100
EACH = int(os.environ.get("GRAPHTIDE_CAMPAIGN_EXAMPLES", "0")) or (
    2000 if "GRAPHTIDE_CAMPAIGN" in os.environ else USUAL
)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_version_is_what_the_dataflow_means(part: int) -> None:
    count = Count()
    for seed in range(part * 1_000_000, part * 1_000_000 + EACH):
        tried = scenario(seed)
        if fault(tried, count) is not None:
            pytest.fail(report(tried, seed))
    assert count.dataflows + count.left_out == EACH
    assert count.dataflows > count.left_out, "most of what is made should come to rest"


def test_the_same_number_makes_the_same_scenario() -> None:
    assert scenario(77) == scenario(77)


def test_a_script_is_all_that_was_run() -> None:
    """What is printed for a fault can be pasted."""
    number = next(n for n in range(100) if scenario(n).guest is not None)
    player = Player(scenario(number), expected(scenario(number)))
    player.play()
    names: dict[str, object] = {}
    exec("\n".join(player.script), names)
    first = scenario(number).description.outputs[0]
    assert eval(f"n{first}_out.records()", names) is not None
    names["n_flow"].host.end()  # type: ignore[attr-defined]


def test_shrinking_keeps_what_fails() -> None:
    """Of a large scenario stays what a made-up fault needs: an output of what leaves a loop."""

    def fails(tried: Scenario) -> bool:
        made = tried.description
        return any(made.nodes[number].operator == "leave" for number in made.outputs)

    large = next(s for s in map(scenario, range(200)) if fails(s) and len(s.description.nodes) > 15)
    small = shrunk(large, fails)
    assert fails(small)
    assert small.changes == ()
    assert len(small.description.nodes) < len(large.description.nodes)


def test_the_oracle_runs_loops_in_loops_anew_in_every_round() -> None:
    """By hand: the inner loop halves what the outer one has reached, which comes in once more."""
    column = (("a", "int"),)
    nodes = [
        Node("input", (), column, 0),
        Node("variable", (0,), column, 1),
        Node("variable", (1,), column, 2),
        Node("filter", (2,), column, 2, ("col.a > 1",)),
        Node("map", (3,), column, 2, ((("a", "col.a // 2"),),)),
        Node("concat", (4, 1), column, 2),
        Node("leave", (5,), column, 1),
        Node("threshold", (6,), column, 1, (1,)),
        Node("leave", (7,), column, 0),
    ]
    made = Description(nodes, [0, 0, 1], {1: (7, None), 2: (5, None)}, [8])
    assert Run(made, {0: {(9,): 1}}).value(8) == {(9,): 1, (4,): 1, (2,): 1, (1,): 1}
