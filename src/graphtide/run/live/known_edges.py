"""A graph in memory, together with its users' words: ids of vertices and names of columns.

Arrow tables hold the properties of its vertices, and those of its edges that are no numbers;
programs on the graph read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.edge_data import CODED
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.run.live.edge_columns import EdgeColumns
from graphtide.run.live.edge_rows import ROW_NUMBER, ColumnNames, EdgeRows
from graphtide.run.live.plain_rows import PlainRows
from graphtide.run.live.vertex_columns import NO_TABLE, VertexColumns
from graphtide.run.live.vertex_ids import Int32, VertexIds


class RowConditions(Protocol):
    """What a program needs of edges: the properties that it reads, and values that it can take."""

    @property
    def properties(self) -> Mapping[str, ValueType]:
        """The properties, with their types."""

    def check_rows(self, columns: Mapping[str, NDArray[Any]], text: Callable[[int], str]) -> None:
        """Refuse edges with values that the program cannot take; `text` writes a row for errors."""


class KnownEdges:
    """What rows are matched with: a graph, the ids of its vertices, the names of its columns.

    `timezone` is the zone in which predicates and windows read times, as in the catalog.
    """

    def __init__(
        self,
        resident: ResidentGraph,
        ids: VertexIds,
        names: ColumnNames,
        simple: bool,
        vertices: pa.Table = NO_TABLE,
        edges: pa.Table = NO_TABLE,
        edge_rows: NDArray[Any] | None = None,
    ) -> None:
        self.resident = resident
        self.vertex_columns = VertexColumns(vertices, resident.vertices)
        resident.vertex_data = self.vertex_columns
        self.edge_columns = EdgeColumns(edges, self.vertex_columns.codes, edge_rows)
        resident.edge_data = self.edge_columns
        self.ids = ids
        self.names = names
        self.simple = simple
        self.timezone = "UTC"
        self.dtypes = tuple(resident.dtypes.items())
        self.plain = PlainRows(names.src, names.dst, self.dtypes)
        self._places = {name: at for at, name in enumerate(resident.dtypes)}
        self._given: dict[tuple[str, ...], NDArray[np.int64]] = {}

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return self.resident.vertices

    @property
    def whose(self) -> str:
        """Empty: errors need not say whose edges these are, since all are here."""
        return ""

    def name(self, number: int) -> Any:
        """The id of a vertex."""
        return self.ids[number]

    def columns_of(self, rows: EdgeRows) -> NDArray[np.int64]:
        """Which properties of the graph some rows give."""
        names = tuple(rows.properties)
        if names not in self._given:
            self._given[names] = np.array([self._places[name] for name in names], np.int64)
        return self._given[names]

    def columns(self, wanted: Mapping[str, ValueType], edges: Int32) -> dict[str, NDArray[Any]]:
        """What a program reads of some edges (inside numbers), to be checked."""
        resident = self.resident
        return {
            name: (resident.coded(name, type_) if type_ in CODED else resident.properties[name])[
                edges
            ]
            for name, type_ in wanted.items()
        }

    def entering(self, wanted: Mapping[str, ValueType], rows: EdgeRows) -> dict[str, NDArray[Any]]:
        """What a program reads of rows that become the next edges."""
        if not self.edge_columns.table.num_columns:
            return rows.properties
        first = self.resident.edges
        coded = {
            name: self.edge_columns.values(name, type_, first, first + len(rows))
            for name, type_ in wanted.items()
            if type_ in CODED
        }
        return {**rows.properties, **coded}

    def check_edges(self, needed: RowConditions, edges: Int32) -> None:
        """Refuse edges (inside numbers) that a program cannot take, by their rows in `edges()`.

        Edges are brought into that order only where there is something to tell.
        """
        with suppress(InputError):
            self._check_rows(needed, edges)
            return
        numbers = self.resident.numbers
        listed = np.argsort(np.concatenate([numbers, np.arange(len(numbers), edges.max() + 1)]))
        self._check_rows(needed, edges[np.argsort(listed[edges])])

    def _check_rows(self, needed: RowConditions, edges: Int32) -> None:
        columns = self.columns(needed.properties, edges)
        needed.check_rows(columns, lambda at: self.text(int(edges[at])))

    def text(self, edge: int) -> str:
        """An edge (inside number) as its row."""
        edges = np.array([edge], np.int32)
        ends = [self.ids[int(end[0])] for end in self.resident.ends(edges)]
        properties = self.resident.properties.items()
        values = [column[edge].item() for name, column in properties if name != ROW_NUMBER]
        return f"({', '.join(map(repr, [*ends, *values]))})"
