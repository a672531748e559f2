"""Live graphs on disk: `python -m bench durable`.

Updates a second that are logged, brought to the disk and applied, in batches of 1,000, by the
clock, since that waits for the disk; and what a start takes that finds all edges in its log, beside
making the graph from arrays, in seconds of the processor. Edges are compared behind each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import graphtide as gt
from bench.figures import Figure
from bench.timing import medians_in_turns
from graphtide.run.durable import live_store

ROWS, VERTICES = 1000, 1 << 18


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    updates, edges = (20, 20_000) if quick else (1000, 10_000_000)
    with TemporaryDirectory() as folder:
        return [
            *_update_figures(Path(folder), updates),
            *_recovery_figures(Path(folder), edges, 1 if quick else 3),
        ]


def _update_figures(folder: Path, batches: int) -> Iterator[Figure]:
    for name, bar in (("many at once", 100_000.0), ("one by one", None)):
        seconds = _updated(folder / name, batches, together=bar is not None)
        rate = batches * ROWS / seconds
        yield Figure(
            f"log and apply, {name}", rate, "at least", bar, "updates/s", section="durable"
        )


def _updated(folder: Path, batches: int, *, together: bool) -> float:
    """Half of the rows come, half of them are those that came before; seconds by the clock."""
    random = np.random.default_rng(1)
    half = ROWS // 2
    ends = random.integers(0, VERTICES, (2, batches + 1, half))
    with gt.live(folder, gt.Graph(ends[0, 0], ends[1, 0], vertices=VERTICES)) as graph:
        given = [_batch(ends, at) for at in range(1, batches + 1)]
        graph.advance_all(given[:1])
        began = time.perf_counter()
        if together:
            graph.advance_all(given[1:])
        else:
            for batch in given[1:]:
                graph.advance(**batch)
        seconds = time.perf_counter() - began
        _check(graph, ends[0, -1], ends[1, -1])
        return seconds * batches / max(len(given) - 1, 1)


def _batch(ends: Any, at: int) -> dict[str, Any]:
    return {
        "insert": {"src": ends[0, at], "dst": ends[1, at]},
        "delete": {"src": ends[0, at - 1], "dst": ends[1, at - 1]},
    }


def _recovery_figures(folder: Path, edges: int, times: int) -> Iterator[Figure]:
    random = np.random.default_rng(2)
    src, dst = random.integers(0, VERTICES, (2, edges))
    before, live_store.LOG_BYTES = live_store.LOG_BYTES, 1 << 40
    try:
        with gt.live(folder / "log", gt.Graph([], [], vertices=VERTICES)) as graph:
            graph.advance_all(
                {"insert": {"src": src[at : at + ROWS], "dst": dst[at : at + ROWS]}}
                for at in range(0, edges, ROWS)
            )
    finally:
        live_store.LOG_BYTES = before
    took = medians_in_turns(
        {
            "arrays": lambda: gt.Graph(src, dst, vertices=VERTICES),
            "log": lambda: _started(folder / "log", src),
        },
        times,
    )
    found, made = took["log"], took["arrays"]
    note = f"{found:.2f} s, from arrays {made:.2f} s"
    yield Figure(
        f"start with {edges:,} logged edges", found / made, "at most", 3.0, "x", note, "durable"
    )


def _started(folder: Path, src: Any) -> None:
    with gt.live(folder) as graph:
        assert graph.num_edges == len(src)


def _check(graph: gt.LiveGraph, src: Any, dst: Any) -> None:
    """The edges are those of the last batch."""
    table = graph.edges()
    found = np.sort(table["src"].to_numpy() * VERTICES + table["dst"].to_numpy())
    assert np.array_equal(found, np.sort(src * VERTICES + dst))
