"""The oracle's programs as dataflows, and histories to feed them with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphtide.plan.dataflow_terms import col, least
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.inputs import InputCollection
from graphtide.run.dataflow.outputs import Output
from tests.dataflow.checked import Dataflow
from tests.oracle.dataflow import Program, Records, evaluate, span

MEMORY = 1 << 30
Change = tuple[int, int, tuple[int, int], int]
"""Input, version, record, diff."""


def build(program: Program, inputs: Sequence[Collection], variables: tuple[Any, ...] = ()) -> Any:
    """A collection that computes a program."""
    name, *operands = program
    if name == "input":
        return inputs[operands[0]]
    if name == "variable":
        return variables[operands[0]]
    if name == "iterate":
        initial = build(operands[0], inputs, variables)
        return initial.iterate(lambda it: build(operands[1], inputs, (it, *variables)))
    found = [
        build(operand, inputs, variables) if isinstance(operand, tuple) else operand
        for operand in operands
    ]
    return _apply(name, *found)


def _apply(name: str, source: Collection, *rest: Any) -> Collection:
    match name:
        case "swap":
            return source.map(key=col.value, value=col.key)
        case "add":
            return source.map(key=col.key, value=least(col.value + 1, 9))
        case "fold":
            return source.map(key=(col.key + col.value) % 5, value=col.value % 3)
        case "even":
            return source.filter(col.value % 2 == 0)
        case "rising":
            return source.filter(lambda key, value: key < value)
        case "copies":
            return source.flat_map(
                lambda key, value: [(key, value), (value, value)],
                types={"key": int, "value": int},
            )
        case "negate" | "consolidate" | "distinct":
            return getattr(source, name)()  # type: ignore[no-any-return]
        case "concat" | "minus":
            return getattr(source, name)(*rest)  # type: ignore[no-any-return]
        case "join":
            return source.join_map(rest[0], "key", key=col.value, value=col.value_right)
        case "join_key":
            return source.join_map(rest[0], "key", key=col.key, value=col.value + col.value_right)
        case "semijoin":
            return source.semijoin(rest[0], "key")
        case "antijoin":
            return source.antijoin(rest[0], "key")
        case "threshold":
            return source.threshold(rest[0])
        case "count":
            return source.count(by="key", name="value")
        case "sum":
            return source.sum("value", by="key")
        case "min" | "max":
            return getattr(source, name)(by="key")  # type: ignore[no-any-return]
        case "first" | "top":
            return getattr(source, name)(rest[0], by="key")  # type: ignore[no-any-return]
        case "phases":
            return _phases(source)
        case "span":
            return source.reduce(
                lambda key, values: span([(value[0], times) for value, times in values]),
                by="key",
                types={"value": int},
            )
    raise AssertionError(name)


def _phases(source: Collection) -> Collection:
    """Records come in early rounds; those with even keys go again in later ones."""
    with source.nested_loop("phases") as loop:
        early = source.enter(loop, at=col.value % 4)
        even = source.filter(col.key % 2 == 0)
        late = even.enter(loop, at=col.value % 4 + 1 + col.key % 3)
        found = early.minus(late).min(by="key")
    return found.leave()


def start(
    program: Program, inputs: int, **settings: Any
) -> tuple[Dataflow, list[InputCollection], Output]:
    """A dataflow of one program with so many inputs."""
    flow = Dataflow(memory=MEMORY, **settings)
    sources = [flow.input(f"input {number}", key=int, value=int) for number in range(inputs)]
    return flow, sources, build(program, sources).output()


def accumulated(history: Sequence[Change], inputs: int, version: int) -> list[Records]:
    """The inputs as of a version."""
    found: list[Records] = [{} for _ in range(inputs)]
    for number, at, record, diff in history:
        if at <= version:
            found[number][record] = found[number].get(record, 0) + diff
    return found


def check(
    program: Program, inputs: int, history: Sequence[Change], stops: Sequence[int], **settings: Any
) -> None:
    """Feed a history in the physical batches that stops make of it; compare every version."""
    flow, sources, output = start(program, inputs, **settings)
    seen: Records = {}
    fed: set[int] = set()
    version = 0
    for stop in stops:
        for place, (number, at, record, diff) in enumerate(history):
            # What is fed early waits: arrival is out of order wherever `place` is odd.
            if place not in fed and (at < stop or place % 2):
                fed.add(place)
                sources[number].update([record], [diff], at=at)
        flow.advance_to(stop)
        changes = output.changes()
        for now in range(version, stop):
            for record, _, diff in (item for item in changes if item[1] == now):
                seen[record] = seen.get(record, 0) + diff
            expected = evaluate(program, accumulated(history, inputs, now))
            assert {r: c for r, c in seen.items() if c} == expected, f"at version {now}"
        assert all(version <= at < stop for _, at, _ in changes)
        version = stop
