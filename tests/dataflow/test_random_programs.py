"""Random programs over random histories: every version equals the naive evaluation."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dataflow.building import Change, check
from tests.oracle.dataflow import Program

INPUTS = 2
VERSIONS = 6
ONE = ("swap", "add", "fold", "even", "rising", "copies", "negate", "consolidate", "distinct",
       "count", "sum", "min", "max", "span",
       "phases")  # fmt: skip
TWO = ("concat", "minus", "join", "join_key", "semijoin", "antijoin")
NUMBERED = ("threshold", "first", "top")


@st.composite
def programs(draw: Any, depth: int = 4) -> Program:
    """Programs without loops, and loops that come to rest, in any mixture."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return ("input", draw(st.integers(0, INPUTS - 1)))
    kind = draw(st.sampled_from(("one", "one", "two", "numbered", "iterate")))
    source = draw(programs(depth - 1))
    if kind == "one":
        return (draw(st.sampled_from(ONE)), source)
    if kind == "numbered":
        return (draw(st.sampled_from(NUMBERED)), source, draw(st.integers(1, 3)))
    if kind == "two":
        return (draw(st.sampled_from(TWO)), source, draw(programs(depth - 1)))
    return draw(loops(source, draw(programs(min(depth - 1, 1)))))


@st.composite
def loops(draw: Any, source: Program, edges: Program) -> Program:
    """A loop that only ever adds records to a finite set, or lowers values to a bound."""
    initial: Program = ("distinct", source)
    joined: Program = ("join", ("variable", 0), ("distinct", edges))
    step = draw(st.sampled_from(("close", "least", "fold", "nested")))
    if step == "close":
        return ("iterate", initial, ("distinct", ("concat", ("variable", 0), joined)))
    if step == "least":
        moved: Program = ("add", ("swap", joined))
        return ("iterate", ("min", source), ("min", ("concat", initial, moved)))
    if step == "fold":
        return (
            "iterate",
            initial,
            ("distinct", ("concat", ("variable", 0), ("fold", ("variable", 0)))),
        )
    inner: Program = (
        "iterate",
        ("variable", 0),
        ("distinct", ("concat", ("variable", 0), ("join", ("variable", 0), ("distinct", edges)))),
    )
    return ("iterate", initial, ("distinct", ("concat", inner, ("fold", inner))))


@st.composite
def histories(draw: Any) -> list[Change]:
    """Changes at random versions, about half of which undo an earlier one; some go negative."""
    small = st.tuples(st.integers(0, 4), st.integers(0, 4))
    found: list[Change] = []
    for _ in range(draw(st.integers(0, 14))):
        number, at = draw(st.integers(0, INPUTS - 1)), draw(st.integers(0, VERSIONS - 1))
        if found and draw(st.booleans()):
            number, before, record, diff = draw(st.sampled_from(found))
            found.append((number, max(at, before), record, -diff))
        else:
            found.append((number, at, draw(small), draw(st.sampled_from((1, 1, 1, 2, -1)))))
    return found


@st.composite
def stops(draw: Any) -> list[int]:
    """Where physical batches end: any subset of versions, always the last."""
    return sorted(draw(st.sets(st.integers(1, VERSIONS - 1))) | {VERSIONS})


@given(programs(), histories(), stops())
@settings(deadline=None, max_examples=150)
def test_every_version_is_the_naive_one(
    program: Program, history: list[Change], ends: list[int]
) -> None:
    check(program, INPUTS, history, ends)


@given(programs(), histories(), stops())
@settings(deadline=None, max_examples=40)
def test_every_operator_is_its_definition(
    program: Program, history: list[Change], ends: list[int]
) -> None:
    check(program, INPUTS, history, ends, debug=True)


@given(programs(), histories(), stops(), st.sampled_from((1, 2, 3, 8)))
@settings(deadline=None, max_examples=80)
def test_pauses_of_joins_change_nothing(
    program: Program, history: list[Change], ends: list[int], fuel: int
) -> None:
    check(program, INPUTS, history, ends, fuel=fuel)
