"""Types of columns: dates, decimals, nulls and texts in order; what cannot be held is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.dataflow import (
    col,
    count,
    count_distinct,
    decimal,
    maximum,
    mean,
    minimum,
    total,
    where,
)
from graphtide.model.errors import InputError, LimitError
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow

DAY, MOMENT = datetime.date, datetime.datetime


def put(rows: Any, build: Any, **columns: Any) -> dict[Any, int]:
    """What a dataflow of one input comes to."""
    flow = Dataflow(memory=MEMORY)
    given = flow.input("given", **columns)
    output = build(given).output()
    given.insert(rows)
    flow.advance()
    found: dict[Any, int] = output.records()
    flow.host.end()
    return found


def test_values_come_back_as_they_went_in() -> None:
    columns = {"d": DAY, "t": MOMENT, "p": decimal(2), "n": int | None, "s": str | None}
    row = (DAY(1960, 2, 29), MOMENT(2024, 1, 1, 12, 30, 0, 7), Decimal("-0.05"), None, "x")
    other = (DAY(9999, 12, 31), MOMENT(1, 1, 1), 3, -5, None)
    assert put([row, other], lambda given: given, **columns) == {row: 1, other: 1}


def test_floats_of_64_bits_are_ints_and_others_0() -> None:
    whole = [-(2.0**63), -9.21e18, -1.5, 0.0, 2.5, 9.21e18, 2.0**63 - 1024]
    beyond = [-(2.0**63) - 2048, 2.0**63, float("inf"), -float("inf"), float("nan")]
    rows = [(x,) for x in whole + beyond]
    found = put(rows, lambda given: given.map(n=col.f.as_int()), f=float)
    assert found == {(int(x),): 1 for x in whole if x != 0} | {(0,): 1 + len(beyond)}


def test_the_float_of_the_word_for_null_is_no_null() -> None:
    with pytest.raises(LimitError, match="64 bits"):
        put([(-(2.0**63),)], lambda given: given.map(n=col.f.as_int()), f=float | None)
    rows = [(None,), (-9.2e18,)]
    found = put(rows, lambda given: given.map(n=col.f.as_int()), f=float | None)
    assert found == {(None,): 1, (int(-9.2e18),): 1}


def test_a_sum_that_is_the_word_for_null_is_no_null() -> None:
    rows = [(Decimal("-92233720368547758.07"),), (Decimal("-0.01"),)]
    total_of: Any = lambda given: given.aggregate([], sum=total("p"))  # noqa: E731
    with pytest.raises(LimitError, match="64 bits"):
        put(rows, total_of, p=decimal(2) | None)
    assert put(rows, total_of, p=decimal(2)) == {(Decimal("-92233720368547758.08"),): 1}
    chosen: Any = lambda given: total_of(given).map(q=where(col.sum < 0, col.sum, None))  # noqa: E731
    with pytest.raises(LimitError, match="64 bits"):
        put(rows, chosen, p=decimal(2))
    assert put(rows[:1], chosen, p=decimal(2)) == {rows[0]: 1}


def test_what_is_put_for_nulls_counts_there_alone() -> None:
    def chosen(given: Any) -> Any:
        square = col.p * col.p
        return given.map(a=col.n.or_else(col.m), b=col.m.or_else(col.n), c=col.m.or_else(square))

    columns: dict[str, Any] = {"n": int, "m": int | None, "p": int | None}
    least = -(2**63)
    rows = [(least, 1, 2**62), (least, None, 3), (7, 2, None), (7, None, None)]
    found = [(least, 1, 1), (least, least, 9), (7, 2, 2), (7, 7, None)]
    assert put(rows, chosen, **columns) == dict.fromkeys(found, 1)
    with pytest.raises(LimitError, match="64 bits"):
        put([(0, None, 2**62)], chosen, **columns)


def test_columns_of_arrow_bring_their_nulls_and_decimals() -> None:
    table = pa.table(
        {
            "p": pa.array([Decimal("1.5"), None, Decimal("-2.25")], pa.decimal128(15, 2)),
            "d": pa.array([DAY(2020, 1, 1), DAY(1969, 12, 31), None], pa.date32()),
            "s": pa.array(["a", None, "b"]),
            "n": pa.chunked_array([[1], [None, 3]], pa.int32()),
        }
    )
    columns = {"p": decimal(3) | None, "d": DAY | None}
    found = put(table, lambda given: given, **columns, s=str | None, n=int | None)
    assert found == {
        (Decimal("1.500"), DAY(2020, 1, 1), "a", 1): 1,
        (None, DAY(1969, 12, 31), None, None): 1,
        (Decimal("-2.250"), None, "b", 3): 1,
    }


def test_diffs_that_wait_beside_columns_of_arrow_are_those_that_were_given() -> None:
    flow = Dataflow(memory=MEMORY)
    given = flow.input("given", n=int)
    found = given.output()
    diffs = np.array([2, 3])
    given.update(pa.table({"n": [7, 8]}), diffs)
    diffs[:] = 0
    flow.advance()
    assert found.records() == {(7,): 2, (8,): 3}


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        (decimal(2), Decimal("0.125"), "cannot hold"),
        (decimal(2), 0.5, "floats are not exact"),
        (decimal(18), 10, "cannot hold"),
        (DAY, MOMENT(2020, 1, 1), "cannot hold"),
        (MOMENT, MOMENT(2020, 1, 1, tzinfo=datetime.UTC), "time zone"),
        (int, None, "cannot hold"),
        (int | None, -(1 << 63), "may be null"),
        (int | str, 3, "cannot be of type"),
    ],
)
def test_what_a_column_cannot_hold_is_refused(kind: Any, value: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        put([(value,)], lambda given: given, a=kind)


def test_arrow_columns_with_nulls_are_refused_where_there_are_none() -> None:
    with pytest.raises(InputError, match="has nulls"):
        put({"a": pa.array([1, None])}, lambda given: given, a=int)


@pytest.mark.parametrize(
    "build",
    [
        lambda given: given.sum("a", by=()),
        lambda given: given.aggregate((), a=mean("a")),
        lambda given: given.map(a=col.a + col.a + Decimal("0.00")),
        lambda given: given.map(a=where(col.a == 3, None, col.a) * 3),
    ],
)
def test_a_number_that_does_not_fit_is_an_error(build: Any) -> None:
    large = [((1 << 62) + number,) for number in range(3)]
    with pytest.raises(LimitError, match="64 bits"):
        put(large, build, a=int)


def test_nothing_is_among_no_values() -> None:
    rows = [(1,), (None,)]
    assert put(rows, lambda given: given.filter(col.a.among()), a=int | None) == {}
    assert len(put(rows, lambda given: given.filter(~col.a.among()), a=int | None)) == 2


def test_days_that_python_does_not_have_are_told_by_their_numbers() -> None:
    later = put([(DAY(9999, 12, 31),)], lambda given: given.map(a=col.a + 1), a=DAY)
    assert later == {((DAY(9999, 12, 31) - DAY(1970, 1, 1)).days + 1,): 1}


def test_nulls_of_coarser_decimals_fit_among_finer_ones() -> None:
    """A null has no digits that could grow too many."""
    rows = [(1, None), (None, None), (2, Decimal("1.50")), (None, Decimal("0.25"))]
    found = put(
        rows,
        lambda given: given.map(
            chosen=where(col.a == 2, Decimal("1.2345"), col.b), first=col.a.or_else(col.b)
        ),
        a=int | None,
        b=decimal(2) | None,
    )
    assert found == {
        (None, Decimal("1.00")): 1,
        (None, None): 1,
        (Decimal("1.2345"), Decimal("2.00")): 1,
        (Decimal("0.2500"), Decimal("0.25")): 1,
    }


@pytest.mark.parametrize("kind", [int, float, decimal(2)])
def test_sums_over_nulls_are_what_their_definition_says(kind: Any) -> None:
    flow = Dataflow(memory=1 << 22, debug=True)
    given = flow.input("given", key=int, value=kind | None)
    output = given.aggregate("key", sum=total("value"), mean=mean("value")).output()
    given.insert([(1, None), (1, 3), (2, None)])
    flow.advance()
    given.remove([(1, None), (2, None)])
    given.insert([(3, None), (1, 5)])
    flow.advance()
    assert output.records() == {(1, 8, 4.0): 1, (3, None, None): 1}


@pytest.mark.parametrize("build", ["+", "-", "*"])
def test_the_last_number_that_fits_and_the_first_that_does_not(build: str) -> None:
    """Decimals at both ends of 64 bits, as compiled kernels compute them."""
    most = (1 << 63) - 1
    fitting = {
        "+": [(most - 5, 5), (5 - most, -5), (most, 0)],
        "-": [(most - 5, -5), (5 - most, 5), (-most, 0)],
        "*": [(3037000499, 3037000499), (-most, 1), (most // 7, 7), (most // 2, -2), (0, most)],
    }[build]
    beyond = {
        "+": [(most - 5, 6), (5 - most, -6), (most, most), (-most, -1)],
        "-": [(most - 5, -6), (5 - most, 6), (-most, most), (-most, 1)],
        "*": [
            (3036988439, 3037012561),
            (-3036988439, 3037012561),
            (most // 7 + 1, 7),
            (most, most),
        ],
    }[build]

    def made(pair: tuple[int, int]) -> dict[Any, int]:
        result = {"+": col.a + col.b, "-": col.a - col.b, "*": col.a * col.b}[build]
        return put([pair], lambda given: given.map(made=result), a=decimal(0), b=decimal(0))

    for one, other in fitting:
        wanted = {"+": one + other, "-": one - other, "*": one * other}[build]
        assert made((one, other)) == {(Decimal(wanted),): 1}
    for pair in beyond:
        with pytest.raises(LimitError, match="64 bits"):
            made(pair)


def test_a_sum_may_pass_beyond_64_bits_and_come_back() -> None:
    rows = [(1 << 62,), (1 << 62,), (-(1 << 62),), (-7,)]
    assert put(rows, lambda given: given.sum("a", by=()), a=int) == {((1 << 62) - 7,): 1}
    least = [(-(1 << 62),), (-(1 << 62),)]
    assert put(least, lambda given: given.sum("a", by=()), a=int) == {(-(1 << 63),): 1}


def test_what_is_filtered_out_or_not_chosen_is_no_fault() -> None:
    rows = [(Decimal(10) ** 15,), (Decimal(2),)]
    squares = put(rows, lambda given: given.filter(col.p < 100).map(q=col.p * col.p), p=decimal(2))
    assert squares == {(Decimal(4),): 1}
    chosen = where(col.p < 100, col.p * col.p, Decimal(0))
    found = put(rows, lambda given: given.map(q=chosen), p=decimal(2))
    assert found == {(Decimal(4),): 1, (Decimal(0),): 1}


def test_truths_of_three_values() -> None:
    """All pairs of true, false and unknown, as SQL has them."""
    values = (True, False, None)
    rows = [(one, other) for one in values for other in values]
    found = put(
        rows,
        lambda given: given.map(
            a=col.a, b=col.b, both=col.a & col.b, either=col.a | col.b, opposite=~col.a
        ),
        a=bool | None,
        b=bool | None,
    )
    for one, other in rows:
        both = False if False in (one, other) else None if None in (one, other) else True
        either = True if True in (one, other) else None if None in (one, other) else False
        assert (one, other, both, either, None if one is None else not one) in found


def test_nulls_join_nothing_and_are_a_group_of_their_own() -> None:
    flow = Dataflow(memory=MEMORY)
    left = flow.input("left", k=int | None, a=int)
    right = flow.input("right", k=int | None, b=int)
    joined = left.join(right, on="k").output()
    outer = left.left_join(right, on="k").output()
    without = left.antijoin(right, on="k").output()
    groups = left.count(by="k").output()
    left.insert([(None, 1), (None, 2), (3, 4)])
    right.insert([(None, 5), (3, 6)])
    flow.advance()
    assert joined.records() == {(3, 4, 6): 1}
    assert outer.records() == {(None, 1, None): 1, (None, 2, None): 1, (3, 4, 6): 1}
    assert without.records() == {(None, 1): 1, (None, 2): 1}
    assert groups.records() == {(None, 2): 1, (3, 1): 1}
    right.remove([(3, 6)])
    flow.advance()
    assert outer.records() == {(None, 1, None): 1, (None, 2, None): 1, (3, 4, None): 1}


def test_aggregates_of_nulls_alone() -> None:
    parts = {
        "rows": count(),
        "there": count("a"),
        "sum": total("a"),
        "mean": mean("a"),
        "least": minimum("a"),
        "most": maximum("a"),
        "different": count_distinct("a"),
    }
    rows = [(1, None), (1, None), (2, None), (2, 5), (2, 5)]
    found = put(rows, lambda g: g.aggregate("k", **parts), k=int, a=int | None)
    assert found == {(1, 2, 0, None, None, None, None, 0): 1, (2, 3, 2, 10, 5.0, 5, 5, 1): 1}


@pytest.mark.parametrize("parts", [{}, {"k": count()}, {"k": minimum("a")}, {"n": total("s")}])
def test_aggregates_that_cannot_be(parts: Any) -> None:
    given = Dataflow(memory=MEMORY).input("given", k=int, a=int, s=str)
    with pytest.raises(InputError):
        given.aggregate("k", **parts)


def test_a_condition_that_is_unknown_lets_nothing_pass() -> None:
    found = put([(None,), (1,), (2,)], lambda g: g.filter(~(col.a == 1)), a=int | None)
    assert found == {(2,): 1}


def test_texts_that_begin_alike_are_told_apart() -> None:
    """More than the first bytes has to decide, at both ends and for several records."""
    names = [f"the same beginning {number:03}" for number in range(40)]
    shuffled = [names[7 * number % 40] for number in range(40)]
    flow = Dataflow(memory=MEMORY)
    given = flow.input("given", s=str)
    ends = [
        given.min(by=()).output(),
        given.max(by=()).output(),
        given.first(3, by=()).output(),
        given.top(3, by=()).output(),
    ]
    left = sorted(names)
    given.insert([(name,) for name in shuffled])
    for gone in (names[0], names[39], names[1], "the same beginning 002"):
        given.remove([(gone,)])
        left.remove(gone)
        flow.advance()
        wanted = [left[:1], left[-1:], left[:3], left[-3:]]
        assert [sorted(end.records()) for end in ends] == [[(n,) for n in w] for w in wanted]


def test_patterns_of_like_are_texts_and_not_regular_expressions() -> None:
    rows = [("a.c",), ("abc",), ("a\nc",), ("a.cd",)]
    found = put(rows, lambda g: g.filter(col.s.like("a.c%")), s=str)
    assert found == {("a.c",): 1, ("a.cd",): 1}
    assert len(put(rows, lambda g: g.filter(col.s.like("a_c")), s=str)) == 3
    assert put(rows, lambda g: g.filter(col.s.matches("a.c")), s=str).keys() == {("a.c",), ("abc",)}


def test_functions_of_texts_are_called_once_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtide.engine.dataflow import python_operators

    calls: list[str] = []

    def upper(text: str) -> str:
        calls.append(text)
        return text.upper()

    monkeypatch.setitem(python_operators.FUNCTIONS, "upper", upper)
    flow = Dataflow(memory=MEMORY)
    given = flow.input("given", a=int, s=str)
    output = given.map(a=col.a, s=col.s.upper()).output()
    for start in (0, 1000):
        given.insert({"a": np.arange(start, start + 1000), "s": ["x", "y"] * 500})
        flow.advance()
    assert len(output.records()) == 2000
    assert sorted(calls) == ["x", "y"]


@pytest.mark.parametrize(
    "expression",
    [
        lambda: col.s + 1,
        lambda: col.d * 2,
        lambda: col.d + col.d,
        lambda: col.p // 2,
        lambda: col.a.year(),
        lambda: col.a.like("x"),
        lambda: col.p * col.p * col.p * col.p * col.p * col.p * col.p,
        lambda: None,
    ],
)
def test_expressions_without_a_meaning_are_refused(expression: Any) -> None:
    given = Dataflow(memory=MEMORY).input("given", s=str, d=DAY, p=decimal(3), a=int)
    with pytest.raises(InputError):
        given.map(made=expression())


@pytest.mark.parametrize("debug", [False, True])
def test_a_function_is_handed_texts_in_order_whichever_came_first(debug: bool) -> None:
    """Texts are kept by codes, which tell their age: no result may depend on that."""
    for texts in permutations(["b", "a", None, ""]):
        flow = Dataflow(memory=MEMORY, debug=debug)
        rows = flow.input("rows", k=int, x=str | None, n=int)
        listed = rows.reduce(
            lambda key, found: [(repr([record for record, _ in found]),)],
            by="k",
            types={"all": str},
        ).output()
        for number, text in enumerate(texts):
            rows.insert([(1, text, -number), (1, text, 7)])
            flow.advance()
        given = [(text, n) for at, text in enumerate(texts) for n in (-at, 7)]
        expected = sorted(given, key=lambda row: (row[0] is not None, row[0] or "", row[1]))
        assert listed.records() == {(1, repr(expected)): 1}


def test_rows_of_one_batch_are_divided_each_by_its_own_number() -> None:
    """A power of two that all rows have in common is a shift; one that the first has is not."""
    divisors = [2, 8, 3, 0, -1, -4, 1]
    values = [9, -9, -(1 << 63)]
    for first in range(len(divisors)):
        rows = [(x, by) for by in divisors[first:] + divisors[:first] for x in values]
        found = put(
            rows, lambda given: given.map(x=col.x, by=col.by, q=col.x // col.by), x=int, by=int
        )
        expected = [(x, by, x // by if by else 0) for x, by in rows]
        assert found == {(x, by, -(1 << 63) if q == 1 << 63 else q): 1 for x, by, q in expected}


def test_pairs_that_cancel_out_are_computed_by_nobody_behind_a_consolidation() -> None:
    flow = Dataflow(memory=MEMORY)
    left, right = flow.input("a", k=int, x=decimal(2)), flow.input("b", k=int, y=decimal(2))
    products = left.join(right, on="k").consolidate().map(p=col.x * col.y).output()
    left.insert([(1, 10**12)])
    flow.advance()
    left.remove([(1, 10**12)])
    right.insert([(1, 10**12)])
    flow.advance()
    left.insert([(1, 5)])
    flow.advance()
    assert products.records() == {(Decimal("5000000000000.0000"),): 1}


def test_columns_in_a_dict_are_told_what_a_column_may_be() -> None:
    with pytest.raises(InputError, match="Column 'types' cannot be of type"):
        Dataflow().input("rows", types={"who": str})
