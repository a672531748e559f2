"""Edges as a NetworkX graph, those of a stored graph or of one in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from graphtide.model.delta import EdgeIds
from graphtide.model.errors import InputError, SetupError
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_rows

if TYPE_CHECKING:
    import networkx

Included = Literal["touched", "all"]
"""The vertices that edges touch, or all."""


def to_networkx(
    stored: StoredGraph,
    edges: EdgeIds | None,
    *,
    everything: bool,
    removed: Collection[int] = (),
) -> networkx.MultiDiGraph[Any]:
    """A multigraph of some edges (None: all), with properties as attributes.

    Vertices carry their properties; those without an edge are there only with `everything`, and
    those that are `removed`, by number, are not.
    Missing values are left out of the attributes. Where vertices have several labels, a node is
    the pair of its label and its id.
    """
    several = len(stored.schema.vertex_labels) > 1
    ends = stored.schema.ends
    links = [_take_ends(row, ends, several) for row in present(edge_rows(stored, edges))]
    touched = {end for src, dst, _ in links for end in (src, dst)}
    nodes = []
    for number, row in enumerate(present(vertex_rows(stored))):
        if number in removed:
            continue
        node = (row["label"], row.pop("id")) if several else row.pop("id")
        if everything or node in touched:
            nodes.append((node, row))
    return network(nodes, links)


def network(
    nodes: Iterable[tuple[Any, dict[str, Any]]], links: Iterable[tuple[Any, Any, dict[str, Any]]]
) -> networkx.MultiDiGraph[Any]:
    """A multigraph of nodes and links with their attributes."""
    graph: networkx.MultiDiGraph[Any] = _networkx().MultiDiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    return graph


def wants_all(vertices: object) -> bool:
    """Whether vertices without edges are wanted; InputError for any other word."""
    if vertices not in get_args(Included):
        raise InputError(f"vertices cannot be {vertices!r}", hint="use 'touched' or 'all'")
    return vertices == "all"


def _take_ends(
    row: dict[str, Any], ends: tuple[str, str], several: bool
) -> tuple[Any, Any, dict[str, Any]]:
    """Both ends of an edge, out of its attributes and as the nodes are called."""
    src, dst = (row.pop(end) for end in ends)
    if several:
        src_label, dst_label = (row.pop(f"{end}_label") for end in ends)
        src, dst = (src_label, src), (dst_label, dst)
    return src, dst, row


def present(table: pa.Table) -> list[dict[str, Any]]:
    """Rows without the values that are missing."""
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    ]


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise SetupError(
            "NetworkX is not installed", hint="pip install 'graphtide[networkx]'"
        ) from None
    return networkx
