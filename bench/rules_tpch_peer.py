"""Run by a Python that has duckdb: `python rules_tpch_peer.py FOLDER SCALE SMALL QUERIES`.

Makes the data of TPC-H and writes to the folder, as Parquet: the tables as they are first, and for
each batch what comes and what goes of orders and their lines; as JSON: the answers of duckdb to the
queries (`1,6,22`) at first and after each batch, and how long they took.

A quarter of all orders comes later. Three batches are large, an eighth of all rows each: one of
insertions, one of deletions, one of both. So many behind them are small: one order goes and one
comes, with their lines, ten rows as a rule.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb  # type: ignore[import-not-found]

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey"}
NOTHING = "false"
# Orders are parted by where they come among all: every fourth one comes later.
LATER = "place % 4 = 3"
LARGE = (
    (NOTHING, f"{LATER} and place % 8 = 3"),
    ("place % 8 = 0", NOTHING),
    ("place % 16 = 1", f"{LATER} and place % 16 = 7"),
)


def main() -> None:
    folder, scale, small = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    chosen = {int(number) for number in sys.argv[4].split(",")}
    base = duckdb.connect()
    base.execute("load tpch")
    print(f"duckdb makes the tables at scale {scale:g}", flush=True)
    base.execute(f"call dbgen(sf={scale})")
    listed = base.sql("select query_nr, query from tpch_queries()").fetchall()
    queries = [(number, text) for number, text in listed if number in chosen]
    base.execute(
        "create table places as select o_orderkey as number, "
        "row_number() over (order by o_orderkey) - 1 as place from orders"
    )
    for table, key in KEYS.items():
        base.execute(f"create table later_{table} as from {table} where {_in(key, LATER)}")
        base.execute(f"delete from {table} where {_in(key, LATER)}")
    for table in TABLES:
        base.execute(f"copy {table} to '{folder / table}.parquet'")
    answers = [_answers(base, queries)]
    batches = [*LARGE, *(_small(number) for number in range(small))]
    for number, (gone, come) in enumerate(batches):
        _change(base, folder, number, gone, come)
        answers.append(_answers(base, queries))
    (folder / "answers.json").write_text(json.dumps(answers))


def _small(number: int) -> tuple[str, str]:
    """One order that has always been there goes, one that has not been there comes."""
    return f"place = {16 * number + 2}", f"place = {16 * number + 15}"


def _in(key: str, condition: str) -> str:
    return f"{key} in (select number from places where {condition})"


def _change(
    base: duckdb.DuckDBPyConnection, folder: Path, number: int, gone: str, come: str
) -> None:
    """Write what goes and comes in one batch, and let it go and come."""
    for table, key in KEYS.items():
        name = f"{folder / table}-{number}"
        goes, comes = _in(key, gone), _in(key, come)
        base.execute(f"copy (from {table} where {goes}) to '{name}-gone.parquet'")
        base.execute(f"copy (from later_{table} where {comes}) to '{name}-come.parquet'")
        base.execute(f"delete from {table} where {goes}")
        base.execute(f"insert into {table} from later_{table} where {comes}")


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
