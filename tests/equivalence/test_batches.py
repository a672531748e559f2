"""Advances in every form of input, beside a plain multigraph: rows, results, changes, ways back.

Streams mix inserts and deletes, by ends, with properties and by number, with parallel edges, rows
that are listed twice, vertices that are new or not there, and versions rolled back. Each is tried
before and after the graph has made its table of pairs, and with batches that outgrow every room.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import ShortestPaths
from graphtide.engine import growing
from graphtide.model.errors import InputError
from tests.oracle.multigraph import PlainMultigraph, Row

NAMES = ("src", "dst", "weight", "lanes", "open")
TYPES = (None, None, np.float64, np.int64, np.bool_)
Form = Callable[[dict[str, list[Any]]], Any]


def numpy_columns(columns: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: np.array(values) for name, values in columns.items()}


def strided(columns: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: np.repeat(np.array(values), 2)[::2] for name, values in columns.items()}


def read_only(columns: dict[str, list[Any]]) -> dict[str, Any]:
    found = numpy_columns(columns)
    for column in found.values():
        column.flags.writeable = False
    return found


def narrow(columns: dict[str, list[Any]]) -> dict[str, Any]:
    small = {"src": np.int16, "dst": np.int32, "weight": np.float32, "lanes": np.uint8}
    found = numpy_columns(columns)
    whole = {name for name, column in found.items() if column.dtype.kind in "if"}
    return {
        name: column.astype(small[name]) if name in whole else column
        for name, column in found.items()
    }


def backwards(columns: dict[str, list[Any]]) -> dict[str, Any]:
    return dict(reversed(numpy_columns(columns).items()))


def in_chunks(columns: dict[str, list[Any]]) -> pa.Table:
    table = pa.table(columns)
    middle = table.num_rows // 2
    return pa.concat_tables([table.slice(0, middle), table.slice(middle)])


def sliced(columns: dict[str, list[Any]]) -> pa.Table:
    table = pa.table(columns)
    return pa.concat_tables([table, table]).combine_chunks().slice(table.num_rows)


FORMS: dict[str, Form] = {
    "tuples": lambda columns: list(zip(*columns.values(), strict=True)),
    "lists": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    "dicts": lambda columns: pa.table(columns).to_pylist(),
    "columns": dict,
    "numpy": numpy_columns,
    "strided": strided,
    "read-only": read_only,
    "narrow": narrow,
    "backwards": backwards,
    "arrow": pa.table,
    "chunks": in_chunks,
    "sliced": sliced,
    "record batch": pa.RecordBatch.from_pydict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}
IDS: dict[str, Callable[[int], Any]] = {
    "own numbers": lambda n: n,
    "scattered": lambda n: 7 * ((n * 37) % 101) + 1000,
    "negative": lambda n: 3 - 11 * n,
    "texts": lambda n: f"v{n}",
}


class Stream:
    """A graph, the same as a plain multigraph, and random batches for both."""

    def __init__(self, seed: int, ids: str, properties: int, edges: int) -> None:
        self.random = random.Random(seed)
        self._id = IDS[ids]
        self.width = 2 + properties
        self.size = 9
        rows = [self.row(new=False) for _ in range(edges)]
        columns = {name: [row[at] for row in rows] for at, name in enumerate(NAMES[: self.width])}
        names = [self._id(n) for n in range(self.size)]
        self.graph = gt.Graph(columns.pop("src"), columns.pop("dst"), vertices=names, **columns)
        self.plain = PlainMultigraph(names, rows)
        self.live = self.graph.maintain(ShortestPaths(source=names[0])) if properties else None
        self.told: Any = None

    def row(self, *, new: bool) -> Row:
        draw = self.random
        end = (lambda: draw.randrange(self.size + 2)) if new else lambda: draw.randrange(self.size)
        values = (float(draw.randrange(1, 4)), draw.randrange(2), draw.random() < 0.5)
        return (self._id(end()), self._id(end()), *values)[: self.width]

    def deletions(self, count: int) -> tuple[list[Row], list[int]]:
        """Rows that are there, some told by fewer columns; at times one that is not."""
        there = list(self.plain.rows.elements())
        columns = [0, 1, *(at for at in range(2, self.width) if self.random.random() < 0.6)]
        rows = self.random.sample(there, min(count, len(there)))
        if self.random.random() < 0.15:
            rows += rows[:1] or [self.row(new=False)]
        if self.random.random() < 0.1:
            rows.append(self.row(new=True))
        return [tuple(row[at] for at in columns) for row in rows], columns

    def given(self, rows: list[Row], columns: list[int]) -> Any:
        if not rows:
            return None if self.random.random() < 0.5 else []
        form = self.random.choice(list(FORMS))
        prefix = columns == list(range(len(columns)))
        if not prefix and form in ("tuples", "lists"):
            form = "columns"
        lists = {NAMES[at]: [row[place] for row in rows] for place, at in enumerate(columns)}
        return FORMS[form](lists)

    def advance(self, come: int, go: int) -> None:
        inserted = [self.row(new=True) for _ in range(self.random.randint(0, come))]
        deleted, columns = self.deletions(self.random.randint(0, go))
        numbers = self.numbers(deleted) if self.random.random() < 0.2 else None
        insert = self.given(inserted, list(range(self.width)))
        delete = self.given(deleted, columns) if numbers is None else numbers
        possible = self.plain.knows(deleted) and self.plain.can_delete(deleted, columns)
        if numbers is None and not possible:
            with pytest.raises(InputError, match="not there"):
                self.graph.advance(insert, delete)
            self.check()
            return
        if numbers is not None:
            deleted, columns = self.rows_of(numbers), list(range(self.width))
        if self.live is None:
            self.graph.advance(insert, delete)
        else:
            self.told = self.live.advance(insert, delete)
        self.plain.check_advanced(inserted, deleted, columns, self.rows())
        self.check()

    def numbers(self, deleted: list[Row]) -> list[int]:
        there = self.graph.edges()["edge"].to_pylist()
        return self.random.sample(there, min(len(deleted), len(there)))

    def rows_of(self, numbers: list[int]) -> list[Row]:
        at = {number: place for place, number in enumerate(self.graph.edges()["edge"].to_pylist())}
        rows = self.rows()
        return [rows[at[number]] for number in numbers]

    def rows(self) -> list[Row]:
        table = self.graph.edges()
        return list(zip(*(table[name].to_pylist() for name in NAMES[: self.width]), strict=True))

    def check(self) -> None:
        assert sorted(self.plain.rows.elements()) == sorted(self.rows())
        assert self.graph.vertices()["id"].to_pylist() == self.plain.vertices
        assert self.graph.num_edges == self.plain.rows.total()
        if self.live is not None:
            expected = self.plain.distances(self._id(0), 2)
            assert self.live["dist"].tolist() == list(expected.values())

    def roll_back(self) -> None:
        if self.graph.version:
            self.graph.rollback()
            self.plain.roll_back()
            self.check()


def tried(stream: Stream, steps: int, come: int, go: int) -> None:
    for _ in range(steps):
        if stream.random.random() < 0.25:
            stream.roll_back()
        else:
            stream.advance(come, go)


@pytest.fixture(params=["slabs", "pairs", "pieces of pairs"])
def looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rows matched by slabs alone, by a table of pairs from the second on, or by one that is made
    in ten pieces.
    """
    share = 0 if request.param == "slabs" else 1 << 60
    monkeypatch.setattr(growing, "LOOKED_SHARE", share)
    # Most batches come while a table is in the making.
    monkeypatch.setattr(growing, "EDGES_A_ROW", 0 if "piece" in request.param else 64)
    return str(request.param)


@pytest.mark.parametrize("ids", list(IDS))
@pytest.mark.parametrize("seed", range(6))
def test_small_batches_in_every_form(seed: int, ids: str, looks: str) -> None:
    tried(Stream(seed, ids, properties=seed % 4, edges=20), 25, come=4, go=4)


@pytest.mark.parametrize("ids", ["own numbers", "scattered"])
@pytest.mark.parametrize("seed", range(3))
def test_large_batches_of_many_parallel_edges(seed: int, ids: str, looks: str) -> None:
    tried(Stream(seed, ids, properties=1 + seed, edges=300), 8, come=400, go=300)


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_those_of_the_results(seed: int, looks: str) -> None:
    stream = Stream(seed, "scattered", properties=1, edges=25)
    for _ in range(20):
        before = dict(zip(stream.plain.vertices, stream.live["dist"].tolist(), strict=True))
        stream.told = None
        stream.advance(3, 5)
        after = zip(stream.plain.vertices, stream.live["dist"].tolist(), strict=True)
        expected = [
            (vertex, before.get(vertex), value)
            for vertex, value in after
            if vertex not in before or before[vertex] != value
        ]
        if stream.told is not None:
            found = [tuple(row.values()) for row in stream.told.to_pylist()]
            assert sorted(found, key=str) == sorted(expected, key=str)


def test_a_table_of_pairs_is_made_where_looks_go_through_many_entries() -> None:
    ends = [(src, dst) for src in range(40) for dst in range(40)]
    dense = gt.Graph([src for src, _ in ends], [dst for _, dst in ends])
    road = gt.Graph(list(range(400)), list(range(1, 401)))
    for at in range(1, 40):
        dense.advance(delete=[(at, 39)])
        road.advance(delete=[(at, at + 1)])
    assert len(dense._resident._pairs.table)
    assert not len(road._resident._pairs.table)
