"""Loops: what comes in from outside, at any place and however it was declared, is never late."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from graphtide.dataflow import Collection, bits, col, least
from graphtide.model.errors import InputError, LimitError
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow

Step = Callable[[Collection, Collection, Collection], Collection]

HALVES: dict[str, Step] = {
    "no state": lambda v, a, b: v.filter(col.x > 1).map(x=col.x // 2).concat(a, b),
    "others first": lambda v, a, b: b.concat(v.filter(col.x > 1).map(x=col.x // 2), a),
    "distinct first": lambda v, a, b: v.distinct().filter(col.x > 1).map(x=col.x // 2).concat(a, b),
    "a function": lambda v, a, b: (
        v.filter(col.x > 1).map(lambda x: x // 2, types={"x": int}).concat(a, b)
    ),
    "twice negated": lambda v, a, b: (
        v.filter(col.x > 1).map(x=col.x // 2).negate().minus(a).minus(b).negate()
    ),
}


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("order", ["AB", "BA"])
def test_what_is_concatenated_into_a_loop_comes_at_once(name: str, order: str, debug: bool) -> None:
    flow = Dataflow(memory=MEMORY, debug=debug)
    made = {letter: flow.input(letter, x=int) for letter in order}
    a, b = made["A"], made["B"]
    output = a.iterate(lambda v: HALVES[name](v, a, b)).output()
    a.insert([(5,)])
    b.insert([(12,)])
    flow.advance()
    halves = {(1,): 2, (2,): 1, (3,): 1, (5,): 1, (6,): 1, (12,): 1}
    assert output.records() == halves
    output.drain()
    flow.advance()
    assert output.changes() == []


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_what_comes_in_counts_once_for_every_round(rounds: int) -> None:
    flow = Dataflow(memory=MEMORY, debug=True)
    with flow.loop() as loop:
        a = flow.input("a", x=int)
        variable = loop.variable(a)
        found = variable.concat(b := flow.input("b", x=int))
        variable.set(found, rounds=rounds)
    output = variable.leave().output()
    a.insert([(1,)])
    b.insert([(2,)])
    flow.advance()
    assert output.records() == {(1,): 1} | ({(2,): rounds} if rounds else {})


def test_a_definition_may_be_declared_after_all_else() -> None:
    flow = Dataflow(memory=MEMORY)
    with flow.loop() as loop:
        variable = loop.variable(x=int)
        output = variable.leave().output()
        late = flow.input("late", x=int)
        variable.set(late)
    late.insert([(1,)])
    flow.advance()
    assert output.records() == {(1,): 1}


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_collections_enter_loops_in_loops_at_any_place(order: tuple[str, ...]) -> None:
    """Halves of b are taken within, and a and c come in outside and inside of that."""
    flow = Dataflow(memory=MEMORY, debug=True)
    made = {name: flow.input(name, x=int) for name in order}
    with flow.loop("outer") as outer:
        v = outer.variable(x=int)
        with outer.loop("inner") as inner:
            w = inner.variable(v)
            halves = w.filter(col.x > 1).map(x=col.x // 2)
            w.set(halves.concat(made["b"]))
        v.set(w.leave().concat(made["a"], made["c"]).distinct())
    output = v.leave().output()
    made["b"].insert([(9,)])
    made["a"].insert([(20,)])
    flow.advance()
    made["c"].insert([(6,)])
    made["b"].remove([(9,)])
    flow.advance()
    assert output.records() == {(n,): 1 for n in (20, 6)}


def test_variables_that_define_each_other_without_state() -> None:
    flow = Dataflow(memory=MEMORY, debug=True)
    with flow.loop() as loop:
        one, other = loop.variable(x=int), loop.variable(x=int)
        a, b = flow.input("a", x=int), flow.input("b", x=int)
        one.set(other.filter(col.x > 0).map(x=col.x - 1).concat(b))
        other.set(one.filter(col.x > 0).map(x=col.x - 2).concat(a))
    outputs = one.leave().output(), other.leave().output()
    a.insert([(4,)])
    b.insert([(3,)])
    flow.advance()
    assert [output.records() for output in outputs] == [
        {(3,): 2, (0,): 2},
        {(4,): 1, (1,): 2},
    ]


def test_a_variable_starts_as_the_first_round_of_what_it_starts_as() -> None:
    """Later rounds of the initial value are no part of it."""
    flow = Dataflow(memory=MEMORY, debug=True)
    rows = flow.input("rows", x=int)
    with flow.loop() as loop:
        late = rows.enter(loop, at=col.x)
        variable = loop.variable(late)
        variable.set(variable.filter(col.x >= 0))
    output = variable.leave().output()
    rows.insert([(0,), (2,)])
    flow.advance()
    assert output.records() == {(0,): 1}


def test_what_goes_round_through_a_function_comes_to_rest() -> None:
    """A record and its like that is taken away do not go round together for ever."""
    flow = Dataflow(memory=MEMORY, most_rounds=64)
    rows = flow.input("rows", x=int)
    output = rows.iterate(lambda v: v.map(lambda x: x // 2, types={"x": int})).output()
    rows.insert([(9,), (5,)])
    flow.advance()
    assert output.records() == {(0,): 2}


def test_a_loop_does_not_use_what_comes_out_of_it() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", x=int)
    with flow.loop("round") as loop:
        variable = loop.variable(rows)
        variable.set(variable.distinct().leave().map(x=col.x // 2))
    variable.leave().output()
    with pytest.raises(InputError, match="in the same round, what comes out of it") as caught:
        flow.advance()
    assert "loop round" in str(caught.value)


def test_a_loop_is_of_one_dataflow() -> None:
    """Loops and collections of another dataflow are refused wherever they could be named."""
    flow, other = Dataflow("one", memory=MEMORY), Dataflow("other", memory=MEMORY)
    rows, strange = flow.input("rows", x=int), other.input("rows", x=int)
    with flow.loop() as loop:
        with pytest.raises(InputError, match="different dataflows"):
            strange.enter(loop)
        with pytest.raises(InputError, match="different dataflows"):
            loop.variable(strange)
        variable = loop.variable(rows)
        with pytest.raises(InputError, match="different dataflows"):
            variable.set(strange)
        variable.set(rows)


def test_what_is_in_a_loop_cannot_be_imported() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", x=int)
    with flow.loop() as loop:
        inside = rows.enter(loop).distinct()
    guest = Dataflow("guest", beside=flow)
    with pytest.raises(InputError, match="is in a loop, whose rounds guest does not have"):
        guest.import_arrangement(inside)


ENDLESS: dict[str, Callable[[Collection], Any]] = {
    "no state": lambda v: v.map(x=col.x + 1),
    "to and fro": lambda v: v.negate(),
    "state": lambda v: v.map(x=1 - col.x).distinct(),
}


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_a_loop_without_rest_is_told(name: str, debug: bool) -> None:
    flow = Dataflow(memory=MEMORY, debug=debug, most_rounds=100)
    rows = flow.input("rows", x=int)
    rows.iterate(ENDLESS[name]).output()
    rows.insert([(0,)])
    with pytest.raises(LimitError, match="does not seem to come to rest"):
        flow.advance()
    if debug:
        with pytest.raises(InputError, match="cannot go on"):
            flow.advance()
    else:
        assert flow.advance() == 1


def test_as_many_rounds_as_are_allowed_are_no_error() -> None:
    flow = Dataflow(memory=MEMORY, most_rounds=16)
    rows = flow.input("rows", x=int)
    output = rows.iterate(lambda v: v.map(x=least(col.x + 1, 14))).output()
    rows.insert([(0,)])
    flow.advance()
    assert output.records() == {(14,): 1}


@pytest.mark.parametrize("depth", [1, 3])
def test_a_record_that_enters_too_late_is_told(depth: int) -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", x=int)
    entered: Collection = rows
    for _ in range(depth):
        with entered.nested_loop() as loop:
            entered = entered.enter(loop, at=col.x).distinct()
    for _ in range(depth):
        entered = entered.leave()
    entered.output()
    rows.insert([(-3,), (7,), (1 << 62,)])
    with pytest.raises(LimitError, match="come to rest"):
        flow.advance()


def test_least_int_and_text_in_loops_are_not_misjudged_in_debug_mode() -> None:
    """Numbers wrap around, NaN is one value, texts compare by characters: debug mode knows."""
    flow = Dataflow(memory=MEMORY, debug=True)
    rows = flow.input("rows", s=str, x=int, f=float)
    rows.map(x=col.x - 1, y=col.x // -1, z=col.x * col.x, b=bits(col.x)).distinct().output()
    rows.filter((col.f == col.f) & (col.f > 1)).map(f=least(col.f / 0.0, col.f)).output()
    totals = rows.sum("f", by="s").output()
    rows.reduce(lambda key, found: [(found[0][0][0],)], by="x", types={"first": str}).output()
    strange = [("b", -(1 << 63), float("nan")), ("a", (1 << 63) - 1, float("inf")), ("a", 3, -0.0)]
    rows.insert(strange)
    flow.advance()
    rows.remove(strange[:2])
    flow.advance()
    assert totals.records() == {("a", 0.0): 1}


def test_a_loop_whose_body_fails_is_given_up() -> None:
    flow = Dataflow(memory=MEMORY)
    edges, roots = flow.input("edges", src=int, dst=int), flow.input("roots", node=int)
    held: list[Collection] = []

    def step(reached: Collection) -> Collection:
        return reached.join_map(edges, on={"node": "src"}, node=col.dst).concat(roots).distinct()

    def mistyped(reached: Collection) -> Collection:
        held.append(step(reached))
        return held[0].select("nod")

    with pytest.raises(InputError, match="There is no column 'nod'"):
        roots.iterate(mistyped)
    with pytest.raises(InputError, match="7 is no collection"):
        roots.iterate(lambda reached: 7)  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="no definition"), flow.loop() as loop:
        loop.variable(roots)
    for use in (Collection.leave, Collection.distinct):
        with pytest.raises(InputError, match="the loop was given up"):
            use(held[0])
    output = roots.iterate(step).output()
    edges.insert([(1, 2), (2, 3), (5, 6)])
    roots.insert([(1,)])
    flow.advance()
    assert output.records() == {(1,): 1, (2,): 1, (3,): 1}
