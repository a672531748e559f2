"""`python -m examples.analysis.extract FILE.c ... --out facts.parquet`: the facts of C sources.

libclang reads them (`pip install libclang`); what it is to be told, such as `-I` and `-D`, follows
behind `--`. The table is that of `facts`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from examples.analysis.clang import parse
from examples.analysis.expressions import Extractor
from examples.analysis.facts import edge_table

ALLOCATORS = ("malloc", "calloc", "realloc", "strdup")
DEEP = 20_000
"""Frames: chains of `else if` are as many statements within each other."""


def extract(
    paths: Iterable[str | Path],
    arguments: Sequence[str] = (),
    allocators: Iterable[str] = ALLOCATORS,
) -> pa.Table:
    """The facts of C files that make up one program; `arguments` are those of clang."""
    found = Extractor(allocators)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEP))
    try:
        for path in paths:
            found.take(parse(path, arguments))
    finally:
        sys.setrecursionlimit(before)
    return edge_table(found.rows)


def main() -> None:
    """Extract, and write a file."""
    parser = argparse.ArgumentParser(prog="python -m examples.analysis.extract")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.c")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.parquet")
    parser.add_argument("--allocator", action="append", default=list(ALLOCATORS), metavar="NAME")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    chosen = parser.parse_args(given[:cut])
    table = extract(chosen.files, given[cut + 1 :], chosen.allocator)
    pq.write_table(table, chosen.out)
    print(f"{len(table):,} facts in {chosen.out}")


if __name__ == "__main__":
    main()
