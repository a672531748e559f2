"""What users do with folders that somebody else has changed, and which changes go with it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards.shard_files import OpenedShards, collection_identity
from graphtide.store.collection import graph_behind, open_collection
from graphtide.store.shards import open_shards
from tests.damage.small_store import readings
from tests.failures.hostile_changes import (
    change_manifest,
    change_names,
    change_numbers,
    change_pointer,
    change_records,
    change_spool,
    change_table,
    exchange_file,
    put_link,
)
from tests.failures.hostile_stores import FOLLOWING, PATHS, session_of

Change = Callable[[random.Random, Path], str]
Use = Callable[[Path], None]


def use_catalog(work: Path) -> None:
    """Read all that is stored, and take a copy in."""
    session = gt.session(work / "catalog", progress=False)
    for read in readings().values():
        with ours():
            read(session)
    with ours():
        session.check()
    with ours():
        session.execute("show graphs; delete run years-WCC;")


def use_copy(work: Path) -> None:
    """Take a copy in, and read it."""
    session = gt.session(work / "catalog", progress=False)
    with ours():
        session.execute(f"deserialize from '{work / 'copy'}';")
    with ours():
        session.graph("Calls").edges()


def use_live(work: Path) -> None:
    """Look at a live graph, and then write it."""
    for options in ({"readonly": True}, {}, {"trust": False}):
        with ours(), gt.live(work / "live", **options) as graph:
            for name in graph.registered():
                with ours():
                    live = graph.program(name)
                    if live.fields:
                        live.table()
                with ours():
                    list(graph.changes(name, 0))
            with ours():
                [query.table() for query in graph.queries.values()]
            with ours():
                graph.edges(), graph.vertices(), graph.explain()
            if not graph.readonly:
                with ours():
                    graph.advance(insert=[(1, 5, 1.0, "e")])
                with ours():
                    graph.deliver("hops", lambda *_: None, consumer="reader")
                with ours():
                    graph.checkpoint()


def use_followed(work: Path) -> None:
    """Go on with the stream where it was left."""
    with ours(), gt.live(work / "followed") as graph:
        with ours():
            graph.follow(work / "sink", on_error="set aside", **FOLLOWING).wait(30)  # type: ignore[arg-type]
        with ours():
            graph.edges(), graph.explain()
        with ours():
            graph.checkpoint()


def use_derived(work: Path) -> None:
    """Run on the lean graph and on the shards, and read the states of the graph."""
    with ours():
        session_of(work).graph("net").run(PATHS, lean=True, workers=1)
    with ours():
        session_of(work).graph("net").edges(), session_of(work).graph("net").vertices()
    with ours():
        session_of(work).graph("net").append({"src": [3], "dst": [4], "weight": [1.0]})
    with ours():
        session_of(work).collection("years").run(WCC, name="again", workers=1)
    with ours():
        _open_shards(work)
    with ours():
        session_of(work).check()


def _open_shards(work: Path) -> None:
    """What a task does with its shards before it meets others."""
    catalog = session_of(work).catalog
    stored = open_collection(catalog, "years")
    shards = open_shards(catalog, "years", collection_identity(stored))
    graph = graph_behind(catalog, stored)
    if shards is None or shards.vertices != graph.vertices:
        return
    compiled: Any = compiled_program(WCC, "exact")
    for task in range(2):
        opened = OpenedShards(shards, graph, compiled.needed, 2, task, len(stored.weights))
        local, _ = opened.local(compiled.bound.program)
        local.version(np.ones(len(stored.weights), np.bool_))
        local.ends()


refused: Counter[str] = Counter()


@contextmanager
def ours() -> Iterator[None]:
    """Errors of ours are what a hostile folder may end in; they are counted."""
    try:
        yield
    except gt.GraphtideError as error:
        refused[type(error).__name__] += 1


CASES: tuple[tuple[str, Change, Use, int], ...] = (
    ("live", change_records, use_live, 6),
    ("live", change_manifest, use_live, 4),
    ("live", change_names, use_live, 2),
    ("live", change_pointer, use_live, 1),
    ("live", put_link, use_live, 3),
    ("catalog", change_manifest, use_catalog, 4),
    ("catalog", change_names, use_catalog, 2),
    ("catalog", change_pointer, use_catalog, 1),
    ("catalog", put_link, use_catalog, 3),
    ("copy", change_names, use_copy, 2),
    ("copy", change_manifest, use_copy, 2),
    ("copy", put_link, use_copy, 2),
    ("copy", change_table, use_copy, 2),
    ("live", change_table, use_live, 2),
    ("live", exchange_file, use_live, 2),
    ("catalog", change_table, use_catalog, 5),
    ("catalog", exchange_file, use_catalog, 2),
    ("derived", change_numbers, use_derived, 5),
    ("derived", change_table, use_derived, 5),
    ("derived", change_manifest, use_derived, 3),
    ("derived", put_link, use_derived, 2),
    ("derived", exchange_file, use_derived, 2),
    ("followed", change_spool, use_followed, 3),
    ("followed", change_manifest, use_followed, 2),
    ("followed", put_link, use_followed, 2),
    ("followed", exchange_file, use_followed, 2),
)
