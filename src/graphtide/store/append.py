"""An append to a stored graph: files beside the base, in a generation that shares all others.

What is appended is known by numbers here: whoever reads users' rows finds the vertices and edges
that they are about. The next generation lists the files of the one before, under names of its own,
and what the append has written. So an append costs what it adds, whatever the graph holds, and the
states before it stay readable.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphtide.model import disk
from graphtide.model.delta import EdgeIds
from graphtide.model.disk import disk_errors
from graphtide.model.edge_numbers import number_type
from graphtide.model.graph_folders import CHANGED, DELETED
from graphtide.model.schema import GraphSchema
from graphtide.store.carry import carry_files
from graphtide.store.commit import Commit
from graphtide.store.files import write_table
from graphtide.store.generation import Generation, Manifest, own_entries
from graphtide.store.graph import StoredGraph, schema_to_json
from graphtide.store.states import GraphState, append_file, states_to_json

NO_ENTRIES: Manifest = {}


@dataclass(frozen=True)
class Appended:
    """What an append adds, deletes and changes, as rows of the tables with their numbers.

    `vertices` and `edges` follow the last numbers that are taken; `listed` says whether the new
    vertices are those of a table. `schema` has the labels that are new.
    """

    schema: GraphSchema
    vertices: pa.Table
    edges: pa.Table
    deleted: pa.Table
    changed_vertices: pa.Table
    changed_edges: pa.Table
    quarantined: pa.Table
    listed: bool = False

    @property
    def rows(self) -> int:
        """How many rows of the graph it is about."""
        return sum(table.num_rows for table in self.tables.values())

    @property
    def tables(self) -> dict[str, pa.Table]:
        """All but the rows that were set aside, by the folders that they go to."""
        return {
            "vertices": self.vertices,
            "edges": self.edges,
            DELETED: self.deleted,
            CHANGED["vertices"]: self.changed_vertices,
            CHANGED["edges"]: self.changed_edges,
        }


def deleted_table(edges: Sequence[int] | EdgeIds, append: int, numbers: int) -> pa.Table:
    """Edges that the append of that number deletes; the graph has given out so many `numbers`."""
    since = pa.array([append] * len(edges), pa.int64())
    return pa.table({"_edge": np.asarray(edges, number_type(numbers)), "_append": since})


def write_append(
    commit: Commit, stored: StoredGraph, added: Appended, entries: Manifest = NO_ENTRIES
) -> Path:
    """Write what is appended to a graph, and commit it as the next state. O(what is added).

    The manifest gets some more `entries`.
    """
    number = stored.number + 1
    starts = {"vertices": stored.vertices, "edges": stored.numbers}
    with disk_errors(commit.what, commit.folder):
        for folder, table in added.tables.items():
            if table.num_rows:
                name = part_name(starts[folder]) if folder in starts else append_file(number)
                write_part(table, commit.path / folder, name)
        if added.quarantined.num_rows:
            write_part(added.quarantined, commit.path / "quarantine", append_file(number))
    carried = carry_files(stored.generation, _kept(stored.generation, commit.path), commit)
    manifest = _manifest(commit.generation, stored, added) | entries
    return commit.finish(manifest, carried=carried)


def part_name(first: int) -> str:
    """The name of the part of a table whose first row has that number."""
    return f"part-{first:012d}.parquet"


def write_part(table: pa.Table, folder: Path, name: str) -> None:
    """Write rows as one file of a folder, which is made."""
    disk.make_folder(folder, there=True)
    write_table(table, folder / name)


def _kept(generation: Generation, path: Path) -> list[str]:
    """All files but the part without rows in whose place the first ones have been written."""
    return [name for name in generation.files if not (path / name).exists()]


def _manifest(generation: str, stored: StoredGraph, added: Appended) -> Manifest:
    files = sum(table.num_rows > 0 for table in added.tables.values())
    last = stored.states[-1]
    state = GraphState(
        identity=uuid.uuid4().hex,
        number=last.number + 1,
        generation=generation,
        vertices=last.vertices + added.vertices.num_rows,
        numbers=last.numbers + added.edges.num_rows,
        deleted=last.deleted + added.deleted.num_rows,
        rows=added.rows,
        files=files,
    )
    return own_entries(stored.generation.manifest) | {
        "schema": schema_to_json(added.schema),
        "vertices": state.vertices,
        "edges": state.edges,
        "quarantined": stored.quarantined + added.quarantined.num_rows,
        "listed": _listed(stored, added),
        "identity": state.identity,
        "changed": dt.datetime.now(dt.UTC).isoformat(),
        "states": states_to_json([*stored.states, state]),
    }


def _listed(stored: StoredGraph, added: Appended) -> int:
    """Vertices of tables stand in front: those of an append count if all before it are listed."""
    if added.listed and stored.listed == stored.vertices:
        return stored.listed + int(added.vertices.num_rows)
    return stored.listed
