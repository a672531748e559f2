"""TPC-H maintained: all queries equal duckdb's answers at first and after every batch.

The data, the query texts and the answers come from duckdb 1.1.3, run by a Python of its own that
the variable GRAPHTIDE_DUCKDB names; without it there are no figures. Orders with their lines come
and go. Each query is timed for itself, in a dataflow of its own, beside what duckdb takes to answer
it from scratch after the same batch.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from bench.figures import Figure
from examples.tpch import QUERIES, Tables
from examples.tpch.tables import COLUMNS
from graphtide.dataflow import Dataflow, Output
from graphtide.plan.dataflow import Input, sources_of

PYTHON = "GRAPHTIDE_DUCKDB"
PEER = Path(__file__).with_name("rules_tpch_peer.py")
STEPS = 4


def tpch_figures(*, quick: bool) -> Iterator[Figure]:
    """How many queries are right, and how long a batch takes for each."""
    python = os.environ.get(PYTHON)
    if python is None:
        note = f"{PYTHON} does not name a Python with duckdb 1.1.3"
        yield Figure("TPC-H, queries equal to duckdb's", None, "at least", len(QUERIES), "", note)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scale = "0.01" if quick else "0.1"
        command = [python, str(PEER), name, scale, str(STEPS)]
        plain = {key: item for key, item in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run(command, check=True, env=plain)
        answers = json.loads((folder / "answers.json").read_text())
        trials = {number: Trial(number, folder, answers) for number in QUERIES}
    right = sum(trial.wrong == "" for trial in trials.values())
    wrong = "; ".join(f"Q{n}: {trial.wrong}" for n, trial in trials.items() if trial.wrong)
    name = f"TPC-H at scale {scale}, queries equal to duckdb's after every batch"
    yield Figure(name, right, "at least", len(QUERIES), "", wrong)
    for number, trial in trials.items():
        note = (
            f"first run {trial.first:.2f} s, a batch of {trial.rows:,} rows {trial.batch * 1e3:.1f}"
            f" ms, duckdb from scratch {trial.scratch * 1e3:.1f} ms"
        )
        speed = trial.rows / trial.batch / 1e3
        yield Figure(f"Q{number}, rows a second", speed, "at least", None, "thousand", note)


class Trial:
    """One query from the first tables to the last batch; `wrong` says what differs, if anything."""

    def __init__(self, number: int, folder: Path, answers: list[dict[str, Any]]) -> None:
        flow = Dataflow()
        tables = Tables(flow)
        output = QUERIES[number](tables).output()
        self.wrong = ""
        used = read_tables(flow)
        for table in used:
            getattr(tables, table).insert(_columns(table, folder / f"{table}.parquet"))
        self.first = _advanced(flow)
        self._compare(output, answers[0][str(number)][1], "at first")
        seconds, rows, scratch = [], [], []
        for step in range(len(answers) - 1):
            fed = 0
            for table in {"orders", "lineitem"} & used:
                for way in ("gone", "come"):
                    columns = _columns(table, folder / f"{table}-{step}-{way}.parquet")
                    change = getattr(tables, table)
                    (change.insert if way == "come" else change.remove)(columns)
                    fed += len(next(iter(columns.values())))
            seconds.append(_advanced(flow))
            rows.append(fed)
            taken, wanted = answers[step + 1][str(number)]
            scratch.append(taken)
            self._compare(output, wanted, f"after batch {step}")
        self.batch, self.rows = statistics.median(seconds), int(statistics.median(rows))
        self.scratch = statistics.median(scratch)
        flow.host.end()

    def _compare(self, output: Output, wanted: list[list[str]], when: str) -> None:
        found = [row for row, times in output.records().items() for _ in range(times)]
        if not self.wrong and not same_rows(found, wanted):
            self.wrong = f"differs {when}"


def read_tables(flow: Dataflow) -> set[str]:
    """The inputs of a dataflow that something reads."""
    plan = flow.plan
    read = {source for node in plan.nodes for source in sources_of(node)}
    return {
        node.name
        for number, node in enumerate(plan.nodes)
        if isinstance(node, Input) and number in read
    }


def same_rows(found: list[tuple[Any, ...]], wanted: list[list[str]]) -> bool:
    """Rows in any order: numbers within a millionth of a millionth where they are not exact.

    A row of nothing but None, which a sum of no records is elsewhere, is no row.
    """
    there = [row for row in wanted if set(row) != {"None"}]
    if len(found) != len(there):
        return False
    ours = sorted(([_plain(item) for item in row] for row in found), key=_order)
    theirs = sorted(([_plain(item) for item in row] for row in there), key=_order)
    return all(
        len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(ours, theirs, strict=True)
    )


def _plain(item: Any) -> Any:
    """A value as a number where it is one, or else as a text."""
    if isinstance(item, Decimal | int | float):
        return float(item)
    try:
        return float(item)
    except (TypeError, ValueError):
        return str(item)


def _order(row: list[Any]) -> Any:
    rounded = [round(item, 2) if isinstance(item, float) else item for item in row]
    return [(isinstance(item, str), item) for item in rounded]


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return bool(one == other)


def _columns(table: str, path: Path) -> dict[str, pa.ChunkedArray]:
    read = parquet.read_table(path, columns=list(COLUMNS[table]))
    return {name: read[name] for name in COLUMNS[table]}


def _advanced(flow: Dataflow) -> float:
    began = time.process_time()
    flow.advance()
    return time.process_time() - began
