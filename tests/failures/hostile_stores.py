"""Stores with one of everything, of which the campaign of hostile folders takes copies."""

from __future__ import annotations

import pickle
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

import graphtide as gt
from graphtide.algorithms import BFS, ShortestPaths
from graphtide.api.session import Session
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.shards import shard_files
from graphtide.run.streams.taker import StreamTaker
from graphtide.store.collection import graph_behind, open_collection
from graphtide.store.shards import write_shards
from graphtide.store.tables import edge_table_rows
from tests.damage.small_store import VERTICES, write_store
from tests.graphs import write_graph
from tests.live.sinks import PlainSink

SHARDS, LIMIT = 3, 4
FOLLOWING = {"trigger": "available now", "operation": "op", "match": ("kind",), "limit": LIMIT}
PATHS = ShortestPaths(source=0)
NET = GraphSchema(
    id_type=PropertyType.INT, vertex=(), edge=(Property("weight", PropertyType.FLOAT),)
)

ROWS = {"src": [0, 1, 0, 2], "dst": [1, 2, 1, 0], "weight": [1.0, 2.0, 1.0, 0.5]}
KINDS = {"kind": ["b", "c", "b", "a"]}


def write_stores(root: Path) -> None:
    """A catalog with one of everything, a live graph with one of every program, and a copy.

    And what follows from a catalog, and a live graph that a stream has left within a batch.
    """
    catalog = root / "catalog"
    write_store(catalog)
    write_derived(root / "derived")
    write_followed(root / "followed", root / "sink")
    gt.live(root / "other", gt.Graph.from_frame(pa.table(ROWS | KINDS))).close()
    live = gt.live(root / "live", gt.Graph.from_frame(pa.table(ROWS | KINDS)))
    for name, program in programs().items():
        live.register(name, program)
    for name, query in queries().items():
        live.query(name, query)
    live.deliver("hops", lambda *_: None, consumer="reader")
    live.set_landmarks(2)
    live.advance(insert=[(3, 1, 1.0, "d")])
    live.checkpoint()
    live.advance(insert=[(3, 4, 1.5, "d")], delete=[(0, 1)], id="second")
    live.close()
    gt.session(catalog, progress=False).execute(f"use graph Calls; serialize to '{root / 'copy'}';")


def write_derived(root: Path) -> None:
    """A graph of several states with a lean graph, and a collection with its shards."""
    write_store(root)
    session = gt.session(root, progress=False)
    rows = [{"src": at % 7, "dst": at * at % 9, "weight": float(at)} for at in range(30)]
    write_graph(session.catalog, "net", NET, [{"id": at} for at in range(9)], rows)
    net = session.graph("net")
    net.append(pa.table({"src": [1, 8], "dst": [7, 2], "weight": [1.0, 2.0]}))
    net.append(delete=pa.table({"src": [1], "dst": [1]}))
    session.graph("net").run(PATHS, lean=True, workers=1)
    stored = open_collection(session.catalog, "years")
    ends = edge_table_rows(graph_behind(session.catalog, stored), None, ["_src", "_dst", "year"])
    table = stored.edge_classes().rename_columns(["_edge", "_class"])
    ends = ends.take(table.column("_edge"))

    def fill(folder: Path) -> dict[str, Any]:
        files: dict[str, Any] = {}
        for way, own, other in (("into", "_dst", "_src"), ("out", "_src", "_dst")):
            number = ends.column(own).to_numpy()
            columns = {"_shard": number % SHARDS, "_place": number // SHARDS}
            columns |= {"_end": ends.column(other), "year": ends.column("year")}
            rows = pa.table(
                {**dict(zip(table.column_names, table.columns, strict=True)), **columns}
            )
            rows = rows.sort_by([(name, "ascending") for name in ("_shard", "_place", "_end")])
            order = pickle.dumps(shard_files._Order(folder, way, VERTICES, SHARDS))
            files |= dict(
                map(pickle.loads, shard_files.write_files(order, iter(rows.to_batches())))
            )
        return files

    identity = shard_files.collection_identity(stored)
    write_shards(session.catalog, "years", identity, (SHARDS, VERTICES), fill)


def write_followed(folder: Path, sink: Path) -> None:
    """A live graph whose stream ended within a batch, with rows set aside and a part to come."""
    live = gt.live(folder, gt.Graph.from_frame(pa.table(ROWS | KINDS)))
    stream = PlainSink(sink)
    count, words = 12, ["insert"] * 9 + ["delete", "none", "update"]
    columns: dict[str, Any] = {"src": [*range(count)], "dst": [1] * count, "op": words}
    stream.commit(pa.table({**columns, "weight": [1.0] * count, "kind": ["b"] * count}))
    plain = StreamTaker._advance

    def failing(self: StreamTaker, part: Any, position: Any) -> Any:
        if part.number == 1:
            raise gt.StoreError("it ends here")
        return plain(self, part, position)

    with mock.patch.object(StreamTaker, "_advance", failing), suppress(gt.StoreError):
        live.follow(sink, on_error="set aside", **FOLLOWING).wait(60)
    live.close()
    assert list((folder / "streams").rglob("*.arrow"))


def session_of(work: Path) -> Session:
    """The catalog of what is derived."""
    return gt.session(work / "derived", progress=False)


def programs() -> dict[str, Any]:
    """One of each kind that a live graph stores."""
    rules = ".decl edge(u: vertex, v: vertex)\n.decl two(u: vertex, v: vertex)\n.output two\n"
    (root := Path(tempfile.mkdtemp()) / "flows.dl").write_text(
        rules + "two(a, c) :- edge(a, b), edge(b, c).\n"
    )
    from graphtide.lang.python.program_files import programs_of

    (two,) = programs_of(root).values()
    return {"hops": BFS(source=0), "own": Own(least=0.5), "reach": Heavy, "two": two, "into": Into}


@gt.program
class Own:
    """Is stored as a text of Python: names change in it."""

    least: float
    n: int
    found = gt.Sum(int)

    def traverse(self, u, e, v):
        if e["weight"] >= self.least:
            v.found(1)

    def update(self, v):
        old = v.n
        v.n = v.found
        v.n = v.n + old - old


@gt.program
class Heavy:
    """Is stored as a text of L_NGA."""

    dist = gt.State(float, default=0.0)
    best = gt.Max(float)

    def traverse(self, u, e, v):
        v.best(e.weight)

    def update(self, v):
        v.dist = max(v.best, 0.0)


@gt.dataflow.program("into", int, missing=0)
def Into(edges: Any) -> Any:
    """Is stored by its name."""
    return edges.count(by="dst")


def queries() -> dict[str, Any]:
    """One of each kind."""
    q = gt.queries
    return {
        "path": q.Path(0, 2),
        "paths": q.Paths([(0, 2), (1, 2)]),
        "hops2": q.Hops(0, 2),
        "far": q.Reach(0),
    }
