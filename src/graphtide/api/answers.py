"""What a statement answers: a sentence, perhaps a table, and the object that it made or found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from graphtide.api.catalog_graph import CatalogGraph
from graphtide.api.collection import Collection
from graphtide.api.view import View
from graphtide.model.wording import counted
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph

if TYPE_CHECKING:
    from graphtide.api.run import Run


@dataclass(frozen=True)
class Answer:
    """`text` is for people, `table` for whoever goes on with it, `value` the thing itself.

    `notes` say what a statement asked for that has no meaning here, and why.
    """

    text: str
    table: pa.Table | None = None
    value: CatalogGraph | View | Collection | Run | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from graphtide.api.notebook import answer_html

        return answer_html(self)


def graph_answer(graph: CatalogGraph, stored: StoredGraph) -> Answer:
    """A graph that has just been loaded or is looked at."""
    text = (
        f"graph '{stored.name}': {stored.vertices:,} vertices and {stored.edges:,} edges"
        f" ({stored.source})"
    )
    if stored.quarantined:
        text += f"; in quarantine: {counted(stored.quarantined, 'bad row')}"
    return Answer(text, table=schema_table(stored), value=graph)


def schema_table(stored: StoredGraph) -> pa.Table:
    """A row a property: whose, name, type."""
    schema = stored.schema
    rows = [("vertex", "id", schema.id_type.value)]
    rows += [("vertex", "label", "string")] if schema.vertex_labels else []
    rows += [("vertex", item.name, item.type.value) for item in schema.vertex]
    rows += [("edge", "label", "string")] if schema.edge_labels else []
    rows += [("edge", item.name, item.type.value) for item in schema.edge]
    return table_of(("of", "property", "type"), rows)


def view_answer(view: View, stored: StoredCollection) -> Answer:
    """A single view."""
    text = f"view '{stored.name}' on {stored.facts.graph}: {len(view):,} edges"
    row = (stored.name, stored.facts.graph, len(view), view.predicate)
    return Answer(text, table=table_of(("view", "graph", "edges", "predicate"), [row]), value=view)


def collection_answer(collection: Collection, stored: StoredCollection) -> Answer:
    """A collection: what it cost, what else it could have cost, and its steps as a table."""
    return Answer(collection_text(collection, stored), collection.to_arrow(), collection)


def collection_text(collection: Collection, stored: StoredCollection) -> str:
    """Views, plan and totals in a few lines."""
    totals = stored.plan.totals
    lines = [
        f"collection '{stored.name}' on {stored.facts.graph}: {counted(len(collection), 'view')}, "
        f"made in {stored.facts.seconds:.1f} s",
        f"  plan: {stored.plan.kind}, {collection.differences:,} differences"
        + (f", {stored.plan.stones} stepping stones" if stored.plan.stones else ""),
        f"  in the given order: {totals.given:,}; best chain: {_number(totals.chain)}; "
        f"tree: {_number(totals.tree)}",
        f"  no chain can need fewer than {totals.chain_bound:,}, no tree than "
        f"{totals.tree_bound:,}",
    ]
    return "\n".join(lines)


def table_of(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Rows as an Arrow table; without rows, columns of no type but the right names."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})


def _number(value: int | None) -> str:
    return "not worked out" if value is None else f"{value:,}"
