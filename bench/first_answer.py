"""A first answer, as a process of its own: how long does a user wait?"""

from __future__ import annotations

from typing import Any

import graphtide as gt
from graphtide import algorithms

graph = gt.Graph([0, 1], [1, 2])
program: Any = algorithms.BFS
print(graph.maintain(program(source=0))["hops"])
