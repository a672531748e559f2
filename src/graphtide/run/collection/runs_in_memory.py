"""Runs over versions of a graph in memory: no store, no Spark.

Versions are sets of edges. Edges that are in the same versions are a class, as in a collection of
views, and the same planner arranges the versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.progress import Progress
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.view_runs import row_classes
from graphtide.run.collection.contents import RunContents, ViewDegrees
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunRequest, begun_facts
from graphtide.run.collection.start import PreparedRun
from graphtide.run.collection.steps import RunVersions
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.programs import Compiled
from graphtide.run.live.results import GraphVertices, PairRows
from graphtide.run.progress import shown
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import group_edges
from graphtide.store.parts import PartsInMemory

if TYPE_CHECKING:
    from graphtide.run.routes import ViewRoutes


GivenVersions = Mapping[str, Any] | Sequence[Any]


class FixedVertices(GraphVertices):
    """The vertices of a graph in memory as of a run."""

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        return {"id": self._all if numbers is None else self._all.take(pa.array(numbers))}

    @cached_property
    def _all(self) -> pa.Array:
        return self.ids.taken(np.arange(len(self.ids)))


def run_in_memory(
    request: RunRequest,
    make: Callable[[Conditions], RunVersions],
    collection: str | None = None,
    progress: Progress = None,
) -> RunContents:
    """Run a program over versions, which are made when all else has been checked.

    `collection` names the versions, if they have a name.
    """
    compiled = request.compiled
    title = compiled.bound.program.name if collection is None else request.name
    with shown(f"run {title}", enabled=progress) as report:
        report("arranging the versions")
        run = PreparedRun(make(compiled.needed), request.reporting_to(report))
        run.tell_unused(request.workers)
        base, parts = run.base(), PartsInMemory()
        run.run(base, parts)
    versions = run.versions
    vertices = FixedVertices(versions.known.ids)
    rows = vertices if run.pairs is None else PairRows(vertices, run.pairs)
    title = collection or "versions of a graph in memory"
    facts = begun_facts(request, run.pairs, "", run.cuts, collection=title, reason=run.reason)
    resident, visited = versions.known.resident, (versions.plan, versions.names, versions.grouped)
    touched = partial(ViewDegrees, *visited, resident.ends, resident.directed)
    differences = RunDifferences(parts, compiled.results)
    routes = RoutesInMemory(versions, compiled)
    return RunContents(facts, run.steps, differences, base, rows, touched, routes)


@dataclass(frozen=True)
class RoutesInMemory:
    """Finds routes by the graph that was run on, which a copy of a run does not take along."""

    versions: RunVersions
    compiled: Compiled

    def __call__(self) -> ViewRoutes:
        # Imported here: runs need no routes, and neither do tables of their results.
        from graphtide.run.routes import ViewRoutes

        return ViewRoutes(self.versions, self.compiled)

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _no_routes, ()


def _no_routes() -> None:
    """What a copy has in place of `RoutesInMemory`."""


def _named(given: GivenVersions) -> dict[str, Any]:
    if isinstance(given, Mapping):
        named = {str(name): version for name, version in given.items()}
    elif isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"versions cannot be {given!r}",
            hint="give a list of them, each a truth value for each row of graph.edges() or a list "
            "of edge numbers",
        )
    else:
        named = {str(at): version for at, version in enumerate(given)}
    if not named:
        raise InputError(
            "there are no versions to run on",
            hint="give at least one, or none at all for the graph as it is: graph.run(program); "
            "for views of it, graph.collection(...).run(program)",
        )
    return named


def _mask(edges: Snapshot, name: str, version: Any) -> NDArray[np.bool_]:
    given = np.asarray(version)
    if given.dtype == np.bool_:
        if given.shape != (len(edges),):
            raise InputError(
                f"the version '{name}' has {given.size:,} truth values for {len(edges):,} edges",
                hint="give one for each row of graph.edges()",
            )
        return given
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(
            f"the version '{name}' cannot be {version!r}",
            hint="give a truth value for each row of graph.edges(), or a list of edge numbers",
        )
    wanted = given.astype(np.int64)
    places = np.searchsorted(edges.numbers, wanted)
    known = places < len(edges.numbers)
    known[known] = edges.numbers[places[known]] == wanted[known]
    if not known.all():
        raise InputError(
            f"the version '{name}' names the edge {int(wanted[~known][0])}, which is not there",
            hint="take numbers from the column `edge` of graph.edges()",
        )
    mask = np.zeros(len(edges), np.bool_)
    mask[places] = True
    return mask


def arranged(
    edges: Snapshot, given: GivenVersions, order: Order, needed: Conditions
) -> RunVersions:
    """Versions as users give them, as a plan over the classes of their edges, which are copies."""
    named = _named(given)
    items = list(named.items())
    of_edge, views = row_classes(len(items), len(edges), lambda at: _mask(edges, *items[at]))
    plan = plan_collection(views, order=order)
    used = np.flatnonzero(of_edge >= 0)
    known = edges.resident(used, needed)
    grouped = group_edges(known.resident.numbers, of_edge[used], views.classes)
    told = lambda rows: edges.edge_table(used[rows])  # noqa: E731
    return RunVersions(plan, tuple(named), known, grouped, told=told)
