"""A billion edges on one machine: `python -m bench cluster --part billion`, or this module itself.

    python -m bench.cluster_billion REPORT [--edges 1000000000] [--folder /large/disk]

Makes an RMAT graph in blocks, writes them as tables of a catalog, and has `graph.run` compute
components and ten rounds of PageRank: the first call sorts the edges into a lean graph on disk, and
all run over it, mapped, by all cores. Nothing ever holds all edges in memory. It needs about 50
bytes an edge on disk meanwhile, tells each phase as it ends, and removes its files. The clock is
told here: it is about what one machine can do, and is to have the machine for itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import numpy as np

from bench.cluster_lean import LIBRARY, bytes_an_edge
from bench.figures import Figure
from bench.stored_graphs import Columns, stored_rmat, write_stored

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BILLION, QUICK = 1_000_000_000, 200_000
MEMORY, ROUNDS = 24.0, 10
BLOCK = 1 << 22


class Phases:
    """What each phase took by the clock, and the most memory that was in use."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.own = 0
        self._ended = threading.Event()

    @contextmanager
    def phase(self, name: str, edges: int) -> Iterator[None]:
        """Tell how long the block takes."""
        began = time.perf_counter()
        yield
        took = self.seconds[name] = time.perf_counter() - began
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{name}: {took:.1f} s, {1e9 * took / max(1, edges):.1f} ns an edge; at most "
            f"{most:.2f} GB so far with mapped files, {self.own / 1e9:.2f} GB without",
            flush=True,
        )

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at the memory of this process's own, files left out, ten times a second."""
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        try:
            yield
        finally:
            self._ended.set()
            watcher.join()

    def _watch(self) -> None:
        status = Path("/proc/self/status")
        while status.exists() and not self._ended.wait(0.1):
            for line in status.read_text().splitlines():
                if line.startswith("RssAnon"):
                    self.own = max(self.own, 1024 * int(line.split()[1]))


def measure(edges: int, folder: Path | None) -> list[Figure]:
    """Make the graph, run both programs, and remove it."""
    scale = max(4, (edges // 16 - 1).bit_length())
    phases = Phases()
    made = tempfile.TemporaryDirectory(prefix="graphtide-billion-", dir=folder)
    with made as place, phases.watching():
        values = _all_phases(Path(place), scale, edges, phases)
    return _figures(edges, scale, phases, values)


def _all_phases(place: Path, scale: int, edges: int, phases: Phases) -> dict[str, float]:
    components, ranks = LIBRARY.WCC(), LIBRARY.PageRank(iterations=ROUNDS)
    with stored_rmat(4) as (small, _):
        for program in (components, ranks):
            small.run(program, lean=True)
    with phases.phase("tables made and written, as a load leaves them", edges):
        graph = write_stored(place, 1 << scale, edges, rmat_blocks(scale, edges, CORES))
    with phases.phase("graph.run: components, with making the lean graph", edges):
        run = graph.run(components, lean=True)
    found = {"bytes": bytes_an_edge(run), "largest": np.bincount(run["component"]).max()}
    for name, program in (("components", components), (f"{ROUNDS} rounds of PageRank", ranks)):
        with phases.phase(f"graph.run: {name}", edges):
            run = graph.run(program, lean=True)
        phases.seconds[f"{name}, the run alone"] = run.seconds
        del run
    return found


def rmat_blocks(scale: int, edges: int, cores: int) -> Iterator[Columns]:
    """An RMAT graph with a = .57, b = c = .19 and shuffled names, some edges at a time.

    Blocks are made ahead by as many threads as there are cores; what is in one follows from its
    place alone.
    """
    firsts = deque(range(0, edges, BLOCK))
    waiting: deque[Any] = deque()
    done = 0
    with ThreadPoolExecutor(cores) as pool:
        while firsts or waiting:
            while firsts and len(waiting) < cores + 1:
                first = firsts.popleft()
                waiting.append(pool.submit(_block, scale, first, min(BLOCK, edges - first)))
            block = waiting.popleft().result()
            yield block
            done += len(block["src"])
            if done % (BLOCK * 16) < len(block["src"]):
                print(f"    {done / 1e6:,.0f}M of {edges / 1e6:,.0f}M edges", flush=True)


def _block(scale: int, first: int, count: int) -> Columns:
    src, dst = np.empty(count, np.int32), np.empty(count, np.int32)
    with np.errstate(over="ignore"):
        _fill(scale, first, src, dst)
    return {"src": src, "dst": dst}


@numba.njit(nogil=True)
def _fill(scale: int, first: int, src: Any, dst: Any) -> None:
    """Sixteen bits of chance decide a level; a number gives four of them (SplitMix64)."""
    mask, half = np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    for at in range(len(src)):
        seed = np.uint64(first + at) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(12345)
        one, other, chance = np.uint64(0), np.uint64(0), np.uint64(0)
        for level in range(scale):
            if level % 4 == 0:
                seed += np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(level << 40)
                chance = (seed ^ (seed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                chance = (chance ^ (chance >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                chance ^= chance >> np.uint64(31)
            draw = chance & np.uint64(0xFFFF)
            chance >>= np.uint64(16)
            down = draw >= np.uint64(49807)
            right = (draw >= np.uint64(37355)) & (draw < np.uint64(49807))
            right |= draw >= np.uint64(62259)
            one = (one << np.uint64(1)) | np.uint64(down)
            other = (other << np.uint64(1)) | np.uint64(right)
        src[at], dst[at] = _name(one, mask, half), _name(other, mask, half)


@numba.njit(nogil=True)
def _name(vertex: Any, mask: Any, half: Any) -> Any:
    """Another number for every number up to the mask."""
    found = (vertex * np.uint64(0x9E3779B1)) & mask
    found ^= found >> half
    found = (found * np.uint64(0x85EBCA6B)) & mask
    return found ^ (found >> half)


def _figures(edges: int, scale: int, phases: Phases, values: dict[str, float]) -> list[Figure]:
    section = f"{edges / 1e6:,.0f}M edges and {(1 << scale) / 1e6:.3g}M vertices, by the clock"
    found = [
        Figure(name, took, "at most", None, "s", "", section)
        for name, took in phases.seconds.items()
    ]
    size, largest = values["bytes"], values["largest"]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    note = f"{phases.own / 1e9:.3g} GB without mapped files, which the system may give up"
    told = f"the largest component has {largest:,.0f} vertices"
    return [
        *found,
        Figure("bytes an edge", size, "at most", 13.0, "bytes", told, section),
        Figure("memory at the peak", most, "at most", MEMORY, "GB", note, section),
    ]


def main() -> None:
    """Measure, and write the figures to a file."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_billion", description=__doc__)
    parser.add_argument("report", type=Path, help="where the figures go, as JSON")
    parser.add_argument("--edges", type=int, default=BILLION)
    parser.add_argument("--folder", type=Path, help="where files go meanwhile: 50 bytes an edge")
    chosen = parser.parse_args()
    figures = measure(chosen.edges, chosen.folder)
    chosen.report.write_text(json.dumps([asdict(item) for item in figures]))


if __name__ == "__main__":
    main()
