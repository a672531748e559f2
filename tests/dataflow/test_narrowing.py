"""Columns that nothing reads are left out: the same answers as with them, and fewer words kept."""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.dataflow import Collection, col, count, decimal, maximum, total
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow

WIDE = {"a": int, "b": int, "c": int, "d": int}


def joined(one: Collection, other: Collection) -> Collection:
    return one.join(other, on="a").select("a", right="c_right")


def summed(one: Collection, other: Collection) -> Collection:
    both = one.filter(col.b > 1).join(other, on={"a": "b"})
    return both.aggregate("c", n=count(), all=total(col.d_right), most=maximum("d"))


def chained(one: Collection, other: Collection) -> Collection:
    first = one.concat(other.filter(col.d < 3)).join(other, on="c")
    return first.semijoin(one, on={"d_right": "d"}).antijoin(other, on="b").select("c", "a_right")


def looped(one: Collection, other: Collection) -> Collection:
    start = one.map(node=col.a, far=0, unread=col.d)
    with one.nested_loop() as loop:
        found = loop.variable(start)
        further = found.join_map(other, on={"node": "a"}, node=col.b, far=col.far + 1, unread=col.d)
        least = further.concat(start).filter(col.far < 4).select("node", "far", "unread")
        shortest = least.min(by="node", of=["far", "unread"])
        found.set(shortest)
    return shortest.leave().select("node", "far")


def bounded(one: Collection, other: Collection) -> Collection:
    start = one.map(node=col.a, unread=col.d)
    with one.nested_loop() as loop:
        found = loop.variable(start)
        further = found.join_map(other, on={"node": "a"}, node=col.b, unread=col.c)
        found.set(further.filter(col.unread > 0), rounds=3)
    return found.leave().select("node")


def weighed(one: Collection, other: Collection) -> Collection:
    kept = one.select("b", "c", "d").consolidate().negate().minus(other.select("b", "c", "d"))
    return kept.negate().sum("c", by="b").join(other, on="b").select("b", "c", "d")


def subtracted(one: Collection, other: Collection) -> Collection:
    return one.minus(other).filter(col.a != col.d).aggregate("b", n=count(), all=total("c"))


def missing(one: Collection, other: Collection) -> Collection:
    return one.left_join(other, on={"a": "d"}).aggregate("b", n=count("c_right"))


def counted(one: Collection, other: Collection) -> Collection:
    return one.count(by=())


QUERIES = (joined, summed, chained, looped, bounded, weighed, subtracted, missing, counted)


def run(query: Any, history: list[Any], **settings: Any) -> list[Any]:
    """The answers after each batch."""
    flow = Dataflow(memory=MEMORY, **settings)
    inputs = [flow.input("one", **WIDE), flow.input("other", **WIDE)]
    output = query(*inputs).output()
    found = []
    for batch in history:
        for source, (gone, come) in zip(inputs, batch, strict=True):
            source.remove(gone)
            source.insert(come)
        flow.advance()
        found.append(output.records())
    flow.host.end()
    return found


def history(seed: int) -> list[Any]:
    """Batches of rows that go and come, in two tables."""
    random = Random(seed)
    live: list[list[Any]] = [[], []]
    found = []
    for _ in range(5):
        batch = []
        for rows in live:
            gone = [row for row in rows if random.random() < 0.5]
            come = [tuple(random.randrange(4) for _ in WIDE) for _ in range(random.randrange(9))]
            rows[:] = [*rows, *come]
            for row in gone:
                rows.remove(row)
            batch.append((gone, come))
        found.append(batch)
    return found


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.__name__)
def test_answers_are_those_of_whole_records(query: Any) -> None:
    """Debug mode keeps all columns, and compares every node with plain Python on the way."""
    for seed in range(2):
        batches = history(seed)
        assert run(query, batches) == run(query, batches, debug=True)


def test_an_index_holds_what_is_read_of_it() -> None:
    flow = Dataflow(memory=MEMORY)
    one, other = flow.input("one", **WIDE), flow.input("other", **WIDE)
    held = one.arrange("a")
    joined(one.filter(col.d > 0), other).output()
    one.insert([(1, 2, 3, 4)])
    other.insert([(1, 5, 6, 7)])
    flow.advance()
    installed = flow.install()
    names = {
        number: [name for name, _ in installed.plan.schemas[number]]
        for number in installed.addresses.traces
    }
    assert sorted(names.values()) == [["a"], ["a", "b", "c", "d"], ["a", "c"]]
    widths = [
        flow.host.machine.field(trace, layout.TRACE_VALUE_WORDS)
        for trace in installed.addresses.traces.values()
    ]
    assert sorted(widths) == [0, 1, 3]
    assert held.lookup(1) == {(1, 2, 3, 4): 1}
    flow.host.end()


TABLE = {
    "n": int,
    "day": datetime.date,
    "price": decimal(2),
    "name": str,
    "share": float,
    "good": bool,
    "maybe": int | None,
}
ROWS = [
    (7, datetime.date(2020, 1, 2), Decimal("1.50"), "x", 0.5, True, None),
    (-3, datetime.date(1969, 12, 31), Decimal("-2.25"), "yy", -1.0, False, 4),
    (7, datetime.date(2020, 1, 2), Decimal("1.50"), "x", 0.5, True, 5),
]


def arrow(rows: list[Any] = ROWS, **types: Any) -> pa.Table:
    """Rows as a table of Arrow; `types` are other types of some columns."""
    known = {"price": pa.decimal128(15, 2), "n": pa.int32(), "maybe": pa.int64(), **types}
    listed = zip(TABLE, zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(list(part), known.get(name)) for name, part in listed})


def changes(rows: Any, later: Any = ()) -> list[Any]:
    """What comes out of rows that are inserted before and after the first advance."""
    flow = Dataflow(memory=MEMORY)
    given = flow.input("rows", **TABLE)
    whole, some = given.output(), given.select("name", "price", "maybe").output()
    found = []
    for part in (rows, later):
        if len(part):
            given.insert(part)
        flow.advance()
        found += [whole.changes(), some.changes()]
    flow.host.end()
    return found


@pytest.mark.parametrize(
    "types",
    [
        {},
        {"name": pa.dictionary(pa.int32(), pa.string())},
        {"price": pa.decimal128(38, 4)},
        {"n": pa.uint64(), "name": pa.large_string(), "day": pa.date64()},
    ],
    ids=["plain", "dictionary", "wide", "others"],
)
def test_columns_of_arrow_are_the_rows_that_they_hold(types: dict[str, Any]) -> None:
    rows = [(abs(row[0]), *row[1:]) for row in ROWS]
    wanted = changes(rows, rows[:2])
    table = arrow(rows, **types)
    assert changes(table, table.slice(0, 2)) == wanted
    halves = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert changes(halves, halves.slice(0, 2)) == wanted
    assert changes(table.slice(0, 0), table.slice(0, 0)) == [[], [], [], []]


@pytest.mark.parametrize("installed", [False, True])
def test_a_column_that_is_not_read_is_still_checked(installed: bool) -> None:
    flow = Dataflow(memory=MEMORY)
    given = flow.input("rows", **TABLE)
    output = given.select("n").output()
    if installed:
        flow.advance()
    nulls = arrow([(*ROWS[0][:3], None, *ROWS[0][4:])], name=pa.string())
    finer = arrow([(*ROWS[0][:2], Decimal("1.234"), *ROWS[0][3:])], price=pa.decimal128(38, 4))
    for wrong in (nulls, finer):
        with pytest.raises(InputError):
            given.insert(wrong)
    wide = pa.table({**{name: arrow()[name] for name in TABLE}, "price": pa.array([1, 2, 3])})
    given.insert(wide)  # Ints are decimals, too.
    with pytest.raises(InputError, match="good"):
        given.insert({**{name: arrow()[name] for name in TABLE}, "good": np.array([1, 2, 3])})
    flow.advance()
    assert output.records() == {(7,): 2, (-3,): 1}
    flow.host.end()


def test_sums_of_one_aggregate_are_added_up_on_the_way() -> None:
    """All sums of an aggregate come of one edge, whatever may fault, and are what Python says."""
    random = Random(4)
    flow = Dataflow(memory=MEMORY)
    given = flow.input("rows", key=int, price=decimal(2), share=decimal(2), size=int)
    chosen = given.filter((col.price * col.share < 40) & (col.size // 4 != 1))
    parts: dict[str, Any] = {
        "paid": total(col.price * (1 - col.share)),
        "sizes": total("size"),
        "halves": total(col.size // 3),
        "n": count(),
    }
    by_key, together = chosen.aggregate("key", **parts).output(), chosen.aggregate((), **parts)
    whole = together.output()
    live: list[Any] = []
    for step in range(4):
        gone = random.sample(live, len(live) // 2)
        come = [
            (
                random.randrange(3),
                Decimal(random.randrange(-9000, 9000)) / 100,
                Decimal(random.randrange(100)) / 100,
                random.choice((-7, 3, 5, 1 << 40, -(1 << 40), 1 << 53)),
            )
            for _ in range(300 if step == 0 else 20)
        ]
        given.remove(gone)
        given.insert(come)
        for row in gone:
            live.remove(row)
        live += come
        flow.advance()
        assert by_key.records() == {
            (key, *found): 1
            for key in range(3)
            if (found := _sums([row for row in live if row[0] == key]))
        }
        assert whole.records() == {_sums(live): 1}
    flow.host.end()


def _sums(rows: list[Any]) -> tuple[Any, ...]:
    """What the aggregate of these rows is in plain Python; nothing where there are none."""
    chosen = [row for row in rows if row[1] * row[2] < 40 and row[3] // 4 != 1]
    paid = sum((price * (1 - share) for _, price, share, _ in chosen), Decimal(0))
    sizes = [row[3] for row in chosen]
    return (paid, sum(sizes), sum(size // 3 for size in sizes), len(sizes)) if chosen else ()
