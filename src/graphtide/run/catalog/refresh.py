"""A collection brought up to date with its graph, by what has changed since it was made.

Only edges that have come or changed are classified, in memory; they join classes that are there, or
make new ones, and the plan gets these in its deltas. That is the collection that the statement
would make now, but for the plan: once a tenth of the edges have changed, it is planned anew.

A collection is made again from its statement where the rows of then are gone, and where the
statement gives other views now: a window a year has one more in a new year.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.model.edge_numbers import is_wide
from graphtide.optimize import plan_collection
from graphtide.optimize.extension import extend_plan, plan_membership
from graphtide.plan.collection import CollectionPlan, ViewMatrix
from graphtide.run.catalog.build import CollectionRequest, build_collection
from graphtide.run.catalog.changed_edges import ChangedEdges, changed_edges
from graphtide.run.catalog.requests import request_again
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.progress import shown
from graphtide.run.views.classes import viewed_edges
from graphtide.run.views.stored_rows import StoredRows
from graphtide.store.behind import latest_behind, state_behind
from graphtide.store.carry import carry_files
from graphtide.store.collection import EDGES, StoredCollection, open_collection, write_collection
from graphtide.store.commit import Commit, begin
from graphtide.store.files import FileFacts, write_table
from graphtide.store.graph import StoredGraph

# Beyond this share of changed edges a collection is planned anew: the tree was chosen for others.
_DRIFT = 0.1
# Classes times views, beyond which it takes less memory to make a collection again. So it does
# where its edges, which are read here, need wide numbers: Spark makes it then.
_LARGEST = 200_000_000
# A collection has at most so many parts before they are written as one.
_PARTS = 64

Held = NDArray[np.bool_]


@dataclass(frozen=True)
class Refreshed:
    """A collection as it is now, and what was done: nothing, `brought up to date`, `made again`."""

    stored: StoredCollection
    how: str


def refresh_collection(space: Workspace, name: str) -> Refreshed:
    """Bring a collection to the state that its graph is in now. Nothing is lost on failure."""
    with shown(f"refresh {name}", enabled=space.progress) as report:
        stored = open_collection(space.catalog, name)
        graph = latest_behind(space.catalog, stored)
        behind = state_behind(stored, graph)
        if behind.graph is not None and behind.state.identity == graph.identity:
            return Refreshed(stored, "up to date")
        report("looking at the views", None)
        request = request_again(space, stored)
        update = None if behind.graph is None else _update(stored, behind.graph, request)
        if update is None:
            made = build_collection(space.catalog, space.gateway, request, report)
            return Refreshed(made, "made again")
        report("writing", None)
        with begin(stored.path.parent, replace=True, what=f"the collection '{name}'") as commit:
            update.write(commit)
        return Refreshed(open_collection(space.catalog, name), "brought up to date")


def _update(
    stored: StoredCollection, then: StoredGraph, request: CollectionRequest
) -> _Update | None:
    """What a refresh writes; None if the collection has to be made again."""
    began = time.perf_counter()
    names = [view.name for view in stored.views]
    texts = [view.predicate for view in stored.views]
    now = {view.name: str(view.predicate) for view in request.views}
    droppable = request.drop_empty - set(names)
    if [now.get(name) for name in names] != texts or set(now) - set(names) - droppable:
        return None
    if stored.plan.classes * len(names) > _LARGEST or is_wide(int(stored.weights.sum())):
        return None
    predicates = [view.predicate for view in request.views]
    changed = changed_edges(then, request.graph, predicates)
    why = request.why_unviewed
    rows = StoredRows(request.graph, changed.looked_at)
    of_row, classes, more = viewed_edges(rows, predicates, why)
    unviewed = Counter(stored.unviewed)
    unviewed.update(more)
    unviewed.subtract(viewed_edges(StoredRows(then, changed.before(then)), predicates, why)[2])
    held = np.array([classes.views.held(at) for at in range(len(predicates))], np.bool_)
    dropped = [at for at, view in enumerate(request.views) if view.name not in names]
    if held[dropped].any():
        return None
    places = [list(now).index(name) for name in names]
    update = _Update(stored, request, changed, of_row, held[places].T, began)
    update.unviewed = {reason: number for reason, number in unviewed.items() if number > 0}
    empty = {view.name for view in stored.views} & request.drop_empty
    sizes = dict(zip(names, update.matrix.sizes(), strict=True))
    return None if any(sizes[name] == 0 for name in empty) else update


class _Update:
    """The edges of a collection and their classes, before and after."""

    def __init__(
        self,
        stored: StoredCollection,
        request: CollectionRequest,
        changed: ChangedEdges,
        of_row: NDArray[np.int32],
        held: Held,
        began: float,
    ) -> None:
        self._stored, self._request, self._changed, self._began = stored, request, changed, began
        self.unviewed: dict[str, int] = {}
        table = stored.edge_classes()
        edges, classes = (table.column(name).to_numpy() for name in ("_edge", "_class"))
        away = np.isin(edges, np.concatenate([changed.gone, changed.looked_at]))
        known = plan_membership(stored.plan, len(stored.views))
        joined, membership = _join_classes(known, held)
        inside = of_row >= 0
        self._new = changed.looked_at[inside], joined[of_row[inside]]
        self._old = edges[~away], classes[~away]
        self._has_removed = bool(away.any())
        weights = np.bincount(
            np.concatenate([self._old[1], self._new[1]]), minlength=len(membership)
        )
        self._numbers = np.cumsum(weights > 0).astype(np.int32) - 1
        self._numbers[weights == 0] = -1
        self.matrix = ViewMatrix(membership[weights > 0], weights[weights > 0].astype(np.int64))

    def write(self, commit: Commit) -> None:
        """Write the next generation of the collection, and commit it."""
        carried = self._write_edges(commit)
        plan, drift = self._planned()
        stored, request = self._stored, self._request
        facts = replace(
            stored.facts,
            graph_identity=request.graph.identity,
            seconds=round(time.perf_counter() - self._began, 3),
            changed=drift,
            unviewed=self.unviewed if stored.facts.kind == "collection" else {},
        )
        sizes = self.matrix.sizes().tolist()
        now = {view.name: view for view in request.views}
        views = [
            replace(view, size=size, removed=now[view.name].removed, window=now[view.name].window)
            for view, size in zip(stored.views, sizes, strict=True)
        ]
        wide = request.graph.has_wide_numbers
        weights = self.matrix.weights
        write_collection(commit, facts, views, plan, weights, carried=carried, wide=wide)

    def _planned(self) -> tuple[CollectionPlan, int]:
        """The plan, extended or made anew, and how many edges have changed since it was made."""
        drift = self._stored.facts.changed + len(self._changed)
        if drift > _DRIFT * int(self.matrix.weights.sum()):
            return plan_collection(self.matrix, order=self._request.order), 0
        kept = self._numbers[: self._stored.plan.classes]
        return extend_plan(self._stored.plan, self.matrix, kept), drift

    def _write_edges(self, commit: Commit) -> dict[str, FileFacts]:
        """Add a part to those that are there; or write all of them anew, if edges have left."""
        generation = self._stored.generation
        names = [name for name, _ in generation.parts(EDGES)]
        shares = not self._has_removed and len(names) < _PARTS
        parts = [self._new] if shares else [self._old, self._new]
        edges = np.concatenate([part[0] for part in parts])
        edges = edges.astype(self._request.graph.number_type, copy=False)
        classes = self._numbers[np.concatenate([part[1] for part in parts])]
        # Generations never have the same number, so no part that is shared has this name.
        name = f"refreshed-{commit.generation}.parquet"
        with disk_errors(commit.what, commit.folder):
            disk.make_folder(commit.path / EDGES)
            table = pa.table({"_edge": edges, "_class": classes})
            write_table(table, commit.path / EDGES / name)
        return carry_files(generation, names, commit) if shares else {}


def _join_classes(known: Held, held: Held) -> tuple[NDArray[np.int32], Held]:
    """For each new row of the edge-boolean matrix its class, and the rows of all classes."""
    numbers = {row.tobytes(): at for at, row in enumerate(np.packbits(known, axis=1))}
    classes: list[int] = []
    fresh: list[Held] = []
    for at, row in enumerate(np.packbits(held, axis=1)):
        key = row.tobytes()
        if key not in numbers:
            numbers[key] = len(known) + len(fresh)
            fresh.append(held[at])
        classes.append(numbers[key])
    added = np.array(fresh, np.bool_).reshape(-1, known.shape[1])
    return np.array(classes, np.int32), np.concatenate([known, added])
