"""A stored collection: every edge once, with its class, and a plan whose deltas list classes.

A generation of a collection holds

    edges/           _edge, _class: the edges that are in at least one view, in any order
    classes.parquet  the number of edges of each class
    views.parquet    name, predicate and size of each view, in the order the user gave; the vertices
                     that are taken out of it, and whether it is a window
    steps.parquet    the plan: view or stone, parent, classes inserted and deleted

so that its size is that of the edges, whatever the number of views. Edges are grouped by class
when they are first asked for; from then on a delta is a concatenation of slices. A single view is
a collection of one.

A collection knows the state of the graph that it was made from; `graph_behind` opens that state.
"""

from __future__ import annotations

import datetime as dt
import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import Delta, EdgeIds, no_edges
from graphtide.model.disk import Checksums, checksums_by_threads, disk_errors
from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.text import shortened
from graphtide.plan.collection import (
    CollectionPlan,
    PlanKind,
    PlanStep,
    PlanTotals,
    check_depth_first,
)
from graphtide.store.catalog import Catalog
from graphtide.store.commit import Commit, open_committed
from graphtide.store.files import READ_EDGES, Damage, FileFacts, facts_of, within, write_table
from graphtide.store.generation import MANIFEST, Generation, Manifest
from graphtide.store.graph import EarlierState, StoredGraph, find_state, open_graph

Kind = Literal["view", "collection"]
EDGES = "edges"
_WIDE = "wide"
_CLASSES, _VIEWS, _STEPS = "classes.parquet", "views.parquet", "steps.parquet"


@dataclass(frozen=True)
class StoredView:
    """One view as the user named it.

    `removed` are the numbers of vertices that are taken out of it; the vertices of a `window` are
    those with an edge in it.
    """

    name: str
    predicate: str
    size: int
    removed: tuple[int, ...] = ()
    window: bool = False


@dataclass(frozen=True)
class CollectionFacts:
    """What is known of a collection beside its tables.

    `graph_identity` is that of the state that the graph was in; `changed` counts the edges that
    have come, gone or changed since the collection was planned. `unviewed` says how many edges of
    the base are in no view, by reason.
    """

    kind: Kind
    graph: str
    graph_identity: str
    base: str
    statement: str
    seconds: float
    changed: int = 0
    unviewed: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = self.unviewed
        if not isinstance(known, dict) or not all(type(item) is int for item in known.values()):
            raise TypeError(f"'unviewed' is {known!r:.60}")


@dataclass(frozen=True)
class StoredCollection:
    """One committed generation of a collection. The edges are read when first needed."""

    name: str
    generation: Generation
    facts: CollectionFacts
    created: dt.datetime
    views: tuple[StoredView, ...]
    plan: CollectionPlan
    weights: NDArray[np.int64]
    has_wide_numbers: bool = False
    """Whether edges have numbers of 64 bits: the graph did when the collection was written last."""

    @property
    def path(self) -> Path:
        return self.generation.path

    @property
    def unviewed(self) -> dict[str, int]:
        return self.facts.unviewed

    def edges_folder(self, checksums: Checksums = checksums_by_threads) -> Path:
        """The folder of the edges, which holds what was written and nothing else."""
        return self.generation.folder(EDGES, checksums)

    @cached_property
    def grouped_edges(self) -> GroupedEdges:
        """The edges by class, read and grouped on first use. O(edges)."""
        table = self.edge_classes()
        READ_EDGES.add(table.num_rows)
        edges, classes = (table.column(name).to_numpy() for name in ("_edge", "_class"))
        if not (within(edges, 1 << 62) and within(classes, len(self.weights))):
            problem = "names a class that the collection does not have"
            raise self.generation.damaged(Damage(self.generation.path / EDGES, problem))
        return group_edges(edges, classes, len(self.weights))

    def edge_classes(self) -> pa.Table:
        """The edges with their classes as stored: `_edge` and `_class`. O(edges)."""
        number = pa.int64() if self.has_wide_numbers else pa.int32()
        schema = pa.schema([("_edge", number), ("_class", pa.int32())])
        return self.generation.table(EDGES, schema=schema)

    @property
    def grouped_sizes(self) -> GroupedEdges:
        """The sizes of the classes, without the edges."""
        return GroupedEdges(no_edges(), np.concatenate([[0], np.cumsum(self.weights)]))

    def delta(self, step: int) -> Delta:
        """The edges that enter and leave at a step of the plan, by number, unordered."""
        return self.grouped_edges.delta(self.plan.steps[step])

    def view_edges(self, view: int) -> EdgeIds:
        """The edges of a view, sorted."""
        return self.grouped_edges.of_view(self.plan, view)


@dataclass(frozen=True)
class GroupedEdges:
    """Edges in the order of their classes; class c is edges[offsets[c] : offsets[c + 1]]."""

    edges: EdgeIds
    offsets: NDArray[np.int64]

    def of_classes(self, classes: NDArray[np.integer]) -> EdgeIds:
        """The edges of some classes, one class after the other."""
        if len(classes) == 0:
            return no_edges()
        slices = [self.edges[self.offsets[item] : self.offsets[item + 1]] for item in classes]
        return np.concatenate(slices)

    def delta(self, step: PlanStep) -> Delta:
        return Delta(self.of_classes(step.inserted), self.of_classes(step.deleted))

    def of_view(self, plan: CollectionPlan, view: int) -> EdgeIds:
        """The edges of a view, sorted, put together from the deltas on its path."""
        held = plan.membership(plan.view_steps[view])
        return np.sort(self.of_classes(np.flatnonzero(held)))


def group_edges(edges: EdgeIds, classes: NDArray[np.int32], count: int) -> GroupedEdges:
    """Sort edges by class, with a radix sort of 16 bits at a time."""
    order = np.argsort((classes & 0xFFFF).astype(np.uint16), kind="stable")
    if count > 0x10000:
        high = (classes[order] >> 16).astype(np.uint16)
        order = order[np.argsort(high, kind="stable")]
    sizes = np.bincount(classes, minlength=count)
    return GroupedEdges(edges[order], np.concatenate([[0], np.cumsum(sizes)]))


def write_collection(
    commit: Commit,
    facts: CollectionFacts,
    views: Sequence[StoredView],
    plan: CollectionPlan,
    weights: NDArray[np.int64],
    *,
    checksums: Checksums = checksums_by_threads,
    carried: Mapping[str, FileFacts] = MappingProxyType({}),
    wide: bool = False,
) -> Path:
    """Write all but the edges, which are already there, and commit. Returns the generation.

    Their numbers may be `wide`. Parts of the edges that are `carried` over from the generation
    before are not read again.
    """
    path = commit.path
    with disk_errors(commit.what, path):
        write_table(pa.table({"weight": weights}), path / _CLASSES)
        write_table(_views_table(views), path / _VIEWS)
        write_table(_steps_table(plan.steps), path / _STEPS)
    return commit.finish(_manifest(facts, plan, wide=wide), checksums=checksums, carried=carried)


def open_collection(catalog: Catalog, name: str) -> StoredCollection:
    """The collection as last committed. Reads everything but the edges."""
    folder = catalog.existing_collection(name)
    return stored_collection(name, open_committed(folder, f"the collection '{name}'"))


def stored_collection(name: str, generation: Generation) -> StoredCollection:
    """A generation as a StoredCollection."""
    manifest = generation.manifest
    try:
        if manifest["kind"] not in get_args(Kind):
            raise ValueError(manifest["kind"])
        facts = facts_of(CollectionFacts, manifest["facts"])
        statement = textwrap.shorten(facts.statement, 80, placeholder="...")
        generation = generation.with_remedy(
            f"create the {facts.kind} again: {statement}; 'graphtide check {name} {facts.graph}' "
            "tells what is whole"
        )
        weights = generation.table(_CLASSES).column("weight").to_numpy()
        return StoredCollection(
            name=name,
            generation=generation,
            facts=facts,
            created=dt.datetime.fromisoformat(manifest["created"]),
            views=_views_from(generation.table(_VIEWS)),
            plan=_plan_from(generation, len(weights)),
            weights=weights,
            has_wide_numbers=manifest.get(_WIDE, False),
        )
    except (KeyError, TypeError, ValueError) as error:
        damage = Damage(generation.path / MANIFEST, f"is not that of a collection: {error!r}")
        raise generation.damaged(damage) from None


def collection_kind(catalog: Catalog, name: str) -> Kind | None:
    """Whether it is a view or a collection; None where its manifest does not tell any more."""
    try:
        generation = open_committed(catalog.existing_collection(name))
    except NotFoundError:
        raise
    except StoreError:
        return None
    kind = generation.manifest.get("kind")
    return kind if kind in get_args(Kind) else None


def view_names(catalog: Catalog) -> list[str]:
    """The names of all single views."""
    return [name for name in catalog.collections() if collection_kind(catalog, name) == "view"]


def collection_names(catalog: Catalog) -> list[str]:
    """The names of all collections, and of what does not tell any more whether it is one."""
    return [name for name in catalog.collections() if collection_kind(catalog, name) != "view"]


def _manifest(facts: CollectionFacts, plan: CollectionPlan, *, wide: bool) -> Manifest:
    return {
        **({_WIDE: True} if wide else {}),
        "kind": facts.kind,
        "created": dt.datetime.now(dt.UTC).isoformat(),
        "facts": vars(facts),
        "plan": {"kind": plan.kind, "totals": vars(plan.totals)},
    }


def _views_table(views: Sequence[StoredView]) -> pa.Table:
    return pa.table(
        {
            "name": pa.array([view.name for view in views], pa.string()),
            "predicate": pa.array([view.predicate for view in views], pa.string()),
            "size": pa.array([view.size for view in views], pa.int64()),
            "removed": pa.array([view.removed or None for view in views], pa.list_(pa.int64())),
            "window": pa.array([view.window for view in views], pa.bool_()),
        }
    )


def _views_from(table: pa.Table) -> tuple[StoredView, ...]:
    columns = [table.column(name).to_pylist() for name in ("name", "predicate", "size")]
    # Collections of before know of no vertices that were taken out, and of no windows.
    if "removed" in table.column_names:
        columns.append([tuple(item or ()) for item in table.column("removed").to_pylist()])
        columns.append(table.column("window").to_pylist())
    return tuple(StoredView(*row) for row in zip(*columns, strict=True))


def _steps_table(steps: Sequence[PlanStep]) -> pa.Table:
    return pa.table(
        {
            "view": pa.array([step.view for step in steps], pa.int32()),
            "stone": pa.array([step.stone for step in steps], pa.string()),
            "parent": pa.array([step.parent for step in steps], pa.int32()),
            "inserted": _lists([step.inserted for step in steps]),
            "deleted": _lists([step.deleted for step in steps]),
        }
    )


def _lists(arrays: Sequence[NDArray[np.int32]]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum([len(item) for item in arrays])])
    values = np.concatenate([np.empty(0, np.int32), *arrays])
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(values))


def _plan_from(generation: Generation, classes: int) -> CollectionPlan:
    manifest, table = generation.manifest, generation.table(_STEPS)
    names = ("view", "stone", "parent")
    columns = [table.column(name).to_pylist() for name in names]
    deltas = [_arrays(table.column(name)) for name in ("inserted", "deleted")]
    if not all(within(item, classes) for delta in deltas for item in delta):
        raise ValueError("a step of a class that is not there")
    check_depth_first(columns[2])
    kind: PlanKind = manifest["plan"]["kind"]
    if kind not in get_args(PlanKind):
        raise ValueError(f"unknown plan '{kind}'")
    return CollectionPlan(
        kind=kind,
        steps=tuple(PlanStep(*row) for row in zip(*columns, *deltas, strict=True)),
        totals=facts_of(PlanTotals, manifest["plan"]["totals"]),
        classes=classes,
    )


def _arrays(column: pa.ChunkedArray) -> list[NDArray[np.int32]]:
    arrays: list[NDArray[np.int32]] = []
    for chunk in column.chunks:
        offsets = chunk.offsets.to_numpy()
        values = chunk.values.to_numpy().astype(np.int32, copy=False)
        arrays.extend(values[start:stop] for start, stop in itertools.pairwise(offsets))
    return arrays


def open_view(catalog: Catalog, name: str) -> StoredCollection:
    """The single view of that name; InputError for a collection of several."""
    stored = open_collection(catalog, name)
    if stored.facts.kind != "view":
        raise InputError(
            f"'{name}' is a collection of {len(stored.views):,} views",
            hint=f"take one of them: session.collection('{name}')[0]",
        )
    return stored


def graph_behind(catalog: Catalog, stored: StoredCollection) -> StoredGraph:
    """The graph that a collection was made of, as it was then.

    An error if it is gone, has been loaded anew, or if a merge has replaced rows of then.
    """
    facts = stored.facts
    behind = state_behind(stored, latest_behind(catalog, stored))
    if behind.graph is None:
        raise StoreError(
            f"the graph '{facts.graph}' has changed since the {facts.kind} '{stored.name}' was "
            f"made of it (generation {behind.state.generation}), and a merge has replaced rows of "
            "then",
            hint=f"bring the {facts.kind} up to date: collection.refresh(), or "
            f"'graphtide refresh {stored.name}'",
        )
    return behind.graph


def latest_behind(catalog: Catalog, stored: StoredCollection) -> StoredGraph:
    """The graph that a collection was made of, as it is now; an error if it is gone."""
    facts = stored.facts
    try:
        return open_graph(catalog, facts.graph)
    except NotFoundError:
        raise StoreError(
            f"the graph '{facts.graph}' behind the {facts.kind} '{stored.name}' is gone",
            hint="load the graph again, then " + _again(stored),
        ) from None


def state_behind(stored: StoredCollection, graph: StoredGraph) -> EarlierState:
    """The state of a graph that a collection was made from; an error if it was loaded anew."""
    facts = stored.facts
    behind = find_state(graph, facts.graph_identity)
    if behind is None:
        raise StoreError(
            f"the graph '{facts.graph}' has been loaded anew since the {facts.kind} "
            f"'{stored.name}' was made of it",
            hint=_again(stored),
        )
    return behind


def _again(stored: StoredCollection) -> str:
    return f"create the {stored.facts.kind} again: {shortened(stored.facts.statement)}"
