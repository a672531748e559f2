"""Programs that come with Graphtide, one short file each, in its own program language.

`SCC` is a dataflow; those that look at several edges at a time are walk programs, such as
`Triangles` and `Rings`; the rest are vertex programs.

    live = graph.maintain(ShortestPaths(source=3))

Each docstring says what is computed, in which mode it is kept current, and at what cost.
"""

from typing import TYPE_CHECKING, Any

from graphtide.algorithms.belief_propagation import BeliefPropagation
from graphtide.algorithms.bfs import BFS
from graphtide.algorithms.cliques import Cliques
from graphtide.algorithms.clustering import ClusteringCoefficients, Transitivity
from graphtide.algorithms.co_training import CoTrainingEM
from graphtide.algorithms.collaborative_filtering import CollaborativeFiltering
from graphtide.algorithms.common_neighbours import AdamicAdar, CommonNeighbours
from graphtide.algorithms.components import WCC
from graphtide.algorithms.degree_statistics import DegreeStatistics
from graphtide.algorithms.k_core import KCore
from graphtide.algorithms.k_hops import KHops
from graphtide.algorithms.label_propagation import LabelPropagation
from graphtide.algorithms.motifs import TriadCensus
from graphtide.algorithms.page_rank import ConvergedPageRank, PageRank
from graphtide.algorithms.pair_distances import PairDistances, PairHops
from graphtide.algorithms.personalised_page_rank import (
    ConvergedPersonalisedPageRank,
    PersonalisedPageRank,
)
from graphtide.algorithms.reachability import Ancestors, Reachability
from graphtide.algorithms.rings import Rings
from graphtide.algorithms.shortest_paths import NearestSource, ShortestPaths
from graphtide.algorithms.strong_components import SCC
from graphtide.algorithms.triangles import Triangles
from graphtide.algorithms.widest_path import WidestPath
from graphtide.model.elsewhere import ALGORITHMS, plain_name
from graphtide.model.schema import name_hint

__all__ = [
    "BFS",
    "SCC",
    "WCC",
    "AdamicAdar",
    "Ancestors",
    "BeliefPropagation",
    "Cliques",
    "ClusteringCoefficients",
    "CoTrainingEM",
    "CollaborativeFiltering",
    "CommonNeighbours",
    "ConvergedPageRank",
    "ConvergedPersonalisedPageRank",
    "DegreeStatistics",
    "KCore",
    "KHops",
    "LabelPropagation",
    "NearestSource",
    "PageRank",
    "PairDistances",
    "PairHops",
    "PersonalisedPageRank",
    "Reachability",
    "Rings",
    "ShortestPaths",
    "Transitivity",
    "TriadCensus",
    "Triangles",
    "WidestPath",
]

if not TYPE_CHECKING:  # It would let every misspelt name pass.

    def __getattr__(name: str) -> Any:
        told = f"module '{__name__}' has no attribute '{name}'"
        if name.startswith("_"):
            raise AttributeError(told, name=name)
        where = ALGORITHMS.get(plain_name(name))
        hint = name_hint(name, __all__, f"there are {', '.join(__all__)}")
        where = f"gt.algorithms.{where}" if where else hint
        raise AttributeError(f"{told}; try: {where}", name=name)
