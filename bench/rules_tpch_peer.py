"""Run by a Python that has duckdb: `python rules_tpch_peer.py FOLDER SCALE STEPS`.

Makes the data of TPC-H and writes to the folder, as Parquet: the tables as they are first, and for
each step what comes and what goes of orders and their lines; as JSON: the answers of duckdb to all
queries at first and after each step, and how long they took.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb  # type: ignore[import-not-found]

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def main() -> None:
    folder, scale, steps = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    base = duckdb.connect()
    base.execute("load tpch")
    base.execute(f"call dbgen(sf={scale})")
    queries = base.sql("select query_nr, query from tpch_queries()").fetchall()
    for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        base.execute(f"create table later_{table} as from {table} where {key} % 16 = 15")
        base.execute(f"delete from {table} where {key} % 16 = 15")
    for table in TABLES:
        base.execute(f"copy {table} to '{folder / table}.parquet'")
    answers = [_answers(base, queries)]
    for step in range(steps):
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            gone = f"{key} // 16 % {4 * steps} = {step} and {key} % 16 < 4"
            come = f"{key} // 16 % {steps} = {step}"
            name = f"{folder / table}-{step}"
            base.execute(f"copy (from {table} where {gone}) to '{name}-gone.parquet'")
            base.execute(f"copy (from later_{table} where {come}) to '{name}-come.parquet'")
            base.execute(f"delete from {table} where {gone}")
            base.execute(f"insert into {table} from later_{table} where {come}")
        answers.append(_answers(base, queries))
    (folder / "answers.json").write_text(json.dumps(answers))


def _answers(base: duckdb.DuckDBPyConnection, queries: list[tuple[int, str]]) -> dict[str, object]:
    """Rows of texts for each query, and the seconds it took."""
    found: dict[str, object] = {}
    for number, query in queries:
        began = time.process_time()
        rows = base.execute(query).fetchall()
        taken = time.process_time() - began
        found[str(number)] = [taken, [[_told(item) for item in row] for row in rows]]
    return found


def _told(item: object) -> str:
    return repr(item) if isinstance(item, float) else str(item)


if __name__ == "__main__":
    main()
