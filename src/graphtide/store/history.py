"""The states of a graph that are no longer its own: those before its base was written anew.

A merge makes one base of the base before and what appends have written beside it. Collections and
runs know the states that they were made from by identity, so those go into `history.parquet`. Where
a merge only joined what had been added and deleted, an earlier state can still be read: it has the
first so many rows. A merge that leaves out deleted edges numbers edges anew, and one that puts
changed rows in place has lost what stood there; the manifest counts such merges as `numbering`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from graphtide.store.files import write_table
from graphtide.store.graph import StoredGraph
from graphtide.store.seal import well_formed
from graphtide.store.states import GraphState, state_from

HISTORY = "history.parquet"
_SCHEMA = pa.schema(
    [
        ("identity", pa.string()),
        ("number", pa.int64()),
        ("generation", pa.string()),
        ("vertices", pa.int64()),
        ("numbers", pa.int64()),
        ("deleted", pa.int64()),
        ("rows", pa.int64()),
        ("files", pa.int64()),
        ("numbering", pa.int64()),
    ]
)


@dataclass(frozen=True)
class FoundState:
    """An earlier state of a graph, or its latest; `graph` is None where its rows are gone.

    `behind` counts the appends since.
    """

    state: GraphState
    graph: StoredGraph | None
    behind: int


def find_state(graph: StoredGraph, identity: str) -> FoundState | None:
    """The state of that identity; None if the graph never had it: then it was loaded anew."""
    for state in graph.states:
        if state.identity == identity:
            return FoundState(state, graph.at(state), graph.states[-1].number - state.number)
    if HISTORY not in graph.generation.files:
        return None
    for row in graph.generation.table(HISTORY, schema=_SCHEMA).to_pylist():
        if row["identity"] == identity:
            there = row.pop("numbering") == numbering_of(graph)
            with well_formed(graph.generation.what, graph.path / HISTORY):
                state = state_from(row)
            then = graph.at(state) if there else None
            return FoundState(state, then, graph.states[-1].number - state.number)
    return None


def numbering_of(graph: StoredGraph) -> int:
    """How many merges have left out deleted edges, or have put changed rows in place."""
    return int(graph.generation.manifest.get("numbering", 0))


def write_history(graph: StoredGraph, path: Path) -> None:
    """The states so far, for the generation that a merge writes."""
    older = _SCHEMA.empty_table()
    if HISTORY in graph.generation.files:
        older = graph.generation.table(HISTORY)
    numbering = numbering_of(graph)
    rows = [{**vars(state), "numbering": numbering} for state in graph.states]
    table = pa.concat_tables([older, pa.Table.from_pylist(rows, schema=_SCHEMA)])
    write_table(table, path / HISTORY)
