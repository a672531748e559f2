"""Four classes of questions: properties, one hop, two hops, and paths of at most four.

Each class is a dataflow beside the graph's. Its arguments are a collection like any other: to ask
is to insert, to forget is to remove. It imports the arrangements of the graph, so that it keeps
nothing but what its own arguments reach, and may be opened and closed at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from examples.interactive.graph import EvolvingGraph
from graphtide.algorithms.dataflow import (
    look_up,
    neighbours,
    paths_within_four,
    second_neighbours,
)
from graphtide.dataflow import Arrangement, Collection, Dataflow

Build = Callable[..., Collection]


class Question:
    """One class of questions on a graph: its arguments come and go, its answers are changes."""

    def __init__(
        self, graph: EvolvingGraph, build: Build, parts: list[Arrangement], **columns: Any
    ) -> None:
        self.flow = Dataflow(build.__name__, beside=graph.flow)
        self.arguments = self.flow.input("arguments", **columns)
        imported = [self.flow.import_arrangement(part) for part in parts]
        self.answers = build(*imported, self.arguments).output()

    def ask(self, arguments: Any) -> None:
        """Answer these too, from the next advance of the graph on."""
        self.arguments.insert(arguments)

    def forget(self, arguments: Any) -> None:
        """Answer these no more; their answers go with the next advance."""
        self.arguments.remove(arguments)

    def changes(self) -> list[tuple[tuple[Any, ...], int]]:
        """Which answers have come (1 or more) and gone since the last call."""
        return [(record, diff) for record, _, diff in self.answers.changes()]

    def close(self) -> None:
        """Forget the whole class, and all that it keeps."""
        self.flow.close()


def point_look_up(graph: EvolvingGraph) -> Question:
    """(node) is asked, (node, name) the answer."""
    return Question(graph, look_up, [graph.by_number], node=int)


def one_hop(graph: EvolvingGraph) -> Question:
    """(node) is asked, (node, dst) the answers: as often as there are edges."""
    return Question(graph, neighbours, [graph.by_source], node=int)


def two_hops(graph: EvolvingGraph) -> Question:
    """(node) is asked, (node, dst) the answers: as often as there are ways of two edges."""
    return Question(graph, second_neighbours, [graph.by_source], node=int)


def short_paths(graph: EvolvingGraph) -> Question:
    """(src, dst) is asked, (src, dst, hops) the answer, where four hops or fewer are enough."""
    return Question(graph, paths_within_four, [graph.by_source, graph.by_target], src=int, dst=int)


QUESTIONS = {
    "look-up": point_look_up,
    "one hop": one_hop,
    "two hops": two_hops,
    "paths": short_paths,
}
"""All classes by name."""
