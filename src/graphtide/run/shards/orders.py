"""What the driver sends to tasks of a run on shards, and what the last run of a name left for it.

A run of a selecting program over all edges of a graph keeps the states that it ended with, and
their levels, as files of its part. When appends have changed the graph since, the next run of the
name has these files linked into itself before it takes the place of the other one: its tasks go on
from there, with the ends of edges that came, went or changed. So whoever resumes it has them too.

Nothing follows where the program, its parameters or this code are others, where values of vertices
that it reads have changed, where edges are numbered anew, and where much of the graph has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import GraphtideError
from graphtide.run.catalog.refresh import changed_edges, changed_numbers
from graphtide.run.catalog.spark_runs import RunOrder, this_code
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.collection.facts import facts_from
from graphtide.run.live.computation import CompiledProgram
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.files import FileFacts
from graphtide.store.graph import StoredGraph, find_state
from graphtide.store.results import listed, open_run, told
from graphtide.store.shards import STATES

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Sources and destinations of some edges, each vertex once."""


@dataclass(frozen=True)
class StatesBefore:
    """The states that an earlier run ended with, in files of the run, and what has changed since.

    There were so many vertices and shards; each file has the shards of a span, one of them behind
    the other. `lost` and `gained` are the ends of edges that went or came, and of those that have
    changed.
    """

    vertices: int
    shards: int
    spans: tuple[tuple[int, int], ...]
    lost: Ends
    gained: Ends


@dataclass(frozen=True, kw_only=True)
class ShardOrder(RunOrder):
    """What the driver sends to tasks that run views together.

    `views` are the classes that are live at each step of its plan; `secret` is known to its tasks
    alone. Steps before `first` are finished. Where a program can, a view follows the one before it
    if that is worth it, never or always, as the strategy says; the first one goes on from what was
    `before`, if anything was. Where `states` are asked for, the last view keeps those it ends with.
    `removed` are the vertices that each step is without.
    """

    shards: str
    parameters: tuple[Any, ...]
    views: tuple[NDArray[np.bool_], ...]
    first: int
    secret: bytes = field(repr=False)
    before: StatesBefore | None = None
    states: bool = False
    removed: tuple[tuple[int, ...], ...] = ()


MOST_CHANGED = 1 << 20
"""At most this many edges may have changed: every task is sent their ends."""


@dataclass(frozen=True)
class Earlier:
    """The states of an earlier run: what is told of them, and their files by new names."""

    told: dict[str, Any]
    files: Mapping[str, tuple[Path, FileFacts]]


def states_identity(compiled: CompiledProgram, parameters: tuple[Any, ...]) -> str:
    """Equal where states mean the same."""
    text = f"{compiled.identity}|{parameters!r}|{this_code()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def earlier_states(
    catalog: Catalog, stored: StoredCollection, name: str, program: str
) -> Earlier | None:
    """The states that the last run of a name ended with, over the same view and program."""
    # Whatever is wrong with that run, the next one begins anew.
    try:
        run = open_run(catalog, name)
        facts, parts = facts_from(name, run.manifest), run.parts
        states = told(parts, len(parts) - 1).get(STATES) if len(parts) else None
    except GraphtideError:
        return None
    same = facts.on_shards and facts.collection == stored.name
    if states is None or not same or states["program"] != program:
        return None
    files = listed(parts, len(parts) - 1, STATES)
    of_states = {**states, "graph_identity": facts.graph_identity}
    named = {f"before-{at:05d}.arrays": item for at, item in enumerate(files)}
    return Earlier(of_states, named)


def states_before(
    space: Workspace, graph: StoredGraph, compiled: CompiledProgram, earlier: Mapping[str, Any]
) -> StatesBefore | None:
    """An earlier run's states with what has changed since; None where nothing can follow them."""
    state = find_state(graph, earlier["graph_identity"])
    then = None if state is None else state.graph
    if then is None or then.identity == graph.identity:
        return None
    if compiled.needed.vertices and len(changed_numbers(then, graph, "vertices")):
        return None
    changed = changed_edges(then, graph, ())
    altered = changed.looked_at[changed.looked_at < then.numbers]
    went = np.concatenate([changed.gone[changed.gone < then.numbers], altered])
    if 2 * (len(went) + len(changed.looked_at)) > min(2 * MOST_CHANGED, graph.edges):
        return None
    lost, gained = _ends(space, then, went), _ends(space, graph, changed.looked_at)
    spans = tuple((int(first), int(behind)) for first, behind in earlier["spans"])
    return StatesBefore(earlier["vertices"], earlier["shards"], spans, lost, gained)


def _ends(space: Workspace, graph: StoredGraph, edges: NDArray[Any]) -> Ends:
    """The ends of some edges, found by tasks."""
    if not len(edges):
        return np.empty(0, np.int32), np.empty(0, np.int32)
    table = space.gateway.edge_ends(graph, edges)
    src, dst = (np.unique(table.column(name).to_numpy()) for name in ("_src", "_dst"))
    return src, dst
