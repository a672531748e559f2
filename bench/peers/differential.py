"""Differential Dataflow on the same edges and batches: a Rust program of ours, built by cargo.

    peer = find_peer()                                   # a path, or why there is none
    outcome = measure(peer, "bfs", arcs, batches)        # seconds, checksums, memory

The program is built once for each state of its sources, into the cache folder of the user. Its
algorithms are bfs, shortest_paths, components, strong_components (the edges inside them),
triangles (a delta query of `dogsdogsdogs`: every vertex, as often as it has come into one since the
first version) and arrange. `checksum` over our own results tells whether both found the same.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers import AbsentError
from bench.peers.building import built, last_line, run_program
from bench.streams import Batch

PROJECT = Path(__file__).parent / "differential"
RUN_SECONDS = 600


@dataclass(frozen=True)
class Arcs:
    """All arcs that a stream may name, and those that are there at first."""

    vertices: int
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    weight: NDArray[np.int32]
    first: NDArray[np.int32]


@dataclass(frozen=True)
class Outcome:
    """What the peer reports.

    Seconds are by the wall clock, and of the processor, which a busy machine does not prolong.
    `results` and `checksums` have one more item than `batch_seconds`: that of the first version
    comes first. `memory` is in bytes: `read` before anything ran, but with the stream in memory,
    `first` after the first run, `end` after the last batch, and `peak`.
    """

    first_seconds: float
    batch_seconds: list[float]
    first_processor_seconds: float
    batch_processor_seconds: list[float]
    results: list[int]
    checksums: list[int]
    memory: dict[str, int]


def find_peer(*, build: bool = True) -> Path:
    """The program, built where `build` lets it be; AbsentError with the reason otherwise."""
    return built(PROJECT, "Differential Dataflow", build=build)


def measure(
    peer: Path,
    algorithm: str,
    arcs: Arcs,
    batches: Sequence[Batch],
    source: int = 0,
    workers: int = 1,
) -> Outcome:
    """Run an algorithm over the first version and all batches.

    Of several workers, the processor time is that of the busiest in each batch.
    """
    with tempfile.TemporaryDirectory(prefix="graphtide-peer-") as folder:
        path = Path(folder, "stream")
        write_stream(path, arcs, batches)
        command = [str(peer), algorithm, str(path), str(source), str(workers)]
        done = run_program(command, RUN_SECONDS, "Differential Dataflow")
    if done.returncode != 0:
        raise AbsentError(f"skipped: Differential Dataflow failed: {last_line(done.stderr)}")
    found: dict[str, Any] = json.loads(done.stdout)
    return Outcome(**found)


def write_stream(path: Path, arcs: Arcs, batches: Sequence[Batch]) -> None:
    """The file that the program reads; its src/stream.rs says how."""
    nothing = np.empty(0, np.int32)
    all_batches = [Batch(arcs.first, nothing), *batches]
    sizes = [(len(batch.inserted), len(batch.deleted)) for batch in all_batches]
    order = np.concatenate([part for batch in all_batches for part in _parts(batch)])
    rows = np.stack([arcs.src[order], arcs.dst[order], arcs.weight[order]], axis=1)
    with path.open("wb") as file:
        np.array([arcs.vertices, len(sizes)], np.uint32).tofile(file)
        np.array(sizes, np.uint32).tofile(file)
        rows.astype(np.uint32).tofile(file)


def checksum(keys: NDArray[Any], values: NDArray[Any], counts: NDArray[Any] | None = None) -> int:
    """The checksum of results (key, value), each an integer below 2^32, in any order.

    Each result is there once, or as often as `counts` says.
    """
    word = (keys.astype(np.uint64) << np.uint64(32)) | values.astype(np.uint64)
    word += np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return int((word if counts is None else word * counts.astype(np.uint64)).sum(dtype=np.uint64))


def _parts(batch: Batch) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return batch.inserted, batch.deleted
