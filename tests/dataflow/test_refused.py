"""An advance that fails: the batch is refused, and the dataflow goes on as if it had never been.

Random dataflows fail wherever they can, in every batch: between any two operators, and in the
middle of kernels that add up. What is fed again must give what the oracle says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

import graphtide as gt
from graphtide.dataflow import Dataflow, col, total
from graphtide.engine.dataflow import machine as machines
from graphtide.kernels.dataflow import join, layout, merging, reduce, sorting
from graphtide.model.errors import InputError, LimitError
from tests.compiled import interpreted
from tests.dataflow.crews import carried_out, shared_by
from tests.dataflow.histories import scenario
from tests.dataflow.scenarios import Player, Scenario, expected
from tests.oracle.flow_operators import NotLegalError

MEMORY = 1 << 26
SEEDS = (*range(40, 50), 68, 89, 120, 7_771_015)
KERNELS = (
    (merging, "_close_key"),
    (sorting, "_measure"),
    (join, "_join_key"),
    (reduce, "stand"),
    (reduce, "emit"),
)
"""Where a number may turn out to be too large."""


@contextmanager
def broken(chance: Random) -> Iterator[None]:
    """Let the next run fail: behind some operator, in some kernel, or when it is done."""
    kernel, left = machines.run, chance.choice([1, 2, 3, 5, 8, 20, 60])
    module, name = chance.choice(KERNELS)
    called, calls = getattr(module, name), chance.choice([1, 2, 4, 9, 25, 1 << 30])

    def fails(*given: Any) -> Any:
        nonlocal calls
        calls -= 1
        if calls == 0:
            raise ArithmeticError("a number is too large")
        return called(*given)

    def stops(words: Any, schedule: int) -> int:
        nonlocal left, calls
        ended = int(kernel(words, schedule))
        left -= 1
        if left == 0 or ended == layout.DONE:
            calls = 0
            raise KeyboardInterrupt
        return ended

    patched = pytest.MonkeyPatch()
    patched.setattr(machines, "run", stops)
    if interpreted():
        patched.setattr(layout, "RUN_LENGTH", 1)
        patched.setattr(module, name, fails)
    try:
        yield
    finally:
        patched.undo()


class FailingPlayer(Player):
    """Plays a scenario in which every batch fails once or twice before it succeeds."""

    def __init__(self, tried: Scenario, seed: int) -> None:
        super().__init__(tried, expected(tried))
        self.chance = Random(seed)
        self.before = 0
        self.batch = 0

    def do(self, line: str) -> None:
        """Run a line; one that advances, only after it has failed."""
        if not line.startswith("n_flow.advance_to("):
            super().do(line)
            return
        stop = self.scenario.stops[self.batch]
        for _ in range(self.chance.choice([1, 1, 2])):
            with broken(self.chance), pytest.raises((KeyboardInterrupt, LimitError)):
                exec(line, self.names)
            self._feed_again(stop)
        super().do(line)
        self.before, self.batch = stop, self.batch + 1

    def _feed_again(self, stop: int) -> None:
        self._put("n", self.scenario.changes, stop)
        guest = self.scenario.guest
        if guest is not None and guest.comes <= self.batch < guest.goes:
            self._put("m", guest.changes, stop)

    def _put(self, prefix: str, changes: Any, stop: int) -> None:
        for number, at, record, diff in changes:
            if self.before <= at < stop:
                super().do(f"{prefix}{number}.update([{record!r}], [{diff}], at={at})")


def refused_in_every_batch(seed: int, workers: int = 1) -> bool:
    """Play a scenario that fails again and again; False for one that is not for this."""
    tried = shared_by(scenario(seed), workers)
    plain = not {("once", True), ("debug", True)} & set(tried.settings)
    if not plain or tried.columns:
        return False
    try:
        player = FailingPlayer(tried, seed)
    except NotLegalError:
        return False
    try:
        player.play()
    except LimitError as error:
        return "64 bits" not in str(error)  # Of the advance that was to succeed.
    return True


@pytest.mark.interpreted
@pytest.mark.parametrize("workers", [1, 2])
def test_a_batch_that_failed_leaves_nothing_behind(workers: int) -> None:
    with carried_out("turns"):
        assert sum(refused_in_every_batch(seed, workers) for seed in SEEDS) > 6


@pytest.mark.parametrize("workers", [1, 2])
def test_a_dataflow_goes_on_behind_a_sum_that_was_too_large(workers: int) -> None:
    flow = Dataflow(memory=MEMORY, workers=workers)
    numbers = flow.input("numbers", key=int, value=int)
    output = numbers.aggregate("key", sum=total("value")).output()
    numbers.insert([(1, 5), (2, 7)])
    flow.advance()
    numbers.insert([(1, 1 << 62), (1, 1 << 62), (2, 1)])
    numbers.insert([(2, 2)], at=5)
    with carried_out("turns"), pytest.raises(LimitError, match="64 bits"):
        flow.advance()
    assert flow.version == 1
    assert output.records() == {(1, 5): 1, (2, 7): 1}
    numbers.insert([(1, 1)])
    flow.advance()
    assert output.records() == {(1, 6): 1, (2, 7): 1}
    flow.advance_to(6)
    assert output.changes()[-2:] == [((2, 7), 5, -1), ((2, 9), 5, 1)]


def test_a_loop_that_merged_what_failed_with_what_was_there_goes_on() -> None:
    """Every round adds a batch to the traces of the loop, and small ones are merged at once."""
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    start = flow.input("start", node=int)
    reached = start.iterate(
        lambda seen: seen.join_map(edges, on={"node": "src"}, node=col.dst).concat(start).distinct()
    )
    output = reached.map(key=0, node=col.node).aggregate("key", sum=total("node")).output()
    edges.insert([(at, at + 1) for at in range(5)])
    start.insert([(0,)])
    flow.advance()
    edges.insert([(at, at + 1) for at in range(5, 20)] + [(20, 1 << 62), (20, 1 << 62 | 1)])
    with pytest.raises(LimitError, match="64 bits"):
        flow.advance()
    assert output.records() == {(0, sum(range(6))): 1}
    edges.insert([(5, 6), (2, 7)])
    edges.remove([(3, 4)])
    flow.advance()
    assert output.records() == {(0, 0 + 1 + 2 + 3 + 7): 1}


def test_a_dataflow_goes_on_behind_a_function_that_failed() -> None:
    flow = Dataflow(memory=MEMORY)
    edges = flow.input("edges", src=int, dst=int)
    ratios = edges.map(lambda src, dst: src // dst, types={"ratio": int})
    output = ratios.count(by="ratio").output()
    for rows in ([(4, 2)], [(1, 0), (8, 4)], [(6, 3)]):
        edges.insert(rows)
        if (1, 0) in rows:
            with pytest.raises(InputError, match="ZeroDivisionError") as told:
                flow.advance()
            assert told.value.where == "<lambda>(1, 0)"
        else:
            flow.advance()
    assert output.records() == {(2, 2): 1}
    assert flow.version == 2


SUMS = """
.decl given(x: number, w: number)
.decl sum_of(x: number, s: number)
.decl grows(x: number)
given(1, 2).
sum_of(x, s) :- given(x, _), s = sum w : { given(x, w) }.
grows(x) :- given(x, _).
grows(x + 1) :- grows(x).
.output sum_of
"""


def test_rules_go_on_behind_facts_that_were_refused() -> None:
    rules = gt.datalog(SUMS, memory=MEMORY)
    for _ in range(2):
        rules.insert("given", [(1, 1 << 62), (1, (1 << 62) + 1)])
        rules.delete("given", [(1, 2)])
        with pytest.raises(LimitError, match="64 bits"):
            rules.advance()
    assert rules.insert("given", [(1, 2)]) == 0
    assert rules.insert("given", [(2, 3)]) == 1
    assert rules.facts("sum_of") == [(1, 2), (2, 3)]
    rules.delete("given", [(2, 3)])
    rules.insert("given", [(2, 1 << 62), (2, (1 << 62) + 1)])
    with pytest.raises(LimitError, match="64 bits"):
        rules.advance()
    assert rules.insert("given", [(2, 3)]) == 0
    rules.advance()
    assert rules.facts("sum_of") == [(1, 2), (2, 3)]


def test_a_query_that_fails_takes_nothing_with_it() -> None:
    rules = gt.datalog(SUMS, memory=MEMORY, most_rounds=64)
    standing = rules.query("sum_of(1, s)")
    rules.insert("given", [(1, 5)])
    with pytest.raises(LimitError, match="come to rest"):
        rules.query("grows(x)")
    assert standing.facts() == [(7,)]
    assert rules.facts("sum_of") == [(1, 7)]
    assert rules.query("given(1, w)").facts() == [(2,), (5,)]
    assert len(rules._rules().flow.clock.flows) == 3, "the query that failed has gone"


def test_rules_on_a_flow_keep_the_facts_of_their_text() -> None:
    flow = Dataflow(memory=MEMORY)
    pairs = flow.input("pairs", x=int, w=int)
    text = SUMS.replace(".decl sum_of", ".decl more(x: number, w: number)\n.decl sum_of").replace(
        "grows(x) :-", "given(x, w) :- more(x, w).\ngrows(x) :-"
    )
    output = flow.rules(text, more=pairs)["sum_of"].output()
    pairs.insert([(1, 1 << 62), (1, (1 << 62) + 1)])
    with pytest.raises(LimitError, match="64 bits"):
        flow.advance()
    pairs.insert([(3, 4)])
    flow.advance()
    assert output.records() == {(1, 2): 1, (3, 4): 1}
