"""Transitive closure and same generation by other engines: datafrog, ascent, Differential Dataflow.

    peer = find_peer()                                          # a path, or AbsentError
    outcome = measure(peer, "ascent", "tc", edges)              # seconds, results, checksum
    outcome = measure(peer, "differential", "tc", edges, [3])   # edge 3 goes and comes back

One Rust program of ours over the crates, which reads the stream of the peer `differential` and
reports as that does. datafrog and ascent derive everything once and know no changes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from bench.peers import AbsentError
from bench.peers.building import built, last_line, run_program
from bench.peers.differential import Arcs, Outcome, write_stream
from bench.streams import Batch

Engine = Literal["datafrog", "ascent", "differential"]
Edges = Sequence[tuple[int, ...]]
"""Pairs, or pairs with a weight: 1 for the dereferences of `aliases`."""
PEERS = Path(__file__).parent
RUN_SECONDS = 600


def find_peer(*, build: bool = True) -> Path:
    """The program, built where `build` lets it be; AbsentError with the reason otherwise."""
    name = "the peer of rules"
    return built(PEERS / "rules", name, borrows=PEERS / "differential", build=build)


def measure(
    peer: Path, engine: Engine, program: str, edges: Edges, changed: Sequence[int] = ()
) -> Outcome:
    """Run a program, tc or sg, over edges; then let those with a number in `changed` go and come.

    Each of these takes two batches of the outcome.
    """
    with tempfile.TemporaryDirectory(prefix="graphtide-peer-") as folder:
        path = Path(folder, "stream")
        write_stream(path, _arcs(edges), _there_and_back(changed))
        done = run_program([str(peer), engine, program, str(path)], RUN_SECONDS, engine)
    if done.returncode != 0:
        raise AbsentError(f"skipped: {engine} failed: {last_line(done.stderr)}")
    return Outcome(**json.loads(done.stdout))


def _arcs(edges: Edges) -> Arcs:
    given = np.array(edges, np.int32)
    weight = given[:, 2] if given.shape[1] > 2 else np.zeros(len(given), np.int32)
    vertices = int(given[:, :2].max(initial=0)) + 1
    every = np.arange(len(given), dtype=np.int32)
    return Arcs(vertices, given[:, 0], given[:, 1], weight, every)


def _there_and_back(changed: Sequence[int]) -> list[Batch]:
    nothing = np.empty(0, np.int32)
    found = []
    for number in changed:
        one = np.array([number], np.int32)
        found += [Batch(nothing, one), Batch(one, nothing)]
    return found
