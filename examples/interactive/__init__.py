"""Questions that stand while a graph changes: see README.md."""

from examples.interactive.graph import EvolvingGraph
from examples.interactive.questions import (
    QUESTIONS,
    Question,
    one_hop,
    point_look_up,
    short_paths,
    two_hops,
)

__all__ = [
    "QUESTIONS",
    "EvolvingGraph",
    "Question",
    "one_hop",
    "point_look_up",
    "short_paths",
    "two_hops",
]
