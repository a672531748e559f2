"""Reads the rows that users give to an advance, and checks what can be checked without the graph.

Rows become two columns of ids and a column of words for each property, which is what the kernel in
`kernels/graph/batches.py` takes; edge numbers become inside numbers. Nothing here changes the
graph. An InputError names the rows that are wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.matching import FIRST_WORD
from graphtide.model.delta import no_edges
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import EdgeRows, read_rows
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import Int32, named_rows

Int64 = NDArray[np.int64]

NO_SUCH_EDGES = "name edges that are not there", "look them up in graph.edges()"
_KINDS = {"b": "truth values", "i": "whole numbers", "f": "numbers with fractions"}
_NONE = no_edges()
_INT = np.dtype(np.int64)
_NO_LINES = np.empty((FIRST_WORD, 0), np.int64)


class Side(NamedTuple):
    """One side of a batch, inserts or deletes: edges by inside number, or else rows.

    `lines` is what a kernel takes of rows: the ids of both ends, if they are `whole` numbers, and a
    line of words for each property that the rows give.
    """

    edges: Int32 = _NONE
    rows: EdgeRows | None = None
    lines: Int64 = _NO_LINES
    whole: bool = True
    size: int = 0
    """How many edges it is about."""


NOTHING = Side()


def read_insert(known: KnownEdges, given: Any) -> Side:
    """Read the inserts of a batch; rows must give every property, in the graph's own type."""
    rows = known.plain.taken_over("insert", given)
    if rows is None:
        numbers = edge_numbers("insert", given)
        if numbers is not None:
            return Side(_flipped_numbers(known, numbers, "insert"), size=len(numbers))
        rows = read_rows("insert", given, known.names)
        _check_properties(known, rows)
    elif len(rows.properties) < len(known.dtypes):
        _check_properties(known, rows)
    return _side(rows)


def read_delete(known: KnownEdges, given: Any, what: str = "delete") -> Side:
    """Read the deletes of a batch; rows may leave properties out. Errors call the batch `what`."""
    rows = known.plain.taken_over(what, given)
    if rows is None:
        numbers = edge_numbers(what, given)
        if numbers is not None:
            return Side(_flipped_numbers(known, numbers, what), size=len(numbers))
        rows = read_rows(what, given, known.names)
        for name, column in rows.properties.items():
            dtype = known.resident.dtypes[name]
            if column.dtype != dtype:
                rows.properties[name] = _comparable(rows, column, dtype)
    return _side(rows)


def _side(rows: EdgeRows) -> Side:
    """Rows, with the lines of words that a kernel takes; a float is the word of its bits."""
    src, dst, lines, size = rows.src, rows.dst, rows.lines, len(rows.src)
    if lines is not None:
        return Side(_NONE, rows, lines, True, size)
    words = [
        column if column.dtype.kind == "b" else column.view(_INT)
        for column in rows.properties.values()
    ]
    whole = src.dtype.kind == dst.dtype.kind == "i"
    ends = (src, dst) if whole else np.empty((FIRST_WORD, size), _INT)
    return Side(_NONE, rows, np.array((*ends, *words), _INT), whole, size)


def _check_properties(known: KnownEdges, rows: EdgeRows) -> None:
    """Convert the properties of inserted rows to the graph's types; refuse rows that lack one."""
    if len(rows.properties) < len(known.names.properties) and len(rows):
        missing = next(name for name in known.names.properties if name not in rows.properties)
        raise InputError(
            f"insert has no value for the property '{missing}'",
            hint=f"a row is ({', '.join(known.names.all)})",
        )
    rows.properties = {
        name: _as_stored(name, rows.properties.get(name, _NONE), dtype)
        for name, dtype in known.dtypes
    }


def _as_stored(name: str, given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert a property of inserted rows to the graph's type; refuse if a value would change."""
    if given.dtype == dtype:
        return np.ascontiguousarray(given)
    if not _fits(given, dtype):
        lacks = given.dtype.kind == "f" and np.isnan(given).any()
        raise InputError(
            f"insert: the property '{name}' holds {_KINDS[dtype.kind]}, "
            f"and the rows give {'a missing value' if lacks else _KINDS[given.dtype.kind]}",
            hint="give values of the same type"
            + (", or make the graph with one that is missing" if lacks else ""),
        )
    return given.astype(dtype)


def _fits(given: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    if not len(given):
        return True
    if dtype.kind == "f":
        return given.dtype.kind == "i"
    whole = dtype.kind == "i" and given.dtype.kind == "f"
    return whole and bool((given == np.floor(given)).all() and (abs(given) < 2**53).all())


def _comparable(rows: EdgeRows, given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert a property of deleted rows to the graph's type; refuse what no edge can have."""
    with np.errstate(invalid="ignore"):
        converted = given.astype(dtype)
        if dtype.kind != "f" or given.dtype.kind == "i":
            refuse(rows, converted.astype(given.dtype) != given, *NO_SUCH_EDGES)
    return converted


def edge_numbers(what: str, given: Any) -> Int64 | None:
    """The edge numbers, if the user gave a list of numbers; None if these are rows."""
    if isinstance(given, np.ndarray):
        whole = given.ndim == 1 and given.dtype.kind in "iu"
        return given.astype(np.int64) if whole else None
    if not isinstance(given, list | tuple) or not given:
        return None
    if isinstance(given, list) and isinstance(given[0], tuple):
        return None
    if all(isinstance(item, bool | np.bool_) for item in given):
        raise InputError(
            f"{what} cannot be a list of truth values",
            hint="give the numbers of the edges: np.flatnonzero(mask) of graph.edges()['edge']",
        )
    if all(isinstance(item, int | np.integer) for item in given):
        if isinstance(given, tuple):
            raise InputError(
                f"{what} cannot be the tuple {given!r}",
                hint=f"write {what}=[{given!r}] for one edge, a list for edge numbers",
            )
        _check_edge_numbers(what, given, [abs(item) >= 2**63 for item in given], "of no edge")
        return np.array(given, np.int64)
    if isinstance(given, tuple) and not isinstance(given[0], tuple | list | dict):
        raise InputError(f"{what} cannot be the tuple {given!r}", hint=f"write {what}=[{given!r}]")
    return None


def _check_edge_numbers(what: str, given: Any, wrong: Any, problem: str) -> None:
    bad = np.flatnonzero(wrong).tolist()
    if bad:
        raise InputError(
            f"{what} has edge numbers that are {problem}",
            where=named_rows(bad, lambda at: str(given[at])),
            hint="take them from the column `edge` of graph.edges()",
        )


def _flipped_numbers(known: KnownEdges, numbers: Int64, what: str) -> Int32:
    """The inside numbers of edges that the user names by their numbers in `graph.edges()`."""
    resident = known.resident
    outside = (numbers < 0) | (numbers >= resident.edges)
    twice = np.ones(len(numbers), np.bool_)
    twice[np.unique(numbers, return_index=True)[1]] = False
    _check_edge_numbers(what, numbers, outside, "of no edge")
    _check_edge_numbers(what, numbers, twice, "listed twice")
    given = len(resident.numbers)
    inside = numbers.astype(np.int32)
    first = numbers < given
    inside[first] = resident.numbers[numbers[first]]
    at = np.flatnonzero(resident.are_live(inside) == (what == "insert"))
    if len(at):
        state = "already there" if what == "insert" else "not there"
        raise InputError(
            f"{what} has edges that are {state}",
            where=named_rows(
                at.tolist(), lambda row: f"edge {numbers[row]} {known.text(int(inside[row]))}"
            ),
        )
    return inside


def refuse(rows: EdgeRows, wrong: NDArray[np.bool_], problem: str, hint: str) -> None:
    """Refuse rows, if any are wrong."""
    if wrong.any():
        bad = np.flatnonzero(wrong).tolist()
        count = f"{len(bad):,} rows of {rows.what}" if len(bad) > 1 else f"a row of {rows.what}"
        if len(bad) == 1:
            problem = problem.replace("name ", "names ", 1).replace("are parallel", "is parallel")
        raise InputError(f"{count} {problem}", where=named_rows(bad, rows.row), hint=hint)
