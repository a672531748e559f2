"""A first answer, as a process of its own: how long does a user wait?"""

from __future__ import annotations

import numpy as np

from bench.selecting import BFS, plan_of
from graphtide.engine.fixpoint import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph

graph = ResidentGraph(3, np.array([0, 1], np.int32), np.array([1, 2], np.int32))
maintainer = FixpointMaintainer(graph, plan_of(BFS), (0,))
maintainer.start()
print(maintainer.values.tolist())
