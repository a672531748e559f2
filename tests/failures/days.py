"""A live graph of constant size that advances for long: `python -m tests.failures.days`.

    --seed 7                         # any, if none is given
    NUMBA_DISABLE_JIT=1 python ...   # interpreted, with a small graph: --vertices 40

Every batch takes as many edges out as it brings, with programs of every kind, queries, a reader and
a user who looks at changes. The log is short, so that there are many checkpoints and compactions.
What is in memory is counted: the bytes of all objects that can be reached, by their owner. The most
that an owner has between two compactions may not grow from one third of the run to the last one.
RSS is printed beside it, and asserted nowhere: it is the allocator's business as well.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import random
import sys
import tempfile
import time
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import graphtide as gt
from graphtide.algorithms import BFS, WCC, ConvergedPageRank, PageRank, ShortestPaths, Triangles
from graphtide.model.errors import InputError
from graphtide.run.durable import live_store

OWNERS = {
    "undo": ("_versions", "_writer._undoable"),
    "programs": ("_followers", "_programs"),
    "queries": ("_asked",),
    "edges": ("_resident",),
    "names and columns": ("_known", "_vertices"),
    "changes": ("_told",),
    "log": ("_writer",),
    "the rest": ("",),
}
"""Parts of a live graph; what two can reach belongs to the first."""
_NOT_OWNED = types.ModuleType | type | types.FunctionType | types.CodeType | types.FrameType


def bytes_by_owner(graph: gt.LiveGraph) -> dict[str, int]:
    """The bytes of everything that a graph reaches, each object once, by the first owner of it."""
    gc.collect()
    seen = {id(graph)}
    found = {}
    for owner, paths in OWNERS.items():
        roots = [_at(graph, path) for path in paths]
        stops = {id(_at(graph, path)) for other in OWNERS if other != owner
                 for path in OWNERS[other] if path}  # fmt: skip
        found[owner] = sum(reached_bytes(root, seen, stops - set(map(id, roots))) for root in roots)
    return found


def _at(graph: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        graph = getattr(graph, name)
    return graph


def reached_bytes(root: Any, seen: set[int], stops: set[int]) -> int:
    total, waiting = 0, [root]
    while waiting:
        item = waiting.pop()
        if isinstance(item, np.ndarray):
            while isinstance(item.base, np.ndarray):
                item = item.base
        if item is not root and (id(item) in seen or id(item) in stops):
            continue
        seen.add(id(item))
        if isinstance(item, _NOT_OWNED):
            continue
        if isinstance(item, np.ndarray):
            total += item.nbytes
        elif isinstance(item, pa.Table | pa.RecordBatch | pa.ChunkedArray | pa.Array):
            total += item.get_total_buffer_size()
        else:
            total += sys.getsizeof(item, 0)
        waiting += gc.get_referents(item)
    return total


class Heap(ctypes.Structure):
    """What glibc's `mallinfo2` says."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]  # fmt: skip


def process_bytes() -> dict[str, int]:
    """RSS, what malloc has given out and holds free, and what Arrow has."""
    found = {
        "rss": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    }
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallinfo2"):
        libc.mallinfo2.restype = Heap
        heap = libc.mallinfo2()
        found |= {"used": heap.uordblks + heap.hblkhd, "free": heap.fordblks}
    return found | {"arrow": pa.total_allocated_bytes()}


class Days:
    """A live graph that is advanced without end, and what was counted of it."""

    def __init__(self, folder: Path, vertices: int, edges: int, seed: int) -> None:
        self.pick = np.random.default_rng(seed)
        self.vertices, self.folder = vertices, folder
        src, dst = self.pick.integers(0, vertices, (2, edges))
        start = gt.Graph(
            src,
            dst,
            vertices=vertices,
            weight=self.pick.random(edges),
            kind=np.array(["a", "b", "c"])[self.pick.integers(0, 3, edges)],
        )
        self.graph = gt.live(folder, start)
        self.counted: list[dict[str, int]] = []
        self.compactions = 0
        self.reader: gt.LiveGraph | None = None
        self._before = self._numbers()

    def begin(self, programs: Iterable[tuple[str, Any]]) -> None:
        graph = self.graph
        for name, program in programs:
            graph.register(name, program)
        graph.query("hops", gt.queries.Hops(0, 3))
        graph.query("reach", gt.queries.Reach(1))
        graph.query("path", gt.queries.Path(0, self.vertices - 1, weight="weight"))
        graph.query("regular", gt.queries.Regular("a/b*", 2, label="kind"))
        self.reader = gt.live(self.folder, readonly=True)

    def step(self, size: int) -> None:
        """One batch, and whatever else somebody does now and then."""
        graph, pick = self.graph, self.pick
        live = graph._resident.outside(graph._resident.live_edges())
        gone = np.sort(pick.choice(live, size, replace=False)).astype(np.int64)
        src, dst = pick.integers(0, self.vertices, (2, size))
        kinds = np.array(["a", "b", "c"])[pick.integers(0, 3, size)]
        insert = {"src": src, "dst": dst, "weight": pick.random(size), "kind": kinds}
        graph.advance(insert=insert, delete=gone)
        if pick.random() < 0.1:
            with contextlib.suppress(InputError):  # A checkpoint has come between.
                graph.rollback()
        if pick.random() < 0.1:
            graph.query_changes()
            for name in graph.registered():
                graph.program(name).changes()
        if pick.random() < 0.05:
            assert self.reader is not None
            self.reader.refresh()
        if (now := self._numbers()) < self._before:
            self.compactions += 1
        self._before = now

    def _numbers(self) -> int:
        return int(self.graph._resident.edges)

    def count(self) -> dict[str, int]:
        found = bytes_by_owner(self.graph)
        self.counted.append({"compactions": self.compactions, **found})
        return found

    def check(self, share: float = 1.25) -> None:
        """No owner has much more in the last third of the run than in the one before."""
        assert self.compactions >= 6, f"{self.compactions} compactions tell nothing"
        most: list[dict[str, int]] = []
        for part in (1, 2):
            first, last = (self.compactions * at // 3 for at in (part, part + 1))
            rows = [row for row in self.counted if first <= row["compactions"] <= last]
            most.append({name: max(row[name] for row in rows) for name in OWNERS})
        for name in OWNERS:
            before, now = most[0][name], most[1][name]
            assert now <= share * before + 100_000, f"{name}: {before:,} bytes, and then {now:,}"


def programs(*, slow: bool) -> list[tuple[str, Any]]:
    """Programs of every kind; those that take long to compile only where that is wanted."""
    fast = [("components", WCC), ("steps", BFS(source=0)), ("ranks", PageRank(iterations=5))]
    if not slow:
        return fast
    return [
        *fast,
        ("distances", ShortestPaths(source=0)),
        ("settled", ConvergedPageRank),
        ("triangles", Triangles),
    ]


def play(folder: Path, given: argparse.Namespace) -> Days:
    """Advance for so long, and print what there is."""
    live_store.LOG_BYTES = int(given.log_mb * 1e6)
    days = Days(folder / "graph", given.vertices, 5 * given.vertices, given.seed)
    days.begin(programs(slow=True))
    begun, told, steps = time.monotonic(), 0.0, 0
    while time.monotonic() < begun + 60 * given.minutes:
        days.step(given.batch)
        steps += 1
        if time.monotonic() - told >= given.tell:
            owners, process = days.count(), process_bytes()
            told = time.monotonic()
            row = {"s": int(told - begun), "steps": steps, "compactions": days.compactions}
            row |= {name: f"{size / 1e6:.1f}" for name, size in {**process, **owners}.items()}
            row["counted"] = f"{sum(owners.values()) / 1e6:.1f}"
            print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    return days


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--vertices", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--log-mb", type=float, default=4.0)
    parser.add_argument("--tell", type=float, default=15.0)
    given = parser.parse_args()
    print(f"--seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        play(Path(folder), given).check()


if __name__ == "__main__":
    main()
