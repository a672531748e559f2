"""A grouped graph by the book: lists, dicts and loops, from the same plan."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from graphtide.plan.grouping import GroupAggregate, GroupPlan, GroupSection, GroupTable, RowGrouping
from tests.oracle.predicates import Row, holds

Rows = list[dict[str, Any]]


class TooLargeError(Exception):
    """A sum of ints that 64 bits cannot hold."""


def grouped(plan: GroupPlan, vertices: Rows, edges: Rows) -> tuple[Rows, Rows]:
    """Vertices have an `id`; edges have `src` and `dst`, positions in the list of vertices."""
    rows: list[Row] = [{"src": row, "edge": {}, "dst": {}} for row in vertices]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    members: list[list[tuple[int, str]]] = [[] for _ in vertices]
    for at, row in enumerate(rows):
        for place, order, section, grouping in _groupings(plan.vertices):
            if not (holds(section.where, row) and holds(grouping.condition, row)):
                continue
            name = _id(section, grouping, row, plan.named_keys)
            groups.setdefault((place, order, name), []).append(row)
            members[at].append((place, name))
    made = _made(plan.vertices, groups, ("id",))

    links: dict[tuple[Any, ...], list[Row]] = {}
    for edge in edges:
        row = {"edge": edge, "src": vertices[edge["src"]], "dst": vertices[edge["dst"]]}
        for place, order, section, grouping in _groupings(plan.edges):
            if not (holds(section.where, row) and holds(grouping.condition, row)):
                continue
            for src_place, src in members[edge["src"]]:
                for dst_place, dst in members[edge["dst"]]:
                    ends = {src_place, dst_place}
                    if section.between is not None and ends != set(section.between):
                        continue
                    values = tuple(_same(_value(key.item, row)) for key in grouping.keys)
                    links.setdefault((place, order, src, dst, values), []).append(row)
    return made, _made(plan.edges, links, ("src", "dst"))


def _groupings(table: GroupTable) -> list[tuple[int, int, GroupSection, RowGrouping]]:
    return [
        (place, order, section, grouping)
        for place, section in enumerate(table.sections)
        for order, grouping in enumerate(section.groupings)
    ]


def _made(table: GroupTable, groups: dict[tuple[Any, ...], list[Row]], ids: Any) -> Rows:
    found = []
    for key in sorted(groups, key=lambda key: key[:2]):
        section = table.sections[key[0]]
        grouping, rows = section.groupings[key[1]], groups[key]
        made = dict(zip(ids, key[2:], strict=False))
        if any(item.label is not None for item in table.sections):
            made["label"] = section.label
        for item in table.sections:
            for one in item.groupings:
                made |= {kept.name: None for kept in one.keys}
        if table.condition_property is not None:
            made[table.condition_property] = grouping.condition_name
        for item in table.sections:
            made |= {one.name: None for one in item.aggregates}
        made |= {kept.name: _value(kept.item, rows[0]) for kept in grouping.keys}
        made |= {one.name: _worked_out(one, rows) for one in section.aggregates}
        found.append(made)
    return found


def _value(item: Any, row: Row) -> Any:
    value = row[item.owner].get(item.name)
    return 0.0 if isinstance(value, float) and value == 0 else value


def _same(value: Any) -> Any:
    return "not a number" if isinstance(value, float) and math.isnan(value) else value


def _worked_out(one: GroupAggregate, rows: list[Row]) -> Any:
    if one.item is None:
        return len(rows)
    values = [_value(one.item, row) for row in rows]
    values = [value for value in values if value is not None]
    if one.function == "count":
        return len(values)
    if not values:
        return None
    numbers = [value for value in values if _same(value) is value]
    match one.function:
        case "min":
            return min(numbers) if numbers else math.nan
        case "max":
            return max(numbers) if len(numbers) == len(values) else math.nan
        case "avg":
            return float(sum(values)) / len(values)
    total = sum(values)
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise TooLargeError
    return total


def _id(section: GroupSection, grouping: RowGrouping, row: Row, named: bool) -> str:
    parts = [] if grouping.condition_name is None else [_text(grouping.condition_name)]
    for key in grouping.naming:
        text = _written(_value(key.item, row))
        parts.append(f"{key.name}={text}" if named else text)
    told = ", ".join(parts) or "all"
    return told if section.qualifier is None else f"{_text(section.qualifier)}: {told}"


def _written(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case dt.datetime():
            text = value.strftime("%Y-%m-%d %H:%M:%S.%f")
            return text.rstrip("0").rstrip(".")
        case str():
            return _text(value)
    return str(value)


def _text(text: str) -> str:
    special = any(sign in ",=:'\\" or ord(sign) < 32 for sign in text)
    if text and not special and text == text.strip() and text != "null":
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
