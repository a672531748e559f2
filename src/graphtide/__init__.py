"""Graphtide: one graph computation over many versions of a graph.

    import graphtide as gt

    session = gt.session("my-graphs")
    calls = session.load("Calls", vertices="customers.csv", edges="calls.csv")
    years = calls.collection("years", "for y in 2010..2020 [upto-{y}: year <= y]")
    components = years.run(gt.algorithms.WCC)
    print(components.summary())

    network = gt.Graph([1, 2], [2, 3], weight=[0.5, 2.0])
    live = network.maintain(gt.algorithms.ShortestPaths(source=1))
    live.advance(insert=[(1, 3, 1.0)])

Names are imported when they are first used, so that `import graphtide` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from graphtide.version import __version__

if TYPE_CHECKING:
    from graphtide import algorithms, dataflow, queries, samples
    from graphtide.api.catalog_graph import CatalogGraph
    from graphtide.api.collection import Collection, View
    from graphtide.api.datalog import Datalog, DatalogProof, DatalogQuery, datalog
    from graphtide.api.graph import Graph, read_csv, read_parquet
    from graphtide.api.live import Changes, Live
    from graphtide.api.live_graph import LiveGraph, live
    from graphtide.api.live_stream import Follower
    from graphtide.api.memory_views import MemoryCollection, MemoryView, Step
    from graphtide.api.run import GraphRun, Run
    from graphtide.api.session import Session, session
    from graphtide.dataflow import Dataflow
    from graphtide.lang.gvdl.requests import (
        cross,
        expanding,
        sliding,
        tumbling,
        without,
        without_each,
        without_each_value,
    )
    from graphtide.lang.nga import nga
    from graphtide.lang.python import (
        And,
        Columns,
        Count,
        Date,
        Global,
        Matches,
        Max,
        Min,
        Or,
        Pairs,
        Product,
        Program,
        Property,
        State,
        Sum,
        Timestamp,
        Vertex,
        VertexProperty,
        Vertices,
        distinct,
        inf,
        program,
    )
    from graphtide.model.delta import Delta
    from graphtide.model.errors import (
        DamagedError,
        DifferenceError,
        ExistsError,
        FullDiskError,
        GraphtideError,
        InputError,
        LanguageError,
        LimitError,
        LockedError,
        NotFoundError,
        SetupError,
        StoreError,
        UnseenVertexWarning,
        UnusableError,
        UnusedOptionWarning,
    )
    from graphtide.run.catalog.row_counts import RowCounts
    from graphtide.run.limits import Undo
    from graphtide.run.routes import Route
    from graphtide.run.table import Table

_HOMES = {
    name: home
    for home, names in {
        "graphtide.api.catalog_graph": "CatalogGraph",
        "graphtide.api.collection": "Collection View",
        "graphtide.api.datalog": "Datalog datalog DatalogProof DatalogQuery",
        "graphtide.api.graph": "Graph read_csv read_parquet",
        "graphtide.api.live": "Changes Live",
        "graphtide.api.live_graph": "LiveGraph live",
        "graphtide.api.live_stream": "Follower",
        "graphtide.api.memory_views": "MemoryCollection MemoryView Step",
        "graphtide.api.run": "GraphRun Run",
        "graphtide.api.session": "Session session",
        "graphtide.dataflow": "Dataflow",
        "graphtide.lang.gvdl.requests": (
            "cross expanding sliding tumbling without without_each without_each_value"
        ),
        "graphtide.lang.nga": "nga",
        "graphtide.lang.python": (
            "And Columns Count Date distinct Global inf Matches Max Min Or Pairs Product "
            "Program program Property State Sum Timestamp Vertex VertexProperty Vertices"
        ),
        "graphtide.model.delta": "Delta",
        "graphtide.model.errors": (
            "DamagedError DifferenceError ExistsError FullDiskError GraphtideError InputError "
            "LanguageError LimitError LockedError NotFoundError SetupError StoreError "
            "UnseenVertexWarning UnusableError UnusedOptionWarning"
        ),
        "graphtide.run.catalog.row_counts": "RowCounts",
        "graphtide.run.routes": "Route",
        "graphtide.run.table": "Table",
        "graphtide.run.limits": "Undo",
    }.items()
    for name in names.split()
}
"""Where each name is imported from."""

_MODULES = ("algorithms", "dataflow", "queries", "samples")

__all__ = [
    "And",
    "CatalogGraph",
    "Changes",
    "Collection",
    "Columns",
    "Count",
    "DamagedError",
    "Dataflow",
    "Datalog",
    "DatalogProof",
    "DatalogQuery",
    "Date",
    "Delta",
    "DifferenceError",
    "ExistsError",
    "Follower",
    "FullDiskError",
    "Global",
    "Graph",
    "GraphRun",
    "GraphtideError",
    "InputError",
    "LanguageError",
    "LimitError",
    "Live",
    "LiveGraph",
    "LockedError",
    "Matches",
    "Max",
    "MemoryCollection",
    "MemoryView",
    "Min",
    "NotFoundError",
    "Or",
    "Pairs",
    "Product",
    "Program",
    "Property",
    "Route",
    "RowCounts",
    "Run",
    "Session",
    "SetupError",
    "State",
    "Step",
    "StoreError",
    "Sum",
    "Table",
    "Timestamp",
    "Undo",
    "UnseenVertexWarning",
    "UnusableError",
    "UnusedOptionWarning",
    "Vertex",
    "VertexProperty",
    "Vertices",
    "View",
    "__version__",
    "algorithms",
    "cross",
    "dataflow",
    "datalog",
    "distinct",
    "expanding",
    "inf",
    "live",
    "nga",
    "program",
    "queries",
    "read_csv",
    "read_parquet",
    "samples",
    "session",
    "sliding",
    "tumbling",
    "without",
    "without_each",
    "without_each_value",
]


_GRAPHS = "gt.read_csv(path), gt.Graph(src, dst), or gt.Graph.from_frame(frame, src=..., dst=...)"

_ELSEWHERE = {
    **dict.fromkeys(
        ("load", "loadgraph", "opengraph", "open"),
        "gt.read_csv(path) in memory, or gt.session(folder).load(name, edges=path)",
    ),
    **dict.fromkeys(("readedgelist", "readlines", "readtable", "fromcsv"), "gt.read_csv(path)"),
    **dict.fromkeys(
        ("readgraphml", "readgml", "readgexf", "readjson"),
        "gt.Graph.from_networkx(graph), of the graph that NetworkX reads",
    ),
    **dict.fromkeys(
        ("digraph", "multigraph", "multidigraph", "graphframe", "fromedges", "fromedgelist"),
        _GRAPHS,
    ),
    **dict.fromkeys(("connect", "init", "catalog", "context", "database"), "gt.session(folder)"),
    **{
        plain: f"gt.Graph.{plain[:4]}_{plain[4:]}(...)"
        for plain in ("frompandas", "frompolars", "fromarrow", "fromframe", "fromnetworkx")
    },
    "frompandasedgelist": "gt.Graph.from_pandas(frame, src=..., dst=...)",
    "windows": "gt.tumbling, gt.sliding or gt.expanding(PROPERTY, width=...)",
    "table": "what runs and graphs return prints as a table, and has to_pandas()",
}
"""What people try on the module, without underscores and capitals, and what to write."""


def _missing(name: str) -> AttributeError:
    from graphtide.model.elsewhere import ALGORITHMS, plain_name

    told = f"module 'graphtide' has no attribute '{name}'"
    plain = plain_name(name)
    where = None if name.startswith("_") else _ELSEWHERE.get(plain)
    if where is None and not name.startswith("_"):
        algorithms = import_module("graphtide.algorithms")
        same = {plain_name(item): item for item in algorithms.__all__}
        program = f"{same[plain]}(...)" if plain in same else ALGORITHMS.get(plain)
        where = None if program is None else f"graph.run(gt.algorithms.{program})"
    return AttributeError(told if where is None else f"{told}; try: {where}", name=name)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"graphtide.{name}")
    if name not in _HOMES:
        raise _missing(name)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
