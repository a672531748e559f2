"""What is appended, found in the graph: rows by ids become rows of its tables by numbers.

Vertices come first: those of `vertices` in their order, then the ends of edges that are not there
yet, sorted. Deleted and updated rows are about edges that were there before the append, never about
those that it brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphtide.model.edge_numbers import MOST_EDGES, number_type
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import ENDS
from graphtide.run.append.appended_rows import new_rows, replaced_rows, with_new_labels
from graphtide.run.append.bad_rows import BadRows
from graphtide.run.append.edge_changes import EdgeChanges
from graphtide.run.append.given import GivenRows, declared_types
from graphtide.run.append.vertex_finder import VertexFinder
from graphtide.run.views.typed_columns import ARROW_TYPES
from graphtide.store.append import Appended, deleted_table
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import vertex_table

_MOST_VERTICES = 2**31 - 1


@dataclass(frozen=True)
class Given:
    """What one append was given; `match` are the properties by which updated rows name edges."""

    edges: GivenRows | None = None
    vertices: GivenRows | None = None
    delete: GivenRows | None = None
    update: GivenRows | None = None
    match: tuple[str, ...] = ()

    @property
    def tables(self) -> list[GivenRows]:
        """Those that were given."""
        every = (self.vertices, self.edges, self.delete, self.update)
        return [table for table in every if table is not None]


def resolve(stored: StoredGraph, given: Given, bad: BadRows) -> Appended:
    """Everything as rows of the tables. InputError for what cannot be; nothing is written."""
    for table in (given.delete, given.update):
        if table is not None and table.faults:
            at, fault = next(iter(table.faults.items()))
            raise InputError(
                f"rows that delete or update edges cannot be used: {fault}", where=table.text(at)
            )
    finder = VertexFinder(stored, given.tables)
    rows, changed_vertices = _vertices(stored, given.vertices, finder, bad)
    edges = _edges(stored, given.edges, finder, bad)
    changes = EdgeChanges(stored, finder)
    deleted = changes.deleted(given.delete)
    found_in_edges = len(finder.new) - len(rows)
    added = Appended(
        schema=with_new_labels(stored.schema, given.edges, given.vertices),
        vertices=_new_vertices(stored, given.vertices, finder, [*rows, *[None] * found_in_edges]),
        edges=edges,
        deleted=deleted_table(deleted, stored.number + 1, stored.numbers),
        changed_vertices=changed_vertices,
        changed_edges=changes.updated(given.update, given.match, deleted),
        quarantined=bad.table(),
        listed=not found_in_edges,
    )
    _check_size(stored, added)
    return added


def _vertices(
    stored: StoredGraph, given: GivenRows | None, finder: VertexFinder, bad: BadRows
) -> tuple[list[int], pa.Table]:
    """For each new vertex its row; and those that are there already, as they are from now on."""
    new: list[int] = []
    row_of: dict[int, int] = {}
    if given is None:
        return new, vertex_table(stored).slice(0, 0)
    for at, (label, id_) in enumerate(given.keys("label", "id")):
        if at in given.faults:
            bad.add("vertex", given, at, given.faults[at])
            continue
        if id_ is None:
            bad.add("vertex", given, at, "missing id")
            continue
        number = finder.number(label, id_)
        if number is None:
            finder.add(label, id_)
            new.append(at)
        elif number >= stored.vertices or number in row_of:
            bad.add("vertex", given, at, "duplicate vertex")
        else:
            row_of[number] = at
    names = given.properties(declared_types(stored.schema, "vertices"))
    numbers = sorted(row_of) if names else []
    table = vertex_table(stored).take(pa.array(numbers, pa.int64()))
    return new, replaced_rows(table, given, [row_of[number] for number in numbers], names)


def _edges(
    stored: StoredGraph, given: GivenRows | None, finder: VertexFinder, bad: BadRows
) -> pa.Table:
    """The new edges. Ends that are not there become vertices, unless all vertices are listed."""
    ends: list[list[int | None]] = []
    if given is not None:
        if not 0 < stored.listed == stored.vertices:
            finder.add_ends(given.without_faults())
        ends = finder.ends(given)
    good = []
    for at, row in enumerate(ends):
        assert given is not None
        if at in given.faults:
            bad.add("edge", given, at, given.faults[at])
            continue
        if None not in row:
            good.append(at)
            continue
        side = ENDS[row.index(None)]
        missing = given.rows.column(side)[at].as_py() is None
        own = given.ends[ENDS.index(side)]
        called = side if own == side else f"{side} (column '{own}')"
        bad.add("edge", given, at, f"{'missing' if missing else 'unknown'} {called}")
    numbers = np.array([ends[at] for at in good], np.int32).reshape(-1, 2)
    first, last = stored.numbers, stored.numbers + len(good)
    fixed = {
        "_edge": pa.array(np.arange(first, last, dtype=number_type(last))),
        "_src": pa.array(numbers[:, 0]),
        "_dst": pa.array(numbers[:, 1]),
    }
    return new_rows(stored, "edges", fixed, given, good)


def _new_vertices(
    stored: StoredGraph,
    given: GivenRows | None,
    finder: VertexFinder,
    rows: Sequence[int | None],
) -> pa.Table:
    first, type_ = stored.vertices, ARROW_TYPES[stored.schema.id_type]
    fixed = {
        "_vertex": pa.array(np.arange(first, first + len(rows)), pa.int32()),
        "_id": pa.array([id_ for _, id_ in finder.new], type_),
        "_label": pa.array([label for label, _ in finder.new], pa.string()),
    }
    return new_rows(stored, "vertices", fixed, given, rows)


def _check_size(stored: StoredGraph, added: Appended) -> None:
    for known, new, rows, most in (
        (stored.vertices, added.vertices, "vertices", _MOST_VERTICES),
        (stored.numbers, added.edges, "edges", MOST_EDGES),
    ):
        if known + new.num_rows > most:
            raise LimitError(
                f"{known + new.num_rows:,} {rows} are more than one graph can hold ({most:,})",
                hint="split the graph; graph.merge() gives the numbers of deleted edges back",
            )
