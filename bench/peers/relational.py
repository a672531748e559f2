"""Queries of TPC-H on Differential Dataflow: a Rust program of ours, built by cargo.

    peer = find_peer()                          # a path, or why there is none
    write_table(folder, "lineitem", table)      # what the program reads: see its src/tables.rs
    outcome = measure(peer, 6, folder, 3)       # seconds, answers, memory

It has queries 1, 3, 5, 6, 15 and 18. Rows that change are handed over as 32-bit ints, money in
hundredths, and hold what these queries read, so that the program copies no more than it must.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bench.peers import AbsentError
from bench.peers.building import built, last_line, run_program

PROJECT = Path(__file__).parent / "relational"
RUN_SECONDS = 600
QUERIES = (1, 3, 5, 6, 15, 18)
ROWS = {
    "lineitem": (
        *("l_orderkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax"),
        *("l_returnflag", "l_linestatus", "l_shipdate"),
    ),
    "orders": ("o_orderkey", "o_custkey", "o_orderdate", "o_shippriority", "o_totalprice"),
}
TEXTS = {
    "customer": ("c_custkey", "c_nationkey", "c_mktsegment", "c_name"),
    "supplier": ("s_suppkey", "s_nationkey", "s_name", "s_address", "s_phone"),
    "nation": ("n_nationkey", "n_regionkey", "n_name"),
    "region": ("r_regionkey", "r_name"),
}


@dataclass(frozen=True)
class Outcome:
    """What the peer reports, the first run first: seconds by the wall clock and of the processor,
    the answers, and memory in bytes: `read` before anything ran, `end` and `peak`."""

    wall_seconds: list[float]
    processor_seconds: list[float]
    answers: list[list[list[str]]]
    memory: dict[str, int]


def find_peer(*, build: bool = True) -> Path:
    """The program, built where `build` lets it be; AbsentError with the reason otherwise."""
    return built(
        PROJECT,
        "the queries on Differential Dataflow",
        borrows=PROJECT.with_name("differential"),
        build=build,
    )


def measure(peer: Path, query: int, folder: Path, batches: int) -> Outcome:
    """Run a query over the first tables and all batches."""
    command = [str(peer), str(query), str(folder), str(batches)]
    done = run_program(command, RUN_SECONDS, "Differential Dataflow")
    if done.returncode != 0:
        raise AbsentError(f"skipped: Differential Dataflow failed: {last_line(done.stderr)}")
    found: dict[str, Any] = json.loads(done.stdout)
    return Outcome(**found)


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """The file of a table, or of what comes or goes of it (`lineitem-3-come`)."""
    kind = name.partition("-")[0]
    if kind in ROWS:
        rows = np.column_stack([_ints(table[column]) for column in ROWS[kind]])
        rows.astype(np.int32).tofile(folder / f"{name}.rows")
    elif kind in TEXTS:
        columns = [table[column].to_pylist() for column in TEXTS[kind]]
        lines = ("\t".join(map(str, row)) for row in zip(*columns, strict=True))
        (folder / f"{name}.text").write_text("\n".join(lines) + "\n")


def _ints(column: pa.ChunkedArray) -> NDArray[Any]:
    """Ints as they are, decimals in hundredths, days since 1970, the first byte of a text."""
    if pa.types.is_decimal(column.type):
        return np.rint(100 * column.cast(pa.float64()).to_numpy())  # type: ignore[no-any-return]
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32()).to_numpy()  # type: ignore[no-any-return]
    if pa.types.is_integer(column.type):
        return column.to_numpy()  # type: ignore[no-any-return]
    texts = column.cast(pa.string()).combine_chunks()
    found = pc.index_in(texts, pa.array(list(map(chr, range(128)))))
    return found.to_numpy()  # type: ignore[no-any-return]
