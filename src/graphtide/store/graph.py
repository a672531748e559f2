"""A stored graph: its schema, its sizes, and where its tables are.

A generation of a graph holds `vertices/` and `edges/` (Parquet; parts named by the number of their
first row, so that sorted names are the order of the numbers), and `quarantine/` where rows were set
aside. The manifest describes them; this module turns it into a StoredGraph and back. Whoever has
the rows writes the tables; the generation compares what is read with what was written.
"""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphtide.model.checksums import Checksums, checksums_by_threads
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.model.summary import GraphSummary
from graphtide.store.catalog import Catalog
from graphtide.store.commit import open_committed
from graphtide.store.files import Damage
from graphtide.store.generation import MANIFEST, Generation, Manifest

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
    """One committed generation of a graph.

    `identity` differs between any two generations ever written: a collection keeps the
    identity of its graph, to notice that the graph has been loaded anew since. The first `listed`
    vertices are those of vertex tables, in their order.
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

    @property
    def path(self) -> Path:
        """The folder of the generation."""
        return self.generation.path

    def vertices_folder(self, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of the vertex table, which holds what was written and nothing else."""
        return self.generation.folder("vertices", checksums)

    def edges_folder(self, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of the edge table, which holds what was written and nothing else."""
        return self.generation.folder("edges", checksums)

    def quarantine(self) -> pa.Table:
        """The rows that were set aside: kind, file, line, reason and text of each."""
        if not self.generation.parts("quarantine"):
            return QUARANTINE_SCHEMA.empty_table()
        table = self.generation.table("quarantine", schema=QUARANTINE_SCHEMA)
        return table.sort_by([("kind", "descending"), ("file", "ascending"), ("line", "ascending")])


def graph_manifest(summary: GraphSummary) -> Manifest:
    """The manifest of a generation about to be committed, with a new identity."""
    return {
        "kind": "graph",
        "schema": _schema_to_json(summary.schema),
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
    """The graph of that name as last committed. Reads the manifest only."""
    folder = catalog.existing_graph(name)
    return stored_graph(name, open_committed(folder, f"the graph '{name}'"))


def stored_graph(name: str, generation: Generation) -> StoredGraph:
    """A generation as a StoredGraph."""
    generation = generation.with_remedy(
        f"load it again (replace=True, --replace); 'graphtide check {name}' tells what is whole"
    )
    manifest = generation.manifest
    try:
        if manifest["kind"] != "graph":
            raise ValueError(manifest["kind"])
        return StoredGraph(
            name=name,
            generation=generation,
            schema=_schema_from_json(manifest["schema"]),
            vertices=manifest["vertices"],
            edges=manifest["edges"],
            quarantined=manifest["quarantined"],
            created=dt.datetime.fromisoformat(manifest["created"]),
            source=manifest["source"],
            timezone=manifest["timezone"],
            listed=manifest["listed"] if "listed" in manifest else manifest["vertices"],
            identity=manifest["identity"],
        )
    except (KeyError, TypeError, ValueError) as error:
        damage = Damage(generation.path / MANIFEST, f"is not that of a graph: {error!r}")
        raise generation.damaged(damage) from None


def _schema_to_json(schema: GraphSchema) -> dict[str, Any]:
    return {
        "id_type": schema.id_type.value,
        "vertex": [[item.name, item.type.value] for item in schema.vertex],
        "edge": [[item.name, item.type.value] for item in schema.edge],
        "vertex_labels": list(schema.vertex_labels),
        "edge_labels": list(schema.edge_labels),
    }


def _schema_from_json(data: dict[str, Any]) -> GraphSchema:
    return GraphSchema(
        id_type=PropertyType(data["id_type"]),
        vertex=_properties_from_json(data["vertex"]),
        edge=_properties_from_json(data["edge"]),
        vertex_labels=tuple(data["vertex_labels"]),
        edge_labels=tuple(data["edge_labels"]),
    )


def _properties_from_json(items: list[list[str]]) -> tuple[Property, ...]:
    return tuple(Property(name, PropertyType(type_)) for name, type_ in items)
