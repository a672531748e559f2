"""Shortest paths between pairs of vertices by Graphsurge's names: `mpsp`, `spsp`.

Where edges have a number as property `weight`, the length of a path is the sum of its weights;
otherwise it is the number of its edges. `said_outright` writes into the statement which of the two
it means, `pair_distances` or `pair_hops`.
"""

from __future__ import annotations

from dataclasses import replace

from graphtide.lang.gvdl import statements as s
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.run.statements.computations import is_pairs
from graphtide.store.behind import graph_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection


def said_outright(catalog: Catalog, stored: StoredCollection, statement: s.Run) -> s.Run:
    """The statement with the name of the program that it stands for."""
    if not is_pairs(statement):
        return statement
    found = "pair_distances" if _has_weights(graph_behind(catalog, stored).schema) else "pair_hops"
    return replace(statement, computation=found)


def _has_weights(schema: GraphSchema) -> bool:
    numbers = (PropertyType.INT, PropertyType.FLOAT)
    return any(item.name == "weight" and item.type in numbers for item in schema.edge)
