"""What a run visits: versions of a graph, arranged."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan.collection import CollectionPlan
from graphtide.run.live.known_edges import KnownEdges
from graphtide.store.collection import GroupedEdges


@dataclass(frozen=True)
class Versions:
    """What a run visits: a plan, the names of its views, a graph and the edges of each class."""

    plan: CollectionPlan
    names: tuple[str, ...]
    known: KnownEdges
    grouped: GroupedEdges
