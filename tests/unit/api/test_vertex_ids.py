"""Ids come back as they were given, and no two vertices look the same."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.model.errors import InputError

LARGE = 2**63


def ids(graph: gt.Graph) -> list[Any]:
    found: list[Any] = graph.vertices()["id"].to_pylist()
    return found


FORMS: dict[str, Any] = {
    "numpy": lambda values: np.array(values, np.uint64),
    "arrow": lambda values: pa.array(values, pa.uint64()),
    "pandas": lambda values: pandas.Series(values, dtype="uint64"),
    "list": list,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_unsigned_ids_are_exact_and_in_order(form: Any) -> None:
    graph = gt.Graph(form([LARGE + 1, 2**64 - 1]), form([LARGE, 7]))
    assert graph.vertices()["id"].type == pa.uint64()
    assert ids(graph) == [7, LARGE, LARGE + 1, 2**64 - 1]
    assert [graph.number(item) for item in ids(graph)] == [0, 1, 2, 3]
    live = graph.maintain(gt.algorithms.BFS(source=LARGE + 1))
    assert live.at(LARGE) == {"hops": 1.0}
    assert graph.edges()["src"].to_pylist() == [LARGE + 1, 2**64 - 1]
    graph.advance(insert=[(LARGE, LARGE + 5)], delete=[(2**64 - 1, 7)])
    assert live.at(LARGE + 5) == {"hops": 2.0}
    assert ids(graph)[-1] == LARGE + 5
    live.verify()


def test_unsigned_ids_may_come_later() -> None:
    graph = gt.Graph([0, 1], [1, 2])
    graph.advance(insert=[(2, LARGE)])
    assert ids(graph) == [0, 1, 2, LARGE]
    assert graph.number(LARGE) == 3
    graph.rollback()
    graph.advance(insert=[(2, -1)])
    assert ids(graph) == [0, 1, 2, -1]
    with pytest.raises(InputError, match="below 0 and ids of 2"):
        graph.advance(insert=[(2, LARGE)])
    assert graph.version == 1
    with pytest.raises(InputError, match="below 0 and ids of 2"):
        gt.Graph([-1], [LARGE])


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
def test_numbers_beyond_64_bits_are_refused(number: int) -> None:
    with pytest.raises(InputError, match="cannot be ids") as refused:
        gt.Graph([1, number], [2, 3])
    assert "row 1" in str(refused.value)
    assert "as texts" in str(refused.value)
    assert ids(gt.Graph([str(number)], ["1"])) == [str(number), "1"]


class TestIntsAndFloats:
    def test_a_whole_float_is_that_number(self) -> None:
        assert ids(gt.Graph([1, 2], [2.0, 3.0])) == [1, 2, 3]
        assert ids(gt.Graph(np.array([1.0, 2.0]), pa.array([2.0, 3.0]))) == [1, 2, 3]
        graph = gt.Graph([1.0, 2.0], [2, 3], vertices=[3.0, 2.0, 1.0])
        graph.advance(insert=[(3, 1.0)])
        assert ids(graph) == [3, 2, 1]
        assert graph.number(2.0) == graph.number(2) == 1

    def test_fractions_are_ids_of_their_own(self) -> None:
        assert ids(gt.Graph([1, 2], [2.5, 3.0])) == [1.0, 2.5, 2.0, 3.0]

    def test_a_missing_one_is_refused_with_its_row(self) -> None:
        frame = pandas.DataFrame({"src": [1, 2, 3], "dst": [2, None, 4]})
        for make in (
            lambda: gt.Graph.from_frame(frame),
            lambda: gt.Graph(frame.src, frame.dst),
            lambda: gt.Graph([1, 2, 3], [2, None, 4]),
            lambda: gt.Graph([4], [4]).advance(insert=frame),
        ):
            with pytest.raises(InputError, match="cannot be ids") as refused:
                make()
            assert "row 1" in str(refused.value)
            assert "leave the row out" in str(refused.value)
            assert "string" not in str(refused.value)
        assert ids(gt.Graph.from_frame(frame.dropna())) == [1, 2, 3, 4]

    def test_floats_that_do_not_tell_ids_apart_are_refused(self) -> None:
        with pytest.raises(InputError, match="cannot be ids") as refused:
            gt.Graph([1.0, float(2**53)], [2.0, 3.0])
        assert "give ids as ints" in str(refused.value)


class TestLooks:
    @pytest.mark.parametrize("pair", [(1, "1"), ((1, 2), "(1, 2)"), (b"a", "b'a'"), (2.5, "2.5")])
    def test_ids_that_look_the_same_are_refused(self, pair: tuple[Any, Any]) -> None:
        with pytest.raises(InputError, match="look the same"):
            gt.Graph(list(pair), ["x", "y"])
        graph = gt.Graph([pair[0]], ["x"])
        with pytest.raises(InputError, match="look the same"):
            graph.advance(insert=[("x", pair[1])])
        assert (graph.version, graph.num_vertices) == (0, 2)
        other = gt.Graph([pair[1]], ["x"])
        with pytest.raises(InputError, match="look the same"):
            other.advance(insert=[("x", pair[0])])

    def test_ids_of_several_types_that_do_not_are_told_as_texts(self) -> None:
        graph = gt.Graph([1, "b"], [(2, 3), b"a"])
        assert ids(graph) == ["1", "(2, 3)", "b", "b'a'"]
        assert graph.number((2, 3)) == 1

    def test_truth_values_are_no_ids(self) -> None:
        for given in ([True, 1], np.array([True, False])):
            with pytest.raises(InputError, match="cannot be ids") as refused:
                gt.Graph(given, [2, 3])
            assert "Python takes True for 1" in str(refused.value)


class Tensor:
    """A scalar as tensors hand them out in a loop: it equals nothing but itself."""

    shape = ()

    def __init__(self, value: int) -> None:
        self.value = value

    def item(self) -> int:
        return self.value


@pytest.mark.parametrize(
    "given",
    [[1, 2, 3], ["a", "b", "c"], [b"a", b"b", b"c"], [date(2020, 1, day) for day in (1, 2, 3)]],
)
def test_scalars_of_arrow_are_the_values_that_they_hold(given: list[Any]) -> None:
    column = pa.array(given)
    rows = list(zip(column, [*column][1:], strict=False))
    for graph in (gt.Graph(given, given), gt.Graph(list(column), list(column))):
        live = graph.maintain(gt.algorithms.WCC)
        graph.advance(insert=rows)
        assert ids(graph) == given
        assert live["component"].tolist() == [given[0]] * 3
        assert graph.number(column[1]) == graph.number(given[1]) == 1
        assert live.at(column[2]) == {"component": given[0]}
        graph.advance(delete=rows)
        assert live["component"].tolist() == given


def test_scalars_of_tensors_are_the_numbers_that_they_hold() -> None:
    graph = gt.Graph([0, 1, 2], [0, 1, 2], w=[0.5, 0.5, 0.5])
    graph.advance(insert=[(Tensor(0), Tensor(1), Tensor(3)), (Tensor(1), 2, pa.scalar(1.5))])
    assert graph.num_vertices == 3
    assert graph.edges()["w"].to_pylist() == [0.5, 0.5, 0.5, 3.0, 1.5]
    assert graph.edges()["dst"].to_pylist() == [0, 1, 2, 1, 2]


MIXED: dict[str, tuple[list[Any], Any, list[Any]]] = {
    "numbers": ([1, 0.5], 2, [1.0, 0.5, 2.0]),
    "an int that no float is": ([2**53 + 1, 0.5], 2, ["9007199254740993", "0.5", "2"]),
    "a date and its midnight": (
        [date(2020, 1, 1), datetime(2020, 1, 1)],
        date(2021, 1, 1),
        ["2020-01-01", "2020-01-01 00:00:00", "2021-01-01"],
    ),
    "tuples alike": ([(1, 2), (3, 4)], (5, 6), [[1, 2], [3, 4], [5, 6]]),
    "tuples": ([(1, 2), ("a", 2)], (3, 4), ["(1, 2)", "('a', 2)", "(3, 4)"]),
    "a number and a tuple": ([1, (1, 2)], (3, 4), ["1", "(1, 2)", "(3, 4)"]),
    "bytes and a text": ([b"a", "b"], b"c", ["b'a'", "b", "b'c'"]),
}


@pytest.mark.parametrize("kind", MIXED)
def test_ids_of_several_types_look_the_same_in_every_table(kind: str) -> None:
    given, new, shown = MIXED[kind]
    for first in (given, given[:1]):
        graph = gt.Graph(first, first)
        live = graph.maintain(gt.algorithms.WCC)
        graph.advance(vertices=[item for item in given if item not in first])
        came = live.advance(insert=[(given[0], new)])
        assert ids(graph) == shown
        assert came["id"].to_pylist() == shown[2:]
        joined = live.advance(insert=[(given[0], given[1])])
        assert joined["id"].to_pylist() == shown[1:2]
        nothing = live.advance(insert=[(given[0], given[1])])
        types = {table.schema.field("id").type for table in (came, joined, nothing, live.table())}
        assert len(types) == 1


@pytest.mark.parametrize("twins", [(0.1, Decimal("0.1")), (1, "1"), ((1,), "(1,)")])
def test_ids_that_look_the_same_are_refused(twins: tuple[Any, Any]) -> None:
    graph = gt.Graph(twins[:1], twins[:1])
    with pytest.raises(InputError, match="two vertices that look the same"):
        graph.advance(vertices=twins[1:])
    with pytest.raises(InputError, match="two vertices that look the same"):
        gt.Graph(twins, twins)


def test_an_id_by_what_tables_show_of_it() -> None:
    graph = gt.Graph([("a", 1)], [("b", 2)])
    with pytest.raises(InputError, match=r"give \('a', 1\) itself, which tables show as a text"):
        graph.number("('a', 1)")
    with pytest.raises(InputError, match=r"ids are such as \('a', 1\), \('b', 2\)"):
        graph.number(("a", 2))
