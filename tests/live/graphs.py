"""Live graphs for tests: begun, compared with the oracle, and left as after a kill."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

import graphtide as gt
from tests.oracle.live_graph import EdgeList, Row

START: list[Row] = [(0, 1, 1.0, "b"), (1, 2, 2.0, "c"), (0, 1, 1.0, "b"), (2, 0, 0.5, "a")]


def graph_of(rows: list[Row]) -> gt.Graph:
    """A graph in memory of rows, with the columns of all graphs here."""
    table = pa.table(
        {
            "src": pa.array([row[0] for row in rows], pa.int64()),
            "dst": pa.array([row[1] for row in rows], pa.int64()),
            "weight": pa.array([row[2] for row in rows], pa.float64()),
            "kind": pa.array([row[3] for row in rows], pa.string()),
        }
    )
    return gt.Graph.from_frame(table)


def begun(folder: Path, **options: Any) -> tuple[gt.LiveGraph, EdgeList]:
    """A live graph and the oracle."""
    return gt.live(folder, graph_of(START), **options), EdgeList(START)


def rows_of(table: pa.Table) -> list[Row]:
    """Edges as rows."""
    columns = (table.column(name).to_pylist() for name in ("src", "dst", "weight", "kind"))
    return list(zip(*columns, strict=True))


def check(graph: gt.Graph, known: EdgeList) -> None:
    """The graph holds what the oracle says."""
    assert Counter(rows_of(graph.edges())) == known.counted()
    assert set(graph.vertices().column("id").to_pylist()) == known.vertices
    assert graph.version == known.version


def check_hops(live: gt.Live, known: EdgeList) -> None:
    """A search from vertex 0 has the results of the oracle."""
    table = live.table()
    ids, found = table.column("id").to_pylist(), table.column("hops").to_pylist()
    said = known.hops(0)
    assert {id_: said[id_] for id_ in ids} == dict(zip(ids, map(_plain, found), strict=True))


def _plain(value: Any) -> float:
    return float("inf") if value is None or value < 0 or value > 10**9 else value


def leave(graph: gt.LiveGraph) -> None:
    """Let the lock go, and write nothing: as if the process had been killed."""
    assert graph._writer is not None
    graph._writer.store.close()
