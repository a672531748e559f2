"""Graphs with appends in the hands of others: copies, exports, and code that reads tables."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pyarrow.csv as pa_csv

import graphtide as gt
from graphtide.store.catalog import Catalog
from graphtide.store.export import copy_in, copy_out, save_graph
from tests.changing import begin_graph, check_rows, check_views, make_views, random_append

SOURCES = Path(gt.__file__).parent


def test_a_copy_has_all_states(tmp_path: Path) -> None:
    pick = random.Random(4)
    graph, known = begin_graph(tmp_path / "one", pick)
    collection = make_views(graph, "c", ["early", "calls"])
    change = random_append(pick, known)
    graph.append(**change)
    copy_out(Catalog(tmp_path / "one").graph_folder("g"), tmp_path / "copy" / "g")
    copy_out(Catalog(tmp_path / "one").collection_folder("c"), tmp_path / "copy" / "c")
    other = Catalog(tmp_path / "two")
    copy_in(other, tmp_path / "copy" / "g", "graph")
    copy_in(other, tmp_path / "copy" / "c", "collection")
    session = gt.session(tmp_path / "two", progress=False)
    check_views(session.collection("c"), known)
    known.append(**change)
    check_rows(session.graph("g"), known)
    copied = session.collection("c")
    assert (copied.stale, collection.stale) == (1, 1)
    copied.refresh()
    check_views(copied, known)
    # Two copies that go on by themselves do not take each other's states for their own.
    session.graph("g").append(known.edges[:1])
    graph.append(known.edges[-1:])
    states = [graph._stored.states, session.graph("g")._stored.states]
    assert states[0][-1].identity != states[1][-1].identity
    assert states[0][:-1] == states[1][:-1]


def test_an_export_is_of_the_state(tmp_path: Path) -> None:
    pick = random.Random(9)
    graph, known = begin_graph(tmp_path / "store", pick)
    change = random_append(pick, known)
    graph.append(**change)
    known.append(**change)
    save_graph(graph._stored, tmp_path / "out")
    edges = pa_csv.read_csv(tmp_path / "out" / "edges.csv").to_pylist()
    assert [(row["src"], row["dst"]) for row in edges] == [
        (row["src"], row["dst"]) for row in known.edges
    ]


def test_nobody_reads_the_tables_of_a_graph_past_its_states() -> None:
    """`store.merged` puts a state together; whoever reads parts of the base would miss appends."""
    direct = re.compile(r"(generation\.table|read_rows)\([^)]*\"(vertices|edges)\"")
    readers = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if direct.search(path.read_text(encoding="utf-8"))
    }
    assert readers == {"store/tables.py"}
