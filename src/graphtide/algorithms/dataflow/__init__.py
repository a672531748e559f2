"""Graph computations as dataflows: functions from collections to collections.

Each takes collections of a dataflow and adds the operators that keep the answer current. Edges
are records with the columns `src` and `dst`, vertices with the column `node`. `Triangles` is a
whole program.
"""

from graphtide.algorithms.dataflow.queries import (
    look_up,
    neighbours,
    paths_within_four,
    second_neighbours,
)
from graphtide.algorithms.dataflow.rank import page_rank
from graphtide.algorithms.dataflow.reachability import (
    components,
    distances,
    propagate,
    reachable,
    same_generation,
    shortest_paths,
    strong_components,
    strong_edges,
    transitive_closure,
)
from graphtide.algorithms.dataflow.subgraphs import (
    Triangles,
    edge_triangles,
    k_core,
    k_truss,
    triangles,
)

__all__ = [
    "Triangles",
    "components",
    "distances",
    "edge_triangles",
    "k_core",
    "k_truss",
    "look_up",
    "neighbours",
    "page_rank",
    "paths_within_four",
    "propagate",
    "reachable",
    "same_generation",
    "second_neighbours",
    "shortest_paths",
    "strong_components",
    "strong_edges",
    "transitive_closure",
    "triangles",
]
