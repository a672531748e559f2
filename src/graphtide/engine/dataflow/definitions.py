"""What every operator is by definition: from whole collections to whole collections.

Plain Python on dictionaries of records and multiplicities, without times, indexes or words: slow,
and short enough to be seen to be right. Debug mode holds the machine to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphtide.plan.dataflow import (
    Concat,
    DataflowPlan,
    Filter,
    Foreign,
    Join,
    Map,
    Negate,
    Reduce,
    Weigh,
    sources_of,
)
from graphtide.plan.dataflow_expressions import Column, Constant, Expression

Record = tuple[Any, ...]
Records = dict[Record, int]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "/": lambda a, b: float(np.float64(a) / np.float64(b)),
    "min": min,
    "max": max,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "neg": lambda a: -a,
    "where": lambda a, b, c: b if a else c,
    "int": int,
    "float": float,
    "bits": lambda a: max(a, 0).bit_length(),
}


def value_of(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression for one record."""
    if isinstance(expression, Column):
        return row[expression.name]
    if isinstance(expression, Constant):
        return expression.value
    operands = [value_of(operand, row) for operand in expression.operands]
    with np.errstate(all="ignore"):
        return _OPERATIONS[expression.name](*operands)


def defined(
    plan: DataflowPlan, number: int, given: Sequence[Records], functions: Sequence[Any]
) -> Records:
    """What a node is, given what its sources are. Times are the caller's business."""
    node = plan.nodes[number]
    sources = sources_of(node)
    names = [[name for name, _ in plan.schemas[source]] for source in sources]
    found: Records = {}
    match node:
        case Join():
            _join(plan, node, given, found)
        case Reduce():
            _reduce(plan, node, given[0], functions, found)
        case Concat():
            for part in given:
                for record, count in part.items():
                    _add(found, record, count)
        case _:
            for record, count in given[0].items():
                for new, times in _each(node, record, names[0], functions):
                    _add(found, new, count * times)
    return {record: count for record, count in found.items() if count}


def _each(
    node: Any, record: Record, names: list[str], functions: Sequence[Any]
) -> list[tuple[Record, int]]:
    """What one record becomes in an operator that looks at records one by one."""
    row = dict(zip(names, record, strict=True))
    match node:
        case Map():
            return [(tuple(value_of(item, row) for _, item in node.columns), 1)]
        case Filter():
            return [(record, 1)] if value_of(node.predicate, row) else []
        case Negate():
            return [(record, -1)]
        case Weigh():
            rest = tuple(value for name, value in row.items() if name != node.column)
            return [(rest, row[node.column])]
        case Foreign():
            return _foreign(node, record, functions[node.function])
    return [(record, 1)]


def _foreign(node: Foreign, record: Record, function: Any) -> list[tuple[Record, int]]:
    if node.kind == "inspect":
        return [(record, 1)]
    if node.kind == "filter":
        return [(record, 1)] if function(*record) else []
    if node.kind == "columns":
        columns = function(*(np.array([value]) for value in record))
        listed = columns if isinstance(columns, tuple) else (columns,)
        return [(tuple(np.asarray(column).tolist()[0] for column in listed), 1)]
    results = function(*record) if node.kind == "flat_map" else [function(*record)]
    return [(item if isinstance(item, tuple) else (item,), 1) for item in results]


def _add(found: Records, record: Record, count: int) -> None:
    found[record] = found.get(record, 0) + count


def _join(plan: DataflowPlan, node: Join, given: Sequence[Records], found: Records) -> None:
    key = plan.key_of(node.left)
    by_key: dict[Record, list[tuple[Record, int]]] = {}
    for record, count in given[1].items():
        by_key.setdefault(record[:key], []).append((record[key:], count))
    for record, count in given[0].items():
        for rest, times in by_key.get(record[:key], []):
            _add(found, record + rest, count * times)


def _reduce(
    plan: DataflowPlan, node: Reduce, given: Records, functions: Sequence[Any], found: Records
) -> None:
    key = plan.key_of(node.source)
    groups: dict[Record, list[tuple[Record, int]]] = {}
    for record, count in sorted(given.items()):
        groups.setdefault(record[:key], []).append((record[key:], count))
    for name, members in groups.items():
        for result, count in _results(node, name, members, functions):
            _add(found, name + result, count)


def _results(
    node: Reduce, key: Record, members: list[tuple[Record, int]], functions: Sequence[Any]
) -> list[tuple[Record, int]]:
    total = sum(count for _, count in members)
    match node.reducer:
        case "threshold":
            return [((), 1)] if total >= node.argument else []
        case "sums":
            sums = {tag: count for (tag,), count in members}
            whole = tuple(sums.get(tag, 0) for tag in node.outputs)
            return [(whole, 1)] if sums.get(0, 0) else []
        case "float sum":
            exact = math.fsum(value * count for (value,), count in members)
            return [((exact,), 1)] if total else []
        case "function":
            results = functions[node.argument](key, members)
            return [(item if isinstance(item, tuple) else (item,), 1) for item in results]
    ordered = members if node.reducer in ("min", "first") else members[::-1]
    found: list[tuple[Record, int]] = []
    left = node.argument
    for record, count in ordered:
        if count > 0 and left > 0:
            found.append((record, min(count, left)))
            left -= count
    return found
