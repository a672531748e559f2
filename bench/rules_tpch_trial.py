"""The batches of TPC-H in memory, and one query that is kept current over them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from bench.peers import relational
from bench.timing import without_collector
from examples.tpch import QUERIES, Tables
from examples.tpch.tables import COLUMNS
from graphtide.dataflow import Dataflow
from graphtide.plan.dataflow import Input, sources_of

Table = dict[str, pa.Array]
Part = tuple[str, Table, NDArray[np.int64]]
"""The name of a table, rows of it, and whether each comes (1) or goes (-1)."""
CHANGING = ("orders", "lineitem")
Same = Callable[[list[tuple[Any, ...]], list[list[str]]], bool]
WAYS = {"gone": -1, "come": 1}


class Batches:
    """The tables as they are first, and what goes and comes in each batch, as Arrow in memory."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.count = count
        self._read: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """A table as it is first, or a part of a batch: `lineitem-3-come`. Read once."""
        if name not in self._read:
            kinds = COLUMNS[name.partition("-")[0]]
            columns, texts = list(kinds), [column for column in kinds if kinds[column] is str]
            path = self.folder / f"{name}.parquet"
            read = parquet.read_table(path, columns=columns, read_dictionary=texts)
            read = read.unify_dictionaries()
            self._read[name] = {column: read[column].combine_chunks() for column in columns}
        return self._read[name]

    def parts(self, number: int, used: set[str]) -> list[Part]:
        """What a batch changes in the tables that a query reads, as rows with their diffs."""
        found = [self._part(table, number) for table in CHANGING if table in used]
        return [part for part in found if size(part[1])]

    def _part(self, table: str, number: int) -> Part:
        ways = [(diff, self.table(f"{table}-{number}-{way}")) for way, diff in WAYS.items()]
        rows = pa.concat_tables([pa.table(rows) for _, rows in ways]).unify_dictionaries()
        diffs = np.repeat([diff for diff, _ in ways], [size(rows) for _, rows in ways])
        return table, {name: rows[name].combine_chunks() for name in rows.column_names}, diffs

    def write_rows(self) -> None:
        """The same for the peer, beside the files of duckdb."""
        names = [*relational.TEXTS, *CHANGING]
        names += [f"{t}-{n}-{way}" for t in CHANGING for n in range(self.count) for way in WAYS]
        for name in names:
            relational.write_table(self.folder, name, pa.table(self.table(name)))


class Trial:
    """One query from the first tables to the last batch.

    `seconds` of the processor and `rows` that it was fed, the first run first; `wrong` says what
    differs from the answers that it is compared with, if anything.
    """

    def __init__(self, number: int, batches: Batches) -> None:
        self.wrong = ""
        self.seconds: list[float] = []
        self.rows: list[int] = []
        self.scratch: list[float] = []
        self.found: list[list[tuple[Any, ...]]] = []
        self._flow = Dataflow()
        self._tables = Tables(self._flow)
        self._output = QUERIES[number](self._tables).output()
        used = read_tables(self._flow)
        # All that is handed over is there before: to read files between two batches leaves the
        # caches of the processor with neither this code nor these data, which takes twice as long.
        first = [(table, batches.table(table)) for table in used]
        parts = [batches.parts(step, used) for step in range(batches.count)]
        with without_collector():
            self._step([(table, rows, np.ones(size(rows), np.int64)) for table, rows in first])
            for batch in parts:
                self._step(batch)
        self._flow.host.end()

    def compare(self, wanted: Sequence[list[list[str]]], same: Same) -> None:
        """Say when answers first differ from those wanted."""
        for step, (found, rows) in enumerate(zip(self.found, wanted, strict=True)):
            if not self.wrong and not same(found, rows):
                self.wrong = f"differs after batch {step - 1}" if step else "differs at first"

    def _step(self, parts: list[Part]) -> None:
        """Hand rows over, advance, have the changes; then, untimed, note the whole answer."""
        self.seconds.append(_seconds(lambda: self._advance(parts)))
        self.rows.append(sum(size(rows) for _, rows, _ in parts))
        records = self._output.records()
        self.found.append([row for row, times in records.items() for _ in range(times)])

    def _advance(self, parts: list[Part]) -> None:
        for table, rows, diffs in parts:
            getattr(self._tables, table).update(rows, diffs)
        self._flow.advance()
        # Added up and in order, as numbers: the peer makes no values of what it keeps, either.
        len(self._output.changes())


def size(rows: Table) -> int:
    """How many rows a part has."""
    return len(next(iter(rows.values())))


def few_rows(rows: Sequence[int]) -> int:
    """The median of numbers of rows."""
    return int(statistics.median(rows))


def read_tables(flow: Dataflow) -> set[str]:
    """The inputs of a dataflow that something reads."""
    plan = flow.plan
    read = {source for node in plan.nodes for source in sources_of(node)}
    return {
        node.name
        for number, node in enumerate(plan.nodes)
        if isinstance(node, Input) and number in read
    }


def _seconds(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
