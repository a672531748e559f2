"""Figures that docs/papers.md compares with iTurboGraph's and that no other benchmark has.

    python -m bench.papers_walks            a minute or two; needs com-dblp, and Java for appends
    python -m bench.papers_walks --quick    a smoke test; its figures mean nothing

*Orders*: how many entries of rows a delta of triangles looks at in the order of the program's
loops, begun at the changed pair, and pruned (section 6.4.2). These are counted, so that no load of
the machine changes them. *Appends*: processor time of a hundred changes of a stored graph, and of
reading it behind each (figure 17). No figure has a bar.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from bench.figures import Figure, print_figures
from bench.streams import Batch, Size, batches
from bench.timing import clock
from bench.walks_inputs import Pairs, real_pairs, rmat_pairs

SIZES = (Size(50, 50, 1), Size(500, 500, 1))
APPENDS, SHARE = 100, 100
"""So many appends, each of one edge in so many of the graph."""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small inputs: a smoke test only")
    parser.add_argument("--orders", action="store_true", help="the numbers alone, without Java")
    given = parser.parse_args()
    graphs = [rmat_pairs(6)] if given.quick else [real_pairs("com-dblp"), rmat_pairs(16)]
    figures = [figure for pairs in graphs if pairs is not None for figure in orders(pairs)]
    if not given.orders:
        figures += appends(rmat_pairs(6 if given.quick else 16), 5 if given.quick else APPENDS)
    print_figures("beside iTurboGraph", figures)


def orders(pairs: Pairs) -> Iterator[Figure]:
    """How many times fewer entries than from scratch each way looks at, by the size of a batch."""
    for size, (batch,) in zip(SIZES, batches(pairs.given, SIZES, 0), strict=True):
        looked = entries_looked_at(pairs, batch)
        scratch = looked.pop("from scratch")
        for way, count in looked.items():
            note = f"{count:,} entries, {scratch:,} from scratch"
            section = f"{pairs.given.name}, {size}: entries looked at"
            yield Figure(way, scratch / count, "at least", None, "x", note, section)


def entries_looked_at(pairs: Pairs, batch: Batch) -> dict[str, int]:
    """The entries of rows that `for v in u: for w in v: if w in u` goes through, u < v < w.

    Rows are those of the version behind the batch, with the pairs that it deletes, for old and
    new factors alike. A term without an order of its own enumerates the loops around its factor.
    """
    low, high = _lower_first(pairs, np.union1d(pairs.after([batch]), batch.deleted))
    first, second = _lower_first(pairs, np.concatenate([batch.inserted, batch.deleted]))
    degree = np.bincount(np.concatenate([low, high]), minlength=pairs.given.vertices)
    changed = np.bincount(np.concatenate([first, second]), minlength=pairs.given.vertices)
    rows, wedges = int(degree.sum()), int(degree[high].sum())
    in_order = int(degree[second].sum()) + 2 * rows + int(changed[high].sum()) + wedges
    return {
        "from scratch": rows + wedges,
        "in the order of the loops": in_order,
        "begun at the changed pair": int(degree[second].sum() + 2 * degree[first].sum()),
        "and over the smaller row": int(3 * np.minimum(degree[first], degree[second]).sum()),
        "and one term for all positions": int(np.minimum(degree[first], degree[second]).sum()),
    }


def _lower_first(pairs: Pairs, arcs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    ends = pairs.ends(arcs.astype(np.int32))
    return np.minimum(*ends), np.maximum(*ends)


def appends(pairs: Pairs, count: int) -> Iterator[Figure]:
    """Processor time of appends and of reads, at the beginning and at the end."""
    rows, draw = pairs.columns(pairs.given.loaded), np.random.default_rng(8)
    batch = max(2, len(rows["src"]) // SHARE)
    with tempfile.TemporaryDirectory(prefix="graphtide-papers-") as folder:
        session = gt.session(Path(folder), master="local[1]", progress=False)
        graph = session.load("changing", edges=pa.table(rows))
        took: dict[str, list[float]] = {"append": [], "read": []}
        for _ in range(count):
            took["append"].append(_seconds(lambda: graph.append(_changes(pairs, draw, batch))))
            took["read"].append(_seconds(lambda: graph.edges().num_rows))
        session.spark.stop()
    section = f"{pairs.given.name}: {count} appends of {batch:,} edges"
    tenth = max(1, count // 10)
    for what, seconds in took.items():
        first, last = (statistics.median(part) for part in (seconds[:tenth], seconds[-tenth:]))
        note = f"{1e3 * first:.3g} ms at first, greatest {1e3 * max(seconds):.3g} ms"
        name = f"{what}, the last {tenth} over the first {tenth}"
        yield Figure(name, last / first, "at most", None, "x", note, section)


def _changes(pairs: Pairs, draw: np.random.Generator, count: int) -> pa.Table:
    ends = (pairs.ids[draw.integers(pairs.given.vertices, size=count)] for _ in range(2))
    return pa.table(dict(zip(("src", "dst"), ends, strict=True)))


def _seconds(work: Any) -> float:
    began = clock()
    work()
    return clock() - began


if __name__ == "__main__":
    main()
