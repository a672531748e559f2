"""The edges that an append deletes or updates: those that its rows name, each with one of its own.

Rows that name no edge refuse the whole append: somebody expected something else to be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.delta import no_edges
from graphtide.model.errors import InputError
from graphtide.run.append.appended_rows import replaced_rows
from graphtide.run.append.given import GivenRows, declared_types
from graphtide.run.append.matching import NamedEdges
from graphtide.run.append.vertex_finder import VertexFinder
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_table_rows

_TOLD = 5


class EdgeChanges:
    """Finds edges of one state of a graph by rows."""

    def __init__(self, stored: StoredGraph, finder: VertexFinder) -> None:
        self._stored = stored
        self._finder = finder
        self._declared = declared_types(stored.schema, "edges")

    def deleted(self, given: GivenRows | None) -> list[int]:
        """An edge for each row, of those that have all that the row says."""
        if given is None:
            return []
        names = [*(["label"] if given.has("label") else []), *given.properties(self._declared)]
        edges, rows = self._named("delete", given, names)
        matched = [edges.take(row) for row in rows]
        _refuse("delete", given, [at for at, edge in enumerate(matched) if edge is None])
        return sorted(edge for edge in matched if edge is not None)

    def updated(
        self, given: GivenRows | None, match: Sequence[str], deleted: Sequence[int]
    ) -> pa.Table:
        """The one edge that each row names by its ends and by `match`, as it is from now on."""
        if given is None:
            return edge_table_rows(self._stored, no_edges())
        names = given.properties(self._declared)
        _check_update(names, match, list(self._declared))
        edges, rows = self._named("update", given, match)
        gone, row_of = set(deleted), {}
        for at, row in enumerate(rows):
            left = [edge for edge in edges.of(row) if edge not in gone]
            if not edges.of(row):
                _refuse("update", given, [at])
            if len(left) != 1 or left[0] in row_of:
                raise _unclear(given, at, len(left))
            row_of[left[0]] = at
        numbers = sorted(row_of)
        table = edge_table_rows(self._stored, np.array(numbers, self._stored.number_type))
        new = [name for name in names if name not in match]
        return replaced_rows(table, given, [row_of[edge] for edge in numbers], new)

    def _named(
        self, what: str, given: GivenRows, names: Sequence[str]
    ) -> tuple[NamedEdges, list[tuple[Any, ...]]]:
        """The edges between the ends of all rows, and what each row says: ends and properties."""
        ends = self._finder.ends(given)
        known = self._stored.vertices
        outside = [at for at, row in enumerate(ends) if not _are_known(row, known)]
        _refuse(what, given, outside)
        src, dst = np.array(ends, np.int64).reshape(-1, 2).T
        types = {name: given.rows.column(name).type for name in names}
        columns = {"_label" if name == "label" else name: type_ for name, type_ in types.items()}
        said = [given.values(name) for name in names]
        rows = list(zip(src.tolist(), dst.tolist(), *said, strict=True))
        return NamedEdges(self._stored, src, dst, columns), rows


def _are_known(ends: Sequence[int | None], vertices: int) -> bool:
    return all(end is not None and end < vertices for end in ends)


def _refuse(what: str, given: GivenRows, rows: Sequence[int]) -> None:
    if rows:
        count = f"{len(rows):,} rows of {what} name" if len(rows) > 1 else f"a row of {what} names"
        raise InputError(
            f"{count} edges that are not there",
            where="\n      ".join(given.text(at) for at in rows[:_TOLD]),
            hint="look them up in graph.edges(); each row takes an edge of its own",
        )


def _check_update(names: Sequence[str], match: Sequence[str], declared: Sequence[str]) -> None:
    for name in match:
        if name not in names:
            raise InputError(
                f"match names '{name}', which the rows of update do not give",
                hint=f"properties are: {', '.join(declared) or 'none'}",
            )
    if set(names) <= set(match):
        raise InputError(
            "update gives no new value for any property",
            hint="a row is src, dst, what `match` names, and the properties that change",
        )


def _unclear(given: GivenRows, at: int, count: int) -> InputError:
    problem = "names an edge that the same append deletes, or that another row updates"
    if count > 1:
        problem = f"names {count:,} parallel edges"
    return InputError(
        f"a row of update {problem}",
        where=given.text(at),
        hint="tell edges apart by properties: match=['...']; those that agree in everything can be "
        "deleted and appended",
    )
