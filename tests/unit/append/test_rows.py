"""What can be given to an append, in which forms, and what is refused with which words."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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
    "a row too short": ({"edges": [(1,)]}, "there are rows that are no edges"),
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
    "edge numbers": ({"delete": [3]}, "there are rows that are no edges"),
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


def test_an_append_counts_what_it_has_done(tmp_path: Path) -> None:
    graph, _ = begin_graph(tmp_path, random.Random(1), edges=0)
    first = graph.append([(1, 2, 2000, "call"), (1, 2, 2001, "mail")])
    assert (first.taken, first.changed, first.deleted, first.set_aside) == (2, 0, 0, 0)
    assert str(first) == "2 edges taken"
    done = graph.append(
        [(1, 3), (1, None), (99, 1)],
        delete=[(1, 2, 2000)],
        vertices=[(40, "Oslo"), (1, "Rome")],
        update=[(1, 2, 2001, "call")],
        match=["year"],
        on_bad_rows="quarantine",
    )
    assert (done.taken, done.vertices, done.changed, done.deleted) == (1, 1, 2, 1)
    assert done.set_aside == 2
    assert str(done) == (
        "1 edge taken, 1 new vertex, 2 rows changed, 1 edge deleted, 2 bad rows set aside"
    )
    later = graph.append([(None, 1)], on_bad_rows="quarantine")
    graph.merge()
    assert done.quarantine().column("reason").to_pylist() == ["missing dst", "unknown src"]
    assert later.quarantine().column("reason").to_pylist() == ["missing src"]
    assert [pq.read_table(file).num_rows for file in done.files] == [2]
    assert first.quarantine().num_rows == 0
    assert graph.loaded is None


def test_rows_set_aside_are_those_of_the_graph_that_was_loaded(tmp_path: Path) -> None:
    graph, _ = begin_graph(tmp_path, random.Random(1), edges=0)
    done = graph.append([(None, 1)], on_bad_rows="quarantine")
    graph._space.delete_graph("g")
    begin_graph(tmp_path, random.Random(1), edges=0)
    with pytest.raises(gt.GraphtideError, match="the graph 'g' was loaded anew"):
        done.quarantine()


def test_a_day_that_is_given_twice_is_taken_once(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=2)
    done = graph.append([ROW], id="2026-01-01")
    known.append([ROW])
    assert (done.taken, done.id, done.applied_before) == (1, "2026-01-01", False)
    again = gt.session(tmp_path, progress=False).graph("g")
    twice = again.append([ROW], id="2026-01-01")
    assert (twice.taken, twice.applied_before) == (0, True)
    assert "the batch '2026-01-01' was applied to 'g' before" in str(twice)
    check_rows(again, known)
    again.append([ROW], id=("days", 7))
    assert again.append([ROW], id=("days", 6)).applied_before
    with pytest.raises(InputError, match="follows the batch 7"):
        again.append([ROW], id=("days", 9))
    with pytest.raises(InputError, match="cannot be the id of a batch"):
        again.append([ROW], id=7)
    for column in ("src", "id", "year", "city"):
        with pytest.raises(InputError, match="is the name of a column"):
            again.append([ROW], id=column)
    known.append([ROW])
    assert not again.append([], id="nothing").applied_before
    assert again.append([], id="nothing").applied_before
    again.merge(renumber=True)
    assert again.append([ROW], id="2026-01-01").applied_before
    check_rows(again, known)


def test_a_crash_behind_an_append_takes_its_batch_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=2)

    def crash(*given: Any) -> None:
        raise KeyboardInterrupt

    for place, taken in (("resolve", 0), ("merge_if_due", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"graphtide.run.append.append.{place}", crash)
            with pytest.raises(KeyboardInterrupt):
                graph.append([ROW], id=place)
        graph = gt.session(tmp_path, progress=False).graph("g")
        assert graph.append([ROW], id=place).applied_before == bool(taken)
        known.append([ROW])
        check_rows(graph, known)


def test_a_graph_that_becomes_live_knows_its_batches(tmp_path: Path) -> None:
    schema = GraphSchema(PropertyType.INT)
    write_graph(Catalog(tmp_path), "g", schema, [{"id": 1}, {"id": 2}], [{"src": 0, "dst": 1}])
    session = gt.session(tmp_path, progress=False)
    session.graph("g").append([(2, 1)], id="monday")
    session.graph("g").append([(2, 2)], id=("days", 3))
    live = session.live("g")
    live.advance([(2, 1)], id="monday")
    live.advance([(2, 1)], id=("days", 3))
    assert live.num_edges == 3
    live.close()


def test_nearly_nothing_that_can_be_used_is_refused(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=2)
    day = [(1, 99)] * 537
    with pytest.raises(InputError) as told:
        graph.append(day, on_bad_rows="quarantine")
    text = str(told.value)
    assert "537 of 537 edge rows are bad, more than the tenth that may be set aside" in text
    assert "nothing was appended: 537 × unknown dst" in text
    assert "at_most='100%'" in text
    check_rows(graph, known)
    with pytest.raises(InputError, match="keep these aside with at_most='100%'"):
        graph.append(day)
    assert graph.append(day, at_most=537).set_aside == 537
    assert graph.append([(1, 2)] * 90 + day[:10], at_most="10%").set_aside == 10
    with pytest.raises(InputError, match=r"11 of 101 edge rows are bad, more than at_most=0\.1 "):
        graph.append([(1, 2)] * 90 + day[:11], at_most=0.1)
    with pytest.raises(InputError, match="bad rows are to be refused, and at_most"):
        graph.append([ROW], at_most=5, on_bad_rows="refuse")


@pytest.mark.parametrize("given", [-1, 1.5, True, "many", "200%", float("nan")])
def test_at_most_is_a_share_or_a_number(tmp_path: Path, given: Any) -> None:
    graph, _ = begin_graph(tmp_path, random.Random(1), edges=0)
    with pytest.raises(InputError, match=r"at_most cannot be .*"):
        graph.append([ROW], at_most=given)


def test_values_of_another_type_make_their_rows_bad(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(1), edges=0)
    years = pd.Series([2000, "two", None, 2001.5, 2002], dtype=object)
    frame = pd.DataFrame({"src": 1, "dst": 2, "year": years, "kind": "call"})
    with pytest.raises(InputError) as told:
        graph.append(frame)
    text = str(told.value)
    assert "2 bad rows, nothing was appended: 2 × 'year' is not of type int" in text
    assert "row 2: 'year' is not of type int: src=1, dst=2, year='two', kind='call'" in text
    done = graph.append(frame, on_bad_rows="quarantine")
    known.append([{**ROW, "year": year} for year in (2000, None, 2002)])
    check_rows(graph, known)
    assert done.quarantine().column("line").to_pylist() == [2, 4]
    assert graph.append([(1, 2), ("x", 3)], on_bad_rows="quarantine").set_aside == 1
    with pytest.raises(InputError, match="rows that delete or update edges cannot be used"):
        graph.append(delete=[(1, 2, 2000), (1, 2, "two")])


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
