"""Runs over versions of a graph in memory: no store, no Spark.

Versions are sets of edges. Edges that are in the same versions are a class, as in a collection of
views, and the same planner arranges the versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.row_classes import row_classes
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.facts import RunFacts, Strategy, now, run_identity
from graphtide.run.collection.reading import Differences
from graphtide.run.collection.runner import RunSettings
from graphtide.run.collection.start import RunInHand
from graphtide.run.collection.touched import TouchedVertices
from graphtide.run.collection.versions import Versions
from graphtide.run.live.programs import Compiled
from graphtide.run.live.result_rows import GraphVertices, PairRows, Pairs
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import group_edges
from graphtide.store.results import PartsInMemory

GivenVersions = Mapping[str, Any] | Sequence[Any]


class FixedVertices(GraphVertices):
    """The vertices of a graph in memory as of a run."""

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of some vertices, or of all, in one type for all of them."""
        return {"id": self._all if numbers is None else self._all.take(pa.array(numbers))}

    @cached_property
    def _all(self) -> pa.Array:
        return self.ids.taken(np.arange(len(self.ids)))


@dataclass(frozen=True)
class Called:
    """What a run and the versions that it visits are called."""

    run: str = "in memory"
    collection: str = "versions of a graph in memory"


UNNAMED = Called()
"""Versions that were given as they are, and their run."""


def run_versions(
    versions: Versions,
    compiled: Compiled,
    strategy: Strategy,
    settings: RunSettings,
    grid: object = None,
    called: Called = UNNAMED,
) -> RunContents:
    """Run a program over arranged versions of a graph, which itself stays as it is."""
    ids, parts, reason = versions.known.ids, PartsInMemory(), None
    if grid is None:
        hand = RunInHand(compiled, versions)
        base = hand.base()
        hand.run(base, parts, hand.chooser(strategy), settings)
    else:
        # Imported here: the dataflow machine takes a second that other runs do not need.
        from graphtide.run.collection.grid import as_grid

        gridded, versions = as_grid(compiled, versions, grid)
        hand, reason = RunInHand(compiled, versions), gridded.reason
        base = hand.base()
        hand.run_grid(gridded, base, parts, settings)
    differences = Differences(parts, compiled.fields)
    vertices = FixedVertices(ids)
    rows = vertices if hand.pairs is None else PairRows(vertices, hand.pairs)
    facts = _facts(called, compiled, strategy, hand.pairs)
    facts = facts if reason is None else replace(facts, reason=reason)
    touched = partial(
        TouchedVertices,
        versions.plan,
        versions.names,
        versions.grouped,
        versions.known.resident.ends,
    )
    return RunContents(facts, hand.steps, differences, base, rows, touched)


def _named(given: GivenVersions) -> dict[str, Any]:
    if isinstance(given, Mapping):
        found = {str(name): version for name, version in given.items()}
    elif isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"versions cannot be {given!r}",
            hint="give a list of them, each a truth value for each row of graph.edges() or a list "
            "of edge numbers",
        )
    else:
        found = {str(at): version for at, version in enumerate(given)}
    if not found:
        raise InputError("there are no versions to run on", hint="give at least one")
    return found


def _mask(edges: Snapshot, name: str, version: Any) -> NDArray[np.bool_]:
    """A version as a truth value an edge."""
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


def arranged(edges: Snapshot, given: GivenVersions, order: Order) -> Versions:
    """Versions as users give them, as a plan over the classes of their edges, which are copies."""
    named = _named(given)
    items = list(named.items())
    of_edge, views = row_classes(len(items), len(edges), lambda at: _mask(edges, *items[at]))
    plan = plan_collection(views, order=order)
    kept = np.flatnonzero(of_edge >= 0)
    known = edges.resident(kept)
    grouped = group_edges(known.resident.numbers, of_edge[kept], views.classes)
    return Versions(plan, tuple(named), known, grouped)


def _facts(called: Called, compiled: Compiled, strategy: Strategy, pairs: Pairs | None) -> RunFacts:
    return RunFacts(
        name=called.run,
        program=str(compiled.bound),
        fields=compiled.fields,
        labels=compiled.labels,
        mode=compiled.choice.mode,
        reason=compiled.choice.reason,
        strategy=strategy,
        collection=called.collection,
        graph="",
        graph_identity="",
        identity=run_identity(compiled, ""),
        created=now(),
        pairs=pairs,
    )
