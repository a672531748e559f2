"""A stored graph that changes, as plain lists: the rows that a reload of everything would have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


class ChangingGraph:
    """Vertices and edges in their order, as dicts of everything that is known of them."""

    def __init__(self, vertices: Sequence[Row], edges: Sequence[Row]) -> None:
        self.vertices = [dict(row) for row in vertices]
        self.edges = [dict(row) for row in edges]

    def append(
        self,
        edges: Sequence[Row] = (),
        delete: Sequence[Row] = (),
        vertices: Sequence[Row] = (),
        update: Sequence[Row] = (),
        match: Sequence[str] = (),
    ) -> None:
        """The next state. What is deleted and updated is there before."""
        gone = self._taken(delete)
        for row in update:
            named = {name: row[name] for name in ("src", "dst", *match)}
            (at,) = [at for at in self._having(named) if at not in gone]
            self.edges[at] |= row
        self.edges = [row for at, row in enumerate(self.edges) if at not in gone]
        self._put_vertices(vertices)
        names = self._names(self.edges, edges)
        found = {row[end] for row in edges for end in ("src", "dst")}
        found -= {row["id"] for row in self.vertices}
        others = [name for row in self.vertices[:1] for name in row if name != "id"]
        self.vertices += [{"id": id_, **dict.fromkeys(others)} for id_ in sorted(found)]
        self.edges += [{name: row.get(name) for name in names} for row in edges]

    def _put_vertices(self, rows: Sequence[Row]) -> None:
        others = [name for row in self.vertices[:1] for name in row]
        for row in rows:
            known = [item for item in self.vertices if item["id"] == row["id"]]
            if known:
                known[0] |= row
            else:
                self.vertices.append({name: row.get(name) for name in others})

    def _taken(self, rows: Sequence[Row]) -> set[int]:
        taken: set[int] = set()
        for row in rows:
            taken.add(next(at for at in self._having(row) if at not in taken))
        return taken

    def _having(self, said: Row) -> list[int]:
        return [
            at
            for at, row in enumerate(self.edges)
            if all(row[name] == value for name, value in said.items())
        ]

    @staticmethod
    def _names(known: Sequence[Row], given: Sequence[Row]) -> list[str]:
        return list(dict.fromkeys(name for row in (*known, *given) for name in row))
