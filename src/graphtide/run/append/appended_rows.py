"""Rows of the tables of a graph, made of rows that were given and of what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.schema import GraphSchema
from graphtide.run.append.given import GivenRows
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import TableName, numbered_by, table_schema


def new_rows(
    stored: StoredGraph,
    table: TableName,
    fixed: Mapping[str, pa.Array],
    given: GivenRows | None,
    rows: Sequence[int | None],
) -> pa.Table:
    """Rows of a table: what is fixed, and what was given for the rest; missing where it was not.

    Numbers of edges have the type that they are given in: they may be wider than earlier ones.
    """
    taken = None if given is None else given.rows.take(pa.array(rows, pa.int64()))
    schema, columns = table_schema(stored, table), []
    if table == "edges":
        schema = numbered_by(schema, fixed["_edge"].type)
    for item in schema:
        name = "label" if item.name == "_label" else item.name
        if item.name in fixed:
            column = fixed[item.name].cast(item.type)
        elif taken is not None and name in taken.column_names:
            column = taken.column(name).cast(item.type)
        else:
            column = pa.nulls(len(rows), item.type)
        columns.append(column)
    return pa.table(columns, schema=schema)


def replaced_rows(
    table: pa.Table, given: GivenRows, rows: Sequence[int], names: Sequence[str]
) -> pa.Table:
    """Rows of a table with other values for some properties, from the rows that give them."""
    taken = given.rows.take(pa.array(rows, pa.int64()))
    for name in names:
        at = table.schema.get_field_index(name)
        values = taken.column(name).cast(table.schema.field(at).type)
        table = table.set_column(at, name, values)
    return table


def with_new_labels(
    schema: GraphSchema, edges: GivenRows | None, vertices: GivenRows | None
) -> GraphSchema:
    """The schema with the labels that rows bring."""
    vertex = [(vertices, "label"), (edges, "src_label"), (edges, "dst_label")]
    return replace(
        schema,
        vertex_labels=_labels(schema.vertex_labels, vertex),
        edge_labels=_labels(schema.edge_labels, [(edges, "label")]),
    )


def _labels(
    known: tuple[str, ...], columns: Sequence[tuple[GivenRows | None, str]]
) -> tuple[str, ...]:
    labels = dict.fromkeys(known)
    for given, name in columns:
        if given is not None and given.has(name):
            names = pc.unique(given.rows.column(name)).drop_null().to_pylist()
            labels |= dict.fromkeys(sorted(names))
    return tuple(labels)
