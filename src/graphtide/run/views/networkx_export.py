"""Edges as a NetworkX graph, those of a stored graph or of one in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds
from graphtide.model.errors import InputError, SetupError
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_rows

if TYPE_CHECKING:
    import networkx

Included = Literal["touched", "all"]
"""The vertices that edges touch, or all."""


def to_networkx(
    stored: StoredGraph,
    edges: EdgeIds | None,
    multigraph: bool | None,
    *,
    everything: bool,
    removed: Collection[int] = (),
) -> networkx.Graph[Any]:
    """Some edges (None: all) as a NetworkX graph of the same kind, with properties as attributes.

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
    return _network(nodes, links, multigraph, directed=stored.directed)


def snapshot_network(
    snapshot: Snapshot,
    rows: NDArray[np.int64],
    vertices: NDArray[np.int64],
    multigraph: bool | None,
) -> networkx.Graph[Any]:
    """The same of some edges and vertices of a graph in memory, which hold their ends."""
    ids, names = snapshot.ids, snapshot.names
    ours = ["edge", names.src, names.dst]
    ends = [[ids[int(at)] for at in end[rows]] for end in (snapshot.src, snapshot.dst)]
    attributes = present(snapshot.edge_table(rows).drop_columns(ours))
    described = present(snapshot.vertex_table(vertices).drop_columns("id"))
    nodes = zip((ids[int(at)] for at in vertices), described, strict=True)
    links = list(zip(*ends, attributes, strict=True))
    return _network(nodes, links, multigraph, directed=snapshot.directed)


def _network(
    nodes: Iterable[tuple[Any, dict[str, Any]]],
    links: Sequence[tuple[Any, Any, dict[str, Any]]],
    multigraph: bool | None,
    *,
    directed: bool,
) -> networkx.Graph[Any]:
    """Nodes and links with their attributes; as a multigraph where that is wanted, or None is and
    links are parallel.
    """
    pairs = Counter(_pair(row, directed) for row in links)
    parallel = len(pairs) < len(links)
    if parallel and multigraph is False:
        src, dst = next(row[:2] for row in links if pairs[_pair(row, directed)] > 1)
        raise InputError(
            f"there are parallel edges, and multigraph=False: between {src!r} and {dst!r}",
            hint="leave `multigraph` out",
        )
    kind = f"{'Multi' if multigraph or parallel else ''}{'Di' if directed else ''}Graph"
    graph: networkx.Graph[Any] = getattr(_networkx(), kind)()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    return graph


def _pair(row: tuple[Any, ...], directed: bool) -> Any:
    """The same for parallel edges."""
    return row[:2] if directed else frozenset(row[:2])


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
