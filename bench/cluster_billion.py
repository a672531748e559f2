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
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.cluster_lean import LIBRARY, bytes_an_edge
from bench.figures import Figure
from bench.rmat_blocks import rmat_blocks, scale_of
from bench.stored_graphs import stored_rmat, write_stored

BILLION, QUICK = 1_000_000_000, 200_000
MEMORY, ROUNDS = 24.0, 10


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
    scale = scale_of(edges)
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
        graph = write_stored(place, 1 << scale, edges, rmat_blocks(scale, edges))
    with phases.phase("graph.run: components, with making the lean graph", edges):
        run = graph.run(components, lean=True)
    found = {"bytes": bytes_an_edge(run), "largest": np.bincount(run["component"]).max()}
    for name, program in (("components", components), (f"{ROUNDS} rounds of PageRank", ranks)):
        with phases.phase(f"graph.run: {name}", edges):
            run = graph.run(program, lean=True)
        phases.seconds[f"{name}, the run alone"] = run.seconds
        del run
    return found


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
