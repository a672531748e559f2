"""A stored graph: its schema, its sizes, where its tables are, and its states.

A generation of a graph holds `vertices/` and `edges/` (Parquet; parts named by the number of
their first row, so that sorted names are the order of the numbers), `quarantine/` for rows that
were set aside, and the files of appends. The manifest describes them; this module turns it into a
StoredGraph and back. What the tables are once all states are put together is in `tables`.

A base is two tables. An append adds rows behind them, and files of its own beside them: the
numbers of the edges that it deletes, and whole rows in place of those that it changes. So
vertices and edges keep their numbers, a deleted edge keeps its row, and each state since the base
can be read.

A merge makes one base of all that. Collections and runs know the states that they were made from
by identity, so the states before a merge go into `history.parquet`. Where the merge only joined
what had been added and deleted, an earlier state can still be read. A merge that leaves out
deleted edges numbers edges anew, and one that puts changed rows in place has lost the old ones;
the manifest counts such merges as `numbering`.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphtide.model.delta import is_wide, number_type
from graphtide.model.disk import Checksums, checksums_by_threads
from graphtide.model.schema import ENDS, GraphSchema, GraphSummary, Property, PropertyType
from graphtide.store.catalog import Catalog
from graphtide.store.commit import open_committed
from graphtide.store.files import Damage, check_plain, facts_of, well_formed, write_table
from graphtide.store.generation import MANIFEST, Generation, Manifest


@dataclass(frozen=True)
class GraphState:
    """One state of a graph; `number` counts what has made it, from the load on: appends, and merges
    that number edges anew.

    `numbers` counts the edge numbers that are taken, those of `deleted` edges included; `rows` are
    those that the append wrote beside the base, in so many `files`.
    """

    identity: str
    number: int
    generation: str
    vertices: int
    numbers: int
    deleted: int = 0
    rows: int = 0
    files: int = 0

    @property
    def edges(self) -> int:
        return self.numbers - self.deleted


def states_to_json(states: Sequence[GraphState]) -> list[dict[str, Any]]:
    return [vars(state) for state in states]


def states_from_json(manifest: dict[str, Any]) -> tuple[GraphState, ...]:
    """The states that a manifest lists; only the base if nothing was appended."""
    listed = manifest.get("states")
    if listed is not None:
        return tuple(map(state_from, listed))
    known = {name: manifest[name] for name in ("identity", "generation", "vertices")}
    return (state_from({**known, "number": 0, "numbers": manifest["edges"]}),)


def state_from(data: dict[str, Any]) -> GraphState:
    """A state from a manifest or a history; ValueError if no graph can be in it."""
    state = facts_of(GraphState, data)
    counts = state.number, state.vertices, state.deleted, state.edges, state.rows, state.files
    if min(counts) < 0:
        raise ValueError(f"a state with {min(counts)} of something")
    return state


def append_file(number: int) -> str:
    """The name of the file that the append of that number writes in a folder."""
    return f"append-{number:06d}.parquet"


QUARANTINE_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.string()),
    ]
)


@dataclass(frozen=True)
class StoredGraph:
    """One state of a graph: that of a committed generation, or one before it.

    `identity` differs between any two states ever written: a collection keeps the identity of the
    state that it was made from, to notice that the graph has changed, or been loaded anew, since.
    The first `listed` vertices are those of vertex tables, in their order. Edge numbers below
    `numbers` are taken, some of them perhaps by edges that are deleted. `number` counts the appends
    that have made this state.
    """

    name: str
    generation: Generation = field(compare=False)
    schema: GraphSchema
    vertices: int
    edges: int
    quarantined: int
    created: dt.datetime
    source: str
    timezone: str = "UTC"
    listed: int = 0
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    numbers: int = 0
    number: int = 0
    states: tuple[GraphState, ...] = ()

    @property
    def is_latest(self) -> bool:
        """Whether the generation was committed in this state."""
        return bool(self.identity == self.states[-1].identity)

    @property
    def directed(self) -> bool:
        """Whether edges lead from src to dst, and do not only join the two."""
        return self.schema.directed

    @property
    def has_gaps(self) -> bool:
        """Whether some edge numbers are those of deleted edges."""
        return self.edges < self.numbers

    @property
    def has_wide_numbers(self) -> bool:
        """Whether edge numbers have 64 bits; older files of the graph may be narrow."""
        return is_wide(self.states[-1].numbers)

    @property
    def number_type(self) -> Any:
        return number_type(self.states[-1].numbers)

    def at(self, state: GraphState) -> StoredGraph:
        """The graph in an earlier state that can still be read."""
        return replace(
            self,
            vertices=state.vertices,
            edges=state.edges,
            numbers=state.numbers,
            identity=state.identity,
            number=state.number,
        )

    def append_files(self, folder: str) -> list[str]:
        """The files that appends up to this state have written in a folder, in order."""
        last = f"{folder}/{append_file(self.number)}"
        return [name for name, _ in self.generation.parts(folder) if name <= last]

    def append_paths(self, folder: str, checksums: Checksums = checksums_by_threads) -> list[Path]:
        """The paths of these files, after comparing them with the manifest."""
        names = self.append_files(folder)
        self.generation.compare(names, checksums)
        return [self.path / name for name in names]

    @property
    def path(self) -> Path:
        return self.generation.path

    def vertices_folder(self, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of the vertex table, checked: it holds the listed files only."""
        return self.generation.folder("vertices", checksums)

    def edges_folder(self, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of the edge table, checked: it holds the listed files only."""
        return self.generation.folder("edges", checksums)

    def quarantine(self, files: Sequence[str] | None = None) -> pa.Table:
        """The rows that were set aside: kind, file, line, reason and text of each.

        `files` are those of one load or append; None stands for all.
        """
        names = (
            [name for name, _ in self.generation.parts("quarantine")] if files is None else files
        )
        tables = [self.generation.table(name, schema=QUARANTINE_SCHEMA) for name in names]
        table = pa.concat_tables([QUARANTINE_SCHEMA.empty_table(), *tables])
        return table.sort_by([("kind", "descending"), ("file", "ascending"), ("line", "ascending")])

    def quarantine_files(self, number: int) -> list[str]:
        """The files of rows that an append has set aside; of the load if `number` is 0."""
        names = [name for name, _ in self.generation.parts("quarantine")]
        if number:
            return [name for name in names if name == f"quarantine/{append_file(number)}"]
        return [name for name in names if not name.startswith("quarantine/append-")]


def graph_manifest(summary: GraphSummary) -> Manifest:
    """The manifest of a generation to be committed, with a new identity."""
    return {
        "kind": "graph",
        "schema": schema_to_json(summary.schema),
        "vertices": summary.vertices,
        "edges": summary.edges,
        "quarantined": summary.quarantined,
        "created": dt.datetime.now(dt.UTC).isoformat(),
        "source": summary.source,
        "timezone": summary.timezone,
        "listed": summary.vertices if summary.listed is None else summary.listed,
        "identity": uuid.uuid4().hex,
    }


def open_graph(catalog: Catalog, name: str) -> StoredGraph:
    """The graph as last committed. Reads the manifest only."""
    folder = catalog.existing_graph(name)
    return stored_graph(name, open_committed(folder, f"the graph '{name}'"))


def stored_graph(name: str, generation: Generation) -> StoredGraph:
    generation = generation.with_remedy(
        f"load it again (replace=True, --replace); 'graphtide check {name}' tells what is whole"
    )
    manifest = generation.manifest
    try:
        if manifest["kind"] != "graph":
            raise ValueError(manifest["kind"])
        states = states_from_json(manifest)
        stored = StoredGraph(
            name=name,
            generation=generation,
            schema=schema_from_json(manifest["schema"]),
            vertices=states[-1].vertices,
            edges=states[-1].edges,
            quarantined=manifest["quarantined"],
            created=dt.datetime.fromisoformat(manifest["created"]),
            source=manifest["source"],
            timezone=manifest["timezone"],
            listed=manifest["listed"] if "listed" in manifest else manifest["vertices"],
            identity=states[-1].identity,
            numbers=states[-1].numbers,
            number=states[-1].number,
            states=states,
        )
        return check_plain(stored)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        damage = Damage(generation.path / MANIFEST, f"is not that of a graph: {error!r}")
        raise generation.damaged(damage) from None


def schema_to_json(schema: GraphSchema) -> dict[str, Any]:
    return {
        "id_type": schema.id_type.value,
        "vertex": [[item.name, item.type.value] for item in schema.vertex],
        "edge": [[item.name, item.type.value] for item in schema.edge],
        "vertex_labels": list(schema.vertex_labels),
        "edge_labels": list(schema.edge_labels),
        "ends": list(schema.ends),
        "directed": schema.directed,
    }


def schema_from_json(data: dict[str, Any]) -> GraphSchema:
    return GraphSchema(
        id_type=PropertyType(data["id_type"]),
        vertex=_properties_from_json(data["vertex"]),
        edge=_properties_from_json(data["edge"]),
        vertex_labels=tuple(data["vertex_labels"]),
        edge_labels=tuple(data["edge_labels"]),
        ends=_ends_from_json(data.get("ends", ENDS)),
        directed=_truth(data.get("directed", True)),
    )


def _ends_from_json(names: Sequence[Any]) -> tuple[str, str]:
    src, dst = names
    if not isinstance(src, str) or not isinstance(dst, str) or src == dst:
        raise ValueError(f"ends called {src!r:.60} and {dst!r:.60}")
    return src, dst


def _truth(given: object) -> bool:
    """A truth value of a manifest."""
    if not isinstance(given, bool):
        raise TypeError(f"'directed' is {given!r:.60}")
    return given


def _properties_from_json(items: list[list[str]]) -> tuple[Property, ...]:
    return tuple(Property(name, PropertyType(type_)) for name, type_ in items)


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
class EarlierState:
    """An earlier state of a graph, or its latest; `graph` is None where its rows are gone.

    `behind` counts the appends since.
    """

    state: GraphState
    graph: StoredGraph | None
    behind: int


def find_state(graph: StoredGraph, identity: str) -> EarlierState | None:
    """The state of that identity; None if the graph never had it: then it was loaded anew."""
    for state in graph.states:
        if state.identity == identity:
            return EarlierState(state, graph.at(state), graph.states[-1].number - state.number)
    if HISTORY not in graph.generation.files:
        return None
    for row in graph.generation.table(HISTORY, schema=_SCHEMA).to_pylist():
        if row["identity"] == identity:
            there = row.pop("numbering") == numbering_of(graph)
            with well_formed(graph.generation.what, graph.path / HISTORY):
                state = state_from(row)
            then = graph.at(state) if there else None
            return EarlierState(state, then, graph.states[-1].number - state.number)
    return None


def numbering_of(graph: StoredGraph) -> int:
    """How many merges have numbered edges anew or overwritten changed rows."""
    return int(graph.generation.manifest.get("numbering", 0))


def write_history(graph: StoredGraph, path: Path) -> None:
    """Write the states so far, for the generation that a merge writes."""
    older = _SCHEMA.empty_table()
    if HISTORY in graph.generation.files:
        older = graph.generation.table(HISTORY)
    numbering = numbering_of(graph)
    rows = [{**vars(state), "numbering": numbering} for state in graph.states]
    table = pa.concat_tables([older, pa.Table.from_pylist(rows, schema=_SCHEMA)])
    write_table(table, path / HISTORY)
