"""Opens a live graph, or begins one: in a folder, or under a name of the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from graphtide.api.graph import Graph
from graphtide.api.live_graph import LiveGraph
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.paths import given_path
from graphtide.run.durable.expiry import read_keep
from graphtide.run.durable.live_store import LiveStore, is_live
from graphtide.run.durable.registered import TrustedBy
from graphtide.run.durable.shape import shape_of
from graphtide.run.durable.state import AppliedBatches, LiveState
from graphtide.run.durable.tables import tables_of
from graphtide.run.memory_graph import MemoryGraph
from graphtide.store.commit import find_pointer, open_committed
from graphtide.store.graph import stored_graph


def live(
    folder: str | Path,
    start: Graph | None = None,
    *,
    keep: Any = None,
    time: str | None = None,
    readonly: bool = False,
    trust: TrustedBy = (),
) -> LiveGraph:
    """Open the live graph in a folder, or begin one with the vertices and edges of `start`.

    `start` says what columns there are; where the folder has a live graph already, it must have the
    same. `keep="7 days"` lets edges expire: those whose property `time` lies so far behind the
    latest leave with the advance that brought it. One process writes; `readonly=True` opens the
    last committed state beside it.

    Opening runs nothing that the folder holds. Of a registered dataflow, a function, the folder has
    the name alone: `trust` hands functions over, or names modules, or files of Python, in which
    they are looked for. Without the function a graph does not open to be written, unless
    `trust=False` leaves such programs out; one that only reads leaves them out, with a warning.
    """
    path = given_path(folder)
    name = path.resolve().name
    return open_live(path, name, start, keep, time, readonly=readonly, trust=trust)


def open_live(
    folder: Path,
    name: str,
    start: Graph | None,
    keep: Any,
    time: str | None,
    *,
    readonly: bool,
    trust: TrustedBy,
) -> LiveGraph:
    """`live`, for a folder of the catalog."""
    _check_given(start, keep, time)
    if not readonly and not is_live(folder):
        _create(folder, name, start, keep, time)
    graph = LiveGraph._opened(folder, name, readonly=readonly, trust=trust)
    try:
        check_same(graph, start, keep, time)
    except BaseException:
        graph.close()
        raise
    return graph


def _check_given(start: Any, keep: Any, time: str | None) -> None:
    if start is not None and not isinstance(start, MemoryGraph):
        raise InputError(
            f"a live graph cannot begin with {type(start).__name__}",
            hint="give a graph: gt.Graph(src, dst), gt.Graph.from_frame(frame)",
        )
    if time is not None and keep is None:
        raise InputError("time is given without keep", hint="say how long: keep='7 days'")


def _create(folder: Path, name: str, start: Graph | None, keep: Any, time: str | None) -> None:
    what, batches = f"the live graph '{name}'", AppliedBatches()
    if find_pointer(folder) is not None:
        begun, batches = _stored_start(folder, name, what)
    elif start is None:
        raise NotFoundError(
            f"{what} is not there",
            where=str(folder),
            hint="look at the name; a new one begins with edges: live(..., start=gt.Graph(...))",
        )
    else:
        begun = start
    shape = shape_of(begun._known, begun._kept)
    state = LiveState(graph=uuid4().hex, ids=batches.ids, streams=batches.streams)
    if keep is not None:
        state.keep = read_keep(keep, time, shape).facts
    tables = tables_of(begun._snapshot(), shape)
    LiveStore(folder, name, what).create(tables, shape, state, begun._known.timezone)


def _stored_start(folder: Path, name: str, what: str) -> tuple[Graph, AppliedBatches]:
    """The graph of the catalog that is to be live, and the batches that it has taken."""
    stored = stored_graph(name, open_committed(folder, what))
    if stored.schema.vertex_labels or stored.schema.edge_labels:
        raise StoreError(
            f"the graph '{name}' has labels, and live graphs have none",
            hint="load it without labels, or with the label as a property of another name",
        )
    return Graph.from_stored(stored), AppliedBatches.of_graph(stored)


def check_same(graph: LiveGraph, start: Graph | None, keep: Any, time: str | None) -> None:
    """Refuse a start, or a period, that is not the one that the graph was begun with."""
    if start is not None and start is not graph:
        wanted, has = shape_of(start._known, start._kept), graph._shape
        if (wanted.src, wanted.dst, wanted.edge_types) != (has.src, has.dst, has.edge_types):
            columns = ", ".join(f"{name} ({kind})" for name, kind in has.edge_types.items())
            raise InputError(
                f"{graph._what} is there, and its edges have other columns than `start`",
                where=str(graph.folder),
                hint=f"they have {has.src}, {has.dst}, {columns or 'no properties'}",
            )
        if wanted.directed != has.directed:
            raise InputError(
                f"{graph._what} is there, and is {'' if has.directed else 'un'}directed, which "
                "`start` is not",
                where=str(graph.folder),
                hint=f"give gt.Graph(..., directed={has.directed}), or begin another graph",
            )
    if keep is not None and read_keep(keep, time, graph._shape).facts != graph._state.keep:
        raise InputError(
            f"{graph._what} was begun with another period: {graph._state.keep}",
            hint="leave `keep` out, or begin another graph",
        )
