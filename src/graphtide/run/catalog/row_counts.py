"""What a load or an append has done, in rows.

Counts are of one load or append, where a graph shows its whole sizes. The rows that were set aside
are read when they are asked for, from the graph as it is then: later appends keep them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from graphtide.model.errors import NotFoundError
from graphtide.model.text import counted
from graphtide.run.table import Table
from graphtide.store.catalog import Catalog
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.next_state import AppendedRows


@dataclass(frozen=True)
class RowCounts:
    """How many rows were taken, have changed something, or were set aside.

    - `taken`: rows of edges that are edges now; `vertices`: new vertices, listed or found in edges.
    - `changed`: edges and vertices with other values; `deleted`: edges that are gone.
    - `set_aside`: bad rows; `quarantine()` reads them, `files` says where they are.
    - `applied_before`: a batch of this `id` was there already, so nothing was done.
    - `notes`: what should be known of columns whose types were found.
    """

    graph: str
    taken: int = 0
    vertices: int = 0
    changed: int = 0
    deleted: int = 0
    set_aside: int = 0
    id: str | tuple[str, int] | None = None
    applied_before: bool = False
    notes: tuple[str, ...] = ()
    _stored: StoredGraph | None = field(default=None, repr=False, compare=False)
    _catalog: Catalog | None = field(default=None, repr=False, compare=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """The Parquet files of the rows that were set aside, until the graph changes again."""
        return tuple(
            current.path / name for current in self._now() for name in self._names(current)
        )

    def quarantine(self) -> Table:
        """The rows that were set aside: kind, file, line, reason and text of each."""
        for current in self._now():
            return Table(current.quarantine(self._names(current)))
        raise NotFoundError(
            f"the rows that were set aside are gone: the graph '{self.graph}' was loaded anew",
            hint="read them before a load that replaces the graph",
        )

    def to_dict(self) -> dict[str, object]:
        """The counts by name, for programs."""
        names = ("taken", "vertices", "changed", "deleted", "set_aside", "applied_before")
        files = [str(path) for path in self.files] if self.set_aside else []
        return {name: getattr(self, name) for name in names} | {"id": self.id, "files": files}

    def __str__(self) -> str:
        if self.applied_before:
            return f"the batch {self.id!r} was applied to '{self.graph}' before: nothing was done"
        parts = [f"{counted(self.taken, 'edge')} taken"]
        for count, what in (
            (self.vertices, "new vertex|new vertices"),
            (self.changed, "row changed|rows changed"),
            (self.deleted, "edge deleted|edges deleted"),
            (self.set_aside, "bad row set aside|bad rows set aside"),
        ):
            if count:
                parts.append(counted(count, *what.split("|")))
        return ", ".join(parts)

    def _now(self) -> list[StoredGraph]:
        """The graph as it is now; nothing if it is another one by now."""
        assert self._stored is not None
        assert self._catalog is not None
        current = open_graph(self._catalog, self.graph)
        return [current] if current.created == self._stored.created else []

    def _names(self, current: StoredGraph) -> list[str]:
        assert self._stored is not None
        return current.quarantine_files(self._stored.number) if self.set_aside else []


def counts_of_load(catalog: Catalog, stored: StoredGraph, notes: tuple[str, ...]) -> RowCounts:
    """Of a graph that has just been loaded."""
    sizes = stored.edges, stored.vertices
    counts = RowCounts(stored.name, *sizes, set_aside=stored.quarantined, notes=notes)
    return replace(counts, _stored=stored, _catalog=catalog)


def counts_of_append(catalog: Catalog, stored: StoredGraph, added: AppendedRows) -> RowCounts:
    """Of an append that has just made a state of a graph."""
    return RowCounts(
        stored.name,
        taken=added.edges.num_rows,
        vertices=added.vertices.num_rows,
        changed=added.changed_vertices.num_rows + added.changed_edges.num_rows,
        deleted=added.deleted.num_rows,
        set_aside=added.quarantined.num_rows,
        _stored=stored,
        _catalog=catalog,
    )
