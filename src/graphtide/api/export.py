"""Graphs and collections as CSV files, for other programs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from graphtide.model.errors import InputError
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_ids, vertex_rows


def save_graph(stored: StoredGraph, folder: Path) -> list[Path]:
    """Write vertices.csv and edges.csv, with headers."""
    target = _made(folder)
    tables = {"vertices.csv": vertex_rows(stored), "edges.csv": edge_rows(stored, None)}
    for name, table in tables.items():
        pa_csv.write_csv(table, target / name)
    return [target / name for name in tables]


def save_collection(
    stored: StoredCollection, graph: StoredGraph, folder: Path, *, initial: bool
) -> list[Path]:
    """Write a file a step of the plan: the signed edges (src, dst, sign) from its parent.

    `initial=False` leaves out the first step, which is the whole of a view.
    """
    target = _made(folder)
    written = []
    for index, step in enumerate(stored.plan.steps):
        if index == 0 and not initial:
            continue
        view = step.stone if step.view is None else stored.views[step.view].name
        path = target / f"step-{index:06d}-from-{step.parent}.csv"
        pa_csv.write_csv(_signed_edges(stored, graph, index), path)
        written.append((index, view, step.parent, path))
    listing = {
        "step": [item[0] for item in written],
        "view": [item[1] for item in written],
        "parent": [item[2] for item in written],
        "file": [item[3].name for item in written],
    }
    pa_csv.write_csv(pa.table(listing), target / "steps.csv")
    return [target / "steps.csv", *(item[3] for item in written)]


def save_mappings(stored: StoredGraph, folder: Path) -> Path:
    """Write vertex_mappings.txt: a vertex's id and its number, a line each, without a header."""
    path = _made(folder) / "vertex_mappings.txt"
    ids = vertex_ids(stored)
    table = pa.table({"id": ids, "vertex": pa.array(range(len(ids)), pa.int32())})
    pa_csv.write_csv(table, path, pa_csv.WriteOptions(include_header=False))
    return path


def _signed_edges(stored: StoredCollection, graph: StoredGraph, step: int) -> pa.Table:
    delta = stored.delta(step)
    parts = []
    for edges, sign in ((delta.inserted, 1), (delta.deleted, -1)):
        edges.sort()
        rows = edge_rows(graph, edges).select(["src", "dst"])
        parts.append(rows.append_column("sign", pa.array([sign] * len(rows), pa.int8())))
    return pa.concat_tables(parts)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to '{folder}': {error.strerror}") from None
    return folder
