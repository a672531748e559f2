"""A graph written as one base, from tables that somebody has in memory."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphtide.model import disk
from graphtide.model.delta import EdgeIds
from graphtide.model.disk import disk_errors
from graphtide.model.edge_numbers import number_type
from graphtide.model.graph_folders import DELETED, KEYS
from graphtide.model.schema import GraphSchema
from graphtide.model.summary import GraphSummary
from graphtide.store.append import deleted_table, part_name, write_part
from graphtide.store.carry import carry_files
from graphtide.store.commit import Commit
from graphtide.store.files import write_table
from graphtide.store.generation import Manifest, own_entries
from graphtide.store.graph import StoredGraph, graph_manifest
from graphtide.store.history import numbering_of, write_history
from graphtide.store.states import GraphState, append_file, states_to_json

_PART_ROWS = 1_000_000


class BaseTables(NamedTuple):
    """Vertices (`_id`, properties) and edges (`_src`, `_dst`, properties), each at its number.

    `deleted` are the numbers of the edges that are not there.
    """

    schema: GraphSchema
    vertices: pa.Table
    edges: pa.Table
    deleted: EdgeIds


def write_base(
    commit: Commit,
    before: StoredGraph | None,
    tables: BaseTables,
    entries: Manifest,
) -> Path:
    """Write a graph as one base, and commit it; what it was `before` goes into its history."""
    vertices, edges, deleted = tables.vertices, tables.edges, tables.deleted
    number = 0 if before is None else before.states[-1].number + 1
    with disk_errors(commit.what, commit.folder):
        _write_table(commit.path, "vertices", vertices, 1)
        _write_table(commit.path, "edges", edges, 2)
        if len(deleted):
            gone = deleted_table(deleted, number, edges.num_rows)
            write_part(gone, commit.path / DELETED, append_file(0))
        if before is not None:
            write_history(before, commit.path)
    there = edges.num_rows - len(deleted)
    summary = GraphSummary(tables.schema, vertices.num_rows, there, 0, "a live graph")
    manifest = graph_manifest(summary)
    rows = vertices.num_rows, edges.num_rows, len(deleted)
    state = GraphState(manifest["identity"], number, commit.generation, *rows)
    manifest |= {"states": states_to_json([state]), **entries}
    if before is None:
        return commit.finish(manifest)
    quarantined = [name for name, _ in before.generation.parts("quarantine")]
    carried = carry_files(before.generation, quarantined, commit)
    stays = ("created", "source", "timezone", "quarantined")
    manifest |= {name: before.generation.manifest[name] for name in stays}
    manifest |= {"numbering": numbering_of(before) + 1}
    return commit.finish(own_entries(before.generation.manifest) | manifest, carried=carried)


def _write_table(path: Path, name: str, table: pa.Table, ends: int) -> None:
    """Numbers in front, and behind the ids or ends the label that nothing has."""
    disk.make_folder(path / name)
    type_ = np.int32 if name == "vertices" else number_type(table.num_rows)
    numbers = pa.array(np.arange(table.num_rows, dtype=type_))
    whole = table.add_column(0, KEYS[name], numbers)
    whole = whole.add_column(1 + ends, "_label", pa.nulls(table.num_rows, pa.string()))
    for first in range(0, max(table.num_rows, 1), _PART_ROWS):
        write_table(whole.slice(first, _PART_ROWS), path / name / part_name(first))
