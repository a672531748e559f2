"""What can be given to an append, in which forms, and what is refused with which words."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.store.catalog import Catalog
from tests.changing import begin_graph, check_rows
from tests.graphs import write_graph

ROW = {"src": 1, "dst": 2, "year": 2000, "kind": "call"}
FORMS: dict[str, Any] = {
    "tuples": [(1, 2, 2000, "call")],
    "lists": [[1, 2, 2000, "call"]],
    "dicts": [ROW],
    "columns": {name: [value] for name, value in ROW.items()},
    "arrays": {"src": np.array([1]), "dst": np.array([2]), "year": [2000], "kind": ["call"]},
    "arrow": pa.Table.from_pylist([ROW]),
    "pandas": pd.DataFrame([ROW]),
    "floats": {"src": [1.0], "dst": [2.0], "year": [2000.0], "kind": ["call"]},
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_may_be_given_in_any_form(tmp_path: Path, form: str) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=4)
    graph.append(FORMS[form])
    known.append([ROW])
    check_rows(graph, known)
    graph.append(delete=FORMS[form])
    known.append(delete=[ROW])
    check_rows(graph, known)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "there is nothing to append"),
    "an unknown property": ({"edges": [{**ROW, "yaer": 1}]}, "has no property 'yaer'"),
    "another type": ({"edges": [{**ROW, "year": "two"}]}, "'year' holds values of type int"),
    "a fraction": ({"edges": [{**ROW, "year": 2.5}]}, "'year' holds values of type int"),
    "a row too short": ({"edges": [(1,)]}, "there are rows that are none"),
    "a missing end": ({"edges": [(1, None)]}, "1 bad row, nothing was appended: 1 × missing dst"),
    "an unknown end": ({"edges": [(1, 99)]}, "1 × unknown dst"),
    "a vertex twice": ({"vertices": [(1, "Oslo"), (1, "Rome")]}, "1 × duplicate vertex"),
    "no such edge": ({"delete": [(1, 2, 1900)]}, "a row of delete names edges that are not there"),
    "an edge twice": ({"delete": [(7, 7), (7, 7)]}, "a row of delete names edges"),
    "an update of nothing": ({"update": [(7, 7)]}, "update gives no new value"),
    "an unclear update": ({"update": [(8, 8, 1)]}, "names 2 parallel edges"),
    "an update twice": ({"update": [(7, 7, 1), (7, 7, 2)]}, "another row updates"),
    "match of nothing": (
        {"update": [(7, 7, 1)], "match": ["kind"]},
        "match names 'kind', which the rows of update do not give",
    ),
    "edge numbers": ({"delete": [3]}, "there are rows that are none"),
    "an unknown option": ({"edges": [ROW], "seperator": ","}, "no option 'seperator'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_and_changes_nothing(tmp_path: Path, case: str) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=0)
    rows = [(7, 7, 2000, "call"), (8, 8, 1, "call"), (8, 8, 1, "call")]
    graph.append(rows)
    known.append([dict(zip(ROW, row, strict=True)) for row in rows])
    change, words = REFUSED[case]
    with pytest.raises(InputError) as told:
        graph.append(**change)
    assert words in str(told.value)
    check_rows(gt.session(tmp_path, progress=False).graph("g"), known)
    folder = tmp_path / "graphs" / "g"
    assert not list(folder.glob("*.partial"))


def test_bad_rows_can_be_set_aside(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=2)
    graph.append([(1, None), (1, 2, 2000, "call"), (1, 99)], on_bad_rows="quarantine")
    known.append([ROW])
    check_rows(graph, known)
    aside = graph.quarantine()
    assert aside.column("line").to_pylist() == [1, 3]
    assert aside.column("reason").to_pylist() == ["missing dst", "unknown dst"]
    graph.append([(2, None)], on_bad_rows="quarantine")
    assert graph.quarantine().num_rows == 3
    graph.merge()
    assert graph.quarantine().num_rows == 3


def test_labels_tell_ids_apart(tmp_path: Path) -> None:
    schema = GraphSchema(
        PropertyType.STRING,
        vertex=(Property("since", PropertyType.DATE),),
        vertex_labels=("Person", "Place"),
        edge_labels=("knows",),
    )
    vertices = [
        {"id": "a", "label": "Person", "since": dt.date(2020, 1, 1)},
        {"id": "a", "label": "Place", "since": None},
        {"id": "b", "label": "Place", "since": None},
    ]
    write_graph(Catalog(tmp_path), "g", schema, vertices, [{"src": 0, "dst": 0, "label": "knows"}])
    graph = gt.session(tmp_path, progress=False).graph("g")
    with pytest.raises(InputError, match="several labels have the vertex 'a'"):
        graph.append([("a", "b")])
    graph.append(
        {("Person", "lives", "Place"): [("a", "b")]},
        vertices={"Person": [("c", dt.date(2021, 1, 1)), ("a", dt.date(2022, 2, 2))]},
    )
    assert graph.schema.edge_labels == ("knows", "lives")
    assert graph.edges().to_pylist()[1] == {
        "src": "a",
        "dst": "b",
        "src_label": "Person",
        "dst_label": "Place",
        "label": "lives",
    }
    assert graph.vertices().column("since").to_pylist() == [
        *(dt.date(2022, 2, 2), None, None),
        dt.date(2021, 1, 1),
    ]
    graph.append(delete=graph.edges().slice(0, 1))
    assert graph.edges().column("label").to_pylist() == ["lives"]


def test_a_view_can_be_deleted(tmp_path: Path) -> None:
    from tests.changing import make_views

    graph, known = begin_graph(tmp_path, random.Random(3), edges=15)
    early = make_views(graph, "c")["early"]
    gone = early.to_arrow().to_pylist()
    assert gone
    graph.append(delete=early)
    known.append(delete=gone)
    check_rows(graph, known)
