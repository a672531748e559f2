"""What a run visits: versions of a graph, arranged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.steps import ALL_VERTICES, ViewVertices
from graphtide.run.live.known_edges import KnownEdges
from graphtide.store.collection import GroupedEdges


@dataclass(frozen=True)
class Versions:
    """What a run visits: a plan, the names of its views, a graph and the edges of each class.

    `vertices` says which vertices its views have, where these are not all; `told` has rows of the
    graph as users know its edges.
    """

    plan: CollectionPlan
    names: tuple[str, ...]
    known: KnownEdges
    grouped: GroupedEdges
    vertices: ViewVertices = ALL_VERTICES
    told: Callable[[NDArray[np.int64]], pa.Table] | None = None
