"""A collection brought up to date with its graph, by what has changed since it was made.

An edge counts as changed where its own row was changed, and where a vertex at one of its ends was,
if the views look at vertices at all. Only edges that have come or changed are classified, in
memory; they join classes that are there, or make new ones, and the plan gets these in its deltas.
That is the collection that the statement would make now, but for the plan: once a tenth of the
edges have changed, it is planned anew.

Where the statement gives more views now, as a window a day does on a new day, the new ones are
looked for among all edges, but the others stay as they are; and all are planned anew. A collection
is made again from its statement where the rows of then are gone, and where the statement gives
other views in place of those that are there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.delta import EdgeIds, is_wide
from graphtide.model.disk import disk_errors
from graphtide.model.schema import CHANGED, KEYS
from graphtide.model.text import counted
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import extend_plan
from graphtide.plan.collection import CollectionPlan, ViewMatrix
from graphtide.plan.predicates import Predicate, atoms_of, properties_of
from graphtide.run.catalog.build import build_collection, request_again
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.progress import shown
from graphtide.run.views.build import CollectionRequest, stored_views
from graphtide.run.views.classes import StoredEdgeRows, ends_of, viewed_edges
from graphtide.store.collection import (
    EDGES,
    StoredCollection,
    latest_behind,
    open_collection,
    state_behind,
    write_collection,
)
from graphtide.store.commit import Commit, begin
from graphtide.store.files import FileFacts, write_table
from graphtide.store.graph import StoredGraph
from graphtide.store.next_state import carry_files
from graphtide.store.tables import TableName, deleted_edges, live_edges


@dataclass(frozen=True)
class ChangedEdges:
    """Edges by their numbers, sorted: those that are `gone`, and those that came or changed."""

    gone: EdgeIds
    looked_at: EdgeIds

    def __len__(self) -> int:
        return len(self.gone) + len(self.looked_at)

    def before(self, then: StoredGraph) -> EdgeIds:
        known = self.looked_at[self.looked_at < then.numbers]
        return np.setdiff1d(np.union1d(self.gone, known), deleted_edges(then)).astype(
            then.number_type
        )


def changed_edges(
    then: StoredGraph, now: StoredGraph, predicates: Iterable[Predicate]
) -> ChangedEdges:
    """What has changed between two states of a graph, for views of these predicates."""
    deleted = deleted_edges(now)
    edges = [
        np.arange(then.numbers, now.numbers, dtype=now.number_type),
        changed_numbers(then, now, "edges"),
    ]
    vertices = changed_numbers(then, now, "vertices")
    if len(vertices) and any(map(_looks_at_vertices, predicates)):
        edges.append(ends_of(now, vertices))
    looked_at = np.setdiff1d(np.unique(np.concatenate(edges)), deleted)
    return ChangedEdges(np.setdiff1d(deleted, deleted_edges(then)), looked_at)


def changed_numbers(then: StoredGraph, now: StoredGraph, table: TableName) -> EdgeIds:
    """The rows of a table that appends between two states have changed."""
    folder, key = CHANGED[table], KEYS[table]
    names = set(now.append_files(folder)) - set(then.append_files(folder))
    rows = [now.generation.table(name, [key]).column(key).to_numpy() for name in sorted(names)]
    return np.unique(np.concatenate([np.empty(0, np.int32), *rows]))


def _looks_at_vertices(predicate: Predicate) -> bool:
    items = (item for atom in atoms_of(predicate) for item in properties_of(atom))
    return any(item.owner != "edge" for item in items)


# Beyond this share of changed edges a collection is planned anew: the tree was chosen for others.
_DRIFT = 0.1
# Classes times views, beyond which it takes less memory to make a collection again. So it does
# where its edges, which are read here, need wide numbers: Spark makes it then.
_LARGEST = 200_000_000
# A collection has at most so many parts before they are written as one.
_PARTS = 64

Held = NDArray[np.bool_]


@dataclass(frozen=True)
class CollectionRefresh:
    """A collection as it is now, and what was done.

    `up to date`, `brought up to date`, the same `with 2 new views`, or `made again`.
    """

    stored: StoredCollection
    how: str


def refresh_collection(space: Workspace, name: str) -> CollectionRefresh:
    """Bring a collection to the state that its graph is in now. Nothing is lost on failure."""
    with shown(f"refresh {name}", enabled=space.progress) as report:
        stored = open_collection(space.catalog, name)
        graph = latest_behind(space.catalog, stored)
        behind = state_behind(stored, graph)
        if behind.graph is not None and behind.state.identity == graph.identity:
            return CollectionRefresh(stored, "up to date")
        report("looking at the views", None)
        request = request_again(space, stored)
        update = None if behind.graph is None else _update(stored, behind.graph, request)
        if update is None:
            made = build_collection(space.catalog, space.gateway, request, report)
            return CollectionRefresh(made, "made again")
        report("writing", None)
        with begin(stored.path.parent, replace=True, what=f"the collection '{name}'") as commit:
            update.write(commit)
        return CollectionRefresh(open_collection(space.catalog, name), update.how)


def _update(
    stored: StoredCollection, then: StoredGraph, request: CollectionRequest[StoredGraph]
) -> _Update | None:
    """The update that brings a collection up to date; None if it must be made again."""
    began = time.perf_counter()
    known = {view.name: view for view in stored.views}
    now = {view.name: str(view.predicate) for view in request.views}
    if any(now.get(name) != view.predicate for name, view in known.items()):
        return None
    if stored.plan.classes * len(now) > _LARGEST or is_wide(int(stored.weights.sum())):
        return None
    predicates = request.predicates
    changed, why = changed_edges(then, request.graph, predicates), request.why_unviewed
    rows = StoredEdgeRows(request.graph, changed.looked_at)
    of_row, classes, unviewed = viewed_edges(rows, predicates, why)
    held = np.array([classes.views.held(at) for at in range(len(predicates))], np.bool_).T
    members = _ViewMembers(stored, changed, request)
    outside = Counter(unviewed)
    if set(now) == set(known):
        outside.update(stored.unviewed)
        outside.subtract(
            viewed_edges(StoredEdgeRows(then, changed.before(then)), predicates, why)[2]
        )
    else:
        outside.update(members.add_views([at for at, name in enumerate(now) if name not in known]))
    update = _Update(members, of_row, held, began)
    update.unviewed = {reason: number for reason, number in outside.items() if number > 0}
    emptied = {name for name, size in zip(now, update.matrix.sizes(), strict=True) if not size}
    return update.without(emptied & request.drop_empty)


class _ViewMembers:
    """The edges that have not changed, with their classes, and which of all views hold each class.

    Edges that have come into view lately, because views have come, are `entered`.
    """

    def __init__(
        self,
        stored: StoredCollection,
        changed: ChangedEdges,
        request: CollectionRequest[StoredGraph],
    ) -> None:
        self.stored, self.changed, self.request = stored, changed, request
        table = stored.edge_classes()
        edges, classes = (table.column(name).to_numpy() for name in ("_edge", "_class"))
        away = np.isin(edges, np.concatenate([changed.gone, changed.looked_at]))
        self.edges, self.classes = edges[~away], classes[~away]
        self.entered = np.empty(0, edges.dtype), np.empty(0, np.int32)
        self.shared = not away.any()
        places = {view.name: at for at, view in enumerate(request.views)}
        known = stored.plan.memberships().T
        self.held = np.zeros((len(known), len(places)), np.bool_)
        self.held[:, [places[view.name] for view in stored.views]] = known

    def add_views(self, added: Sequence[int]) -> Counter[str]:
        """Find the edges of views that are new, and how many others are in no view, by reason.

        Reads what their predicates look at of every edge, part by part, without Spark. A class of
        which a new view holds a part becomes two.
        """
        request, changed = self.request, self.changed
        why, predicates = request.why_unviewed, [request.views[at].predicate for at in added]
        looked_at, outside = [*predicates, *why.predicates], Counter[str]()
        order = np.argsort(self.edges)
        sorted_edges = self.edges[order]
        rows: dict[bytes, int] = {}
        patterns = np.zeros(len(self.edges), np.int32)
        entered: list[tuple[NDArray[np.integer], NDArray[np.int32]]] = []
        for numbers in _parts_of(request.graph):
            numbers = np.setdiff1d(numbers, changed.looked_at, assume_unique=True)
            at = np.searchsorted(sorted_edges, numbers)
            seen = np.zeros(len(numbers), np.bool_)
            inside = at < len(sorted_edges)
            seen[inside] = sorted_edges[at[inside]] == numbers[inside]
            for some, places in ((numbers[seen], order[at[seen]]), (numbers[~seen], None)):
                part = StoredEdgeRows(request.graph, some, looked_at)
                of_row, classes, unviewed = viewed_edges(part, predicates, why)
                held = [classes.views.held(view) for view in range(len(added))]
                of_class = _pattern_numbers(rows, np.array(held, np.bool_).T)
                pattern = np.where(of_row < 0, 0, of_class[of_row] if len(of_class) else 0)
                if places is None:
                    outside.update(unviewed)
                    entered.append((some[of_row >= 0], pattern[of_row >= 0]))
                else:
                    patterns[places] = pattern
        self._split(added, _pattern_rows(rows, len(added)), patterns)
        edges, pattern = (np.concatenate(column) for column in zip(*entered, strict=True))
        self.entered = edges, self._entered_classes(added, _pattern_rows(rows, len(added)), pattern)
        return outside

    def _split(self, added: Sequence[int], rows: Held, patterns: NDArray[np.int32]) -> None:
        """Give each class the row of the new views that its edges have; parts become classes."""
        pairs, of_edge = np.unique(
            self.classes.astype(np.int64) * len(rows) + patterns, return_inverse=True
        )
        of_pair, pattern = pairs // len(rows), pairs % len(rows)
        first = np.concatenate([[True], of_pair[1:] != of_pair[:-1]])[: len(pairs)]
        more = int(np.count_nonzero(~first))
        numbers = of_pair.astype(np.int32)
        numbers[~first] = len(self.held) + np.arange(more)
        self.held = np.concatenate([self.held, self.held[of_pair[~first]]])
        self.held[np.ix_(numbers, np.array(added))] = rows[pattern]
        self.classes = numbers[of_edge]
        self.shared &= not more

    def _entered_classes(
        self, added: Sequence[int], rows: Held, patterns: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Classes of edges that were in no view so far: one for each row of the new views."""
        used, of_edge = np.unique(patterns, return_inverse=True)
        held = np.zeros((len(used), self.held.shape[1]), np.bool_)
        held[:, added] = rows[used]
        classes, self.held = _join_classes(self.held, held)
        return classes[of_edge] if len(used) else np.empty(0, np.int32)


def _parts_of(graph: StoredGraph) -> Iterator[NDArray[np.integer]]:
    """The numbers of the edges that are there, a file of them at a time."""
    numbers, start = live_edges(graph), 0
    for _, rows in graph.generation.parts("edges"):
        yield numbers[slice(*np.searchsorted(numbers, [start, start + rows]))]
        start += rows


def _pattern_numbers(rows: dict[bytes, int], held: Held) -> NDArray[np.int32]:
    """For each row of the new views its number, from 1 on; 0 is the row of none of them."""
    keys = [row.tobytes() for row in held]
    return np.array([rows.setdefault(key, len(rows) + 1) for key in keys], np.int32)


def _pattern_rows(rows: dict[bytes, int], views: int) -> Held:
    known = [np.zeros(views, np.bool_), *(np.frombuffer(key, np.bool_) for key in rows)]
    return np.array(known, np.bool_).reshape(-1, views)


class _Update:
    """The edges of a collection and their classes, before and after."""

    def __init__(
        self, members: _ViewMembers, of_row: NDArray[np.int32], held: Held, began: float
    ) -> None:
        self._stored, self._request = members.stored, members.request
        self._changed, self._began = members.changed, began
        self._views = list(members.request.views)
        self.unviewed: dict[str, int] = {}
        joined, membership = _join_classes(members.held, held)
        inside = of_row >= 0
        new = members.changed.looked_at[inside], joined[of_row[inside]]
        self._new = tuple(map(np.concatenate, zip(members.entered, new, strict=True)))
        self._old = members.edges, members.classes
        self._shared = members.shared
        weights = np.bincount(
            np.concatenate([self._old[1], self._new[1]]), minlength=len(membership)
        )
        self._numbers = np.cumsum(weights > 0).astype(np.int32) - 1
        self._numbers[weights == 0] = -1
        self.matrix = ViewMatrix(membership[weights > 0], weights[weights > 0].astype(np.int64))

    def without(self, names: Collection[str]) -> _Update:
        """Leave out some views, which hold no edge."""
        kept = np.array([view.name not in names for view in self._views])
        self._views = [view for view in self._views if view.name not in names]
        self.matrix = self.matrix.keeping(np.flatnonzero(kept))
        return self

    @property
    def _names(self) -> tuple[set[str], set[str]]:
        """The names of the views, before and after."""
        return {view.name for view in self._stored.views}, {view.name for view in self._views}

    @property
    def how(self) -> str:
        before, after = self._names
        more = len(after - before)
        return "brought up to date" + (f" with {counted(more, 'new view')}" if more else "")

    def write(self, commit: Commit) -> None:
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
        views = stored_views(self._views, self.matrix.sizes())
        wide = request.graph.has_wide_numbers
        weights = self.matrix.weights
        write_collection(commit, facts, views, plan, weights, carried=carried, wide=wide)

    def _planned(self) -> tuple[CollectionPlan, int]:
        """The plan, extended or made anew, and how many edges have changed since it was made."""
        drift = self._stored.facts.changed + len(self._changed)
        before, after = self._names
        if before != after or drift > _DRIFT * int(self.matrix.weights.sum()):
            return plan_collection(self.matrix, order=self._request.order), 0
        kept = self._numbers[: self._stored.plan.classes]
        return extend_plan(self._stored.plan, self.matrix, kept), drift

    def _write_edges(self, commit: Commit) -> dict[str, FileFacts]:
        """Add a part to those that are there; or write all of them anew, if edges have left."""
        generation = self._stored.generation
        names = [name for name, _ in generation.parts(EDGES)]
        shares = self._shared and len(names) < _PARTS
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
