"""The facts of a program: a table of edges between expressions, and what others need of it.

| column | holds |
|---|---|
| src, dst | expressions, as the extractor names them |
| kind | assign, null, address, deref or field |
| function | where it is written |
| line | the line; of an assignment that is written several times in a function, the first |

The names of expressions hold no lines, so that an edit leaves those of other functions as they are,
and tables of several versions of a program can be put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import graphtide as gt

COLUMNS = {
    "src": pa.string(),
    "dst": pa.string(),
    "kind": pa.string(),
    "function": pa.string(),
    "line": pa.int64(),
}
IDENTITY = ["src", "dst", "kind", "function"]
"""What makes two rows of different versions the same fact; lines move with every edit above."""


def edge_table(rows: list[tuple[str, str, str, str, int]]) -> pa.Table:
    """Rows of facts as a table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    arrays = [
        pa.array(column, kind) for column, kind in zip(columns, COLUMNS.values(), strict=True)
    ]
    return pa.table(arrays, list(COLUMNS))


def number_vertices(table: pa.Table) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The names of all expressions, and the numbers of those at the two ends of each edge."""
    both = pa.chunked_array([*table["src"].chunks, *table["dst"].chunks])
    coded = both.combine_chunks().dictionary_encode()
    numbers = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return coded.dictionary.to_pylist(), numbers[: len(table)], numbers[len(table) :]


def rules_table(table: pa.Table) -> dict[str, Any]:
    """The facts as the rules take them: `rules.insert("edge", rules_table(table))`."""
    _, src, dst = number_vertices(table)
    kinds, lines = table["kind"].to_pylist(), table["line"].to_numpy()
    return {"u": src, "v": dst, "kind": kinds, "line": lines}


def graph_of(table: pa.Table) -> gt.Graph:
    """The facts as a graph in memory, whose vertices are the expressions by name."""
    return gt.Graph.from_frame(table)


def together(versions: Mapping[str, pa.Table]) -> pa.Table:
    """The facts of several versions of a program, with a column that is true for those it has.

    A view of one version is `[v1: v1]` then, if `v1` is its name. The line of a fact is that of the
    first version that has it.
    """
    columns = [*COLUMNS, *versions]
    found: dict[tuple[Any, ...], list[Any]] = {}
    for place, table in enumerate(versions.values()):
        keys = zip(*(table[name].to_pylist() for name in IDENTITY), strict=True)
        lines = _lines(table)
        for key, line in zip(keys, lines, strict=True):
            row = found.setdefault((*key, line[0]), [line[1], *[False] * len(versions)])
            row[1 + place] = True
    rows = [(*key[:4], *row) for key, row in found.items()]
    if not rows:
        return pa.table({name: [] for name in columns})
    return pa.table(list(map(pa.array, zip(*rows, strict=True))), columns)


def _lines(table: pa.Table) -> list[tuple[int, int]]:
    """How many rows of the same fact come before each row, and its line."""
    counts: dict[tuple[str, ...], int] = {}
    found = []
    keys = zip(*(table[name].to_pylist() for name in IDENTITY), strict=True)
    for key, line in zip(keys, table["line"].to_pylist(), strict=True):
        counts[key] = counts.get(key, -1) + 1
        found.append((counts[key], line))
    return found
