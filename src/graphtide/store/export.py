"""What leaves a store and comes back: CSV files for other programs, and copies of stores.

A copy is a store of its own (the same generations and pointer), so that it too is complete or
absent, and it remembers the name it had. A copy keeps the identity of what it copies: a copied
collection still fits the copied graph. Every file is compared with its manifest before it is
copied, so that damage does not spread under a new checksum.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.model.errors import NotFoundError, StoreError
from graphtide.model.names import name_of_folder
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.commit import Commit, begin, open_committed
from graphtide.store.generation import Generation, own_entries
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_ids, vertex_rows
from graphtide.store.whole_files import whole_files

_MAPPINGS = "vertex_mappings.txt"


def save_graph(stored: StoredGraph, folder: Path) -> list[Path]:
    """Write vertices.csv and edges.csv, with headers."""
    tables = {"vertices.csv": vertex_rows(stored), "edges.csv": edge_rows(stored, None)}
    with whole_files(folder) as beside:
        for name, table in tables.items():
            pa_csv.write_csv(table, beside(name))
    return [folder / name for name in tables]


def save_collection(
    stored: StoredCollection, graph: StoredGraph, folder: Path, *, initial: bool
) -> list[Path]:
    """Write a file a step of the plan: the signed edges (src, dst, sign) from its parent.

    `initial=False` leaves out the first step, which is the whole of a view.
    """
    first = 0 if initial else 1
    numbers = range(first, len(stored.plan.steps))
    names = [f"step-{at:06d}-from-{stored.plan.steps[at].parent}.csv" for at in numbers]
    with whole_files(folder) as beside:
        for at, name in zip(numbers, names, strict=True):
            pa_csv.write_csv(_signed_edges(stored, graph, at), beside(name))
        pa_csv.write_csv(_listing(stored, numbers, names), beside("steps.csv"))
    return [folder / "steps.csv", *(folder / name for name in names)]


def _listing(stored: StoredCollection, numbers: range, names: Sequence[str]) -> pa.Table:
    steps = [stored.plan.steps[at] for at in numbers]
    views = [step.stone if step.view is None else stored.views[step.view].name for step in steps]
    return pa.table(
        {
            "step": pa.array(numbers, pa.int64()),
            "view": pa.array(views, pa.string()),
            "parent": pa.array([step.parent for step in steps], pa.int64()),
            "file": pa.array(names, pa.string()),
        }
    )


def save_mappings(stored: StoredGraph, folder: Path) -> Path:
    """Write vertex_mappings.txt: id and number of each vertex, one line each, no header."""
    ids = vertex_ids(stored)
    table = pa.table({"id": ids, "vertex": pa.array(range(len(ids)), pa.int32())})
    with whole_files(folder) as beside:
        path = beside(_MAPPINGS)
        pa_csv.write_csv(table, path, pa_csv.WriteOptions(include_header=False))
    return folder / _MAPPINGS


def _signed_edges(stored: StoredCollection, graph: StoredGraph, step: int) -> pa.Table:
    delta = stored.delta(step)
    parts = []
    for edges, sign in ((delta.inserted, 1), (delta.deleted, -1)):
        edges.sort()
        rows = edge_rows(graph, edges).select(list(graph.schema.ends))
        parts.append(rows.append_column("sign", pa.array([sign] * len(rows), pa.int8())))
    return pa.concat_tables(parts)


def copy_out(folder: Path, target: Path) -> Path:
    """Copy the generation in force to another folder, replacing an earlier copy there."""
    name = name_of_folder(folder.name) or folder.name
    source = open_committed(folder, f"'{name}'")
    with begin(target, replace=True, what=f"the copy in {target}") as commit:
        _copy(source, commit)
        commit.finish(own_entries(source.manifest) | {"name": name})
    return target


def copy_in(catalog: Catalog, source: Path, wanted: str) -> str:
    """Copy a store that `copy_out` made into the catalog under its old name, and return that.

    `wanted` is `graph` or `collection`. A store of that name is replaced.
    """
    try:
        copy = open_committed(source, f"the copy in {source}")
    except NotFoundError:
        raise NotFoundError(
            f"there is no serialized {wanted} in '{source}'",
            hint="give the folder that 'serialize' wrote",
        ) from None
    manifest = copy.manifest
    kind = "graph" if manifest.get("kind") == "graph" else "collection"
    if kind != wanted:
        raise StoreError(f"'{source}' holds a {kind}, not a {wanted}")
    name = str(manifest.get("name", source.name))
    folder = catalog.graph_folder(name) if kind == "graph" else catalog.collection_folder(name)
    with begin(folder, replace=True, what=f"the {kind} '{name}'") as commit:
        _copy(copy, commit)
        commit.finish(own_entries(manifest))
    return name


def _copy(source: Generation, commit: Commit) -> None:
    """Copy the files that the manifest lists, and no others."""
    source.compare(source.files)
    with disk_errors(commit.what, commit.folder):
        for name in source.files:
            target = commit.path / name
            disk.make_folders_below(commit.path, target.parent)
            disk.copy_file(source.path / name, target)
