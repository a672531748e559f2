"""Programs that come with Graphtide, one short file each, in its own program language.

`SCC` is a dataflow; those that look at several edges at a time are walk programs, such as
`Triangles` and `Rings`; the rest are vertex programs.

    live = graph.maintain(ShortestPaths(source=3))

Each docstring says what is computed, in which mode it is kept current, and at what cost.
"""

from typing import TYPE_CHECKING, Any

from graphtide.algorithms.learning import (
    BeliefPropagation,
    CollaborativeFiltering,
    CoTrainingEM,
    LabelPropagation,
)
from graphtide.algorithms.paths import (
    BFS,
    Ancestors,
    KHops,
    NearestSource,
    PairDistances,
    PairHops,
    Reachability,
    ShortestPaths,
    WidestPath,
)
from graphtide.algorithms.patterns import (
    AdamicAdar,
    Cliques,
    ClusteringCoefficients,
    CommonNeighbours,
    Rings,
    Transitivity,
    TriadCensus,
    Triangles,
)
from graphtide.algorithms.ranks import (
    ConvergedPageRank,
    ConvergedPersonalisedPageRank,
    PageRank,
    PersonalisedPageRank,
)
from graphtide.algorithms.structure import SCC, WCC, DegreeStatistics, KCore
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
