"""The edges of a graph or of a view: the first few to look at, or all of them in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphtide.model.errors import InputError

if TYPE_CHECKING:
    from graphtide.api.session import Session
    from graphtide.run.table import Table

_LISTED = 5


@dataclass(frozen=True)
class EdgeTable:
    """Edges that have a title and a size, and are read when they are asked for."""

    title: str
    size: int
    first: Callable[[int], Table]
    whole: Callable[[], Table]


def edge_table(
    session: Session, kind: Literal["graph", "view", "collection"], name: str, view: str | None
) -> EdgeTable:
    """The edges of a graph, of a single view, or of one view of a collection."""
    from graphtide.run.table import Table

    if kind == "graph":
        graph = session.graph(name)
        if view is not None:
            raise InputError(f"'{name}' is a graph: it has no view '{view}'")
        return EdgeTable(f"graph '{name}'", graph.num_edges, graph.head, graph.edges)
    views = session.collection(name)
    if view is None and kind == "collection":
        listed = ", ".join(views.names[:_LISTED]) + (", ..." if len(views) > _LISTED else "")
        raise InputError(
            f"'{name}' is a collection of {len(views):,} views",
            hint=f"name one of them with --view: {listed}",
        )
    chosen = views[0 if view is None else view]
    title = f"view '{chosen.name}'" + (f" of {name}" if kind == "collection" else "")
    return EdgeTable(title, len(chosen), chosen.head, lambda: Table(chosen.to_arrow()))
