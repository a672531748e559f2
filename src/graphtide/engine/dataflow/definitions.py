"""What every operator is by definition: from whole collections to whole collections.

Plain Python on dictionaries of records and multiplicities, without times, indexes or words: slow,
and short enough to be seen to be right. Debug mode holds the machine to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from graphtide.engine.dataflow.columns import decimal_of
from graphtide.engine.dataflow.value_definitions import plain, rank, value_of, wrapped
from graphtide.kernels.dataflow.wide import LIMBS
from graphtide.plan import dataflow as nodes
from graphtide.plan.dataflow_types import ColumnType

Record = tuple[Any, ...]
Records = dict[Record, int]

_DTYPES: dict[str, Any] = {"int": np.int64, "float": np.float64, "bool": np.bool_}
_UNITS = {"date": "D", "timestamp": "us"}
_LIMB_BITS, _SMALLEST_BITS = 32, 1074


def defined(
    plan: nodes.DataflowPlan,
    number: int,
    given: Sequence[Records],
    functions: Sequence[Any],
) -> Records:
    """What a node is, given what its sources are. Times are the caller's business."""
    node = plan.nodes[number]
    sources = nodes.sources_of(node)
    names = [[name for name, _ in plan.schemas[source]] for source in sources]
    result: Records = {}
    match node:
        case nodes.Join():
            _join(plan, node, given, result)
        case nodes.Reduce():
            _reduce(plan, number, node, given[0], functions, result)
        case nodes.Concat():
            for part in given:
                for record, count in part.items():
                    _add(result, record, count)
        case _:
            for record, count in given[0].items():
                for new, times in _each(plan, number, record, names[0], functions):
                    _add(result, new, count * times)
    whole = {record: wrapped(count) for record, count in result.items()}
    return {record: count for record, count in whole.items() if count}


def _each(
    plan: nodes.DataflowPlan,
    number: int,
    record: Record,
    names: list[str],
    functions: Sequence[Any],
) -> list[tuple[Record, int]]:
    """What one record becomes in an operator that looks at records one by one."""
    row = dict(zip(names, record, strict=True))
    node = plan.nodes[number]
    match node:
        case nodes.Map():
            mapped = tuple(value_of(item, row) for _, item in node.columns)
            return [(_typed(mapped, plan.schemas[number]), 1)]
        case nodes.Filter():
            return [(record, 1)] if value_of(node.predicate, row) else []
        case nodes.Negate():
            return [(record, -1)]
        case nodes.Weigh():
            rest = tuple(value for name, value in row.items() if name != node.column)
            return [(rest, row[node.column])]
        case nodes.Compute():
            return [((*record, *(value_of(item, row) for _, item in node.columns)), 1)]
        case nodes.Foreign():
            made = _foreign(plan, node, record, functions[node.function])
            return [(_typed(item, plan.schemas[number]), 1) for item in made]
    return [(record, 1)]


def _foreign(
    plan: nodes.DataflowPlan, node: nodes.Foreign, record: Record, function: Any
) -> list[Record]:
    if node.kind == "inspect":
        return [record]
    if node.kind == "filter":
        return [record] if function(*record) else []
    if node.kind == "columns":
        kinds = [kind for _, kind in plan.schemas[node.source]]
        columns = function(*(_array(v, k) for v, k in zip(record, kinds, strict=True)))
        listed = columns if isinstance(columns, tuple) else (columns,)
        return [tuple(np.asarray(column).tolist()[0] for column in listed)]
    results = function(*record) if node.kind == "flat_map" else [function(*record)]
    return [item if isinstance(item, tuple) else (item,) for item in results]


def _array(value: Any, kind: ColumnType) -> Any:
    """One value as the column that a function gets."""
    if kind.nullable or kind.kind not in (*_DTYPES, *_UNITS):
        array = np.empty(1, object)
        array[0] = value
        return array
    return np.array([value], _DTYPES.get(kind.kind) or f"datetime64[{_UNITS[kind.kind]}]")


def _typed(record: Record, schema: nodes.Schema) -> Record:
    return tuple(plain(value, kind) for value, (_, kind) in zip(record, schema, strict=True))


def _add(found: Records, record: Record, count: int) -> None:
    found[record] = found.get(record, 0) + count


def _join(
    plan: nodes.DataflowPlan, node: nodes.Join, given: Sequence[Records], found: Records
) -> None:
    key = plan.key_of(node.left)
    by_key: dict[Record, list[tuple[Record, int]]] = {}
    for record, count in given[1].items():
        by_key.setdefault(record[:key], []).append((record[key:], count))
    for record, count in given[0].items():
        for rest, times in by_key.get(record[:key], []):
            _add(found, record + rest, count * times)


def _reduce(
    plan: nodes.DataflowPlan,
    number: int,
    node: nodes.Reduce,
    given: Records,
    functions: Sequence[Any],
    found: Records,
) -> None:
    key = plan.key_of(node.source)
    groups: dict[Record, list[tuple[Record, int]]] = {}
    for record in sorted(given, key=lambda record: [rank(value) for value in record]):
        groups.setdefault(record[:key], []).append((record[key:], given[record]))
    schema = plan.schemas[number][key:]
    for name, members in groups.items():
        for result, count in _results(node, schema, name, members, functions):
            _add(found, name + _typed(result, schema), count)


def _results(
    node: nodes.Reduce,
    schema: nodes.Schema,
    key: Record,
    members: list[tuple[Record, int]],
    functions: Sequence[Any],
) -> list[tuple[Record, int]]:
    """What a reducer makes of a group: records of this schema, without the key."""
    total = wrapped(sum(count for _, count in members))
    match node.reducer:
        case "threshold":
            return [((), 1)] if total >= node.argument else []
        case "sums":
            sums = {tag: count for (tag,), count in members}
            values = [_made_of(kind, tag, sums) for kind, tag in node.outputs]
            whole = tuple(
                decimal_of(item, kind.scale) if kind.kind == "decimal" else item
                for item, (_, kind) in zip(values, schema, strict=True)
            )
            return [(whole, 1)] if sums.get(0, 0) else []
        case "function":
            results = functions[node.argument](key, members)
            return [(item if isinstance(item, tuple) else (item,), 1) for item in results]
    ordered = members if node.reducer in ("min", "first") else members[::-1]
    ends: list[tuple[Record, int]] = []
    left = node.argument
    for record, count in ordered:
        if count > 0 and left > 0:
            ends.append((record, min(count, left)))
            left -= count
    return ends


def _made_of(kind: str, tag: int, sums: dict[int, int]) -> Any:
    """What an output is, given sums of weights by tag."""
    if kind == "plain":
        return sums.get(tag, 0)
    if kind == "whole":
        return sums.get(tag, 0) + (sums.get(tag + 1, 0) << 32)
    upward, downward, unknown = (sums.get(tag + LIMBS + place, 0) for place in range(3))
    infinities = {*([upward > 0] if upward else []), *([downward < 0] if downward else [])}
    if unknown or len(infinities) == 2:
        return float("nan")
    if infinities:
        return float("inf") if infinities == {True} else float("-inf")
    whole = sum(sums.get(tag + limb, 0) << (_LIMB_BITS * limb) for limb in range(LIMBS))
    try:
        return float(Fraction(whole, 1 << _SMALLEST_BITS))
    except OverflowError:
        return float("inf") if whole > 0 else float("-inf")
