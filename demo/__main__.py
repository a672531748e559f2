"""A million calls through the whole pipeline: files, Spark, GVDL, a planned collection.

Leaves its files and tables in `demo-output/`.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
from rich.console import Console
from rich.table import Table

import graphtide as gt
from demo.calls import write_calls

HISTORY = """
create view collection call-history on Calls
  for y in 2010..2019 [calls-until-{y}: year <= y]
"""
SCENARIOS = """
create view collection what-if on Calls
  (for y in (2013, 2016, 2019) [until-{y}: year <= y])
  cross
  without 2 of (for s in ('CA', 'NY', 'TX', 'FL') [{s}: src.state = s or dst.state = s])
"""


def main() -> None:
    """Make the data, load it, define the collections, show what came of it."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    chosen = parser.parse_args()
    console = Console()
    shutil.rmtree(chosen.output, ignore_errors=True)
    began = time.perf_counter()

    console.rule("1. a telephone network, as two CSV files")
    customers, calls = write_calls(
        chosen.output / "data", customers=max(chosen.calls // 10, 10), calls=chosen.calls
    )
    console.print(f"{customers}  {calls}")

    console.rule("2. load it with Spark")
    session = gt.session(chosen.output / "store")
    graph = session.load("Calls", vertices=str(customers), edges=str(calls))
    console.print(f"{graph.num_vertices:,} customers, {graph.num_edges:,} calls")

    console.rule("3. views, in a few lines of GVDL")
    for text in (HISTORY, SCENARIOS):
        console.print(text.strip(), highlight=False, markup=False)
        (answer,) = session.execute(text)
        collection = answer.value
        assert isinstance(collection, gt.Collection)
        show(console, collection, chosen.output)

    console.rule("4. any view, in any form")
    view = session.collection("what-if")["until-2016 * without CA, NY"]
    console.print(repr(view), markup=False)
    console.print(view.to_arrow().slice(0, 5).to_pandas().to_string(index=False))
    console.print(
        f"\ndone in {time.perf_counter() - began:.0f} s; tables and stores are in {chosen.output}/"
    )


def show(console: Console, collection: gt.Collection, output: Path) -> None:
    """What a newcomer wants to know of a collection: sizes, deltas, and what they save."""
    steps = collection.to_arrow()
    pa_csv.write_csv(steps, output / f"{collection.name}.csv")
    console.print(_table(collection.name, steps))
    totals = collection.plan.totals
    whole = sum(len(view) for view in collection)
    console.print(
        f"stored as deltas: {collection.differences:,} edge changes instead of {whole:,} edges "
        f"({whole / collection.differences:.1f} times fewer)"
    )
    console.print(
        f"in the given order {totals.given:,}; best chain {totals.chain:,}; tree {totals.tree:,}; "
        f"nothing can need fewer than {totals.tree_bound:,}\n"
    )


def _table(title: str, steps: pa.Table, most: int = 12) -> Table:
    table = Table(title=f"{title}: the way from view to view")
    for name in ("view", "from", "edges", "in", "out"):
        table.add_column(name, justify="left" if name in ("view", "from") else "right")
    for row in steps.slice(0, most).to_pylist():
        numbers = [f"{row[name]:,}" for name in ("edges", "inserted", "deleted")]
        table.add_row(row["view"], row["parent"] or "-", *numbers)
    if steps.num_rows > most:
        table.add_row(f"... {steps.num_rows - most} more", "", "", "", "")
    return table


if __name__ == "__main__":
    main()
