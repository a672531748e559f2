"""What has become of the edges of a graph since a state of it, as far as views can tell.

An edge counts as changed where its own row was changed, and where a vertex at one of its ends was,
if the views look at vertices at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from graphtide.model.delta import EdgeIds
from graphtide.model.graph_folders import CHANGED, KEYS
from graphtide.plan.predicates import Predicate, atoms_of, properties_of
from graphtide.run.views.stored_rows import ends_of
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import TableName, deleted_edges


@dataclass(frozen=True)
class ChangedEdges:
    """Edges by their numbers, sorted: those that are `gone`, and those that came or changed."""

    gone: EdgeIds
    looked_at: EdgeIds

    def __len__(self) -> int:
        return len(self.gone) + len(self.looked_at)

    def before(self, then: StoredGraph) -> EdgeIds:
        """Those that were there then."""
        known = self.looked_at[self.looked_at < then.numbers]
        return np.setdiff1d(np.union1d(self.gone, known), deleted_edges(then)).astype(
            then.number_type
        )


def changed_edges(
    then: StoredGraph, now: StoredGraph, predicates: Iterable[Predicate]
) -> ChangedEdges:
    """What has changed between two states of a graph, for views of these predicates."""
    deleted = deleted_edges(now)
    edges = [
        np.arange(then.numbers, now.numbers, dtype=now.number_type),
        changed_numbers(then, now, "edges"),
    ]
    vertices = changed_numbers(then, now, "vertices")
    if len(vertices) and any(map(_looks_at_vertices, predicates)):
        edges.append(ends_of(now, vertices))
    looked_at = np.setdiff1d(np.unique(np.concatenate(edges)), deleted)
    return ChangedEdges(np.setdiff1d(deleted, deleted_edges(then)), looked_at)


def changed_numbers(then: StoredGraph, now: StoredGraph, table: TableName) -> EdgeIds:
    """The rows of a table that appends between two states have changed."""
    folder, key = CHANGED[table], KEYS[table]
    names = set(now.append_files(folder)) - set(then.append_files(folder))
    rows = [now.generation.table(name, [key]).column(key).to_numpy() for name in sorted(names)]
    return np.unique(np.concatenate([np.empty(0, np.int32), *rows]))


def _looks_at_vertices(predicate: Predicate) -> bool:
    items = (item for atom in atoms_of(predicate) for item in properties_of(atom))
    return any(item.owner != "edge" for item in items)
