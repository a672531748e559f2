"""A naive reading of tables of text cells as a property graph, in plain Python.

Shares nothing with the code it checks: cells come in as lists (None for an empty cell), types
are found by trying, ids are looked up in a dict.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

Cell = str | None


@dataclass
class NaiveGraph:
    """Vertices and edges as rows, types by column, and the bad rows by kind, row and reason."""

    ids: list[Any] = field(default_factory=list)
    vertex_rows: list[list[Any]] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    edge_rows: list[list[Any]] = field(default_factory=list)
    vertex_types: list[str] = field(default_factory=list)
    edge_types: list[str] = field(default_factory=list)
    bad: list[tuple[str, int, str]] = field(default_factory=list)


def naive_graph(
    edges: list[list[Cell]], vertices: list[list[Cell]] | None, widths: tuple[int, int]
) -> NaiveGraph:
    """Load rows whose first cells are src and dst, and id; widths are those of a whole row."""
    graph = NaiveGraph()
    edge_width, vertex_width = widths
    whole_edges = [row for row in edges if len(row) == edge_width]
    whole_vertices = [row for row in vertices or [] if len(row) == vertex_width]
    keys = [row[0] for row in whole_vertices] + [key for row in whole_edges for key in row[:2]]
    read_id = int if _all(keys, is_int) else str
    graph.vertex_types = [
        find_type([row[i] for row in whole_vertices]) for i in range(1, vertex_width)
    ]
    graph.edge_types = [find_type([row[i] for row in whole_edges]) for i in range(2, edge_width)]
    numbers: dict[Any, int] = {}
    for place, row in enumerate(vertices or []):
        reason = _vertex_reason(row, vertex_width, numbers, read_id)
        if reason:
            graph.bad.append(("vertex", place, reason))
            continue
        numbers[read_id(row[0])] = len(graph.ids)
        graph.ids.append(read_id(row[0]))
        graph.vertex_rows.append(_values(row[1:], graph.vertex_types))
    if vertices is None:
        graph.ids = _endpoints(whole_edges, read_id)
        numbers = {key: place for place, key in enumerate(graph.ids)}
    for place, row in enumerate(edges):
        reason = _edge_reason(row, edge_width, numbers, read_id)
        if reason:
            graph.bad.append(("edge", place, reason))
            continue
        graph.edges.append((numbers[read_id(row[0])], numbers[read_id(row[1])]))
        graph.edge_rows.append(_values(row[2:], graph.edge_types))
    return graph


def find_type(cells: list[Cell]) -> str:
    """The narrowest type that every cell that is not blank can be read as."""
    if not any(cell and cell.strip(" ") for cell in cells):
        return "string"
    for name, test in (
        ("int", is_int),
        ("float", lambda text: is_int(text) or is_float(text)),
        ("bool", lambda text: text.lower() in ("true", "false")),
        ("date", is_date),
        ("timestamp", lambda text: is_date(text) or is_timestamp(text)),
    ):
        if _all(cells, test):
            return name
    return "string"


def is_int(text: str) -> bool:
    return bool(re.fullmatch(r"0|-?[1-9][0-9]*", text)) and -(2**63) <= int(text) < 2**63


def is_float(text: str) -> bool:
    if re.match(r"[+-]?0[0-9]", text) or not re.search(r"[.eEnN]|^-0$", text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_date(text: str) -> bool:
    try:
        return bool(dt.datetime.strptime(text, "%Y-%m-%d"))
    except ValueError:
        return False


def is_timestamp(text: str) -> bool:
    if not re.match(r"\d{4}-\d\d?-\d\d?[T ]", text):
        return False
    try:
        return bool(dt.datetime.fromisoformat(text))
    except ValueError:
        return False


def read_value(cell: Cell, type_: str, zone: str = "UTC") -> Any:
    """A cell as a value of its type; None if it is blank."""
    if cell is None or (type_ != "string" and not cell.strip(" ")):
        return None
    if type_ == "string":
        return cell
    text = cell.strip(" ")
    if type_ == "int":
        return int(text)
    if type_ == "float":
        value = float(text)
        return None if value != value else value
    if type_ == "bool":
        return text.lower() == "true"
    if type_ == "date":
        return dt.datetime.strptime(text, "%Y-%m-%d").date()
    moment = dt.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))


def _types(rows: list[list[Cell]], places: range) -> list[str]:
    return [find_type([row[place] for row in rows]) for place in places]


def _all(cells: list[Cell], test: Any) -> bool:
    return all(test(cell.strip(" ")) for cell in cells if cell is not None and cell.strip(" "))


def _values(cells: list[Cell], types: list[str]) -> list[Any]:
    return [read_value(cell, type_) for cell, type_ in zip(cells, types, strict=True)]


def _blank(cell: Cell) -> bool:
    return cell is None or not cell.strip(" ")


def _vertex_reason(
    row: list[Cell], width: int, numbers: dict[Any, int], read_id: Any
) -> str | None:
    if len(row) != width:
        return "wrong number of columns"
    if _blank(row[0]):
        return "missing id"
    return "duplicate vertex" if read_id(row[0]) in numbers else None


def _edge_reason(row: list[Cell], width: int, numbers: dict[Any, int], read_id: Any) -> str | None:
    if len(row) != width:
        return "wrong number of columns"
    for name, cell in zip(("src", "dst"), row, strict=False):
        if _blank(cell):
            return f"missing {name}"
    for name, cell in zip(("src", "dst"), row, strict=False):
        if read_id(cell) not in numbers:
            return f"unknown {name}"
    return None


def _endpoints(rows: list[list[Cell]], read_id: Any) -> list[Any]:
    sound = [row for row in rows if not _blank(row[0]) and not _blank(row[1])]
    found = {read_id(cell) for row in sound for cell in row[:2]}
    return sorted(found, key=lambda key: key if isinstance(key, int) else key.encode())
