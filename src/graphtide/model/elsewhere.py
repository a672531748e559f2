"""Names that people try on an object, and where they find what they meant.

They come from pandas, NetworkX, igraph and GraphFrames, whose names differ by underscores and
capitals: `connected_components`, `connectedComponents`. Both are told alike.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

ALGORITHMS = {
    "pagerank": "PageRank()",
    "personalizedpagerank": "PersonalisedPageRank(sources=[...])",
    "components": "WCC()",
    "connectedcomponents": "WCC()",
    "weaklyconnectedcomponents": "WCC()",
    "numberconnectedcomponents": "WCC()",
    "stronglyconnectedcomponents": "SCC()",
    "clusters": "WCC()",
    "shortestpath": "ShortestPaths(source=...)",
    "shortestpathlength": "ShortestPaths(source=...)",
    "shortestpaths": "ShortestPaths(source=...)",
    "singlesourcedijkstrapathlength": "ShortestPaths(source=...)",
    "sssp": "ShortestPaths(source=...)",
    "dijkstra": "ShortestPaths(source=...)",
    "distances": "ShortestPaths(source=...)",
    "widestpath": "WidestPath(source=...)",
    "cliques": "Cliques(size=4)",
    "findcliques": "Cliques(size=4)",
    "simplecycles": "Rings(length=3)",
    "commonneighbors": "CommonNeighbours(pairs=[...])",
    "bfs": "BFS(source=...)",
    "triangles": "Triangles()",
    "trianglecount": "Triangles()",
    "transitivity": "Transitivity()",
    "clustering": "ClusteringCoefficients()",
    "corenumber": "KCore(k=3)",
    "coreness": "KCore(k=3)",
    "kcore": "KCore(k=3)",
    "labelpropagation": "LabelPropagation(first=[...], second=[...])",
    "descendants": "Reachability(sources=[...])",
    "ancestors": "Ancestors(targets=[...])",
    "neighborhood": "KHops(sources=[...], k=2)",
    "egograph": "KHops(sources=[...], k=2)",
    "adamicadarindex": "AdamicAdar(pairs=[...])",
    "triadiccensus": "TriadCensus()",
    "degree": "DegreeStatistics()",
    "degrees": "DegreeStatistics()",
    "indegree": "DegreeStatistics()",
    "indegrees": "DegreeStatistics()",
    "outdegree": "DegreeStatistics()",
    "outdegrees": "DegreeStatistics()",
}
"""What the programs of the library are called elsewhere."""


ABSENT = (
    "betweenness_centrality",
    "edge_betweenness_centrality",
    "closeness_centrality",
    "eigenvector_centrality",
    "katz_centrality",
    "degree_centrality",
    "hits",
    "diameter",
    "radius",
    "center",
    "eccentricity",
    "density",
    "bridges",
    "articulation_points",
    "biconnected_components",
    "minimum_spanning_tree",
    "minimum_spanning_edges",
    "maximum_flow",
    "minimum_cut",
    "topological_sort",
    "greedy_color",
    "all_pairs_shortest_path_length",
    "all_simple_paths",
    "degree_assortativity_coefficient",
    "spring_layout",
)
"""Functions of NetworkX that no program of the library is like."""


_FRAME = "gt.Graph.from_frame(frame, src=..., dst=...)"
_PAIRS = "gt.Graph([src for src, dst in pairs], [dst for src, dst in pairs])"

MAKERS = {
    **dict.fromkeys(("dataframe", "frompandasedgelist", "fromdf", "fromdataframe"), _FRAME),
    **dict.fromkeys(
        ("fromedges", "fromedgelist", "fromedgeslist", "tuplelist", "frompairs"), _PAIRS
    ),
    **dict.fromkeys(("readedgelist", "readncol", "read", "load", "fromfile"), "gt.read_csv(path)"),
    "fromspark": "gt.session(folder).load(name, edges=frame)",
    "fromigraph": "gt.Graph.from_frame(graph.get_edge_dataframe(), 'source', 'target')",
}
"""What others call the functions that make a graph."""

PARTS = {
    "nodes": "{0}.vertices()",
    "vs": "{0}.vertices()",
    "es": "{0}.edges()",
    "triplets": "{0}.edges()",
    "numberofnodes": "{0}.num_vertices",
    "order": "{0}.num_vertices",
    "vcount": "{0}.num_vertices",
    "numnodes": "{0}.num_vertices",
    "numberofedges": "{0}.num_edges",
    "size": "{0}.num_edges",
    "ecount": "{0}.num_edges",
    "columns": "{0}.edges().column_names",
    "shape": "{0}.num_vertices, {0}.num_edges",
    "topandas": "{0}.edges().to_pandas(), or {0}.vertices().to_pandas()",
    "topolars": "{0}.edges().to_polars(), or {0}.vertices().to_polars()",
    "toarrow": "{0}.edges().to_arrow(), or {0}.vertices().to_arrow()",
    "todf": "{0}.edges().to_pandas()",
    "tocsv": "{0}.edges().to_csv(path)",
    "toparquet": "{0}.edges().to_parquet(path)",
    "write": "{0}.edges().to_csv(path)",
    "windows": "{0}.collection(gt.tumbling(PROPERTY, width='1 week'))",
    "tumbling": "{0}.collection(gt.tumbling(PROPERTY, width='1 week'))",
    "sliding": "{0}.collection(gt.sliding(PROPERTY, width='30 days', step='1 day'))",
    "expanding": "{0}.collection(gt.expanding(PROPERTY, width='1 month'))",
    "plot": "a picture of a run or collection: {0}.collection(...).picture()",
    "picture": "a picture of a run or collection: {0}.collection(...).picture()",
}
"""What others call the parts of a graph; `{0}` is the graph."""


def parts_of(graph: str) -> dict[str, str]:
    """What to write instead of the names that others have for parts of a graph."""
    return {name: told.format(graph) for name, told in PARTS.items()}


def algorithms_by(call: str) -> dict[str, str]:
    """What to write to run each algorithm; `call` is such as `graph.run`."""
    return {name: f"{call}(gt.algorithms.{program})" for name, program in ALGORITHMS.items()}


def plain_name(name: str) -> str:
    """A name without underscores and capitals."""
    return name.replace("_", "").lower()


def absent_from(graph: str) -> dict[str, str]:
    """What is not here, and is computed by NetworkX on a copy."""
    told = f"there is none here; networkx.{{}}({graph}.to_networkx())"
    by_name = {plain_name(name): told.format(name) for name in ABSENT}
    communities = told.format("community.louvain_communities")
    return {**by_name, **dict.fromkeys(("louvain", "louvaincommunities"), communities)}


class MakersElsewhere(ABCMeta):
    """A class that answers for names of functions which make its objects elsewhere."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            told = f"type object '{cls.__name__}' has no attribute '{name}'"
            where = None if name.startswith("_") else MAKERS.get(plain_name(name))
            raise AttributeError(told if where is None else f"{told}; try: {where}", name=name)


class SaysWhere:
    """Answers for a name that is elsewhere; any other is missing as in every object of Python."""

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    """What to write instead, by names without underscores and capitals."""

    if not TYPE_CHECKING:  # It would let every misspelt name pass.

        def __getattr__(self, name: str) -> Any:
            told = f"'{type(self).__name__}' object has no attribute '{name}'"
            where = None if name.startswith("_") else self._elsewhere.get(plain_name(name))
            if where is not None:  # Without the object, of which Python would suggest a name.
                raise AttributeError(f"{told}; try: {where}", name=name)
            raise AttributeError(told, name=name, obj=self)
