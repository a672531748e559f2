"""A graph that changes, indexed once for all who ask about it."""

from __future__ import annotations

from typing import Any

from graphtide.dataflow import Dataflow, col


class EvolvingGraph:
    """Vertices with a name, and edges; both come and go.

    Three arrangements are all that is kept of the graph, however many questions stand on it:
    vertices by number, edges by where they begin, and edges by where they end.
    """

    def __init__(self, **settings: Any) -> None:
        self.flow = Dataflow("graph", **settings)
        self.vertices = self.flow.input("vertices", node=int, name=str)
        self.edges = self.flow.input("edges", src=int, dst=int)
        self.by_number = self.vertices.arrange("node")
        self.by_source = self.edges.arrange("src")
        self.by_target = self.edges.map(src=col.dst, dst=col.src).arrange("src")

    def advance(self) -> None:
        """Let all that came and went since the last call be true at once, and every answer too."""
        self.flow.advance()
