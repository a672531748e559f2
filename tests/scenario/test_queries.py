"""Queries as users meet them: asked, dropped, refused, rolled back, and beside programs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import BFS
from graphtide.model.errors import InputError, LanguageError, NotFoundError

Q = gt.queries


def airports() -> gt.Graph:
    return gt.Graph(
        ["LHR", "LHR", "DXB", "SIN", "DXB"],
        ["DXB", "SIN", "SYD", "SYD", "SIN"],
        km=[5500, 10900, 12000, 6300, 5800],
        airline=["EK", "SQ", "EK", "QF", "EK"],
    )


def test_queries_have_names_and_go() -> None:
    graph = airports()
    one = graph.query("one", Q.Hops("LHR", 1))
    graph.query("two", Q.Reach("SYD"))
    assert list(graph.queries) == ["one", "two"]
    assert graph.queries["one"].asked == Q.Hops("LHR", 1)
    graph.drop_query("one")
    assert list(graph.queries) == ["two"]
    assert "dropped" in repr(one)
    with pytest.raises(InputError, match="query 'one' was dropped"):
        one.table()
    again = graph.query("one", Q.Hops("LHR", 2))
    assert len(again) == 4
    with pytest.raises(InputError, match="was dropped"):
        one.changes()


@pytest.mark.parametrize(
    ("name", "asked", "error", "what"),
    [
        ("", Q.Reach("LHR"), InputError, "cannot be named"),
        ("there", Q.Reach("LHR"), InputError, "there is a query 'there' already"),
        ("new", "LHR", InputError, "is no query"),
        ("new", Q.Reach(None), InputError, "cannot be ids"),
        ("new", Q.Path("LHR", "SYD", weight="miles"), InputError, "no numbers 'miles'"),
        ("new", Q.Path("LHR", "SYD", weight="airline"), InputError, "no numbers 'airline'"),
        ("new", Q.Regular("EK", "LHR", label="line"), InputError, "no property 'line'"),
        ("new", Q.Regular("EK", "LHR", label="share"), InputError, "cannot be the label"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    name: str, asked: Any, error: type[Exception], what: str
) -> None:
    graph = airports()
    graph.query("there", Q.Reach("LHR"))
    if "share" in str(asked):
        graph = gt.Graph(["LHR"], ["SYD"], share=[0.5])
    with pytest.raises(error, match=what):
        graph.query(name, asked)
    assert "new" not in graph.queries


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Q.Path(1, 2, bound=-1), "bound cannot be -1"),
        (lambda: Q.Path(1, 2, bound=float("nan")), "bound cannot be nan"),
        (lambda: Q.Path(1, 2, weight=3), "weight cannot be 3"),
        (lambda: Q.Path(1, 2, direction="up"), "the direction cannot be 'up'"),
        (lambda: Q.Paths([]), "there are no pairs"),
        (lambda: Q.Paths("ab"), "pairs cannot be 'ab'"),
        (lambda: Q.Paths([(1, 2, 3)]), "is no pair"),
        (lambda: Q.Hops(1, -1), "k cannot be -1"),
        (lambda: Q.Hops(1, 1.5), "k cannot be 1.5"),
        (lambda: Q.Regular("a", 1, label=None), "the path names labels"),
    ],
)
def test_what_makes_no_query_is_refused(make: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        make()


def test_a_path_that_cannot_be_read_is_refused_where_it_is_written() -> None:
    with pytest.raises(LanguageError, match="the text ends too early"):
        Q.Regular("a/", 1)


def test_unknown_queries_are_told_with_their_like() -> None:
    graph = airports()
    graph.query("to Sydney", Q.Path("LHR", "SYD"))
    with pytest.raises(NotFoundError, match="there is no query 'to Sidney'") as caught:
        graph.drop_query("to Sidney")
    assert "did you mean 'to Sydney'?" in str(caught.value)


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_costs_that_cannot_be_are_refused_and_nothing_changes(bad: float) -> None:
    graph = gt.Graph([1, 2], [2, 3], cost=[1.0, 2.0])
    path = graph.query("path", Q.Path(1, 3, weight="cost"))
    with pytest.raises(InputError, match="negative or missing"):
        graph.advance(insert=[(1, 3, bad)])
    assert (path.value, graph.version) == (3.0, 0)
    graph.drop_query("path")
    graph.advance(insert=[(1, 3, bad)])
    with pytest.raises(InputError, match="negative or missing"):
        graph.query("path", Q.Path(1, 3, weight="cost"))


def test_labels_can_be_numbers_and_new_ones_may_come() -> None:
    graph = gt.Graph([1, 2], [2, 3], kind=[7, 8])
    found = graph.query("found", Q.Regular("7/(8|9)", 1, label="kind"))
    assert found.table().to_pydict() == {"id": [3], "hops": [2]}
    graph.advance(insert=[(2, 4, 9), (2, 5, 10)])
    assert found.changes().to_pydict() == {"id": [4], "old": [None], "new": [2]}
    graph.rollback()
    graph.advance(insert=[(2, 4, 10)])
    assert found.table().to_pydict() == {"id": [3], "hops": [2]}
    found.verify()


def test_a_property_with_missing_numbers_is_told_once() -> None:
    graph = gt.Graph([1, 2], [2, 3], code=[7, None])
    with pytest.raises(gt.GraphtideError, match=r"they have: code$"):
        graph.query("q", gt.queries.Regular("7", 1, label="zzz"))


def test_paths_tell_a_row_for_every_pair_in_their_order() -> None:
    graph = airports()
    pairs = [("DXB", "SYD"), ("LHR", "SYD"), ("SYD", "LHR"), ("LHR", "LHR"), ("LHR", "SYD")]
    paths = graph.query("paths", Q.Paths(pairs, weight="km", bound=17_300))
    assert paths.table().to_pydict() == {
        "source": ["DXB", "LHR", "SYD", "LHR"],
        "target": ["SYD", "SYD", "LHR", "LHR"],
        "distance": [12_000.0, 17_200.0, None, 0.0],
        "path": [["DXB", "SYD"], ["LHR", "SIN", "SYD"], None, ["LHR"]],
    }
    assert paths.path("SYD", "DXB") == ["DXB", "SYD"]
    assert len(paths) == 4
    with pytest.raises(InputError, match="which path"):
        paths.path()
    with pytest.raises(InputError, match="which path"):
        paths.path("SYD")
    with pytest.raises(InputError, match="does not start at 'SIN'"):
        paths.path("SYD", "SIN")
    with pytest.raises(InputError, match="has no single value"):
        paths.value  # noqa: B018
    graph.advance(delete=[("SIN", "SYD")])
    assert paths.changes().to_pydict() == {
        "source": ["LHR"],
        "target": ["SYD"],
        "old": [17_200.0],
        "new": [None],
    }


def test_reach_says_whether() -> None:
    graph = airports()
    there = graph.query("there", Q.Reach("LHR", "SYD"))
    back = graph.query("back", Q.Reach("SYD", "LHR"))
    assert (there.value, back.value) == (True, False)
    graph.advance(insert=[("SYD", "LHR", 17_000, "QF")])
    assert list(graph.query_changes()) == ["back"]
    assert back.changes().to_pydict() == {
        "source": ["SYD"],
        "target": ["LHR"],
        "old": [False],
        "new": [True],
    }


def test_a_query_waits_for_a_vertex_that_is_not_there_yet() -> None:
    graph = airports()
    with pytest.warns(gt.UnseenVertexWarning, match=r"query 'trip': not in the graph yet: 'AKL'"):
        trip = graph.query("trip", Q.Path("LHR", "AKL", weight="km"))
    assert (trip.value, trip.path(), trip.absent) == (None, None, ["AKL"])
    assert trip.table().to_pylist() == [
        {"source": "LHR", "target": "AKL", "distance": None, "path": None}
    ]
    assert repr(trip).endswith("; not in the graph yet: 'AKL'>")
    assert "not in the graph yet: 'AKL'; until it comes, the answer is none" in trip.explain()
    trip.verify()
    graph.advance(insert=[("SYD", "PER", 3300, "QF")])
    assert (trip.value, len(trip.changes())) == (None, 0)
    for _ in range(2):
        graph.advance(insert=[("SYD", "AKL", 2200, "NZ")])
        assert trip.path() == ["LHR", "SIN", "SYD", "AKL"]
        (change,) = graph.query_changes()["trip"].to_pylist()
        assert change == {"source": "LHR", "target": "AKL", "old": None, "new": trip.value}
        assert trip.absent == []
        trip.verify()
        graph.rollback()
        assert (trip.value, trip.absent, graph.query_changes()) == (None, ["AKL"], {})
    graph.advance(vertices=["AKL"])
    assert (trip.value, trip.absent) == (None, [])


def test_a_misspelled_vertex_is_told_where_it_is_written() -> None:
    told = r"'SYDD'.*\(did you mean 'SYD'\?\)"
    with pytest.warns(gt.UnseenVertexWarning, match=told) as warned:
        airports().query("trip", Q.Paths([("LHR", "SYD"), ("LHR", "SYDD")]))
    assert warned[0].filename == __file__


def test_a_query_of_a_vertex_that_is_rolled_back_waits_for_it() -> None:
    graph = airports()
    graph.advance(insert=[("SYD", "AKL", 2200, "NZ")])
    trip = graph.query("to Auckland", Q.Path("LHR", "AKL"))
    assert trip.value == 3
    graph.rollback()
    assert (graph.version, trip.value, trip.absent) == (0, None, ["AKL"])


def test_queries_go_beside_programs_and_a_failed_advance_leaves_both() -> None:
    graph = airports()
    live = graph.maintain(BFS(source="LHR"))
    near = graph.query("near", Q.Hops("LHR", 1))
    with pytest.raises(InputError):
        graph.advance(insert=[("LHR", "SYD", 17_000, "QF")], delete=[("SYD", "SYD")])
    assert len(near) == 3
    changes = live.advance(insert=[("LHR", "SYD", 17_000, "QF")])
    assert len(changes) == 1
    assert near.changes().to_pydict() == {"id": ["SYD"], "old": [None], "new": [1]}
    live.rollback()
    assert len(near) == 3
    near.verify()


def test_queries_stay_with_their_graph() -> None:
    graph = airports()
    query = graph.query("near", Q.Hops("LHR", 1))
    assert copy.deepcopy(graph).queries == {}
    with pytest.raises(InputError, match="stay in their process"):
        pickle.dumps(query)


def test_forgetting_leaves_answers() -> None:
    graph = airports()
    near = graph.query("near", Q.Hops("LHR", 1))
    graph.advance(delete=[("LHR", "SIN")])
    graph.forget()
    assert len(near) == 2
    graph.advance(insert=[("LHR", "SYD", 17_000, "QF")])
    graph.rollback()
    assert len(near) == 2
    near.verify()


def test_verify_notices_what_is_wrong() -> None:
    graph = airports()
    near = graph.query("near", Q.Hops("LHR", 2))
    rows = near._kept.engine.states.fixpoints.rows
    rows.view.small[: int(rows.view.top[0])] += 1
    with pytest.raises(AssertionError, match="by definition"):
        near.verify()


def test_explain_tells_states_and_bytes() -> None:
    graph = airports()
    text = graph.query("lines", Q.Regular("EK/QF*", "LHR", label="airline")).explain()
    assert "walks of EK/QF* from one start" in text
    assert "automaton: 2 states" in text
    assert "bytes" in text


def test_histories_keep_what_they_are_told_and_have_no_budget() -> None:
    by_histories = gt.queries.Histories()
    with pytest.raises(InputError, match="have no budget"):
        gt.Graph([1], [2], queries=by_histories, budget="1 GB")
    graph = gt.Graph([1], [2], queries=by_histories)
    graph.query("far", gt.queries.Path(1, 2))
    assert graph.explain().startswith("1 query, kept by histories, join on demand\n")
    with pytest.raises(InputError, match="have no budget"):
        graph.set_budget("1 GB")


@pytest.mark.parametrize(
    ("path", "label", "told"),
    [
        ("a", "number", "'number' are whole numbers, and 'a' is a text"),
        ("1/!('2')", "number", "'number' are whole numbers, and '2' is a text"),
        ("7", "kind", "'kind' are texts, and 7 is a number"),
    ],
)
def test_labels_that_no_edge_can_ever_have_are_refused(path: str, label: str, told: str) -> None:
    graph = gt.Graph([1, 2], [2, 3], number=[1, 2], kind=["a", "7"])
    with pytest.raises(InputError, match=told):
        graph.query("walks", gt.queries.Regular(path, 1, label=label))
    assert not graph.queries
    found = graph.query("walks", gt.queries.Regular("a/'7'", 1, label="kind"))
    assert found.table().to_pylist() == [{"id": 3, "hops": 2}]


def test_ends_of_pairs_that_cannot_be_ids_are_refused() -> None:
    with pytest.raises(InputError, match=r"\[1\] cannot be the id of a vertex"):
        gt.queries.Paths([([1], 2)])
