"""Queries as users write them: `gt.queries.Path("LHR", "SYD", weight="km")`.

A query asks for the ends of walks from a start. `graph.query(name, asked)` keeps its answer current
while the graph changes. The page "Queries" of the
documentation is the reference.
"""

from graphtide.api.query import Query
from graphtide.engine.histories.settings import Histories
from graphtide.engine.queries.landmark_settings import Landmarks
from graphtide.run.queries.kinds import Hops, Path, Paths, QueryKind, Reach, Regular

__all__ = [
    "Histories",
    "Hops",
    "Landmarks",
    "Path",
    "Paths",
    "Query",
    "QueryKind",
    "Reach",
    "Regular",
]
