"""Paths as programs of the machine: expressions become steps over columns, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphtide.engine.dataflow.paths import LINEAR, Path
from graphtide.engine.dataflow.steps import Encode
from graphtide.engine.dataflow.writing import Writer
from graphtide.kernels.dataflow import programs as codes
from graphtide.plan.dataflow import (
    DataflowPlan,
    Filter,
    Leave,
    Map,
    Negate,
    Schema,
    Variable,
    sources_of,
)
from graphtide.plan.dataflow_expressions import INT, Column, Constant, Expression

__all__ = ["Encode", "doubtful", "is_plain", "path_program", "sums_of", "sums_program"]


def path_program(path: Path, schema: Schema, encode: Encode, round_limit: int) -> list[int]:
    """The words of a program for a path from records of this schema.

    A delay beyond the limit of rounds is that limit, which the machine refuses.
    """
    writer = Writer(schema, encode)
    passing, faults = _conditions(writer, path.conditions)
    outputs = [writer.write(expression) for _, expression in path.columns]
    weight = _product(writer, path.weights)
    delay = _delay(writer, path.delays, round_limit)
    faults += _faults(writer, passing)
    fault = writer.any_of(faults)
    head = [len(writer.steps), len(outputs), passing, weight, delay, fault, 0]
    return [*head, *_flat(writer), *outputs]


def sums_program(paths: Sequence[Path], schema: Schema, encode: Encode) -> list[int]:
    """The words of one program for paths of the same sums: see `sums_of`."""
    writer = Writer(schema, encode)
    passing, faults = _conditions(writer, paths[0].conditions)
    outputs = [writer.write(expression) for _, expression in paths[0].columns[:-1]]
    sums = [
        word
        for path in paths
        for word in (_constant(path.columns[-1][1]), _product(writer, path.weights))
    ]
    faults += _faults(writer, passing)
    fault = writer.any_of(faults)
    head = [len(writer.steps), len(outputs), passing, -1, -1, fault, len(paths)]
    return [*head, *_flat(writer), *outputs, *sums]


def sums_of(path: Path) -> Path | None:
    """What all paths have in common that one program can add up, or None for other paths.

    Their last column is a constant, the tag of a sum; they may differ in it and in their weights.
    """
    if not path.columns or path.delays or path.last_round is not None:
        return None
    tag = path.columns[-1][1]
    if not isinstance(tag, Constant) or tag.type != INT:
        return None
    return replace(path, columns=path.columns[:-1], weights=(), through=())


def _constant(tag: Expression) -> int:
    assert isinstance(tag, Constant)
    assert isinstance(tag.value, int)
    return tag.value


def _flat(writer: Writer) -> list[int]:
    return [word for step in writer.steps for word in step]


def doubtful(plan: DataflowPlan, encode: Encode) -> set[int]:
    """Collections from which records are taken away, and numbers computed that may be too large.

    What is there and what is taken away come along edges of their own, and both would fault: such a
    collection has to be consolidated first. Costs a sort of what passes.
    """
    found = set()
    for node in plan.nodes:
        if isinstance(node, Map):
            expressions = [expression for _, expression in node.columns]
        elif isinstance(node, Filter):
            expressions = [node.predicate]
        else:
            continue
        if _is_taken_from(plan, node.source) and any(
            _may_fault(expression, plan.schemas[node.source], encode) for expression in expressions
        ):
            found.add(node.source)
    return found


def _may_fault(expression: Expression, schema: Schema, encode: Encode) -> bool:
    writer = Writer(schema, encode)
    writer.write(expression)
    return bool(writer.faults)


def _is_taken_from(plan: DataflowPlan, start: int) -> bool:
    """True where a way to a collection takes records away and adds nothing up behind that.

    Out of a loop comes what a variable was at first, and that it is that no more.
    """
    waiting, seen = [(start, False)], set[tuple[int, bool]]()
    while waiting:
        number, leaves = waiting.pop()
        node = plan.nodes[number]
        if isinstance(node, Negate) or (leaves and isinstance(node, Variable)):
            return True
        if (number, leaves) not in seen and isinstance(node, LINEAR):
            seen.add((number, leaves))
            before = [
                *sources_of(node),
                *([plan.definitions[number]] if number in plan.definitions else []),
            ]
            waiting += [(source, leaves or isinstance(node, Leave)) for source in before]
    return False


def is_plain(path: Path, schema: Schema) -> bool:
    """True where a path hands records on exactly as they are."""
    same = tuple((name, Column(name)) for name, _ in schema)
    whole = tuple(expression for _, expression in path.columns)
    return (
        whole == tuple(expression for _, expression in same)
        and not path.conditions
        and not path.weights
        and not path.delays
        and path.sign == 1
        and path.add == 0
    )


def _conditions(writer: Writer, conditions: tuple[Expression, ...]) -> tuple[int, list[int]]:
    """The register that holds whether all conditions are true, -1 for none, and their faults.

    A fault of a condition counts for the records that pass those before it.
    """
    found = -1
    faults: list[int] = []
    for condition in conditions:
        register = writer.truth(condition)
        faults += _faults(writer, found)
        found = register if found < 0 else writer.step(codes.AND, found, register)
    return found, faults


def _faults(writer: Writer, passing: int) -> list[int]:
    """The faults of what was written since the last call, for records that pass."""
    fault = writer.any_of(writer.faults)
    writer.faults = []
    if fault < 0:
        return []
    return [fault if passing < 0 else writer.step(codes.AND, passing, fault)]


def _product(writer: Writer, weights: tuple[Expression, ...]) -> int:
    """The register that holds the product of all weights; -1 for none."""
    product = -1
    for weight in weights:
        register = writer.write(weight)
        product = register if product < 0 else writer.step(codes.MULTIPLY, product, register)
    return product


def _delay(writer: Writer, delays: tuple[tuple[Expression, int], ...], round_limit: int) -> int:
    """The register that holds what is added to the position; -1 for nothing."""
    found = -1
    for delay, unit in delays:
        one, zero, limit = (writer.constant(word) for word in (unit, 0, round_limit))
        register = writer.step(codes.MOST, writer.write(delay), zero)
        register = writer.step(codes.LEAST, register, limit)
        register = writer.step(codes.MULTIPLY, register, one)
        found = register if found < 0 else writer.step(codes.ADD, found, register)
    return found
