"""What a walk program takes beside its graph, as the operating system tells it.

A graph is brought through a few batches twice, without the program and with it, and the program
takes what the process grows by more. Each graph has a process of its own, so that nothing which was
freed before hides what is taken.

    python -m bench.walks_memory com-dblp      # one graph: JSON
    python -m bench.walks_memory 16            # RMAT 16
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bench.data import ROOT
from bench.figures import Figure
from bench.peers import AbsentError
from bench.resident import resident_bytes
from bench.streams import Size, batches
from bench.walks_inputs import TRIANGLES, Pairs, real_pairs, rmat_pairs

BYTES_AN_EDGE = 20
SIZE = Size(25, 25, 20)


def memory_figures(names: tuple[str, ...]) -> Iterator[Figure]:
    """Bytes an edge that triangles take, once they have followed a few batches."""
    for name in names:
        command = [sys.executable, "-m", "bench.walks_memory", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        found = json.loads(done.stdout)
        note = f"the graph's own growth is {found['graph']:.3g}; {found['edges']:,} edges"
        title = f"triangles on {found['name']}, beyond the graph"
        taken, unit = found["program"], "bytes an edge"
        yield Figure(title, taken, "at most", BYTES_AN_EDGE, unit, note, "memory")


def measure(pairs: Pairs) -> dict[str, object]:
    """Bytes an edge by which the process grows: for the graph alone, and more for the program."""
    for program in (None, TRIANGLES.find()):
        growth(rmat_pairs(5), program)  # What compiling takes is nobody's.
    edges = len(pairs.given.loaded)
    alone = growth(pairs, None)
    both = growth(pairs, TRIANGLES.find())
    return {
        "name": pairs.given.name,
        "edges": edges,
        "graph": alone / edges,
        "program": (both - alone) / edges,
    }


def growth(pairs: Pairs, program: Any) -> int:
    """Resident bytes that come with a program, if there is one, and a few batches."""
    graph = pairs.graph()
    before = settled_bytes()
    live = None if program is None else graph.maintain(program)
    (group,) = batches(pairs.given, (SIZE,), 0)
    for batch in group:
        graph.advance(insert=pairs.columns(batch.inserted), delete=pairs.columns(batch.deleted))
        graph.forget()
    taken = settled_bytes() - before
    del live
    return taken


def settled_bytes() -> int:
    """What the process holds, without what it could give back."""
    gc.collect()
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)
    return resident_bytes()


def named_pairs(name: str) -> Pairs:
    """A real graph by name, or an RMAT graph by scale."""
    found = rmat_pairs(int(name)) if name.isdigit() else real_pairs(name)
    if found is None:
        raise AbsentError(f"skipped: no file of {name}")
    return found


if __name__ == "__main__":
    print(json.dumps(measure(named_pairs(sys.argv[1]))))
