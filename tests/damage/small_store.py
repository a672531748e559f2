"""A small catalog with one of everything, each written twice, and what can be asked of it.

Written without Spark. The older generations hold other data, so that a file of theirs in the place
of a newer one is well-formed and wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.api.session import Session
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.optimize import plan_collection
from graphtide.plan.collection import ViewMatrix
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.run.collection.facts import RunRequest, RunSettings
from graphtide.run.live.programs import compiled_program
from graphtide.store.catalog import Catalog
from graphtide.store.collection import EDGES, CollectionFacts, StoredView, write_collection
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph
from tests.graphs import Rows, write_graph

VERTICES, CALLS = 14, 24
SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("state", PropertyType.STRING),),
    edge=(Property("year", PropertyType.INT),),
)
Question = Callable[[Session], Any]


def write_store(root: Path) -> None:
    """Graph `Calls`, view `early`, collection `years` of four views, run `years-WCC` of it."""
    catalog = Catalog(root)
    for seed in (1, 2):
        rows = _calls(seed)
        people = [{"id": f"p{seed}-{at}", "state": "CA"} for at in range(VERTICES)]
        graph = write_graph(catalog, "Calls", SCHEMA, people, rows)
        _write_views(catalog, graph, rows, "early", {"early": 2001})
        upto = {f"upto-{year}": year for year in range(2000, 2004)}
        _write_views(catalog, graph, rows, "years", upto)
        _run(gt.session(root, progress=False))


def readings() -> dict[str, Question]:
    """Everything that reads and changes nothing, each giving something to compare."""
    return {
        "names": lambda s: (s.graphs(), s.views(), s.collections(), s.runs()),
        "vertices": lambda s: s.graph("Calls").vertices().to_pydict(),
        "edges": lambda s: s.graph("Calls").edges().to_pydict(),
        "head": lambda s: s.graph("Calls").head(3).to_pydict(),
        "schema": lambda s: repr(s.graph("Calls")),
        "view": lambda s: s.view("early").to_arrow().to_pydict(),
        "view of a collection": lambda s: s.collection("years")["upto-2002"].to_arrow().to_pydict(),
        "plan": lambda s: s.collection("years").explain(),
        "steps": lambda s: s.collection("years").to_arrow().to_pydict(),
        "summary": lambda s: s.results("years-WCC").summary().to_pydict(),
        "results": lambda s: s.results("years-WCC").to_arrow().to_pydict(),
        "history": lambda s: s.results("years-WCC").history("p2-3").to_pydict(),
        "changes": lambda s: s.results("years-WCC").changes("upto-2000", "upto-2003").to_pydict(),
    }


def workings() -> dict[str, Question]:
    """What takes longer: a run of everything, and pictures."""
    return {
        "run": lambda s: _values(s.collection("years").run(WCC, name="fresh", verify=1)),
        "resumed": lambda s: _values(_run(s, resume=True)),
        "picture": lambda s: repr(s.collection("years").picture()),
        "picture of a run": lambda s: repr(s.results("years-WCC").picture()),
        "drawn view": lambda s: repr(s.collection("years")["upto-2002"].draw()),
        "drawn view of a run": lambda s: repr(s.results("years-WCC").draw("upto-2002")),
    }


def listings() -> dict[str, str]:
    """Statements that list everything, by the first column of their answers."""
    return {what: f"show {what}s;" for what in ("graph", "view", "collection", "run")}


def _values(run: gt.Run) -> dict[str, Any]:
    return run.to_arrow().to_pydict()


def _calls(seed: int) -> Rows:
    pick = random.Random(seed)
    ends = [pick.sample(range(VERTICES), 2) for _ in range(CALLS)]
    return [{"src": a, "dst": b, "year": 2000 + at % 5} for at, (a, b) in enumerate(ends)]


def _write_views(
    catalog: Catalog, graph: StoredGraph, rows: Rows, name: str, upto: dict[str, int]
) -> None:
    held = np.array([[row["year"] <= last for last in upto.values()] for row in rows])
    used = np.flatnonzero(held.any(axis=1))
    matrix = ViewMatrix(held[used], np.ones(len(used), np.int64))
    kind: Any = "view" if len(upto) == 1 else "collection"
    facts = CollectionFacts(kind, "Calls", graph.identity, "true", f"create {name}", 0.1)
    sizes = zip(upto, matrix.sizes(), strict=True)
    stored = [StoredView(view, f"of {view}", int(size)) for view, size in sizes]
    classes = np.arange(len(used), dtype=np.int32)
    table = pa.table({"_edge": used.astype(np.int32), "_class": classes})
    with begin(catalog.collection_folder(name), replace=True, what=name) as commit:
        (commit.path / EDGES).mkdir()
        half = len(used) // 2
        for part, rows_of in enumerate((table.slice(0, half), table.slice(half))):
            pq.write_table(rows_of, commit.path / EDGES / f"part-{part:05d}.parquet")
        write_collection(commit, facts, stored, plan_collection(matrix), matrix.weights)


def _run(session: Session, *, resume: bool = False) -> gt.Run:
    """A part a step: there is something between the first and the last."""
    settings = RunSettings(keep_every=0.0)
    chosen = compiled_program(WCC, "auto")
    request = RunRequest("years-WCC", chosen, "scratch", resume, settings)
    stored = session.collection("years")._stored
    return gt.Run(run_collection(session, stored, request))
