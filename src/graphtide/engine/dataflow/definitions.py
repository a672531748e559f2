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
    Schema,
    Weigh,
    sources_of,
)
from graphtide.plan.dataflow_expressions import (
    BOOL,
    FLOAT,
    INT,
    TEXT,
    Column,
    ColumnType,
    Constant,
    Expression,
)

Record = tuple[Any, ...]
Records = dict[Record, int]

_DTYPES: dict[ColumnType, Any] = {INT: np.int64, FLOAT: np.float64, BOOL: np.bool_, TEXT: object}
_NAN = math.nan
_LARGEST = 1.7976931348623157e308


def plain(value: Any, kind: ColumnType) -> Any:
    """A value as the records of a column hold it: ints of 64 bits, one zero, one NaN.

    The one NaN is one object, so that a record with it is a key like any other.
    """
    if kind is INT:
        return wrapped(int(value))
    if kind is FLOAT:
        return _NAN if value != value else float(value) + 0.0
    return bool(value) if kind is BOOL else str(value)


def wrapped(number: int) -> int:
    """An int as 64 bits hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def rank(value: Any) -> Any:
    """What values are compared by: NaN equals itself and comes after all numbers."""
    return (value != value, 0.0 if value != value else value)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "/": lambda a, b: float(np.float64(a) / np.float64(b)),
    "min": lambda a, b: a if rank(a) <= rank(b) else b,
    "max": lambda a, b: a if rank(a) >= rank(b) else b,
    "==": lambda a, b: rank(a) == rank(b),
    "!=": lambda a, b: rank(a) != rank(b),
    "<": lambda a, b: rank(a) < rank(b),
    "<=": lambda a, b: rank(a) <= rank(b),
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "neg": lambda a: -a,
    "where": lambda a, b, c: b if a else c,
    "int": lambda a: int(a) if isinstance(a, int) or abs(a) < 9.2e18 else 0,
    "float": float,
    "bits": lambda a: max(a, 0).bit_length(),
}


def value_of(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression for one record."""
    if isinstance(expression, Column):
        return row[expression.name]
    if isinstance(expression, Constant):
        return plain(expression.value, expression.type)
    operands = [value_of(operand, row) for operand in expression.operands]
    if any(isinstance(item, float) for item in operands):
        # An int that meets a float becomes one.
        operands = [float(item) if type(item) is int else item for item in operands]
    with np.errstate(all="ignore"):
        found = _OPERATIONS[expression.name](*operands)
    kinds = {bool: BOOL, int: INT, float: FLOAT, str: TEXT}
    return plain(found, kinds[type(found)])


def defined(
    plan: DataflowPlan,
    number: int,
    given: Sequence[Records],
    functions: Sequence[Any],
    order: Callable[[Any], Any],
) -> Records:
    """What a node is, given what its sources are. Times are the caller's business.

    `order` says what the values of a record are sorted by.
    """
    node = plan.nodes[number]
    sources = sources_of(node)
    names = [[name for name, _ in plan.schemas[source]] for source in sources]
    found: Records = {}
    match node:
        case Join():
            _join(plan, node, given, found)
        case Reduce():
            _reduce(plan, number, node, given[0], functions, order, found)
        case Concat():
            for part in given:
                for record, count in part.items():
                    _add(found, record, count)
        case _:
            for record, count in given[0].items():
                for new, times in _each(plan, number, record, names[0], functions):
                    _add(found, new, count * times)
    whole = {record: wrapped(count) for record, count in found.items()}
    return {record: count for record, count in whole.items() if count}


def _each(
    plan: DataflowPlan, number: int, record: Record, names: list[str], functions: Sequence[Any]
) -> list[tuple[Record, int]]:
    """What one record becomes in an operator that looks at records one by one."""
    row = dict(zip(names, record, strict=True))
    node = plan.nodes[number]
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
            made = _foreign(plan, node, record, functions[node.function])
            return [(_typed(item, plan.schemas[number]), 1) for item in made]
    return [(record, 1)]


def _foreign(plan: DataflowPlan, node: Foreign, record: Record, function: Any) -> list[Record]:
    if node.kind == "inspect":
        return [record]
    if node.kind == "filter":
        return [record] if function(*record) else []
    if node.kind == "columns":
        kinds = [_DTYPES[kind] for _, kind in plan.schemas[node.source]]
        columns = function(*(np.array([v], k) for v, k in zip(record, kinds, strict=True)))
        listed = columns if isinstance(columns, tuple) else (columns,)
        return [tuple(np.asarray(column).tolist()[0] for column in listed)]
    results = function(*record) if node.kind == "flat_map" else [function(*record)]
    return [item if isinstance(item, tuple) else (item,) for item in results]


def _typed(record: Record, schema: Schema) -> Record:
    return tuple(plain(value, kind) for value, (_, kind) in zip(record, schema, strict=True))


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
    plan: DataflowPlan,
    number: int,
    node: Reduce,
    given: Records,
    functions: Sequence[Any],
    order: Callable[[Any], Any],
    found: Records,
) -> None:
    key = plan.key_of(node.source)
    groups: dict[Record, list[tuple[Record, int]]] = {}
    for record in sorted(given, key=lambda record: [order(value) for value in record]):
        groups.setdefault(record[:key], []).append((record[key:], given[record]))
    for name, members in groups.items():
        for result, count in _results(node, name, members, functions):
            _add(found, name + _typed(result, plan.schemas[number][key:]), count)


def _results(
    node: Reduce, key: Record, members: list[tuple[Record, int]], functions: Sequence[Any]
) -> list[tuple[Record, int]]:
    total = wrapped(sum(count for _, count in members))
    match node.reducer:
        case "threshold":
            return [((), 1)] if total >= node.argument else []
        case "sums":
            sums = {tag: count for (tag,), count in members}
            whole = tuple(sums.get(tag, 0) for tag in node.outputs)
            return [(whole, 1)] if sums.get(0, 0) else []
        case "float sum":
            return [((_float_sum(members),), 1)] if total else []
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


def _float_sum(members: list[tuple[Record, int]]) -> float:
    """Numbers added in ascending order, the rounding errors carried along (Neumaier)."""
    total = lost = 0.0
    for (value,), count in members:
        number = value * count
        raised = total + number
        if abs(raised) <= _LARGEST:
            larger = abs(total) >= abs(number)
            lost += (total - raised) + number if larger else (number - raised) + total
        total = raised
    return total + lost
