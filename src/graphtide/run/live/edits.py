"""An advance before it is made: what users gave, checked, as edges of the graph in memory.

Nothing here changes the graph. An inserted row becomes an edge that is known and not there now,
or else a new one; a deleted row takes an edge that is there. Whatever cannot be is refused with
the rows that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.model.delta import no_edges
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import EdgeRows, read_rows
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import Int32, named_rows

_NONE = no_edges()
_NO_SUCH_EDGES = "name edges that are not there", "look them up in graph.edges()"


class Edits(NamedTuple):
    """Edges to flip (inside numbers), and rows of edges that the graph does not know yet.

    `src` and `dst` are vertex numbers, in which `new_ids` follow the vertices that are there.
    `rows` are all insertions as they were given; None where they were given by number.
    """

    deleted: Int32 = _NONE
    revived: Int32 = _NONE
    new_ids: tuple[Any, ...] = ()
    src: Int32 = _NONE
    dst: Int32 = _NONE
    properties: Mapping[str, NDArray[Any]] = MappingProxyType({})
    rows: EdgeRows | None = None


def read_edits(known: KnownEdges, insert: Any, delete: Any) -> Edits:
    """What an advance would do; InputError if it cannot be done as a whole."""
    deleted = _NONE if delete is None else _deleted_edges(known, delete)
    if insert is None:
        return Edits(deleted)
    numbers = edge_numbers("insert", insert)
    if numbers is not None:
        revived = _flipped_numbers(known, numbers, "insert")
        if known.simple:
            _check_parallel(known, revived, deleted)
        return Edits(deleted, revived)
    return _inserted_rows(known, read_rows("insert", insert, known.names), deleted)


def edge_numbers(what: str, given: Any) -> NDArray[np.int64] | None:
    """The numbers where a list of them was given, None where rows were."""
    if isinstance(given, np.ndarray):
        whole = given.ndim == 1 and given.dtype.kind in "iu"
        return given.astype(np.int64) if whole else None
    if isinstance(given, list) and given and type(given[0]) is tuple:
        return None
    if isinstance(given, list | tuple) and given:
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
            raise InputError(
                f"{what} cannot be the tuple {given!r}", hint=f"write {what}=[{given!r}]"
            )
    return None


def _check_edge_numbers(what: str, given: Any, wrong: Any, problem: str) -> None:
    bad = np.flatnonzero(wrong).tolist()
    if bad:
        raise InputError(
            f"{what} has edge numbers that are {problem}",
            where=named_rows(bad, lambda at: str(given[at])),
            hint="take them from the column `edge` of graph.edges()",
        )


def _deleted_edges(known: KnownEdges, delete: Any) -> Int32:
    numbers = edge_numbers("delete", delete)
    if numbers is not None:
        return _flipped_numbers(known, numbers, "delete")
    rows = read_rows("delete", delete, known.names)
    src, dst = known.ids.numbers(rows.src), known.ids.numbers(rows.dst)
    if src.min(initial=0) < 0 or dst.min(initial=0) < 0:
        _refuse(rows, (src < 0) | (dst < 0), "name vertices that are not there", "check the ids")
    edges, missing = known.resident.matched(src, dst, _comparable(known, rows), alive=True)
    if missing:
        _refuse(rows, edges < 0, *_NO_SUCH_EDGES)
    return edges


def _comparable(known: KnownEdges, rows: EdgeRows) -> dict[str, NDArray[Any]]:
    """The properties of rows in the types of the graph's; refuses values that no edge can have."""
    found = {}
    for name, given in rows.properties.items():
        stored = known.resident.properties[name].dtype
        with np.errstate(invalid="ignore"):
            found[name] = given.astype(stored, copy=False)
            if stored.kind != "f" and given.dtype != stored:
                lost = found[name].astype(given.dtype) != given
                _refuse(rows, lost, *_NO_SUCH_EDGES)
    return found


def _flipped_numbers(known: KnownEdges, numbers: NDArray[np.int64], what: str) -> Int32:
    """Edges by the numbers of `graph.edges()`, as inside numbers."""
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


def _inserted_rows(known: KnownEdges, rows: EdgeRows, deleted: Int32) -> Edits:
    missing = [name for name in known.names.properties if name not in rows.properties]
    if missing and len(rows):
        raise InputError(
            f"insert has no value for the property '{missing[0]}'",
            hint=f"a row is ({', '.join(known.names.all)})",
        )
    properties = _as_stored(known, rows)
    rows = EdgeRows(rows.what, rows.src, rows.dst, properties)
    src, dst, new_ids = _numbered_ends(known, rows)
    if known.simple:
        _check_simple(known, rows, (src, dst), deleted)
    edges, unmatched = known.resident.matched(src, dst, properties, alive=False)
    if unmatched == len(rows):
        return Edits(deleted, _NONE, new_ids, src, dst, properties, rows)
    fresh = edges < 0
    return Edits(
        deleted,
        edges[~fresh],
        new_ids,
        src[fresh],
        dst[fresh],
        {name: column[fresh] for name, column in properties.items()},
        rows,
    )


def _as_stored(known: KnownEdges, rows: EdgeRows) -> dict[str, NDArray[Any]]:
    """The properties of rows in the types that the graph has them in."""
    found = {}
    for name, stored in known.resident.properties.items():
        given = rows.properties.get(name, np.empty(0, stored.dtype))
        converted = given.astype(stored.dtype) if _fits(given, stored) else None
        if converted is None:
            raise InputError(
                f"insert: the property '{name}' holds {_KINDS[stored.dtype.kind]}, "
                f"and the rows give {_KINDS[given.dtype.kind]}",
                hint="give values of the same type",
            )
        found[name] = converted
    return found


_KINDS = {"b": "truth values", "i": "whole numbers", "f": "numbers with fractions"}


def _fits(given: NDArray[Any], stored: NDArray[Any]) -> bool:
    if given.dtype == stored.dtype or not len(given):
        return True
    if stored.dtype.kind == "f":
        return given.dtype.kind == "i"
    whole = stored.dtype.kind == "i" and given.dtype.kind == "f"
    return whole and bool((given == np.floor(given)).all() and (abs(given) < 2**53).all())


def _numbered_ends(known: KnownEdges, rows: EdgeRows) -> tuple[Int32, Int32, tuple[Any, ...]]:
    """Both ends by number; ids that are not there get the numbers behind, as they appear."""
    ends = known.ids.numbers(rows.src), known.ids.numbers(rows.dst)
    if min(end.min(initial=0) for end in ends) >= 0:
        return *ends, ()
    new: dict[Any, int] = {}
    for at in np.flatnonzero((ends[0] < 0) | (ends[1] < 0)).tolist():
        for column, numbers in zip((rows.src, rows.dst), ends, strict=True):
            if numbers[at] < 0:
                numbers[at] = new.setdefault(plain_id(column[at]), len(known.ids) + len(new))
    known.ids.check_new(tuple(new))
    return *ends, tuple(new)


def _check_simple(
    known: KnownEdges, rows: EdgeRows, ends: tuple[Int32, Int32], deleted: Int32
) -> None:
    src, dst = ends
    pairs = src.astype(np.int64) << 32 | dst
    twice = np.ones(len(rows), np.bool_)
    twice[np.unique(pairs, return_index=True)[1]] = False
    _refuse(rows, twice, "are parallel to another one", "the graph was made with simple=True")
    found, _ = known.resident.matched(src, dst, {}, alive=True)
    taken = (found >= 0) & ~np.isin(found, deleted)
    _refuse(rows, taken, "name edges that are already there", "delete them in the same advance")


def _check_parallel(known: KnownEdges, revived: Int32, deleted: Int32) -> None:
    ends = known.resident.ends(revived)
    ids = [np.fromiter((known.ids[n] for n in end.tolist()), object, len(end)) for end in ends]
    _check_simple(known, EdgeRows("insert", ids[0], ids[1], {}), ends, deleted)


def _refuse(rows: EdgeRows, wrong: NDArray[np.bool_], problem: str, hint: str) -> None:
    if wrong.any():
        bad = np.flatnonzero(wrong).tolist()
        count = f"{len(bad):,} rows of {rows.what}" if len(bad) > 1 else f"a row of {rows.what}"
        if len(bad) == 1:
            problem = problem.replace("name ", "names ", 1).replace("are parallel", "is parallel")
        raise InputError(f"{count} {problem}", where=named_rows(bad, rows.row), hint=hint)
