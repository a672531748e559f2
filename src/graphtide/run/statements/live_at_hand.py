"""Live graphs that statements are about: found by their names, and opened or only looked at."""

from __future__ import annotations

from typing import Any

from graphtide.lang.diagnostics import Span, language_error
from graphtide.model.wording import sized
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.live_store import is_live
from graphtide.run.durable.reader import read_committed
from graphtide.run.durable.recover import Replay


def live_at_hand(space: Workspace, name: str, span: Span | None) -> Any:
    """A live graph to be written, open from now on; LanguageError if there is none of that name."""
    check_live(space, name, span)
    return space.live_at_hand(name)


def check_live(space: Workspace, name: str, span: Span | None) -> None:
    """Refuse a name that no live graph has, with its place."""
    if is_live(space.catalog.graph_folder(name)):
        return
    if space.catalog.has_graph(name):
        hint = f"make it live: create live graph {name}"
        raise language_error(f"the graph '{name}' is not a live one", span, hint)
    known = ", ".join(live_names(space)) or "none"
    raise language_error(
        f"there is no live graph '{name}'",
        span,
        f"there is: {known}; `create live graph {name} with edges from 'FILE'` begins one",
    )


def live_names(space: Workspace) -> list[str]:
    """The names of all live graphs."""
    catalog = space.catalog
    return [name for name in catalog.graphs() if is_live(catalog.graph_folder(name))]


def committed(space: Workspace, name: str) -> Replay:
    """The last committed state of a live graph, without making a graph of it."""
    folder = space.catalog.graph_folder(name)
    return read_committed(folder, name, f"the live graph '{name}'")


def told_state(graph: Any) -> str:
    """Which version a live graph is at, and how large it is."""
    kind = "live graph" if graph.directed else "undirected live graph"
    return (
        f"{kind} '{graph._name}' is at version {graph.version:,}: "
        f"{sized(graph.num_vertices, graph.num_edges, ' and ')}"
    )
